"""Values of the symbolic execution by which a chapter's source becomes expressions.

An action is executed once, on expressions instead of values: ``if`` runs both branches on
copies of the state and joins them, loops over finite ranges are unrolled, and what is left
at the end is one expression per slot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import expr as e
from .errors import NotationError
from .model import Fault

__all__ = [
    "Context", "Static", "SymArray", "SymSet", "Value", "as_static", "equal", "join",
    "select", "static_int", "truth",
]


@dataclass(frozen=True)
class Static:
    """Something that is known while lowering: a class, a function, a table, None."""

    value: Any


class SymArray:
    """A fixed array of values: ``base``, with ``changes`` in place of some of its items.

    An array keeps its base while items are replaced. So a step that touches two items of ten
    thousand costs two, and what it touched is known without looking at the rest.
    """

    __slots__ = ("_items", "base", "changes")

    def __init__(
        self, base: tuple[Value, ...], changes: Mapping[int, Value] | None = None
    ) -> None:
        self.base = base
        self.changes: Mapping[int, Value] = changes or {}
        self._items: tuple[Value, ...] | None = None if self.changes else base

    @property
    def items(self) -> tuple[Value, ...]:
        """All items, in order."""
        if self._items is None:
            out = list(self.base)
            for place, item in self.changes.items():
                out[place] = item
            self._items = tuple(out)
        return self._items

    def at(self, place: int) -> Value:
        """The item at a place, changed or not."""
        return self.changes[place] if place in self.changes else self.base[place]

    def having(self, changes: Mapping[int, Value]) -> SymArray:
        """The array with other items at some places."""
        return SymArray(self.base, {**self.changes, **changes})

    def __len__(self) -> int:
        return len(self.base)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SymArray):
            return NotImplemented
        if self.base is other.base:
            return self.changes == other.changes or self.items == other.items
        return self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)


@dataclass(frozen=True)
class SymSet:
    """A subset of ``members``: one truth value for each possible member."""

    members: tuple[int, ...]
    bits: tuple[e.Expr, ...]


Value = e.Expr | Static | SymArray | SymSet


@dataclass
class Context:
    """One path through an action.

    ``branch`` is the condition of the enclosing ``if`` branches; ``guards`` are what was
    required so far (shared by all branches, each already under its own branch condition);
    ``mutable`` is false inside operands that may not be evaluated.
    """

    state: dict[str, Value]
    names: dict[str, Value]
    guards: list[e.Expr]
    faults: list[Fault]
    branch: e.Expr = e.TRUE
    mutable: bool = True
    returned: Value | None = field(default=None)
    cited: list[str] = field(default_factory=list)
    """For each guard the id of the rule that it cites, or an empty text."""

    def under(self, condition: e.Expr, *, mutable: bool) -> Context:
        """A copy for a branch that is taken where ``condition`` holds."""
        return Context(
            dict(self.state), dict(self.names), self.guards, self.faults,
            e.and_(self.branch, condition), mutable and self.mutable, cited=self.cited,
        )

    def call(self, names: dict[str, Value]) -> Context:
        """A context for the body of an inlined function, on the same state."""
        return Context(self.state, names, self.guards, self.faults, self.branch, self.mutable,
                       cited=self.cited)

    def require(self, condition: e.Expr, cited: str = "") -> None:
        """Add a guard, which counts on the present branch only, with the id of its rule."""
        self.guards.append(e.implies(self.branch, condition))
        self.cited.append(cited)

    def fault(self, condition: e.Expr, message: str, where: str) -> None:
        """Add a condition under which the action would be a mistake of its author."""
        whole = e.and_(*self.guards, self.branch, condition)
        if whole is not e.FALSE:
            file, _, line = where.rpartition(":")
            self.faults.append(Fault(whole, message, file, int(line)))


# --- conversions ---------------------------------------------------------------------------

def as_static(value: Any) -> Value:
    """A Python object as a value: numbers become literals, the rest stays what it is."""
    if isinstance(value, bool | int):
        return e.lit(value if isinstance(value, bool) else int(value))
    return Static(value)


def static_int(value: Value) -> int | None:
    """The integer that a value is known to be, or None."""
    return value.value if isinstance(value, e.Lit) else None


def truth(value: Value) -> e.Expr:
    """A value's truth, as Python's ``bool`` has it."""
    if isinstance(value, e.Expr):
        if isinstance(value.type, e.Bool):
            return value
        if isinstance(value.type, e.Int):
            return e.ne(value, e.Lit(0))
        if isinstance(value.type, e.Queue):
            return e.lt(e.Lit(0), e.length(value))
        return e.TRUE
    if isinstance(value, SymSet):
        return e.or_(*value.bits)
    if isinstance(value, SymArray):
        return e.lit(bool(value.base))
    return e.lit(bool(value.value))


def integer(value: Value) -> e.Expr | None:
    """A value as an integer expression (truth values become 0 and 1), or None."""
    if isinstance(value, e.Expr) and isinstance(value.type, e.Int):
        return value
    if isinstance(value, e.Expr) and isinstance(value.type, e.Bool):
        return e.ite(value, e.Lit(1), e.Lit(0))
    return None


# --- operations on whole values ---------------------------------------------------------------

def join(condition: e.Expr, then: Value, otherwise: Value) -> Value:
    """``then`` where the condition holds, else ``otherwise``."""
    if then is otherwise or then == otherwise:
        return then
    if isinstance(then, SymArray) and isinstance(otherwise, SymArray):
        if then.base is otherwise.base:  # most items are the same, and need no look
            touched = dict.fromkeys((*then.changes, *otherwise.changes))
            return SymArray(then.base, {
                place: join(condition, then.at(place), otherwise.at(place)) for place in touched})
        pairs = zip(then.items, otherwise.items, strict=True)
        return SymArray(tuple(join(condition, a, b) for a, b in pairs))
    if isinstance(then, SymSet) and isinstance(otherwise, SymSet):
        pairs_of_bits = zip(then.bits, otherwise.bits, strict=True)
        return SymSet(then.members, tuple(e.ite(condition, a, b) for a, b in pairs_of_bits))
    if isinstance(then, e.Expr) and isinstance(otherwise, e.Expr):
        if isinstance(then.type, e.Bool) != isinstance(otherwise.type, e.Bool):
            first, second = integer(then), integer(otherwise)
            if first is not None and second is not None:
                return e.ite(condition, first, second)
        return e.ite(condition, then, otherwise)
    if condition is e.TRUE or condition is e.FALSE:
        return then if condition is e.TRUE else otherwise
    raise NotationError("the two branches give values of different kinds")


def equal(a: Value, b: Value) -> e.Expr:
    """Equality of two values of one kind."""
    if isinstance(a, SymArray | Static) and isinstance(b, SymArray | Static):
        return _equal_static(a, b)
    if isinstance(a, SymSet) and isinstance(b, SymSet):
        same = zip(a.bits, b.bits, strict=True)
        return e.and_(*(_equal_bits(x, y) for x, y in same))
    if isinstance(a, e.Expr) and isinstance(b, e.Expr):
        if isinstance(a.type, e.Queue) and isinstance(b.type, e.Queue):
            return _equal_queues(a, b, a.type)
        if isinstance(a.type, e.Bool) and isinstance(b.type, e.Bool):
            return _equal_bits(a, b)
        first, second = integer(a), integer(b)
        if first is not None and second is not None:
            return e.eq(first, second)
        if isinstance(a.type, e.Record) and isinstance(b.type, e.Record):
            return e.eq(a, b)
    return e.FALSE


def _equal_bits(x: e.Expr, y: e.Expr) -> e.Expr:
    for one, other in ((x, y), (y, x)):
        if one is e.TRUE:
            return other
        if one is e.FALSE:
            return e.not_(other)
    return e.eq(x, y)


def _equal_static(a: SymArray | Static, b: SymArray | Static) -> e.Expr:
    if isinstance(a, SymArray) and isinstance(b, SymArray):
        if len(a) != len(b):
            return e.FALSE
        return e.and_(*(equal(x, y) for x, y in zip(a.items, b.items, strict=True)))
    left = a.value if isinstance(a, Static) else a
    right = b.value if isinstance(b, Static) else b
    return e.lit(bool(left == right))


def _equal_queues(a: e.Expr, b: e.Expr, kind: e.Queue) -> e.Expr:
    same = [e.eq(e.length(a), e.length(b))]
    for i in range(capacity(kind)):
        position = e.Lit(i)
        beyond = e.le(e.length(a), position)
        same.append(e.or_(beyond, equal(e.at(a, position), e.at(b, position))))
    return e.and_(*same)


def capacity(kind: e.Queue) -> int:
    """The concrete capacity of a queue; needed wherever a queue is unrolled."""
    if not isinstance(kind.capacity, e.Lit):
        raise NotationError(
            f"the capacity {kind.capacity} of a queue is symbolic here, so it cannot be unrolled",
            next_step="Give the constant a value.",
        )
    return kind.capacity.value


def select(array: SymArray, index: e.Expr) -> Value:
    """The item at an index that may be known only at run time."""
    known = static_int(index)
    if known is not None:
        return array.at(known % len(array))
    items = array.items
    chosen = items[-1]
    for position in range(len(items) - 2, -1, -1):
        chosen = join(e.eq(index, e.Lit(position)), items[position], chosen)
    return chosen


def replace(
    array: SymArray, index: e.Expr, change: Callable[[Value, e.Expr], Value]
) -> SymArray:
    """The array with ``change(item, condition)`` in place of the item at the index.

    ``condition`` is true if this item is the one that is meant.
    """
    known = static_int(index)
    if known is not None:
        place = known % len(array)
        return array.having({place: change(array.at(place), e.TRUE)})
    changes: dict[int, Value] = {}
    for position, item in enumerate(array.items):
        here = e.eq(index, e.Lit(position))
        changes[position] = join(here, change(item, here), item)
    return array.having(changes)
