"""The interpreter: a chapter's own Python, run one step at a time by CPython.

It is the oracle that every other engine is tested against. It knows nothing of expression
trees: it calls the methods that the chapter defines.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from .errors import (
    CheckvalveError, InputError, InternalError, ModelFault, line_in, raised_here,
)
from .labels import show_step, show_value
from .layout import Layout
from .machine import Action, Machine, values_of
from .rules import Rule
from .types import Disabled, Overflow

__all__ = ["Args", "Interpreter", "State", "Step", "choices", "show_step", "show_value"]

State = tuple[Any, ...]
Args = tuple[tuple[str, int], ...]
Step = tuple[str, Args]

_FAULTS = (Overflow, IndexError, ZeroDivisionError, AssertionError)
"""The exceptions of a machine's code where its author forgot a guard."""


class Interpreter:
    """One machine with its constants, executed by CPython."""

    def __init__(self, machine: type[Machine], constants: Mapping[str, Any]) -> None:
        self.machine = machine
        self.constants = dict(constants)
        self.layout = Layout(machine, self.constants)
        self._instance = self._new_instance()
        self._after = self._new_instance()
        self._steps: list[Step] | None = None

    def _new_instance(self) -> Machine:
        instance = object.__new__(self.machine)
        instance.__dict__.update(self.constants)
        return instance

    # --- states --------------------------------------------------------------------

    def initial(self) -> State:
        """The state in which every run begins."""
        return self.layout.initial()

    def slots(self, state: State) -> dict[str, Any]:
        """The state's values by slot name."""
        return self.layout.flatten(state)

    def from_slots(self, slots: Mapping[str, Any]) -> State:
        """The state with these values by slot name."""
        return self.layout.unflatten(slots)

    def look(self, state: State) -> Machine:
        """The machine in a state, to read its attributes; good until the next call."""
        self.layout.load(self._instance, state)
        return self._instance

    # --- steps -----------------------------------------------------------------------

    def steps(self) -> list[Step]:
        """Every action for every choice of its parameters, in the order of the text."""
        if self._steps is None:
            self._steps = [
                (action.name, args)
                for action in self.machine.actions_declared.values()
                for args in choices(action.over, self.constants)
            ]
        return self._steps

    def step(self, state: State, name: str, args: Args = ()) -> State | None:
        """The state after an action, or None where it is not enabled.

        Raises ModelFault where the action would leave the declared ranges.
        """
        action = self.machine.actions_declared[name]
        instance = self.look(state)
        try:
            action.function(instance, **dict(args))
        except Disabled:
            return None
        except Exception as problem:
            _reraise_ours(problem)
            raise ModelFault(
                f"{show_step(name, args)} fails: {_told(problem)}", place(action),
                "Add the guard that keeps the action from this state.",
            ) from problem
        return self.layout.save(instance, place(action), state)

    def attempt(self, state: State, name: str, args: Args) -> Disabled | None:
        """Why an action is not enabled: the guard that fails, with its traceback."""
        action = self.machine.actions_declared[name]
        try:
            action.function(self.look(state), **dict(args))
        except Disabled as reason:
            return reason
        return None

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Every enabled step with the state that it leads to."""
        for step in self.steps():
            after = self.step(state, *step)
            if after is not None:
                yield step, after

    # --- rules -----------------------------------------------------------------------

    def rule(self, rule_id: str) -> Rule:
        """The machine's rule of that id."""
        for rule in self.machine.rules_declared:
            if rule.id == rule_id:
                return rule
        raise InputError(f"{self.machine.__name__} has no rule {rule_id}")

    def holds(self, rule: Rule, args: Args, state: State, after: State | None = None) -> Any:
        """The result of a rule's predicate in a state (or, for a step rule, for a step).

        Raises ModelFault where it fails, as by a division by zero.
        """
        if rule.predicate is None:
            raise InternalError(f"{rule.id} is a guard rule and has no predicate")
        machines = [self.look(state)]
        if after is not None:
            self.layout.load(self._after, after)
            machines.append(self._after)
        try:
            return rule.predicate(*machines, **dict(args))
        except Exception as problem:
            _reraise_ours(problem)
            file = rule.predicate.__code__.co_filename
            raise ModelFault(
                f"the rule {rule.id} fails in a state that can be reached: {_told(problem)}",
                f"{file}:{line_in(problem, file)}",
                "Let it be true or false in every state.",
            ) from problem


def choices(over: tuple[tuple[str, Any], ...], constants: Mapping[str, Any]) -> list[Args]:
    """Every choice of values for finite parameters."""
    names = [name for name, _ in over]
    domains = [values_of(domain, constants) for _, domain in over]
    return [
        tuple(zip(names, values, strict=True)) for values in itertools.product(*domains)
    ]


def _reraise_ours(problem: Exception) -> None:
    """Raise again what the machine's author cannot fix."""
    if isinstance(problem, CheckvalveError) or (
        not isinstance(problem, _FAULTS) and raised_here(problem)
    ):
        raise problem


def _told(problem: Exception) -> str:
    return str(problem) or type(problem).__name__


def place(action: Action) -> str:
    """``file:line`` of an action."""
    code = action.function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"
