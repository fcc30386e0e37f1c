"""Code for large machines: one function for each shape, which loops over its rows.

The time to compile then follows the number of shapes and not that of the actions; the rows
are data. A *program* is a list of runs, each a shape with rows that follow one another, in
the order of the actions: so successors come in the order in which the interpreter has them.

States are read and written in memory, word by word, so they may have any number of words.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import llvmlite.ir as ir

from ...notation.expr import ConstRef, Expr, Lit, Op, Queue, Read, Record, and_, not_
from .code import (
    I1, I32, I64, POINTER, copy_words, function, i64, local, loop, word_at, word_load, word_store,
)
from .control import ENABLED, FLAGGED, MADE_MASK
from .layout import Cell, Layout, Piece
from .shapes import Hole, Shape, Shapes
from .values import LIMIT, QueueValue, Value, Values, resize

__all__ = ["Program", "RowCode", "RowValues"]

_RUN_WORDS = 3  # shape, address of the first row, number of rows


class RowValues(Values):
    """Values of a shape's expressions in a state, for one row."""

    def __init__(
        self, builder: ir.IRBuilder, layout: Layout, state: Any, row: Any, shape: Shape,
        large: Callable[[ir.IRBuilder, Any, Expr], Any], outer: RowValues | None = None,
    ) -> None:
        super().__init__(builder, layout, (), outer)
        self.state = state
        self.row = row
        self.shape = shape
        self.large = large

    def inside(self) -> RowValues:
        """A scope for code that is not always executed."""
        return RowValues(self.builder, self.layout, self.state, self.row, self.shape, self.large,
                         self)

    def parameter(self, place: int) -> Any:
        """A parameter of the row."""
        return word_load(self.builder, self.row, place)

    def _emit(self, node: Expr) -> Value:
        if isinstance(node, ConstRef):
            kind, _, number = node.name.partition("large ")
            if number:
                return self.large(self.builder, self.state, self.shape.large[int(number)])
            return self.parameter(int(kind.removeprefix("#")))
        return super()._emit(node)

    def _read(self, node: Read) -> Value:
        hole = self.shape.holes[int(node.slot.removeprefix("#"))]
        if hole.whole:
            word, shift, mask, lo = (self.parameter(hole.at + i) for i in range(4))
            b = self.builder
            raw = b.and_(b.lshr(word_load(b, self.state, word), shift), mask)
            return b.add(raw, lo)
        return self._decode_slot(hole.type, hole.cells, self._cells_at(hole))

    def _cells_at(self, hole: Hole) -> list[Any]:
        at = hole.at
        raw = []
        for cell in hole.cells:
            raw.append(self._gather_at(cell, at))
            at += 2 * len(cell.pieces)
        return raw

    def _gather_at(self, cell: Cell, at: int) -> Any:
        """The bits of a cell with its pieces where the parameters from ``at`` on say."""
        b = self.builder
        result = None
        for number, piece in enumerate(cell.pieces):
            word, shift = self.parameter(at + 2 * number), self.parameter(at + 2 * number + 1)
            part = b.lshr(word_load(b, self.state, word), shift)
            part = resize(b, part, piece.bits)
            if len(cell.pieces) > 1:
                part = b.shl(resize(b, part, cell.bits),
                             ir.Constant(ir.IntType(cell.bits), piece.offset))
                part = part if result is None else b.or_(result, part)
            result = part
        return i64(0) if result is None else result

    # What differs from row to row is not known here; Shapes has looked at each row.

    def range(self, node: Expr) -> tuple[int, int]:
        """Nothing is known of a hole."""
        return -LIMIT, LIMIT

    def _check_range(self, node: Expr) -> None:
        pass


@dataclass
class Program:
    """Rows in their order. ``heads`` words stand before the parameters of each."""

    heads: int
    data: list[int] = field(default_factory=list)
    runs: list[list[int]] = field(default_factory=list)  # shape, first word, rows
    shapes: dict[int, Shape] = field(default_factory=dict)

    def add(self, shape: Shape, head: Iterable[int], row: Iterable[int]) -> None:
        """Add a row at the end."""
        if self.runs and self.runs[-1][0] == shape.number:
            self.runs[-1][2] += 1
        else:
            self.runs.append([shape.number, len(self.data), 1])
            self.shapes[shape.number] = shape
        self.data += head
        self.data += row


class RowCode:
    """Emits functions of programs into a module.

    ``kept`` are the arrays that the code reads; a caller that runs it keeps them.
    """

    def __init__(
        self, module: ir.Module, layout: Layout, watch: Callable[[], None] = lambda: None
    ) -> None:
        self.module = module
        self.layout = layout
        self.shapes = Shapes(layout)
        self.watch = watch
        self.kept: list[Any] = []
        self._large: dict[Expr, ir.Function] = {}
        self._tests: dict[int, ir.Function] = {}
        self._names = 0

    # --- programs ----------------------------------------------------------------------

    def _array(self, words: Sequence[int]) -> Any:
        """The address of an array of words, as a constant."""
        mask = (1 << 64) - 1
        array = (ctypes.c_uint64 * max(len(words), 1))(*(word & mask for word in words))
        self.kept.append(array)
        return i64(ctypes.addressof(array))

    def run(
        self, b: ir.IRBuilder, program: Program,
        call: Callable[[ir.IRBuilder, Shape, Any, Any], None],
    ) -> None:
        """Build the loop over a program's runs: ``call(b, shape, first row, rows)`` for each."""
        data = self._array(program.data)
        base = int(data.constant)
        runs = self._array([word for shape, start, rows in program.runs
                            for word in (shape, base + 8 * start, rows)])
        table = b.inttoptr(runs, POINTER)
        with loop(b, i64(0), i64(len(program.runs))) as index:
            entry = word_at(b, table, b.mul(index, i64(_RUN_WORDS)))
            first = b.inttoptr(word_load(b, entry, 1), POINTER)
            count = word_load(b, entry, 2)
            done = b.append_basic_block("ran")
            switch = b.switch(word_load(b, entry, 0), done)
            for number, shape in program.shapes.items():
                self.watch()
                case = b.append_basic_block(f"shape{number}")
                switch.add_case(i64(number), case)
                b.position_at_end(case)
                call(b, shape, first, count)
                b.branch(done)
            b.position_at_end(done)

    def _function(self, kind: str, result: Any, *arguments: Any) -> ir.Function:
        self._names += 1
        f = function(self.module, f"{kind}_{self._names}", result, *arguments)
        f.linkage = "internal"
        return f

    def values(self, b: ir.IRBuilder, state: Any, row: Any, shape: Shape) -> RowValues:
        """The values of a shape's expressions for one row."""
        return RowValues(b, self.layout, state, row, shape, self.large)

    # --- conditions --------------------------------------------------------------------

    def program_of(
        self, conditions: Iterable[tuple[Sequence[int], Expr]], heads: int
    ) -> Program:
        """Conditions with their heads, as a program."""
        program = Program(heads)
        for head, condition in conditions:
            self.watch()
            shape, row = self.shapes.of([[condition]])
            program.add(shape, head, row)
        return program

    def any_of(self, conditions: Iterable[Expr]) -> ir.Function:
        """Emit ``any(state) -> i1``: whether one of some conditions holds."""
        program = self.program_of((((), condition) for condition in conditions), heads=0)
        f = self._function("any", I1, POINTER)
        b = ir.IRBuilder(f.append_basic_block("entry"))

        def call(b: ir.IRBuilder, shape: Shape, first: Any, count: Any) -> None:
            hit = b.call(self._test(shape), [f.args[0], first, count])
            with b.if_then(hit, likely=False):
                b.ret(ir.Constant(I1, 1))

        self.run(b, program, call)
        b.ret(ir.Constant(I1, 0))
        return f

    def _test(self, shape: Shape) -> ir.Function:
        """``test(state, rows, count) -> i1``: whether the condition holds for one of the rows."""
        if shape.number in self._tests:
            return self._tests[shape.number]
        f = self._tests[shape.number] = self._function("test", I1, POINTER, POINTER, I64)
        state, rows, count = f.args
        b = ir.IRBuilder(f.append_basic_block("entry"))
        with loop(b, i64(0), count) as index:
            row = word_at(b, rows, b.mul(index, i64(shape.size)))
            holds = self.values(b, state, row, shape).of(shape.groups[0][0])
            with b.if_then(holds, likely=False):
                b.ret(ir.Constant(I1, 1))
        b.ret(ir.Constant(I1, 0))
        return f

    def large(self, b: ir.IRBuilder, state: Any, node: Expr) -> Any:
        """The value of a junction of many parts, by a function that loops over them."""
        assert isinstance(node, Op)
        conjunction = node.op == "and"
        if node not in self._large:
            parts = map(not_, node.operands) if conjunction else node.operands
            self._large[node] = self.any_of(parts)
        found = b.call(self._large[node], [state])
        return b.not_(found) if conjunction else found

    def condition(self, b: ir.IRBuilder, state: Any, expr: Expr) -> Any:
        """The truth of one expression in a state."""
        if isinstance(expr, Lit):
            return ir.Constant(I1, expr.value)
        return b.call(self.any_of([expr]), [state])

    # --- successors --------------------------------------------------------------------

    def step(self, shape: Shape) -> ir.Function:
        """``step(state, out, taken, made, rows, count) -> made``: successors by some rows.

        The groups of the shape are the parts of the guard, the new values of its targets,
        what is wrong where the guard holds, and what is wrong also where it does not. A row's
        head is the index of its action. ``made`` is as what ``successors`` returns.
        """
        f = self._function("step", I64, *[POINTER] * 3, I64, POINTER, I64)
        for argument in f.args[:3]:
            argument.add_attribute("noalias")
        _Step(self, ir.IRBuilder(f.append_basic_block("entry")), shape).build()
        return f


class _Step:
    """The body of a step function while it is built."""

    def __init__(self, code: RowCode, b: ir.IRBuilder, shape: Shape) -> None:
        self.code = code
        self.b = b
        self.shape = shape
        self.words = code.layout.words
        self.state, self.out, self.taken, made, self.rows, self.size = b.function.args
        self.made = local(b, made)

    def build(self) -> None:
        """Emit the loop over the rows."""
        b, shape = self.b, self.shape
        guard, _, _, outside = shape.groups
        with loop(b, i64(0), self.size) as index:
            row = word_at(b, self.rows, b.mul(index, i64(shape.size + 1)))
            values = self.code.values(b, self.state, word_at(b, row, 1), shape)
            for condition in outside:
                self._raise(values.of(condition))
            self._behind(list(guard), values, row)
        b.ret(b.load(self.made, typ=I64))

    def _behind(self, guard: list[Expr], values: RowValues, row: Any) -> None:
        """The successor, behind the parts of the guard one after the other."""
        if not guard:
            self._successor(values, row)
            return
        first, rest = guard[0], guard[1:] if len(guard) < 4 else [and_(*guard[1:])]
        with self.b.if_then(values.of(first), likely=False):
            self._behind(rest, values.inside(), row)

    def _successor(self, values: RowValues, row: Any) -> None:
        b = self.b
        _, updates, wrong, _ = self.shape.groups
        made = b.load(self.made, typ=I64)
        count = b.and_(made, i64(MADE_MASK))
        target = word_at(b, self.out, b.mul(count, i64(self.words)))
        new = [values.of(expr) for expr in updates]
        copy_words(b, self.state, target, self.words)
        for number, value in zip(self.shape.targets, new, strict=True):
            self._store(values, self.shape.holes[number], value, target)
        index = b.trunc(word_load(b, row, 0), I32)
        b.store(index, b.gep(self.taken, [count], source_etype=I32))
        b.store(b.add(made, i64(1 << ENABLED | 1)), self.made)
        for condition in wrong:
            self._raise(values.of(condition))

    def _raise(self, condition: Any) -> None:
        b = self.b
        flagged = b.or_(b.load(self.made, typ=I64), b.shl(b.zext(condition, I64), i64(FLAGGED)))
        b.store(flagged, self.made)

    def _store(self, values: RowValues, hole: Hole, value: Value, target: Any) -> None:
        b = self.b
        if hole.whole:
            word, shift, mask, lo = (values.parameter(hole.at + i) for i in range(4))
            raw = b.and_(b.sub(value, lo), mask)
            self._put(target, word, b.shl(mask, shift), b.shl(raw, shift))
            return
        at = hole.at
        for cell, bits in zip(hole.cells, _raw_cells(values, hole, value), strict=True):
            for piece in cell.pieces:
                word, shift = values.parameter(at), values.parameter(at + 1)
                part = self._part(bits, piece)
                self._put(target, word, b.shl(i64((1 << piece.bits) - 1), shift),
                          b.shl(part, shift))
                at += 2

    def _part(self, bits: Any, piece: Piece) -> Any:
        b = self.b
        moved = b.lshr(bits, ir.Constant(bits.type, piece.offset)) if piece.offset else bits
        return resize(b, resize(b, moved, piece.bits), 64)

    def _put(self, target: Any, word: Any, mask: Any, bits: Any) -> None:
        b = self.b
        kept = b.and_(word_load(b, target, word), b.not_(mask))
        word_store(b, b.or_(kept, bits), target, word)


def _raw_cells(values: RowValues, hole: Hole, value: Value) -> list[Any]:
    """The new bits of each cell of a slot; None of those that have none."""
    if isinstance(hole.type, Queue):
        queue: QueueValue = values.fitted(value, hole.type)
        length = hole.cells[0]
        return [resize(values.builder, queue.length, length.bits) if length.bits else None,
                queue.data]
    parts = value if isinstance(hole.type, Record) else [value]
    return [values.encoded(part, cell.lo, cell.bits) if cell.bits else None
            for cell, part in zip(hole.cells, parts, strict=True)]
