"""Targets that are programs: sessions as JSON lines, and processes that serve many sessions.

A ``hello`` makes a running adapter forget everything and start afresh, so a process is used
again by the next session, unless it says in its hello that it cannot (``"again": false``), or
the session failed. Idle processes wait in a small pool of this Python process.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from ...spec.notation.errors import TargetError
from ..ports.base import Message, excerpt, unique_keys
from .child import Child
from .session import CheckedSession, PortNamed

__all__ = [
    "Key", "Pipe", "ProcessTarget", "close_idle", "converse", "end_idle", "keep_idle", "take_idle",
]

IDLE_MAX: Final = 4
"""Idle processes that are kept, of all targets together; the longest idle goes first."""

Key = Hashable
_idle: Final[list[tuple[Key, Child]]] = []
_lock: Final = threading.Lock()


class ProcessTarget:
    """``argv`` speaks the protocol on its stdin and stdout; ``timeout`` seconds a reply."""

    def __init__(
        self, name: str, argv: Sequence[str], timeout: float, port_named: PortNamed
    ) -> None:
        self._name = name
        self._argv = tuple(argv)
        self._timeout = timeout
        self._port_named = port_named

    @property
    def name(self) -> str:
        """The spec of this target."""
        return self._name

    def open(self) -> CheckedSession:
        """Start or reuse a process. Raises ``InputError`` when it cannot be started."""
        pipe = Pipe(self._key(), lambda: Child(self._argv, self._timeout))
        return CheckedSession(self._name, pipe, self._port_named)

    def renew(self) -> bool:
        end_idle(self._key())
        return True

    def _key(self) -> Key:
        # In another folder, a relative path is another program.
        return self._argv, self._timeout, os.getcwd()


def close_idle() -> None:
    """Kill the idle processes. It happens by itself when Python ends."""
    with _lock:
        idle, _idle[:] = list(_idle), []
    for _, child in idle:
        child.kill()


class Pipe:
    """The transport that is a process: an idle one of this ``key``, else one from ``start``."""

    def __init__(self, key: Key, start: Callable[[], Child]) -> None:
        self._key = key
        self._start = start
        reused = take_idle(key)
        # One that only stood ready has no earlier session that could be to blame.
        self._reused = reused is not None and reused.has_served
        self._child: Child | None = reused or start()
        self._served = self._reused
        self._again = True
        self._sound = False    # greeted, and nothing is under way

    def exchange(self, message: Message) -> object:
        """Send a message, and read its reply; a child that was used before may be dead, and is
        replaced."""
        self._sound = False
        try:
            reply = self._exchange(message)
        except TargetError:
            if not (self._reused and message["do"] == "hello"):
                raise
            # What an earlier session left behind must not be held against this one.
            assert self._child is not None
            self._child.kill()
            self._child, self._served = self._start(), False
            reply = self._exchange(message)
        self._reused = False
        if message["do"] == "hello" and isinstance(reply, dict):
            self._again = self._comes_again(reply.get("ok"))
        self._sound = True
        return reply

    def close(self, *, failed: bool) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        keep = False
        try:
            if self._sound and not failed:
                self._part(child)
                keep = self._again
        finally:
            if keep:
                keep_idle(self._key, child)
            else:
                child.kill()

    def __del__(self) -> None:
        # A session that was not closed. (``_child`` is missing when the program did not start.)
        if getattr(self, "_child", None) is not None:
            self.close(failed=True)

    def _exchange(self, message: Message) -> object:
        assert self._child is not None
        self._child.asked = message["do"]
        if message["do"] == "hello":
            self._child.begin_session()
            self._child.has_served = True
        return converse(self._child, message)

    def _comes_again(self, greeting: object) -> bool:
        """True if the process can serve another session after a hello, as its ``ok`` says.

        Where it refused, its answer in an earlier session counts; if there was none, it cannot.
        """
        if isinstance(greeting, dict):
            return greeting.get("again", True) is True
        return self._served

    def _part(self, child: Child) -> None:
        """Say farewell, if the program wants to know when its session is over."""


def converse(child: Child, message: Message, patience: float | None = None) -> Message:
    """The reply of ``child`` to ``message``, without its id.

    Raises ``TargetError`` after killing the child: see ``Child.ask``, or what it printed is no
    reply to this message.
    """
    child.number += 1
    line = child.ask(json.dumps({"id": child.number} | message).encode() + b"\n", patience)
    try:
        reply = _REPLIES.decode(line.decode())
    except (ValueError, RecursionError) as error:
        raise child.failed(
            f"printed a line that is not JSON ({excerpt(str(error))})", line) from None
    if not isinstance(reply, dict):
        raise child.failed("printed a line that is not a JSON object", line)
    if type(reply.get("id")) is not int or reply["id"] != child.number:
        raise child.failed(f"answered request {child.number} with another id", line)
    del reply["id"]
    return reply


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_REPLIES: Final = json.JSONDecoder(
    parse_constant=_refuse_constant, object_pairs_hook=unique_keys)
"""Reads replies; ``json.loads`` would make one for each."""


def take_idle(key: Key) -> Child | None:
    """An idle process that was kept under ``key``, which is then the caller's; else None."""
    with _lock:
        _drop_inherited()
        for index, (other, child) in enumerate(_idle):
            if other == key:
                del _idle[index]
                return child
    return None


def end_idle(key: Key) -> None:
    """Kill the idle processes that were kept under ``key``."""
    while (child := take_idle(key)) is not None:
        child.kill()


def keep_idle(key: Key, child: Child) -> None:
    """Keep ``child`` for the next session with this ``key``."""
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
