"""A process around an adapter that is written in Python.

An adapter may hang where nothing in its process can interrupt it, end the process, or take
all memory. So a ``python:`` target runs in a child, which ``hosted.py`` starts with ``BOOT``
and asks one line at a time; each reply comes in an envelope that says whether the adapter
answered or failed, and how. ``serve.py`` makes a plain program of the same adapter.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any, Final, NoReturn

from ...spec.notation.errors import CheckvalveError, TargetError
from ..ports.base import LINE_BYTES_MAX, Adapter, Message, excerpt
from ..foreign.guard import guarded
from ..foreign.factories import factory_of

__all__ = [
    "BOOT", "FAREWELL", "MEMORY_BYTES_MAX", "WHERE_SIGNAL", "confine", "end_process", "hosted",
    "limited_memory", "private_pipes", "serve",
]

BOOT: Final = (
    "import json, sys; order = json.loads(sys.stdin.buffer.readline()); "
    "sys.path[:] = order['path']; "
    "from checkvalve.conformance.adapters.host import hosted; hosted(order)"
)
"""The text of the child: what is imported is looked for where its parent looks."""

WHERE_SIGNAL: Final = signal.SIGUSR1
"""At this signal a hosted process writes to stderr where its threads are, even in a loop of C
code."""

MEMORY_BYTES_MAX: Final = 4 << 30
"""The most memory that a hosted process may allocate, where the system can limit it (Linux)."""

FAREWELL: Final = "farewell, host"
"""The operation that ends a session; no operation of a port has this name."""

_KILL_WITH_PARENT: Final = 1     # PR_SET_PDEATHSIG of prctl(2)

end_process: Final = os._exit
"""The function itself, which ``confine`` replaces by one that says where it was called."""


_REQUESTS: Final = json.JSONDecoder()
_REPLIES: Final = json.JSONEncoder(allow_nan=False)
"""These read and write the lines; the functions of json would make new ones for each."""


class _Instances:
    """The adapter of the session: a new one at each hello."""

    def __init__(self, name: str, factory: Callable[[], Adapter]) -> None:
        self._name = name
        self._factory = factory
        self._adapter: Adapter | None = None

    def answer(self, request: Message) -> object:
        """Return the adapter's answer; raises ``CheckvalveError`` for whatever the adapter raises.
        """
        if request["do"] == "hello" or self._adapter is None:
            self.close()
            self._adapter = self._call(self._factory)
        adapter = self._adapter
        return self._call(lambda: adapter.request(request))

    @property
    def closes(self) -> bool:
        """True if the adapter wants to know when its session ends."""
        return bool(self._call(lambda: callable(getattr(self._adapter, "close", None))))

    def close(self) -> None:
        """End the session; the adapter's own ``close`` may raise as ``answer`` does."""
        adapter, self._adapter = self._adapter, None
        close = self._call(lambda: getattr(adapter, "close", None))
        if callable(close):
            self._call(close)

    def _call(self, action: Callable[[], Any]) -> Any:
        # No interrupt of the user's comes here: the child has a session of its own.
        return guarded(self._name, action, caught=(BaseException,))


# ---- as a plain program -------------------------------------------------------------------------


def serve(name: str, factory: Callable[[], Adapter], requests: IO[bytes], replies: IO[bytes],
          ) -> None:
    """Answer until ``requests`` ends. Raises ``CheckvalveError`` where the adapter fails."""
    instances = _Instances(name, factory)
    for line in requests:
        request = json.loads(line)
        number = request.pop("id")
        reply = instances.answer(request)
        whole = {"id": number} | reply if isinstance(reply, dict) else reply
        replies.write(guarded(name, lambda: json.dumps(whole).encode()) + b"\n")  # noqa: B023
        replies.flush()


def private_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """stdin and stdout for the protocol alone: what an adapter prints goes to stderr."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return requests, replies


# ---- as the child of a harness ------------------------------------------------------------------


def hosted(order: Message) -> None:
    """Carry out ``order``, the first line: ``name`` of the target, ``place`` to load, and the
    ``makers`` of adapters for a class that is none.

    Each reply is ``{"id", "reply", "closes"}`` or ``{"id", "failed"}``. Ends the process.
    """
    code = 70
    try:
        requests, replies = private_pipes()
        confine()
        with limited_memory():
            _Host(order["name"], replies).run(order, requests)
        code = 0
    except BaseException as error:  # noqa: BLE001 - one line, whatever it is
        os.write(2, f"{type(error).__name__}: {excerpt(str(error))}\n".encode())
    finally:
        # Threads that the target has left running would keep an ordinary exit waiting.
        end_process(code)


class _Host:
    """Puts what an adapter answers, or how it fails, into envelopes."""

    def __init__(self, name: str, replies: IO[bytes]) -> None:
        self._name = name
        self._replies = replies

    def run(self, order: Message, requests: IO[bytes]) -> None:
        """Load what ``order`` names, and answer until ``requests`` ends."""
        try:
            instances = _Instances(self._name, factory_of(order["place"], order["makers"]))
        except CheckvalveError as error:
            self._send(_failed(order["id"], error))
            return
        self._send({"id": order["id"], "reply": True})
        for line in requests:
            request = _REQUESTS.decode(line.decode())
            self._answer(instances, request.pop("id"), request)

    def _answer(self, instances: _Instances, number: int, request: Message) -> None:
        try:
            if request["do"] == FAREWELL:
                instances.close()
                self._send({"id": number, "reply": True})
            else:
                reply = instances.answer(request)
                self._send({"id": number, "reply": reply, "closes": instances.closes})
        except CheckvalveError as error:
            self._send(_failed(number, error))

    def _send(self, envelope: Message) -> None:
        self._replies.write(self._encoded(envelope) + b"\n")
        self._replies.flush()

    def _encoded(self, envelope: Message) -> bytes:
        """``envelope`` as a line; raises ``TargetError`` for a reply that cannot be one."""
        try:
            line = guarded("", lambda: _REPLIES.encode(envelope).encode())
        except TargetError as error:
            raise TargetError(
                f"{self._name} answered with something that is not JSON:"
                f"{error.what.removeprefix(' raised')}", error.where,
                "Answer with texts, numbers, lists and dicts.") from None
        if len(line) > LINE_BYTES_MAX:
            raise TargetError(
                f"{self._name} answered with {len(line)} bytes, more than {LINE_BYTES_MAX}",
                next_step="Answer with what was asked for, and no more.")
        return line


def _failed(number: int, error: CheckvalveError) -> Message:
    return {"id": number, "failed": {
        "fault": error.fault, "what": error.what, "where": error.where,
        "next_step": error.next_step}}


def confine() -> None:
    """Limit what this process can do to the machine, and say where it is when it fails or ends."""
    own = os.dup(2)    # so that it speaks even after the target has closed stderr
    faulthandler.enable(own, all_threads=False)
    faulthandler.register(WHERE_SIGNAL, own, all_threads=True)
    _tell_where_it_ends(own)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with contextlib.suppress(ImportError, OSError, AttributeError):
            import ctypes

            # Where the harness is killed while the target hangs, nothing else would end it.
            ctypes.CDLL(None).prctl(_KILL_WITH_PARENT, signal.SIGKILL)


def _tell_where_it_ends(own: int) -> None:
    """Have ``os._exit`` write to ``own`` where it was called; a process says nothing else."""
    here = os.getpid()

    def told(status: int) -> NoReturn:
        if os.getpid() == here:    # and not in a fork of the user's
            faulthandler.dump_traceback(own, all_threads=False)
        end_process(status)

    os._exit = told


@contextlib.contextmanager
def limited_memory() -> Iterator[None]:
    """Let this process allocate ``MEMORY_BYTES_MAX`` at most, where the system can limit it."""
    before = None
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        before = resource.getrlimit(resource.RLIMIT_DATA)
        soft = MEMORY_BYTES_MAX if before[0] < 0 else min(MEMORY_BYTES_MAX, before[0])
        resource.setrlimit(resource.RLIMIT_DATA, (soft, before[1]))
    try:
        yield
    finally:
        if before is not None:
            resource.setrlimit(resource.RLIMIT_DATA, before)
