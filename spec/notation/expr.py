"""The typed expression tree that every engine compiles from.

An action is lowered to a *guarded functional update*: one boolean guard, and for each
state slot that changes one expression over the values *before* the step. Nothing in the
tree has effects, so an engine may evaluate, print, or translate it in any order.

Nodes are interned: two structurally equal expressions are the same object, so engines
find common subexpressions by identity (a ``dict`` keyed by node is enough).

Vocabulary of :class:`Op` (operands left to right):

================  =======================  ==========================================
group             ops                      notes
================  =======================  ==========================================
integers          add sub mul floordiv     Python's meaning (floor division, sign of
                  mod neg min max          ``mod`` follows the divisor)
comparison        eq ne lt le              ``eq``/``ne`` also compare records
logic             and or not               ``and``/``or`` take two or more operands
choice            ite                      condition, then, otherwise: any one type
records           record field             ``field`` has the index as its ``extra``
queues            len at push pop          ``at(q, i)`` counts from the head (0); it and
                                           ``pop`` (drop the head) are only evaluated
                                           meaningfully where the queue is long enough;
                                           ``push`` appends at the tail
================  =======================  ==========================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar

__all__ = [
    "BOOL", "FALSE", "INT", "ONE", "TRUE", "ZERO", "Bool", "ConstRef", "EmptyQueue", "Expr",
    "Int", "Lit", "Op", "Queue", "Read", "ReadAfter", "Record", "SlotType", "add", "and_", "at",
    "branches_of", "eq", "field", "floordiv", "fold", "implies", "ite", "le", "length", "lit",
    "lt", "max_", "min_", "mod", "mul", "ne", "neg", "not_", "or_", "pop", "push", "record",
    "sub", "substitute", "walk",
]


T = TypeVar("T")


# --- types of slots and expressions -------------------------------------------------

@dataclass(frozen=True)
class Int:
    """An integer; ``lo`` and ``hi`` bound it inclusively (expressions over constants),
    or are None for an intermediate result. ``names`` are the labels of an enumeration."""

    lo: Expr | None = None
    hi: Expr | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bool:
    """The type of truth values."""


@dataclass(frozen=True)
class Record:
    """A small immutable record of bounded integers and booleans."""

    name: str
    fields: tuple[tuple[str, Int | Bool], ...]


@dataclass(frozen=True)
class Queue:
    """A bounded FIFO sequence; ``capacity`` is an expression over constants."""

    element: Int | Bool | Record
    capacity: Expr


SlotType = Int | Bool | Record | Queue
INT = Int()
BOOL = Bool()


# --- nodes ---------------------------------------------------------------------------

class Expr:
    """A node of the tree; ``type`` is the type of its value."""

    __slots__ = ("__weakref__", "_key", "type")
    _interned: ClassVar[dict[tuple[object, ...], Expr]] = {}

    type: SlotType
    _key: tuple[object, ...]

    @property
    def operands(self) -> tuple[Expr, ...]:
        """The direct subexpressions, left to right."""
        return ()

    _shown: ClassVar[Callable[[Expr], str] | None] = None
    """The printer of nodes: ``show``, which is written in terms of nodes, puts itself here."""

    def __repr__(self) -> str:
        return object.__repr__(self) if Expr._shown is None else Expr._shown(self)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self._key)


def _rebuild(cls: type[Expr], key: tuple[object, ...]) -> Expr:
    return cls(*key[1:])


def _intern(cls: type, key: tuple[object, ...], make: Callable[[], Expr]) -> Expr:
    full = (cls, *key)
    found = Expr._interned.get(full)
    if found is None:
        found = make()
        found._key = full
        Expr._interned[full] = found
    return found


class Lit(Expr):
    """A literal integer or boolean (booleans are stored as 0 and 1, typed Bool)."""

    __slots__ = ("value",)
    value: int

    def __new__(cls, value: int, type: Int | Bool = INT) -> Lit:
        def make() -> Expr:
            node = object.__new__(cls)
            node.value, node.type = int(value), type
            return node
        return _intern(cls, (int(value), type), make)  # type: ignore[return-value]


class ConstRef(Expr):
    """A constant of the machine that was left symbolic (only the prover does that)."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, name: str) -> ConstRef:
        def make() -> Expr:
            node = object.__new__(cls)
            node.name, node.type = name, INT
            return node
        return _intern(cls, (name,), make)  # type: ignore[return-value]


class _SlotRead(Expr):
    """A slot's name: the part that Read and ReadAfter share."""

    __slots__ = ("slot",)
    slot: str

    def __new__(cls, slot: str, type: SlotType) -> Self:
        def make() -> Expr:
            node = object.__new__(cls)
            node.slot, node.type = slot, type
            return node
        return _intern(cls, (slot, type), make)  # type: ignore[return-value]


class Read(_SlotRead):
    """The value of a state slot before the step."""

    __slots__ = ()


class ReadAfter(_SlotRead):
    """The value of a state slot after the step (only in rules about steps)."""

    __slots__ = ()


class EmptyQueue(Expr):
    """The empty sequence of a queue type."""

    __slots__ = ()

    def __new__(cls, type: Queue) -> EmptyQueue:
        def make() -> Expr:
            node = object.__new__(cls)
            node.type = type
            return node
        return _intern(cls, (type,), make)  # type: ignore[return-value]


class Op(Expr):
    """An operator applied to operands; ``extra`` is the field index of ``field``."""

    __slots__ = ("extra", "op", "_operands")
    op: str
    extra: int
    _operands: tuple[Expr, ...]

    def __new__(cls, op: str, operands: tuple[Expr, ...], type: SlotType, extra: int = 0) -> Op:
        def make() -> Expr:
            node = object.__new__(cls)
            node.op, node._operands, node.type, node.extra = op, operands, type, extra
            return node
        return _intern(cls, (op, operands, type, extra), make)  # type: ignore[return-value]

    @property
    def operands(self) -> tuple[Expr, ...]:
        """The operands, left to right."""
        return self._operands


TRUE, FALSE = Lit(1, BOOL), Lit(0, BOOL)
ZERO, ONE = Lit(0), Lit(1)


# --- constructors that fold constants --------------------------------------------------

def lit(value: int | bool) -> Expr:
    """A literal; ``True`` and ``False`` become boolean."""
    return (TRUE if value else FALSE) if isinstance(value, bool) else Lit(int(value))


def _binary(op: str, a: Expr, b: Expr, fold: Callable[[int, int], int]) -> Expr:
    if isinstance(a, Lit) and isinstance(b, Lit):
        return Lit(fold(a.value, b.value))
    return Op(op, (a, b), INT)


def add(a: Expr, b: Expr) -> Expr:
    """The sum ``a + b``, simplified."""
    if b is ZERO:
        return a
    if a is ZERO:
        return b
    return _binary("add", a, b, lambda x, y: x + y)


def sub(a: Expr, b: Expr) -> Expr:
    """The difference ``a - b``, simplified."""
    if b is ZERO:
        return a
    if a is b:
        return ZERO
    return _binary("sub", a, b, lambda x, y: x - y)


def mul(a: Expr, b: Expr) -> Expr:
    """The product ``a * b``, simplified."""
    if a is ZERO or b is ZERO:
        return ZERO
    if a is ONE:
        return b
    if b is ONE:
        return a
    return _binary("mul", a, b, lambda x, y: x * y)


def floordiv(a: Expr, b: Expr) -> Expr:
    """a // b, rounding down; a literal zero divisor stays in the tree (it is a fault)."""
    if b is ZERO:
        return Op("floordiv", (a, b), INT)
    return a if b is ONE else _binary("floordiv", a, b, lambda x, y: x // y)


def mod(a: Expr, b: Expr) -> Expr:
    """a % b with the sign of b; a literal zero divisor stays in the tree (it is a fault)."""
    if b is ZERO:
        return Op("mod", (a, b), INT)
    return ZERO if b is ONE else _binary("mod", a, b, lambda x, y: x % y)


def min_(a: Expr, b: Expr) -> Expr:
    """The smaller of two integers."""
    return a if a is b else _binary("min", a, b, min)


def max_(a: Expr, b: Expr) -> Expr:
    """The larger of two integers."""
    return a if a is b else _binary("max", a, b, max)


def neg(a: Expr) -> Expr:
    """The negative number ``-a``, simplified."""
    return Lit(-a.value) if isinstance(a, Lit) else Op("neg", (a,), INT)


def eq(a: Expr, b: Expr) -> Expr:
    """a == b, on integers, booleans or records of one type."""
    if a is b:
        return TRUE
    if isinstance(a, Lit) and isinstance(b, Lit):
        return lit(a.value == b.value)
    if isinstance(a, Op) and isinstance(b, Op) and a.op == b.op == "record":
        return and_(*(eq(x, y) for x, y in zip(a.operands, b.operands, strict=True)))
    return Op("eq", (a, b), BOOL)


def ne(a: Expr, b: Expr) -> Expr:
    """The truth of ``a != b``, simplified."""
    return not_(eq(a, b))


def lt(a: Expr, b: Expr) -> Expr:
    """The truth of ``a < b``, simplified."""
    if a is b:
        return FALSE
    if isinstance(a, Lit) and isinstance(b, Lit):
        return lit(a.value < b.value)
    return Op("lt", (a, b), BOOL)


def le(a: Expr, b: Expr) -> Expr:
    """The truth of ``a <= b``, simplified."""
    if a is b:
        return TRUE
    if isinstance(a, Lit) and isinstance(b, Lit):
        return lit(a.value <= b.value)
    return Op("le", (a, b), BOOL)


def not_(a: Expr) -> Expr:
    """The truth of ``not a``, simplified."""
    if isinstance(a, Lit):
        return lit(not a.value)
    if isinstance(a, Op) and a.op == "not":
        return a.operands[0]
    if isinstance(a, Op) and a.op == "eq" and not isinstance(a.operands[0].type, Bool):
        return Op("ne", a.operands, BOOL)
    if isinstance(a, Op) and a.op == "ne":
        return Op("eq", a.operands, BOOL)
    return Op("not", (a,), BOOL)


def _known_negation(a: Expr) -> Expr | None:
    """The result of ``not_``, if that has been made already: then it may be among the parts."""
    if isinstance(a, Op):
        if a.op == "not":
            return a.operands[0]
        if a.op == "ne" or (a.op == "eq" and not isinstance(a.operands[0].type, Bool)):
            other = "eq" if a.op == "ne" else "ne"
            return Expr._interned.get((Op, other, a.operands, BOOL, 0))
    return Expr._interned.get((Op, "not", (a,), BOOL, 0))


def _junction(op: str, parts: tuple[Expr, ...], absorbing: Expr, neutral: Expr) -> Expr:
    kept: dict[Expr, None] = {}
    for part in parts:
        inner = part.operands if isinstance(part, Op) and part.op == op else (part,)
        for piece in inner:
            if piece is absorbing:
                return absorbing
            if piece is not neutral:
                kept[piece] = None
    if len(kept) > 1 and any(_known_negation(piece) in kept for piece in kept):
        return absorbing
    if not kept:
        return neutral
    return next(iter(kept)) if len(kept) == 1 else Op(op, tuple(kept), BOOL)


def and_(*parts: Expr) -> Expr:
    """Conjunction; flattens, drops duplicates, and folds contradictions."""
    return _junction("and", parts, FALSE, TRUE)


def or_(*parts: Expr) -> Expr:
    """Disjunction; flattens, drops duplicates, and folds tautologies."""
    return _junction("or", parts, TRUE, FALSE)


def implies(a: Expr, b: Expr) -> Expr:
    """The truth of ``not a or b``."""
    return or_(not_(a), b)


def ite(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """``then if condition else otherwise``; both branches have one type."""
    if condition is TRUE or then is otherwise:
        return then
    if condition is FALSE:
        return otherwise
    if isinstance(then.type, Bool):
        if then is TRUE and otherwise is FALSE:
            return condition
        if then is FALSE and otherwise is TRUE:
            return not_(condition)
    result = then.type if then.type == otherwise.type else _join(then.type, otherwise.type)
    return Op("ite", (condition, then, otherwise), result)


def _join(a: SlotType, b: SlotType) -> SlotType:
    if isinstance(a, Int) and isinstance(b, Int):
        return INT
    if isinstance(a, Record) and isinstance(b, Record) and a.name == b.name:
        return a
    if isinstance(a, Queue) and isinstance(b, Queue):
        return a
    raise TypeError(f"the two branches have different types: {a} and {b}")


def record(type: Record, *values: Expr) -> Expr:
    """A record of the given type from the values of its fields."""
    return Op("record", values, type)


def field(value: Expr, index: int) -> Expr:
    """The field of a record at an index."""
    assert isinstance(value.type, Record)
    def of(node: Expr, branches: list[Expr]) -> Expr:
        if branches:
            return ite(node.operands[0], *branches)
        if isinstance(node, Op) and node.op == "record":
            return node.operands[index]
        assert isinstance(node.type, Record)
        return Op("field", (node,), node.type.fields[index][1], index)

    return fold(value, branches_of, of)


def length(queue: Expr) -> Expr:
    """The number of elements in a queue."""
    changes: list[Callable[[Expr, Expr], Expr]] = []
    while isinstance(queue, Op) and queue.op in ("push", "pop"):
        changes.append(add if queue.op == "push" else sub)
        queue = queue.operands[0]
    size: Expr = ZERO if isinstance(queue, EmptyQueue) else Op("len", (queue,), INT)
    for change in reversed(changes):
        size = change(size, ONE)
    return size


def at(queue: Expr, index: Expr) -> Expr:
    """The element at an index counted from the head."""
    assert isinstance(queue.type, Queue)
    return Op("at", (queue, index), queue.type.element)


def push(queue: Expr, element: Expr) -> Expr:
    """The queue with one more element at its tail."""
    return Op("push", (queue, element), queue.type)


def pop(queue: Expr) -> Expr:
    """The queue without its head."""
    return Op("pop", (queue,), queue.type)


# --- traversal -------------------------------------------------------------------------

def walk(*roots: Expr) -> Iterator[Expr]:
    """Every distinct node below the roots, operands before the nodes that use them."""
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.operands))


def branches_of(node: Expr) -> tuple[Expr, ...]:
    """The two branches of a choice, or nothing."""
    return node.operands[1:] if isinstance(node, Op) and node.op == "ite" else ()


def fold(
    root: Expr, parts: Callable[[Expr], tuple[Expr, ...]], of: Callable[[Expr, list[T]], T]
) -> T:
    """``of(node, what it was of the node's parts)`` from the leaves up, once for each node.

    Without recursion: a chapter may nest choices more deeply than Python's stack allows.
    """
    done: dict[Expr, T] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        needed = parts(node)
        missing = [part for part in needed if part not in done]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        if node not in done:
            done[node] = of(node, [done[part] for part in needed])
    return done[root]


def substitute(root: Expr, replace: Callable[[Expr], Expr | None]) -> Expr:
    """Rebuild a tree, folding again, with ``replace(leaf)`` in place of leaves.

    ``replace`` is asked for each node without operands; None keeps the node.
    """
    done: dict[Expr, Expr] = {}
    for node in walk(root):
        if node.operands:
            done[node] = rebuild(node, tuple(done[child] for child in node.operands))
        else:
            done[node] = replace(node) or node
    return done[root]


_FOLDING: dict[str, Callable[..., Expr]] = {
    "add": add, "sub": sub, "mul": mul, "floordiv": floordiv, "mod": mod, "neg": neg,
    "min": min_, "max": max_, "eq": eq, "ne": ne, "lt": lt, "le": le, "and": and_, "or": or_,
    "not": not_, "ite": ite, "len": length, "at": at, "push": push, "pop": pop,
}


def rebuild(node: Expr, operands: tuple[Expr, ...]) -> Expr:
    """The same operator over other operands, folded."""
    assert isinstance(node, Op)
    if operands == node.operands:
        return node
    if node.op == "record":
        return Op("record", operands, node.type)
    if node.op == "field":
        return field(operands[0], node.extra)
    return _FOLDING[node.op](*operands)
