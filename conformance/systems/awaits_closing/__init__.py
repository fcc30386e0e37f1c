"""Queues for coroutines that end: closed, cut off, joined, and given items that cannot be put."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="awaits.closing",
    folder=__name__,
    subject="queues",
    about="queues for coroutines that are closed, cut off and joined, callback by callback",
    page="awaits.md",
    by_name="named",
    no_logs="what its rules are about, a cut that reaches a waiter before or after its "
            "wake-up, happens within a turn of the event loop, and no log of calls shows in "
            "which",
    shipped=(
        Shipped("reference.awaits.closing", "adapter:ReferenceClosing",
                "the reference's closable queue for asyncio"),
        Shipped("awaits.asyncio.Queue.closing", "adapter:AsyncioClosing",
                "asyncio.Queue, joined, and shut down from Python 3.13 on"),
        Shipped("awaits.asyncio.PriorityQueue.closing", "adapter:AsyncioPriorityClosing",
                "asyncio.PriorityQueue, given items that it cannot compare"),
        Shipped("awaits.janus.closing", "adapter:JanusClosing",
                "the asynchronous side of janus.Queue, shut down and joined"),
        Shipped("awaits.janus.PriorityQueue.closing", "adapter:JanusPriorityClosing",
                "that of janus.PriorityQueue, given items that it cannot compare"),
        Shipped("awaits.anyio.closing", "adapter:AnyioClosing",
                "anyio's memory object stream, closed at one end or at both"),
    ),
)
