"""A server in the style of BookKeeper's: admission and responses."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="bookkeeper",
    folder=__name__,
    subject="servers",
    about="a server in the style of BookKeeper's: requests in progress, responses to slow clients",
    page="bookkeeper-port.md",
    no_logs="its rules limit what the server holds for slow clients at each instant, and a "
            "log of requests and responses does not show what it holds",
    shipped=(
        Shipped("reference.bookkeeper", "adapter:ReferenceBookie",
                "the reference of a server that limits requests in progress"),
    ),
)
