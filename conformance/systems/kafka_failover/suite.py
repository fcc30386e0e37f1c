"""The suite ``kafka.failover``: writes to a cluster, faults, and quiet at the end.

A program deploys a cluster, lets producers write, and makes brokers, links, clocks and the
coordination service fail: at random times, and at moments that events define. ``HistoryJudge``
judges the events in the answers. Shrinking leaves out faults and writes, and then takes smaller
numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final

from ....spec.notation.rules import Rule
from ...computer.places import from_root
from ...ports.base import Message
from ...suites.besides import given, looked_up
from ...suites.breach import Breach
from ...suites.history import HistorySuite
from ...suites.planned import ENDS, PlannedConversation
from ...suites.remembered import kept, tally
from ...suites.says import Fields, on, table
from ...suites.suite import Exchange
from .histories import MACHINES, HistoryJudge, Offence, Terms
from .programs import LONG, draw, draw_long, easier
from .waiting import Wait, who_waits
from .port import DEEDS, HISTORIES, MOMENTS, PORT, Event, last_broker

__all__ = ["SUITE", "FailoverConversation"]

_MOST: Final[Mapping[str, int]] = {
    "brokers": 5, "partitions": 4, "records": 32, "after": 2_000, "lasts": 2_000, "extra": 500,
    "percent": 100, "rate": 1_000}
"""Limits for the fields of a fixture; larger ones are never drawn."""

_AT_THE_END: Final = ("ends", "led", "wishes", *ENDS)

_SAYS: Final = table(
    (),
    on("deploy", "a cluster is deployed, brokers: {brokers}, partitions: {partitions}"),
    on("produce",
       "after {after} ms, a producer with acks={acks} writes {records} more to partition "
       "{partition}"),
    on("crash", "after {after} ms, broker {broker} crashes, and starts again {lasts} ms later"),
    on("pause", "after {after} ms, broker {broker} is paused for {lasts} ms"),
    on("expire", "after {after} ms, the session of broker {broker} expires"),
    on("isolate",
       "after {after} ms, broker {broker} is cut off from the coordination service for "
       "{lasts} ms"),
    on("drift",
       "after {after} ms, the clock of broker {broker} goes {rate} ms in 100 for {lasts} ms"),
    on("cut",
       "after {after} ms, brokers {broker} and {other} cannot reach each other for {lasts} ms"),
    on("delay",
       "after {after} ms, messages between brokers {broker} and {other} take up to {extra} ms "
       "more, for {lasts} ms"),
    on("lose",
       "after {after} ms, {percent} in 100 messages between brokers {broker} and {other} get "
       "lost, for {lasts} ms"),
    on("stop_service", "after {after} ms, the coordination service is down for {lasts} ms"),
    on("upon", "after {after} ms: when {moment}, then {deed} (for {lasts} ms, if it lasts)"),
    on("shut_down",
       "after {after} ms, broker {broker} asks to shut down, and starts again {lasts} ms "
       "after it has"),
    on("prefer",
       "after {after} ms, an operator wants the first replica of partition {partition} to lead"),
    on("reassign",
       "after {after} ms, an operator wants partition {partition} to have the replicas {to}"),
    on("make_topic", "after {after} ms, an operator creates a topic of one partition"),
    on("delete_topic", "after {after} ms, an operator wants topic {topic} to be deleted"),
    on("permit_unclean", "after {after} ms, unclean elections are permitted"),
    on("elapse", "{after} ms pass"),
    on("quiet", "every fault ends, and the cluster is left alone"),
    on("settle", "settle"),
)
"""The words of the requests; the answers are a history."""


class FailoverConversation(PlannedConversation):
    """One session with a cluster; see ``Conversation``. ``ClusterJudge`` judges its history."""

    says = _SAYS
    port, page, last = PORT, "kafka-failover.md", "quiet"
    most = _MOST
    names: ClassVar[Mapping[str, Collection[str]]] = {"moment": MOMENTS, "deed": DEEDS}

    deploys: ClassVar[Mapping[str, Collection[str]]] = {"brokers": ("broker", "other", "to")}
    topics = tally({"deploy()": 1, "make_topic()": 1})      # they have numbers, as they are created
    deleted = kept("topic", adds="delete_topic()")
    knows = (given("acks_all", acks=looked_up("acks_all", {1: "all", 0: "1"})),
             given("moment", moment=looked_up("moment", MOMENTS)),
             given("deed", deed=looked_up("deed", DEEDS)))

    def fits(self, do: str, fields: Fields, deployed: Message) -> bool:
        """True if it is about brokers, partitions and topics that exist. The partitions of topic 0
        come first; each other topic has one."""
        topic = (max(0, fields["partition"] - deployed["partitions"] + 1)
                 if "partition" in fields else fields.get("topic"))
        is_there = topic is None or (topic < self.topics and topic not in self.deleted)
        return is_there and super().fits(do, fields, deployed)

    def events(self, rows: Sequence[str]) -> Sequence[Event]:
        return HISTORIES.events(rows)

    def wrong_with(self, event: Event, deployed: Message) -> str:
        is_known = last_broker(event.what, event.about) < deployed["brokers"]
        return "" if is_known else "there is no such broker"


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
        self.wanted: frozenset[str] | None = None
        self.unjudged: set[str] = set()

    def count_once(self, rules: Collection[str]) -> None:
        """Change nothing: what an event could have broken is known without asking a machine."""

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
            for event in HISTORIES.events(reply["ok"]):
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

_FOUND: Final = ("KAFKA-F18", "KAFKA-F19", "KAFKA-F23", "KAFKA-F25", "KAFKA-F26", "KAFKA-F28",
                 "KAFKA-F30")
"""Rules about one operation, or about the end of a history, which a run shows."""

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
