"""``python:`` targets fail in a process of their own: each failure is reported, none is catching.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from checkvalve.conformance.adapters import hosted
from checkvalve.conformance.adapters.process import close_idle
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.ports.base import Session, SettingsRefused
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.notation.errors import InputError, TargetError

HELLO = {"do": "hello", "protocol": 1, "port": "queue", "settings": {"capacity": 2}}
PATIENCE_SECONDS = 60.0
"""For what fails by itself, on a machine that is busy with other tests."""

HEADER = """
import ctypes, itertools, os, signal, sys
class Adapter:
    def request(self, message):
        if message["do"] == "hello":
            return {"ok": {"name": "x", "version": str(os.getpid()), "can": ["offer", "poll"],
                           "policy": "reject"}}
        return self.poll() if message["do"] == "poll" else {"ok": True}
    def poll(self):
        return {"ok": None}
"""
POLL = HEADER + "class Target(Adapter):\n    def poll(self):\n        "

ENDING = HEADER + """
class Target(Adapter):
    def request(self, message):
        return super().request(message) if message["do"] == "hello" else os._exit(0)
"""

FAILURES = {
    "ends its process": ("os._exit(3)", "ended with exit status 3", True),
    "is killed": ("os.kill(os.getpid(), 9)", "was ended by signal 9 (SIGKILL)", False),
    "accesses memory that is not there":
        ("ctypes.string_at(0)", "was ended by signal 11 (SIGSEGV)", True),
    "aborts": ("os.abort()", "was ended by signal 6 (SIGABRT)", True),
    "interrupts itself": ("raise KeyboardInterrupt", "raised KeyboardInterrupt", True),
    "exits": ("sys.exit('enough')", "raised SystemExit: enough", True),
    "raises": ("raise KeyError('my mistake')", "raised KeyError: 'my mistake'", True),
    "raises inside of a library": ("import json; json.loads('{')", "raised JSONDecodeError", True),
    "recurses without end": ("return self.poll()", "raised RecursionError", True),
    "takes all memory": ("return {'ok': b'x' * (6 << 30)}", "raised MemoryError", True),
    "answers with a set": ("return {'ok': {1}}", "not JSON: TypeError", False),
    "answers with NaN": ("return {'ok': float('nan')}", "not JSON: ValueError", False),
    "answers with 10 MB": ("return {'ok': 'x' * 10_000_000}", "more than 1048576", False),
    "answers with a list": ("return [1]", "a reply is an object", False),
    "prints 100 MB": ("print('x' * 100_000_000)", "printed more than 67108864 bytes", False),
    "closes every file": ("os.closerange(0, 100)", "ended with exit status", False),
}

Opener = Callable[..., Session]


@pytest.fixture(autouse=True)
def no_idle_process() -> Iterator[None]:
    """End each process that a test leaves in the pool."""
    yield
    close_idle()


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """Opens and greets the adapter ``Target`` of a text, from the working folder."""
    monkeypatch.chdir(tmp_path)

    def open_(text: str, timeout: float = PATIENCE_SECONDS) -> Session:
        (tmp_path / "mine.py").write_text(text)
        session = resolve_target("python:mine:Target", timeout=timeout).open()
        session.request(HELLO)
        return session

    return open_


@pytest.mark.parametrize(("body", "words", "placed"), FAILURES.values(), ids=FAILURES.keys())
def test_a_failure_of_an_adapter_is_told_with_its_own_line(
    opened: Opener, tmp_path: Path, body: str, words: str, placed: bool
) -> None:
    """An error of the target says what happened, where it can be known, and what to do."""
    session = opened(POLL + body)
    with pytest.raises(TargetError) as caught:
        session.request({"do": "poll"})
    assert words in caught.value.what and "python:mine:Target" in caught.value.what
    line = (POLL + body).count("\n") + 1
    assert caught.value.where == (f"{tmp_path}/mine.py:{line}" if placed else "")
    assert caught.value.next_step and "Traceback" not in str(caught.value)


@pytest.mark.parametrize("body", [
    "while True:\n            try: import time; time.sleep(600)\n            except: pass",
    "sum(itertools.repeat(1))",
], ids=["swallows what is raised", "loops in C"])
def test_an_adapter_that_hangs_is_killed_and_its_line_told(
    opened: Opener, tmp_path: Path, body: str
) -> None:
    """Even where nothing inside of its process could interrupt it."""
    session = opened(POLL + body, timeout=1.0)
    start = time.monotonic()
    with pytest.raises(TargetError, match="did not answer within 1 s") as caught:
        session.request({"do": "poll"})
    assert caught.value.where.startswith(f"{tmp_path}/mine.py:")
    assert time.monotonic() - start < PATIENCE_SECONDS


@pytest.mark.parametrize(("text", "words", "line"), [
    ("import os\nos._exit(3)\n", "it ended with exit status 3", 2),
    ("import ctypes\nctypes.string_at(0)\n", "ended by signal 11 (SIGSEGV)", 2),
    ("import sys\nsys.exit(4)\n", "it raised SystemExit: 4", 2),
    ("raise KeyboardInterrupt\n", "it raised KeyboardInterrupt", 1),
    ("x = 1\ndef f(:\n", "it raised SyntaxError", 2),
    ("\nimport no_such_library\n", "No module named 'no_such_library'", 2),
], ids=["ends", "crashes", "exits", "interrupts", "is no Python", "lacks a library"])
def test_a_module_that_does_not_import_is_bad_input(
    opened: Opener, tmp_path: Path, text: str, words: str, line: int
) -> None:
    """The place is in the user's own file, not in the machinery of imports."""
    with pytest.raises(InputError, match="the module mine cannot be imported") as caught:
        opened(text)
    assert words in caught.value.what and caught.value.next_step
    assert caught.value.where == f"{tmp_path}/mine.py:{line}"


def test_an_import_that_hangs_is_bad_input(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a limit of its own: an interpreter starts in it, too."""
    monkeypatch.setattr(hosted, "START_SECONDS", 2.0)
    with pytest.raises(InputError, match="is not imported within 2 s") as caught:
        opened("import time; time.sleep(600)\n", timeout=1.0)
    assert caught.value.where == f"{tmp_path}/mine.py:1"


def test_one_process_serves_sessions_until_one_of_them_fails(opened: Opener) -> None:
    """A session that died is not held against the next, which has a new process."""
    text = POLL + "os._exit(3)"

    def pid_of(*requests: str) -> str:
        with closing(resolve_target("python:mine:Target", timeout=PATIENCE_SECONDS).open()) as it:
            pid: str = it.request(HELLO)["ok"]["version"]
            for do in requests:
                it.request({"do": do})
        return pid

    opened(text).close()
    first = pid_of()
    assert pid_of() == first != str(os.getpid())
    with pytest.raises(TargetError):
        pid_of("poll")
    assert pid_of() != first


REFUSING = HEADER + """
class Target(Adapter):
    def request(self, message):
        with open("pids", "a") as pids:
            pids.write(f"{os.getpid()} ")
        return {"error": "unsupported-capacity", "definite": True}
"""


@pytest.mark.parametrize(("close", "processes"), [
    ("", 1), ("    def close(self): self.made_by_hello.close()", 3)])
def test_a_refused_hello_is_an_answer_that_costs_no_process(
    opened: Opener, tmp_path: Path, close: str, processes: int
) -> None:
    """Unless its adapter cannot be closed without one that is accepted, which is no failure."""
    for _ in range(3):
        with pytest.raises(SettingsRefused, match="unsupported-capacity"):
            opened(REFUSING + close)
    served = (tmp_path / "pids").read_text().split()
    assert (len(served), len(set(served))) == (3, processes)


def test_what_an_adapter_prints_or_reads_does_not_disturb_the_protocol(opened: Opener) -> None:
    """stdout goes to stderr, whichever way it is written; stdin is empty."""
    session = opened(POLL + "print('{}'); os.write(1, b'{}'); os.system('echo {}'); "
                            "return {'ok': sys.stdin.read() or None}")
    assert session.request({"do": "poll"})["ok"] is None


def test_the_adapter_is_told_when_its_session_ends(opened: Opener) -> None:
    """An exception that its own close raises is an error of the target."""
    session = opened(HEADER + "class Target(Adapter):\n    def close(self): raise OSError('late')")
    with pytest.raises(TargetError, match="raised OSError: late"):
        session.close()


def test_the_same_name_in_another_folder_is_another_target(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An idle process is used again only where its module would be found again."""
    opened(HEADER + "Target = Adapter").close()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.py").write_text("Target = 7\n")
    monkeypatch.chdir(tmp_path / "other")
    with pytest.raises(InputError, match="cannot be called: it is of the type int"):
        resolve_target("python:mine:Target")


@pytest.mark.parametrize(("target", "code"), [("mine:Target", 69), ("mine:Absent", 64)])
def test_the_command_ends_with_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    target: str, code: int,
) -> None:
    """If the target ends its process, and if it is not there: that is bad input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(ENDING)
    asked = ["conform", f"python:{target}", "--suite", "queue", "--cases", "3", "--json"]
    assert run(root, asked) == code
    document = json.loads(capsys.readouterr().out)
    told = document["error"]["what"] if "error" in document else document["targets"][0]["error"]
    assert "exit status 0" in told or "has no Absent" in told


# ---- the end of the harness ----------------------------------------------------------------

STUCK = POLL + """
        with open("pid", "w") as pipe:
            pipe.write(str(os.getpid()))
        while True:
            pass
"""


@contextmanager
def killed_at_last(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """A failure must not wait for the process that did not end."""
    try:
        yield
    finally:
        process.kill()


@pytest.mark.parametrize(("ending", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a hanging child may stay")
def test_a_child_ends_with_the_harness(tmp_path: Path, ending: int, code: int) -> None:
    """Ctrl-C ends a run at once while its target hangs; so does a kill, and neither leaves it."""
    (tmp_path / "mine.py").write_text(STUCK)
    os.mkfifo(tmp_path / "pid")
    pipe = os.open(tmp_path / "pid", os.O_RDWR)
    with subprocess.Popen(
        [sys.executable, "-m", "checkvalve.conformance.cli", "conform", "python:mine:Target",
         "--suite", "queue", "--timeout", "600"],
            cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
        # What runs in the background of a shell without job control is born deaf to it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as harness, killed_at_last(harness):
        assert select.select([pipe], [], [], PATIENCE_SECONDS)[0]
        child = os.pidfd_open(int(os.read(pipe, 20)))
        os.close(pipe)
        harness.send_signal(ending)
        assert harness.wait(PATIENCE_SECONDS) == code
        assert select.select([child], [], [], PATIENCE_SECONDS)[0]
        os.close(child)
        assert harness.stderr is not None and b"Traceback" not in harness.stderr.read()
