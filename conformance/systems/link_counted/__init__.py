"""A link that survives loss, duplicates and reordering."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="link.counted",
    folder=__name__,
    subject="links and flow control",
    about="a link that survives messages that are lost, duplicated and reordered",
    page="link-port.md",
    shipped=(
        Shipped("reference.link.counted", "adapter:ReferenceCountedLink",
                "the reference of a link with numbered elements and limits"),
    ),
)
