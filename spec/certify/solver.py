"""Questions for cvc5, a solver that the engines do not use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..notation.errors import InputError
from .system import Counter

__all__ = ["Question", "Term"]

Term = Any
"""Something that is true or false."""

Inequality = tuple[Mapping[str, int], int]
"""The weighted sum of some counters is at most so much."""


class Question:
    """Whether there are whole numbers for these counters of which all that is said is true."""

    def __init__(self, counters: Iterable[str]) -> None:
        try:
            import cvc5
        except ImportError:
            raise InputError("the solver cvc5 is not installed", "",
                             "Install it: pip install 'checkvalve[certify]'.") from None
        self._kind = cvc5.Kind
        self._terms = cvc5.TermManager()
        self._solver = cvc5.Solver(self._terms)
        self._solver.setLogic("QF_LIA")
        whole = self._terms.getIntegerSort()
        self._counter = {name: self._terms.mkConst(whole, f"c{n}")
                         for n, name in enumerate(counters)}
        self._fresh = 0

    def range(self, name: str, counter: Counter, stride: int) -> None:
        """The counter is in its range, and differs from its start by a multiple of ``stride``."""
        here = self._counter[name]
        if stride == 0:
            self._say(self._kind.EQUAL, here, counter.start)
            return
        self._say(self._kind.GEQ, here, 0)
        if counter.most is not None:
            self._say(self._kind.LEQ, here, counter.most)
        if stride > 1:
            self._fresh += 1
            times = self._terms.mkConst(self._terms.getIntegerSort(), f"times{self._fresh}")
            steps = self._terms.mkTerm(self._kind.MULT, self._number(stride), times)
            self._solver.assertFormula(self._terms.mkTerm(
                self._kind.EQUAL, here,
                self._terms.mkTerm(self._kind.ADD, self._number(counter.start), steps)))

    def equal(self, weights: Mapping[str, int], total: int) -> None:
        """The weighted sum is so much."""
        self._say(self._kind.EQUAL, self._sum(weights), total)

    def one_of(self, options: Sequence[Inequality]) -> None:
        """One of the inequalities is true; none of none is."""
        told = [self._terms.mkTerm(self._kind.LEQ, self._sum(weights), self._number(most))
                for weights, most in options]
        if len(told) > 1:
            self._solver.assertFormula(self._terms.mkTerm(self._kind.OR, *told))
        else:
            self._solver.assertFormula(told[0] if told else self._terms.mkFalse())

    def choice(self) -> Term:
        """Something that may be true or false."""
        self._fresh += 1
        return self._terms.mkConst(self._terms.getBooleanSort(), f"choice{self._fresh}")

    def no(self, term: Term) -> Term:
        """It is not true; nothing is said of anything else."""
        return term.notTerm()

    def all(self, terms: Sequence[Term]) -> Term:
        """All of these are true."""
        if len(terms) < 2:
            return terms[0] if terms else self._terms.mkTrue()
        return self._terms.mkTerm(self._kind.AND, *terms)

    def any(self, terms: Sequence[Term]) -> Term:
        """One of these is true."""
        if len(terms) < 2:
            return terms[0] if terms else self._terms.mkFalse()
        return self._terms.mkTerm(self._kind.OR, *terms)

    def less(self, counter: str, number: int) -> Term:
        """The counter is less than that."""
        return self._terms.mkTerm(self._kind.LT, self._counter[counter], self._number(number))

    def more(self, counter: str, number: int) -> Term:
        """The counter is more than that."""
        return self._terms.mkTerm(self._kind.GT, self._counter[counter], self._number(number))

    def any_of(self, terms: Sequence[Term]) -> None:
        """One of these is true."""
        self._solver.assertFormula(self.any(terms))

    def has_no_answer(self) -> bool:
        """Whether cvc5 proves that there are none."""
        return bool(self._solver.checkSat().isUnsat())

    def _say(self, kind: Any, left: Any, right: int) -> None:
        self._solver.assertFormula(self._terms.mkTerm(kind, left, self._number(right)))

    def _number(self, value: int) -> Any:
        return self._terms.mkInteger(value)

    def _sum(self, weights: Mapping[str, int]) -> Any:
        parts = [self._counter[name] if weight == 1 else self._terms.mkTerm(
            self._kind.MULT, self._number(weight), self._counter[name])
            for name, weight in weights.items()]
        if not parts:
            return self._number(0)
        return parts[0] if len(parts) == 1 else self._terms.mkTerm(self._kind.ADD, *parts)
