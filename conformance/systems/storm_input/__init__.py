"""A task's input in Storm: two queues and their consumer."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="storm.input",
    folder=__name__,
    subject="stream processors",
    about="a task's input in Storm: two queues and their consumer",
    page="storm-ports.md",
    no_logs="its rules say which of two queues a task reads first, and a log of tuples does "
            "not show what was in either when it looked",
    shipped=(
        Shipped("reference.storm.input", "adapter:ReferenceInput",
                "the reference of a Storm task's input"),
    ),
    bugs="bugs",
)
