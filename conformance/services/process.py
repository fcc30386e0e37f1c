"""A process that is kept: it can be stopped, continued and killed, and never outlives us."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from ...spec.notation.errors import InputError, TargetError
from ..computer.patience import Countdown

__all__ = ["KeptProcess"]

_KEEPER: Final = Path(__file__).with_name("keeper.py")
_START_SECONDS: Final = 20.0
_END_SECONDS: Final = 20.0


class KeptProcess:
    """``argv`` in a process group of its own, which ends with this process at the latest.

    ``stdin``, ``stdout`` and ``stderr`` are as for ``subprocess.Popen``. Raises ``InputError``
    when the program cannot be started.
    """

    def __init__(
        self, argv: Sequence[str], *, cwd: Path | None = None,
        env: Mapping[str, str] | None = None, stdin: int | IO[Any] = subprocess.DEVNULL,
        stdout: int | IO[Any] = subprocess.DEVNULL, stderr: int | IO[Any] = subprocess.DEVNULL,
    ) -> None:
        self.name = argv[0]
        self.code: int | None = None
        self._heard = b""
        self._control, theirs = socket.socketpair()
        with theirs:
            self._keeper = subprocess.Popen(
                # -I -S: it needs nothing of what makes Python slow to start.
                [sys.executable, "-I", "-S", str(_KEEPER), str(theirs.fileno()), *argv],
                cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr,
                pass_fds=(theirs.fileno(),), start_new_session=True)
        word, _, rest = self._hear(_START_SECONDS).partition(" ")
        if word != "started":
            self.close()
            raise InputError(
                f"the program {self.name} cannot be started: {rest or 'it said nothing'}",
                next_step="Install it, or put its folder on the PATH.")
        self.pid = int(rest)

    @property
    def stdin(self) -> IO[bytes]:
        """The input of the program, if it was asked for."""
        assert self._keeper.stdin is not None
        return self._keeper.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """The output of the program, if it was asked for."""
        assert self._keeper.stdout is not None
        return self._keeper.stdout

    @property
    def is_running(self) -> bool:
        """True if the program has not ended; a stopped one has not."""
        if self.code is None:
            self._note(self._hear(0.0))
        return self.code is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the program and all that it started; nothing happens if it is over."""
        try:
            self._control.sendall(number.name.encode() + b"\n")
        except OSError:
            self.is_running    # noqa: B018 - it notes the end

    def wait(self, seconds: float = _END_SECONDS) -> int | None:
        """The exit code, within ``seconds`` of an idle machine; None: it still runs."""
        left = Countdown(seconds)
        while self.code is None and not left.over:
            self._note(self._hear(left.slice()))
        return self.code

    def end(self, number: signal.Signals = signal.SIGTERM, seconds: float = _END_SECONDS) -> None:
        """Ask the program to end with a signal; kill it if it does not end in time."""
        self.send(number)
        if self.wait(seconds) is None:
            self.kill()

    def kill(self) -> None:
        """Kill it, and wait until it is gone; calling it again does nothing.

        Raises ``TargetError`` if it does not end.
        """
        if self.code is not None:
            return
        self.send(signal.SIGKILL)
        if self.wait() is None:
            raise TargetError(
                f"the program {self.name} (process {self.pid}) was killed and does not end",
                next_step="Look what the system has it wait for: a disk, or a debugger.")

    def close(self) -> None:
        """Kill it and give back what this object holds; calling it again does nothing."""
        self._control.close()    # upon which the keeper kills what is left
        for stream in (self._keeper.stdin, self._keeper.stdout):
            if stream is not None:
                # It is over, and may not have read all.
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._keeper.wait()
        self.code = self.code if self.code is not None else -signal.SIGKILL

    def __del__(self) -> None:
        if getattr(self, "_keeper", None) is not None and self._control.fileno() >= 0:
            self.close()

    def _note(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "exited":
            self.code = int(rest)
        elif line == "" and self._keeper.poll() is not None:
            self.code = -signal.SIGKILL    # the keeper itself was killed, and the program with it

    def _hear(self, seconds: float) -> str:
        """The next line of the keeper, or an empty one if there is none in time."""
        self._control.settimeout(max(seconds, 0.0))
        while b"\n" not in self._heard:
            try:
                received = self._control.recv(4096)
            except (TimeoutError, BlockingIOError):
                return ""
            except OSError:
                received = b""
            if not received:
                return ""
            self._heard += received
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode()

