"""Kafka's request purgatory: requests that wait for a condition or a timeout."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="kafka.purgatory",
    folder=__name__,
    subject="timers and pending requests",
    about="Kafka's request purgatory: requests that wait for a condition or a timeout",
    page="kafka-ports.md",
    shipped=(
        Shipped("reference.purgatory", "adapter:ReferencePurgatory",
                "the reference purgatory, over timing wheels"),
        Shipped("reference.purgatory.old", "adapter:ReferenceOldPurgatory",
                "the reference of the purgatory before the timing wheels"),
    ),
)
