"""A credit-controlled link from a sender to a receiver."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="link",
    folder=__name__,
    subject="links and flow control",
    about="a credit-controlled link from a sender to a receiver",
    page="link-port.md",
    shipped=(
        Shipped("reference.link", "adapter:ReferenceLink",
                "the reference of a link with credits, in batches"),
    ),
)
