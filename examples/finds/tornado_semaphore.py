"""tornado: a waiter that is woken and cancelled takes the permit with it."""
import asyncio

from tornado.locks import Semaphore


async def main():
    permits = Semaphore(1)
    await permits.acquire()

    async def use():
        async with permits:
            return True

    b, c = asyncio.create_task(use()), asyncio.create_task(use())
    await asyncio.sleep(0)
    permits.release()                    # b is woken
    b.cancel()                           # and cancelled before it runs
    done, _ = await asyncio.wait([c], timeout=2)
    print("c got the permit" if done else "no task holds the permit, and c waits for it")

asyncio.run(main())                      # no task holds the permit, and c waits for it
