"""httpcore: a request that is cancelled at a wrong instant fills its place in the pool forever."""
import asyncio
import contextlib

import httpcore


async def ok(reader, writer):
    with contextlib.suppress(asyncio.CancelledError, ConnectionError):    # when all ends
        while await reader.read(999):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


async def cancelled_after(turns, url):
    async with httpcore.AsyncConnectionPool(max_connections=1) as pool:
        a = asyncio.create_task(pool.request("GET", url))
        for _ in range(turns):
            await asyncio.sleep(0)
        a.cancel()
        await asyncio.wait([a])
        try:
            await asyncio.wait_for(pool.request("GET", url), 1)
        except TimeoutError:
            return True


async def main():
    server = await asyncio.start_server(ok, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    full = [turns for turns in range(16) if await cancelled_after(turns, url)]
    print(f"of 16 instants, {len(full)} leave the pool full")

asyncio.run(main())                      # of 16 instants, 2 leave the pool full
