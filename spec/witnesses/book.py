"""The table of witnesses: one for each rule of the book, and how one is confirmed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any

from ..chapters import chapters
from ..engines.replay import trace_of
from ..engines.search import RuleInstance
from ..notation.bound import bind
from ..notation.errors import CheckvalveError
from ..notation.interpreter import Interpreter, Step
from ..notation.labels import show_step
from ..notation.machine import Machine
from ..notation.rules import Rule
from .classes import mutant_named

__all__ = ["TABLE", "Witness", "confirm", "to_json", "witnesses"]

TABLE = "witnesses.json"
"""The file beside this module."""

Moves = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


@dataclass(frozen=True)
class Witness:
    """A run that breaks a rule, or that an observer refuses by it.

    ``machine`` is a full name such as ``flow.credit.Link``. ``method`` and ``words`` name the
    mutant on which the rule (for the choice ``args`` of its parameters) is violated; they are
    empty where the machine itself violates it. ``steps`` is the run; ``loop`` as in ``Trace``.
    Of a guard rule, the last step is the one that is refused.
    """

    rule: str
    machine: str
    constants: Mapping[str, int]
    method: str = ""
    words: str = ""
    args: tuple[tuple[str, int], ...] = ()
    steps: Moves = ()
    loop: int | None = None

    @property
    def kind(self) -> str:
        """What breaks the rule, in words for a count."""
        if self.method:
            return "a small change of its machine"
        return "a step that an observer refuses" if self.words else "a machine as it stands"

    def __str__(self) -> str:
        name = self.machine.rpartition(".")[2]
        if self.method:
            return f"{self.method}: {self.words}"
        if self.words:
            return f"{name} {self.words} {show_step(*self.steps[-1])}"
        return f"{name} as it stands"


REFUSES = "refuses"
"""What ``words`` says of a guard rule's witness."""


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
    return Witness(**{**row, "args": _args(row["args"]), "steps": moves})


def _args(pairs: Any) -> tuple[tuple[str, int], ...]:
    return tuple((name, value) for name, value in pairs)


def confirm(witness: Witness) -> str:
    """Why a witness proves nothing about the book as it is; empty if it does."""
    try:
        machine = _machine_of(witness)
        if machine is None:
            return f"there is no machine {witness.machine!r}"
        if witness.method:
            mutant = mutant_named(machine, witness.method, witness.words)
            if mutant is None:
                return f"{witness.machine} has no mutant {witness}"
            machine = mutant
        rule = next((rule for rule in machine.rules_declared if rule.id == witness.rule), None)
        if rule is None:
            return f"{witness.machine} has no rule {witness.rule}"
        return _replayed(bind(machine, **witness.constants).interpreter, rule, witness)
    except CheckvalveError as error:
        return str(error)


def _machine_of(witness: Witness) -> type[Machine] | None:
    """The machine of a witness: one that its chapter defines, or expects something of."""
    name, _, machine = witness.machine.rpartition(".")
    for chapter in chapters():
        if chapter.name == name:
            found = [*chapter.machines, *(each.machine for each in chapter.expectations)]
            return next((each for each in found if each.__name__ == machine), None)
    return None


def _replayed(oracle: Interpreter, rule: Rule, witness: Witness) -> str:
    if witness.words == REFUSES:
        return _refused(oracle, rule, witness.steps)
    unknown = [step for step in witness.steps if step not in oracle.steps()]
    if unknown:
        return f"{witness.machine} has no step {show_step(*unknown[0])}"
    path = [oracle.steps().index(step) for step in witness.steps]
    trace_of(oracle, path, RuleInstance(rule, witness.args), witness.loop)
    return ""


def _refused(oracle: Interpreter, rule: Rule, steps: tuple[Step, ...]) -> str:
    state = oracle.initial()
    for step in steps[:-1]:
        after = oracle.step(state, *step)
        if after is None:
            return f"{show_step(*step)} is refused before the run ends"
        state = after
    reason = oracle.attempt(state, *steps[-1])
    if reason is None or reason.rule is None or reason.rule.id != rule.id:
        return f"{show_step(*steps[-1])} is not refused by {rule.id}"
    return ""
