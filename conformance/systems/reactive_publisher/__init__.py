"""A publisher of Reactive Streams."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="reactive.publisher",
    folder=__name__,
    subject="streams",
    about="a publisher of Reactive Streams, called and watched by two subscribers",
    page="reactive-port.md",
    no_logs="that the signals of several threads do not overlap is what its rules are "
            "about, and they overlap within nanoseconds, where the records of a log have no "
            "certain order",
    shipped=(
        Shipped("reference.publisher", "adapter:ReferencePublisher",
                "the reference of a publisher; its signals are work for later"),
        Shipped("reference.publisher.inline", "adapter:InlinePublisher",
                "the same, which signals within request"),
        Shipped("async-generator", "calling:AsyncGenerator",
                "the reference's driver for async generators, on asyncio"),
        Shipped("jdk.publisher", "JdkPublisher.java",
                "the JDK's SubmissionPublisher, on an executor of the adapter's (needs Java)"),
        Shipped("reactivex", "calling:BareObservable",
                "an observable of reactivex as it is, without demand"),
        Shipped("reactivex.buffered", "calling:BufferedObservable",
                "the same behind a buffer without a bound, with demand"),
    ),
)
