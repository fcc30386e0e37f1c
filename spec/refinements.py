"""Refinements: that what a chapter proves of a mechanism is what an observer's suite tests.

``refines`` says that every run of a machine, seen through a view, is a run of an observer's
machine; ``refused`` says of a broken variant that some run of it is not, and which rule says so.
Both stand in a chapter's EXPECTATIONS, and ``checkvalve verify`` decides them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .engines.follow import conditions_without_rule
from .expectations import Values, points_of
from .notation.errors import InputError
from .notation.machine import Machine, constants_of
from .notation.views import View, check_view

__all__ = ["Refinement", "refines", "refused"]


@dataclass(frozen=True)
class Refinement:
    """One row group: a machine, the observer that looks on, and what is shown to it.

    ``rule`` is empty for a machine that refines the observer, and the id of the rule at which a
    broken variant is refused. ``seen_by`` gives the observer its constants: numbers, or
    what to compute from the machine's, as text. ``room`` has
    conditions of the observer, as text, that bound what it follows: a run that meets one ends
    there, and breaks nothing. ``beside`` names rules that a variant breaks as well, in a way that
    this refusal does not show. Raises InputError for what machine and observer do not have.
    """

    machine: type[Machine]
    observer: type[Machine]
    shows: type[View[Any]]
    about: str
    rule: str = ""
    grid: tuple[tuple[str, Values], ...] = ()
    seen_by: tuple[tuple[str, int | str], ...] = ()
    room: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        both: tuple[object, ...] = self.machine, self.observer
        view: object = self.shows
        for given in both:
            if not (inspect.isclass(given) and issubclass(given, Machine)):
                raise InputError(f"a refinement is about two machines, not {given!r}",
                                 next_step="Give classes: refines(Acker, ObservedAcker, …).")
        if not (inspect.isclass(view) and issubclass(view, View)):
            raise InputError(f"what {self.machine.__name__} shows is {view!r}, and no view",
                             next_step="Give a class that is derived from View: shows=….")
        check_view(self.shows, self.machine)
        rules = [rule.id for rule in self.observer.rules_declared if rule.kind == "guard"]
        self._only("rule", self.observer, [self.rule] if self.rule else [], rules)
        self._only("constant", self.machine, (name for name, _ in self.grid),
                   list(self.machine.constants_declared))
        self._only("constant", self.observer, (name for name, _ in self.seen_by),
                   list(self.observer.constants_declared))
        self._only("condition without a rule", self.observer, self.room,
                   conditions_without_rule(self.observer))

    def _only(
        self, what: str, machine: type[Machine], given: Iterable[str], known: Sequence[str]
    ) -> None:
        for name in given:
            if name not in known:
                raise InputError(
                    f"the refinement of {self.observer.__name__} by {self.machine.__name__} is "
                    f"wrong: {machine.__name__} has no {what} {name!r}",
                    next_step=f"Known here: {', '.join(known) or 'none'}.")

    @property
    def title(self) -> str:
        """The title of a row of it, in the place of a rule."""
        observer = self.observer.__name__
        return f"{self.rule} of {observer}" if self.rule else f"refines {observer}"

    @property
    def verdict(self) -> str:
        """``violated`` for a variant that is refused, else ``holds``."""
        return "violated" if self.rule else "holds"

    def points(self) -> Iterator[dict[str, Any]]:
        """Every choice of the machine's constants."""
        yield from points_of(self.grid)

    def observers_constants(self, constants: Mapping[str, Any]) -> dict[str, int]:
        """Those of the observer where the machine has these."""
        known = constants_of(self.machine, constants)
        return {name: value if isinstance(value, int) else _computed(value, known)
                for name, value in self.seen_by}


def _computed(text: str, constants: Mapping[str, Any]) -> int:
    try:
        # The chapter author's own text, as the condition of an expectation.
        return int(eval(text, {}, dict(constants)))  # noqa: S307
    except Exception as error:
        raise InputError(
            f"the constant {text!r} of an observer cannot be computed: {error}",
            next_step="Write a number, or an expression over the machine's constants.") from error


def refines(
    machine: type[Machine], observer: type[Machine], about: str = "", *, shows: type[View[Any]],
    seen_by: Mapping[str, int | str] | None = None, room: Iterable[str] = (), **grid: Values,
) -> Refinement:
    """Every run of the machine, as its view shows it, is a run of the observer.

    The grid has the machine's constants, as in ``expect``; ``seen_by`` those of the observer.
    """
    return Refinement(machine, observer, shows, about, "", tuple(grid.items()),
                      tuple((seen_by or {}).items()), tuple(room))


def refused(
    variant: type[Machine], rule: str, about: str = "", *, like: Refinement,
    seen_by: Mapping[str, int | str] | None = None, beside: Iterable[str] = (), **grid: Values,
) -> Refinement:
    """Some run of a broken variant is refused, by that rule of the observer.

    The variant is seen as the machine of ``like`` is, and has its constants, but for those that
    are given here.
    """
    constants = {name: value for name, value in like.grid
                 if name in variant.constants_declared} | grid
    observers = dict(like.seen_by) | dict(seen_by or {})
    return replace(like, machine=variant, rule=rule, about=about, grid=tuple(constants.items()),
                   seen_by=tuple(observers.items()), beside=tuple(beside))
