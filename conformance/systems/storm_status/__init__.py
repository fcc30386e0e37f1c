"""Backpressure status between two Storm workers."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="storm.status",
    folder=__name__,
    subject="stream processors",
    about="backpressure status between two Storm workers",
    page="storm-ports.md",
    no_logs="its machine is also the network that loses and reorders the statuses, and "
            "knows of each what became of it, and a log of two workers does not",
    shipped=(
        Shipped("reference.storm.status", "adapter:ReferenceStatus",
                "the reference of Storm's backpressure status"),
    ),
    bugs="bugs",
)
