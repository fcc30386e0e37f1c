"""A candidate's process, as its driver sees it: asked by lines, halted, killed."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any, Final

from .....spec.notation.errors import TargetError
from ....adapters.child import last_lines
from ....computer.patience import Countdown
from ....ports.base import excerpt
from ....services.process import KeptProcess
from ....services.proxy import Proxy

__all__ = ["Candidate"]

_ANSWER_SECONDS: Final = 30.0
_CHUNK: Final = 1 << 16


class Candidate:
    """A candidate's process, and the relays between it and its service.

    ``gap`` is the longest time since the last request, in ms, in which it did not get to run
    although it was not halted.
    """

    def __init__(self, argv: Sequence[str], proxies: Sequence[Proxy]) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = KeptProcess(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)
        self._proxies = proxies
        self._unread = b""
        self._was_halted = False
        self.is_halted = False
        self.is_cut = False
        self.joined = False
        self.session: Any = None
        self.gap = 0

    def ask(self, do: str) -> Any:
        """The candidate's answer. Raises ``TargetError`` if there is none in time."""
        try:
            self._process.stdin.write(json.dumps({"do": do}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failed(f"has ended before {do!r}") from None
        reply = json.loads(self._line(do))
        self.gap = 0 if self._was_halted else int(reply["gap"])
        self._was_halted = False
        return reply["ok"]

    def halt(self) -> None:
        """Send SIGSTOP to the process and to all that it started."""
        self._process.send(signal.SIGSTOP)
        self.is_halted = True

    def go_on(self) -> None:
        """Send SIGCONT: the process continues where it was."""
        self._process.send(signal.SIGCONT)
        self._was_halted = self._was_halted or self.is_halted
        self.is_halted = False

    def cut(self) -> None:
        """Let nothing through between it and the service."""
        for proxy in self._proxies:
            proxy.cut()
        self.is_cut = True

    def mend(self) -> None:
        """Let everything through again."""
        for proxy in self._proxies:
            proxy.mend()
        self.is_cut = False

    def kill(self) -> None:
        """Send SIGKILL, and close the relays."""
        self._process.kill()
        self._process.close()
        self._log.close()
        for proxy in self._proxies:
            proxy.close()

    def _line(self, do: str) -> bytes:
        """The next line of the candidate's process, which has so many seconds for it."""
        left = Countdown(_ANSWER_SECONDS)
        stdout = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if left.over:
                    raise self._failed(f"did not answer {do!r} within {_ANSWER_SECONDS:g} s")
                if selector.select(left.slice()):
                    received = os.read(stdout, _CHUNK)
                    if not received:
                        raise self._failed(f"ended instead of answering {do!r}")
                    self._unread += received
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _failed(self, how: str) -> TargetError:
        self._log.seek(0)
        said = last_lines(self._log.read().decode("utf-8", "replace"))
        printed = f"; it printed: {excerpt(self._unread.decode(errors='replace'))}" if (
            self._unread) else ""
        return TargetError(
            f"a candidate's process {how}{printed}{said}",
            next_step="If the machine is slow, set CHECKVALVE_PATIENCE=3.")
