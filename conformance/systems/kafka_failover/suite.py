"""The suite ``kafka.failover``: writes to a cluster, faults, and quiet at the end.

A program deploys a cluster, lets producers write, and makes brokers, links, clocks and the
coordination service fail: at random times, and at moments that events define. ``HistoryJudge``
judges the events in the answers. Shrinking leaves out faults and writes, and then takes smaller
numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.notation.errors import InputError, TargetError
from ....spec.notation.labels import counted
from ....spec.notation.rules import Rule
from ...ports.base import Message, Session, check_request, excerpt
from ...suites.history import HistorySuite
from ...suites.breach import Breach
from ...computer.places import from_root
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Exchange
from .histories import MACHINES, HistoryJudge, Offence, Terms, brokers_of
from .programs import LONG, draw, draw_long, easier
from .waiting import Wait, who_waits
from .port import DEEDS, FAULTS, MOMENTS, PORT, Event, event_of

__all__ = ["SUITE", "FailoverConversation"]

_MOST: Final[Mapping[str, int]] = {
    "brokers": 5, "partitions": 4, "records": 32, "after": 2_000, "lasts": 2_000, "extra": 500,
    "percent": 100, "rate": 1_000}
"""Limits for the fields of a fixture; larger ones are never drawn."""

_ENDS: Final = ("rested", "stalled")
_AT_THE_END: Final = ("ends", "led", "wishes", *_ENDS)
_FAULTS: Final = frozenset(operation.name for operation in FAULTS)

_IN_WORDS: Final[Mapping[str, str]] = {
    "deploy": "a cluster is deployed, brokers: {brokers}, partitions: {partitions}",
    "produce": "after {after} ms, a producer with acks={acks} writes {records} more to partition "
               "{partition}",
    "crash": "after {after} ms, broker {broker} crashes, and starts again {lasts} ms later",
    "pause": "after {after} ms, broker {broker} is paused for {lasts} ms",
    "expire": "after {after} ms, the session of broker {broker} expires",
    "isolate": "after {after} ms, broker {broker} is cut off from the coordination service for "
               "{lasts} ms",
    "drift": "after {after} ms, the clock of broker {broker} goes {rate} ms in 100 for {lasts} ms",
    "cut": "after {after} ms, brokers {broker} and {other} cannot reach each other for {lasts} ms",
    "delay": "after {after} ms, messages between brokers {broker} and {other} take up to {extra} "
             "ms more, for {lasts} ms",
    "lose": "after {after} ms, {percent} in 100 messages between brokers {broker} and {other} get "
            "lost, for {lasts} ms",
    "stop_service": "after {after} ms, the coordination service is down for {lasts} ms",
    "upon": "after {after} ms: when {moment}, then {deed} (for {lasts} ms, if it lasts)",
    "shut_down": "after {after} ms, broker {broker} asks to shut down, and starts again {lasts} ms "
                 "after it has",
    "prefer": "after {after} ms, an operator wants the first replica of partition {partition} to "
              "lead",
    "reassign": "after {after} ms, an operator wants partition {partition} to have the replicas "
                "{to}",
    "make_topic": "after {after} ms, an operator creates a topic of one partition",
    "delete_topic": "after {after} ms, an operator wants topic {topic} to be deleted",
    "permit_unclean": "after {after} ms, unclean elections are permitted",
    "elapse": "{after} ms pass",
    "quiet": "every fault ends, and the cluster is left alone", "settle": "settle",
}


class FailoverConversation(PlainConversation):
    """One session with a cluster; see ``Conversation``."""

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, PORT.name, _settings(capacity))
        self._deployed: Message | None = None
        self._topics: list[range] = []          # the partitions of each
        self._unwanted: set[int] = set()        # topics
        self._at = 0
        self._is_over = False

    def request_of(self, act: Act) -> Message | None:
        """The request of an act; None if it makes no sense now."""
        fields = dict(act.about)
        if self._is_over or (act.do == "deploy") == (self._deployed is not None):
            return None
        if self._deployed is not None and not self._fits(fields, self._deployed):
            return None
        return {"do": act.do, **fields}

    def asked(self, request: Message) -> str:
        """The request in words."""
        words = dict(request)
        words["acks"] = "all" if request.get("acks_all") else "1"
        if request["do"] == "upon":
            words["moment"], words["deed"] = MOMENTS[words["moment"]], DEEDS[words["deed"]]
        return _IN_WORDS[request["do"]].format_map(words)

    def possible(self, request: Message) -> Iterator[Answer]:
        """No other answers: there are too many histories."""
        return iter(())

    def seen(self, request: Message, answer: Any) -> Seen:
        """Check an answer's events; ``ClusterJudge`` judges them as a history."""
        if request["do"] == "deploy":
            self._deployed = request
            self._topics.append(range(request["partitions"]))
        if not isinstance(answer, list):
            return Seen((), "done")
        if request["do"] == "make_topic":
            last = self._topics[-1].stop
            self._topics.append(range(last, last + 1))
        if request["do"] == "delete_topic":
            self._unwanted.add(request["topic"])
        events = [happened(row) for row in answer]
        self._check(events, request["do"])
        self._is_over = request["do"] == "quiet"
        return Seen((), counted(len(events), "event")
                    + (f", and it {events[-1].what}" if self._is_over else ""))

    def _fits(self, fields: Mapping[str, Any], deployed: Message) -> bool:
        """True if the request is about brokers, partitions and topics that exist."""
        brokers = [fields[name] for name in ("broker", "other") if name in fields]
        brokers += [int(each) for each in str(fields["to"]).split(",")] if "to" in fields else []
        topics = {number: partitions for number, partitions in enumerate(self._topics)
                  if number not in self._unwanted}
        return (all(each < deployed["brokers"] for each in brokers)
                and len(set(brokers)) == len(brokers)
                and ("partition" not in fields
                     or any(fields["partition"] in each for each in topics.values()))
                and ("topic" not in fields or fields["topic"] in topics))

    def _check(self, events: list[Event], do: str) -> None:
        """Raise ``TargetError`` for an impossible history."""
        assert self._deployed is not None
        fault = ""
        ends = [event.what in _ENDS for event in events]
        if ends != [False] * (len(events) - 1) + [True] if do == "quiet" else any(ends):
            fault = f"its one end, {' or '.join(_ENDS)}, is not the last event of quiet"
        for event in events:
            if event.at < self._at:
                fault = f"its instants decrease at {excerpt(' '.join(map(str, event)))}"
            self._at = max(self._at, event.at)
            if any(broker >= self._deployed["brokers"] for broker in brokers_of(event)):
                fault = f"there is no such broker: {excerpt(' '.join(map(str, event)))}"
        if fault:
            raise TargetError(f"the target reported a history, and {fault}",
                              next_step="Fix the history in the adapter: docs/kafka-failover.md.")

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """The act that makes this request; None if it makes another one."""
        do = request["do"]
        if do not in self.can:
            raise InputError(f"the target cannot do {excerpt(do)}")
        operation = check_request(PORT, request)
        about = {name: value for name, value in request.items() if name != "do"}
        if about.keys() != {argument.name for argument in operation.arguments}:
            raise InputError(f"{do!r} has the fields "
                             f"{', '.join(each.name for each in operation.arguments) or 'none'}")
        for name, most in _MOST.items():
            if about.get(name, 0) > most:
                raise InputError(f"{name} is {excerpt(about[name])}, which is more than {most}")
        for name, known in (("moment", MOMENTS), ("deed", DEEDS)):
            if about.get(name, next(iter(known))) not in known:
                raise InputError(f"there is no {name} {excerpt(about[name])}")
        act = Act(do, about=tuple(about.items()))
        return act if self.request_of(act) is not None else None


def happened(row: str) -> Event:
    """The event of a text that has passed the port's check."""
    event = event_of(row)
    assert event is not None
    return event


# ---- the suite ------------------------------------------------------------------------------


class ClusterJudge:
    """Judge the events in all of a target's answers; see ``AnyJudge``."""

    def __init__(self, capacity: int, focus: Rule | None, counting: bool, candidates: int) -> None:
        self._min_isr, self._focus, self._candidates = capacity, focus, candidates
        self._judge: HistoryJudge | None = None
        self._is_over = False
        self._counting = counting
        self._waits: list[Wait] = []
        self.breaches: list[Breach] = []
        self.exercised: Counter[str] = Counter()
        self.unjudged: set[str] = set()

    @property
    def blind(self) -> bool:
        """True after the end, or when the rule in focus was violated."""
        return self._is_over

    def see(self, exchange: Exchange, step: int) -> None:
        """Judge each event of an answer, together with its request."""
        request, reply = exchange.request, exchange.reply
        if request["do"] == "deploy":
            self._is_over = "ok" not in reply
            self._judge = HistoryJudge(
                Terms(request["brokers"], self._min_isr, request["partitions"]),
                self.exercised if self._counting else None, self._candidates)
        elif isinstance(reply.get("ok"), list) and self._judge is not None:
            if request["do"] == "produce":
                self._judge.produce(
                    request["partition"], request["acks_all"] == 1, request["records"])
            self._judge.asked(request)
            for event in map(happened, reply["ok"]):
                if event.what == "waits":
                    self._waits.append(Wait(*map(str, event.about)))
                offence = self._judge.see(event)
                if offence is not None and offence.rule is self._focus and not self._counting:
                    self._is_over = True
                    break
            if request["do"] == "permit_unclean":
                self._judge.permit_unclean()
            self.unjudged |= self._judge.unjudged
            self._tell(self._judge.offences, step)

    def _tell(self, offences: list[Offence], step: int) -> None:
        known = {breach.rule.id for breach in self.breaches}
        for each in offences:
            if each.rule.id not in known:
                known.add(each.rule.id)
                self.breaches.append(Breach(
                    each.rule, step, each.event.what, each.conjunct, from_root(each.where),
                    detail=self._in_words(each)))

    def _in_words(self, offence: Offence) -> str:
        """The event; and the waits, if the cluster makes no progress."""
        if offence.event.what == "stalled" or (self._waits and offence.event.what in _AT_THE_END):
            return f"{offence.words()}; {who_waits(self._waits)}"
        return offence.words()


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity}


def _judging(capacity: int, focus: Rule | None, counting: bool, candidates: int) -> ClusterJudge:
    return ClusterJudge(capacity, focus, counting, candidates)


_EVERY: Final = (("deploy",), ("produce",), ("quiet",))
"""Every history exercises most rules; so what is needed are these operations."""

_FOUND: Final = ("KAFKA-F18", "KAFKA-F19", "KAFKA-F23", "KAFKA-F28", "KAFKA-F30")
"""Rules about one operation, which a run shows."""

SUITE: Final = HistorySuite(
    name="kafka.failover",
    version=5,
    port=PORT.name,
    watching=MACHINES,
    needs={**{rule.id: _EVERY for machine in MACHINES for rule in machine.rules_declared
              if rule.kind == "guard" and rule.id not in _FOUND},
           # Every deletion, and every election, is an occasion; a violation of these needs more.
           "KAFKA-F29": (("deploy",), ("reassign",), ("delete_topic",)),
           "KAFKA-F31": (("deploy",), ("delete_topic",))},
    draw=draw,
    long=LONG,
    draw_long=draw_long,
    converse=FailoverConversation,
    judging=_judging,
    easier=easier,
    settings=_settings,
    capacities=(1, 2),
    scene="min.insync.replicas is {capacity}.",
)
