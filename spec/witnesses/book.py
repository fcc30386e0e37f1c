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
from ..notation.errors import CheckvalveError, ModelFault
from ..notation.interpreter import Interpreter, State, Step
from ..notation.labels import show_step
from ..notation.machine import Machine
from ..notation.rules import Rule
from .classes import mutant_named

__all__ = [
    "GUARD_LEFT_OUT", "TABLE", "Witness", "confirm", "refuses", "states", "taken",
    "to_json", "witnesses",
]

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


def confirm(witness: Witness) -> str:
    """Why a witness proves nothing about the book as it is; empty if it does."""
    try:
        machine = _machine_of(witness)
        if machine is None:
            return f"there is no machine {witness.machine!r}"
        rule = next((rule for rule in machine.rules_declared if rule.id == witness.rule), None)
        if rule is None:
            return f"{witness.machine} has no rule {witness.rule}"
        if not witness.method and not witness.of_a_guard and not states(machine, rule):
            return f"{witness.machine} is a variant, and {witness.rule} is about another machine"
        changed = machine if not witness.method else mutant_named(
            machine, witness.method, witness.words)
        if changed is None:
            return f"{witness.machine} has no mutant {witness}"
        oracle = bind(changed, **witness.constants).interpreter
        if witness.of_a_guard:
            return _refused(bind(machine, **witness.constants).interpreter, oracle, witness)
        return _replayed(oracle, rule, witness)
    except CheckvalveError as error:
        return str(error)


def states(machine: type[Machine], rule: Rule) -> bool:
    """True if a rule is a statement about this very machine, and not about one it varies."""
    return rule.predicate is not None and rule.predicate in vars(machine).values()


def _machine_of(witness: Witness) -> type[Machine] | None:
    """The machine of a witness: one that its chapter defines, or expects something of."""
    name, _, machine = witness.machine.rpartition(".")
    for chapter in chapters():
        if chapter.name == name:
            found = [*chapter.machines, *(each.machine for each in chapter.expectations)]
            return next((each for each in found if each.__name__ == machine), None)
    return None


def _replayed(oracle: Interpreter, rule: Rule, witness: Witness) -> str:
    unknown = [step for step in witness.steps if step not in oracle.steps()]
    if unknown:
        return f"{witness.machine} has no step {show_step(*unknown[0])}"
    path = [oracle.steps().index(step) for step in witness.steps]
    trace_of(oracle, path, RuleInstance(rule, witness.args), witness.loop)
    return ""


def _refused(oracle: Interpreter, without: Interpreter, witness: Witness) -> str:
    if refuses(oracle, without if witness.method else None, witness.rule, witness.steps):
        return ""
    return f"{witness.rule} does not refuse {show_step(*witness.steps[-1])}, or not alone"


def refuses(
    oracle: Interpreter, without: Interpreter | None, id: str, steps: tuple[Step, ...]
) -> bool:
    """True if a run ends with a step that a rule refuses, and that the mutant ``without`` its guard
    takes, if there is one."""
    state = oracle.initial()
    for step in steps[:-1]:
        try:
            after = oracle.step(state, *step)
        except ModelFault:
            return False
        if after is None:
            return False
        state = after
    reason = oracle.attempt(state, *steps[-1])
    return (reason is not None and reason.rule is not None and reason.rule.id == id
            and (without is None or taken(without, state, steps[-1])))


def taken(oracle: Interpreter, state: State, step: Step) -> bool:
    """True if a machine takes a step, and stays within its ranges."""
    try:
        return oracle.step(state, *step) is not None
    except ModelFault:
        return False
