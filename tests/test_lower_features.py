"""Each construct of the notation means in the lowered form what it means to CPython."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import pytest
from random_machines import define

from checkvalve.spec.engines.graph import explore_with_interpreter
from checkvalve.spec.notation import (
    MUST, Machine, ModelFault, NotationError, action, always, array, assume, bind, boolean, choice,
    const, each, eventually_always, fifo, integer, leads_to, never_stuck, one_of, record, require,
    step, subset, table, upto,
)
from checkvalve.spec.notation.evaluate import apply, evaluate, initial_slots
from checkvalve.spec.verdicts.verdict import Budget

STATES = 150


class Colour(IntEnum):
    """Three colours."""

    RED = 0
    GREEN = 1
    BLUE = 2


class Parcel(NamedTuple):
    """The messages."""

    size: int
    colour: int
    urgent: bool


PARCEL = record(Parcel, size=integer(0, 2), colour=choice(Colour), urgent=boolean())


def larger(one: int, other: int) -> int:
    """A plain function, which is inlined."""
    if one > other:
        return one
    return other


class Queues(Machine):
    """Queues of records: push, pop, clear, iteration, ends, membership, equality."""

    line = fifo(PARCEL, 2)
    sizes = fifo(integer(0, 3), 3, (1,))
    seen = integer(0, 9)

    @action(size=upto(3), colour=Colour)
    def send(self, size: int, colour: int) -> None:
        require(len(self.line) < 2)
        self.line.push(Parcel(size, colour=colour, urgent=size == 2 and colour != Colour.RED))

    @action
    def take(self) -> None:
        size, colour, urgent = self.line.pop()
        if urgent:
            self.sizes.clear()
        elif len(self.sizes) < 3:
            self.sizes.push(larger(size, colour))
        self.seen = min(9, self.seen + 1)

    @action
    def turn(self) -> None:
        require(len(self.sizes) > 1)
        self.sizes.push(self.sizes.pop())

    @action
    def double(self) -> None:
        require(self.sizes)
        first = self.sizes[0]
        require(first * 2 <= 3 and first != self.sizes[-1])
        self.sizes.pop()
        self.sizes.push(first * 2)

    @always("Q-1", MUST, "Sums and extremes.", source="a test")
    def sums(self) -> bool:
        total = sum(part for part in self.sizes)
        most = max((part for part in self.sizes), default=0)
        least = min((part for part in self.sizes if part > 0), default=7)
        return total + most - least > 0 or 2 in self.sizes

    @always("Q-2", MUST, "Places.", source="a test")
    def places(self) -> bool:
        return all(part.size != place for place, part in enumerate(self.line)) \
            or any(part.urgent for part in self.line)

    @step("Q-3", MUST, "What is not taken stays.", source="a test")
    def stays(self, after: Queues) -> bool:
        return after.line == self.line or len(after.sizes) != len(self.sizes)

    @always("Q-4", MUST, "The last but one.", source="a test")
    def ends(self) -> bool:
        return len(self.sizes) < 2 or self.sizes[-2] <= self.sizes[len(self.sizes) - 1]

    @never_stuck("Q-5", MUST, "It may be idle with an empty queue.", source="a test")
    def rests(self) -> bool:
        return not self.line


class Arrays(Machine):
    """Arrays of numbers, of queues, of records and of arrays; indices that are not known."""

    N = const(2, at_least=1)
    limits = table((1, 3))
    paths = table(((0, 1), (1, 0), (1, 1)))
    held = array(one_of(limits), integer(0, each(limits)))
    lines = array(upto(N), fifo(integer(0, 2), 2))
    boxes = array(Colour, PARCEL)
    grid = array(upto(2), array(upto(N), boolean()))
    at = integer(0, 1)

    @assume
    def is_small(self) -> bool:
        return self.N <= 3

    @action(path=one_of(paths))
    def go(self, path: int) -> None:
        source, target = self.paths[path]
        require(self.held[target] < self.limits[target])
        self.held[target] += 1
        if self.held[source] > 0 and source != target:
            self.held[source] -= 1

    @action
    def flip(self) -> None:
        self.at = 1 - self.at
        self.grid[self.at][0] = not self.grid[self.at][0]

    @action(value=upto(3))
    def put(self, value: int) -> None:
        require(len(self.lines[self.at]) < 2 and (value == 0 or self.lines[0]))
        self.lines[self.at].push(value)

    @action
    def drain(self) -> None:
        require(any(self.lines[n] for n in range(self.N)))
        for n in range(self.N):
            if self.lines[n]:
                self.lines[n].pop()

    @action
    def paint(self) -> None:
        old = self.boxes[self.at]
        self.boxes[self.at] = old._replace(colour=(old.colour + 1) % 3, urgent=not old.urgent)

    @always("A-1", MUST, "A path.", source="a test", path=one_of(paths))
    def path_is_free(self, path: int) -> bool:
        source, target = self.paths[path]
        return self.held[source] <= self.limits[source] and self.held[target] != 3

    @always("A-2", MUST, "All equal.", source="a test")
    def alike(self) -> bool:
        return self.lines[0] == self.lines[self.N - 1] or self.grid[0] != self.grid[1]

    @always("A-4", MUST, "Lines.", source="a test")
    def lines_agree(self) -> bool:
        return self.lines[0] == self.lines[self.N - 1]

    @always("A-5", MUST, "What cannot be is not looked at.", source="a test")
    def limit(self) -> bool:
        here = self.limits[self.N] if self.N < 2 else self.limits[1]
        return self.held[0] < (here if self.N <= 3 else self.limits[5])

    @always("A-3", MUST, "Pairs.", source="a test")
    def pairs(self) -> bool:
        return sum(1 for a in range(2) for n in range(self.N) if self.grid[a][n]) <= 1 \
            or self.boxes[Colour.RED] == self.boxes[1]


class Sets(Machine):
    """Sets, choices and truth values; conditional expressions and comparisons in a chain."""

    members = subset(Colour, (Colour.GREEN,))
    others = subset(upto(3))
    colour = choice(Colour, Colour.BLUE)
    lit = boolean(True)
    last = PARCEL

    @action(colour=Colour)
    def add(self, colour: int) -> None:
        require(colour not in self.members)
        self.members.add(colour)
        self.colour = colour

    @action
    def drop(self) -> None:
        require(len(self.members) >= 2)
        self.members.discard(self.colour)
        self.lit = self.colour in self.members or not self.lit

    @action
    def clear(self) -> None:
        require(self.members and 0 < len(self.members) < 3)
        for member in self.members:
            self.others.add(2 - member)
        self.members.clear()

    @action
    def copy(self) -> None:
        require(self.others != self.members)
        self.others = self.members
        self.last = Parcel(self.colour if self.lit else 0, self.colour, self.lit)

    @always("S-1", MUST, "Chains.", source="a test")
    def chain(self) -> bool:
        low, high = (0, 2) if self.lit else (1, len(self.others))
        return low <= self.colour <= high or self.last.urgent or bool(self.others)

    @always("S-4", MUST, "Of another length.", source="a test")
    def other_length(self) -> bool:
        return (self.colour, 0) == (0, 0, 0) or (self.colour, 1) == (2, self.lit)

    @leads_to("S-2", MUST, "What is lit is empty.", source="a test")
    def empties(self) -> tuple[bool, bool]:
        return self.lit, not self.members

    @eventually_always("S-3", MUST, "It ends blue.", source="a test")
    def ends_blue(self) -> bool:
        return self.colour in (Colour.BLUE, Colour.RED)


class Numbers(Machine):
    """Division and remainder of both signs, and a base with an action that a variant extends."""

    x = integer(-7, 7, init=3)
    y = integer(-3, 3, init=2)

    def quotient(self) -> int:
        return self.x // self.y if self.y else 0

    @action
    def move(self) -> None:
        if self.x > 4:
            self.x = -abs(self.y) - 1
            return
        self.x += 1

    @action(by=upto(2))
    def turn(self, by: int) -> None:
        assert self.y >= -3
        self.y = -self.y if by else larger(-3, self.y - 1)

    @always("N-1", MUST, "Division and remainder belong together.", source="a test")
    def euclid(self) -> bool:
        if self.y == 0:
            return True
        rest = self.x % self.y
        return self.quotient() * self.y + rest == self.x and -3 < rest < 3

    @always("N-2", MUST, "Small.", source="a test")
    def small(self) -> bool:
        a, b = self.x, int(self.y > 0)
        return max(a, b, 0) - min(a, b) < 9 and None != a  # noqa: E711 - of another kind


class Faster(Numbers):
    """Moves twice where it can, and divides by what may be 0."""

    @action
    def move(self) -> None:
        super().move()
        if self.x < 5 and self.x // self.y != 2:
            super().move()


class Wrong(Machine):
    """Leaves its ranges, pushes to what is full, and looks beyond an end."""

    x = integer(0, 2)
    line = fifo(PARCEL, 1)
    held = array(upto(2), integer(0, 1))

    @action
    def grow(self) -> None:
        self.x += 1

    @action
    def push(self) -> None:
        self.line.push(Parcel(self.x + 1, 0, False))

    @action
    def look(self) -> None:
        self.held[self.x] = self.line[0].size

    @action
    def back(self) -> None:
        require(self.x > 0)
        self.x = self.held[0] = 0


MACHINES = [
    (Queues, {}), (Arrays, {}), (Arrays, {"N": 1}), (Sets, {}), (Numbers, {}), (Faster, {}),
    (Wrong, {}),
]
EACH = pytest.mark.parametrize(
    ("machine", "constants"), MACHINES,
    ids=[machine.__name__ + "".join(map(str, given.values())) for machine, given in MACHINES])


@EACH
def test_every_step_is_read_alike(machine: type[Machine], constants: dict[str, int]) -> None:
    """If it is enabled, what it changes, and if it is a fault of the machine."""
    bound = bind(machine, **constants)
    run, model = bound.interpreter, bound.model
    assert initial_slots(model) == run.slots(run.initial())
    states, steps, faulty = [run.initial()], 0, 0
    for state in states:
        slots = run.slots(state)
        for (name, args), lowered in zip(run.steps(), model.actions, strict=True):
            assert (lowered.name, lowered.args) == (name, args)
            wrong = any(evaluate(fault.condition, slots) for fault in lowered.faults)
            try:
                after = run.step(state, name, args)
            except ModelFault:
                faulty += 1
                assert wrong, f"{name}{args} in {slots} fails in CPython only"
                continue
            assert not wrong, f"{name}{args} in {slots} fails in the lowered form only"
            found = None if after is None else run.slots(after)
            assert apply(lowered, slots) == found, f"{name}{args} in {slots}"
            if after is not None:
                steps += 1
                if after not in states and len(states) < STATES:
                    states.append(after)
    assert steps > 10 and (faulty or machine not in (Wrong, Faster))


@EACH
def test_every_rule_is_read_alike(machine: type[Machine], constants: dict[str, int]) -> None:
    """In every state, of every step, and both halves of a leads-to; neither always true."""
    bound = bind(machine, **constants)
    run = bound.interpreter
    try:
        graph = explore_with_interpreter(run, Budget(max_states=STATES))
    except ModelFault:
        graph = explore_with_interpreter(run, Budget(max_states=2))
    slots = [run.slots(state) for state in graph.states]
    for item in bound.model.rules:
        rule, args = item.rule, item.args
        for here in range(len(graph.first) - 1):
            state = graph.states[here]
            if rule.kind == "step":
                for edge in range(graph.first[here], graph.first[here + 1]):
                    there = graph.target[edge]
                    expected = run.holds(rule, args, state, graph.states[there])
                    assert bool(evaluate(item.exprs[0], slots[here], slots[there])) == expected
            elif rule.kind == "leads to":
                found = tuple(bool(evaluate(each, slots[here])) for each in item.exprs)
                assert found == tuple(map(bool, run.holds(rule, args, state)))
            else:
                assert bool(evaluate(item.exprs[0], slots[here])) == bool(
                    run.holds(rule, args, state)), (rule.id, slots[here])


@EACH
def test_a_state_comes_back_from_its_slots(
    machine: type[Machine], constants: dict[str, int]
) -> None:
    """With the same values, and of the same Python types: a record has its fields again."""
    run = bind(machine, **constants).interpreter
    states = [run.initial()]
    for state in states:
        again = run.from_slots(run.slots(state))
        assert again == state and kinds(again) == kinds(state)
        for name, args in run.steps():
            try:
                after = run.step(state, name, args)
            except ModelFault:
                continue
            if after is not None and after not in states and len(states) < 60:
                states.append(after)


def kinds(value: object) -> object:
    """The types of all that is in a value; a member of an enumeration is a number."""
    if isinstance(value, tuple):
        return type(value), [kinds(part) for part in value]
    return bool if isinstance(value, bool) else type(value) if isinstance(value, frozenset) else int


def test_the_bounds_of_a_symbolic_constant_are_assumed() -> None:
    """Its least and greatest values, and its relation to others."""

    class Bounded(Machine):
        """A counter up to a constant."""

        C = const(3, at_least=1, at_most=5)
        D = const(2, at_least=0)
        x = integer(0, C)

        @assume
        def fits(self) -> bool:
            return self.D <= self.C

        @action
        def count(self) -> None:
            require(self.x < self.C)
            self.x += 1

    from checkvalve.spec.notation.lower import lower

    model = lower(Bounded, {"D": 2}, symbolic=frozenset({"C"}))
    allowed = [value for value in range(-1, 9)
               if all(evaluate(each, {}, None, {"C": value}) for each in model.assumptions)]
    assert allowed == [2, 3, 4, 5]


@pytest.mark.parametrize("rounds", [
    "5 - (self.x - 3)", "max(2, self.x * 2)", "self.x + self.x * 2", "2 if self.x else self.x * 2"])
def test_a_range_whose_bound_is_not_known_is_refused(rounds: str) -> None:
    """And not unrolled too few times."""
    machine = define(
        "from checkvalve.spec.notation import *\n"
        "class Random(Machine):\n"
        "    x = integer(0, 3)\n"
        "    y = integer(0, 9)\n"
        "    @action\n"
        "    def go(self):\n"
        f"        for i in range({rounds}):\n"
        "            self.y = i\n"
    )
    with pytest.raises(NotationError, match="no known bound"):
        bind(machine).model  # noqa: B018 - lowering happens on access


@pytest.mark.parametrize("rounds", [
    "self.x", "5 - self.x", "min(self.x * 2, 2)", "max(1, self.x)", "self.x + 1",
    "2 if self.x else 3"])
def test_a_range_whose_bound_is_known_goes_round_as_often_as_it_says(rounds: str) -> None:
    """For every value, in both readings."""
    machine = define(
        "from checkvalve.spec.notation import *\n"
        "class Random(Machine):\n"
        "    x = integer(0, 3)\n"
        "    y = integer(0, 20)\n"
        "    @action\n"
        "    def go(self):\n"
        f"        for i in range({rounds}):\n"
        "            self.y += i + 1\n"
    )
    bound = bind(machine)
    go, = bound.model.actions
    for x in range(4):
        state = bound.interpreter.from_slots({"x": x, "y": 0})
        after = bound.interpreter.step(state, "go")
        assert after is not None
        assert apply(go, {"x": x, "y": 0}) == bound.interpreter.slots(after)


@pytest.mark.parametrize(("guard", "update", "is_safe"), [
    ("self.x < 3", "self.x += 1", True), ("self.x <= 2", "self.x += 1", True),
    ("3 > self.x", "self.x += 1", True), ("self.x == 2", "self.x += 1", True),
    ("self.x == 2", "self.x -= 2", True), ("self.x > 0", "self.x -= 1", True),
    ("1 <= self.x", "self.x -= 1", True), ("0 < self.x < 3", "self.x = 3 - self.x", True),
    ("self.x <= 3", "self.x += 1", False), ("self.x >= 0", "self.x -= 1", False),
    ("self.x == 3", "self.x += 1", False), ("self.x == 1", "self.x -= 2", False),
    ("len(self.q) < 3", "self.x = len(self.q) + 1", True),
    ("len(self.q) <= 3", "self.x = len(self.q) + 1", False),
])
def test_a_guard_that_keeps_a_value_in_its_range_leaves_nothing_to_check(
    guard: str, update: str, is_safe: bool
) -> None:
    """So engines that take the lowered form pay for no check that cannot fail; where the guard
    lets one value too many through, the check is there."""
    machine = define(
        "from checkvalve.spec.notation import *\n"
        "class Random(Machine):\n"
        "    x = integer(0, 3)\n"
        "    q = fifo(integer(0, 1), 4)\n"
        "    @action\n"
        "    def go(self):\n"
        f"        require({guard})\n"
        f"        {update}\n"
    )
    lowered, = bind(machine).model.actions
    assert (lowered.faults == ()) is is_safe
