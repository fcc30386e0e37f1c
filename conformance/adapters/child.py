"""A child process that is asked one line at a time, and cannot make us hang, swell or leak.

One thread, non-blocking pipes: while we wait for a reply we also write what the child has not
read yet and drain its stderr, and never beyond the time limit. The child leads a process group
of its own, and the whole group is killed. POSIX only.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Final

from ...spec.notation.errors import InputError, TargetError
from ..computer.patience import Overtime, still_due
from ..ports.base import LINE_BYTES_MAX, excerpt

__all__ = ["LATE", "SESSION_BYTES_MAX", "Child", "last_lines"]

SESSION_BYTES_MAX: Final = 64 << 20
"""The most bytes that a child may print on stdout between one hello and the next."""

LATE: Final = "did not answer within"
"""The words that report a program that hangs; the time limit follows them."""
_CHUNK_BYTES: Final = 1 << 16
_TAIL_BYTES: Final = 1 << 14
_TAIL_LINES: Final = 5
_GRACE_SECONDS: Final = 0.25     # for a dying child to say how it died
_REAP_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 3600.0   # no wait of the system's is endless
_living: Final[set[Child]] = set()     # those not killed yet


class Child:
    """``argv`` as a process. ``timeout``: seconds that it has for each reply, of real time on an
    idle machine (see patience.py).

    Raises ``InputError`` when the program cannot be started. A subclass may know more about
    its program: what to send it when it is late, and how to report its failure.
    """

    line_bytes_max = LINE_BYTES_MAX
    """The most bytes that it may print in one line."""

    def __init__(self, argv: Sequence[str], timeout: float) -> None:
        self.owner = os.getpid()
        self.number = 0    # of the last request; never used twice in one process
        self.has_served = False    # it was greeted, and may have kept something
        self.name = argv[0]
        self.asked = ""    # the operation of the last request
        self._timeout = timeout
        self._process = _start(argv)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        self._stderr = self._process.stderr.fileno()
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        self._unread = bytearray()       # from the child's stdout
        self._tail = bytearray()         # of the child's stderr
        self._session_bytes = 0
        self._ended = False              # stdout is at its end
        _living.add(self)

    def begin_session(self) -> None:
        """Start counting the output anew."""
        self._session_bytes = 0

    def ask(self, request: bytes, patience: float | None = None) -> bytes:
        """Send one line and return the next line, without its line feed.

        ``patience`` are seconds that it has for this reply, where they are not the usual; they
        may be endless.

        Raises ``TargetError`` after killing the child: it is late, has ended, prints a line
        beyond ``line_bytes_max``, or speaks before it is asked.
        """
        limit = self._timeout if patience is None else patience
        began = time.monotonic()
        deadline = began + limit
        self._hear()
        if self._unread:
            self.asked = ""
            raise self.failed("printed before it was asked", shown=bytes(self._unread))
        unsent = self._write(request)
        overtime: Overtime | None = None
        while True:
            line = self._take_line()
            if line is not None:
                if unsent:
                    raise self.failed("answered a request that it has not read", shown=line)
                return line
            if self._ended:
                raise self.failed(self._how_it_ended(), shown=bytes(self._unread))
            left = deadline - time.monotonic()
            if left <= 0:
                left = still_due(limit, time.monotonic() - began)
                if left <= 0:
                    overtime = overtime or Overtime(self._process.pid, limit)
                    left = overtime.slice()
                deadline = time.monotonic() + left
            if left <= 0:
                self._interrogate()
                raise self.failed(
                    f"{LATE} {limit:g} s", shown=bytes(self._unread))
            if unsent:
                self._selector.register(self._stdin, selectors.EVENT_WRITE)
            self._pump(min(left, _PAUSE_SECONDS))
            if unsent:
                self._selector.unregister(self._stdin)
                unsent = self._write(unsent)

    def failed(self, what: str, shown: bytes = b"") -> TargetError:
        """Kill the child; the error to raise, with its last words on stderr."""
        self.kill()
        text = shown[:1024].decode("utf-8", "replace")
        printed = f"; it printed: {excerpt(text)}" if shown else ""
        return self._told(what + printed)

    def _told(self, what: str) -> TargetError:
        return TargetError(
            f"the program {self.name}{self._request} {what}{last_lines(self._log())}",
            next_step="Try it by hand, as docs/adapter-protocol.md shows.")

    @property
    def _request(self) -> str:
        """The request that it was asked for, as a part of a sentence about it."""
        return f", asked for {self.asked}," if self.asked else ""

    def _log(self) -> str:
        """The end of its stderr."""
        return self._tail.decode("utf-8", "replace")

    def _interrogate(self) -> None:
        """The program is late and will be killed: what can still be learnt from it."""

    def kill(self) -> None:
        """Kill the whole process group and reap the child; calling it again does nothing."""
        if self not in _living:
            return
        _living.discard(self)
        # Before the child is reaped: until then no other group can have its number.
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        self._last_words()
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):    # killed, but blocked in the kernel
            self._process.wait(_REAP_SECONDS)

    def forget(self) -> None:
        """In a forked copy of the harness: the child belongs to the other one."""
        _living.discard(self)

    # -- pipes --------------------------------------------------------------------------------

    def _write(self, data: bytes) -> bytes:
        """Write what the pipe takes now; the rest."""
        try:
            return data[os.write(self._stdin, data):]
        except BlockingIOError:
            return data
        except BrokenPipeError:
            # It has closed its stdin. Nothing more can be said to it; what it still prints, or
            # its end, says why.
            return b""

    def _pump(self, seconds: float) -> None:
        """Read once what is there, waiting at most ``seconds`` for something."""
        for key, _ in self._selector.select(max(seconds, 0.0)):
            if key.fd == self._stdin:
                continue
            chunk = self._read(key.fd)
            if not chunk:
                self._selector.unregister(key.fd)
                self._ended = self._ended or key.fd == self._stdout
            elif key.fd == self._stderr:
                self._keep_tail(chunk)
            else:
                self._unread += chunk
                self._session_bytes += len(chunk)

    def _hear(self) -> None:
        """Read what it has printed on stdout by now, without asking the system first if it has.
        Its end will be seen when the reply is waited for, as will what is on stderr."""
        if self._ended:
            return
        chunk = self._read(self._stdout)
        self._unread += chunk
        self._session_bytes += len(chunk)

    def _read(self, descriptor: int) -> bytes:
        try:
            return os.read(descriptor, _CHUNK_BYTES)
        except OSError:
            return b""

    def _keep_tail(self, chunk: bytes) -> None:
        self._tail += chunk
        del self._tail[:-_TAIL_BYTES]

    def _take_line(self) -> bytes | None:
        end = self._unread.find(b"\n")
        if max(end, len(self._unread) if end < 0 else 0) > self.line_bytes_max:
            raise self.failed(f"printed a line of more than {self.line_bytes_max} bytes",
                              shown=bytes(self._unread))
        if self._session_bytes > SESSION_BYTES_MAX:
            raise self.failed(f"printed more than {SESSION_BYTES_MAX} bytes in one session")
        if end < 0:
            return None
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def _last_words(self) -> None:
        for _ in range(16):    # what is in the pipe, 1 MiB at most
            chunk = self._read(self._stderr)
            if not chunk:
                return
            self._keep_tail(chunk)

    def _how_it_ended(self) -> str:
        """In words, without reaping it."""
        deadline = time.monotonic() + _GRACE_SECONDS
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while (status := os.waitid(os.P_PID, self._process.pid, flags)) is None:
            if time.monotonic() > deadline:
                return "closed its stdout"
            time.sleep(0.002)
        if status.si_code == os.CLD_EXITED:
            return f"ended with exit status {status.si_status}"
        return f"was ended by signal {status.si_status}{_signal_name(status.si_status)}"


def last_lines(log: str) -> str:
    """The last lines of a log, as the end of a message; empty for an empty log."""
    lines = log.splitlines()[-_TAIL_LINES:]
    return "; its last lines on stderr: " + " | ".join(map(excerpt, lines)) if lines else ""


def _signal_name(number: int) -> str:
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:    # a real-time signal
        return ""


def _start(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            bufsize=0, start_new_session=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(
            f"the program {excerpt(argv[0])} cannot be started: {reason}",
            next_step="Give a program that can be run: its path, with its executable bit set.",
        ) from None


@atexit.register
def _kill_all() -> None:
    for child in list(_living):
        if child.owner == os.getpid():
            child.kill()
