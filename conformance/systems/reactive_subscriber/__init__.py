"""A subscriber of Reactive Streams."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="reactive.subscriber",
    folder=__name__,
    subject="streams",
    about="a subscriber of Reactive Streams, called and watched by its publisher",
    page="reactive-port.md",
    no_logs="signals of several threads are serial by the rules that are to be judged, so "
            "their order in a log would have to be trusted first",
    shipped=(
        Shipped("reference.subscriber", "adapter:ReferenceSubscriber",
                "the reference of a subscriber with a buffer, which requests in batches"),
        Shipped("async-iterator", "async_iterator:AsyncIteratorOfElements",
                "the reference's async iterator over a publisher, on asyncio"),
    ),
)
