"""Judge the history of a cluster: each event by the machines that it concerns.

The rules are those of ``spec.kafka.observed_failover``. ``HistoryJudge`` holds one monitor for each
thing that events are about (a place in a partition, an epoch, a producer …), so it can follow a
running cluster as well as a recorded one. It assigns the machines' numbers: the values at a place
are numbered in the order of their appearance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final

from ....spec.engines.candidates import CandidateSets
from ....spec.engines.monitor import STATES_MAX, LostTrack, Monitor
from ....spec.kafka.observed_failover import (
    ObservedBroker, ObservedDepartures, ObservedEpoch, ObservedMark, ObservedPartition,
    ObservedPlace, ObservedProducer, ObservedQuorum, ObservedReplica, ObservedWishes,
)
from ....spec.kafka.observed_failover_liveness import (
    ObservedChannel, ObservedDeletion, ObservedHolding, ObservedRecord, ObservedRest,
    ObservedTenure,
)
from ....spec.notation.bound import bind_to_watch
from ....spec.notation.interpreter import Step
from ....spec.notation.machine import Machine
from ....spec.notation.rules import Rule
from ...suites.history import rules_of
from .holding import Holding
from .known import Era, Log, Place, Written
from .port import WITH_BROKERS, WORDS, Event
from .tenures import Tenures

__all__ = ["MACHINES", "RULES", "HistoryJudge", "Offence", "Terms", "in_words"]

MACHINES: Final = (
    ObservedPlace, ObservedEpoch, ObservedMark, ObservedProducer, ObservedQuorum, ObservedBroker,
    ObservedReplica, ObservedPartition, ObservedWishes, ObservedDepartures, ObservedRecord,
    ObservedRest, ObservedDeletion, ObservedChannel, ObservedTenure, ObservedHolding)

RULES: Final[Mapping[str, Rule]] = {
    rule.id: rule for machine in MACHINES for rule in machine.rules_declared
    if rule.kind == "guard"}
"""The rules by which a history is judged."""

_NAMED: Final = {machine.__name__: machine for machine in MACHINES}

VALUES: Final = 15
"""Values that may occur at one offset."""

MOST: Final = 65_535
"""The largest epoch, offset, or record number that is followed."""

LIVES: Final = 3
"""The largest difference of broker epochs that is distinguished."""

Observation = tuple[type[Machine], Hashable, Step]


@dataclass(frozen=True)
class Terms:
    """The deployment of a history: the number of brokers, min.insync.replicas, and the number of
    partitions.
    """

    brokers: int
    min_isr: int
    partitions: int = 1


@dataclass(frozen=True)
class Offence:
    """A rule that was violated, the event, and the reason."""

    rule: Rule
    event: Event
    conjunct: str
    where: str

    def words(self) -> str:
        """The instant and the event, in words."""
        return f"at {self.event.at} ms, {in_words(self.event)}"


def in_words(event: Event) -> str:
    """The event in words, for people."""
    word = WORDS[event.what]
    return word.sentence.format_map(dict(zip(word.fields, event.about, strict=True)))


@lru_cache(maxsize=256)
def _sets(name: str, constants: tuple[tuple[str, int], ...], candidates: int) -> CandidateSets:
    return CandidateSets(bind_to_watch(_NAMED[name], **dict(constants)), candidates)


@cache
def _guarded_by(machine: str) -> frozenset[str]:
    return frozenset(rule.id for rule in _NAMED[machine].rules_declared if rule.kind == "guard")


@cache
def _at_stake(machine: str, name: str) -> tuple[str, ...]:
    """The ids of the rules that another event of this kind could have violated."""
    return tuple(rule.id for rule in rules_of(_NAMED[machine].actions_declared[name]))


class HistoryJudge:
    """Follow a history.

    ``offences`` grows; a thing with an offence is no longer judged, and neither is one whose
    machine could be in more than ``candidates`` states, or with numbers that are too large: the ids
    of its rules are added to ``unjudged``. ``exercised`` is counted up, by rule, if it is given.
    """

    def __init__(
        self, terms: Terms, exercised: Counter[str] | None = None, candidates: int = STATES_MAX,
    ) -> None:
        self.terms = terms
        self._exercised = exercised
        self._candidates = candidates
        self.offences: list[Offence] = []
        self.unjudged: set[str] = set()
        self._monitors: dict[tuple[type[Machine], Hashable], Monitor | None] = {}
        self._places: dict[tuple[int, int], Place] = {}
        self._isr: dict[int, frozenset[int]] = {}
        self._quorums: set[int] = set()         # partitions that the quorum has written
        self._newest = 0                        # the largest epoch of a controller
        self._epochs: dict[int, int] = {}       # leader epoch by partition
        self._leaving: set[int] = set()         # brokers that are shutting down
        self._assigned: dict[int, frozenset[int]] = {}
        self._listed: dict[tuple[int, int], int] = {}   # by partition and broker, the epoch …
        # … in which it became a replica
        self._is_unclean = False                # unclean elections are permitted
        self._eras: dict[int, Era] = {}         # partitions with an unclean election
        self._logs: dict[tuple[int, int], Log] = {}     # by partition and broker
        self._written: dict[tuple[int, int, int], int] = {}     # by partition, offset and value, …
        # … the epoch of its first write
        self._tells: dict[int, int] = {}        # by partition, the epoch of answers to consumers
        self._records: dict[int, Written] = {}      # by value, the records that were requested
        self._topics = {0: set(range(terms.partitions))}    # the partitions of each topic
        self._to_go: set[int] = set()           # topics that operators asked to be deleted
        self._unwanted: set[int] = set()        # partitions of topics to be deleted
        self._tenures = Tenures(terms.brokers)
        self._holding = Holding()
        self._consumed: dict[int, int] = {}     # by partition, the consumer's position

    def permit_unclean(self) -> None:
        """From the next event on, an elected leader need not have been in sync."""
        self._is_unclean = True

    def produce(self, partition: int, acks_all: bool, records: int) -> None:
        """Before the next event, a producer was asked to write more records."""
        for value in range(len(self._records) + 1, len(self._records) + records + 1):
            self._records[value] = Written(partition, acks_all)
            self._take([(ObservedRecord, value, ("is_asked", ()))], _ASKED)

    def asked(self, request: Mapping[str, Any]) -> None:
        """Before the next event, the cluster got this request."""
        if request["do"] == "delete_topic":
            self._to_go.add(request["topic"])
        self._take(self._tenures.asked(request), _ASKED)

    def see(self, event: Event) -> Offence | None:
        """Take the next event, and return the first offence, if any."""
        return self._take(chain(self._about(event), self._tenures.about(event),
                                self._holding.about(event)), event)

    def _take(self, observed: Iterable[Observation], event: Event) -> Offence | None:
        found = None
        for machine, key, step in observed:
            if (self._eras or self._unwanted) and self._is_forfeit(machine, key):
                continue
            if self._exercised is not None and not (self.unjudged and self._lost(machine)):
                for rule in _at_stake(machine.__name__, step[0]):
                    self._exercised[rule] += 1
            try:
                monitor = self._monitors[machine, key]
            except KeyError:
                monitor = self._monitor(machine, key)
            if monitor is None or monitor.follows(step):
                continue
            offence = self._judge(monitor, machine, key, step, event)
            found = found or offence
        return found

    def _lost(self, machine: type[Machine]) -> bool:
        return not self.unjudged.isdisjoint(_guarded_by(machine.__name__))

    def _is_forfeit(self, machine: type[Machine], key: Hashable) -> bool:
        """True if it is about records without promises: after an unclean election, or since their
        topic is to be deleted.
        """
        partition = _partition_of(machine, key)
        era = self._eras.get(partition)
        return partition in self._unwanted or (era is not None and not era.has_begun)

    def _judge(
        self, monitor: Monitor, machine: type[Machine], key: Hashable, step: Step, event: Event
    ) -> Offence | None:
        """Let the machine of a key take a step; the offence, if a rule refuses it. A lost one
        judges no more."""
        failure = None
        is_lost = any(value > MOST for _, value in step[1])
        try:
            failure = None if is_lost else monitor.observe([step])
        except LostTrack:
            is_lost = True
        if failure is not None or is_lost:
            self._monitors[machine, key] = None
        if failure is not None and failure.rule is not None:
            offence = Offence(failure.rule, event, failure.conjunct, failure.where)
            self.offences.append(offence)
            return offence
        if failure is not None or is_lost:
            self.unjudged |= _guarded_by(machine.__name__)
        return None

    def _monitor(self, machine: type[Machine], key: Hashable) -> Monitor:
        """A monitor of a thing that was not there until now."""
        sets = _sets(machine.__name__, self._constants(machine), self._candidates)
        monitor = self._monitors[machine, key] = Monitor(sets.bound, sets=sets)
        return monitor

    def _constants(self, machine: type[Machine]) -> tuple[tuple[str, int], ...]:
        known = {"N": self.terms.brokers, "m": self.terms.min_isr, "V": VALUES, "H": MOST,
                 "R": MOST, "E": MOST, "B": LIVES, "P": MOST, "Q": MOST}
        return tuple((name, known[name]) for name in machine.constants_declared)

    def _about(self, event: Event) -> Iterator[Observation]:
        tell = _TELLING.get(event.what)
        if tell is not None:
            numbers = [each if isinstance(each, int) else 0 for each in event.about]
            if event.what in WITH_BROKERS:
                brokers = frozenset(map(int, str(event.about[-1]).split(",")))
                yield from tell(self, *numbers[:-1], brokers)
            else:
                yield from tell(self, *numbers)

    # -- places -----------------------------------------------------------------------------------

    def _place(self, partition: int, offset: int) -> Iterator[Observation]:
        """A place begins with its first record; replicas that are not in sync then have left."""
        if (partition, offset) not in self._places:
            self._places[partition, offset] = Place()
            isr = self._isr.get(partition, frozenset(range(self.terms.brokers)))
            for replica in range(self.terms.brokers):
                if replica not in isr:
                    yield _at(partition, offset, "leaves", replica=replica)

    def _appended(
        self, broker: int, partition: int, epoch: int, offset: int, value: int
    ) -> Iterator[Observation]:
        yield from self._place(partition, offset)
        place = self._places[partition, offset]
        place.holders.add(broker)
        place.committed_by.clear()
        self._logs.setdefault((partition, broker), Log()).values[offset] = value
        yield _of(partition, "is_held", replica=broker)
        number = min(place.number(value), VALUES - 1)
        yield _at(partition, offset, "appends", replica=broker, value=number)

    def _wrote(
        self, broker: int, partition: int, epoch: int, offset: int, value: int
    ) -> Iterator[Observation]:
        yield from self._leads(broker, partition, epoch)
        self._written.setdefault((partition, offset, value), epoch)
        yield from self._appended(broker, partition, epoch, offset, value)

    def _cut(self, broker: int, partition: int, at: int) -> Iterator[Observation]:
        self._logs.setdefault((partition, broker), Log()).cut(at)
        for (where, offset), place in self._places.items():
            if where == partition and offset >= at and broker in place.holders:
                place.holders.discard(broker)
                place.committed_by.clear()
                yield _at(partition, offset, "cuts", replica=broker)

    def _committed(
        self, broker: int, partition: int, epoch: int, hw: int
    ) -> Iterator[Observation]:
        for offset in range(min(hw, MOST) if self._is_of_era(partition, epoch) else 0):
            place = self._places.get((partition, offset))
            if place is None:
                yield from self._place(partition, offset)
                place = self._places[partition, offset]
            if broker not in place.committed_by:
                place.committed_by.add(broker)
                yield _at(partition, offset, "commits", leader=broker)

    def _acked(
        self, producer: int, partition: int, acks_all: int, offset: int, value: int
    ) -> Iterator[Observation]:
        written = self._written.get((partition, offset, value))
        record = self._records.setdefault(value, Written(partition, acks_all == 1))
        record.offset, record.is_told = offset, True
        yield ObservedRecord, value, ("is_told", (("by_all", min(acks_all, 1)),))
        if acks_all == 1 and (written is None or self._is_of_era(partition, written)):
            yield from self._place(partition, offset)
            number = min(self._places[partition, offset].number(value), VALUES - 1)
            yield _at(partition, offset, "is_acked", value=number)
            yield ObservedProducer, (producer, partition), (
                "is_told", (("number", value), ("offset", offset)))

    def _read(self, partition: int, offset: int, value: int) -> Iterator[Observation]:
        self._consumed[partition] = max(self._consumed.get(partition, 0), offset + 1)
        yield ObservedRecord, value, ("is_read", ())
        if not self._is_of_era(partition, self._tells.get(partition, 0)):
            return
        yield from self._place(partition, offset)
        number = min(self._places[partition, offset].number(value), VALUES - 1)
        yield _at(partition, offset, "is_read", value=number)

    # -- unclean elections ------------------------------------------------------------------------

    def _is_of_era(self, partition: int, epoch: int) -> bool:
        """True if events of this epoch are promises."""
        era = self._eras.get(partition)
        return era is None or epoch >= era.epoch

    def _took(self, broker: int, partition: int, epoch: int) -> Iterator[Observation]:
        yield from self._leads(broker, partition, epoch)
        era = self._eras.get(partition)
        if era is not None and not era.has_begun and epoch >= era.epoch:
            yield from self._begins(partition, broker)

    def _begins(self, partition: int, leader: int) -> Iterator[Observation]:
        """The new era begins with the replicas' contents.

        The leader's records are committed, since it is alone in the ISR.
        """
        for each in [key for key in self._places if key[0] == partition]:
            del self._places[each]
        self._monitors = {thing: monitor for thing, monitor in self._monitors.items()
                          if _partition_of(*thing) != partition}
        self._eras[partition].has_begun = True
        logs = {broker: log for (where, broker), log in self._logs.items() if where == partition}
        for broker, log in sorted(logs.items()):
            for offset, value in log.values.items():
                yield from self._appended(broker, partition, 0, offset, value)
        for offset in logs[leader].values if leader in logs else ():
            yield _at(partition, offset, "commits", leader=leader)

    # -- leaders, brokers, the quorum -------------------------------------------------------------

    def _leads(self, broker: int, partition: int, epoch: int) -> Iterator[Observation]:
        yield ObservedEpoch, (partition, epoch), ("leads", (("broker", broker),))

    def _answered(
        self, partition: int, broker: int, life: int, epoch: int, hw: int
    ) -> Iterator[Observation]:
        self._tells[partition] = epoch
        yield from self._leads(broker, partition, epoch)
        yield ObservedMark, (partition, broker, life, epoch), ("tells", (("hw", hw),))

    def _heeded(
        self, broker: int, life: int, controller: int, meant: int, own: int
    ) -> Iterator[Observation]:
        least = min(meant, own)
        yield ObservedBroker, (broker, life), ("heeds", (
            ("controller", controller), ("meant", min(meant - least, LIVES)),
            ("own", min(own - least, LIVES))))

    def _obeyed(
        self, broker: int, life: int, partition: int, epoch: int
    ) -> Iterator[Observation]:
        yield ObservedReplica, (broker, life, partition), ("obeys", (("epoch", epoch + 1),))
        if epoch > self._listed.get((partition, broker), epoch):
            yield _of(partition, "obeys", replica=broker)

    def _state(
        self, partition: int, controller: int, epoch: int, leader: int, isr: frozenset[int]
    ) -> Iterator[Observation]:
        """The steps of a written partition state: its controller, leader, changes of its ISR."""
        yield from self._quorum(partition)
        if epoch > self._epochs.get(partition, -1) and leader < self.terms.brokers:
            yield _of(partition, "is_elected")
        yield from self._departures(partition, epoch, leader, isr)
        before = self._isr.get(partition, frozenset(range(self.terms.brokers)))
        self._isr[partition] = isr
        yield ObservedQuorum, partition, ("is_written", (("controller", controller),))
        if self._is_unclean and leader not in before and leader < self.terms.brokers:
            self._eras[partition] = Era(epoch)
            yield ObservedQuorum, partition, ("says_uncleanly", (
                ("epoch", epoch + 1), ("leader", leader), ("others", len(isr - {leader}))))
            return
        yield ObservedQuorum, partition, ("says", (
            ("epoch", epoch + 1), ("leader", min(leader, self.terms.brokers))))
        for verb, replicas in (("leaves", before - isr), ("joins", isr - before)):
            for replica in sorted(replicas):
                yield ObservedQuorum, partition, (verb, (("replica", replica),))
                for (where, offset), place in self._places.items():
                    if where == partition:
                        place.committed_by.clear()
                        yield _at(partition, offset, verb, replica=replica)

    def _departures(
        self, partition: int, epoch: int, leader: int, isr: frozenset[int]
    ) -> Iterator[Observation]:
        """Only controllers begin epochs.

        A replica that is missing in the first ISR was not taken out.
        """
        before, begins = self._isr.get(partition, isr), epoch > self._epochs.get(partition, epoch)
        self._epochs[partition] = epoch
        for replica in sorted(before - isr) if begins else ():
            yield _departing(partition, "is_taken_out", replica)
        for replica in sorted(isr - before):
            is_elected = self._is_unclean and replica == leader
            yield _departing(partition, "stays" if is_elected else "joins", replica)

    def _quorum(self, partition: int) -> Iterator[Observation]:
        """A partition begins with the quorum's first write."""
        if partition not in self._quorums:
            self._quorums.add(partition)
            yield ObservedQuorum, partition, ("is_elected", (("controller", self._newest),))
            for broker in sorted(self._leaving):
                yield _departing(partition, "wants_to_go", broker)

    def _wants(self, broker: int) -> Iterator[Observation]:
        self._leaving.add(broker)
        for partition in sorted(self._quorums):
            yield _departing(partition, "wants_to_go", broker)

    def _registered(self, broker: int, life: int, broker_epoch: int) -> Iterator[Observation]:
        self._leaving.discard(broker)
        for partition in sorted(self._quorums):
            yield _departing(partition, "stays", broker)

    def _assign(self, partition: int, replicas: frozenset[int]) -> Iterator[Observation]:
        yield from self._quorum(partition)
        before = self._assigned.get(partition, frozenset(range(self.terms.brokers)))
        self._assigned[partition] = replicas
        self._listed |= {(partition, broker): self._epochs.get(partition, -1)
                         for broker in replicas - before}
        for verb, brokers in (("is_listed", replicas - before), ("is_struck", before - replicas)):
            for broker in sorted(brokers):
                yield ObservedQuorum, partition, (verb, (("replica", broker),))
                yield _of(partition, verb, replica=broker)

    def _released(self, broker: int) -> Iterator[Observation]:
        for partition in sorted(self._quorums):
            yield ObservedQuorum, partition, ("is_let_go", (("replica", broker),))

    def _controls(self, broker: int, controller: int) -> Iterator[Observation]:
        self._newest = max(self._newest, controller)
        self._leaving.clear()
        for partition in sorted(self._quorums):
            yield ObservedQuorum, partition, ("is_elected", (("controller", self._newest),))
            for each in range(self.terms.brokers):
                yield _departing(partition, "stays", each)

    def _ends(self, partition: int, leads: int, in_sync: int) -> Iterator[Observation]:
        replicas = self._replicas(partition)
        missing = max(0, min(replicas - in_sync, self.terms.brokers))
        if replicas < self.terms.min_isr:
            yield ObservedPartition, partition, ("is_short", ())
        yield ObservedPartition, partition, (
            "ends", (("leads", min(leads, 1)), ("in_sync", self.terms.brokers - missing)))

    def _led(self, partition: int, preferred: int) -> Iterator[Observation]:
        yield ObservedPartition, partition, ("is_led", (("preferred", min(preferred, 1)),))

    def _wishes(self, left: int) -> Iterator[Observation]:
        yield from self._deletions_over()
        yield ObservedWishes, 0, ("are", (("left", min(left, 1)),))

    def _queued(self, broker: int, to: int, requests: int) -> Iterator[Observation]:
        partitions = sum(map(len, self._topics.values()))
        yield ObservedChannel, (broker, to), ("holds", (
            ("requests", requests), ("partitions", partitions)))

    # -- topics -----------------------------------------------------------------------------------

    def _made(self, topic: int, partition: int) -> Iterator[Observation]:
        self._topics.setdefault(topic, set()).add(partition)
        yield from ()

    def _is_unwanted(self, topic: int) -> Iterator[Observation]:
        for partition in sorted(self._topics.get(topic, ())):
            self._unwanted.add(partition)
            yield _of(partition, "is_unwanted")
            yield ObservedTenure, partition, ("is_wished", ())

    def _erased(self, broker: int, partition: int) -> Iterator[Observation]:
        yield _of(partition, "is_erased", replica=broker)

    def _gone(self, topic: int) -> Iterator[Observation]:
        for partition in sorted(self._topics.get(topic, ())):
            yield _of(partition, "goes")

    def _moves(self, partition: int, replicas: frozenset[int]) -> Iterator[Observation]:
        yield _of(partition, "is_to_move")
        for replica in sorted(replicas):
            yield _of(partition, "is_to_stay", replica=replica)

    def _moved(self, partition: int) -> Iterator[Observation]:
        yield _of(partition, "has_moved")

    # -- the end ----------------------------------------------------------------------------------

    def _replicas(self, partition: int) -> int:
        """The number of replicas of a partition."""
        return len(self._assigned.get(partition, range(self.terms.brokers)))

    def _rested(self) -> Iterator[Observation]:
        yield from self._over(rests=1)

    def _stalled(self) -> Iterator[Observation]:
        yield from self._over(rests=0)

    def _over(self, rests: int) -> Iterator[Observation]:
        """The end of each record, and of the whole cluster."""
        for value, record in self._records.items():
            yield ObservedRecord, value, ("ends", (
                ("may_wait", int(self._may_wait(record))),
                ("may_be_missed", int(self._may_be_missed(record, value)))))
        yield from self._deletions_over()
        waiting = any(self._may_wait(each) and not each.is_told
                      and each.partition not in self._unwanted for each in self._records.values())
        yield ObservedRest, 0, ("ends", (("at_rest", rests), ("may_wait", int(waiting))))

    def _deletions_over(self) -> Iterator[Observation]:
        """The end of each topic that was to be deleted; reported before its consequences. A request
        that was never announced was not carried out."""
        for partition in sorted(self._unwanted.union(*(
                self._topics.get(topic, ()) for topic in self._to_go))):
            if partition not in self._unwanted:
                yield _of(partition, "is_unwanted")
            yield _of(partition, "ends")

    def _may_wait(self, record: Written) -> bool:
        """True if the producer requires more replicas than there are, or writes to a topic that is
        to be deleted.
        """
        return record.partition in self._unwanted or (
            record.acks_all and self._replicas(record.partition) < self.terms.min_isr)

    def _may_be_missed(self, record: Written, value: int) -> bool:
        """True if its topic is to be deleted, or an unclean election has lost it, or put it below
        the consumer's position.
        """
        partition = record.partition
        if partition in self._unwanted:
            return True
        written = self._written.get((partition, record.offset, value))
        return partition in self._eras and (
            written is None or not self._is_of_era(partition, written)
            or record.offset < self._consumed.get(partition, 0))


def _partition_of(machine: type[Machine], key: Hashable) -> int:
    """The partition of the records that a machine is about; -1 if none."""
    if machine not in (ObservedPlace, ObservedProducer):
        return -1
    assert isinstance(key, tuple)
    partition: int = key[0 if machine is ObservedPlace else 1]
    return partition


_ASKED: Final = Event(0, "rested", ())
"""A placeholder for an event: a request violates no rule."""


def _at(partition: int, offset: int, name: str, **about: int) -> Observation:
    return ObservedPlace, (partition, offset), (name, tuple(about.items()))


def _of(partition: int, name: str, **about: int) -> Observation:
    return ObservedDeletion, partition, (name, tuple(about.items()))


def _departing(partition: int, name: str, replica: int) -> Observation:
    return ObservedDepartures, partition, (name, (("replica", replica),))


_TELLING: Final[Mapping[str, Callable[..., Iterator[Observation]]]] = {
    "state": HistoryJudge._state, "obeyed": HistoryJudge._obeyed, "took": HistoryJudge._took,
    "wrote": HistoryJudge._wrote, "copied": HistoryJudge._appended, "cut": HistoryJudge._cut,
    "committed": HistoryJudge._committed, "acked": HistoryJudge._acked,
    "controls": HistoryJudge._controls, "heeded": HistoryJudge._heeded,
    "answered": HistoryJudge._answered, "read": HistoryJudge._read, "ends": HistoryJudge._ends,
    "assigned": HistoryJudge._assign, "released": HistoryJudge._released,
    "led": HistoryJudge._led, "wishes": HistoryJudge._wishes, "wants": HistoryJudge._wants,
    "registered": HistoryJudge._registered, "rested": HistoryJudge._rested,
    "stalled": HistoryJudge._stalled, "made": HistoryJudge._made,
    "unwanted": HistoryJudge._is_unwanted, "erased": HistoryJudge._erased,
    "queued": HistoryJudge._queued, "gone": HistoryJudge._gone,
    "moves": HistoryJudge._moves, "moved": HistoryJudge._moved,
}
