"""Kafka's request purgatory: requests that wait for a condition or a timeout."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="kafka.purgatory",
    folder=__name__,
    subject="timers and pending requests",
    about="Kafka's request purgatory: requests that wait for a condition or a timeout",
    page="kafka-ports.md",
    no_logs="its machine knows fixed tables of timeouts and sets of at most six requests, "
            "and a log has timeouts and requests of any number",
    shipped=(
        Shipped("reference.purgatory", "adapter:ReferencePurgatory",
                "the reference purgatory, over timing wheels"),
        Shipped("reference.purgatory.old", "adapter:ReferenceOldPurgatory",
                "the reference of the purgatory before the timing wheels"),
    ),
)
