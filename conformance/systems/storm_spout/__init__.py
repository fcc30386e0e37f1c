"""A spout's pending roots in Storm, and their maximum."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="storm.spout",
    folder=__name__,
    subject="stream processors",
    about="a spout's pending roots in Storm, and their maximum",
    page="storm-ports.md",
    shipped=(
        Shipped("reference.storm.spout", "adapter:ReferenceSpout",
                "the reference of a spout's pending roots"),
    ),
    bugs="bugs",
)
