"""Bugs of the history of Kafka's controller, within one controller."""

from __future__ import annotations

from typing import Final

from ...suites.bug import bug

__all__ = ["BUGS"]

BUGS: Final = (
    bug("KAFKA-1578", "watches are left after a resignation",
        machines="kafka.controller_turns.KeepingTheWatches"),
    bug("KAFKA-4229", "states are left after a resignation: it cannot begin again",
        machines="kafka.controller_turns.ForgettingNothing"),
    bug("KAFKA-1134", "callbacks run while a controller begins",
        machines="kafka.controller_turns.CallingBackAtOnce"),
    bug("KAFKA-6879", "the end of a session is handled under a lock: deadlock",
        machines="kafka.controller_turns.WaitingWithTheLock"),
    bug("KAFKA-5502", "the list of brokers is taken from the event",
        machines="kafka.controller_start.TrustingTheEvent"),
    bug("KAFKA-4443", "a leader is named that no broker knows to be live",
        twins="controller-metadata-late",
        machines="kafka.controller_start.LeadersFirst",
        apart="a broker's knowledge of a leader is internal to it; the twin is found by the "
              "requests in the queues"),
    bug("KAFKA-831", "a broker that starts is not sent its partitions",
        twins="kafka-831",
        machines="kafka.broker_changes.NotTellingWhoCame",
        apart="the machine is refused at its end (KAFKA-F15), the twin because of a missing "
              "request"),
    bug("KAFKA-5879", "elections use an ISR that was read long ago",
        twins="kafka-5879"),
    bug("KAFKA-3143", "replicas on dead brokers stay in the ISR",
        twins="kafka-3143",
        machines="kafka.replica_changes.KeepingTheDead kafka.broker_changes.KeepingTheGone",
        apart="that a leader waits for a stopped broker shows only while that broker is down, and "
              "the brokers of KeepingTheGone come back"),
    bug("KAFKA-3670", "in a controlled shutdown the first of the ISR leads, live or not",
        twins="kafka-3670 kafka-3670-dead",
        machines="kafka.partition_changes.ElectingInIsrOrder "
                 "kafka.partition_changes.ElectingTheDead"),
    bug("KAFKA-7482", "the broker that shuts down does not learn that another one leads",
        twins="kafka-7482",
        machines="kafka.broker_changes.NotTellingWhoGoes",
        apart="a broker that may go stops at once; the twin is found by the receivers of the "
              "request"),
)
