"""The state machines of Kafka's controller."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="kafka.controller",
    folder=__name__,
    subject="elections and replication",
    about="the state machines of Kafka's controller, and its elections",
    page="kafka-ports.md",
    no_logs="it computes all that a batch must change from the whole state of the store and "
            "of the brokers, and a log of a controller has only what it changed",
    shipped=(
        Shipped("reference.kafka.controller", "adapter:ReferenceController",
                "the reference of Kafka's controller: partitions, replicas, selectors"),
        Shipped("reference.kafka.controller.0_9", "adapter:ReferenceControllerOf09",
                "the same as of Kafka 0.9: its transition tables, and its handling of an ISR"),
    ),
    drawings="drawings",
    bugs="bugs",
)
