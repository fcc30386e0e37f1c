"""The table of witnesses: one for each rule of the book."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any

from ..notation.labels import show_step

__all__ = ["GUARD_LEFT_OUT", "TABLE", "Witness", "to_json", "witnesses"]

TABLE = "witnesses.json"
"""The file beside this module."""

Moves = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


@dataclass(frozen=True)
class Witness:
    """A mutant of a machine, and a run of it that breaks a rule.

    ``machine`` is a full name such as ``flow.credit.Link``. ``method`` and ``words`` name the
    mutant on which the rule (for the choice ``args`` of its parameters) is violated. ``steps`` is
    the run; ``loop`` as in ``Trace``. Of a guard rule, the mutant lacks one guard, and takes the
    last step, which the machine itself refuses by the rule. Both are empty where other guards
    refuse the step as well; and where a rule is a false statement of a text: then the machine that
    states it violates it as it stands.
    """

    rule: str
    machine: str
    constants: Mapping[str, Any]
    method: str = ""
    words: str = ""
    args: tuple[tuple[str, int], ...] = ()
    steps: Moves = ()
    loop: int | None = None
    of_a_guard: bool = False

    @property
    def kind(self) -> str:
        """The kind of thing that breaks the rule, in words for a count."""
        if not self.method:
            return ("a step that an observer refuses" if self.of_a_guard
                    else "a false statement that its own machine violates")
        if self.words.startswith(GUARD_LEFT_OUT) and self.of_a_guard:
            return "a guard left out"
        return "a small change of its machine"

    def __str__(self) -> str:
        name = self.machine.rpartition(".")[2]
        if not self.method and self.of_a_guard:
            return f"{name} refuses {show_step(*self.steps[-1])}, by more than one guard"
        if not self.method:
            return f"{name} as it stands, for the statement is false of it"
        taken = f", which takes {show_step(*self.steps[-1])}" if self.of_a_guard else ""
        return f"{self.method}: {self.words}{taken}"


GUARD_LEFT_OUT = "without require("
"""The first words of a mutant that lacks a guard."""


@cache
def witnesses() -> dict[str, Witness]:
    """The table, by rule; made by ``make witnesses``."""
    text = resources.files(__package__).joinpath(TABLE).read_text(encoding="utf-8")
    return {row["rule"]: _from_json(row) for row in json.loads(text)}


def to_json(found: Mapping[str, Witness]) -> str:
    """The text of the table: a row a line, so that a change shows what changed."""
    rows = [json.dumps(asdict(witness), ensure_ascii=False) for witness in found.values()]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def _from_json(row: Mapping[str, Any]) -> Witness:
    moves = tuple((name, _args(args)) for name, args in row["steps"])
    constants = {name: _frozen(value) for name, value in row["constants"].items()}
    return Witness(**{**row, "constants": constants, "args": _args(row["args"]), "steps": moves})


def _frozen(value: Any) -> Any:
    """A constant as chapters have it: tables are tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _args(pairs: Any) -> tuple[tuple[str, int], ...]:
    return tuple((name, value) for name, value in pairs)
