"""From the expression tree to LLVM values.

Integers become ``i64``, truth values ``i1``, a record a list of its fields' values, a
queue a :class:`QueueValue`. Every emitted value is *total*: where the notation gives no
meaning (the head of an empty queue, a zero divisor) it is some harmless value, so code may
be computed before its guard is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.ir as ir

from ...notation.expr import (
    Bool, EmptyQueue, Expr, Int, Lit, Op, Queue, Read, Record, SlotType,
)
from .layout import Cell, Layout, TooWide, bits_of, int_range, number, scalars

__all__ = ["I1", "I64", "QueueValue", "Value", "Values", "resize"]

I1, I64 = ir.IntType(1), ir.IntType(64)
LIMIT = 1 << 62  # intermediate results must stay below this in magnitude
_COSTS = {"mul": 3, "floordiv": 30, "mod": 30, "at": 4, "push": 6, "pop": 2, "record": 0}


@dataclass(frozen=True)
class QueueValue:
    """A queue: its length, and its elements packed (None where they take no bits)."""

    length: Any
    data: Any


Value = Any  # an ir.Value, a list of them (record), or a QueueValue


def resize(builder: ir.IRBuilder, value: Any, bits: int) -> Any:
    """An integer of another width: truncated, or extended with zeros."""
    if value.type.width == bits:
        return value
    cast = builder.trunc if value.type.width > bits else builder.zext
    return cast(value, ir.IntType(bits))


class Values:
    """Emits each distinct node once per scope; ``inside`` opens a scope for a branch."""

    def __init__(
        self, builder: ir.IRBuilder, layout: Layout, words: Sequence[Any],
        outer: Values | None = None,
    ) -> None:
        self.builder = builder
        self.layout = layout
        self.words = words
        self.outer = outer
        self.done: dict[Expr, Value] = {}
        self.ranges: dict[Expr, tuple[int, int]] = {} if outer is None else outer.ranges

    def inside(self) -> Values:
        """A scope for code that is not always executed: it sees what is already there."""
        return Values(self.builder, self.layout, self.words, self)

    def known(self, node: Expr) -> Value | None:
        """The value of a node that this scope or one around it has emitted."""
        scope: Values | None = self
        while scope is not None:
            if node in scope.done:
                return scope.done[node]
            scope = scope.outer
        return None

    def pending(self, *roots: Expr) -> list[Expr]:
        """The nodes still to emit for these, operands first."""
        order: list[Expr] = []
        seen: set[Expr] = set()
        stack = [(root, False) for root in reversed(roots)]
        while stack:
            node, expanded = stack.pop()
            if expanded:
                order.append(node)
            elif node not in seen and self.known(node) is None:
                seen.add(node)
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.operands))
        return order

    def cost(self, *roots: Expr) -> int:
        """About how many instructions these still need."""
        return sum(_COSTS.get(node.op, 1) if isinstance(node, Op) else 1
                   for node in self.pending(*roots) if not isinstance(node, Lit))

    def of(self, root: Expr) -> Value:
        """The value of an expression."""
        found = self.known(root)
        if found is not None:
            return found
        for node in self.pending(root):
            self.done[node] = self._emit(node)
        return self.done[root]

    # --- leaves --------------------------------------------------------------------

    def _emit(self, node: Expr) -> Value:
        if isinstance(node.type, Int):
            self._check_range(node)
        if isinstance(node, Lit):
            return ir.Constant(I1 if isinstance(node.type, Bool) else I64, node.value)
        if isinstance(node, Read):
            return self._read(node)
        if isinstance(node, EmptyQueue):
            return self._empty(node)
        assert isinstance(node, Op), f"{node!r} has no place in code"
        operands = [self.known(child) for child in node.operands]
        return getattr(self, f"_op_{node.op}")(node, *operands)

    def _read(self, node: Read) -> Value:
        slot = self.layout.model.slot_by_name[node.slot]
        cells = self.layout.cells[node.slot]
        return self._decode_slot(slot.type, cells, [self._gather(cell) for cell in cells])

    def _decode_slot(self, kind: SlotType, cells: Sequence[Cell], raw: list[Any]) -> Value:
        """The value of a slot from the bits of its cells."""
        if isinstance(kind, Queue):
            length = resize(self.builder, raw[0], 64)
            return QueueValue(length, raw[1] if cells[1].bits else None)
        parts = [self._decoded(part, bits, cell.lo)
                 for part, bits, cell in zip(scalars(kind), raw, cells, strict=True)]
        return parts if isinstance(kind, Record) else parts[0]

    def _gather(self, cell: Cell) -> Any:
        """The bits of a cell as one integer; 0 where it has none."""
        b = self.builder
        result = None
        for piece in cell.pieces:
            word = self.words[piece.word]
            part = b.trunc(b.lshr(word, ir.Constant(I64, piece.shift)),
                           ir.IntType(piece.bits)) if piece.bits < 64 else word
            if len(cell.pieces) > 1:
                part = b.shl(resize(b, part, cell.bits),
                             ir.Constant(ir.IntType(cell.bits), piece.offset))
                part = part if result is None else b.or_(result, part)
            result = part
        return ir.Constant(I64, 0) if result is None else result

    def _decoded(self, kind: Int | Bool, raw: Any, lo: int) -> Any:
        if isinstance(kind, Bool):
            return resize(self.builder, raw, 1)
        raw = resize(self.builder, raw, 64)
        return self.builder.add(raw, ir.Constant(I64, lo)) if lo else raw

    def _empty(self, node: EmptyQueue) -> QueueValue:
        assert isinstance(node.type, Queue)
        bits = self._data_bits(node.type)
        data = ir.Constant(ir.IntType(bits), 0) if bits else None
        return QueueValue(ir.Constant(I64, 0), data)

    # --- integers ------------------------------------------------------------------

    def _op_add(self, node: Op, a: Any, b: Any) -> Any:
        return self.builder.add(a, b, flags=("nsw",))

    def _op_sub(self, node: Op, a: Any, b: Any) -> Any:
        return self.builder.sub(a, b, flags=("nsw",))

    def _op_mul(self, node: Op, a: Any, b: Any) -> Any:
        return self.builder.mul(a, b, flags=("nsw",))

    def _op_neg(self, node: Op, a: Any) -> Any:
        return self.builder.neg(a)

    def _op_min(self, node: Op, a: Any, b: Any) -> Any:
        return self.builder.select(self.builder.icmp_signed("<", a, b), a, b)

    def _op_max(self, node: Op, a: Any, b: Any) -> Any:
        return self.builder.select(self.builder.icmp_signed(">", a, b), a, b)

    def _op_floordiv(self, node: Op, a: Any, b: Any) -> Any:
        b = self._nonzero(node.operands[1], b)
        quotient = self.builder.sdiv(a, b)
        if self._both_positive(node):
            return quotient
        down = self.builder.zext(self._signs_differ(a, b), I64)
        return self.builder.sub(quotient, down)

    def _op_mod(self, node: Op, a: Any, b: Any) -> Any:
        b = self._nonzero(node.operands[1], b)
        remainder = self.builder.srem(a, b)
        if self._both_positive(node):
            return remainder
        fix = self.builder.select(self._signs_differ(a, b), b, ir.Constant(I64, 0))
        return self.builder.add(remainder, fix)

    def _nonzero(self, node: Expr, divisor: Any) -> Any:
        if isinstance(node, Lit) and node.value != 0:
            return divisor
        zero = self.builder.icmp_signed("==", divisor, ir.Constant(I64, 0))
        return self.builder.select(zero, ir.Constant(I64, 1), divisor)

    def _both_positive(self, node: Op) -> bool:
        return all(self.range(child)[0] >= 0 for child in node.operands)

    def _signs_differ(self, a: Any, b: Any) -> Any:
        """True where a / b is negative and does not come out even."""
        zero = ir.Constant(I64, 0)
        uneven = self.builder.icmp_signed("!=", self.builder.srem(a, b), zero)
        negative = self.builder.icmp_signed("<", self.builder.xor(a, b), zero)
        return self.builder.and_(uneven, negative)

    # --- comparison, logic, choice ---------------------------------------------------

    def _op_eq(self, node: Op, a: Value, b: Value) -> Any:
        if isinstance(a, QueueValue):
            same = self.builder.icmp_signed("==", a.length, b.length)
            if a.data is None or b.data is None:
                return same
            bits = max(a.data.type.width, b.data.type.width)
            left, right = (resize(self.builder, q.data, bits) for q in (a, b))
            return self.builder.and_(same, self.builder.icmp_unsigned("==", left, right))
        if isinstance(a, list):
            result = ir.Constant(I1, 1)
            for x, y in zip(a, b, strict=True):
                result = self.builder.and_(result, self.builder.icmp_signed("==", x, y))
            return result
        return self.builder.icmp_signed("==", a, b)

    def _op_ne(self, node: Op, a: Value, b: Value) -> Any:
        return self.builder.not_(self._op_eq(node, a, b))

    def _op_lt(self, node: Op, a: Any, b: Any) -> Any:
        # Reachable states keep the declared ranges (a search ends where one does not), so
        # most checks of those ranges can be decided here.
        left, right = (self.range(child) for child in node.operands)
        if left[1] < right[0] or left[0] >= right[1]:
            return ir.Constant(I1, left[1] < right[0])
        return self.builder.icmp_signed("<", a, b)

    def _op_le(self, node: Op, a: Any, b: Any) -> Any:
        left, right = (self.range(child) for child in node.operands)
        if left[1] <= right[0] or left[0] > right[1]:
            return ir.Constant(I1, left[1] <= right[0])
        return self.builder.icmp_signed("<=", a, b)

    def _op_and(self, node: Op, *parts: Any) -> Any:
        result = parts[0]
        for part in parts[1:]:
            result = self.builder.and_(result, part)
        return result

    def _op_or(self, node: Op, *parts: Any) -> Any:
        result = parts[0]
        for part in parts[1:]:
            result = self.builder.or_(result, part)
        return result

    def _op_not(self, node: Op, a: Any) -> Any:
        return self.builder.not_(a)

    def _op_ite(self, node: Op, condition: Any, a: Value, b: Value) -> Value:
        choose = self.builder.select
        if isinstance(a, list):
            return [choose(condition, x, y) for x, y in zip(a, b, strict=True)]
        if isinstance(a, QueueValue):
            assert isinstance(node.type, Queue)
            left, right = self.fitted(a, node.type), self.fitted(b, node.type)
            data = None if left.data is None else choose(condition, left.data, right.data)
            return QueueValue(choose(condition, a.length, b.length), data)
        return choose(condition, a, b)

    # --- records and queues ------------------------------------------------------------

    def _op_record(self, node: Op, *parts: Any) -> Value:
        return list(parts)

    def _op_field(self, node: Op, value: Value) -> Any:
        return value[node.extra]

    def _op_len(self, node: Op, queue: QueueValue) -> Any:
        return queue.length

    def _op_at(self, node: Op, queue: QueueValue, index: Any) -> Value:
        kind = node.operands[0].type
        assert isinstance(kind, Queue)
        b = self.builder
        cells = self._element_cells(kind)
        shifted = None
        if queue.data is not None:
            shifted = b.lshr(queue.data, self._place(kind, index, queue.data.type.width))
        values = []
        shift = 0
        for scalar, (lo, bits) in zip(scalars(kind.element), cells, strict=True):
            raw = ir.Constant(I64, 0)
            if bits and shifted is not None:
                moved = b.lshr(shifted, ir.Constant(shifted.type, shift))
                raw = resize(b, moved, bits)
            values.append(self._decoded(scalar, raw, lo))
            shift += bits
        return values if isinstance(kind.element, Record) else values[0]

    def _op_pop(self, node: Op, queue: QueueValue) -> QueueValue:
        assert isinstance(node.type, Queue)
        length = self.builder.sub(queue.length, ir.Constant(I64, 1))
        if queue.data is None:
            return QueueValue(length, None)
        width = self._element_bits(node.type)
        bits = queue.data.type.width
        if width >= bits:
            return QueueValue(length, ir.Constant(queue.data.type, 0))
        return QueueValue(length, self.builder.lshr(
            queue.data, ir.Constant(queue.data.type, width)))

    def _op_push(self, node: Op, queue: QueueValue, element: Value) -> QueueValue:
        assert isinstance(node.type, Queue)
        b = self.builder
        length = b.add(queue.length, ir.Constant(I64, 1))
        if queue.data is None:
            return QueueValue(length, None)
        bits = queue.data.type.width
        packed = resize(b, self._packed_element(node.type, element), bits)
        moved = b.shl(packed, self._place(node.type, queue.length, bits))
        return QueueValue(length, b.or_(queue.data, moved))

    def _place(self, kind: Queue, index: Any, bits: int) -> Any:
        """The bit at which an element starts; 0 for an index outside the queue."""
        b = self.builder
        capacity = number(kind.capacity, self.layout.constants)
        within = b.icmp_unsigned("<", index, ir.Constant(I64, capacity))
        safe = b.select(within, index, ir.Constant(I64, 0))
        return resize(b, b.mul(safe, ir.Constant(I64, self._element_bits(kind))), bits)

    def _packed_element(self, kind: Queue, element: Value) -> Any:
        b = self.builder
        width = self._element_bits(kind)
        parts = element if isinstance(element, list) else [element]
        result = ir.Constant(ir.IntType(width), 0)
        shift = 0
        for part, (lo, bits) in zip(parts, self._element_cells(kind), strict=True):
            if bits:
                raw = resize(b, self.encoded(part, lo, bits), width)
                result = b.or_(result, b.shl(raw, ir.Constant(raw.type, shift)))
            shift += bits
        return result

    def encoded(self, value: Any, lo: int, bits: int) -> Any:
        """A scalar as the bits that a cell holds."""
        if value.type.width == 1:
            return resize(self.builder, value, bits)
        if lo:
            value = self.builder.sub(value, ir.Constant(I64, lo))
        return resize(self.builder, value, bits)

    def fitted(self, queue: QueueValue, kind: Queue) -> QueueValue:
        """A queue with its elements in as many bits as the type has."""
        bits = self._data_bits(kind)
        if not bits:
            return QueueValue(queue.length, None)
        data = ir.Constant(ir.IntType(bits), 0)
        if queue.data is not None:
            data = resize(self.builder, queue.data, bits)
        return QueueValue(queue.length, data)

    def _element_cells(self, kind: Queue) -> list[tuple[int, int]]:
        return bits_of(kind.element, self.layout.constants)

    def _element_bits(self, kind: Queue) -> int:
        return sum(bits for _, bits in self._element_cells(kind))

    def _data_bits(self, kind: Queue) -> int:
        return bits_of(kind, self.layout.constants)[1][1]

    # --- how large an integer can become -------------------------------------------------

    def range(self, node: Expr) -> tuple[int, int]:
        """Bounds of an emitted integer (or truth value)."""
        return self.ranges.get(node, (0, 1))

    def admit(self, node: Expr) -> None:
        """Note an integer's range, after those of its operands, without emitting it."""
        if node not in self.ranges:
            self._check_range(node)

    def _check_range(self, node: Expr) -> None:
        found = self._range(node)
        if max(-found[0], found[1]) >= LIMIT:
            raise TooWide(
                f"an intermediate result of {self.layout.model.name} may exceed 62 bits",
                next_step="Declare narrower ranges.",
            )
        self.ranges[node] = found

    def _range(self, node: Expr) -> tuple[int, int]:
        if isinstance(node, Lit):
            return node.value, node.value
        if isinstance(node, Op) and node.op in _RANGES:
            found: Range = _RANGES[node.op](*(self.range(child) for child in node.operands))
            return found
        if isinstance(node, Op) and node.op == "len":
            kind = node.operands[0].type
            assert isinstance(kind, Queue)
            return 0, number(kind.capacity, self.layout.constants)
        return self._declared(node)

    def _declared(self, node: Expr) -> tuple[int, int]:
        kind: SlotType = node.type
        if isinstance(node, Read):
            kind = self.layout.model.slot_by_name[node.slot].type
        assert isinstance(kind, Int | Bool)
        return int_range(kind, self.layout.constants)


Range = tuple[int, int]


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _quotient(a: Range, b: Range) -> Range:
    size = max(-a[0], a[1], 0) + 1
    return (0 if a[0] >= 0 and b[0] >= 0 else -size), size


def _remainder(a: Range, b: Range) -> Range:
    return (min(b[0], 0), max(b[1], 0)) if b[0] < 0 else (0, max(b[1] - 1, 0))


_RANGES: dict[str, Any] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _product,
    "neg": lambda a: (-a[1], -a[0]),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "floordiv": _quotient,
    "mod": _remainder,
    "ite": lambda _, a, b: (min(a[0], b[0]), max(a[1], b[1])),
}
