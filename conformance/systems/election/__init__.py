"""Leader election, and the fencing of those who no longer lead."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="election",
    folder=__name__,
    about="leader election, and the fencing of those who no longer lead",
    page="election-port.md",
    shipped=(
        Shipped("reference.election", "adapter:ReferenceElection",
                "the reference of an election with fencing"),
    ),
)
