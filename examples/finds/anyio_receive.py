"""anyio: a receive that asyncio cancels after it was handed its item loses the item."""
import asyncio

import anyio


async def main():
    send, receive = anyio.create_memory_object_stream(1)
    a = asyncio.create_task(receive.receive())
    await asyncio.sleep(0.01)            # it waits
    send.send_nowait("the item")         # it is handed the item
    a.cancel()                           # and cancelled before it runs
    await asyncio.wait([a])
    inside = receive.statistics().current_buffer_used
    print(f"a was {'cancelled' if a.cancelled() else 'served'}; inside: {inside}")

asyncio.run(main())                      # a was cancelled; inside: 0
