"""Gates for coroutines: events, and transports that stop and resume their writers."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="awaits.gate",
    folder=__name__,
    subject="locks and semaphores",
    about="events and drains for coroutines: many wait until a gate is opened, or breaks",
    page="awaits.md",
    by_name="named",
    shipped=(
        Shipped("reference.awaits.gate", "adapter:ReferenceGate",
                "the reference's gate for asyncio"),
        Shipped("awaits.asyncio.Event", "adapter:AsyncioEvent",
                "asyncio.Event, callback by callback"),
        Shipped("awaits.asyncio.drain", "adapter:AsyncioDrain",
                "StreamWriter.drain of asyncio; its transport stops and resumes writers"),
        Shipped("awaits.anyio.Event", "adapter:AnyioEvent",
                "anyio's event on asyncio, which is opened once"),
    ),
)
