"""The monitor: which states of a machine are consistent with what was observed.

Theory of operation. An implementation shows some of its steps (what was asked and what it
answered) and hides others (the machine's internal actions). The monitor keeps the set of
all states that the machine can be in after the observations so far, closed under internal
actions. Each observation maps every state through the actions that could explain it. When
the set becomes empty, no run of the machine explains what was seen, and the prefix that
ends here is the shortest that shows it. The guard that kept the last candidates from
taking the step names the rule that was broken, and its first false conjunct says how.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Final

from ..notation.bound import BoundMachine
from ..notation.rules import Rule
from ..notation.source import syntax_of_file
from ..notation.types import Disabled
from .interpreter import Args, State, Step, show_step

__all__ = ["STATES_MAX", "Failure", "LostTrack", "Monitor"]

STATES_MAX: Final = 100_000
"""States that a monitor holds at most, where nobody asks for more or fewer."""


class LostTrack(Exception):
    """More states explain a run than a monitor may hold: from here on, it is undecided.

    An exception, and not a mark on the monitor: whoever passes over it gets no verdict.
    """


@dataclass(frozen=True)
class Failure:
    """Why no state of the machine explains an observation.

    ``rule`` is the guard rule that was broken (None where the failing guard cites none),
    ``conjunct`` the source text of the condition that is false, ``where`` its file and
    line, ``observation`` the step that could not be taken, ``step`` the number of
    observations before it.
    """

    rule: Rule | None
    conjunct: str
    where: str
    observation: str
    step: int


class Monitor:
    """Follows one run of an implementation. ``max_states`` bounds the set of candidates:
    beyond it the run is undecided, ``overflowed`` is true, and observing raises ``LostTrack``."""

    def __init__(self, bound: BoundMachine, max_states: int = STATES_MAX) -> None:
        self.interpreter = bound.interpreter
        self.max_states = max_states
        self.overflowed = False
        self.observed = 0
        actions = self.interpreter.machine.actions_declared
        self._internal = [s for s in self.interpreter.steps() if actions[s[0]].internal]
        self.states: frozenset[State] = self._close({self.interpreter.initial()})

    def observe(self, alternatives: Sequence[Step]) -> Failure | None:
        """Take one observation; ``alternatives`` are the actions that could explain it.

        Returns None while some state explains the run, otherwise the failure; after a
        failure the states are those from before it. Raises ``LostTrack`` if the states were,
        or become, more than ``max_states``.
        """
        self._check_track()
        reached = {
            after
            for state in self.states
            for name, args in alternatives
            if (after := self.interpreter.step(state, name, args)) is not None
        }
        if not reached:
            return self._explain(alternatives)
        self.observed += 1
        self.states = self._close(reached)
        self._check_track()
        return None

    def allowed(self, steps: Iterable[Step]) -> list[Step]:
        """Those of some steps that at least one candidate state could take.

        Raises ``LostTrack`` as ``observe`` does.
        """
        self._check_track()
        return [
            step for step in steps
            if any(self.interpreter.step(state, *step) is not None for state in self.states)
        ]

    def accepts(self, steps: Iterable[Step]) -> bool:
        """Whether some steps could be observed next, one after the other. Nothing is changed.

        False where it cannot be said, for the states are too many.
        """
        trial = copy.copy(self)
        for name, args in steps:
            reached = {
                after for state in trial.states
                if (after := self.interpreter.step(state, name, args)) is not None
            }
            if not reached or trial.overflowed:
                return False
            trial.states = trial._close(reached)
        return True

    def _check_track(self) -> None:
        if self.overflowed:
            raise LostTrack(f"more than {self.max_states} states explain what was seen")

    def _close(self, states: set[State]) -> frozenset[State]:
        """The states with all that internal actions can make of them."""
        todo = list(states)
        while todo:
            state = todo.pop()
            for step in self._internal:
                after = self.interpreter.step(state, *step)
                if after is not None and after not in states:
                    states.add(after)
                    todo.append(after)
            if len(states) > self.max_states:
                self.overflowed = True
                break
        return frozenset(states)

    def _explain(self, alternatives: Sequence[Step]) -> Failure:
        """The failure of the guard that came furthest, one that cites a rule if any does."""
        best: tuple[tuple[bool, int], Failure] | None = None
        for state in sorted(self.states, key=repr):
            for name, args in alternatives:
                reason = self.interpreter.attempt(state, name, args)
                if reason is None:
                    continue
                failure = self._failure(reason, name, args)
                line = int(failure.where.rpartition(":")[2] or 0)
                rank = (failure.rule is not None, line)
                if best is None or rank > best[0]:
                    best = rank, failure
        if best is None:
            return Failure(None, "", "", "nothing explains the observation", self.observed)
        return best[1]

    def _failure(self, reason: Disabled, name: str, args: Args) -> Failure:
        frame, line = _guarding_frame(reason.__traceback__)
        conjunct = _false_conjunct(frame, line)
        where = f"{frame.f_code.co_filename}:{line}"
        return Failure(reason.rule, conjunct, where, show_step(name, args), self.observed)


def _guarding_frame(traceback: TracebackType | None) -> tuple[FrameType, int]:
    """The frame that called ``require`` (or ``pop``), and the line of that call."""
    frames = []
    while traceback is not None:
        frames.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return frames[-2]


def _false_conjunct(frame: FrameType, line: int) -> str:
    """The source of the first conjunct that is false in a ``require`` at a line."""
    for node in ast.walk(syntax_of_file(frame.f_code.co_filename)):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or line):
            if isinstance(node.func, ast.Name) and node.func.id == "require":
                return _first_false(node.args[0], {**frame.f_globals, **frame.f_locals})
            if isinstance(node.func, ast.Attribute) and node.func.attr == "pop":
                return f"{ast.unparse(node.func.value)} is not empty"
    return ""


def _first_false(condition: ast.expr, names: dict[str, Any]) -> str:
    conjunction = isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And)
    parts = condition.values if conjunction else [condition]  # type: ignore[attr-defined]
    for part in parts:
        code = compile(ast.Expression(part), "<conjunct>", "eval")
        if not eval(code, dict(names)):  # noqa: S307 - the chapter's own source, evaluated again
            return ast.unparse(part)
    return ast.unparse(condition)
