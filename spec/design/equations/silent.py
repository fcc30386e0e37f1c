"""Equations for tasks that are silent while others continue: the rules of ``closure``.

Here a reason is also a statement about the marking: a task that waits for a free slot waits at a
full link, and one that waits for data at an empty one. So the rules are asked of Z3 together with
the sums that no step changes. If no marking and no set of tasks satisfies them, no task can stop
unless all of them do.

That is enough where the whole never comes to an end. Where it may, more is asked: a state in which
some tasks are *blocked forever*, whatever the others do, and a run from there that never ends, in
which some are *silent*. A blocked task is silent, and so is one that is out of supply. Only blocked
tasks need a reason, and less is a reason than before: a run that a task could continue to give
something may not be continued, and a task that is not blocked may give only once:

- A step that lacks one thing alone: a task that gives it with one transition is blocked, too, and
  one that gives it when it continues in the run, but for a last step or some, is silent.
- A step that lacks several things: for each of two of them, a task that cannot help giving it in
  the run is silent. (If others use up one of these things, that one is never the one that counts.)

If there is no such state, no run continues forever once a task is blocked, whether the whole can
deadlock or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

from ...verdicts.solver import z3_context
from ..net.counters import NO_MOST
from ..net.invariants import conserved
from ..net.rows import Row
from ..reading.language import Design
from .freed import Freed
from .closure import Agent, Guard, Silence, Closure
from .supply import Giving, guards

__all__ = ["ask_equations"]

EFFORT = 20_000_000
"""Effort of the solver, in its own units (a few seconds)."""
REASONS = (Giving.ONCE, Giving.GOING_ON, Giving.SURELY)
"""The kinds of giving that count where the whole may come to an end: in one transition, when the
task continues, and surely."""


def ask_equations(
    design: Design, watch: Callable[[], object] = lambda: None, *, may_stop: bool = False,
    freeing: bool = False,
) -> Closure:
    """The answer of the equations on the silent sets of a connected design; with ``may_stop``, of a
    design that may come to an end. With ``freeing``, runs are looked for that exclude what the
    equations leave open (``freed``)."""
    import z3
    context = z3_context()
    solver = z3.SimpleSolver(ctx=context)
    solver.set("rlimit", EFFORT)
    silence = Silence.of(design, watch)
    asked = _Asked(silence, solver, context, may_stop, watch)
    asked.markings()
    asked.supplies()
    for agent in silence.transitions:
        watch()
        asked.reasons(agent)
    answer = solver.check()
    if answer == z3.unsat:
        return Closure(True)
    if answer == z3.unknown:
        return Closure(False, tuple(design.tasks))
    model = solver.model()
    open_ones = Closure(False, tuple(
        task for task in design.tasks if z3.is_true(model.eval(asked.blocked[task], True))))
    if freeing and Freed(silence.rows, silence.transitions, solver, asked.blocked, asked.ended,
                         asked.tokens, watch).excludes(tuple(silence.tasks), may_stop):
        return Closure(True)
    return open_ones


class _Asked:
    """A Boolean for each agent that is silent and each row that has moved for the last time, and
    the tokens in each place."""

    def __init__(
        self, silence: Silence, solver: Any, context: Any, may_stop: bool,
        watch: Callable[[], object],
    ) -> None:
        import z3
        self.z3, self.silence, self.solver = z3, silence, solver
        self.context, self.watch = context, watch
        places = silence.table.places
        self.tokens = {p.name: z3.Int(f"m{n}", context) for n, p in enumerate(places)}
        self.silent: dict[Agent, Any] = {
            agent: z3.Bool(f"s{n}", context) for n, agent in enumerate(silence.transitions)}
        self.blocked = self.silent
        """The tasks that are blocked whatever the others do: all the silent ones, where a run may
        always continue."""
        self.ended = [z3.Bool(f"e{n}", context) for n in range(len(silence.rows))]
        self.may_stop = may_stop
        if may_stop:
            self.blocked = {agent: z3.Bool(f"t{n}", context)
                            for n, agent in enumerate(silence.transitions)}
            solver.add([z3.Implies(self.blocked[each], self.silent[each]) for each in self.blocked])
        solver.add(z3.Or([self.blocked[task] for task in silence.tasks]))
        solver.add(z3.Not(z3.And(list(self.silent.values()))))

    def markings(self) -> None:
        """Each place is within its range, and keeps every sum that no step changes."""
        table = self.silence.table
        for place in table.places:
            self.watch()
            here = self.tokens[place.name]
            self.solver.add(here >= 0)
            if place.most < NO_MOST:
                self.solver.add(here <= place.most)
        for law in (*table.invariants, *conserved(table, of_any_size=True, watch=self.watch)):
            self.watch()
            self.solver.add(self.z3.Sum(
                [k * self.tokens[p] for p, k in law.weights.items()]) == law.total)

    def supplies(self) -> None:
        """Assert that a silent task, and one that uses up what no task gives, takes no further
        step.
        """
        z3, silence = self.z3, self.silence
        for number, row in enumerate(silence.rows):
            self.watch()
            for agent in silence.agents[number]:
                self.solver.add(z3.Implies(self.silent[agent], self.ended[number]))
            for place, by in row.effect.change.items():
                if by < 0 or silence.most[place] < NO_MOST:
                    givers = silence.giving.get((place, -1 if by > 0 else 1), ())
                    self.solver.add(z3.Implies(
                        z3.And([z3.BoolVal(True, self.context), *(self.ended[n] for n in givers)]),
                        self.ended[number]))
        for agent, mine in silence.transitions.items():
            if mine:
                self.solver.add(z3.Implies(
                    z3.And([self.ended[n] for n in mine]), self.silent[agent]))

    def reasons(self, agent: Agent) -> None:
        """Assert that no step of a blocked agent is possible, and that one that lacks something
        does so forever."""
        silence, z3 = self.silence, self.z3
        for number in silence.transitions[agent]:
            row = silence.rows[number]
            if self.may_stop and not row.effect.fair:
                continue  # it may yet be possible: that is no way to continue
            lacked = {guard: self._lacked(guard) for guard in guards(row)}
            if not (row.effect.fair and silence.needs_a_reason(agent)):
                lacks = list(lacked.values())
            elif self.may_stop:
                lacks = self._reasons_to_block(agent, row, lacked)
            else:
                lacks = self._reasons_to_be_silent(agent, row, lacked)
            self.solver.add(z3.Implies(
                self.blocked[agent], z3.Or([z3.BoolVal(False, self.context), *lacks])))

    def _lacked(self, guard: Guard) -> Any:
        place, needed, up = guard
        return self.tokens[place] < needed if up else self.tokens[place] > needed

    def _reasons_to_be_silent(
        self, agent: Agent, row: Row, lacked: Mapping[Guard, Any]
    ) -> list[Any]:
        """The conditions that one thing is lacked, and all agents that can give it are silent."""
        known = self.silence.reasons_of_row(agent, row) or {}
        return [self.z3.And(here, *(self.silent[other] for other in sorted(known.get(guard, ()))))
                for guard, here in lacked.items()]

    def _reasons_to_block(
        self, agent: Agent, row: Row, lacked: Mapping[Guard, Any]
    ) -> list[Any]:
        """The conditions that one thing is lacked that no task can give any more, or two that no
        task is certain to give."""
        silence, both = self.silence, self.z3.And
        known = {when: silence.reasons_of_row(agent, row, when) for when in REASONS}
        once, on, surely = (known[when] for when in REASONS)
        if once is None or on is None or surely is None:
            return list(lacked.values())
        passing = silence.passing(agent, once)
        others = {
            guard: both(here, *(self.silent[other] for other in sorted(surely[guard])))
            for guard, here in lacked.items() if guard in surely and guard not in passing}
        alone = [
            both(here, *(self.blocked[other] for other in sorted(once[guard])),
                 *(self.silent[other] for other in sorted(on[guard])))
            for guard, here in lacked.items()
            if guard in once and (not passing or guard in passing)]
        own = [here for guard, here in lacked.items() if guard not in once]
        several = others.values() if passing else (
            both(one, other) for one, other in combinations(others.values(), 2))
        return [*own, *alone, *several]
