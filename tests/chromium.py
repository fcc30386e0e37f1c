"""A headless Chromium that tests drive by its DevTools protocol, over a pair of pipes."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
AXE = ROOT / ".venv" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
LONGEST_WAIT = 60.0


def program() -> str | None:
    """The path of Chromium, if there is one."""
    return next((path for name in ("chromium", "chromium-browser", "google-chrome")
                 if (path := shutil.which(name))), None)


class Page:
    """The one page of a browser."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._number, self._read = 0, b""
        self._session = ""
        self.requests: list[str] = []
        self.problems: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask(
            "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._ask(f"{domain}.enable")

    def open(self, path: Path) -> None:
        """Open a file, and wait until it is built."""
        self.requests.clear()
        self._ask("Page.navigate", url=path.as_uri())
        end = time.monotonic() + LONGEST_WAIT
        while not self.value("document.readyState === 'complete' && "
                             "!!document.getElementById('verdicts')"):
            assert time.monotonic() < end, self.problems
            time.sleep(0.02)

    def value(self, script: str) -> Any:
        """The value of an expression, also of a promise."""
        told = self._ask("Runtime.evaluate", expression=script, returnByValue=True,
                         awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def press(self, key: str, times: int = 1, shift: bool = False) -> None:
        """Press a key, as a keyboard does."""
        codes = {"ArrowRight": 39, "ArrowLeft": 37, "Tab": 9, "End": 35, "Home": 36, "Enter": 13}
        more = {"text": "\r"} if key == "Enter" else {}
        for _ in range(times):
            for kind in ("keyDown", "keyUp"):
                self._ask("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                          windowsVirtualKeyCode=codes[key], modifiers=8 if shift else 0, **more)

    def shown_as(self, *, scheme: str = "light", width: int = 1200, height: int = 900) -> None:
        """Show pages in a colour scheme and at a width."""
        self._ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)

    def picture(self, path: Path) -> None:
        """Save the whole page as a PNG."""
        told = self._ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(b64decode(told["data"]))

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._from], [], [], LONGEST_WAIT)
            more = os.read(self._from, 1 << 20) if ready else b""
            assert more, "Chromium does not answer"
            self._read += more
        message, _, self._read = self._read.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        about = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(about["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded":
            self.problems.append(str(about["entry"]["text"]))


@contextmanager
def opened() -> Iterator[Page]:
    """A browser with one page, ended afterwards."""
    path = program()
    assert path is not None
    read_there, write_here = os.pipe()
    read_here, write_there = os.pipe()

    def hand_over() -> None:
        # It reads from descriptor 3 and writes to 4; higher ones first, as these may be among them.
        low, high = os.dup(read_there), os.dup(write_there)
        os.dup2(low, 100)
        os.dup2(high, 101)
        os.dup2(100, 3)
        os.dup2(101, 4)

    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={folder}"],
            preexec_fn=hand_over, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_there)
        os.close(write_there)
        try:
            yield Page(write_here, read_here)
        finally:
            os.close(write_here)
            os.close(read_here)
            browser.terminate()
            browser.wait(20)
