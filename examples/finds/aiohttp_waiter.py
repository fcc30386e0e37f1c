"""aiohttp: a request that is chosen for a free connection and cancelled keeps its turn."""
import asyncio

import aiohttp


async def half(reader, writer):          # a server that sends half of each body
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")


async def main():
    server = await asyncio.start_server(half, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as session:
        a = await session.get(url)       # holds the one connection
        b = asyncio.create_task(session.get(url))
        c = asyncio.create_task(session.get(url))
        await asyncio.sleep(0.2)         # both wait for it
        a.close()                        # it is free, and b is chosen
        b.cancel()                       # and cancelled before it runs
        done, _ = await asyncio.wait([c], timeout=3)
        print("c began" if done else "c still waits after 3 s beside a free connection")
        c.cancel()

asyncio.run(main())                      # c still waits after 3 s beside a free connection
