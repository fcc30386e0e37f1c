"""A replayable source: a spout over a log that can be read again."""

from ...suites.system import Shipped, System

__all__ = ["SYSTEM"]

SYSTEM = System(
    name="storm.partition",
    folder=__name__,
    subject="stream processors",
    about="a replayable source: a spout over a log that can be read again",
    page="storm-ports.md",
    shipped=(
        Shipped("reference.storm.partition", "adapter:ReferencePartition",
                "the reference of a replayable source"),
        Shipped("reference.storm.client", "adapter:ReferenceClient",
                "a replayable source in the style of storm-kafka-client"),
    ),
    bugs="bugs",
)
