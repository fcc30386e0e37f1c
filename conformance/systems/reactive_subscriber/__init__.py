"""A subscriber of Reactive Streams."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="reactive.subscriber",
    folder=__name__,
    subject="streams",
    about="a subscriber of Reactive Streams, called and watched by its publisher",
    page="reactive-port.md",
    no_logs="that the signals of several threads do not overlap is what its rules are "
            "about, and they overlap within nanoseconds, where the records of a log have no "
            "certain order",
    shipped=(
        Shipped("reference.subscriber", "adapter:ReferenceSubscriber",
                "the reference of a subscriber with a buffer, which requests in batches"),
        Shipped("async-iterator", "async_iterator:AsyncIteratorOfElements",
                "the reference's async iterator over a publisher, on asyncio"),
    ),
)
