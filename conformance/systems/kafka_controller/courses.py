"""Courses of events that may violate the rules of ``kafka.controller``, as acts.

The walks are derived from the tables: to each state, then every illegal target, then one of the
legal ones. So all 16 and all 49 cells are tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from random import Random
from typing import Final, TypeVar

from ....spec.kafka.controller.selectors import ALL, BROKERS, ORDERS, Selector
from ....spec.kafka.controller.transitions import (
    PARTITION_CHANGES, REPLICA_CHANGES_OF, Era, PartitionState, ReplicaState,
)
from ...suites.suite import Act, Course, Program

__all__ = [
    "ALL_UP", "COURSES", "PARTITION_WALKS", "REPLICA_WALKS", "assign", "change", "change_replicas",
    "first_acts",
]

State = TypeVar("State", bound=IntEnum)

_P, _R, _S = PartitionState, ReplicaState, Selector


# ---- acts -----------------------------------------------------------------------------------


def assign(partition: int, *brokers: int) -> Act:
    """The partition gets this list; unclean elections are on in number 1 only."""
    row = ORDERS.index((*brokers, *(-1,) * (BROKERS - len(brokers))))
    return Act("assign", about=(("partition", partition), ("order", row), ("unclean", partition)))


def brokers(up: int, leaving: int = 0) -> Act:
    """The brokers of these sets are registered, and shutting down."""
    return Act("brokers", about=(("up", up), ("leaving", leaving)))


def change(
    target: PartitionState, batch: int = 3, selector: Selector = _S.OFFLINE, *,
    to: Sequence[int] = (0, 1, 2), meanwhile: int = 0,
) -> Act:
    """A batch of partitions, as a set: 1 is number 0 alone, 2 number 1 alone, 3 both."""
    row = ORDERS.index((*to, *(-1,) * (BROKERS - len(to))))
    return Act("change", about=(("batch", batch), ("target", target), ("selector", selector),
                                ("to", row), ("meanwhile", meanwhile)))


def change_replicas(
    target: ReplicaState, first: int, last: int | None = None, meanwhile: int = 0
) -> Act:
    """One replica or two; number 3 p + b is that of partition p on broker b."""
    return Act("change_replicas", about=(
        ("first", first), ("last", first if last is None else last), ("target", target),
        ("meanwhile", meanwhile)))


ALL_UP: Final = brokers(ALL)
_NEW, _ONLINE = change(_P.NEW), change(_P.ONLINE)
_LISTS: Final = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))


def first_acts(draw: Random) -> Program:
    """The beginning of a program: lists, and mostly leaders."""
    lists = [draw.choice(_LISTS)[:draw.choice((3, 3, 2))] for _ in range(2)]
    made = (assign(0, *lists[0]), assign(1, *lists[1]))
    replicas = tuple(change_replicas(_R.NEW, one, one + BROKERS) for one in range(BROKERS))
    return (made + replicas[:draw.choice((0, 0, 2, 3))]
            + (_NEW, _ONLINE)[:draw.choice((0, 0, 1, 2, 2, 2))])


def _elections(selector: Selector, before: Sequence[tuple[Act, ...]]) -> Course:
    """An election in a situation, of partition 0, of 1, or of both."""
    return (*before, tuple(
        change(_P.ONLINE, batch, selector, to=to) for batch in (1, 2, 3) for to in _LISTS))


# ---- walks through the tables -----------------------------------------------------------------


def _walks(
    changes: Mapping[State, Sequence[State]], start: State
) -> tuple[tuple[State, ...], ...]:
    """For each legal cell a walk: to its state, then all illegal changes there, and then the legal
    one.
    """
    ways: dict[State, tuple[State, ...]] = {start: ()}
    queue = [start]
    for here in queue:
        reached = [each for each in changes if here in changes[each] and each not in ways]
        ways |= {each: (*ways[here], each) for each in reached}
        queue += reached
    return tuple(
        (*ways[here], *(each for each in changes if here not in changes[each]), target)
        for target in changes for here in changes[target])


PARTITION_WALKS: Final = _walks(PARTITION_CHANGES, _P.NON_EXISTENT)
REPLICA_WALKS: Final = _walks(REPLICA_CHANGES_OF[Era.V0_9], _R.NON_EXISTENT)
"""By the table of 0.9; the additional cell of 3.9 is tried like an illegal one."""


def _walk_of_partitions(walk: Sequence[PartitionState]) -> Course:
    return tuple((change(state),) for state in walk)


def _walk_of_replicas(walk: Sequence[ReplicaState]) -> Course:
    """Walk of the replica on broker 2, in a partition that broker 0 leads."""
    made = ((assign(0, 0, 1),), (change(_P.NEW, 1),), (change(_P.ONLINE, 1),))
    return (*made, *((change_replicas(state, 2),) for state in walk))


_OF_PARTITIONS: Final = tuple(map(_walk_of_partitions, PARTITION_WALKS))
_OF_REPLICAS: Final = tuple(map(_walk_of_replicas, REPLICA_WALKS))

# ---- courses ------------------------------------------------------------------------------------

_MADE: Final = ((assign(0, 2, 1, 0),), (assign(1, 2, 1, 0),), (_NEW,), (_ONLINE,))
_LATE_HEAD: Final = (
    (assign(0, 2, 1, 0),), (assign(1, 2, 1, 0),), (brokers(3),), (_NEW,), (_ONLINE,), (ALL_UP,))
"""The head of the list comes after the others are in sync."""
_ALONE: Final = (
    (assign(0, 2, 1, 0),), (assign(1, 2, 1, 0),), (brokers(4),), (_NEW,), (_ONLINE,))
"""Broker 2 alone is in sync."""
_IN_SYNC: Final = tuple(
    Act("write_isr", about=(("partition", partition), ("isr", ALL))) for partition in (0, 1))
_MEANWHILE: Final = tuple(
    change(_P.ONLINE, batch, selector, meanwhile=isr)
    for batch in (1, 2) for selector in _S for isr in (4, 5, 6))
_SOMEBODY: Final = tuple(range(2 * BROKERS))
_NEW_REPLICAS: Final = tuple(
    change_replicas(_R.NEW, one, other) for one in _SOMEBODY for other in _SOMEBODY)
_GOING_OFFLINE: Final = tuple(change_replicas(_R.OFFLINE, one) for one in _SOMEBODY)
_ALL_NEW: Final = tuple((change_replicas(_R.NEW, one, one + 3),) for one in range(BROKERS))

COURSES: Final[Mapping[str, tuple[Course, ...]]] = {
    "KAFKA-C1": _OF_PARTITIONS,
    "KAFKA-C2": (
        ((assign(0, 0, 1),), (assign(1, 1, 0),), (change(_P.NEW, 1),), (_NEW,)),
        ((assign(0, 0, 1),), (change_replicas(_R.NEW, 0),), (change_replicas(_R.NEW, 0, 1),))),
    "KAFKA-C3": _OF_PARTITIONS,
    "KAFKA-C4": ((tuple(assign(0, *each) for each in _LISTS), tuple(map(brokers, range(1, 8))),
                  (_NEW,), (_ONLINE,)),),
    "KAFKA-C5": (_elections(_S.OFFLINE, (*_MADE, tuple(map(brokers, (1, 2, 3, 5, 6))))),),
    "KAFKA-C6": (_elections(_S.OFFLINE, (*_ALONE, tuple(map(brokers, (1, 2, 3))))),),
    "KAFKA-C7": (_elections(_S.REASSIGNED, (*_MADE, tuple(map(brokers, (1, 3, 6, 7))))),
                 _elections(_S.REASSIGNED, _LATE_HEAD)),
    "KAFKA-C8": (_elections(_S.PREFERRED, (*_LATE_HEAD, _IN_SYNC)),
                 (*_LATE_HEAD, _IN_SYNC, (brokers(ALL, 4),),
                  (change(_P.ONLINE, 3, _S.PREFERRED),))),
    "KAFKA-C9": (_elections(_S.CONTROLLED_SHUTDOWN, (
        *_MADE, (brokers(ALL, 4), brokers(5, 4), brokers(ALL, 2)))),),
    "KAFKA-C10": (_elections(_S.OFFLINE, (*_ALONE, (brokers(3), brokers(0), brokers(ALL, 4)))),
                  _elections(_S.PREFERRED, _LATE_HEAD),
                  _elections(_S.REASSIGNED, (*_ALONE, (brokers(3),)))),
    "KAFKA-C11": (_elections(_S.OFFLINE, (*_MADE, tuple(map(brokers, (1, 2, 3))))),),
    "KAFKA-C12": ((*_MADE, tuple(map(brokers, (6, 7))), _MEANWHILE),
                  (*_MADE, tuple(change_replicas(_R.NEW, one) for one in (0, 1, 2)),
                   tuple(change_replicas(_R.OFFLINE, one, meanwhile=isr)
                         for one in (0, 1, 2) for isr in (4, 5, 6)))),
    "KAFKA-C13": ((*_MADE, tuple(Act("take_over", about=(("partition", one),)) for one in (0, 1)),
                   tuple(map(brokers, (1, 3))), (change(_P.ONLINE),)),
                  (*_MADE, *_ALL_NEW[:2],
                   tuple(Act("take_over", about=(("partition", one),)) for one in (0, 1)),
                   _GOING_OFFLINE)),
    "KAFKA-C14": (_elections(_S.OFFLINE, (*_MADE, tuple(map(brokers, (1, 2, 3))))),
                  _elections(_S.CONTROLLED_SHUTDOWN, (*_MADE, (brokers(ALL, 4),)))),
    "KAFKA-C15": (_elections(_S.OFFLINE, (
        (assign(0, 0, 1),), (assign(1, 1, 0),), (_NEW,), (_ONLINE,),
        (brokers(6), brokers(5), brokers(ALL, 1)))),),
    "KAFKA-C16": _OF_REPLICAS,
    "KAFKA-C17": _OF_REPLICAS,
    "KAFKA-C18": ((*_MADE, *_ALL_NEW, _GOING_OFFLINE),
                  (*_MADE, *_ALL_NEW[:2], _GOING_OFFLINE)),
    "KAFKA-C19": (((assign(0, 2, 1, 0),), (assign(1, 2, 1, 0),), (brokers(4),),
                   (change_replicas(_R.NEW, 2, 5),), (_NEW,), (_ONLINE,),
                   tuple(change_replicas(_R.OFFLINE, one) for one in (2, 5))),),
    "KAFKA-C20": (*_OF_REPLICAS, (*_MADE, *_ALL_NEW, _GOING_OFFLINE)),
    "KAFKA-C21": ((*_MADE, _NEW_REPLICAS), *_OF_REPLICAS),
    "KAFKA-C22": ((*_MADE, _NEW_REPLICAS),),
    "KAFKA-C23": (((assign(0, 0),), (assign(1, 0),), (change_replicas(_R.NEW, 1, 4),),
                   (change_replicas(_R.ONLINE, 1, 4),), (_NEW,), (_ONLINE,)),),
}
"""By rule. The courses differ mostly in the live brokers and in the ISR."""
