"""The check of a machine's declarations under given constants, before an engine reads them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .errors import InputError
from .labels import brief
from .layout import element_at
from .machine import Machine, number, values_of
from .source import place_of_member
from .types import (
    MOST_VALUES, ArrayDecl, ChoiceDecl, Decl, FifoDecl, IntDecl, RecordDecl, SetDecl, Sym,
)

__all__ = ["check_declared"]

Constants = Mapping[str, Any]

_MOST_BITS = 62
"""The bits of the largest number: every engine can add two such without leaving a machine word."""


def check_declared(machine: type[Machine], constants: Constants, watching: bool = False) -> None:
    """Raise InputError, with file and line, for a variable or parameter that makes no sense.

    Its domain has too many values, its range or its start is impossible, a table is too short.
    ``watching``: the machine watches runs, which say with which parameters each action that can
    be seen was taken; so only those of internal actions are ever enumerated.
    """
    for name, decl in machine.variables_declared.items():
        try:
            _check(decl, constants)
        except InputError as error:
            error.what = f"{name} of {machine.__name__}: {error.what}"
            error.where = error.where or place_of_member(machine, name)
            raise
    for action in machine.actions_declared.values():
        if action.internal or not watching:
            _check_choices(action.name, action.function, action.over, constants)
    for rule in () if watching else machine.rules_declared:
        if rule.predicate is not None:
            _check_choices(rule.id, rule.predicate, rule.over, constants)


def _check_choices(name: str, function: Any, over: tuple[tuple[str, Any], ...],
                   constants: Constants) -> None:
    code = function.__code__
    where = f"{code.co_filename}:{code.co_firstlineno}"
    try:
        count = math.prod(len(values_of(domain, constants)) for _, domain in over)
    except InputError as error:
        error.what = f"{name}: {error.what}"
        error.where = error.where or where
        raise
    if count > MOST_VALUES:
        raise InputError(f"{name} has {count:,} instances, and may have {MOST_VALUES:,}", where,
                         "Give its parameters smaller domains.")


def _check(decl: Decl, constants: Constants) -> None:
    """Check the declaration of a variable, or of an element that is there from the start."""
    if isinstance(decl, IntDecl):
        low, high = _range(decl, constants)
        start = low if decl.init is None else number(decl.init, constants)
        if not low <= start <= high:
            raise InputError(f"it starts as {brief(start)}, outside {brief(low)}..{brief(high)}",
                             next_step="Widen its range, or start inside of it.")
    elif isinstance(decl, ChoiceDecl):
        size = len(values_of(decl.domain, constants))
        if not 0 <= decl.init < size:
            raise InputError(f"it starts as {brief(decl.init)}, and its domain has {size} values",
                             next_step="Start as one of them.")
    elif isinstance(decl, RecordDecl):
        for _, part in decl.fields:
            _check(part, constants)
    elif isinstance(decl, FifoDecl):
        _check_fifo(decl, constants)
    elif isinstance(decl, SetDecl):
        outside = set(decl.init) - set(map(int, values_of(decl.domain, constants)))
        if outside:
            raise InputError(f"it starts with {brief(min(outside))}, which is not in its domain",
                             next_step="Start with members of the domain.")
    elif isinstance(decl, ArrayDecl):
        _check_array(decl, constants)


def _range(decl: IntDecl, constants: Constants) -> tuple[int, int]:
    bounds = number(decl.lo, constants), number(decl.hi, constants)
    for bound in bounds:
        if bound.bit_length() > _MOST_BITS:
            raise InputError(f"its range goes to {brief(bound)}, beyond 2**{_MOST_BITS}",
                             next_step="Give it a smaller range.")
    return bounds


def _check_fifo(decl: FifoDecl, constants: Constants) -> None:
    capacity = number(decl.capacity, constants)
    if not 0 <= capacity <= MOST_VALUES:
        raise InputError(f"its capacity is {brief(capacity)}, and may be 0 to {MOST_VALUES:,}",
                         next_step="Give it a capacity in that range.")
    if len(decl.init) > capacity:
        raise InputError(f"it starts with {len(decl.init)} elements, and holds {capacity}",
                         next_step="Start with fewer.")
    if isinstance(decl.element, IntDecl):
        low, high = _range(decl.element, constants)
        wrong = [item for item in decl.init if not isinstance(item, int) or not low <= item <= high]
        if wrong:
            raise InputError(f"it starts with {brief(wrong[0])}, outside {low}..{high}",
                             next_step="Start with elements of its own kind.")


def _check_array(decl: ArrayDecl, constants: Constants) -> None:
    indices = values_of(decl.domain, constants)
    if not isinstance(decl.element, IntDecl):
        if indices:
            _check(decl.element, constants)
        return
    for table in _tables_of_entries((decl.element.lo, decl.element.hi, decl.element.init)):
        entries = number(table, constants)
        if len(entries) < len(indices) or not all(isinstance(one, int) for one in entries):
            raise InputError(
                f"its table has not one number for each of its {len(indices)} elements",
                next_step="Give the table as many entries as the array has.")
    for index in indices:
        _check(element_at(decl, int(index), constants), constants)


def _tables_of_entries(bounds: Iterable[Any]) -> Iterator[Any]:
    """The tables of which an expression takes the entry at the element's own index."""
    for bound in bounds:
        if isinstance(bound, Sym):
            yield from bound.args if bound.op == "each" else _tables_of_entries(bound.args)
