"""The port ``kafka.controller``: batches of changes of partitions and replicas, as data.

Under test are a controller's state machines with their selectors, and a store with the leader, the
epoch and the ISR of each partition. Brokers and partitions are numbered; the settings say how many
there are. At the start all brokers are registered, and no partition exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ....spec.kafka.controller.transitions import PartitionState, ReplicaState
from ...ports.base import (
    COUNT, FLAG, POSITIVE, TRUE, Argument, Kind, Operation, Port, Vocabulary, hello, is_count,
    is_word, promised,
)

__all__ = ["PARTITION_STATES", "PORT", "REPLICA_STATES", "REQUESTS", "SELECTORS"]

PARTITION_STATES: Final[Mapping[str, PartitionState]] = {
    each.name.lower(): each for each in PartitionState}
REPLICA_STATES: Final[Mapping[str, ReplicaState]] = {
    each.name.lower(): each for each in ReplicaState}
_SELECTORS: Final[Mapping[str, str]] = {
    "offline": "the leader is gone: another replica in sync, or, if `unclean`, any that is up",
    "reassigned": "the replicas change: the first of the new list that is up and in sync",
    "preferred": "the first replica of the list is to lead",
    "controlled_shutdown": "the leader is shutting down: another replica in sync",
}
_REQUESTS: Final[Mapping[str, str]] = {
    "leader_and_isr": "LeaderAndIsr: the leader, the ISR, and the epoch",
    "update_metadata": "UpdateMetadata: the same, for brokers' answers to clients",
    "stop": "StopReplica, which keeps the log", "delete": "StopReplica, which deletes the log",
}
_OF_PARTITIONS: Final[Mapping[str, str]] = {
    "new": "it exists, and has no leader and no ISR yet",
    "online": "it has a leader", "offline": "it had a leader, and has none",
    "non_existent": "it was never created, or is deleted",
}
_OF_REPLICAS: Final[Mapping[str, str]] = {
    "new": "it is to be created", "online": "it is alive, and leads or follows",
    "offline": "its broker is gone, or it was stopped",
    "deletion_started": "it has been asked to delete its log",
    "deletion_successful": "it has deleted its log",
    "deletion_ineligible": "it could not delete its log",
    "non_existent": "it was never created, or is deleted",
}
SELECTORS: Final = (*_SELECTORS,)
REQUESTS: Final = (*_REQUESTS,)


def _is_list_of_counts(value: object) -> bool:
    return isinstance(value, list) and all(map(is_count, value))


def _is_list_of_replicas(value: object) -> bool:
    return isinstance(value, list) and all(
        _is_list_of_counts(each) and len(each) == 2 for each in value)


def _is_partition(value: object) -> bool:
    return (isinstance(value, dict) and is_count(value.get("partition"))
            and is_word(value.get("state"), PARTITION_STATES)
            and (value.get("leader") is None or is_count(value.get("leader")))
            and _is_list_of_counts(value.get("isr")) and is_count(value.get("epoch")))


def _is_replica(value: object) -> bool:
    return (isinstance(value, dict) and is_count(value.get("partition"))
            and is_count(value.get("broker")) and is_word(value.get("state"), REPLICA_STATES))


def _is_telling(value: object) -> bool:
    return (isinstance(value, dict) and is_count(value.get("to"))
            and is_count(value.get("partition")) and is_word(value.get("request"), REQUESTS))


def _is_seen(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), list) and all(map(accepts, value[name]))
        for name, accepts in (("partitions", _is_partition), ("replicas", _is_replica),
                              ("told", _is_telling))) and isinstance(value.get("met"), bool)


BROKERS: Final = Kind("a list of brokers' numbers", _is_list_of_counts)
REPLICAS: Final = Kind("a list of [partition, broker]", _is_list_of_replicas)
_PARTITION_STATES: Final = Vocabulary("the `state` of a partition", _OF_PARTITIONS)
_REPLICA_STATES: Final = Vocabulary("the `state` of a replica", _OF_REPLICAS)
SEEN: Final = Kind("an object with `partitions`, `replicas`, `told` and `met`", _is_seen, (
    Vocabulary("the answer to a change", {
        "partitions": "a list: each partition after the change",
        "replicas": "a list: each replica after the change",
        "told": "a list: each request to a broker about a partition, for each broker in the order "
                "of its queue",
        "met": "true or false: the leader's write of `meanwhile` took place; false without "
               "`meanwhile`"}),
    Vocabulary("a partition", {
        "partition": "its number", "state": "its state for the controller",
        "leader": "the leader in the node of the store; null, or absent: none",
        "isr": "a list of brokers: the ISR in the node",
        "epoch": "the leader epoch in the node; 0 without a node"}),
    _PARTITION_STATES,
    Vocabulary("a replica", {
        "partition": "the number of its partition", "broker": "the number of its broker",
        "state": "its state for the controller"}),
    _REPLICA_STATES,
    Vocabulary("a request to a broker", {
        "to": "the number of the broker", "request": "by which request",
        "partition": "of which partition"}),
    Vocabulary("`request`", _REQUESTS)))
STATE: Final = Kind("a state of partitions: " + ", ".join(PARTITION_STATES),
                    lambda v: is_word(v, PARTITION_STATES), (_PARTITION_STATES,))
REPLICA_STATE: Final = Kind("a state of replicas: " + ", ".join(REPLICA_STATES),
                            lambda v: is_word(v, REPLICA_STATES), (_REPLICA_STATES,))
SELECTOR: Final = Kind("a selector: " + ", ".join(SELECTORS), lambda v: is_word(v, SELECTORS),
                       (Vocabulary("`selector`", _SELECTORS),))

_PARTITION: Final = Argument("partition", COUNT, "the number of a partition")
_MEANWHILE: Final = Argument(
    "meanwhile", BROKERS, "once the controller has read the node of the first partition, and "
    "before it writes it, the leader writes this ISR; met: whether that happened",
    required=False)

_OPERATIONS: Final = (
    hello("start a fresh controller, elected, with all brokers registered and no partitions"),
    Operation("assign", TRUE, "a partition that no change was requested of yet gets this list",
              (_PARTITION, Argument("replicas", BROKERS, "the assigned brokers, in order"),
               Argument("unclean", FLAG, "true: unclean elections are on"))),
    Operation("brokers", TRUE, "the controller learns which brokers are registered, and which of "
              "them are shutting down; it does not react to that by itself",
              (Argument("up", BROKERS, "those registered"),
               Argument("leaving", BROKERS, "those of them that are shutting down"))),
    Operation("write_isr", TRUE, "the partition's leader writes the ISR into the node",
              (_PARTITION, Argument("isr", BROKERS, "the in-sync replicas"))),
    Operation("take_over", TRUE, "a newer controller writes the node: its content stays, except "
              "for the controller's epoch", (_PARTITION,)),
    Operation("change", SEEN, "change a batch of partitions; ok: their states afterwards, and the "
              "requests to brokers", (
                  Argument("partitions", BROKERS, "the numbers of the partitions"),
                  Argument("target", STATE, "the state to which they are to change"),
                  Argument("selector", SELECTOR, "the rule for the leader, if the target is "
                           "online"),
                  Argument("to", BROKERS, "the new list, for the selector `reassigned`"),
                  _MEANWHILE)),
    Operation("change_replicas", SEEN, "change a batch of replicas; ok: as for change, with those "
              "replicas and their partitions", (
                  Argument("replicas", REPLICAS, "the replicas"),
                  Argument("target", REPLICA_STATE, "the state to which they are to change"),
                  _MEANWHILE)),
    Operation("look", SEEN, "the state of a partition and all its replicas; no request is sent",
              (_PARTITION,)),
)

_PROMISES: Final = {
    "change": {
        "Each partition of the batch reaches the target state, if the table has the change.":
            "KAFKA-C3",
        "A failed change in the batch does not prevent the others.": "KAFKA-C2",
        "Each replica concerned gets a request about a new leader.": "KAFKA-C14",
        "Every broker gets the metadata of a new leader.": "KAFKA-C15",
    },
    "change_replicas": {
        "Each replica of the batch reaches the target state, if the table has the change.":
            "KAFKA-C17",
        "A replica that comes back gets a request about its leader.": "KAFKA-C21",
    },
}
"""The promises of each operation, and the rules of progress that judge them."""

PORT: Final = Port(
    name="kafka.controller",
    version=1,
    meaning="the state machines of Kafka's controller, and its leader selectors",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(
        Argument("capacity", POSITIVE, "the number of partitions"),
        Argument("brokers", POSITIVE, "the number of brokers"),
    ),
    policies={
        "0.9": "the tables and selectors of the releases from 0.8.2 on",
        "3.9": "those of the last release with ZooKeeper",
    },
)
