"""How a witness is confirmed: the interpreter replays its run on the mutant, in milliseconds."""

from __future__ import annotations

from checkvalve.spec.chapters import chapters
from checkvalve.spec.engines.replay import trace_of
from checkvalve.spec.engines.search import RuleInstance
from checkvalve.spec.notation.bound import bind
from checkvalve.spec.notation.errors import CheckvalveError, ModelFault
from checkvalve.spec.notation.interpreter import Interpreter, State, Step
from checkvalve.spec.notation.labels import show_step
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.notation.rules import Rule
from checkvalve.spec.witnesses.book import Witness

from .classes import mutant_named

__all__ = ["confirm", "refuses", "states", "taken"]


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
    """Whether a rule is a statement about this very machine, and not about one it varies."""
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
    """Whether a run ends with a step that a rule refuses, and that the mutant ``without`` its
    guard takes, if there is one."""
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
    """Whether a machine takes a step, and stays within its ranges."""
    try:
        return oracle.step(state, *step) is not None
    except ModelFault:
        return False
