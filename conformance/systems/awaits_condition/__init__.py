"""Condition variables for coroutines; sleepers are cancelled at every await point."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="awaits.condition",
    folder=__name__,
    subject="locks and semaphores",
    about="condition variables for coroutines, cancelled at every await point",
    page="awaits.md",
    by_name="named",
    no_logs="a notify wakes some of those that wait, and a log of calls shows neither which "
            "are notified nor when they wait for their lock again",
    shipped=(
        Shipped("reference.awaits.condition", "adapter:ReferenceCondition",
                "the reference's condition variable for asyncio"),
        Shipped("awaits.asyncio.Condition", "adapter:AsyncioCondition",
                "asyncio.Condition, callback by callback"),
        Shipped("awaits.anyio.Condition", "adapter:AnyioCondition",
                "anyio's condition variable on asyncio, callback by callback"),
        Shipped("awaits.anyio.Condition.native", "adapter:AnyioNativeCondition",
                "the same, cancelled by asyncio and not by anyio"),
    ),
)
