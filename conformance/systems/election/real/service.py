"""The services of real candidates: their servers, and how each ends a session."""

from __future__ import annotations

import atexit
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from ....services.etcd import Etcd
from ....services.postgresql import PostgreSQL, psql
from ....services.redis import Redis
from ....services.server import HOST, Server
from ....services.zookeeper import ZooKeeper

__all__ = [
    "EtcdService", "PostgreSQLService", "RedisService", "RedlockService", "Service",
    "ZooKeeperService",
]

_ANSWER_SECONDS: Final = 10.0
_NOT_FOUND: Final = 404
_shared: Final[dict[type[Service], Service]] = {}


class Service:
    """Some servers of a kind, which the sessions of one process use one after the other.

    ``seconds`` is the duration of a session or a lease on an idle machine.
    """

    server: ClassVar[Callable[[], Server]]
    how_many: ClassVar[int] = 1
    seconds: ClassVar[float] = 1.5

    def __init__(self) -> None:
        self.servers: Sequence[Server] = [type(self).server() for _ in range(self.how_many)]
        for server in self.servers:
            server.start()

    @classmethod
    def shared(cls) -> Service:
        """The service of this kind, started if necessary. Raises as ``Server.start`` does."""
        if cls not in _shared:
            _shared[cls] = cls()
        for server in _shared[cls].servers:
            server.start()
        return _shared[cls]

    def restart(self) -> None:
        """Kill all its servers, and start them again."""
        for server in self.servers:
            server.kill()
        for server in self.servers:
            server.start()

    def expire(self, session: Any) -> None:
        """End a session, by the data that its candidate gave."""
        raise NotImplementedError

    def close(self) -> None:
        """End the servers and remove their folders."""
        for server in self.servers:
            server.close()


@atexit.register
def _close_all() -> None:
    for service in _shared.values():
        service.close()


class ZooKeeperService(Service):
    """One ZooKeeper server; a session is ended by a client that resumes and closes it."""

    server = ZooKeeper

    def expire(self, session: Any) -> None:
        from kazoo.client import KazooClient

        number, password = session
        other = KazooClient(self.servers[0].address, timeout=self.seconds,
                            client_id=(number, bytes.fromhex(password)))
        other.start(_ANSWER_SECONDS)
        other.stop()
        other.close()


class EtcdService(Service):
    """One etcd member; a lease is revoked, unless it has ended by itself already."""

    server = Etcd
    seconds = 2.0

    def expire(self, session: Any) -> None:
        request = urllib.request.Request(
            f"http://{self.servers[0].address}/v3/lease/revoke",
            json.dumps({"ID": session}).encode())
        try:
            urllib.request.urlopen(request, timeout=_ANSWER_SECONDS).close()
        except urllib.error.HTTPError as error:
            if error.code != _NOT_FOUND:
                raise


class RedisService(Service):
    """One Redis server; the key is deleted, if it has the candidate's value."""

    server = Redis

    def expire(self, session: Any) -> None:
        import socket

        value = str(session)
        script = ("for _, key in ipairs(redis.call('keys', '*')) do "
                  "if redis.call('type', key).ok == 'string' and redis.call('get', key) == ARGV[1] "
                  "then redis.call('del', key) end end return 1")
        words = ["EVAL", script, "0", value]
        request = f"*{len(words)}\r\n" + "".join(
            f"${len(word.encode())}\r\n{word}\r\n" for word in words)
        for server in self.servers:
            with socket.create_connection((HOST, server.port), _ANSWER_SECONDS) as connection:
                connection.sendall(request.encode())
                connection.recv(64)


class RedlockService(RedisService):
    """Three Redis servers that know nothing of each other."""

    how_many = 3


class PostgreSQLService(Service):
    """One cluster; the backend of a connection is ended."""

    server = PostgreSQL

    def expire(self, session: Any) -> None:
        subprocess.run(psql(self.servers[0].port), check=False, timeout=_ANSWER_SECONDS,
                       input=f"select pg_terminate_backend({int(session)});\n".encode(),
                       capture_output=True)
