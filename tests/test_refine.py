"""Refinement: what a machine shows is a run of its observer, or the shortest that is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.spec.bookkeeper.observed_memtable import ObservedMemtable
from checkvalve.spec.engines.follow import conditions_without_rule
from checkvalve.spec.engines.refine import Seeing, decide
from checkvalve.spec.engines.report import trace_lines
from checkvalve.spec.notation import (
    MUST, Machine, action, bind, const, guard_rule, integer, one_of, require, subset, table, upto,
)
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.interpreter import State
from checkvalve.spec.notation.views import LEFT_OUT, Seen, View, see, shown
from checkvalve.spec.refinements import refines, refused
from checkvalve.spec.verdicts.verdict import Budget, Outcome, Verdict

IN_TURN = guard_rule("T-1", MUST, "What goes in first comes out first.", source="the test")
NOT_FULL = guard_rule("T-2", MUST, "There is never more inside than fits.", source="the test")


class Pipe(Machine):
    """Two cells: what is put into the first moves to the second, and is taken from there."""

    N = const(3)

    put_so_far = integer(0, N)
    first = integer(0, N)
    second = integer(0, N)

    @action
    def put(self) -> None:
        """The next number."""
        require(self.first == 0 and self.put_so_far < self.N)
        self.put_so_far += 1
        self.first = self.put_so_far

    @action
    def move(self) -> None:
        """Nobody sees it."""
        require(self.first > 0 and self.may_move())
        self.first, self.second = 0, self.first

    def may_move(self) -> bool:
        """Only into an empty cell."""
        return self.second == 0

    @action
    def take(self) -> None:
        """From the second cell."""
        require(self.second > 0)
        self.second = 0


class LosingPipe(Pipe):
    """A pipe in which a moving element overwrites another one."""

    def may_move(self) -> bool:
        """Always."""
        return True


class Outside(Machine):
    """A queue of at most C numbers that come and go in order, some time after they are put."""

    C = const(2)
    N = const(3)

    named = integer(0, N)
    inside = integer(0, N)
    gone = integer(0, N)

    @action
    def comes(self) -> None:
        """The next number is put."""
        require(self.named - self.gone < self.C, NOT_FULL)
        require(self.named < self.N)
        self.named += 1

    @action(internal=True)
    def arrives(self) -> None:
        """It is really inside."""
        require(self.inside < self.named)
        self.inside += 1

    @action(number=upto(N + 1))
    def goes(self, number: int) -> None:
        """A number is taken."""
        require(number == self.gone + 1, IN_TURN)
        require(number <= self.inside, IN_TURN)
        self.gone += 1


class PipeSeen(View[Pipe]):
    """Puts and takes."""

    @shown
    def put(self, before: Pipe, after: Pipe) -> Seen:
        return see("comes")

    @shown
    def take(self, before: Pipe, after: Pipe) -> Seen:
        return see("goes", number=before.second)


def decided(
    machine: type[Machine] = Pipe, budget: Budget | None = None, constants: dict[str, int] | None
    = None, **rest: Any,
) -> Verdict:
    """The verdict on the pipe, or a variant of it, as the queue sees it."""
    observer = bind(Outside, **(constants or {}))
    return decide(Seeing(bind(machine), observer, rest.pop("view", PipeSeen), **rest), budget)


def test_hidden_steps_of_both_sides_are_taken_into_account() -> None:
    """The pipe moves, the queue's numbers arrive, and nobody sees either."""
    found = decided()
    assert (found.outcome, found.method) == (Outcome.HOLDS, "exhaustive product")
    assert dict(found.shown).keys() == {"comes", "goes"}


def test_a_broken_variant_is_refused_with_its_shortest_run() -> None:
    """Put, move, put, move, take: nothing shorter shows that the first number is lost."""
    found = decided(LosingPipe, constants={"C": 3})
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None
    assert [step.action for step in found.trace.steps] == ["put", "move", "put", "move", "take"]
    assert found.trace.steps[-1].shows == ("goes(number=2)",)
    assert found.reason == ("Outside refuses goes(number=2) by T-1: What goes in first comes out "
                            "first; false is number == self.gone + 1")
    assert "      shows goes(number=2)" in list(trace_lines(found.trace, {}))


def test_only_a_refusal_by_the_rule_that_is_looked_for_counts() -> None:
    """Another one ends its run, and says nothing of this rule."""
    assert decided(LosingPipe, rule="T-1").outcome is Outcome.VIOLATED
    narrow = {"C": 1}
    assert decided(Pipe, constants=narrow, rule="T-2").outcome is Outcome.VIOLATED
    assert decided(Pipe, constants=narrow, rule="T-1").outcome is Outcome.HOLDS


def test_where_the_candidates_are_too_many_the_verdict_is_unknown() -> None:
    """The states after that were not judged, and nothing is said to hold."""
    found = decided(max_states=1)
    assert (found.outcome, found.method) == (Outcome.UNKNOWN, "product, incomplete")
    assert "the observer could be in more than 1 state" in found.reason


@pytest.mark.parametrize(("budget", "which"), [
    (Budget(max_states=4), "states"), (Budget(max_seconds=0), "time"),
    (Budget(max_memory=1000), "memory"),
])
def test_a_spent_budget_ends_in_unknown(budget: Budget, which: str) -> None:
    """The verdict says what was covered."""
    found = decided(budget=budget)
    assert found.outcome is Outcome.UNKNOWN
    assert found.reason.startswith(f"the budget of {which} was spent after ")


def test_a_condition_without_a_rule_is_a_refusal_unless_it_is_named_as_room() -> None:
    """The queue follows two numbers, the pipe has three."""
    found = decided(constants={"N": 2})
    assert found.outcome is Outcome.VIOLATED
    assert "a condition that cites no rule; false is self.named < self.N" in found.reason
    room = frozenset({"self.named < self.N"})
    assert decided(constants={"N": 2}, room=room).outcome is Outcome.HOLDS


class AskedSeen(PipeSeen):
    """The same, and the queue is asked for a number that it may not give."""

    def asked(self, machine: Pipe) -> Iterable[Seen]:
        """Only when the pipe is full."""
        if machine.first and machine.second:
            yield see("goes", number=machine.first)


def test_what_is_asked_is_a_step_of_its_own() -> None:
    """The machine does nothing meanwhile."""
    found = decided(view=AskedSeen)
    assert found.trace is not None
    assert [step.action for step in found.trace.steps] == ["put", "move", "put", "asked"]


class AloneSeen(PipeSeen):
    """Only runs in which the pipe holds one number at a time, and moves it at once."""

    history: bool = False

    def follows(self, machine: Pipe, action: str) -> bool:
        """Nothing comes between put and move."""
        return action == "move" or not self.history

    @shown
    def put(self, before: Pipe, after: Pipe) -> Seen | str:
        if before.second:
            return LEFT_OUT
        self.history = True
        return see("comes")

    @shown
    def move(self, before: Pipe, after: Pipe) -> None:
        self.history = False


def test_what_the_observer_does_not_look_at_is_left_out() -> None:
    """So even a pipe that overwrites is no worse than another one."""
    assert decided(LosingPipe, view=AloneSeen).outcome is Outcome.HOLDS
    assert decided(LosingPipe, view=AloneSeen, constants={"C": 1}).outcome is Outcome.HOLDS


class CountingSeen(PipeSeen):
    """Remembers how many numbers are in the pipe."""

    history: int = 0

    def follows(self, machine: Pipe, action: str) -> bool:
        """Always."""
        assert self.history == (machine.first > 0) + (machine.second > 0)
        return True

    @shown
    def put(self, before: Pipe, after: Pipe) -> Seen:
        self.follows(before, "put")
        self.history += 1
        return see("comes")

    @shown
    def take(self, before: Pipe, after: Pipe) -> Seen:
        self.follows(before, "take")
        self.history -= 1
        return see("goes", number=before.second)


def test_each_step_of_a_state_begins_with_what_is_remembered_there() -> None:
    """A step that was looked at before it leaves nothing behind."""
    assert decided(view=CountingSeen).outcome is Outcome.HOLDS


class UnknownSeen(View[Pipe]):
    """Shows what nobody sees."""

    @shown
    def put(self, before: Pipe, after: Pipe) -> Seen:
        return see("arrives")


class WrongSeen(View[Pipe]):
    """Shows a step without its argument."""

    @shown
    def take(self, before: Pipe, after: Pipe) -> Seen:
        return see("goes")


class StrangeSeen(View[Pipe]):
    """Has a method for an action that there is not."""

    @shown
    def fly(self, before: Pipe, after: Pipe) -> Seen:
        return see("goes", number=1)


@pytest.mark.parametrize(("view", "message"), [
    (UnknownSeen, "Outside sees no step arrives"),
    (WrongSeen, "goes of Outside is shown with no arguments"),
    (StrangeSeen, "StrangeSeen says what fly shows, which is no action of Pipe"),
])
def test_a_view_that_does_not_fit_is_refused(view: type[View[Pipe]], message: str) -> None:
    """By name, with what would fit."""
    with pytest.raises(InputError, match=message):
        decided(view=view)


SEEN = refines(Pipe, Outside, "in turn", shows=PipeSeen, seen_by={"C": "N - 1"}, N=(2, 3))


def test_an_observers_constants_are_computed_from_the_machines() -> None:
    """For each choice of them."""
    points = list(SEEN.points())
    assert points == [{"N": 2}, {"N": 3}]
    assert [SEEN.observers_constants(point) for point in points] == [{"C": 1}, {"C": 2}]


@pytest.mark.parametrize(("wrong", "message"), [
    (lambda: refused(Pipe, "T-9", like=SEEN), "Outside has no rule 'T-9'"),
    (lambda: refused(Pipe, "T-1", like=SEEN, Z=1), "Pipe has no constant 'Z'"),
    (lambda: refines(Pipe, Outside, shows=PipeSeen, seen_by={"Z": 1}),
     "Outside has no constant 'Z'"),
    (lambda: refines(Pipe, Outside, shows=PipeSeen, room=["self.named < 7"]),
     "Outside has no condition without a rule 'self.named < 7'"),
    (lambda: refines(Pipe, Outside, shows=cast("Any", Pipe)), "is <class '.*Pipe'>, and no view"),
    (lambda: refines(cast("Any", 3), Outside, shows=PipeSeen), "about two machines, not 3"),
    (lambda: refines(Pipe, Outside, shows=PipeSeen, seen_by={"C": "M"}).observers_constants({}),
     "'M' of an observer cannot be computed"),
])
def test_a_promise_about_what_is_not_there_is_refused(wrong: Any, message: str) -> None:
    """At once, with what there is."""
    with pytest.raises(InputError, match=message):
        wrong()


# ---- random machines, and an oracle that knows nothing of numbers and caches ----------------

class Automaton(Machine):
    """It moves along a table of (from, to, label); a label of 3 shows nothing."""

    moves = table(((0, 0, 0),))

    at = integer(0, 3)

    @action(move=one_of(moves))
    def moves_on(self, move: int) -> None:
        """One row."""
        require(self.at == self.moves[move][0])
        self.at = self.moves[move][1]


class Watching(Machine):
    """It is in a set of states, as far as it knows; rows with the label 3 are its own."""

    rows = table(((0, 0, 0),))

    at = integer(0, 3)
    was = subset(upto(2))       # so that two ways to one state may differ

    @action(row=one_of(rows), internal=True)
    def hides(self, row: int) -> None:
        """A row of its own."""
        require(self.rows[row][2] == 3 and self.at == self.rows[row][0])
        self.at = self.rows[row][1]
        self.was.clear()

    @action(label=upto(3))
    def sees(self, label: int) -> None:
        """The first row that fits."""
        found = 4
        for row in range(len(self.rows)):
            if found == 4 and self.rows[row][0] == self.at and self.rows[row][2] == label:
                found = self.rows[row][1]
        require(found < 4)
        self.at = found
        if label < 2:
            self.was.add(label)


class AutomatonSeen(View[Automaton]):
    """Labels; a 2 is seen as what it is, and as a 0 before."""

    @shown
    def moves_on(self, before: Automaton, after: Automaton, move: int) -> list[Seen]:
        label = before.moves[move][2]
        wanted = [] if label == 3 else [0, 2] if label == 2 else [label]
        return [see("sees", label=each) for each in wanted]


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)),
                min_size=1, max_size=7).map(tuple)


def closed(states: set[State], run: Any) -> set[State]:
    """With all that hidden rows make of them."""
    more = {after for state in states for step in run.steps() if step[0] == "hides"
            if (after := run.step(state, *step)) is not None}
    return states if more <= states else closed(states | more, run)


def shortest_refusal(machine: Any, observer: Any) -> int | None:
    """Length of the shortest run that the observer refuses, by plain sets; None if there is none.
    """
    level = {(machine.initial(), frozenset(closed({observer.initial()}, observer)))}
    done, length = set(level), 0
    while level:
        length += 1
        following = set()
        for state, candidates in level:
            for (_, args), after in machine.successors(state):
                label, left = machine.constants["moves"][dict(args)["move"]][2], candidates
                for seen in {0: [0], 1: [1], 2: [0, 2], 3: []}[label]:
                    left = frozenset(closed(
                        {there for each in left if (there := observer.step(
                            each, "sees", (("label", seen),))) is not None}, observer))
                if not left:
                    return length
                following.add((after, left))
        level = following - done
        done |= level
    return None


@given(moves=ROWS, rows=ROWS)
@settings(max_examples=150)
def test_the_search_agrees_with_a_product_of_plain_sets(moves: Any, rows: Any) -> None:
    """On the verdict, and on the length of the shortest run."""
    machine, observer = bind(Automaton, moves=moves), bind(Watching, rows=rows)
    found = decide(Seeing(machine, observer, AutomatonSeen))
    expected = shortest_refusal(machine.interpreter, observer.interpreter)
    assert (found.outcome is Outcome.HOLDS) == (expected is None)
    assert expected == (None if found.trace is None else len(found.trace.steps))


class Clock(Machine):
    """It ticks, and tocks."""

    high = integer(0, 1)

    @action
    def tick(self) -> None:
        """One or the other."""
        self.high = 1 - self.high


class Hears(Machine):
    """Whatever it hears, it is as it was."""

    heard = integer(0, 1)

    @action
    def ticks(self) -> None:
        """It is not even counted."""


class ClockSeen(View[Clock]):
    """Each tick is heard."""

    @shown
    def tick(self, before: Clock, after: Clock) -> Seen:
        return see("ticks")


def test_what_leaves_the_observer_as_it_began_was_shown_too() -> None:
    """Else a row would say that nothing was ever seen."""
    found = decide(Seeing(bind(Clock), bind(Hears), ClockSeen))
    assert (found.outcome, dict(found.shown)) == (Outcome.HOLDS, {"ticks": 2})


def test_room_is_what_an_observer_requires_without_a_rule() -> None:
    """A condition that cites a rule is a promise, and no room."""
    conditions = conditions_without_rule(Outside)
    assert {"self.named < self.N", "self.inside < self.named"} <= set(conditions)
    assert "self.named - self.gone < self.C" not in conditions
    assert conditions_without_rule(ObservedMemtable)


def test_a_view_knows_what_the_machine_can_do() -> None:
    """So it shows that an end is idle by what is enabled, also where a mutant's variables deny it.
    """
    can: set[tuple[int, frozenset[str]]] = set()

    class Asking(PipeSeen):
        def asked(self, machine: Pipe) -> Iterable[Seen]:
            can.add((machine.first + machine.second, self.enabled))
            return ()

    decide(Seeing(bind(Pipe, N=1), bind(Outside, C=2, N=1), Asking))
    assert can == {(0, frozenset({"put"})), (1, frozenset({"move"})), (1, frozenset({"take"})),
                   (0, frozenset())}
