"""asyncio.PriorityQueue: a put that fails leaves its item in the queue."""
import asyncio


async def main():
    queue = asyncio.PriorityQueue(2)
    await queue.put(1)
    try:
        await queue.put("x")
    except TypeError:
        print(f"the put failed; inside: {queue.qsize()}")

asyncio.run(main())                      # the put failed; inside: 2
