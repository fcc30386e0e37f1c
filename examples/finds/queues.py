"""aiologic's queue by the names that the suite `awaits.queue` looks for.

    checkvalve conform asyncio:queues:Queue --suite awaits.queue
"""

import aiologic


class Queue:
    """A queue for tasks; its calls that must not wait are those for threads, as in aiologic."""

    def __init__(self, maxsize: int) -> None:
        self.queue = aiologic.Queue(maxsize)

    async def put(self, item):
        await self.queue.async_put(item)

    async def get(self):
        return await self.queue.async_get()

    def put_nowait(self, item):
        self.queue.green_put(item, blocking=False)

    def get_nowait(self):
        return self.queue.green_get(blocking=False)
