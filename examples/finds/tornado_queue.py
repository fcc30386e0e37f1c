"""tornado: a get that is cancelled after it was given an item loses the item."""
import asyncio

from tornado.queues import Queue


async def main():
    queue = Queue(1)

    async def take():
        return await queue.get()

    a = asyncio.create_task(take())
    await asyncio.sleep(0)
    queue.put_nowait("the item")         # given to a
    a.cancel()                           # and cancelled before it runs
    await asyncio.wait([a])
    print(f"a was {'cancelled' if a.cancelled() else 'served'}; inside: {queue.qsize()}")

asyncio.run(main())                      # a was cancelled; inside: 0
