"""Brokers and ackers in whole columns: each message and root by itself, and the same answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from logs_both_ways import Row, agreed, in_chunks, told, written

from checkvalve.conformance.columns import run
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs.mapping import plain
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.run import terms_of
from checkvalve.conformance.logs.run import judge_files as by_events
from checkvalve.spec.flow.observed_delivery import Law, ObservedDelivery
from checkvalve.spec.notation.expr import Expr, Read, walk
from checkvalve.spec.notation.lower import lower
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.storm.acking.observed_acker import ObservedAcker

Settings = Mapping[str, int]


class Acker:
    """An acker of few roots, some of which time out; a faulty one answers wrongly now and then."""

    def __init__(self, random: Random, faulty: bool, settings: Settings) -> None:
        self.random, self.wrong = random, 0.03 if faulty else 0
        self.buckets = settings["buckets"]
        self.left, self.value = dict[int, int](), dict[int, int]()
        self.known, self.failed, self.told = dict[int, str](), set[int](), set[int]()
        self.roots = 0

    def fails(self) -> bool:
        """True now and then, if it is faulty."""
        return self.random.random() < self.wrong

    def forgets(self, root: int) -> None:
        """A root has no entry any more."""
        self.left[root] = 0
        for kept in (self.value, self.known):
            kept.pop(root, None)
        self.failed.discard(root)

    def rows(self) -> Iterator[Row]:
        """The next message, and its answer."""
        if self.random.random() < 0.1:
            yield {"operation": "tick"}
            for root in [root for root, left in self.left.items() if left]:
                self.left[root] -= 1
                if not self.left[root] and not self.fails():
                    self.forgets(root)
            if self.fails():
                yield {"operation": "tells_ack", "item": 0, "process": "1"}
            return
        if self.random.random() < 0.01:
            yield {"operation": "size", "value": sum(left > 0 for left in self.left.values())}
        root = self.random.randrange(max(0, self.roots - 4), self.roots + 1)
        self.roots = max(self.roots, root + 1)
        do = self.random.choices(["init", "ack", "fail", "reset_timeout"], [4, 8, 1, 1])[0]
        row: Row = {"operation": do, "item": root, "process": "2" if self.fails() else "1"}
        if not self.left.get(root) or do in ("fail", "reset_timeout"):
            self.left[root] = self.buckets
        if do in ("init", "ack"):
            row["value"] = self.random.choice([self.value.get(root) or 5, 1, 2, 3])
            self.value[root] = self.value.get(root, 0) ^ row["value"]
        if do == "init":
            self.known[root] = row["process"]
        elif do == "fail":
            self.failed.add(root)
        yield row
        says = None
        if root in self.known:
            says = ("ack" if not self.value.get(root) else "fail" if root in self.failed else
                    "reset" if do == "reset_timeout" else None)
        if self.fails():
            says = self.random.choice(["ack", "fail", "reset", None])
        if says is not None:
            yield {"operation": f"tells_{says}", "item": root + self.fails(),
                   "process": self.known.get(root, "1")}
        if says in ("ack", "fail"):
            self.forgets(root)


class Broker:
    """A broker of three consumers; a faulty one gives, takes and counts wrongly now and then."""

    def __init__(self, random: Random, faulty: bool, settings: Settings) -> None:
        self.random, self.wrong = random, 0.02 if faulty else 0
        self.law, self.most = Law(settings["law"]), settings.get("capacity", 1 << 40)
        self.ticks, self.tries = settings.get("ticks"), settings.get("tries", 0)
        self.ready, self.letters, self.over = list[int](), list[int](), list[int]()
        self.held = dict[int, tuple[str, int]]()
        self.times, self.limits = list[int](), dict[str, int]()

    def fails(self) -> bool:
        """True now and then, if it is faulty."""
        return self.random.random() < self.wrong

    def comes_back(self, message: int) -> None:
        """A message is ready again, or dead."""
        del self.held[message]
        spent = self.tries and self.times[message] >= self.tries
        (self.letters if spent else self.ready).append(message)
        self.ready.sort()

    def rows(self) -> Iterator[Row]:
        """The next call."""
        consumer = self.random.choice("abc")
        do = self.random.choices(
            ["publish", "receive", "ack", "requeue", "reject", "tick", "disconnect", "limit",
             "dead", "count", "restart"], [10, 10, 7, 2, 1, 2, .5, .5, .7, .7, .01])[0]
        for row in getattr(self, do)(consumer):
            yield {"operation": do, "process": consumer, **row}

    def publish(self, consumer: str) -> Iterator[Row]:
        message, full = len(self.times), len(self.ready) >= self.most
        self.times.append(0)
        refuses = self.law == Law.REFUSE and full != self.fails()
        yield {"item": message, "result": "full" if refuses else "ok"}
        if refuses or (full and self.law == Law.DROP_TAIL):
            self.over.append(message)
            return
        while self.law == Law.DROP_HEAD and len(self.ready) >= self.most:
            self.over.append(self.ready.pop(0))
        self.ready.append(message)

    def receive(self, consumer: str) -> Iterator[Row]:
        limit = self.limits.get(consumer, 0)
        may = not limit or sum(each == consumer for each, _ in self.held.values()) < limit
        if not self.ready or not may and not self.fails():
            yield {"result": "empty"}
            return
        backs = [each for each in self.ready if self.times[each]]
        may_choose = backs and self.law == Law.ANY_ORDER
        message = self.random.choice(backs) if may_choose else self.ready[0]
        if self.fails():
            message = self.random.choice([*self.ready, *self.over, *self.held, *self.letters, 999])
        yield {"item": message}
        if message in self.ready:
            self.ready.remove(message)
            self.held[message] = consumer, self.ticks or 1 << 40
            self.times[message] += 1

    def answer(self, consumer: str) -> Iterator[tuple[int, Row]]:
        mine = [message for message, (each, _) in self.held.items() if each == consumer]
        late = self.random.randrange(len(self.times)) if self.times else None
        if late is not None and late not in mine and self.random.random() < 0.2:
            yield -1, {"item": late, "result": "ok" if self.fails() else "empty"}
        elif mine:
            message, fails = self.random.choice(mine), self.fails()
            yield -1 if fails else message, {"item": message, "result": "empty" if fails else "ok"}

    def ack(self, consumer: str) -> Iterator[Row]:
        for message, row in self.answer(consumer):
            yield row
            if self.held.pop(message, None):
                self.over.append(message)

    def requeue(self, consumer: str) -> Iterator[Row]:
        for message, row in self.answer(consumer):
            yield row
            if message >= 0:
                self.comes_back(message)

    def reject(self, consumer: str) -> Iterator[Row]:
        for message, row in self.answer(consumer):
            yield row
            if self.held.pop(message, None):
                self.letters.append(message)

    def tick(self, consumer: str) -> Iterator[Row]:
        yield {"value": 1}
        for message, (holder, left) in list(self.held.items()):
            self.held[message] = holder, left - 1
            if left <= 1 and not self.fails():
                self.comes_back(message)

    def disconnect(self, consumer: str) -> Iterator[Row]:
        yield {}
        self.limits.pop(consumer, None)
        for message, (holder, _) in list(self.held.items()):
            if holder == consumer and not self.fails():
                self.comes_back(message)

    def limit(self, consumer: str) -> Iterator[Row]:
        self.limits[consumer] = self.random.randrange(3)
        yield {"value": self.limits[consumer]}

    def dead(self, consumer: str) -> Iterator[Row]:
        if self.fails() and self.ready:
            yield {"item": self.ready[0]}
        elif self.letters:
            self.over.append(self.letters.pop())
            yield {"item": self.over[-1]}
        else:
            yield {"result": "empty"}

    def count(self, consumer: str) -> Iterator[Row]:
        some = [*self.ready, *self.held, *self.letters]
        if some:
            message = self.random.choice(some)
            yield {"item": message, "value": self.times[message] + self.fails()}

    def restart(self, consumer: str) -> Iterator[Row]:
        yield {}
        self.limits.clear()
        for message in list(self.held):
            self.comes_back(message)


def settings_of(suite: str, random: Random) -> dict[str, int]:
    """Settings of a suite, drawn."""
    if suite == "storm.acker":
        return {"buckets": random.choice([1, 3])}
    return {"law": random.randrange(5), "capacity": random.choice([2, 4]),
            **({"ticks": random.choice([1, 2, 5])} if random.random() < 0.5 else {}),
            **({"tries": random.choice([1, 2, 3])} if random.random() < 0.4 else {})}


SYSTEMS: Mapping[str, Any] = {"storm.acker": Acker, "delivery": Broker}


def rows(suite: str, random: Random, settings: Settings) -> list[Row]:
    """Some keys, half of them faulty, in one order; in some logs the calls have two ends."""
    parts = {}
    for number in range(4):
        system = SYSTEMS[suite](random, number % 2 == 1, settings)
        calls = random.choice([20, 60, 150])
        parts[f"key {number}"] = [row for _ in range(calls) for row in system.rows()]
    found = list[Row]()
    has_ends = suite == "delivery" and random.random() < 0.3
    while any(parts.values()):
        key = random.choice([key for key, part in parts.items() if part])
        row = {"key": key, "process": "p", "phase": "point", "result": "ok", **parts[key].pop(0)}
        found += [row | {"phase": "begin"}, row | {"phase": "end"}] if has_ends else [row]
        if has_ends and random.random() < 0.01:     # it overlaps
            found.insert(-1, row | {"phase": "begin", "process": "z"})
    return found


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LEAST", 0)


@pytest.mark.parametrize("suite", SYSTEMS)
def test_whole_columns_say_what_the_events_say_one_by_one(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules, keys, events, histories and counts, however large the chunks are; items may be texts,
    and the values of ackers have 64 bits."""
    found: list[str] = []
    for seed in range(16):
        random = Random(seed)
        settings = settings_of(suite, random)
        some = rows(suite, random, settings)
        if suite == "storm.acker" and seed % 3 == 2:
            some = [{**row, "value": row["value"] << 60} if row["operation"] in ("init", "ack") else
                    row for row in some]
        found += agreed(suite, some, settings, seed, tmp_path / "log.parquet", monkeypatch,
                        drained=seed % 2 == 1)
    assert len({row.partition("'key'")[0] for row in found if "'violated'" in row}) >= 5


KILLED = ("publish 0; publish 1; publish 2; receive 0 a; receive 1 a; restart; receive 1 a; "
          "receive 2 a; receive - a empty; tick - - ok 3")
"""A NATS server did this that was killed: it had not written the delivery of 1 yet, and 0 came
again when its time was over."""

ONE_FAULT: Mapping[str, tuple[str, Settings, str]] = {
    "an old one is passed over": (
        "publish 0; publish 1; receive 0 a; requeue 0 a; receive 1 a", {"law": 3}, "DELIV-10"),
    "one that waits is passed over": ("publish 0; publish 1; receive 1 a", {"law": 4}, "DELIV-9"),
    "one that came back waits": (
        "publish 0; receive 0 a; requeue 0 a; receive - b empty", {"law": 4}, "DELIV-4"),
    "one too many is confirmed": ("publish 0; publish 1", {"law": 0, "capacity": 1}, "DELIV-2"),
    "one is refused": ("publish 0; publish 1 - full", {"law": 0, "capacity": 2}, "DELIV-1"),
    "the limit is passed": (
        "publish 0; publish 1; limit - a ok 1; receive 0 a; receive 1 a", {"law": 3}, "DELIV-8"),
    "the limit was lost": (
        "publish 0; publish 1; limit - a ok 1; disconnect - a; receive 0 a; receive 1 a",
        {"law": 3}, ""),
    "an ack of what nobody published": ("publish 0; ack 5 a empty; receive 0 a", {"law": 3}, ""),
    "its time is over": (
        "publish 0; receive 0 a; tick - - ok 2; receive - b empty", {"law": 3, "ticks": 2},
        "DELIV-4"),
    "its time is over later": (
        "publish 0; receive 0 a; tick - - ok 1; receive - b empty; ack 0 a",
        {"law": 3, "ticks": 2}, ""),
    "a restart forgets the last delivery": (
        f"{KILLED}; receive 1 a", {"law": 4, "ticks": 3}, ""),
    "a restart loses a message": (
        f"{KILLED}; receive - a empty", {"law": 4, "ticks": 3}, "DELIV-5"),
    "a restart forgets an older delivery alone": (
        "publish 0; publish 1; receive 0 a; receive 1 a; restart; receive 0 a; receive - a empty",
        {"law": 4, "ticks": 3}, "DELIV-5"),
    "another task is answered": (
        "init 0 1 ok 5; ack 0 2 ok 5; tells_ack 0 3", {"buckets": 2}, "STORM-A31"),
    "an entry has expired": (
        "init 0 1 ok 5; tick; tick; ack 0 2 ok 5; tells_ack 0 1", {"buckets": 2}, "STORM-A20"),
    "an entry is renewed": (
        "init 0 1 ok 5; tick; reset_timeout 0 2; tells_reset 0 1; tick; ack 0 2 ok 5; "
        "tells_ack 0 1",
        {"buckets": 2}, ""),
    "a second answer": (
        "init 0 1 ok 5; ack 0 2 ok 5; tells_ack 0 1; init 0 1 ok 5; ack 0 2 ok 5; tells_ack 0 1",
        {"buckets": 2}, "STORM-A23"),
}


@pytest.mark.parametrize("name", ONE_FAULT)
def test_one_fault_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where what it depends on was long before; a right log is right."""
    text, settings, rule = ONE_FAULT[name]
    logs = logs_of("storm.acker" if "buckets" in settings else "delivery")
    terms = terms_of(plain(), settings, True, 1_000_000)
    some = []
    for line in text.split("; "):
        words = line.split()
        do, item, process, result, value = words + ["-", "-", "ok", "-"][len(words) - 1:]
        some.append({"key": "k", "operation": do, "phase": "point", "process": process,
                     "item": None if item == "-" else int(item), "result": result,
                     "value": None if value == "-" else int(value)})
    path = written(tmp_path / "log.parquet", some)
    for chunk in (1 << 18, 1, 2):
        in_chunks(monkeypatch, chunk)
        one, two = ([Log(path, plain(), list(logs.operations))] for _ in range(2))
        judged = run.judge_files(one, logs, terms, keeps=True)
        assert list(judged.notes.violations) == [rule] * bool(rule)
        assert told(judged) == told(by_events(two, logs, terms, keeps=True))


# --- why a thing may be judged by itself -----------------------------------------------------


def read(*exprs: Expr) -> set[str]:
    """The slots of things that some expressions read, with their places."""
    return {each.slot for each in walk(*exprs) if isinstance(each, Read)}


def of_place(slot: str, place: int, size: int = 1) -> bool:
    """True for a slot of the thing at a place."""
    number = re.search(r"[\[{](\d+)[\]}]", slot)
    assert number is not None, slot
    return int(number[1]) // (size if slot.startswith("value") else 1) == place


def test_roots_of_an_acker_do_not_depend_on_each_other() -> None:
    """Each message changes, and asks of, its own root alone, and a tick is of each by itself."""
    for action in lower(ObservedAcker, {"N": 3, "R": 2}).actions:
        root = dict(action.args).get("root")
        if action.name in ("sized", "stray"):
            continue        # these are judged elsewhere
        if root is None:
            for slot, value in action.updates.items():
                assert all(of_place(each, 0, 2) == of_place(slot, 0, 2) for each in read(value))
        else:
            for slot in read(action.guard, *action.updates.values()) | set(action.updates):
                assert of_place(slot, root, 2), (action.name, slot)


OWN = ("acks", "requeues", "rejects", "buries", "counts", "counts_nothing")
"""Actions that ask of one message alone."""


def test_messages_of_a_broker_change_by_themselves() -> None:
    """A call changes a message by what that message is, and by nothing of another one, where no
    queue drops, and none was killed; and so an answer is taken, or not."""
    machine: type[Machine] = ObservedDelivery
    for action in lower(machine, {"K": 1, "W": 2, "R": 2, "T": 1, "D": 2}).actions:
        message = dict(action.args).get("message")
        if action.internal or dict(action.args).get("law") in (Law.DROP_HEAD, Law.DROP_TAIL):
            continue        # after a restart, and where a queue drops, it is judged event by event
        for slot, value in action.updates.items():
            if slot.startswith(("limit", "tries")):
                continue
            others = {each for each in read(value) if not each.startswith(("limit", "tries"))}
            assert all(of_place(each, 0) == of_place(slot, 0) for each in others), action.name
            assert message is None or of_place(slot, message), action.name
        if action.name in OWN:
            assert message is not None
            assert all(of_place(slot, message) for slot in read(action.guard)), action.name
