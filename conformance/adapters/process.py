"""Targets that are programs: sessions as JSON lines, and processes that serve many sessions.

A ``hello`` makes a running adapter forget everything and start afresh, so a process is used
again by the next session, unless it says in its hello that it cannot (``"again": false``), or
the session failed. Processes that nobody uses wait in a small pool of this Python process.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from ...spec.notation.errors import TargetError
from ..ports.base import Message, excerpt
from .child import Child
from .session import CheckedSession

__all__ = ["ProcessTarget", "close_idle"]

IDLE_MAX: Final = 4
"""Idle processes that are kept, of all targets together; the longest idle goes first."""

_Key = tuple[tuple[str, ...], float]
_idle: Final[list[tuple[_Key, Child]]] = []
_lock: Final = threading.Lock()


class ProcessTarget:
    """``argv`` speaks the protocol on its stdin and stdout; ``timeout`` seconds a reply."""

    def __init__(self, name: str, argv: Sequence[str], timeout: float) -> None:
        self._name = name
        self._key: _Key = (tuple(argv), timeout)

    @property
    def name(self) -> str:
        """The spec of this target."""
        return self._name

    def open(self) -> CheckedSession:
        """Start or reuse a process. Raises ``InputError`` when it cannot be started."""
        return CheckedSession(self._name, _Pipe(self._key))


def close_idle() -> None:
    """Kill the idle processes. It happens by itself when Python ends."""
    with _lock:
        idle, _idle[:] = list(_idle), []
    for _, child in idle:
        child.kill()


class _Pipe:
    """The transport that is a process."""

    def __init__(self, key: _Key) -> None:
        self._key = key
        reused = _take_idle(key)
        self._reused = reused is not None
        self._child: Child | None = reused or Child(*key)
        self._again = True
        self._sound = False    # greeted, and nothing is under way

    def exchange(self, message: Message) -> object:
        self._sound = False
        try:
            reply = self._exchange(message)
        except TargetError:
            if not (self._reused and message["do"] == "hello"):
                raise
            # What an earlier session left behind must not be held against this one.
            self._child = Child(*self._key)
            reply = self._exchange(message)
        self._reused = False
        if message["do"] == "hello" and isinstance(reply.get("ok"), dict):
            self._again = reply["ok"].get("again", True) is True
        self._sound = True
        return reply

    def close(self, *, failed: bool) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        if self._sound and self._again and not failed:
            _keep_idle(self._key, child)
        else:
            child.kill()

    def __del__(self) -> None:
        # A session that nobody closed. (``_child`` is missing when the program did not start.)
        if getattr(self, "_child", None) is not None:
            self.close(failed=True)

    def _exchange(self, message: Message) -> Message:
        assert self._child is not None
        if message["do"] == "hello":
            self._child.begin_session()
        self._child.number += 1
        request = {"id": self._child.number} | message
        line = self._child.ask(json.dumps(request).encode() + b"\n")
        reply = self._parse(line)
        if type(reply.get("id")) is not int or reply["id"] != self._child.number:
            self._fail(f"answered request {self._child.number} with another id", line)
        del reply["id"]
        return reply

    def _parse(self, line: bytes) -> Message:
        try:
            reply = json.loads(line.decode(), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            self._fail(f"printed a line that is not JSON ({excerpt(str(error))})", line)
        if not isinstance(reply, dict):
            self._fail("printed a line that is not a JSON object", line)
        return reply

    def _fail(self, what: str, line: bytes) -> NoReturn:
        assert self._child is not None
        raise self._child.failed(what, shown=line)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _take_idle(key: _Key) -> Child | None:
    with _lock:
        _drop_inherited()
        for index, (other, child) in enumerate(_idle):
            if other == key:
                del _idle[index]
                return child
    return None


def _keep_idle(key: _Key, child: Child) -> None:
    with _lock:
        _drop_inherited()
        _idle.append((key, child))
        surplus = [_idle.pop(0)[1] for _ in range(len(_idle) - IDLE_MAX)]
    for each in surplus:
        each.kill()


def _drop_inherited() -> None:
    # After a fork, both processes would talk through the same pipes.
    for key, child in list(_idle):
        if child.owner != os.getpid():
            child.forget()
            _idle.remove((key, child))
