"""Runs that free a task of which the equations say that it could be blocked forever.

From a marking that the equations leave open a short run is looked for to a step of such a task. If
there is one, the task is not blocked forever in that marking, nor in any other in which the same
run is possible; what each place must hold for it is a clause for the equations, and they are asked
again. The clause is true of every marking, so nothing is assumed.

The marking may be any on the run that never ends. So one is asked for in which a step is made that
such a run cannot do without; that no task is blocked there is shown task by task.

A run is found by a plan that takes nothing away: what each step costs if everything that was ever
there stays there (the additive heuristic of Bonet and Geffner, 2001). A step of that plan is made,
and the plan is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from ..net.rows import Row
from .supply import guards

__all__ = ["MANY", "Freed", "Freeing", "Guard", "Marking", "Step", "needed_for", "step_of"]

LONGEST = 200
"""Steps in which a task is to be freed."""
ROUNDS = (60, 600)
"""Runs that are looked for to show that one task is free: a few for each, then more."""
MANY = 6
"""A run that empties so many from a place, one by one, shows too little."""
EFFORT = 60_000
"""Runs that are looked for in all, each of which costs as much as there are rows."""

Marking = Mapping[str, int]
Guard = tuple[str, int, bool]
"""A place, a number, and true where the place must hold at least that many (else at most)."""


@dataclass(frozen=True)
class Step:
    """A step of a run: the guards that it needs, and what it adds. ``fair`` is false for a step
    that merely may happen."""

    guards: tuple[Guard, ...]
    change: Mapping[str, int]
    fair: bool = True


def step_of(row: Row) -> Step:
    """A row as a step."""
    return Step(tuple(guards(row)), row.effect.change, row.effect.fair)


def needed_for(steps: Iterable[Step]) -> list[Guard]:
    """The guards that a marking must satisfy for a run of these steps to be possible."""
    least: dict[str, int] = {}
    most: dict[str, int] = {}
    moved: dict[str, int] = {}
    for step in steps:
        for place, n, up in step.guards:
            here = n - moved.get(place, 0)
            if up:
                least[place] = max(here, least.get(place, here))
            else:
                most[place] = min(here, most.get(place, here))
        for place, by in step.change.items():
            moved[place] = moved.get(place, 0) + by
    return [*((place, n, True) for place, n in least.items() if n > 0),
            *((place, n, False) for place, n in most.items())]


def _holds(marking: Marking, guard: Guard) -> bool:
    place, n, up = guard
    return marking[place] >= n if up else marking[place] <= n


@dataclass
class _Plan:
    """The costs of everything from a marking: each guard that does not hold, with the row that
    makes it hold, and each row."""

    costs: dict[int, int]
    givers: dict[Guard, int]


class Freeing:
    """Looks for runs of some steps, from any marking, to where one of some is possible."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self._fair = [n for n, step in enumerate(steps) if step.fair]
        self._guards = [step.guards for step in steps]
        self._asking: dict[tuple[str, bool], list[Guard]] = {}
        self._askers: dict[Guard, list[int]] = {}
        for n in self._fair:
            for guard in self._guards[n]:
                if guard not in self._askers:
                    self._asking.setdefault((guard[0], guard[2]), []).append(guard)
                self._askers.setdefault(guard, []).append(n)

    def run(self, start: Marking, goals: Collection[int]) -> list[int] | None:
        """The steps of a run from a marking, by number, the last of which is one of the ``goals``;
        None where none is found."""
        marking, made = dict(start), list[int]()
        seen: set[tuple[int, ...]] = set()
        while len(made) < LONGEST:
            here = tuple(marking.values())
            if here in seen:
                return None
            seen.add(here)
            plan = self._planned(marking)
            goal = min((n for n in goals if n in plan.costs), key=plan.costs.__getitem__,
                       default=None)
            if goal is None:
                return None
            for n in self._steps(plan, goal, marking):
                if not self._is_possible(n, marking):
                    continue
                made.append(n)
                if n == goal:
                    return self._shortened(marking, made)
                for place, by in self.steps[n].change.items():
                    marking[place] += by
        return None

    def _is_possible(self, row: int, marking: Marking) -> bool:
        return all(_holds(marking, guard) for guard in self._guards[row])

    def _planned(self, marking: Marking) -> _Plan:
        """The cost of each row, cheapest first, if nothing is ever taken away."""
        plan = _Plan({}, {})
        lacking: dict[int, int] = {}
        queue: list[tuple[int, int]] = []
        sums: dict[int, int] = {}
        best: dict[Guard, int] = {}
        for n in self._fair:
            missing = sum(not _holds(marking, guard) for guard in self._guards[n])
            if missing:
                lacking[n] = missing
            else:
                heappush(queue, (0, n))
        reached: list[tuple[int, Guard]] = []
        while queue or reached:
            if reached and (not queue or reached[0][0] <= queue[0][0]):
                cost, guard = heappop(reached)
                if best.get(guard) != cost:
                    continue
                best[guard] = -1
                for n in self._askers[guard]:
                    sums[n] = sums.get(n, 0) + cost
                    lacking[n] -= 1
                    if not lacking[n]:
                        heappush(queue, (sums[n], n))
                continue
            cost, n = heappop(queue)
            plan.costs[n] = cost
            for place, by in self.steps[n].change.items():
                for guard in self._asking.get((place, by > 0), ()):
                    short = abs(guard[1] - marking[place])
                    if _holds(marking, guard) or best.get(guard) == -1:
                        continue
                    price = cost - (-short // abs(by))
                    if guard not in best or price < best[guard]:
                        best[guard] = price
                        plan.givers[guard] = n
                        heappush(reached, (price, guard))
        return plan

    def _steps(self, plan: _Plan, goal: int, marking: Marking) -> list[int]:
        """The rows of the plan for a goal, what is needed for others first."""
        found = {goal}
        waiting = [goal]
        while waiting:
            n = waiting.pop()
            givers = {plan.givers[guard] for guard in self._guards[n]
                      if not _holds(marking, guard)} - found
            found |= givers
            waiting += givers
        return sorted(found, key=lambda n: (plan.costs[n], n))

    def _shortened(self, marking: dict[str, int], made: list[int]) -> list[int]:
        """The run without steps that it does not need, the last ones first; ``marking`` is that
        before its last step, and is changed into that at its start."""
        for place in reversed(range(len(made) - 1)):
            for name, by in self.steps[made[place]].change.items():
                marking[name] -= by
            if self._can_run(marking, made[place + 1:]):
                made = made[:place] + made[place + 1:]
        return made

    def _can_run(self, marking: Marking, rows: Iterable[int]) -> bool:
        moved: dict[str, int] = {}
        for n in rows:
            for place, number, up in self._guards[n]:
                here = marking[place] + moved.get(place, 0)
                if here < number if up else here > number:
                    return False
            for place, by in self.steps[n].change.items():
                moved[place] = moved.get(place, 0) + by
        return True


# --- asking the equations again -----------------------------------------------------------------

class Freed:
    """The equations of ``silent``, asked again and again: ``blocked`` has a Boolean for each task
    or link, ``ended`` one for each row, and ``tokens`` a number for each place."""

    def __init__(
        self, rows: Sequence[Row], transitions: Mapping[str, Sequence[int]], solver: Any,
        blocked: Mapping[str, Any], ended: Sequence[Any], tokens: Mapping[str, Any],
        watch: Callable[[], object],
    ) -> None:
        import z3
        self._z3, self._solver = z3, solver
        self._rows, self._transitions = rows, transitions
        self._blocked, self._ended, self._tokens = blocked, ended, tokens
        self._watch = watch
        self._freeing = Freeing([step_of(row) for row in rows])
        self._left = EFFORT // max(1, len(rows))
        self._terms: dict[Guard, Any] = {}

    def excludes(self, tasks: Sequence[str], may_stop: bool) -> bool:
        """True if none of these tasks can be blocked, at some moment of a run; with ``may_stop``,
        of a run that never ends."""
        moments = self._moments() if may_stop else [self._z3.BoolVal(True, self._solver.ctx)]
        return any(all(self._is_free(task, moment, rounds) for task in tasks)
                   for rounds in ROUNDS for moment in moments)

    def _moments(self) -> list[Any]:
        """Moments of every run that never ends while a task is blocked: when a row is made that the
        run makes again and again; or when any row is, if none is made by all such runs."""
        z3, solver = self._z3, self._solver
        fair = [n for n, row in enumerate(self._rows) if row.effect.fair]
        needed = [n for n in fair if solver.check(self._ended[n]) == z3.unsat]
        if needed:
            return [self._moment([n]) for n in needed]
        return [self._moment(fair)]

    def _moment(self, rows: Sequence[int]) -> Any:
        """The condition that one of these rows is made next, and is not the last of its kind."""
        z3 = self._z3
        here = z3.Bool(f"moment of {rows}", self._solver.ctx)
        nexts = [z3.And(z3.Not(self._ended[n]), *(
            z3.Not(self._lacked(guard)) for guard in guards(self._rows[n]))) for n in rows]
        self._solver.add(z3.Implies(here, z3.Or(z3.BoolVal(False, self._solver.ctx), *nexts)))
        return here

    def _lacked(self, guard: Guard) -> Any:
        if guard not in self._terms:
            place, n, up = guard
            here = self._tokens[place]
            self._terms[guard] = here < n if up else here > n
        return self._terms[guard]

    def _is_free(self, task: str, moment: Any, rounds: int) -> bool:
        """True if a task is not blocked at that moment, by this many runs at most."""
        z3, solver = self._z3, self._solver
        for _ in range(min(rounds, self._left)):
            self._watch()
            answer = solver.check(moment, self._blocked[task])
            if answer == z3.unsat:
                solver.add(z3.Not(z3.And(moment, self._blocked[task])))
                return True
            if answer != z3.sat or not self._freed_in(solver.model()):
                return False
        return False

    def _freed_in(self, model: Any) -> bool:
        """Exclude a marking in which a task that is said to be blocked can be unblocked."""
        marking = {place: model.eval(here, True).as_long() for place, here in self._tokens.items()}
        blocked = [each for each, here in self._blocked.items()
                 if self._z3.is_true(model.eval(here, True))]
        goals = {n: each for each in blocked for n in self._transitions[each]}
        self._left -= 1
        run = self._freeing.run(marking, goals)
        if run is None:
            return False
        needed = needed_for(self._freeing.steps[n] for n in run)
        if self._is_narrow(needed):
            return False
        self._solver.add(self._z3.Or(
            self._z3.Not(self._blocked[goals[run[-1]]]), *map(self._lacked, needed)))
        return True

    def _is_narrow(self, needed: Sequence[Guard]) -> bool:
        """True if a place must hold one number and no other, of many: the next run would be about
        the next number.
        """
        least = {place: n for place, n, up in needed if up}
        return any(not up and n == least.get(place) and n >= MANY for place, n, up in needed)
