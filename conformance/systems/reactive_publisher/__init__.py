"""A publisher of Reactive Streams."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="reactive.publisher",
    folder=__name__,
    about="a publisher of Reactive Streams, called and watched by two subscribers",
    page="reactive-port.md",
    shipped=(
        Shipped("reference.publisher", "adapter:ReferencePublisher",
                "the reference of a publisher, whose signals are work for later"),
        Shipped("reference.publisher.inline", "adapter:InlinePublisher",
                "the same, which signals within request"),
    ),
    chapters=("reactive.stream",),
)
