"""aiojobs: a job stays pending beside a free place, until another job ends."""
import asyncio

import aiojobs


async def main():
    scheduler = aiojobs.Scheduler(limit=2, pending_limit=1)
    ends, started = asyncio.Event(), []

    async def long(name):
        started.append(name)
        await asyncio.sleep(3600)

    for _ in range(2):
        await scheduler.spawn(ends.wait())          # both places are taken
    await scheduler.spawn(long("third"))            # pending
    fourth = asyncio.create_task(scheduler.spawn(long("fourth")))    # waits to be pending
    await asyncio.sleep(0)
    ends.set()                                      # both jobs end in one turn of the loop
    await asyncio.sleep(1)
    active, pending = scheduler.active_count, scheduler.pending_count
    print(f"{started} runs, {active} of 2 active, {pending} pending")
    fourth.cancel()
    await scheduler.close()

asyncio.run(main())                      # ['third'] runs, 1 of 2 active, 1 pending
