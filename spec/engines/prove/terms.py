"""Expressions as Z3 terms.

Integers become unbounded Z3 integers and truth values Z3 booleans. A record is a tuple of
terms, so that no datatype theory is needed. A queue is unrolled: its length, and one value
for each position up to its capacity, head first; what stands at positions beyond the
length means nothing.

Each question has a Z3 context of its own. Z3 numbers the terms of a context as they are made, and
its search depends on those numbers: in a context that all questions share, the counterexample that
is found, and whether one is, may depend on what was asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import z3

from ...notation.expr import (
    Bool,
    ConstRef,
    EmptyQueue,
    Expr,
    Int,
    Lit,
    Op,
    Queue,
    Read,
    ReadAfter,
    Record,
    SlotType,
    walk,
)
from ...notation.show import show

__all__ = ["QueueTerm", "Remainders", "SymbolicValue", "Term", "Translation", "Unsupported",
           "equal", "fresh", "within_range"]

Term = Any
"""A Z3 term; z3 ships no types."""


@dataclass(frozen=True)
class QueueTerm:
    """A queue: its length, and as many values as its capacity, head first."""

    length: Term
    items: tuple[SymbolicValue, ...]


SymbolicValue = Term | tuple[Any, ...] | QueueTerm


class Unsupported(Exception):
    """The model has something that the prover cannot translate; the text says what."""


class Remainders:
    """Remainders by divisors that are not known, as an uninterpreted function.

    Z3 is weak at products of unknowns, and a remainder by an unknown divisor is one: whether
    it finds a proof is then a matter of luck. Most proofs need only the ``facts`` below,
    which are linear: 0 <= a mod b < b, and a - a mod b has no remainder. Where these do not
    suffice, the ``definitions`` say what a remainder is.
    """

    def __init__(self, context: z3.Context) -> None:
        self.context = context
        integers = z3.IntSort(context)
        self._remainder = z3.Function("remainder", integers, integers, integers)
        self._known: set[tuple[int, int]] = set()
        self.facts: list[Term] = []
        self.definitions: list[Term] = []

    def __call__(self, a: Term, b: Term) -> Term:
        """The remainder of ``a`` by ``b``, with the sign of ``b``, as in Python."""
        divisor = z3.simplify(b)
        if z3.is_int_value(divisor):
            return _mod(a, divisor)
        remainder = self._said_of(a, b)
        self._said_of(a - remainder, b)
        self.facts.append(z3.Implies(b != 0, self._remainder(a - remainder, b) == 0))
        return remainder

    def _said_of(self, a: Term, b: Term) -> Term:
        remainder = self._remainder(a, b)
        if (a.get_id(), b.get_id()) not in self._known:
            self._known.add((a.get_id(), b.get_id()))
            self.facts += [
                z3.Implies(b > 0, z3.And(remainder >= 0, remainder < b)),
                z3.Implies(b < 0, z3.And(remainder <= 0, remainder > b)),
                z3.Implies(z3.And(a >= 0, a < b), remainder == a),
            ]
            self.definitions.append(remainder == _mod(a, b))
        return remainder


class Translation:
    """Translates expressions in one state, or over one step where ``after`` is given.

    Subexpressions are translated once. ``constants`` has a term for each symbolic constant;
    ``remainders`` are shared by all translations of a run, and know its context.
    """

    def __init__(
        self,
        before: Mapping[str, SymbolicValue],
        constants: Mapping[str, Term],
        remainders: Remainders,
        after: Mapping[str, SymbolicValue] | None = None,
    ) -> None:
        self.before = before
        self.remainders = remainders
        self.after = after
        self.constants = constants
        self.known: dict[Expr, SymbolicValue] = {}

    def __call__(self, expr: Expr) -> Any:
        """The term of an expression (a tuple or a QueueTerm for records and queues)."""
        if expr not in self.known:
            for node in walk(expr):
                if node not in self.known:
                    self.known[node] = self._translate(node)
        return self.known[expr]

    def _translate(self, node: Expr) -> SymbolicValue:
        context = self.remainders.context
        if isinstance(node, Lit):
            return z3.BoolVal(bool(node.value), context) if isinstance(node.type, Bool) else (
                z3.IntVal(node.value, context))
        if isinstance(node, ConstRef):
            return self.constants[node.name]
        if isinstance(node, Read):
            return self.before[node.slot]
        if isinstance(node, ReadAfter):
            if self.after is None:
                raise Unsupported(f"{show(node)} stands in a rule that is not about steps")
            return self.after[node.slot]
        if isinstance(node, EmptyQueue):
            queue = cast(Queue, node.type)
            filler = _filler(queue.element, context)
            return QueueTerm(z3.IntVal(0, context), (filler,) * capacity(queue))
        return self._translate_op(cast(Op, node))

    def _translate_op(self, node: Op) -> SymbolicValue:
        operands = [self.known[child] for child in node.operands]
        if node.op == "record":
            return tuple(operands)
        if node.op == "field":
            return cast("tuple[Any, ...]", operands[0])[node.extra]
        if node.op == "at":
            position = node.operands[1]
            fixed = position.value if isinstance(position, Lit) else None
            return _element(cast(QueueTerm, operands[0]), operands[1], fixed)
        if node.op == "mod":
            return self.remainders(*operands)
        return _OPERATORS[node.op](*operands)


# --- queues ------------------------------------------------------------------------------

def capacity(queue: Queue) -> int:
    """The capacity of a queue, which has to be known to unroll it."""
    if isinstance(queue.capacity, Lit):
        return queue.capacity.value
    raise Unsupported(
        f"a queue's capacity is symbolic ({show(queue.capacity)}), which the prover does not "
        "support; give the constants in it values"
    )


def _filler(element: Int | Bool | Record, context: z3.Context) -> SymbolicValue:
    if isinstance(element, Record):
        return tuple(_filler(of, context) for _, of in element.fields)
    return z3.BoolVal(False, context) if isinstance(element, Bool) else z3.IntVal(0, context)


def _element(queue: QueueTerm, index: Term, fixed: int | None) -> SymbolicValue:
    """The element at an index; where there is none its value does not matter."""
    if not queue.items:
        raise Unsupported("an element of a queue without any capacity is used")
    if fixed is not None:
        return queue.items[min(max(fixed, 0), len(queue.items) - 1)]
    found = queue.items[-1]
    for position in reversed(range(len(queue.items) - 1)):
        found = _choose(index == position, queue.items[position], found)
    return found


def _push(queue: QueueTerm, element: SymbolicValue) -> QueueTerm:
    items = tuple(
        _choose(queue.length == position, element, item)
        for position, item in enumerate(queue.items)
    )
    return QueueTerm(queue.length + 1, items)


def _pop(queue: QueueTerm) -> QueueTerm:
    return QueueTerm(queue.length - 1, (*queue.items[1:], *queue.items[-1:]))


# --- operators -----------------------------------------------------------------------------

def _choose(condition: Term, then: Any, otherwise: Any) -> Any:
    if then is otherwise:
        return then
    if isinstance(then, QueueTerm):
        length = _choose(condition, then.length, otherwise.length)
        return QueueTerm(length, _choose(condition, then.items, otherwise.items))
    if isinstance(then, tuple):
        pairs = zip(then, otherwise, strict=True)
        return tuple(_choose(condition, a, b) for a, b in pairs)
    return z3.If(condition, then, otherwise)


def equal(a: Any, b: Any) -> Term:
    """Equality of two values of one type, position by position."""
    if isinstance(a, QueueTerm):
        return z3.And(a.length == b.length, equal(a.items, b.items))
    if isinstance(a, tuple):
        return z3.And([equal(x, y) for x, y in zip(a, b, strict=True)])
    return a == b


def _floordiv(a: Term, b: Term) -> Term:
    # Z3 divides like Euclid; for a positive divisor that is rounding down, as in Python
    if z3.is_int_value(b) and b.as_long() > 0:
        return a / b
    return z3.If(b > 0, a / b, (-a) / (-b))


def _mod(a: Term, b: Term) -> Term:
    if z3.is_int_value(b) and b.as_long() > 0:
        return a % b
    return z3.If(b > 0, a % b, -((-a) % (-b)))


_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "floordiv": _floordiv, "neg": lambda a: -a,
    "min": lambda a, b: z3.If(a <= b, a, b), "max": lambda a, b: z3.If(a <= b, b, a),
    "eq": equal, "ne": lambda a, b: z3.Not(equal(a, b)),
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "and": lambda *parts: z3.And(parts), "or": lambda *parts: z3.Or(parts),
    "not": z3.Not, "ite": _choose, "len": lambda queue: queue.length,
    "push": _push, "pop": _pop,
}


# --- slots -----------------------------------------------------------------------------------

def fresh(name: str, type: SlotType, context: z3.Context) -> SymbolicValue:
    """An unconstrained value of a type; its terms are named after ``name``."""
    if isinstance(type, Queue):
        items = tuple(fresh(f"{name}#{i}", type.element, context) for i in range(capacity(type)))
        return QueueTerm(z3.Int(f"{name}.length", context), items)
    if isinstance(type, Record):
        return tuple(fresh(f"{name}.{field}", of, context) for field, of in type.fields)
    return z3.Bool(name, context) if isinstance(type, Bool) else z3.Int(name, context)


def within_range(type: SlotType, value: Any, term: Callable[[Expr], Term]) -> list[Term]:
    """The terms for a slot's declared range; ``term`` translates the bounds."""
    if isinstance(type, Int):
        lower = [] if type.lo is None else [term(type.lo) <= value]
        return lower if type.hi is None else [*lower, value <= term(type.hi)]
    if isinstance(type, Record):
        parts = zip(type.fields, value, strict=True)
        return [one for (_, of), part in parts for one in within_range(of, part, term)]
    if isinstance(type, Queue):
        facts = [value.length >= 0, value.length <= capacity(type)]
        for position, item in enumerate(value.items):
            of_item = within_range(type.element, item, term)
            if of_item:
                facts.append(z3.Implies(value.length > position, z3.And(of_item)))
        return facts
    return []
