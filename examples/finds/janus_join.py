"""janus: after a put that failed and an immediate shutdown, a join ends too early."""
import asyncio

import janus


async def main():
    queue = janus.PriorityQueue(3).async_q
    await queue.put(1)
    await queue.get()                    # this item is worked on until task_done
    await queue.put(2)
    try:
        await queue.put("x")             # it fails, is inside, and is not counted
    except TypeError:
        queue.shutdown(immediate=True)
    await asyncio.wait_for(queue.join(), 1)
    print("join ended, and item 1 is not done")

asyncio.run(main())                      # join ended, and item 1 is not done
