"""A timer, in virtual time."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="timer",
    folder=__name__,
    subject="timers and pending requests",
    about="a timer, in virtual time",
    page="kafka-ports.md",
    by_name="named",
    shipped=(
        Shipped("reference.timer", "timers:ReferenceTimer",
                "the reference of Kafka's hierarchical timing wheels"),
        Shipped("reference.timer.old", "timers:ReferenceOldTimer",
                "the reference of the timer before the wheels: a queue of all tasks, with lazy "
                "deletion"),
        Shipped("asyncio.timer", "timers:AsyncioTimer", "asyncio's call_at and cancel"),
        Shipped("sched", "timers:SchedTimer", "the standard library's sched.scheduler"),
        Shipped("trio.timer", "trio_timer:TrioTimer", "trio's deadlines, by its mock clock"),
        Shipped("js.timer", "timer.js",
                "setTimeout with the mock timers of node:test (needs node)"),
    ),
)
