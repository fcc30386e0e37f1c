"""A processor of Reactive Streams."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="reactive.processor",
    folder=__name__,
    subject="streams",
    about="a processor of Reactive Streams, between its publisher and its subscriber",
    page="reactive-port.md",
    no_logs="that the signals of several threads do not overlap is what its rules are "
            "about, and they overlap within nanoseconds, where the records of a log have no "
            "certain order",
    shipped=(
        Shipped("reference.processor", "adapter:ReferenceProcessor",
                "the reference of a processor that maps, with a bounded buffer"),
    ),
)
