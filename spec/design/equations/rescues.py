"""Runs to a step of each task, from wherever a run of the others could continue without it.

Say a task is blocked forever, and a run of the others never ends. From some moment on that run
makes only transitions that it makes again and again. Then this is so, at each moment from there on:

- every sum that no transition changes is what it was, and every clause is true;
- the transitions that the run makes again and again, so often each in some stretch of it, add up to
  nothing (or to more where a link has no bound), and a blocked task makes none of them;
- no run is possible there that ends with a step of a blocked task.

Of some transitions, one is always among those that are made again and again. So the question is
what is so when one of these is made next. From a state that all this leaves open a run is looked
for that unblocks a task (``freed``), until no state is left. Nothing else is assumed, so it is a
certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...verdicts.solver import z3_context
from ..net.counters import Counters, Transition
from ..net.invariants import Equation
from ..net.rows import Table
from .equations import sums
from .freed import Freeing, Guard, Step, needed_for
from .lemmas import Clause

__all__ = ["Rescues", "rescues"]

EFFORT = 20_000_000
"""Effort of the solver for one answer, in its own units (a few seconds)."""
MAX_RUNS = 6_000
"""Runs of one certificate."""
MAX_TRANSITIONS = 200
"""Transitions of a part in which runs are looked for: more take longer, and there are more of them.

"""


@dataclass(frozen=True)
class Rescues:
    """One of the transitions ``moment`` is made again and again by any run that never ends; when it
    is made next, no task is blocked forever, as the ``runs`` (of transitions, by number) show
    together with the ``sums``."""

    sums: Sequence[tuple[Equation, int]]
    moment: Sequence[int]
    runs: Sequence[Sequence[int]]


def rescues(
    net: Counters, table: Table, tasks: Collection[str], clauses: Sequence[Clause],
    watch: Callable[[], object] = lambda: None,
) -> Rescues | None:
    """Runs that show that none of a part's tasks is ever blocked while others continue, if they are
    found.
    """
    if len(net.transitions) > MAX_TRANSITIONS or any(transition.fails
                                                     for transition in net.transitions):
        return None
    asked = _Asked(net, table, tasks, clauses, watch)
    for moment in asked.moments():
        if all(asked.is_free(task, asked.at(moment)) for task in asked.blocked):
            return Rescues(asked.sums, moment, asked.shortest())
    return None


class _Asked:
    """A Boolean for each task that is blocked forever and each transition that is not made again
    and again, how often it is, and a number for each counter."""

    def __init__(
        self, net: Counters, table: Table, tasks: Collection[str], clauses: Sequence[Clause],
        watch: Callable[[], object],
    ) -> None:
        import z3
        self.z3, self.net, self.watch = z3, net, watch
        self.context = z3_context()
        self.solver = z3.SimpleSolver(ctx=self.context)
        self.solver.set("rlimit", EFFORT)
        self.sums = sums(net)
        names = [counter.name for counter in net.counters]
        self.steps = [_step(transition, names, table.rows[transition.row].effect.fair)
                      for transition in net.transitions]
        rows = [table.rows[transition.row] for transition in net.transitions]
        self.tasks = [row.tasks if row.own else () for row in rows]
        self.going = [n for n, step in enumerate(self.steps) if step.fair and step.change]
        self.here = {name: z3.Int(f"c{n}", self.context) for n, name in enumerate(names)}
        self.blocked = {task: z3.Bool(f"blocked {task}", self.context)
                      for task in tasks}
        self.often = {n: z3.Real(f"often{n}", self.context) for n in self.going}
        self.freeing = Freeing(self.steps)
        self.runs: list[tuple[str, list[int], list[Guard]]] = []
        self._states(clauses)
        self._goes_on()

    def _any(self, terms: Sequence[Any]) -> Any:
        return self.z3.Or(self.z3.BoolVal(False, self.context), *terms)

    def _states(self, clauses: Sequence[Clause]) -> None:
        """Assert what is so in every state."""
        z3, add, here = self.z3, self.solver.add, list(self.here.values())
        for term, counter in zip(here, self.net.counters, strict=True):
            add(term >= 0)
            if counter.most is not None:
                add(term <= counter.most)
        for weights, total in self.sums:
            add(z3.Sum([by * here[n] for n, by in weights.items()]) == total)
        for clause in clauses:
            add(self._any([z3.Sum([by * here[n] for n, by in option.weights.items()])
                           <= option.total for option in clause.options]))

    def _goes_on(self) -> None:
        """The conditions on a run that never ends while a task is blocked."""
        z3, add = self.z3, self.solver.add
        add(self._any(list(self.blocked.values())))
        add(self._any([self.often[n] >= 1 for n in self.going]))
        for n, often in self.often.items():
            add(z3.Or(often == 0, often >= 1))
            for task in self.tasks[n]:
                add(z3.Implies(self.blocked[task], often == 0))
        for counter in self.net.counters:
            added = [by * self.often[n] for n in self.going
                     if (by := self.steps[n].change.get(counter.name, 0))]
            if added:
                whole = z3.Sum(added)
                add(whole == 0 if counter.most is not None else whole >= 0)
        for n, step in enumerate(self.steps):
            for task in self.tasks[n] if step.fair else ():
                add(self._any([z3.Not(self.blocked[task]), *map(self._lacked, step.guards)]))

    def _lacked(self, guard: Guard) -> Any:
        name, n, up = guard
        return self.here[name] < n if up else self.here[name] > n

    # --- when it is asked -----------------------------------------------------------------------

    def moments(self) -> Iterator[list[int]]:
        """Transitions of which each such run makes one again and again: a single one, those of a
        task, and all."""
        of_task = ([n for n in self.going if task in self.tasks[n]] for task in self.blocked)
        for transitions in (*([n] for n in self.going), *of_task):
            if transitions and self.solver.check([self.often[n] == 0
                                                  for n in transitions]) == self.z3.unsat:
                yield transitions
        yield self.going

    def at(self, transitions: Sequence[int]) -> Any:
        """The condition that one of these transitions is made next, and again and again."""
        z3 = self.z3
        at = z3.Bool(f"at {transitions}", self.context)
        self.solver.add(z3.Implies(at, self._any([
            z3.And(self.often[n] >= 1, *(
                z3.Not(self._lacked(guard)) for guard in self.steps[n].guards))
            for n in transitions])))
        return at

    # --- which tasks are free -------------------------------------------------------------------

    def is_free(self, task: str, at: Any) -> bool:
        """True if a task is not blocked then, after as many runs as that takes."""
        while True:
            self.watch()
            answer = self.solver.check(at, self.blocked[task])
            if answer == self.z3.unsat:
                self.solver.add(self.z3.Not(self.z3.And(at, self.blocked[task])))
                return True
            if answer != self.z3.sat or not self._freed_in(self.solver.model()):
                return False

    def _freed_in(self, model: Any) -> bool:
        """Exclude a state in which a task that is said to be blocked can be unblocked."""
        if len(self.runs) == MAX_RUNS:
            return False
        state = {name: model.eval(here, True).as_long() for name, here in self.here.items()}
        blocked = {task for task, here in self.blocked.items()
                 if self.z3.is_true(model.eval(here, True))}
        goals = {n: min(both) for n, tasks in enumerate(self.tasks)
                 if (both := blocked & {*tasks})}
        run = self.freeing.run(state, goals)
        if run is None:
            return False
        task, needed = goals[run[-1]], needed_for(self.steps[n] for n in run)
        self.solver.add(self._any([
            self.z3.Not(self.blocked[task]), *map(self._lacked, needed)]))
        self.runs.append((task, run, needed))
        return True

    def shortest(self) -> list[list[int]]:
        """The runs, but for those that need as much as another one with the same task, or more."""
        found: list[tuple[str, list[int], set[Guard]]] = []
        for task, run, needed in sorted(self.runs, key=lambda each: len(each[2])):
            here = {*needed}
            if not any(task == other and _covers(here, less) for other, _, less in found):
                found.append((task, run, here))
        return [run for _, run, _ in found]


def _step(transition: Transition, names: Sequence[str], fair: bool) -> Step:
    guards = [*((names[n], least, True) for n, least in transition.least.items() if least > 0),
              *((names[n], most, False) for n, most in transition.most.items())]
    return Step(tuple(guards), {names[n]: by for n, by in transition.change.items()}, fair)


def _covers(more: set[Guard], less: set[Guard]) -> bool:
    """True if where the first guards hold the second do."""
    return all(any(name == other and up == ups and (n >= least if up else n <= least)
                   for other, n, ups in more) for name, least, up in less)
