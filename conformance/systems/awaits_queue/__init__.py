"""A bounded queue for coroutines; callers are cancelled at every await point."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="awaits.queue",
    folder=__name__,
    subject="queues",
    about="a queue for coroutines, one callback at a time, cancelled at every await point",
    page="awaits.md",
    by_name="named",
    shipped=(
        Shipped("reference.awaits.queue", "adapter:ReferenceAwaits",
                "the reference queue through its asyncio driver, callback by callback"),
        Shipped("awaits.asyncio.Queue", "adapter:AsyncioAwaits",
                "asyncio.Queue, callback by callback"),
        Shipped("awaits.janus", "adapter:JanusAwaits",
                "the asynchronous side of janus.Queue, callback by callback"),
        Shipped("awaits.janus.from_threads", "threads:JanusFromThreads",
                "janus.Queue: threads put, coroutines take"),
        Shipped("awaits.janus.from_async", "threads:JanusFromAsync",
                "janus.Queue: coroutines put, threads take"),
        Shipped("awaits.janus.threads", "threads:JanusOfThreads",
                "the synchronous side of janus.Queue, between threads"),
        Shipped("awaits.anyio", "adapter:AnyioAwaits",
                "anyio's memory object stream on asyncio, callback by callback"),
        Shipped("awaits.anyio.native", "adapter:AnyioNativeAwaits",
                "the same, cancelled by asyncio and not by anyio"),
    ),
)
