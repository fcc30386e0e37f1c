"""A bounded queue with waiting producers and consumers."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="queue",
    folder=__name__,
    about="a bounded queue with waiting producers and consumers",
    page="adapter-protocol.md",
    shipped=(
        Shipped("reference", "reference:ReferenceQueue", "the reference queue of checkvalve"),
        Shipped("reference.deferred", "reference:DeferredQueue",
                "the reference queue, its woken waiters run at settle only"),
        Shipped("reference.asyncio", "event_loop:ReferenceAsyncQueue",
                "the reference queue through its asyncio driver"),
        Shipped("queue.Queue", "thread_queue:ThreadQueue",
                "the standard library's queue for threads"),
        Shipped("asyncio.Queue", "event_loop:AsyncioQueue",
                "the standard library's queue for tasks"),
        Shipped("janus", "event_loop:JanusQueue", "the asynchronous side of janus.Queue"),
        Shipped("anyio", "event_loop:AnyioQueue", "anyio's memory object stream, on asyncio"),
        Shipped("trio", "trio_channel:TrioQueue", "trio's memory channel"),
        Shipped("deque", "dropping:DroppingDeque",
                "collections.deque(maxlen=...), which drops its oldest item"),
        Shipped("js", "queue.js", "a queue in JavaScript behind the protocol (needs node)"),
    ),
)
