"""A machine with its constants: what engines are given."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from .declared import check_declared
from .errors import CheckvalveError, InputError, line_in
from .labels import brief
from .layout import slots_of
from .machine import Machine, constants_of
from .model import LoweredRule, Model, Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .interpreter import Interpreter

__all__ = ["BoundMachine", "bind", "bind_to_watch"]


class BoundMachine:
    """A machine with values for all its constants, with its two readings.

    ``interpreter`` runs the chapter's Python, ``model`` is the same text as expression
    trees; each is made when it is first asked for.
    """

    def __init__(self, machine: type[Machine], constants: dict[str, Any]) -> None:
        self.machine = machine
        self.constants = constants
        self._model: Model | None = None

    @cached_property
    def interpreter(self) -> Interpreter:
        """The machine as CPython runs it: the oracle."""
        from .interpreter import Interpreter
        return Interpreter(self.machine, self.constants)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The pieces of the state, from the declarations alone."""
        return tuple(slot for name, decl in self.machine.variables_declared.items()
                     for slot in slots_of(name, decl, self.constants))

    @property
    def model(self) -> Model:
        """The machine as every compiling engine reads it."""
        return self.lowered()

    def lowered(self, watch: Callable[[], None] = lambda: None) -> Model:
        """The lowered form, made when it is first asked for; ``watch`` is asked all along, and
        may raise."""
        if self._model is None:
            from .lower import lower
            self._model = lower(self.machine, self.constants, watch=watch)
        return self._model

    def rules(self, rule_id: str) -> list[LoweredRule]:
        """A rule of the machine, lowered, once for each choice of its parameters."""
        found = [rule for rule in self.model.rules if rule.rule.id == rule_id]
        if not found:
            raise InputError(f"{self.machine.__name__} has no rule {rule_id}")
        return found


def bind(machine: type[Machine], **constants: Any) -> BoundMachine:
    """Give a machine its constants; those not given keep their defaults.

    Raises InputError for an unknown constant, one out of range, a combination that the
    machine's assumptions exclude, or declarations that make no sense with these.
    """
    return _bound(machine, constants, watching=False)


def bind_to_watch(machine: type[Machine], **constants: Any) -> BoundMachine:
    """As ``bind``, for a machine that only watches runs: it needs no list of all instances of the
    actions that can be seen, nor of the rules, so that there may be any number of these."""
    return _bound(machine, constants, watching=True)


def _bound(machine: type[Machine], constants: Mapping[str, Any], watching: bool) -> BoundMachine:
    """A machine with its constants, once they are checked.

    Raises InputError for an unknown constant, one out of range, a combination that the
    machine's assumptions exclude, or declarations that make no sense with these.
    """
    values = constants_of(machine, constants)
    instance = object.__new__(machine)
    instance.__dict__.update(values)
    for assumption in machine.assumptions_declared:
        if not _is_true(assumption, instance):
            shown = ", ".join(f"{name}={brief(value)}" for name, value in values.items())
            raise InputError(
                f"{machine.__name__} does not allow {brief(shown)}: it assumes "
                f"{assumption.__name__.replace('_', ' ')}", _place(assumption),
                "Give constants of which that is true, or fix the assumption.",
            )
    check_declared(machine, values, watching)
    return BoundMachine(machine, values)


def _is_true(assumption: Callable[[Machine], object], constants: Machine) -> bool:
    try:
        return bool(assumption(constants))
    except CheckvalveError:
        raise
    except Exception as error:
        file = assumption.__code__.co_filename
        told = f"{type(error).__name__}: {error}".rstrip(": ")
        raise InputError(
            f"the assumption {assumption.__name__} fails: {brief(told)}",
            f"{file}:{line_in(error, file)}", "Let it be true or false of all constants.",
        ) from error


def _place(function: Callable[..., object]) -> str:
    """``file:line`` where ``function`` begins, with its decorators."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"
