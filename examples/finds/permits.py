"""Pools of other libraries as permits, so that `awaits.permits` can be run on them by name.

    checkvalve conform asyncio:permits:Connections --suite awaits.permits

Nothing is opened: what the pool hands out is made up here, and the pool is the library's own.
"""

import asyncio
from typing import NamedTuple


class Permits:
    """Common to all: `acquire` gets something from the pool, `release` gives one of them back."""

    def __init__(self) -> None:
        self.held = []

    def release(self):
        return self.held.pop(0)()


class Key(NamedTuple):
    """The key by which connections are kept apart."""

    host: str = "a.host"
    is_ssl: bool = False


class Wanted:
    """A request, as far as the connector asks."""

    connection_key = Key()


class Opened:
    """A connection, as far as the connector asks."""

    should_close, transport, closed = True, None, None

    def is_connected(self):
        return True

    def close(self):
        return None

    abort = close


class Connections(Permits):
    """The connections of aiohttp's TCPConnector, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        from aiohttp import BaseConnector

        super().__init__()
        self.connector = BaseConnector(limit=limit)
        self.connector._create_connection = self.opened

    async def opened(self, request, traces, timeout):
        return Opened()

    async def acquire(self):
        from aiohttp import ClientTimeout

        one = await self.connector.connect(Wanted, [], ClientTimeout())
        self.held.append(one.close)


class Requests(Permits):
    """The connections of httpcore's AsyncConnectionPool, without sockets."""

    def __init__(self, limit: int) -> None:
        import httpcore

        super().__init__()
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        self.pool = httpcore.AsyncConnectionPool(
            max_connections=limit, network_backend=httpcore.AsyncMockBackend([answer, b"ok"]))

    async def acquire(self):
        import httpcore

        request = httpcore.Request("GET", "http://a.host/", headers={"Host": "a.host"})
        response = await self.pool.handle_async_request(request)
        self.held.append(response.aclose)


class Jobs(Permits):
    """The places of aiojobs' Scheduler: an acquire is a job that runs until the release."""

    def __init__(self, limit: int) -> None:
        from aiojobs import Scheduler

        super().__init__()
        self.scheduler = Scheduler(limit=limit, pending_limit=1)

    async def acquire(self):
        runs, ends = asyncio.Event(), asyncio.Event()

        async def job():
            runs.set()
            await ends.wait()

        try:
            await self.scheduler.spawn(job())
            await runs.wait()
        except asyncio.CancelledError:
            ends.set()                  # the job ends as soon as it runs
            raise
        self.held.append(ends.set)
