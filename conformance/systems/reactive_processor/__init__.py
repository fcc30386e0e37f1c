"""A processor of Reactive Streams."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="reactive.processor",
    folder=__name__,
    subject="streams",
    about="a processor of Reactive Streams, between its publisher and its subscriber",
    page="reactive-port.md",
    no_logs="signals of several threads are serial by the rules that are to be judged, so "
            "their order in a log would have to be trusted first",
    shipped=(
        Shipped("reference.processor", "adapter:ReferenceProcessor",
                "the reference of a processor that maps, with a bounded buffer"),
    ),
)
