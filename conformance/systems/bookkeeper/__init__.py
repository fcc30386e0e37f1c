"""A server in the style of BookKeeper's: admission and responses."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="bookkeeper",
    folder=__name__,
    subject="servers",
    about="a server in the style of BookKeeper's: requests in progress, responses to slow clients",
    page="bookkeeper-port.md",
    shipped=(
        Shipped("reference.bookkeeper", "adapter:ReferenceBookie",
                "the reference of a server that limits requests in progress"),
    ),
)
