"""What is mutated: the designs and chapters of this repository, and twins to make fixtures with."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from checkvalve.spec.notation.errors import InputError

__all__ = ["TWINS", "certified", "chapters", "designs", "formats", "grids"]

TWINS: Final = (
    "deaf-producer", "lossy-cancel", "D1", "STORM-3141", "acker-ack-renews",
    "storm-17-id-given-twice", "storm-511-out-of-range", "timer-clock-not-moved",
    "kafka-385-completed-twice", "asyncio-put-keeps-wakeup", "semaphore-keeps-wakeup",
    "condition-keeps-notification", "closing-leaves-puts", "gate-stays-open",
    "link-grants-at-arrival", "counted-deaf-to-limits", "jobs-newest-first",
    "rate-forgets-pauses", "marks-loses-go", "summaries-cumulative", "bookie-frees-twice",
    "memtable-never-retries", "cluster-D6-no-repetition", "kafka-no-recheck", "kafka-831",
    "failover-acks-all-as-one", "publisher-overdraws", "subscriber-asks-once",
    "processor-takes-nobody", "election-newest-leads",
)
"""Twins of the zoo, one or more for each suite; what they do wrong is in no first step."""

_CERTIFIED: Final = (
    "ring-live", "nested-pool-live", "router-by-kind-deadlocked", "akka-a3-dropping",
    "akka-a4-failing", "overflow-reorders", "barriers-aligned-live", "amplifying-cycle",
    "server-of-a-job-live", "partitioned-join-deadlocked",
)
"""Example designs that have, together, certificates of every kind."""

_RARE: Final = """
checkvalve: 2
name: what the examples have not
tasks:
  source: {kind: source, count: 3, may: crash}
  copies: {kind: broadcast, hand: 1}
  sums: {kind: window, size: 3, slide: 2, early: true}
  choice: {kind: route, by: content, hand: 2}
  join: {kind: merge, policy: any}
  sink: {kind: sink, may: stop}
links:
  - {from: source, to: copies, capacity: 2, name: in, lossy: 1}
  - {from: copies, to: sums, capacity: 1, name: gathered}
  - {from: copies, to: choice, flow: unbounded, name: beside}
  - {from: choice, to: join, name: left, flow: stop-and-wait}
  - {from: choice, to: join, capacity: 1, name: right, group: ways}
  - {from: sums, to: join, name: calls, flow: stop-go, stop: 1, go: 0, lag: 2, full: drop-oldest}
  - {from: join, to: sink, capacity: 1, name: out}
expect:
  deadlock-free: violated
  no-duplicates: violated
  ordered: violated
  no-loss: violated
"""

_CLONE: Final = Path(__file__).resolve().parents[2]
_OF_THE_BOOK: Final = ("flow/credit", "storm/inputs/limit", "storm/inputs/ticks", "queues/queue")
_EVERYTHING: Final = '''
from enum import IntEnum
from typing import NamedTuple
from checkvalve.spec.expectations import expect, prove
from checkvalve.spec.notation import (
    MUST, SHOULD, Machine, action, always, array, assume, boolean, choice, const, each,
    eventually_always, fifo, guard_rule, integer, leads_to, never_stuck, one_of, record, require,
    step, subset, table, upto)

ROOM = guard_rule("E-9", SHOULD, "Nothing is sent where there is no room.", source="here")

class Phase(IntEnum):
    IDLE = 0
    BUSY = 1

class Item(NamedTuple):
    owner: int
    urgent: bool

def larger(a, b):
    return a if a > b else b

class Everything(Machine):
    """One of each that the notation has."""
    N = const(2, at_least=1, at_most=4)
    C = const(1)
    T = table((1, 2))
    M = table(((0, 1), (1, 0)))
    x = integer(0, N + C, init=C)
    on = boolean(True)
    phase = choice(Phase, Phase.IDLE)
    item = record(Item, owner=integer(0, N), urgent=boolean())
    queue = fifo(record(Item, owner=integer(0, N), urgent=boolean()), N)
    each_of = array(one_of(T), integer(0, each(T)))
    many = array(upto(N), fifo(integer(0, 3), 2))
    seen = subset(upto(N), init=(0,))

    @assume
    def small(self):
        return self.C <= self.N

    @action(fair=True, i=upto(N))
    def put(self, i):
        require(len(self.queue) < self.N, ROOM)
        self.queue.push(Item(owner=i, urgent=self.on and i not in self.seen))
        self.on = not self.on

    @action
    def get(self):
        first = self.queue.pop()
        if first.urgent:
            self.seen.add(first.owner)
        elif self.x > 0:
            self.x = larger(self.x - 1, 0)
        else:
            self.seen.discard(first.owner)
        self.phase = Phase.BUSY if len(self.queue) > 0 else Phase.IDLE

    @action(internal=True, t=one_of(T))
    def count(self, t):
        require(self.each_of[t] < self.T[t])
        self.each_of[t] += 1
        for q in range(self.N):
            if len(self.many[q]) < 2:
                self.many[q].push(t)

    @always("E-1", MUST, "It stays small.", source="here")
    def stays_small(self):
        return self.x <= self.N + self.C and all(len(q) <= 2 for q in self.many)

    @always("E-2", MUST, "Each is counted.", source="here", t=one_of(T))
    def counted(self, t):
        return 0 <= self.each_of[t] <= self.T[t] and self.M[0][1] == 1

    @step("E-3", MUST, "The count never falls.", source="here")
    def never_falls(self, after):
        return sum(self.each_of) <= sum(after.each_of)

    @never_stuck("E-4", MUST, "It goes on.", source="here")
    def goes_on(self):
        return False

    @leads_to("E-5", MUST, "What is on goes off.", source="here")
    def goes_off(self):
        return self.on, not self.on

    @eventually_always("E-6", SHOULD, "It comes to rest.", source="here")
    def rests(self):
        return self.phase == Phase.IDLE

EXPECTATIONS = (
    expect(Everything, "E-1", "holds", "small", N=range(1, 3), C=lambda N: range(N)),
    expect(Everything, "E-4", "holds", where="C > 4", C=1),
    expect(Everything, "E-5", "violated"),
)
'''


@cache
def designs() -> tuple[str, ...]:
    """The texts of the example designs. Raises InputError where this is not a clone."""
    files = sorted((_CLONE / "examples" / "designs").glob("*.yaml"))
    if not files:
        raise InputError("the example designs are not here", str(_CLONE),
                         "Run this in a clone of the repository.")
    return tuple(file.read_text() for file in files)


@cache
def grids() -> tuple[str, ...]:
    """Designs with parameters of few values, and all that the page of the language shows."""
    files = sorted((_CLONE / "examples" / "grids").glob("*.yaml")) if designs() else []
    page = (_CLONE / "docs" / "design-language.md").read_text()
    shown = re.findall(r"^```yaml\n(checkvalve: 2\n.*?)^```", page, re.MULTILINE | re.DOTALL)
    return tuple(_of_few(text) for text in (*(file.read_text() for file in files), *shown, _RARE))


def _of_few(text: str) -> str:
    """A design with ranges cut to two values or one, so that it stands for few designs."""
    cut = re.sub(r"\b(\d+)\.\.(\d+)", lambda m: f"{int(m[2]) - 1}..{m[2]}", text, count=1)
    return re.sub(r"\b(\d+)\.\.(\d+)", lambda m: m[0] if int(m[2]) - int(m[1]) == 1 else m[2], cut)


@cache
def certified() -> tuple[str, ...]:
    """The texts of designs with certificates that are mutated."""
    return tuple((_CLONE / "examples" / "designs" / f"{name}.yaml").read_text()
                 for name in _CERTIFIED if designs())


@cache
def formats() -> tuple[tuple[str, str], ...]:
    """The suffixes and texts of the examples of other formats. Raises InputError as ``designs``."""
    files = sorted((_CLONE / "examples" / "formats").iterdir()) if designs() else []
    return tuple((file.suffix, file.read_text()) for file in files)


@cache
def chapters() -> tuple[str, ...]:
    """The texts of some chapters of the book as files of their own, and of others."""
    book = [(_CLONE / "spec" / f"{name}.py").read_text() for name in _OF_THE_BOOK]
    own = [_absolute(name, text) for name, text in zip(_OF_THE_BOOK, book, strict=True)]
    tutorial = (_CLONE / "examples" / "tutorial" / "philosophers.py").read_text()
    return (tutorial, _EVERYTHING, _EVERYTHING, _EVERYTHING, *own)


def _absolute(name: str, text: str) -> str:
    """A chapter of the book as a file that stands alone: no import is relative to it."""
    rooms = ["checkvalve", "spec", *name.split("/")]

    def resolved(match: re.Match[str]) -> str:
        return f"from {'.'.join(rooms[:-len(match[1])])}.{match[2]}"

    return re.sub(r"^from (\.+)(\w+)", resolved, text, flags=re.MULTILINE)
