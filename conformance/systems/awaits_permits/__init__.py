"""Semaphores and locks for coroutines; callers are cancelled at every await point."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="awaits.permits",
    folder=__name__,
    subject="locks and semaphores",
    about="semaphores and locks for coroutines, cancelled at every await point",
    page="awaits.md",
    by_name="named",
    shipped=(
        Shipped("reference.awaits.permits", "adapter:ReferencePermits",
                "the reference's permits for asyncio"),
        Shipped("reference.awaits.permits.late", "adapter:ReferenceLatePermits",
                "the same, but giving a permit back is a coroutine"),
        Shipped("awaits.asyncio.Semaphore", "adapter:AsyncioSemaphore",
                "asyncio.Semaphore, callback by callback"),
        Shipped("awaits.asyncio.Lock", "adapter:AsyncioLock",
                "asyncio.Lock, callback by callback"),
        Shipped("awaits.anyio.Semaphore", "adapter:AnyioSemaphore",
                "anyio's semaphore on asyncio, callback by callback"),
        Shipped("awaits.anyio.Lock", "adapter:AnyioLock",
                "anyio's lock on asyncio, callback by callback"),
        Shipped("awaits.anyio.CapacityLimiter", "adapter:AnyioLimiter",
                "anyio's capacity limiter on asyncio, callback by callback"),
        Shipped("awaits.anyio.Semaphore.native", "adapter:AnyioNativeSemaphore",
                "anyio's semaphore, cancelled by asyncio and not by anyio"),
        Shipped("awaits.anyio.Lock.native", "adapter:AnyioNativeLock",
                "anyio's lock, cancelled by asyncio and not by anyio"),
        Shipped("awaits.anyio.CapacityLimiter.native", "adapter:AnyioNativeLimiter",
                "anyio's capacity limiter, cancelled by asyncio and not by anyio"),
    ),
)
