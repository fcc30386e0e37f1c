"""A trace in words: every step with what it changed, and where it begins to repeat."""

from __future__ import annotations

import json
import sys
from enum import IntEnum

import pytest

from checkvalve.conformance.chapters.wire import row_from, row_to
from checkvalve.spec.chapters import Chapter
from checkvalve.spec.engines.report import changes, show_slot, trace_lines
from checkvalve.spec.expectations import expect
from checkvalve.spec.notation import (
    MUST, Machine, action, always, array, choice, require, subset,
)
from checkvalve.spec.notation.expr import Bool, Int, Queue, Record, SlotType, lit
from checkvalve.spec.notation.model import Slot, Value
from checkvalve.spec.verdicts.verdict import Trace, TraceStep
from checkvalve.spec.verify import verify

COLOUR = Int(lit(0), lit(2), ("red", "green", "blue"))
HUED = Record("Hued", (("hue", COLOUR), ("lit", Bool())))


@pytest.mark.parametrize(("value", "kind", "words"), [
    (1, None, "1"),
    (1, Int(lit(0), lit(3)), "1"),
    (2, COLOUR, "blue"),
    (True, Bool(), "true"),
    (False, Bool(), "false"),
    ((), Queue(COLOUR, lit(3)), "<>"),
    ((0, 2), Queue(COLOUR, lit(3)), "<red, blue>"),
    ((1, True), HUED, "(hue green, lit true)"),
    (((1, False),), Queue(HUED, lit(2)), "<(hue green, lit false)>"),
    ((1, 0), None, "(1, 0)"),
])
def test_a_value_is_shown_as_it_was_declared(
    value: Value, kind: SlotType | None, words: str
) -> None:
    """Names of enumerations, fields of records, queues from their head; else as Python has it."""
    assert show_slot(value, kind) == words


def test_only_what_changed_is_told() -> None:
    """In the order of the slots, with the old value and the new one."""
    before: dict[str, Value] = {"a": 1, "hue": 0, "b": 3}
    slots = {"hue": Slot("hue", COLOUR, lit(0))}
    assert changes(before, {"a": 2, "hue": 1, "b": 3}, slots) == "a: 1 -> 2; hue: red -> green"
    assert changes(before, before, slots) == "nothing changes"


def steps(count: int) -> tuple[TraceStep, ...]:
    """So many steps, each of which adds one to x."""
    return tuple(TraceStep("add", (("by", 1),), {"x": number + 1}) for number in range(count))


def test_steps_are_numbered_from_one_and_each_tells_what_it_changed() -> None:
    """Against the state before it, not the first one."""
    lines = list(trace_lines(Trace({"x": 0}, steps(2)), {}))
    assert [" ".join(line.split()) for line in lines] == [
        "1. add(by=1) x: 0 -> 1", "2. add(by=1) x: 1 -> 2"]


@pytest.mark.parametrize(("loop", "place", "words"), [
    (0, 0, "from here on, forever"), (1, 1, "from here on, forever"),
    (2, 2, "from here on, forever"), (3, 3, "and stays there forever"),
])
def test_a_lasso_says_where_it_begins_to_repeat(loop: int, place: int, words: str) -> None:
    """Before its first step, between two, or that it stays in its last state."""
    lines = list(trace_lines(Trace({"x": 0}, steps(3), loop), {}))
    assert len(lines) == 4 and [words in line for line in lines].index(True) == place
    assert sum("--" in line for line in lines) == 1


class Light(IntEnum):
    """Two lights of one crossing."""

    NORTH = 0
    EAST = 1


class Hue(IntEnum):
    """Colour of a light."""

    RED = 0
    GREEN = 1


class Crossing(Machine):
    """Two lights, of which each may turn green."""

    shows = array(Light, choice(Hue, Hue.RED))
    waiting = subset(Light, init=(Light.NORTH,))

    @action(light=Light)
    def turn(self, light: Light) -> None:
        """A light turns green, and nobody waits there any more."""
        require(self.shows[light] == Hue.RED)
        self.shows[light] = Hue.GREEN
        self.waiting.discard(light)

    @always("CROSS-1", MUST, "The north is red.", source="a test")
    def north_is_red(self) -> bool:
        """A predicate that no action keeps."""
        return self.shows[Light.NORTH] == Hue.RED


EXPECTATIONS = (expect(Crossing, "CROSS-1", "violated", "nobody keeps it"),)


@pytest.mark.parametrize("told_by_a_child", [False, True])
def test_a_trace_of_a_verification_has_the_names_of_enumerations(told_by_a_child: bool) -> None:
    """Of values, of arguments, and of the places of arrays and sets; also from another process."""
    row, = verify([Chapter("crossing", sys.modules[__name__])])
    if told_by_a_child:
        row = row_from(json.loads(json.dumps(row_to(row))))
    assert row.verdict.trace is not None
    line, = trace_lines(row.verdict.trace, row.slots)
    assert " ".join(line.split()) == (
        "1. turn(light=north) shows[north]: red -> green; waiting{north}: true -> false")
