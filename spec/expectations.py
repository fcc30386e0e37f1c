"""Expectations: the verdicts that a chapter's author promises, for named constants.

A chapter ends with a table of them; ``checkvalve verify`` decides each row again and
prints expected against found.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .notation.errors import InputError
from .notation.labels import brief
from .notation.machine import Machine

__all__ = ["Expectation", "Values", "expect", "points_of", "prove"]

Values = int | Iterable[Any] | Callable[..., Iterable[int]]


@dataclass(frozen=True)
class Expectation:
    """One row group: a machine's rule, over a grid of constants.

    ``verdict`` is ``holds`` or ``violated``; with ``where`` (a condition over the
    constants, as text) it is violated exactly where that is true and holds elsewhere.
    ``for_all`` names constants that a proof leaves symbolic; empty means exhaustive search.
    ``lemmas`` are rules that the proof may use once they are proved. Without ``renaming`` all
    states are counted, also those that differ only by names of alike members. Raises InputError for
    what the machine does not have.
    """

    machine: type[Machine]
    rule: str
    verdict: str
    about: str
    grid: tuple[tuple[str, Values], ...] = ()
    where: str = ""
    for_all: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    renaming: bool = True

    def __post_init__(self) -> None:
        machine: object = self.machine
        if not (inspect.isclass(machine) and issubclass(machine, Machine)):
            raise InputError(f"an expectation is about a machine, not {machine!r}",
                             next_step="Give the class, as in expect(Link, …).")
        rules = [r.id for r in self.machine.rules_declared if r.predicate is not None]
        constants = list(self.machine.constants_declared)
        grid = [name for name, _ in self.grid]
        self._only("verdict", [self.verdict], ["holds", "violated"])
        self._only("decidable rule", [self.rule, *self.lemmas], rules)
        self._only("constant", [*grid, *self.for_all], constants)
        self._only(f"constant in the grid of where={self.where!r}:", _names(self.where), grid)

    def _only(self, what: str, given: Iterable[str], known: list[str]) -> None:
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, n=1)
                raise InputError(
                    f"the expectation of {self.machine.__name__} {self.rule} is wrong: "
                    f"there is no {what} {name!r}",
                    next_step=f"Did you mean {near[0]!r}?" if near
                    else f"Known here: {', '.join(known) or 'none'}.",
                )

    def points(self) -> Iterator[dict[str, Any]]:
        """Every choice of constants; a callable's values may depend on those before it."""
        yield from points_of(self.grid)

    def expected(self, constants: dict[str, Any]) -> str:
        """The verdict that is expected for these constants."""
        if not self.where:
            return self.verdict
        try:
            # The condition is the chapter author's own text, never a user's input.
            broken = eval(self.where, {}, dict(constants))  # noqa: S307
        except Exception as error:
            raise InputError(
                f"the condition where={self.where!r} fails for {constants}: {error}",
                next_step="Let it be true or false for all constants of the grid.",
            ) from error
        return "violated" if broken else "holds"


def _names(where: str) -> list[str]:
    """The names that a condition uses, but for Python's own."""
    if not where:
        return []
    try:
        names = [n for n in ast.walk(ast.parse(where, mode="eval")) if isinstance(n, ast.Name)]
    except (SyntaxError, ValueError) as error:
        raise InputError(f"where={where!r} is not a condition: {error}",
                         next_step="Write one over the constants, as in where=\"b > C\".",
                         ) from None
    bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return [n.id for n in names if n.id not in bound and not hasattr(builtins, n.id)]


def points_of(grid: tuple[tuple[str, Values], ...]) -> Iterator[dict[str, Any]]:
    """Every choice of the constants in a grid."""
    yield from _points(grid, {})


def _points(
    grid: tuple[tuple[str, Values], ...], chosen: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    if not grid:
        yield dict(chosen)
        return
    (name, values), *rest = grid
    if callable(values):
        values = _computed(name, values, chosen)
    for value in values if isinstance(values, Iterable) else (values,):
        yield from _points(tuple(rest), {**chosen, name: value})


def _computed(name: str, values: Callable[..., Any], chosen: dict[str, Any]) -> Any:
    """The values that a function of the constants before it gives to ``name``."""
    code = getattr(values, "__code__", None)
    wanted = [] if code is None else code.co_varnames[:code.co_argcount]
    if code is None or not set(wanted) <= set(chosen):
        raise InputError(
            f"the values of {name} in an expectation are to be computed by {brief(values)}",
            next_step="Give a number, a range, or a function of the constants named before it.")
    return values(*(chosen[each] for each in wanted))


def expect(
    machine: type[Machine], rule: str, verdict: str, about: str = "", *, where: str = "",
    renaming: bool = True, **grid: Values,
) -> Expectation:
    """An exhaustive search decides the rule, for each choice of constants in the grid.

    A value may be a number, a range, or a function of the constants named before it. Without
    ``renaming`` the search counts all states, whatever members the machine declares alike.
    """
    return Expectation(
        machine, rule, verdict, about, tuple(grid.items()), where, renaming=renaming)


def prove(
    machine: type[Machine], rule: str, about: str = "", *, for_all: Iterable[str],
    lemmas: Iterable[str] = (), **grid: Values,
) -> Expectation:
    """A proof decides the rule for every value of the constants in ``for_all``."""
    return Expectation(
        machine, rule, "holds", about, tuple(grid.items()), "", tuple(for_all), tuple(lemmas)
    )
