"""A server on loopback, in a temporary folder: started, stopped, killed, and started again.

A subclass knows one program: its command line, and how to see that it serves. All waits are for
an event, and end after so many seconds of an idle machine (patience.py).
"""

from __future__ import annotations

import atexit
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Final, Self, TypeVar

from ...spec.notation.errors import TargetError
from ..adapters.child import last_lines
from ..computer.patience import Countdown
from .process import KeptProcess

__all__ = ["HOST", "Server", "free_port", "shared"]

HOST: Final = "127.0.0.1"
_LOOK_SECONDS: Final = 0.02
_TAIL_BYTES: Final = 1 << 14
_PORTS_TRIED: Final = 3


class Server:
    """One server of a kind. Use it as a context manager, or ``close`` it.

    ``seconds`` are those of an idle machine that it has to come up, and to stop.
    """

    what: ClassVar[str]
    """Its name, as in "the ZooKeeper server"."""

    def __init__(self, *, seconds: float = 30.0) -> None:
        self.seconds = seconds
        self.port = 0
        self.folder = Path(tempfile.mkdtemp(prefix="checkvalve-"))
        self._log = self.folder / "server.log"
        self._process: KeptProcess | None = None

    # --- for subclasses ------------------------------------------------------------------

    def argv(self) -> Sequence[str]:
        """The command line that serves ``port`` of loopback from ``folder``.

        Raises ``InputError`` if something that it needs is not there.
        """
        raise NotImplementedError

    def serves(self) -> bool:
        """True if the server answers; raises ``OSError`` while it does not."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Fill the folder before the first start."""

    def environment(self) -> Mapping[str, str] | None:
        """The environment of the program; None: ours."""
        return None

    # --- for everyone --------------------------------------------------------------------

    @property
    def address(self) -> str:
        """The address at which it serves, as ``host:port``."""
        return f"{HOST}:{self.port}"

    @property
    def is_running(self) -> bool:
        """True if there is a process, which serves or is stopped."""
        return self._process is not None and self._process.is_running

    def start(self) -> Self:
        """Start it, on the same port and folder as before, and wait until it serves.

        Raises ``InputError`` if a program is missing, ``TargetError`` if it does not come
        up; the message has the end of its log.
        """
        if self.is_running:
            return self
        known, tries = self.port, 1 if self.port else _PORTS_TRIED
        if not known:
            self.prepare()
        for left in reversed(range(tries)):
            self.port = known or free_port()
            try:
                self._start()
                return self
            except TargetError:
                # Another program may have taken the port that was free a moment ago.
                if not left or not self._port_was_taken():
                    raise
        return self

    def _start(self) -> None:
        with self._log.open("ab") as log:
            self._process = KeptProcess(
                self.argv(), cwd=self.folder, env=self.environment(), stdout=log, stderr=log)
        left = Countdown(self.seconds)
        while not self._answers():
            if not self._process.is_running:
                raise self._failed(f"ended with code {self._process.code} instead of serving")
            if left.over:
                self.kill()
                raise self._failed(f"did not serve within {self.seconds:g} s")
            time.sleep(_LOOK_SECONDS)

    def stop(self) -> None:
        """Ask it to stop, and wait until it has; kill it if it does not."""
        if self._process is not None:
            self._process.end(seconds=self.seconds)
            self._release()

    def kill(self) -> None:
        """Kill it, as a crash of the machine would: it has no chance to say farewell."""
        if self._process is not None:
            self._process.kill()
            self._release()

    def restart(self) -> None:
        """Kill it, and start it again on the same port and folder."""
        self.kill()
        self.start()

    def pause(self) -> None:
        """Stop the process by SIGSTOP: connections stay, and nothing is answered."""
        if self._process is not None:
            self._process.send(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue the process by SIGCONT."""
        if self._process is not None:
            self._process.send(signal.SIGCONT)

    def close(self) -> None:
        """Kill it and remove its folder; calling it again does nothing."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self) -> str:
        """The end of what it printed, over all its starts."""
        try:
            with self._log.open("rb") as log:
                log.seek(max(0, self._log.stat().st_size - _TAIL_BYTES))
                return log.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None or hasattr(self, "folder"):
            self.close()

    def _answers(self) -> bool:
        try:
            return self.serves()
        except OSError:
            return False

    def _release(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _port_was_taken(self) -> bool:
        return "in use" in self.log()

    def _failed(self, how: str) -> TargetError:
        return TargetError(
            f"{self.what} at {self.address} {how}{last_lines(self.log())}",
            next_step="If the machine is slow, set CHECKVALVE_PATIENCE=3; else its log says why.")


_ServerT = TypeVar("_ServerT", bound=Server)
_shared: Final[dict[type[Server], Any]] = {}


def shared(kind: type[_ServerT]) -> _ServerT:
    """The server of a kind that the sessions of this process use one after the other, started if it
    does not run. For one that takes seconds to start. Raises as ``Server.start`` does.
    """
    if kind not in _shared:
        _shared[kind] = kind()
    server: _ServerT = _shared[kind].start()
    return server


@atexit.register
def _close_all() -> None:
    for server in _shared.values():
        server.close()


def free_port() -> int:
    """A port of loopback on which no program listens at this moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])

