"""Deadlock decided by equations, which are asked until they say no or nothing more is known.

A state that the equations leave open is a *candidate*. A run is tried that leads to it, or to
another deadlocked state on the way; or a clause is looked for that excludes it, and the question is
asked again. Where there is neither the answer is unknown, and names the candidate.
"""

from __future__ import annotations

import math
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...notation.labels import counted
from ...verdicts.deadline import Deadline
from ..net.counters import AIM, Counters
from ..net.invariants import Equation
from ..net.rows import Table
from ..net.translate import translate
from ..reading.language import Design
from .confluence import Only, only_run
from .equations import Equations, GaveUp
from .legs import Leg, steps_in
from .lemmas import Clause, barrier, descent, trap
from .pursuit import amounts, falling, pursue

__all__ = ["Answer", "decide"]

ROUNDS = 60
"""The most candidates that are excluded one by one."""
MAX_WEIGHED = 600
"""Transitions of a net in which weights are looked for as unknowns of the solver."""


@dataclass(frozen=True)
class Answer:
    """The answer of the equations: ``deadlock_free`` is proved, or ``legs`` of transitions lead to
    a deadlocked state, or else ``reason`` says what is open.

    ``only`` is the run that decided a design without choice; then nothing else was needed.
    ``sums`` and ``clauses`` hold in every reachable state of ``net``, whatever the answer;
    ``candidate`` is the marking of ``table`` that was left open, if there is one.
    """

    deadlock_free: bool
    table: Table
    net: Counters
    sums: tuple[tuple[Equation, int], ...]
    clauses: tuple[Clause, ...]
    candidate: Mapping[str, int] | None = None
    reason: str = ""
    legs: tuple[Leg, ...] | None = None
    only: Only | None = None

    @property
    def method(self) -> str:
        """The argument by which the design is proved never to deadlock."""
        if self.only is None:
            return f"{self._excluded}, for every scheduling"
        steps = counted(steps_in(self.only.legs), "step")
        ends = (f"one full round of {steps} completes" if self.only.returns
                else f"one run of {steps} ends with all work done")
        return f"steps never compete, so their order cannot matter; {ends}"

    @property
    def _excluded(self) -> str:
        told = self._facts
        rule = "rules" if len(told) == 1 and told[0].startswith("1 ") else "rule"
        return (f"{' and '.join(told)} {rule} out every deadlocked state" if told
                else "no state has all tasks blocked")

    @property
    def _facts(self) -> list[str]:
        """The facts that rule out deadlocked states, as numbers of one kind each."""
        sums = sum(len(weights) > 1 for weights, _ in self.sums)
        shapes = Tally(clause.shape for clause in self.clauses)
        return [*([counted(sums, "invariant")] if sums else []),
                *(counted(number, shape) for shape, number in sorted(shapes.items()))]

    @property
    def used(self) -> str:
        """The facts that the answer rests on, as a noun phrase."""
        return ", ".join(self._facts) or "no invariant"


def decide(design: Design, deadline: Deadline | None = None) -> Answer:
    """Decide whether one connected part of a design can deadlock, by its structure alone.

    Raises OutOfTime where the deadline passes between two steps.
    """
    deadline = deadline or Deadline()
    watch = deadline.watch("solving the equations of deadlocked states")
    watch()
    table = translate(design, AIM, watch)
    net = Counters.of(table, watch)
    only = only_run(net, watch)
    if only is not None:
        return Answer(not only.is_deadlocked, table, net, (), (), only=only,
                      legs=only.legs if only.is_deadlocked else None)
    equations = Equations(net, watch)
    clauses: list[Clause] = []
    state: Sequence[int] | None = None

    def answer(proved: bool, reason: str = "") -> Answer:
        return Answer(proved, table, net, tuple(equations.sums), tuple(clauses),
                      None if state is None else net.marking(state), reason)

    for _ in range(ROUNDS):
        watch()
        try:
            state = equations.deadlocked(_milliseconds(deadline))
        except GaveUp as told:
            watch()
            return answer(False, f"the solver gave up: {told}")
        if state is None:
            return answer(True)
        clause, legs = _followed(net, state, deadline)
        if legs is not None:
            return replace(answer(False, "a run deadlocks"), legs=legs)
        if clause is None:
            return answer(False, "a deadlocked state is left open")
        clauses.append(clause)
        equations.add(clause)
    return answer(False, f"{ROUNDS} deadlocked states were excluded, and more are left")


def _followed(
    net: Counters, state: Sequence[int], deadline: Deadline
) -> tuple[Clause | None, tuple[Leg, ...] | None]:
    """A clause that excludes the state, the first of the shapes that does; or a run that deadlocks
    there, or on the way there."""
    watch = deadline.watch("looking for what excludes a deadlocked state")
    small = len(net.transitions) <= MAX_WEIGHED
    amount = amounts(net, state, _seconds(deadline))
    watch()
    # Where amounts lead there no sum that no transition raises excludes it.
    found = descent(net, state, _milliseconds(deadline)) if small and amount is None else None
    watch()
    if found is not None:
        return found, None
    run = None if amount is None else pursue(net, amount, watch)
    if run is not None and run.is_deadlocked(net):
        return None, run.legs
    if amount is None and not small:
        found = falling(net, state, _seconds(deadline))
        watch()
    found = found or trap(net, state, watch)
    watch()
    return found or (barrier(net, state, _milliseconds(deadline)) if small else None), None


def _seconds(deadline: Deadline) -> float | None:
    left = deadline.left()
    return None if math.isinf(left) else left


def _milliseconds(deadline: Deadline) -> int | None:
    left = _seconds(deadline)
    return None if left is None else int(left * 1000)
