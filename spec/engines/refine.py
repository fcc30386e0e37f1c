"""Refinement: whether every run of a machine, as far as it shows, is a run of an observer.

Theory of operation. A view says which of the observer's steps each action of the machine shows.
The search is breadth first over pairs: a state of the machine, and the set of states in which
the observer can be after what it was shown. A hidden step changes the first only. Where the set
becomes empty, no run of the observer explains what was seen, and as the search is breadth first
no shorter run of the machine does the same. Each side is computed once: the machine's steps per
state, from what is learnt of them (``effects``), and the observer's sets per observation
(``follow``), so that a pair costs a few look-ups.

What is decided is about finite runs. What must happen eventually is covered as far as the
observer judges it where the machine is quiescent, and the view shows that.

A violation is replayed by the interpreter and by a monitor that has seen nothing yet.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..notation.bound import BoundMachine
from ..notation.errors import InternalError, ModelFault
from ..notation.interpreter import Interpreter, State, Step, show_step
from ..notation.labels import counted
from ..notation.layout import Slots
from ..notation.views import LEFT_OUT, Seen, View, check_view, steps_of
from ..verdicts.memory import meter
from ..verdicts.verdict import Budget, Outcome, Trace, TraceStep, Verdict
from .effects import Effects, Packed, Refusal
from .follow import LOST, ROOM_ENDS, Follower
from .monitor import STATES_MAX, Failure, Monitor

__all__ = ["Seeing", "Side", "decide"]

ASKED = "asked"
"""The name in a trace of a step in which the observer asks, and the machine does nothing."""
_SILENT_AT_MOST = 1_000
"""The most states that show nothing, among which a cycle is looked for."""
_BYTES_OF_A_PAIR = 300
_BYTES_OF_A_STATE = 900
_BYTES_OF_AN_EFFECT = 200


@dataclass(frozen=True)
class Seeing:
    """A machine, its observer, and what the one shows the other.

    ``room`` has the observer's conditions that bound what it follows, as in
    ``follow.Follower``; ``rule`` is the id of the rule at which a refusal is looked for, or empty
    for any refusal; ``among`` has the ids of those at which one is looked for, or is empty: a run
    that is refused by no rule of them ends there, and breaks nothing. ``max_states`` bounds a set
    of candidates. With ``within`` a step of the machine that leaves its ranges is not followed.
    """

    machine: BoundMachine
    observer: BoundMachine
    view: type[View[Any]]
    room: frozenset[str] = frozenset()
    rule: str = ""
    among: frozenset[str] = frozenset()
    max_states: int = STATES_MAX
    within: bool = False


@dataclass(frozen=True)
class _Edge:
    """A step of the machine (None where the observer asks), what it shows, where it leads."""

    step: Step | None
    shows: tuple[Seen, ...]
    target: int


class Side:
    """The machine's states with what the view remembers, and the steps from each."""

    def __init__(self, seeing: Seeing) -> None:
        bound = seeing.machine
        check_view(seeing.view, bound.machine)
        self._observer = seeing.observer.machine
        self._view = seeing.view()
        self._interpreter = bound.interpreter
        self._after = Interpreter(bound.machine, bound.constants)
        self._steps = self._interpreter.steps()
        self._effects = Effects(self._interpreter)
        self._within = seeing.within
        initial = self._interpreter.initial()
        self.begins = self._shown(self._view.begins(self._interpreter.look(initial)))
        self._states: list[tuple[Packed, Hashable]] = [
            (self._effects.pack(initial), self._view.history)]
        self._numbers = {self._states[0]: 0}
        self._rows: dict[int, list[_Edge]] = {}
        self._steps_from: dict[int, list[_Edge]] = {}
        self._looks_away: set[int] = set()      # where a step is possible that is left out
        self._silent: dict[int, frozenset[int] | None] = {}
        self._is_asked_at_rest = type(self._view).at_rest is not View.at_rest

    @property
    def memory(self) -> int:
        """Bytes that the states and what is learnt of them take, about."""
        return len(self._states) * _BYTES_OF_A_STATE + self._effects.size * _BYTES_OF_AN_EFFECT

    def row(self, here: int) -> list[_Edge]:
        """The edges from a state, first what may be asked."""
        found = self._rows.get(here)
        if found is None:
            found = self._rows[here] = [*self._asked(here), *self._taken(here)]
        return found

    def rests(self, here: int) -> bool:
        """True if the machine can take no step at all in a state, or cycles forever in some that
        show nothing: from outside the two cannot be told apart."""
        silent = self._silent_from(here)
        return silent is not None and all(
            here in (self._silent_from(there) or ()) for there in silent)

    def _silent_from(self, here: int) -> frozenset[int] | None:
        """The states that can follow, this one with them; None if one of them can show more."""
        if here not in self._silent:
            self._silent[here] = self._found_silent(here)
        return self._silent[here]

    def _found_silent(self, here: int) -> frozenset[int] | None:
        found: dict[int, None] = {here: None}
        todo = [here]
        for place in todo:
            edges = self._taken(place)
            if self._silent.get(place, ()) is None or place in self._looks_away or any(
                    edge.shows for edge in edges) or len(todo) > _SILENT_AT_MOST:
                return None
            for edge in edges:
                if edge.target not in found:
                    found[edge.target] = None
                    todo.append(edge.target)
        return frozenset(found)

    def _asked(self, here: int) -> Iterator[_Edge]:
        packed, self._view.history = self._states[here]
        state = self._effects.unpack(packed)
        self._view.enabled = frozenset(
            step[0] for step in self._steps
            if not isinstance(after := self._step(packed, step), Refusal)
            and after != packed)
        questions = list(self._view.asked(self._interpreter.look(state)))
        if self._is_asked_at_rest and self.rests(here):
            self._view.history = self._states[here][1]
            questions += self._view.at_rest(self._interpreter.look(state))
        for question in questions:
            yield _Edge(None, self._shown(question), here)

    def _taken(self, here: int) -> list[_Edge]:
        """The steps that the machine can take in a state, and that the observer looks on at."""
        found = self._steps_from.get(here)
        if found is None:
            found = self._steps_from[here] = list(self._steps_of(here))
        return found

    def _steps_of(self, here: int) -> Iterator[_Edge]:
        packed, history = self._states[here]
        state = self._effects.unpack(packed)
        self._view.history = history
        machine = self._interpreter.look(state)
        followed = {name for name in {name for name, _ in self._steps}
                    if self._view.follows(machine, name)}
        for step in self._steps:
            after = self._step(packed, step)
            if after is None:
                self._looks_away.add(here)
                continue
            if isinstance(after, Refusal):
                continue
            self._view.history = history
            shows = self._shown_by(state, step, after) if step[0] in followed else None
            if shows is None:
                self._looks_away.add(here)
                continue
            target = self._number(after, self._view.history)
            if shows or target != here:
                yield _Edge(step, shows, target)

    def _step(self, packed: Packed, step: Step) -> Packed | Refusal | None:
        """Where a step leads; None if that is out of the ranges, and not to be followed."""
        try:
            return self._effects.step(packed, step)
        except ModelFault:
            if self._within:
                return None
            raise

    def _shown_by(self, state: State, step: Step, after: Packed) -> tuple[Seen, ...] | None:
        """The observer's steps that a step shows; None if it is left out."""
        method = self._view.shows_actions.get(step[0])
        if method is None:
            return self._shown(step) if step[0] in self._view.same else ()
        before = self._interpreter.look(state)
        now = self._after.look(self._effects.unpack(after))
        found = method(self._view, before, now, **dict(step[1]))
        return None if found is LEFT_OUT else self._shown(found)

    def _shown(self, found: object) -> tuple[Seen, ...]:
        return steps_of(found, self._observer)

    def _number(self, packed: Packed, history: Hashable) -> int:
        key = packed, history
        number = self._numbers.setdefault(key, len(self._states))
        if number == len(self._states):
            self._states.append(key)
        return number


@dataclass
class _Search:
    """Pairs in breadth-first order. ``stopped_by`` says which budget ended it, if one did; ``cut``
    that somewhere the candidates were too many; ``refused`` is the refusal that was looked for,
    with the edges that lead to it."""

    pairs: list[tuple[int, int]] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    via: list[_Edge | None] = field(default_factory=list)
    transitions: int = 0
    stopped_by: str = ""
    cut: bool = False
    refused: tuple[list[_Edge], Failure] | None = None

    def path(self, index: int) -> list[_Edge]:
        """The edges that lead to a pair."""
        edges: list[_Edge] = []
        edge = self.via[index]
        while edge is not None:
            edges.append(edge)
            index = self.parent[index]
            edge = self.via[index]
        return edges[::-1]

    def depth(self) -> int:
        """The depth of the pair that was found last."""
        return len(self.path(len(self.pairs) - 1)) if self.pairs else 0


def decide(seeing: Seeing, budget: Budget | None = None) -> Verdict:
    """Decide whether the observer explains every run: holds, or violated with the shortest that it
    does not explain (by ``seeing.rule``, if one is named).

    Unknown where a budget is spent, or the observer's candidates are too many. Raises InputError
    for a view that does not fit, ModelFault where either machine leaves its ranges.
    """
    budget = (budget or Budget()).start()
    began = budget.deadline.spent()
    side, follower = Side(seeing), Follower(seeing.observer, seeing.room, seeing.max_states)
    search = _search(seeing, side, follower, budget)
    found = _verdict(seeing, search, side, follower)
    return replace(found, seconds=budget.deadline.spent() - began)


def _search(seeing: Seeing, side: Side, follower: Follower, budget: Budget) -> _Search:
    """Search the pairs of a state of the mechanism and the observer's candidates after what it
    showed, breadth first, until the observer refuses, all pairs are seen, or a budget is spent."""
    search = _Search()
    seen: dict[tuple[int, int], int] = {}

    def reach(pair: tuple[int, int], parent: int, edge: _Edge | None) -> None:
        if seen.setdefault(pair, len(search.pairs)) == len(search.pairs):
            search.pairs.append(pair)
            search.parent.append(parent)
            search.via.append(edge)

    first = _follow(follower, follower.start, side.begins)
    if first < 0:
        return _ends(search, seeing, follower, first, [_Edge(None, side.begins, 0)])
    reach((0, first), -1, None)
    here = 0
    while here < len(search.pairs):
        search.stopped_by = _spent(budget, len(search.pairs), side)
        if search.stopped_by:
            break
        state, candidates = search.pairs[here]
        for edge in side.row(state):
            search.transitions += 1
            found = _follow(follower, candidates, edge.shows)
            if found >= 0:
                reach((edge.target, found), here, edge)
            elif _ends(search, seeing, follower, found, (here, edge)).refused is not None:
                return search
        here += 1
    return search


def _follow(follower: Follower, candidates: int, shows: Sequence[Seen]) -> int:
    for step in shows:
        if candidates < 0:
            break
        candidates = follower.take(candidates, step)
    return candidates


def _ends(
    search: _Search, seeing: Seeing, follower: Follower, found: int,
    way: list[_Edge] | tuple[int, _Edge],
) -> _Search:
    """Note why a way ends here: cut, out of room, or refused."""
    if found == LOST:
        search.cut = True
    elif found < ROOM_ENDS:
        failure = follower.failure(found)
        by = failure.rule.id if failure.rule is not None else ""
        if seeing.rule in ("", by) and (not seeing.among or by in seeing.among):
            edges = way if isinstance(way, list) else [*search.path(way[0]), way[1]]
            search.refused = edges, failure
    return search


def _spent(budget: Budget, pairs: int, side: Side) -> str:
    if budget.deadline.passed():
        return "time"
    if budget.max_states is not None and pairs > budget.max_states:
        return "states"
    memory = pairs * _BYTES_OF_A_PAIR + side.memory
    over = budget.max_memory is not None and memory > budget.max_memory
    return "memory" if over or meter().is_over() else ""


# --- the verdict ------------------------------------------------------------------------------

def _verdict(seeing: Seeing, search: _Search, side: Side, follower: Follower) -> Verdict:
    count = len(search.pairs)
    base = Verdict(
        Outcome.HOLDS, "exhaustive product", count, search.transitions, search.depth(),
        shown=tuple(sorted(follower.seen.items())))
    if search.refused is not None:
        return _violated(seeing, search.refused, side, base)
    covered = f"{counted(count, 'pair')} of state and candidates"
    if search.stopped_by:
        return _unknown(base, f"the budget of {search.stopped_by} was spent after {covered}")
    if search.cut:
        return _unknown(
            base, f"the observer could be in more than {counted(seeing.max_states, 'state')}, "
            f"and what follows was not judged; {covered} were")
    return base


def _unknown(base: Verdict, reason: str) -> Verdict:
    return replace(base, outcome=Outcome.UNKNOWN, method="product, incomplete", reason=reason)


def _violated(
    seeing: Seeing, refused: tuple[list[_Edge], Failure], side: Side, base: Verdict
) -> Verdict:
    edges, failure = refused
    trace = _replayed(seeing, edges, side.begins, failure)
    return replace(
        base, outcome=Outcome.VIOLATED, method="product, up to the refusal", trace=trace,
        reason=_in_words(seeing, failure))


def _in_words(seeing: Seeing, failure: Failure) -> str:
    which = ("a condition that cites no rule" if failure.rule is None
             else f"{failure.rule.id}: {failure.rule.statement.rstrip('.')}")
    return (f"{seeing.observer.machine.__name__} refuses {failure.observation} by {which}; "
            f"false is {failure.conjunct}")


def _replayed(
    seeing: Seeing, edges: Sequence[_Edge], begins: Sequence[Seen], failure: Failure
) -> Trace:
    """The run, taken again by the interpreter, and watched by a monitor that knows nothing of it.

    Raises InternalError unless its last observation is refused, and no other, by the same rule.
    """
    interpreter = Interpreter(seeing.machine.machine, seeing.machine.constants)
    monitor = Monitor(seeing.observer, seeing.max_states)
    state, found, steps = interpreter.initial(), None, list[TraceStep]()
    initial = Slots(interpreter.layout, state)
    for seen in begins:
        found = found or monitor.observe([seen])
    for number, edge in enumerate(edges):
        if found is not None and number > 0:
            raise _disagreement(seeing, edges, "a step before the last one is refused")
        name, args = edge.step or (ASKED, ())
        after = state if edge.step is None else interpreter.step(state, name, args)
        if after is None:
            raise _disagreement(seeing, edges, f"{show_step(name, args)} is disabled")
        state = after
        shows = []
        for seen in edge.shows if found is None else ():
            shows.append(show_step(*seen))
            found = monitor.observe([seen])
            if found is not None:
                break
        steps.append(TraceStep(name, args, Slots(interpreter.layout, state), tuple(shows)))
    if found is None or found.rule is not failure.rule:
        raise _disagreement(seeing, edges, "its last step is not refused by the same rule")
    return Trace(initial, tuple(steps))


def _disagreement(seeing: Seeing, edges: Sequence[_Edge], what: str) -> InternalError:
    labels = ", ".join(show_step(*(edge.step or (ASKED, ()))) for edge in edges)
    return InternalError(
        f"a run of {seeing.machine.machine.__name__} that {seeing.observer.machine.__name__} does "
        f"not explain does not replay ({what}): {labels}",
        next_step="Please report this with the machine and the command.",
    )
