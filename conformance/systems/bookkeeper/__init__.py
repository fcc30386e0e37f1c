"""A server in the style of BookKeeper's: admission and responses."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="bookkeeper",
    folder=__name__,
    subject="servers",
    about="a server in the style of BookKeeper's: requests in progress, responses to slow clients",
    page="bookkeeper-port.md",
    no_logs="its machine numbers the requests of one run, and judges what the server's "
            "threads do at the instant at which nothing more happens, which a log of "
            "requests and responses does not show",
    shipped=(
        Shipped("reference.bookkeeper", "adapter:ReferenceBookie",
                "the reference of a server that limits requests in progress"),
    ),
)
