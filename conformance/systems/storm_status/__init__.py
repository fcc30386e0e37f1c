"""Backpressure status between two Storm workers."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="storm.status",
    folder=__name__,
    subject="stream processors",
    about="backpressure status between two Storm workers",
    page="storm-ports.md",
    no_logs="its rules compare what a worker sent with the state of its queues at that "
            "instant, which no log has",
    shipped=(
        Shipped("reference.storm.status", "adapter:ReferenceStatus",
                "the reference of Storm's backpressure status"),
    ),
    bugs="bugs",
)
