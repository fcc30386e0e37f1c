"""Storm's acker."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="storm.acker",
    folder=__name__,
    subject="stream processors",
    about="Storm's acker",
    page="storm-ports.md",
    shipped=(
        Shipped("reference.storm.acker", "adapter:ReferenceAcker",
                "the reference of Storm's acker"),
    ),
    bugs="bugs",
)
