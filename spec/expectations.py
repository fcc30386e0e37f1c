"""Expectations: the verdicts that a chapter's author promises, for named constants.

A chapter ends with a table of them; ``checkvalve verify`` decides each row again and
prints expected against found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .notation.machine import Machine

__all__ = ["Expectation", "expect", "prove"]

Values = int | Iterable[Any] | Callable[..., Iterable[int]]


@dataclass(frozen=True)
class Expectation:
    """One row group: a machine's rule, over a grid of constants.

    ``verdict`` is ``holds`` or ``violated``; with ``where`` (a condition over the
    constants, as text) it is violated exactly where that is true and holds elsewhere.
    ``for_all`` names constants that a proof leaves symbolic; empty means exhaustive search.
    ``lemmas`` are rules that the proof may use once they are proved.
    """

    machine: type[Machine]
    rule: str
    verdict: str
    about: str
    grid: tuple[tuple[str, Values], ...] = ()
    where: str = ""
    for_all: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()

    def points(self) -> Iterator[dict[str, Any]]:
        """Every choice of constants; a callable's values may depend on those before it."""
        yield from _points(self.grid, {})

    def expected(self, constants: dict[str, Any]) -> str:
        """The verdict that is expected for these constants."""
        if not self.where:
            return self.verdict
        # The condition is the chapter author's own text, never a user's input.
        return "violated" if eval(self.where, {}, dict(constants)) else "holds"  # noqa: S307


def _points(
    grid: tuple[tuple[str, Values], ...], chosen: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    if not grid:
        yield dict(chosen)
        return
    (name, values), *rest = grid
    if callable(values):
        code = values.__code__
        values = values(*(chosen[n] for n in code.co_varnames[:code.co_argcount]))
    for value in values if isinstance(values, Iterable) else (values,):
        yield from _points(tuple(rest), {**chosen, name: value})


def expect(
    machine: type[Machine], rule: str, verdict: str, about: str = "", *, where: str = "",
    **grid: Values,
) -> Expectation:
    """An exhaustive search decides the rule, for each choice of constants in the grid.

    A value may be a number, a range, or a function of the constants named before it.
    """
    return Expectation(machine, rule, verdict, about, tuple(grid.items()), where)


def prove(
    machine: type[Machine], rule: str, about: str = "", *, for_all: Iterable[str],
    lemmas: Iterable[str] = (), **grid: Values,
) -> Expectation:
    """A proof decides the rule for every value of the constants in ``for_all``."""
    return Expectation(
        machine, rule, "holds", about, tuple(grid.items()), "", tuple(for_all), tuple(lemmas)
    )
