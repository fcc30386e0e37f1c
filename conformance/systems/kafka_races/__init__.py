"""Kafka's timer and purgatory, by threads in a chosen order."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="kafka.races",
    folder=__name__,
    subject="timers and pending requests",
    about="Kafka's timer and purgatory, by threads in a chosen order",
    page="races.md",
    no_logs="its subject is the overlap of two calls within one schedule, which is chosen "
            "and not recorded",
    shipped=(
        Shipped("reference.kafka.races", "adapter:ReferenceRaces",
                "the reference timer and purgatory under chosen schedules"),
    ),
)
