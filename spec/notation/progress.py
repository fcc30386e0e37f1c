"""Rules of progress: those that ask for something to happen.

Of a machine that is run to its end they are those of the kinds ``LIVENESS``. An observer sees
finite runs, in which nothing is late until the implementation is idle. So there a rule of progress
is one that refuses a step by which an implementation shows that it is idle, or does not do what it
was asked for: a guard of an action that ``rests``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from .machine import Action, Machine
from .rules import Rule

__all__ = ["guards_of_rest", "is_of_progress", "rules_cited", "rules_of_progress"]


def is_of_progress(rule: Rule, machine: type[Machine]) -> bool:
    """True if a rule of a machine asks for something to happen."""
    return any(rule.id == each.id for each in rules_of_progress(machine))


def rules_of_progress(machine: type[Machine]) -> tuple[Rule, ...]:
    """Those rules of a machine that ask for something to happen, in its order."""
    guards = {rule.id for action in machine.actions_declared.values()
              for rule in guards_of_rest(action, machine)}
    return tuple(rule for rule in machine.rules_declared if rule.progress or rule.id in guards)


def guards_of_rest(action: Action, machine: type[Machine]) -> tuple[Rule, ...]:
    """The rules that may refuse an action because it shows that an implementation is idle; none if
    the action does not show that."""
    if isinstance(action.rests, tuple):
        return action.rests
    return tuple(dict.fromkeys(_cited(action.function, machine, set()))) if action.rests else ()


def rules_cited(action: Action, machine: type[Machine]) -> tuple[Rule, ...]:
    """The rules that the guards of an action name, in the action or in its helpers: those that a
    step of it could break."""
    return tuple(dict.fromkeys(_cited(action.function, machine, set())))


def _cited(
    function: Callable[..., Any], machine: type[Machine], seen: set[str]
) -> Iterator[Rule]:
    """The rules that a function names, or a helper that it calls."""
    for name in function.__code__.co_names:
        value = function.__globals__.get(name, getattr(machine, name, None))
        if isinstance(value, Rule):
            yield value
        elif isinstance(value, FunctionType) and name not in seen and not _is_action(value):
            seen.add(name)
            yield from _cited(value, machine, seen)


def _is_action(value: object) -> bool:
    return hasattr(value, "__checkvalve_action__")
