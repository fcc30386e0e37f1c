"""Candidates by Redis: ``SET key value NX PX time`` on one server, and Redlock on several.

The recipe of Redis's documentation: a value of its own for each candidate, deleted and prolonged
only if it is still there. The time is counted from before the request, by the client's own clock,
less the drift that the documentation of Redlock allows for.
"""

from __future__ import annotations

import random
import socket
import time
import uuid
from typing import Any, Final

from .campaign import RETRY_SECONDS, Campaign, Lost, Where

__all__ = ["RedisLock", "Redlock"]

_TAKE: Final = (
    "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
    "return redis.call('incr', KEYS[2]) end return 0")
_KEEP: Final = (
    "if redis.call('get', KEYS[1]) == ARGV[1] then "
    "return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0")
_GIVE: Final = (
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0")
_DRIFT: Final = 0.01


class _Server:
    """One server, over a connection that is made again when it broke."""

    def __init__(self, address: str, seconds: float) -> None:
        host, _, port = address.rpartition(":")
        self._where = host, int(port)
        self._seconds = seconds
        self._socket: socket.socket | None = None

    def evaluate(self, script: str, keys: list[str], arguments: list[str]) -> int:
        """The result of a script; 0 if the server does not answer in time."""
        try:
            return self._ask(["EVAL", script, str(len(keys)), *keys, *arguments])
        except (OSError, ValueError):
            if self._socket is not None:
                self._socket.close()
            self._socket = None
            return 0

    def _ask(self, words: list[str]) -> int:
        if self._socket is None:
            self._socket = socket.create_connection(self._where, self._seconds)
            self._socket.settimeout(self._seconds)
        parts = [f"*{len(words)}\r\n"]
        parts += [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
        self._socket.sendall("".join(parts).encode())
        answer = b""
        while not answer.endswith(b"\r\n"):
            received = self._socket.recv(4096)
            if not received:
                raise OSError("the server has closed the connection")
            answer += received
        return int(answer[1:])


class Redlock(Campaign):
    """The lock on more than half of some servers, for the rest of its time."""

    def __init__(self, where: Where) -> None:
        super().__init__(where)
        # Only a small part of the time is spent on a server that does not answer.
        self._servers = [_Server(each, where.seconds / 10) for each in where.addresses]
        self._value = ""
        self._until = 0.0
        self._tokens = [0]

    def acquire(self) -> int:
        self._value = f"{self.where.identity}:{uuid.uuid4()}"
        if not self._agree(_TAKE):
            self.release()
            # Otherwise two candidates that ask at the same time would do so again and again.
            time.sleep(random.uniform(RETRY_SECONDS / 2, RETRY_SECONDS))
            raise Lost
        return self._tokens[0] if self.where.fenced else 0

    def hold(self) -> None:
        """See ``Campaign.hold``: prolonged three times as often as it would end."""
        pause = self.where.seconds / 3
        while not self.over.wait(pause):
            kept = self._agree(_KEEP)
            # A server that was late is asked again, for as long as the lock lasts.
            if not kept and not self.has_lead():
                return
            pause = self.where.seconds / 3 if kept else RETRY_SECONDS

    def release(self) -> None:
        self._until = 0.0
        for server in self._servers:
            server.evaluate(_GIVE, [self.where.name], [self._value])

    def has_lead(self) -> bool:
        return time.monotonic() < self._until

    def session(self) -> Any:
        return self._value

    def _agree(self, script: str) -> bool:
        """True if more than half of the servers agree in time."""
        began, seconds = time.monotonic(), self.where.seconds
        arguments = [self._value, str(int(seconds * 1000))]
        keys = [self.where.name, f"{self.where.name}:tokens"][: 2 if script == _TAKE else 1]
        said = [server.evaluate(script, keys, arguments) for server in self._servers]
        if script == _TAKE:
            self._tokens = said
        until = began + seconds - seconds * _DRIFT - 0.002
        agreed = 2 * sum(1 for each in said if each) > len(said) and time.monotonic() < until
        if agreed:
            self._until = until
        return agreed


class RedisLock(Redlock):
    """The lock on one server, which can also count: its token is an INCR with the SET."""

