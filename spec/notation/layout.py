"""The slots of a machine's variables, and the conversion of a state's values to and from them.

The interpreter keeps a state as a tuple with one value per variable; the compiled engines
see flat slots. Both forms are produced here, from the declarations alone.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from . import expr as e
from .errors import InputError, ModelFault
from .labels import brief, show_value
from .machine import Machine, constant_value, domain_names, number, values_of
from .model import Slot
from .types import (
    Array, ArrayDecl, BoolDecl, ChoiceDecl, ConstDecl, Decl, Fifo, FifoDecl, IntDecl,
    RecordDecl, SetDecl, Sym, TableDecl,
)
from .wide import WIDE, FifoCheck, WideArray, WideCheck, blocks_of, elements_of

__all__ = ["Constants", "Layout", "Slots", "element_at", "expression_of"]

Constants = Mapping[str, Any]
_FOLD = {"add": e.add, "sub": e.sub, "mul": e.mul, "floordiv": e.floordiv}


def expression_of(value: Any, constants: Constants) -> e.Expr:
    """A declaration's bound as an expression: a literal, or over symbolic constants."""
    if isinstance(value, ConstDecl):
        value = constant_value(value, constants)
    if isinstance(value, e.Expr):
        return value
    if not isinstance(value, Sym):
        return e.Lit(int(value))
    if value.op in _FOLD:
        left, right = (expression_of(argument, constants) for argument in value.args)
        return _FOLD[value.op](left, right)
    return e.Lit(number(value, constants))


def scalar_type(decl: Decl, constants: Constants) -> e.Int | e.Bool | e.Record:
    """The type of an element that is not itself a container."""
    if isinstance(decl, IntDecl):
        return e.Int(expression_of(decl.lo, constants), expression_of(decl.hi, constants))
    if isinstance(decl, BoolDecl):
        return e.BOOL
    if isinstance(decl, ChoiceDecl):
        top = len(values_of(decl.domain, constants)) - 1
        return e.Int(e.Lit(0), e.Lit(top), domain_names(decl.domain))
    if isinstance(decl, RecordDecl):
        return e.Record(decl.factory.__name__, tuple(
            (name, _field_type(part, constants)) for name, part in decl.fields
        ))
    raise InputError(f"{type(decl).__name__} cannot be an element of a sequence or a record")


def _field_type(decl: Decl, constants: Constants) -> e.Int | e.Bool:
    found = scalar_type(decl, constants)
    if isinstance(found, e.Record):
        raise InputError("a record's field cannot be a record")
    return found


def element_at(decl: ArrayDecl, index: int, constants: Constants) -> Decl:
    """The declaration of one element of an array, where tables give its bounds."""
    element = decl.element
    if not isinstance(element, IntDecl):
        return element

    def at(bound: Any) -> Any:
        if not isinstance(bound, Sym) or isinstance(bound, ConstDecl | TableDecl):
            return bound
        if bound.op == "each":
            return number(bound.args[0], constants)[index]
        return Sym(bound.op, tuple(map(at, bound.args)))
    return IntDecl(at(element.lo), at(element.hi), at(element.init), element.of)


# --- slots -------------------------------------------------------------------------------

def slots_of(
    name: str, decl: Decl, constants: Constants, title: str = ""
) -> Iterator[Slot]:
    """The flat slots of one variable, in the order in which values are flattened.

    ``title`` is what readers know it by, if that is not its name.
    """
    title = title or name
    if isinstance(decl, ArrayDecl):
        for index in values_of(decl.domain, constants):
            element = element_at(decl, int(index), constants)
            yield from slots_of(f"{name}[{int(index)}]", element, constants,
                                f"{title}[{show_value(index)}]")
    elif isinstance(decl, SetDecl):
        for value in values_of(decl.domain, constants):
            yield Slot(f"{name}{{{int(value)}}}", e.BOOL, e.lit(int(value) in decl.init),
                       f"{title}{{{show_value(value)}}}")
    elif isinstance(decl, FifoDecl):
        item_type = scalar_type(decl.element, constants)
        kind = e.Queue(item_type, expression_of(decl.capacity, constants))
        queue: e.Expr = e.EmptyQueue(kind)
        for item in decl.init:
            queue = e.push(queue, _literal(item, item_type))
        yield Slot(name, kind, queue, title)
    else:
        yield Slot(name, scalar_type(decl, constants), _initial(decl, constants), title)


def _initial(decl: Decl, constants: Constants) -> e.Expr:
    if isinstance(decl, IntDecl):
        return expression_of(decl.lo if decl.init is None else decl.init, constants)
    if isinstance(decl, RecordDecl):
        kind = scalar_type(decl, constants)
        assert isinstance(kind, e.Record)
        return e.record(kind, *(_initial(part, constants) for _, part in decl.fields))
    if isinstance(decl, ChoiceDecl):
        return e.Lit(decl.init)
    assert isinstance(decl, BoolDecl)
    return e.lit(decl.init)


def _literal(item: Any, kind: e.Int | e.Bool | e.Record) -> e.Expr:
    if isinstance(kind, e.Record):
        return e.record(kind, *(
            _literal(part, field) for part, (_, field) in zip(item, kind.fields, strict=True)
        ))
    return e.Lit(int(item), e.BOOL) if isinstance(kind, e.Bool) else e.Lit(int(item))


# --- values ------------------------------------------------------------------------------

Convert = Callable[[Any], Any]


class Layout:
    """The variables of one machine under given constants.

    A *frozen* value is immutable and hashable, a *live* one is what actions work on. For each
    variable, ``thawing`` makes the second from the first and ``freezing`` the first from the
    second (None: they are the same), and ``checking`` says what is wrong with a frozen value,
    or nothing.
    """

    def __init__(self, machine: type[Machine], constants: Constants) -> None:
        self.machine = machine
        self.constants = constants
        self.variables = machine.variables_declared
        self.names = tuple(self.variables)
        self.places = {name: place for place, name in enumerate(self.names)}
        self.thawing = [_thaw(decl, constants) for decl in self.variables.values()]
        self.freezing = [_freeze(decl, constants) for decl in self.variables.values()]
        self.checking = [_check(decl, constants) for decl in self.variables.values()]

    @cached_property
    def slot_names(self) -> tuple[str, ...]:
        """The names of all slots, in the order in which values are flattened."""
        return tuple(slot.name for name, decl in self.variables.items()
                     for slot in slots_of(name, decl, self.constants))

    @property
    def size(self) -> int:
        """The number of slots of a state."""
        return len(self.slot_names)

    def initial(self) -> tuple[Any, ...]:
        """The initial state, frozen."""
        return self._initial

    @cached_property
    def _initial(self) -> tuple[Any, ...]:
        return tuple(_first(decl, self.constants) for decl in self.variables.values())

    def load(self, instance: Machine, state: tuple[Any, ...]) -> None:
        """Put a frozen state into an instance, live."""
        values = instance.__dict__
        for name, thaw, value in zip(self.names, self.thawing, state, strict=True):
            values[name] = value if thaw is None else thaw(value)

    def save(self, instance: Machine, where: str, before: tuple[Any, ...]) -> tuple[Any, ...]:
        """The instance's state, frozen and checked against the declared ranges."""
        values = instance.__dict__
        out = []
        for i, name in enumerate(self.names):
            freeze = self.freezing[i]
            try:
                value = values[name] if freeze is None else freeze(values[name])
                problem = "" if value == before[i] else self.wrong(i, value, before[i])
            except (TypeError, ValueError):
                value, problem = None, f"becomes {brief(values[name])}, which is of another kind"
            if problem:
                raise ModelFault(
                    f"{name} {problem}", where,
                    "Widen the declared range, or add the guard that keeps it.",
                )
            out.append(value)
        return tuple(out)

    def wrong(self, place: int, value: Any, before: Any) -> str:
        """The fault of a frozen value that was right before, in words; empty if there is none."""
        check = self.checking[place]
        return (check.since(value, before) if isinstance(check, WideCheck | FifoCheck)
                else check(value))

    def flatten(self, state: tuple[Any, ...]) -> dict[str, Any]:
        """The values by slot name."""
        flat: list[Any] = []
        for decl, value in zip(self.variables.values(), state, strict=True):
            _flatten(decl, value, self.constants, flat)
        return dict(zip(self.slot_names, flat, strict=True))

    def unflatten(self, slots: Mapping[str, Any]) -> tuple[Any, ...]:
        """The frozen state from values by slot name."""
        return tuple(
            _unflatten(name, decl, slots, self.constants)
            for name, decl in self.variables.items()
        )


class Slots(Mapping[str, Any]):
    """The values of a state by slot name, made when they are first looked at.

    A trace of a thousand states of a thousand slots is mostly never looked at.
    """

    def __init__(self, layout: Layout, state: tuple[Any, ...]) -> None:
        self._layout = layout
        self._state = state

    @cached_property
    def _values(self) -> dict[str, Any]:
        return self._layout.flatten(self._state)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._layout.slot_names)

    def __len__(self) -> int:
        return self._layout.size

    def __repr__(self) -> str:
        return repr(self._values)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._values,)


_SCALARS = (IntDecl, BoolDecl, ChoiceDecl)


def _is_wide(decl: ArrayDecl, constants: Constants) -> bool:
    """True if an array is held in blocks."""
    return isinstance(decl.element, _SCALARS) and len(values_of(decl.domain, constants)) >= WIDE


def _in_blocks(decl: ArrayDecl, constants: Constants, elements: tuple[Any, ...]) -> Any:
    return blocks_of(elements) if _is_wide(decl, constants) else elements


def _thaw(decl: Decl, constants: Constants) -> Convert | None:
    if isinstance(decl, FifoDecl):
        return partial(Fifo, capacity=number(decl.capacity, constants))
    if isinstance(decl, SetDecl):
        return set
    if isinstance(decl, ArrayDecl):
        if _is_wide(decl, constants):
            return WideArray
        inner = _thaw(decl.element, constants)
        return Array if inner is None else lambda value: Array(map(inner, value))
    return None


def _freeze(decl: Decl, constants: Constants) -> Convert | None:
    if isinstance(decl, FifoDecl):
        return tuple
    if isinstance(decl, SetDecl):
        return frozenset
    if isinstance(decl, ArrayDecl):
        if _is_wide(decl, constants):
            return blocks_of
        inner = _freeze(decl.element, constants)
        return tuple if inner is None else lambda value: tuple(map(inner, value))
    return None


def _first(decl: Decl, constants: Constants) -> Any:
    if isinstance(decl, IntDecl):
        return number(decl.lo if decl.init is None else decl.init, constants)
    if isinstance(decl, BoolDecl):
        return decl.init
    if isinstance(decl, ChoiceDecl):
        return values_of(decl.domain, constants)[decl.init]
    if isinstance(decl, RecordDecl):
        return decl.factory(*(_first(part, constants) for _, part in decl.fields))
    if isinstance(decl, ArrayDecl):
        return _in_blocks(decl, constants, tuple(
            _first(element_at(decl, int(index), constants), constants)
            for index in values_of(decl.domain, constants)
        ))
    assert isinstance(decl, FifoDecl | SetDecl)
    return tuple(decl.init) if isinstance(decl, FifoDecl) else frozenset(decl.init)


def _check(decl: Decl, constants: Constants) -> Callable[[Any], str]:
    """A function that says what is wrong with a frozen value, or nothing."""
    if isinstance(decl, IntDecl):
        lo, hi = number(decl.lo, constants), number(decl.hi, constants)
        return lambda v: "" if lo <= v <= hi else f"becomes {v}, outside {lo}..{hi}"
    if isinstance(decl, BoolDecl):
        return lambda v: "" if v in (0, 1) else f"becomes {brief(v)}, which is no truth value"
    if isinstance(decl, ChoiceDecl):
        top = len(values_of(decl.domain, constants)) - 1
        return lambda v: "" if 0 <= v <= top else f"becomes {v}, outside 0..{top}"
    if isinstance(decl, RecordDecl):
        checks = [_check(part, constants) for _, part in decl.fields]
        return lambda v: next(filter(None, (c(x) for c, x in zip(checks, v, strict=True))), "")
    if isinstance(decl, ArrayDecl):
        parts = [element_at(decl, int(index), constants)
                 for index in values_of(decl.domain, constants)]
        if _is_wide(decl, constants):
            return WideCheck((_check_all(list(some), constants) for some in blocks_of(parts)),
                             len(parts))
        return _check_all(parts, constants)
    if isinstance(decl, FifoDecl):
        return _check_fifo(decl, constants)
    if isinstance(decl, SetDecl):
        allowed = frozenset(values_of(decl.domain, constants))
        return lambda v: "" if v <= allowed else f"gets a member outside its domain: {set(v)}"
    return lambda v: ""


def _check_fifo(decl: FifoDecl, constants: Constants) -> Callable[[Any], str]:
    """``_check`` for a FIFO queue; of integers at the speed of C while nothing is wrong."""
    inner = _check(decl.element, constants)
    if not isinstance(decl.element, IntDecl):
        return lambda v: next(filter(None, map(inner, v)), "")
    lo, hi = number(decl.element.lo, constants), number(decl.element.hi, constants)
    return FifoCheck(lambda v: "" if not v or (lo <= min(v) and max(v) <= hi) else next(
        filter(None, map(inner, v)), ""))


def _check_all(parts: list[Decl], constants: Constants) -> Callable[[Any], str]:
    """``_check`` for the elements of an array, or of a part of one."""
    each = [_check(part, constants) for part in parts]
    integers = [part for part in parts if isinstance(part, IntDecl)]
    if parts and len(integers) == len(parts):
        return _check_integers(integers, each, constants)
    if parts and all(part is parts[0] for part in parts):
        return _check_alike(each)
    return lambda v: next(filter(None, (c(x) for c, x in zip(each, v, strict=True))), "")


def _check_alike(each: list[Callable[[Any], str]]) -> Callable[[Any], str]:
    """``_check_all`` for elements of one declaration: each value is looked at once."""
    one, length = each[0], len(each)

    def check(values: Any) -> str:
        if len(values) != length:
            raise ValueError("it has another length")
        if not any(map(one, set(values))):
            return ""
        return next(filter(None, map(one, values)), "")
    return check


def _check_integers(
    parts: list[IntDecl], each: list[Callable[[Any], str]], constants: Constants
) -> Callable[[Any], str]:
    """``_check_all`` for integers, at the speed of C while nothing is wrong."""
    lows = [number(part.lo, constants) for part in parts]
    highs = [number(part.hi, constants) for part in parts]
    least, most = max(lows, default=0), min(highs, default=0)

    def check(values: Any) -> str:
        if len(values) != len(lows):
            raise ValueError("it has another length")
        distinct = set(values)  # mostly few, and mostly good in all places
        if not distinct or (least <= min(distinct) and max(distinct) <= most):
            return ""
        if not any(map(operator.lt, values, lows)) and not any(map(operator.gt, values, highs)):
            return ""
        return next(filter(None, (c(x) for c, x in zip(each, values, strict=True))), "")
    return check


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, tuple) else int(value)


def _flatten(
    decl: Decl, value: Any, constants: Constants, flat: list[Any]
) -> None:
    if isinstance(decl, ArrayDecl) and isinstance(decl.element, _SCALARS):
        in_blocks = value and value[0].__class__ is tuple  # as no scalar is
        flat.extend(map(int, elements_of(value) if in_blocks else value))
    elif isinstance(decl, ArrayDecl):
        for part in value:
            _flatten(decl.element, part, constants, flat)
    elif isinstance(decl, SetDecl):
        flat.extend(int(member in value) for member in values_of(decl.domain, constants))
    else:
        flat.append(_plain(value))


def _unflatten(name: str, decl: Decl, slots: Mapping[str, Any], constants: Constants) -> Any:
    if isinstance(decl, ArrayDecl):
        return _in_blocks(decl, constants, tuple(
            _unflatten(f"{name}[{int(index)}]", decl.element, slots, constants)
            for index in values_of(decl.domain, constants)
        ))
    if isinstance(decl, SetDecl):
        return frozenset(
            member for member in values_of(decl.domain, constants)
            if slots[f"{name}{{{int(member)}}}"]
        )
    if isinstance(decl, FifoDecl):
        return tuple(_typed(decl.element, item) for item in slots[name])
    return _typed(decl, slots[name])


def _typed(decl: Decl, value: Any) -> Any:
    """An element with its Python type: a named tuple for records, bool for truth values."""
    if isinstance(decl, RecordDecl):
        return decl.factory(*(
            _typed(part, item) for (_, part), item in zip(decl.fields, value, strict=True)
        ))
    return bool(value) if isinstance(decl, BoolDecl) else value
