"""The monitor's words about a step that nothing explains: the guard, the condition, the line."""

from __future__ import annotations

import ast
import inspect

import pytest

from checkvalve.spec.engines.monitor import Failure, Monitor
from checkvalve.spec.notation import (
    MUST, Machine, action, bind, boolean, fifo, guard_rule, integer, require, upto,
)

ROOM = guard_rule("BELT-1", MUST, "There is room.", source="a test")
EMPTY = guard_rule("BELT-2", MUST, "The last one is not lost.", source="a test")


class Belt(Machine):
    """Two belts; from one to the other a thing moves seen, and the first may be swept unseen."""

    first = fifo(integer(0, 3), 2)
    second = fifo(integer(0, 3), 2)
    dirty = boolean(False)
    swept = boolean(False)

    @action(item=upto(4))
    def put(self, item: int) -> None:
        require(not self.dirty and len(self.first) < 2, ROOM)
        self.first.push(item)

    @action
    def move(self) -> None:
        self.second.push(self.first.pop())

    @action
    def spill(self) -> None:
        self.dirty = True

    @action(internal=True)
    def sweep(self) -> None:
        require(self.dirty)
        self.dirty = False
        self.swept = True

    @action
    def stop(self) -> None:
        require(self.swept)
        require(len(self.second) == 2, EMPTY)
        require(len(self.first) == 2)


def after(*names: str) -> Monitor:
    """A monitor of a belt on which all this was seen."""
    monitor = Monitor(bind(Belt))
    for name in names:
        assert see(monitor, name) is None
    return monitor


def see(monitor: Monitor, name: str) -> Failure | None:
    """One observation; ``put`` is of the item 1."""
    return monitor.observe([(name, (("item", 1),) if name == "put" else ())])


def line_of(text: str) -> int:
    """The line of this file on which a text stands."""
    lines, start = inspect.getsourcelines(Belt)
    return next(start + at for at, line in enumerate(lines) if text in line)


def test_a_pop_of_nothing_is_told_by_what_is_empty() -> None:
    """Also where the pop stands inside of a push."""
    failure = see(after(), "move")
    assert failure is not None and failure.rule is None
    assert failure.conjunct == "self.first is not empty"
    assert failure.where.endswith(f"test_monitor_words.py:{line_of('second.push')}")


@pytest.mark.parametrize(("seen", "conjunct"), [
    (("put", "put"), "len(self.first) < 2"), (("put", "put", "spill"), "len(self.first) < 2"),
])
def test_the_first_condition_that_is_false_is_quoted(
    seen: tuple[str, ...], conjunct: str
) -> None:
    """The condition is that of the candidate that came furthest; a spill may have been swept away
    unseen.
    """
    failure = see(after(*seen), "put")
    assert failure is not None and failure.rule is ROOM and failure.step == len(seen)
    assert conjunct in failure.conjunct or "dirty" in failure.conjunct
    assert failure.where.endswith(f":{line_of('ROOM)')}")


def test_of_several_guards_one_that_names_a_rule_is_told() -> None:
    """Not the one before it, which a candidate that was not swept fails first."""
    failure = see(after("spill"), "stop")
    assert failure is not None and failure.rule is EMPTY
    assert failure.conjunct == "len(self.second) == 2"
    assert failure.where.endswith(f":{line_of('EMPTY)')}")


class Steps(Machine):
    """Guards without rules, one after another; where it stands is hidden."""

    place = integer(0, 2)

    @action(internal=True)
    def on(self) -> None:
        require(self.place < 2)
        self.place += 1

    @action
    def look(self) -> None:
        require(self.place != 0)
        require(self.place != 1)
        require(self.place != 2)


def test_without_a_rule_the_guard_that_came_furthest_is_told() -> None:
    """Of all places where it may stand, the last one fails the last guard."""
    failure = Monitor(bind(Steps)).observe([("look", ())])
    assert failure is not None and failure.conjunct == "self.place != 2"


def test_after_a_failure_the_candidates_are_those_from_before_it() -> None:
    """So what could have been seen instead can be asked for."""
    monitor = after("put", "put")
    assert see(monitor, "put") is not None
    assert monitor.allowed([("put", (("item", 1),)), ("move", ())]) == [("move", ())]
    assert see(monitor, "move") is None and monitor.observed == 3


@pytest.mark.parametrize("refused", [("put", "put", "put"), ("move",)])
def test_the_text_of_a_guard_is_looked_for_once(
    refused: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole files are walked through for it, and machines refuse a step millions of times."""
    first = see(after(*refused[:-1]), refused[-1])
    assert first is not None and first.conjunct

    def walk(_node: object) -> None:
        raise AssertionError("a file is walked through again")

    again = after(*refused[:-1])
    monkeypatch.setattr(ast, "walk", walk)
    assert see(again, refused[-1]) == first
