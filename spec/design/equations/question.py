"""Counters with ranges, sums of them, and choices of bounds: is there a state of all that?

Z3 reads it as text, ten times as fast as terms are made one by one. Where it is about a net alone,
ranges answer it in time that grows with its size (``trials``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..net.invariants import Equation
from .lemmas import Bound

__all__ = ["FAR", "GaveUp", "Question", "answer"]

FAR = 10**30
"""Stands for no end."""


class GaveUp(Exception):
    """The solver's effort or time ended without an answer."""


@dataclass
class Question:
    """A counter is from 0 to ``most`` (None: no end), and differs from its ``start`` by a multiple
    of its ``stride``: with 0, not at all. Each sum is within its least and largest total, and of
    each choice one bound is true."""

    start: list[int] = field(default_factory=list)
    most: list[int | None] = field(default_factory=list)
    stride: list[int] = field(default_factory=list)
    sums: list[tuple[Equation, int, int]] = field(default_factory=list)
    choices: list[tuple[Bound, ...]] = field(default_factory=list)

    def counter(self, most: int | None = 1, start: int = 0, stride: int = 1) -> int:
        """One more counter: its number."""
        self.start.append(start)
        self.most.append(most)
        self.stride.append(stride)
        return len(self.start) - 1

    def choose(self, *bounds: Bound) -> None:
        """One of these bounds is true."""
        self.choices.append(bounds)

    def text(self) -> Iterator[str]:
        """The question in the language of solvers (SMT-LIB), a command a line."""
        for n, (start, most, stride) in enumerate(
                zip(self.start, self.most, self.stride, strict=True)):
            yield f"(declare-const c{n} Int)"
            if not stride:
                yield f"(assert (= c{n} {start}))"
                continue
            yield f"(assert (>= c{n} 0))"
            if most is not None:
                yield f"(assert (<= c{n} {most}))"
            if stride > 1:
                yield f"(declare-const times{n} Int)"
                yield f"(assert (= c{n} (+ {start} (* {stride} times{n}))))"
        for weights, least, most in self.sums:
            whole = f"(+ 0 {' '.join(f'(* {_told(k)} c{n})' for n, k in weights.items())})"
            if least > -FAR:
                yield f"(assert (>= {whole} {_told(least)}))"
            if most < FAR:
                yield f"(assert (<= {whole} {_told(most)}))"
        for choice in self.choices:
            told = " ".join(f"({'>=' if sign > 0 else '<='} c{n} {_told(number)})"
                            for n, sign, number in choice)
            yield f"(assert (or false {told}))"


def _told(number: int) -> str:
    return str(number) if number >= 0 else f"(- {-number})"


def answer(
    question: Question, effort: int, watch: Callable[[], object] = lambda: None
) -> Sequence[int] | None:
    """A state, None if there is none. Raises GaveUp where the solver does not find out with so much
    ``effort``, in its own units."""
    import z3
    context = z3.Context()  # what else was asked in this process changes no answer here
    solver = z3.SimpleSolver(ctx=context)
    solver.set("rlimit", effort)
    solver.from_string("\n".join(question.text()))
    watch()
    found = solver.check()
    if found == z3.unknown:
        raise GaveUp(solver.reason_unknown())
    if found == z3.unsat:
        return None
    model = solver.model()
    return [model.eval(z3.Int(f"c{n}", context), True).as_long()
            for n in range(len(question.start))]
