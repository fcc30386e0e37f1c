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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple

from ..notation.bound import BoundMachine
from ..notation.interpreter import Args, Interpreter, State, Step, show_step
from ..notation.rules import Rule
from ..notation.source import syntax_of_file
from ..notation.types import Disabled
from .candidates import STATES_MAX, Candidates, CandidateSets, LostTrack, lost_track

__all__ = ["STATES_MAX", "Failure", "LostTrack", "Monitor", "failure_of", "why_refused"]


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
    beyond it the run is undecided, ``overflowed`` is true, and whatever is asked raises
    ``LostTrack``.

    ``sets`` may be those of other runs of the same machine: what they found out is used again.
    """

    def __init__(
        self, bound: BoundMachine, max_states: int = STATES_MAX, sets: CandidateSets | None = None
    ) -> None:
        self.sets = sets or CandidateSets(bound, max_states)
        self.observed = 0
        self._here: Candidates | None
        try:
            self._here = self.sets.initial
        except LostTrack:
            self._here = None

    @property
    def overflowed(self) -> bool:
        """True if the candidates are more than may be held."""
        return self._here is None

    @property
    def here(self) -> Candidates:
        """The set of candidates. Raises ``LostTrack`` where it became too large."""
        if self._here is None:
            raise lost_track(self.sets.max_states)
        return self._here

    @property
    def states(self) -> frozenset[State]:
        """The candidates, as the interpreter has them. Raises ``LostTrack`` as ``here`` does."""
        return self.here.states

    def observe(self, alternatives: Sequence[Step]) -> Failure | None:
        """Take one observation; ``alternatives`` are the actions that could explain it.

        Returns None while some state explains the run, otherwise the failure; after a
        failure the states are those from before it. Raises ``LostTrack`` if the states were,
        or become, more than ``max_states``.
        """
        here = self.here
        try:
            after = self.sets.after_any(here, alternatives)
        except LostTrack:
            self._here = None
            raise
        if after is None:
            return why_refused(
                self.sets.bound.interpreter, here.states, alternatives, self.observed)
        self.observed += 1
        self._here = after
        return None

    def follows(self, step: Step) -> bool:
        """True if it is remembered where a step leads, and it is taken. If not, ``observe``
        finds out; so most steps of a long run take one look."""
        after = None if self._here is None else self._here.known_after(step)
        if after is None:
            return False
        self.observed += 1
        self._here = after
        return True

    def allowed(self, steps: Iterable[Step]) -> list[Step]:
        """Those of some steps that at least one candidate state could take.

        Raises ``LostTrack`` as ``observe`` does.
        """
        here = self.here
        return [step for step in steps if self.sets.refused(here, step) is None]

    def accepts(self, steps: Iterable[Step]) -> bool:
        """True if some steps could be observed next, one after the other. Nothing is changed.

        False where it is undecided, for the states are too many.
        """
        return self._here is not None and self.sets.accepts(self._here, steps)


def why_refused(
    interpreter: Interpreter, states: Iterable[State], alternatives: Sequence[Step], observed: int
) -> Failure:
    """Why none of some states takes any of some steps, observed next after ``observed`` others.

    The failure of the guard that came furthest, one that cites a rule if any does. This asks
    the interpreter again, from every state, for it knows the lines of the text.
    """
    best: tuple[tuple[bool, int], Failure] | None = None
    for state in sorted(states, key=lambda each: tuple(interpreter.slots(each).values())):
        for name, args in alternatives:
            reason = interpreter.attempt(state, name, args)
            if reason is None:
                continue
            failure = failure_of(reason, name, args, observed)
            line = int(failure.where.rpartition(":")[2] or 0)
            rank = (failure.rule is not None, line)
            if best is None or rank > best[0]:
                best = rank, failure
    if best is None:
        return Failure(None, "", "", "nothing explains the observation", observed)
    return best[1]


def failure_of(reason: Disabled, name: str, args: Args, observed: int) -> Failure:
    """The failure of the guard that refused a step, observed next after ``observed`` others."""
    frame, line = _guarding_frame(reason.__traceback__)
    conjunct = _false_conjunct(frame, line)
    where = f"{frame.f_code.co_filename}:{line}"
    # Its frames, and those that called them, are a cycle that holds whatever they work on.
    reason.__traceback__ = None
    return Failure(reason.rule, conjunct, where, show_step(name, args), observed)


def _guarding_frame(traceback: TracebackType | None) -> tuple[FrameType, int]:
    """The frame that called ``require`` (or ``pop``), and the line of that call."""
    frames = []
    while traceback is not None:
        frames.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return frames[-2]


def _false_conjunct(frame: FrameType, line: int) -> str:
    """The source of the first conjunct that is false in a ``require`` at a line."""
    guard = _guard_at(frame.f_code.co_filename, line)
    names = {**frame.f_globals, **frame.f_locals}
    for code, text in guard.conjuncts:
        if not eval(code, names):  # noqa: S307 - the chapter's own source, evaluated again
            return text
    return guard.text


class _Guard(NamedTuple):
    """The guard that disables an action: conjuncts, as code and as text, and the text that is
    reported where none of them is false by itself."""

    conjuncts: tuple[tuple[CodeType, str], ...]
    text: str


@cache
def _guard_at(file: str, line: int) -> _Guard:
    """The ``require`` or the ``pop`` of a line, looked for once: whole files are walked through."""
    for node in ast.walk(syntax_of_file(file)):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or line):
            if isinstance(node.func, ast.Name) and node.func.id == "require":
                return _guard_of(node.args[0])
            if isinstance(node.func, ast.Attribute) and node.func.attr == "pop":
                return _Guard((), f"{ast.unparse(node.func.value)} is not empty")
    return _Guard((), "")


def _guard_of(condition: ast.expr) -> _Guard:
    conjunction = isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And)
    parts = condition.values if conjunction else [condition]  # type: ignore[attr-defined]
    return _Guard(
        tuple((compile(ast.Expression(part), "<conjunct>", "eval"), ast.unparse(part))
              for part in parts), ast.unparse(condition))
