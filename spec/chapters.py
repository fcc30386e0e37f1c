"""The chapters of the rule book, by name."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TypeVar

from .expectations import Expectation
from .lemmas import Lemma
from .notation.errors import InputError, InternalError
from .notation.labels import nearest
from .notation.machine import Machine
from .notation.rules import Rule
from .notation.source import syntax_of_file
from .refinements import Refinement
from .shelf import chapter_names, module_of

__all__ = ["Chapter", "chapter_names", "chapter_of", "chapters", "machine_named"]

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Chapter:
    """A chapter: its name, its module, and what the module defines."""

    name: str
    module: ModuleType

    @property
    def about(self) -> str:
        """Its subject: the first sentence of its docstring, without the period."""
        first = (self.module.__doc__ or "").partition("\n\n")[0]
        return " ".join(first.split()).partition(". ")[0].removesuffix(".")

    @property
    def machines(self) -> tuple[type[Machine], ...]:
        """The machines that the chapter defines, in the order of the text."""
        found = [
            value for value in vars(self.module).values()
            if inspect.isclass(value) and issubclass(value, Machine)
            and value.__module__ == self.module.__name__
        ]
        return tuple(found)

    @property
    def expectations(self) -> tuple[Expectation, ...]:
        """The promises of the chapter's author; InputError if that is no table of such."""
        promised = self._table("EXPECTATIONS", Expectation, Refinement)
        return tuple(each for each in promised if isinstance(each, Expectation))

    @property
    def refinements(self) -> tuple[Refinement, ...]:
        """The rows of the same table that tie a machine to an observer's."""
        promised = self._table("EXPECTATIONS", Expectation, Refinement)
        return tuple(each for each in promised if isinstance(each, Refinement))

    @property
    def unseen(self) -> dict[str, str]:
        """For rules that nothing outside a mechanism can show, a sentence that says why."""
        return dict(getattr(self.module, "UNSEEN", {}))

    @property
    def bookkeeping(self) -> dict[str, str]:
        """For rules about an observer's own bookkeeping, why no implementation can break them."""
        return dict(getattr(self.module, "BOOKKEEPING", {}))

    @property
    def lemmas(self) -> tuple[Lemma, ...]:
        """The claims of a chapter about an algebra; InputError if that is no table of such."""
        return self._table("LEMMAS", Lemma)

    def _table(self, name: str, *of: type[Entry]) -> tuple[Entry, ...]:
        found = self._made(name)
        if not isinstance(found, list | tuple):
            found = (found,)
        wrong = [item for item in found if not isinstance(item, of)]
        if not wrong:
            return tuple(found)
        raise InputError(
            f"{name} has {wrong[0]!r}, which is no {of[0].__name__}", self._where(name),
            f"Write {name} = (…,) with the calls that return what it lists; docs/notation.md has "
            "an example.",
        )

    def _made(self, name: str) -> object:
        """A table, empty if the module has none. One that cannot be made is not an empty one:
        ``getattr`` with a default takes any AttributeError on the way for a missing name."""
        made = vars(self.module)
        if name in made or "__getattr__" not in made:
            return made.get(name, ())
        try:
            return made["__getattr__"](name)
        except AttributeError as error:
            if error.args == (name,):
                return ()
            ours = self.module.__name__.startswith(f"{__package__}.")
            raise (InternalError if ours else InputError)(
                f"the table {name} of {self.name} cannot be made: AttributeError: {error}",
                self.module.__file__ or "",
                f"See what __getattr__ of the module does for {name}.") from error

    def _where(self, name: str) -> str:
        """``file:line`` of the assignment to a name."""
        file = self.module.__file__ or ""
        lines = [
            node.lineno for node in syntax_of_file(file).body
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
            and name in {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        ]
        return f"{file}:{lines[-1]}" if lines else file

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The chapter's rules, each once, in the order of the text."""
        found: dict[str, Rule] = {}
        for machine in self.machines:
            for rule in machine.rules_declared:
                found.setdefault(rule.id, rule)
        return tuple(found.values())


def chapters(names: Iterable[str] = ()) -> Iterator[Chapter]:
    """The chapters that some names select, in the book's order (all if none are given).

    A name selects a chapter (``storm.queue``), what continues it (``kafka.timer_races``) and
    all below it (``storm``). Raises
    InputError for a name that selects nothing.
    """
    wanted = list(names)
    for name in wanted:
        if not any(_selects(name, chapter) for chapter in chapter_names()):
            raise InputError(
                f"there is no chapter {name[:80]!r}",
                next_step=nearest(name, chapter_names(), "`checkvalve rules`"),
            )
    for chapter in chapter_names():
        if not wanted or any(_selects(name, chapter) for name in wanted):
            yield Chapter(chapter, import_module(module_of(chapter)))


def chapter_of(module: str) -> str:
    """The name of the chapter that a module of the book is; others keep their own name."""
    parts = module.removeprefix("checkvalve.spec.").split(".")
    name = f"{parts[0]}.{parts[-1]}"
    return name if name in chapter_names() else module


def _selects(name: str, chapter: str) -> bool:
    return chapter == name or chapter.startswith((f"{name}.", f"{name}_"))


def machine_named(name: str) -> type[Machine]:
    """The machine of a full name such as ``flow.credit.Link``; InputError if there is none."""
    chapter_name, _, machine_name = name.rpartition(".")
    for chapter in chapters([chapter_name] if chapter_name in chapter_names() else []):
        for machine in chapter.machines:
            if f"{chapter.name}.{machine.__name__}" == name:
                return machine
    known = [f"{c.name}.{m.__name__}" for c in chapters() for m in c.machines]
    raise InputError(
        f"there is no machine {name[:80]!r}",
        next_step=nearest(name, known, "`checkvalve verify --rows`"))
