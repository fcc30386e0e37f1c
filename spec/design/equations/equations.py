"""The deadlocked states that a design's sums allow, as equations over whole numbers.

A state is looked for in which every counter is within its range, every sum that no transition
changes is what it was at the start, every counter differs from its start by a multiple of the
greatest common divisor of all its changes, every clause found so far is true, no transition is
possible, and work is left. Capacities are mere numbers there, so their size does not matter. Where
there is no such state, no reachable one is deadlocked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from math import gcd
from typing import Any

from ...verdicts.solver import z3_context
from ..net.counters import Counters
from ..net.invariants import Equation, kernel
from ..reading.symbols import Form, Notes, Symbol, form_of, is_symbol, told
from .lemmas import Clause
from .question import Question
from .ranges import opposite
from .trials import TakenBack, Trials

__all__ = ["Equations", "GaveUp", "as_question", "sums"]

EFFORT = 100_000_000
"""Effort of the solver for one answer, in its own units (some ten seconds)."""
MANY = 2_000
"""Transitions of a net that is tried by ranges before the solver is asked: that takes time in
the square of their number."""


class GaveUp(Exception):
    """The solver's effort or time ended without an answer."""


def sums(
    net: Counters, watch: Callable[[], object] = lambda: None
) -> list[tuple[Equation, int]]:
    """A basis of the sums that no transition changes, with what they add up to; also those of one
    counter, which then never changes. Of what stands where in a queue it is what the net says.
    """
    transitions = [{n: by for n, by in transition.change.items() if n not in net.lines}
             for transition in net.lasting]
    found = weighted(transitions, [c.value is not None for c in net.counters]) if any(
        is_symbol(by) for change in transitions for by in change.values()) else kernel(
        transitions, len(net.counters), watch)
    known = [dict(weights) for weights in net.sums]
    return [(w, sum(net.counters[n].start * k for n, k in w.items()))
            for w in (*known, *(each for each in found if net.lines.isdisjoint(each)))]


def weighted(transitions: Sequence[Mapping[int, int]], named: Sequence[bool]) -> list[Equation]:
    """A basis of the sums that no transition changes, whatever the parameters in the changes are.

    The weight of a counter that is 0 or 1 (``named``) may have parameters in it: with W written
    elements behind a step, it is W times that the step is done. So each counter has an unknown
    factor, and each that is named has one for each parameter as well; what is without a parameter
    in a changed sum must be 0, and what is with each one.
    """
    forms = [{n: _form(by) for n, by in change.items()} for change in transitions]
    names = sorted({name for change in forms for form in change.values()
                    for name, _ in form.factors})
    unknowns = [(n, "") for n in range(len(named))]
    unknowns += [(n, name) for n, is_named in enumerate(named) if is_named for name in names]
    number = {unknown: place for place, unknown in enumerate(unknowns)}
    equations: list[Equation] = []
    for change in forms:
        equations.append({number[n, ""]: form.constant for n, form in change.items()
                          if form.constant})
        for name in names:
            found = {number[n, ""]: k for n, form in change.items()
                     if (k := dict(form.factors).get(name, 0))}
            found |= {number[n, name]: form.constant for n, form in change.items() if named[n]}
            equations.append(found)
    return [_weights(solved, unknowns) for solved in kernel(equations, len(unknowns))]


def _weights(solved: Equation, unknowns: Sequence[tuple[int, str]]) -> Equation:
    """The weight of each counter, as a symbol where there is a parameter in it."""
    found: dict[int, Form] = {}
    for place, factor in solved.items():
        n, name = unknowns[place]
        part = Form.of({name: factor}) if name else Form(constant=factor)
        found[n] = found.get(n, Form()).plus(part)
    point = Notes({})
    return {n: Symbol(form, point) if form.factors else form.constant  # type: ignore[misc]
            for n, form in found.items() if form.factors or form.constant}


def _form(by: int) -> Form:
    found = form_of(by)
    assert found is not None
    return found


def strides(net: Counters) -> list[int]:
    """For each counter, what every one of its changes is a multiple of; 0 if it has none."""
    found = [0] * len(net.counters)
    for transition in net.lasting:
        for n, by in transition.change.items():
            found[n] = 1 if is_symbol(by) else gcd(found[n], by)
    return found


class Equations:
    """The equations of one design; clauses may be added between two questions."""

    def __init__(
        self, net: Counters, watch: Callable[[], object] = lambda: None,
        given: Sequence[str] = (),
    ) -> None:
        self.net = net
        self.sums = sums(net, watch)
        watch()
        self._watch, self._given = watch, given
        self._clauses: list[Clause] = []
        self._trials = None if given or len(net.transitions) <= MANY else Trials(
            as_question(net, self.sums), watch)

    @cached_property
    def _solver(self) -> Any:
        """The solver, which knows the equations and the clauses so far."""
        import z3
        # A context of its own: what else was asked in this process changes no answer here.
        solver = z3.SimpleSolver(ctx=z3_context())
        # Without relevancy and with the older simplex, ten thousand queues take less than a second.
        solver.set("relevancy", 0)
        solver.set("arith.solver", 2)
        solver.set("rlimit", EFFORT)
        # As text, which the solver reads ten times as fast as terms are made one by one.
        said = [*self._given, *self._ranges(), *self._sums(), *self._nothing_moves(),
                *self._work_is_left()]
        self._watch()
        solver.from_string("\n".join(said))
        self._watch()
        for clause in self._clauses:
            self._tell(solver, clause)
        return solver

    @cached_property
    def _counters(self) -> list[Any]:
        import z3
        return [z3.Int(f"c{n}", self._solver.ctx) for n in range(len(self.net.counters))]

    def _ranges(self) -> Iterator[str]:
        for n, stride in enumerate(strides(self.net)):
            counter = self.net.counters[n]
            yield f"(declare-const c{n} Int)"
            if not stride:
                yield f"(assert (= c{n} {told(counter.start)}))"
                continue
            yield f"(assert (>= c{n} 0))"
            if counter.most is not None:
                yield f"(assert (<= c{n} {told(counter.most)}))"
            if stride > 1:
                yield f"(declare-const times{n} Int)"
                yield f"(assert (= c{n} (+ {told(counter.start)} (* {stride} times{n}))))"

    def _sums(self) -> Iterator[str]:
        for weights, total in self.sums:
            if len(weights) > 1:
                parts = " ".join(_times(k, n) for n, k in weights.items())
                yield f"(assert (= (+ {parts}) {told(total)}))"

    def _nothing_moves(self) -> Iterator[str]:
        for transition in self.net.transitions:
            closed = [f"(<= c{n} {told(least - 1)})" for n, least in transition.least.items()]
            closed += [f"(>= c{n} {told(most + 1)})" for n, most in transition.most.items()]
            yield f"(assert (or {' '.join(closed)} false))"

    def _work_is_left(self) -> Iterator[str]:
        if self.net.may_end:
            left = [f"(> c{n} {told(counter.rest)})" for n, counter in enumerate(self.net.counters)]
            yield f"(assert (or {' '.join(left)}))"

    def _tell(self, solver: Any, clause: Clause) -> None:
        import z3
        names = {n: z3.Int(f"c{n}", solver.ctx) for option in clause.options
                 for n in option.weights}
        solver.add(z3.Or([
            z3.Sum([k * names[n] for n, k in option.weights.items()]) <= option.total
            for option in clause.options]))

    def add(self, clause: Clause) -> None:
        """One more thing that is true in every reachable state."""
        self._clauses.append(clause)
        if self._trials is not None and not self._trials.add(clause):
            self._trials = None
        if "_solver" in self.__dict__:
            self._tell(self._solver, clause)

    def deadlocked(self, timeout: int | None = None) -> Sequence[int] | None:
        """A deadlocked state that the equations allow, None if there is none.

        Raises GaveUp where the solver does not know, or ``timeout`` milliseconds are over.
        """
        if self._trials is not None:
            try:
                return self._trials.state()
            except TakenBack:
                self._trials = None
        return self._solved(timeout)

    def _solved(self, timeout: int | None) -> Sequence[int] | None:
        """Counters of a solution, or None. Raises ``GaveUp`` where Z3 does not decide in time."""
        import z3
        solver = self._solver
        if timeout is not None:
            solver.set("timeout", max(1, timeout))
        try:
            answer = solver.check()
        except z3.Z3Exception as told:
            raise GaveUp(str(told)) from None
        if answer == z3.unknown:
            raise GaveUp(solver.reason_unknown())
        if answer == z3.unsat:
            return None
        model = solver.model()
        return [model.eval(x, True).as_long() for x in self._counters]


def as_question(net: Counters, sums: Sequence[tuple[Equation, int]]) -> Question:
    """The same equations as a question for ranges."""
    counters = net.counters
    asked = Question([c.start for c in counters], [c.most for c in counters], strides(net))
    asked.sums += [(weights, total, total) for weights, total in sums if len(weights) > 1]
    for transition in net.transitions:
        asked.choose(*(opposite((n, 1, least)) for n, least in transition.least.items()),
                     *(opposite((n, -1, most)) for n, most in transition.most.items()))
    if net.may_end:
        asked.choose(*((n, 1, counter.rest + 1) for n, counter in enumerate(counters)))
    return asked


def _times(weight: int, counter: int) -> str:
    """So many times a counter; a symbol is only ever the weight of one that is 0 or 1."""
    if is_symbol(weight):
        return f"(ite (= c{counter} 0) 0 {told(weight)})"
    return f"(* {told(weight)} c{counter})"
