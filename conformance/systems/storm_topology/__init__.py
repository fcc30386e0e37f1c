"""A whole Storm topology under faults, by its history."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="storm.topology",
    folder=__name__,
    subject="stream processors",
    about="a whole Storm topology under faults, by its history",
    page="storm-ports.md",
    shipped=(
        Shipped("reference.storm.topology", "adapter:ReferenceTopology",
                "the reference's cluster of Storm workers"),
    ),
    bugs="bugs",
)
