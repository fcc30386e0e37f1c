"""aiologic: a queue says that it is full with 1 of 10 items inside, and empty as well."""
import asyncio

import aiologic


async def main():
    queue = aiologic.Queue(10)
    a = asyncio.create_task(queue.async_get())
    await asyncio.sleep(0)               # it waits
    await queue.async_put("one")         # for a
    try:
        queue.green_put("two", blocking=False)
    except aiologic.QueueFull:
        print(f"full with {len(queue)} of 10 inside")
    await a

asyncio.run(main())                      # full with 1 of 10 inside
