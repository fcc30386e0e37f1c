"""A machine that follows one log: the chapter's own Python, on one state, step by step.

Where a machine has no hidden steps, or where it is known when they happened, it is always in one
state. Then its methods are called on an instance that stays, and nothing is copied or compared:
millions of steps a second, and memory that does not grow. What is refused ends it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from copy import copy
from functools import cache
from typing import Any

from ...spec.engines.monitor import Failure, failure_of
from ...spec.notation.bound import BoundMachine, bind_to_watch
from ...spec.notation.errors import InputError
from ...spec.notation.interpreter import State
from ...spec.notation.machine import Machine
from ...spec.notation.progress import rules_cited
from ...spec.notation.types import Disabled

__all__ = ["Live", "bound", "frozen", "rules_at_stake"]


def bound(machine: type[Machine], **constants: int) -> BoundMachine:
    """A machine with its constants, made once."""
    known: Any = machine    # a class has a hash, whatever its instances have
    return _bound(known, tuple(constants.items()))


@cache
def _bound(machine: Any, constants: tuple[tuple[str, int], ...]) -> BoundMachine:
    try:
        return bind_to_watch(machine, **dict(constants))
    except InputError as error:     # its place is a chapter of ours, and its constants are settings
        raise InputError(f"the settings do not fit together: {error.what}", "",
                         "Give others by --set, or under \"settings\" in the mapping.") from error


@cache
def _initial(machine: Any, constants: tuple[tuple[str, int], ...]) -> State:
    """The first state: a log may have a million keys, each of which begins there."""
    return _bound(machine, constants).interpreter.layout.initial()


def rules_at_stake(machine: type[Machine]) -> Mapping[str, tuple[str, ...]]:
    """By action, the ids of the rules that a step of it could break."""
    known: Any = machine
    return _at_stake(known)


@cache
def _at_stake(machine: Any) -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(rule.id for rule in rules_cited(action, machine))
            for name, action in machine.actions_declared.items()}


class Live:
    """One machine in one state. ``self.machine`` is the instance: its variables may be looked at;
    ``taken`` counts the steps so far."""

    __slots__ = ("_bound", "_first", "_functions", "machine", "taken")

    def __init__(self, machine: type[Machine], **constants: int) -> None:
        self._bound = bound(machine, **constants)
        known: Any = machine
        self._functions = _functions(known)
        self.machine: Any = object.__new__(machine)
        self.machine.__dict__.update(self._bound.constants)
        self._first = _initial(known, tuple(constants.items()))
        self._bound.interpreter.layout.load(self.machine, self._first)
        self.taken = 0

    def takes(self, name: str, **args: int) -> Failure | None:
        """Take a step; if it is refused, why. What was changed before a guard stays changed."""
        try:
            self._functions[name](self.machine, **args)
        except Disabled as reason:
            return failure_of(reason, name, tuple(args.items()), self.taken)
        self.taken += 1
        return None

    def initial(self) -> dict[str, Any]:
        """The values of the variables at first."""
        known: Any = type(self.machine)
        blank: Any = object.__new__(known)
        blank.__dict__.update(self._bound.constants)
        layout = self._bound.interpreter.layout
        layout.load(blank, self._first)
        return {name: getattr(blank, name) for name in layout.names}

    def saved(self) -> dict[str, Any]:
        """A copy of the state, to be restored."""
        return {name: copy(value) for name, value in self.variables().items()}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Be in a state that was saved; it stays saved."""
        self.machine.__dict__.update({name: copy(value) for name, value in saved.items()})

    def variables(self) -> dict[str, Any]:
        """The state in words: the variables with their values."""
        return {name: getattr(self.machine, name)
                for name in self._bound.interpreter.layout.names}


@cache
def _functions(machine: Any) -> Mapping[str, Any]:
    return {name: action.function for name, action in machine.actions_declared.items()}


def frozen(values: Iterable[Any]) -> Hashable:
    """The values of some variables, as they can be compared and hashed."""
    return tuple(map(_frozen, values))


def _frozen(value: Any) -> Any:
    if isinstance(value, set):
        return frozenset(value)
    if isinstance(value, dict):
        return frozenset(value.items())
    return tuple(value) if isinstance(value, list | deque) else value
