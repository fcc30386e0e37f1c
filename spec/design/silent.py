"""Whether some tasks can be silent while others go on: the rules of ``standstill`` as equations.

Here a reason is also a statement about the marking: who waits for room waits at a full link, and
who waits for data at an empty one. So the rules are asked of Z3 together with the sums that no step
changes. If no marking and no set of tasks satisfies them, no task can stop unless all of them do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .counters import NO_MOST
from .invariants import conserved
from .language import Design
from .rows import Row
from .standstill import Agent, Silence, Standstill
from .supply import guards

__all__ = ["ask_equations"]

EFFORT = 20_000_000
"""What the solver may do, in its own units (a few seconds)."""


def ask_equations(design: Design, watch: Callable[[], object] = lambda: None) -> Standstill:
    """What the equations say of the silent sets of a connected design."""
    import z3
    context = z3.Context()
    solver = z3.SimpleSolver(ctx=context)
    solver.set("rlimit", EFFORT)
    silence = Silence.of(design, watch)
    asked = _Asked(silence, solver, context)
    asked.markings()
    asked.supplies()
    for agent in silence.moves:
        watch()
        asked.reasons(agent)
    answer = solver.check()
    if answer == z3.unsat:
        return Standstill(True)
    if answer == z3.unknown:
        return Standstill(False, tuple(design.tasks))
    model = solver.model()
    return Standstill(False, tuple(
        task for task in design.tasks if z3.is_true(model.eval(asked.silent[task], True))))


class _Asked:
    """A Boolean for each agent that is silent and each row that has moved for the last time, and
    the tokens in each place."""

    def __init__(self, silence: Silence, solver: Any, context: Any) -> None:
        import z3
        self.z3, self.silence, self.solver = z3, silence, solver
        self.context = context
        places = silence.table.places
        self.tokens = {p.name: z3.Int(f"m{n}", context) for n, p in enumerate(places)}
        self.silent: dict[Agent, Any] = {
            agent: z3.Bool(f"s{n}", context) for n, agent in enumerate(silence.moves)}
        self.ended = [z3.Bool(f"e{n}", context) for n in range(len(silence.rows))]
        solver.add(z3.Or([self.silent[task] for task in silence.tasks]))
        solver.add(z3.Not(z3.And(list(self.silent.values()))))

    def markings(self) -> None:
        """Each place is within its range, and keeps every sum that no step changes."""
        table = self.silence.table
        for place in table.places:
            here = self.tokens[place.name]
            self.solver.add(here >= 0)
            if place.most < NO_MOST:
                self.solver.add(here <= place.most)
        for law in (*table.invariants, *conserved(table)):
            self.solver.add(self.z3.Sum(
                [k * self.tokens[p] for p, k in law.weights.items()]) == law.total)

    def supplies(self) -> None:
        """Who is silent, and who uses up what nobody gives, moves no more."""
        z3, silence = self.z3, self.silence
        for number, row in enumerate(silence.rows):
            for agent in silence.agents[number]:
                self.solver.add(z3.Implies(self.silent[agent], self.ended[number]))
            for place, by in row.effect.change.items():
                if by < 0 or silence.most[place] < NO_MOST:
                    givers = silence.giving.get((place, -1 if by > 0 else 1), ())
                    self.solver.add(z3.Implies(
                        z3.And([z3.BoolVal(True, self.context), *(self.ended[n] for n in givers)]),
                        self.ended[number]))
        for agent, mine in silence.moves.items():
            if mine:
                self.solver.add(z3.Implies(
                    z3.And([self.ended[n] for n in mine]), self.silent[agent]))

    def reasons(self, agent: Agent) -> None:
        """No step of a silent agent is possible; and one that lacks something does so for ever."""
        silence = self.silence
        for number in silence.moves[agent]:
            row = silence.rows[number]
            known = (silence.reasons_of_row(agent, row)
                     if row.effect.fair and silence.needs_a_reason(agent) else None)
            lacks = [self._lacks(row, each, known) for each in guards(row)]
            self.solver.add(self.z3.Implies(
                self.silent[agent],
                self.z3.Or([self.z3.BoolVal(False, self.context), *lacks])))

    def _lacks(
        self, row: Row, guard: tuple[str, int, bool],
        known: dict[tuple[str, int, bool], frozenset[Agent]] | None,
    ) -> Any:
        place, needed, up = guard
        here = self.tokens[place]
        lacked = here < needed if up else here > needed
        if known is None or guard not in known:
            return lacked
        return self.z3.And(lacked, *(self.silent[other] for other in known[guard]))
