"""Forms of the TLA+ text: helpers are there where they are used, and shapes are kept."""

from __future__ import annotations

import re

import pytest

from checkvalve.spec.engines.tla import export
from checkvalve.spec.notation import (
    MUST, Machine, action, always, array, bind, boolean, fifo, integer, require, upto,
)

OF_TLA = {"Len", "Append", "Head", "Tail", "Seq", "SubSeq", "WF_vars", "SF_vars"}
"""Names that the extended modules, and TLA+ itself, define."""


class Sums(Machine):
    """Numbers of both signs, divided by each other; a grid of two by three; a queue."""

    x = integer(-7, 7, init=3)
    y = integer(-3, 3, init=2)
    lit = boolean()
    grid = array(upto(2), array(upto(3), boolean()))
    queue = fifo(integer(0, 3), 2)

    @action
    def divide(self) -> None:
        require(self.y != 0)
        self.x = max(-7, min(7, self.x // self.y))
        self.y = self.y - self.x % self.y

    @action
    def put(self) -> None:
        require(len(self.queue) < 2)
        self.queue.push(max(self.y, 0))
        self.grid[1][2] = not self.lit

    @action
    def take(self) -> None:
        require(self.queue)
        self.queue.pop()
        self.x = self.x % 3 if self.x > 0 else self.x // 2

    @always("SUM-1", MUST, "It is dark.", source="a test")
    def dark(self) -> bool:
        return self.lit

    @always("SUM-2", MUST, "It is above.", source="a test")
    def above(self) -> bool:
        return self.y > 0 and len(self.queue) > 0 and 1 < self.x

    @always("SUM-3", MUST, "It is below.", source="a test")
    def below(self) -> bool:
        return 0 <= self.y <= 2 or not self.queue

    @always("SUM-4", MUST, "It adds up.", source="a test")
    def positive(self) -> bool:
        return self.x + self.y > 0


class Quotients(Machine):
    """Only a division, and only a remainder, each in a rule of its own."""

    x = integer(-7, 7, init=3)
    y = integer(-3, 3, init=2)

    @action
    def rest(self) -> None:
        require(self.x == 3)
        self.x = 2

    @always("QUOT-1", MUST, "Small.", source="a test")
    def small(self) -> bool:
        return self.y == 0 or self.x // self.y < 9


def body(text: str, name: str) -> str:
    """The lines of a definition."""
    found = re.search(rf"^{name} ==\n((?:    .*\n)+)", text, re.M)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("machine", [Sums, Quotients])
def test_every_operator_that_is_used_is_defined(machine: type[Machine]) -> None:
    """In the module itself, before its first use, or by what it extends."""
    text = export(bind(machine)).tla
    defined = {each[1]: each.start() for each in re.finditer(r"^(\w+)\(.*\) ==", text, re.M)}
    for each in re.finditer(r"\b([A-Z]\w*)\(", text):
        assert each[1] in OF_TLA or defined[each[1]] <= each.start(), each[1]
    assert "EXTENDS Integers, Sequences" in text


def test_a_helper_that_is_not_used_is_not_defined() -> None:
    """So the text stays as short as the machine."""
    text = export(bind(Quotients)).tla
    assert "FloorDiv(a_, b_) ==" in text
    assert not any(f"{name}(a_, b_) ==" in text for name in ("Mod", "Min", "Max"))


def test_an_array_of_arrays_is_a_function_of_functions() -> None:
    """Each over its own domain, also where the two differ."""
    text = export(bind(Sums)).tla
    assert "grid \\in [0..1 -> [0..2 -> BOOLEAN]]" in text
    assert "grid = [i \\in 0..1 |-> [j \\in 0..2 |-> FALSE]]" in text
    assert "[grid EXCEPT ![1][2] = (~lit)]" in text


def test_comparisons_have_their_number_on_the_right_and_an_empty_queue_is_named() -> None:
    """As people write them; a rule may be nothing but a variable."""
    text = export(bind(Sums)).tla
    assert body(text, "dark").strip() == "lit"
    assert [line.strip(" /\\") for line in body(text, "above").splitlines()] == [
        "y > 0", "queue # <<>>", "x > 1"]
    assert body(text, "positive").strip() == "x + y > 0"
    assert "queue = <<>>" in body(text, "below") and "<<>>" not in body(text, "dark")
