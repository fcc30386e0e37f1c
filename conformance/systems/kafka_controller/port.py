"""The port ``kafka.controller``: batches of changes of partitions and replicas, as data.

Under test are a controller's state machines with their selectors, and a store in which the leader,
the epoch and the ISR of each partition stand. Brokers are numbered, and so are partitions; there
are as many as the settings say. At the start all brokers are registered, and no partition exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ....spec.kafka.controller.transitions import PartitionState, ReplicaState
from ...ports.base import (
    COUNT, FLAG, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello, is_count, is_word,
)

__all__ = ["PARTITION_STATES", "PORT", "REPLICA_STATES", "REQUESTS", "SELECTORS"]

PARTITION_STATES: Final[Mapping[str, PartitionState]] = {
    each.name.lower(): each for each in PartitionState}
REPLICA_STATES: Final[Mapping[str, ReplicaState]] = {
    each.name.lower(): each for each in ReplicaState}
SELECTORS: Final = ("offline", "reassigned", "preferred", "controlled_shutdown")
REQUESTS: Final = ("leader_and_isr", "update_metadata", "stop", "delete")


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
SEEN: Final = Kind("an object with partitions, replicas, told and met", _is_seen)
STATE: Final = Kind("a state of partitions: " + ", ".join(PARTITION_STATES),
                    lambda v: is_word(v, PARTITION_STATES))
REPLICA_STATE: Final = Kind("a state of replicas: " + ", ".join(REPLICA_STATES),
                            lambda v: is_word(v, REPLICA_STATES))
SELECTOR: Final = Kind("a selector: " + ", ".join(SELECTORS), lambda v: is_word(v, SELECTORS))

_PARTITION: Final = Argument("partition", COUNT, "the number of a partition")
_MEANWHILE: Final = Argument(
    "meanwhile", BROKERS, "once the controller has read the node of the first partition, and "
    "before it writes it, the leader writes this ISR; met: whether that came to pass",
    required=False)

_OPERATIONS: Final = (
    hello("start a fresh controller, elected, with all brokers registered and no partitions"),
    Operation("assign", TRUE, "a partition that nothing was asked of yet has this list",
              (_PARTITION, Argument("replicas", BROKERS, "the assigned brokers, in order"),
               Argument("unclean", FLAG, "whether unclean elections are on"))),
    Operation("brokers", TRUE, "the controller hears which brokers are registered, and which of "
              "them are shutting down; by itself it does nothing about it",
              (Argument("up", BROKERS, "those registered"),
               Argument("leaving", BROKERS, "those of them that shut down"))),
    Operation("write_isr", TRUE, "the partition's leader writes the ISR into the node",
              (_PARTITION, Argument("isr", BROKERS, "the brokers in sync"))),
    Operation("take_over", TRUE, "a newer controller writes the node: all in it stays, but the "
              "controller's epoch", (_PARTITION,)),
    Operation("change", SEEN, "change a batch of partitions; ok: how they are then, and who was "
              "told what", (
                  Argument("partitions", BROKERS, "the numbers of the partitions"),
                  Argument("target", STATE, "the state to which they are to change"),
                  Argument("selector", SELECTOR, "who is to lead, if they are to be online"),
                  Argument("to", BROKERS, "the new list, for the selector reassigned"),
                  _MEANWHILE)),
    Operation("change_replicas", SEEN, "change a batch of replicas; ok: as for change, with those "
              "replicas and their partitions", (
                  Argument("replicas", REPLICAS, "the replicas"),
                  Argument("target", REPLICA_STATE, "the state to which they are to change"),
                  _MEANWHILE)),
    Operation("look", SEEN, "how a partition and all its replicas are; nobody is told anything",
              (_PARTITION,)),
)

PORT: Final = Port(
    name="kafka.controller",
    version=1,
    meaning="the state machines of Kafka's controller, and its leader selectors",
    operations={each.name: each for each in _OPERATIONS},
    settings=(
        Argument("capacity", POSITIVE, "how many partitions there may be"),
        Argument("brokers", POSITIVE, "how many brokers there are"),
    ),
    policies={
        "0.9": "the tables of the releases from 0.8.2 on, and what is in their selectors",
        "3.9": "those of the last release with ZooKeeper",
    },
)
