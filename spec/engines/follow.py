"""An observer's machine as a table: sets of candidate states, and where an observation leads.

The candidate sets do the work. Here each has a number, and what an observation makes of it is
asked once. A search that meets the same set in many states of another machine then looks up one
number.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import Final

from ..notation.bound import BoundMachine
from ..notation.interpreter import Step
from ..notation.machine import Machine
from ..notation.source import syntax_of_file
from .candidates import STATES_MAX, Candidates, CandidateSets, LostTrack
from .monitor import Failure, why_refused

__all__ = ["LOST", "ROOM_ENDS", "Follower", "conditions_without_rule"]

LOST: Final = -1
"""The candidates became more than may be held: what follows is not judged."""
ROOM_ENDS: Final = -2
"""The observer has no room for the step: the run continues beyond what it follows."""


class Follower:
    """The sets of candidates of an observer, by number; 0 is that of an empty run.

    ``room`` has the conditions, as text, that bound what the observer follows: where nothing but
    one of them keeps a candidate from a step, the run is at its end, and breaks nothing.
    ``max_states`` bounds a set.
    """

    def __init__(
        self, bound: BoundMachine, room: frozenset[str] = frozenset(),
        max_states: int = STATES_MAX,
    ) -> None:
        # All of them are kept: a set has to stay one object, and the search bounds itself.
        self._of = CandidateSets(bound, max_states, kept=None)
        self._room = room
        self._sets: list[Candidates] = []
        self._numbers: dict[Candidates, int] = {}
        self._after: dict[tuple[int, Step], int] = {}
        self._refusals: list[Failure] = []
        try:
            self.start = self._number(self._of.initial)
        except LostTrack:
            self.start = LOST
        self.seen: dict[str, int] = {}

    def take(self, number: int, step: Step) -> int:
        """The number of the set after an observation; LOST, ROOM_ENDS, or below these what
        ``failure`` explains."""
        key = number, step
        found = self._after.get(key)
        if found is None:
            found = self._after[key] = self._observe(self._sets[number], step)
        if found >= 0:
            self.seen[step[0]] = self.seen.get(step[0], 0) + 1
        return found

    def failure(self, number: int) -> Failure:
        """Why a step was refused, by the number that ``take`` gave."""
        return self._refusals[ROOM_ENDS - 1 - number]

    @property
    def sets(self) -> int:
        """The number of sets that were met."""
        return len(self._sets)

    def _observe(self, here: Candidates, step: Step) -> int:
        try:
            after = self._of.after(here, step)
        except LostTrack:
            return LOST
        if after is not None:
            return self._number(after)
        if self._is_out_of_room(here, step):
            return ROOM_ENDS
        self._refusals.append(why_refused(self._of.bound.interpreter, here.states, [step], 0))
        return ROOM_ENDS - len(self._refusals)

    def _number(self, found: Candidates) -> int:
        number = self._numbers.setdefault(found, len(self._sets))
        if number == len(self._sets):
            self._sets.append(found)
        return number

    def _is_out_of_room(self, here: Candidates, step: Step) -> bool:
        """True if a candidate would have taken the step, had it had the room."""
        if not self._room:
            return False
        alone = (why_refused(self._of.bound.interpreter, [state], [step], 0)
                 for state in here.states)
        return any(found.rule is None and found.conjunct in self._room for found in alone)


def conditions_without_rule(observer: type[Machine]) -> tuple[str, ...]:
    """The conditions that an observer's machine requires without citing a rule, as text."""
    return _conditions_in(tuple(dict.fromkeys(_file_of(base) for base in observer.__mro__)))


@cache
def _conditions_in(files: tuple[str, ...]) -> tuple[str, ...]:
    """Once for each observer, though it may be tied to many machines."""
    found: dict[str, None] = {}
    for file in files:
        for node in ast.walk(syntax_of_file(file)) if file else ():
            if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                    and node.func.id == "require" and len(node.args) == 1):
                found |= dict.fromkeys(ast.unparse(part) for part in _conjuncts(node.args[0]))
    return tuple(found)


def _file_of(base: type) -> str:
    """The file of a chapter's class; empty for what no chapter defines."""
    code = next((value.__code__ for value in vars(base).values()
                 if hasattr(value, "__checkvalve_action__")), None)
    return "" if code is None else str(code.co_filename)


def _conjuncts(condition: ast.expr) -> list[ast.expr]:
    is_and = isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And)
    return list(condition.values) if is_and else [condition]  # type: ignore[attr-defined]
