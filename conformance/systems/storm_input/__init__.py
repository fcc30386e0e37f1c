"""A task's input in Storm: two queues and their consumer."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="storm.input",
    folder=__name__,
    subject="stream processors",
    about="a task's input in Storm: two queues and their consumer",
    page="storm-ports.md",
    no_logs="the place of a tuple follows from the room that a queue has when the tuple "
            "comes, and records by the sender and by the task are not in that order",
    shipped=(
        Shipped("reference.storm.input", "adapter:ReferenceInput",
                "the reference of a Storm task's input"),
    ),
    bugs="bugs",
)
