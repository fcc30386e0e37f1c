"""The *shape* that many expressions of a machine have in common.

The actions of a large machine come from few lines of a chapter, once for each choice of
their parameters. They differ in the slots that they read and write and in some numbers, and
in nothing else. With a hole in place of each of these, equal expressions remain: one shape,
compiled once, and for each expression a *row* of parameters that fills its holes.

The holes of an integer slot are the word, the shift, the mask and the lowest value of its
cell; those of any other slot the word and the shift of each of its pieces. A number is a
hole wherever it occurs. What is never a hole: operators, truth values, the types of queues
and records. A junction of many parts is a leaf of its own: code for it is made elsewhere,
once, since it says the same about a state wherever it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...notation.expr import (
    BOOL, INT, Bool, ConstRef, EmptyQueue, Expr, Int, Lit, Op, Read, SlotType,
)
from .layout import Cell, Layout
from .values import Values

__all__ = ["LARGE_JUNCTION", "Hole", "Shape", "Shapes", "is_large"]

LARGE_JUNCTION = 24  # parts; junctions with more are looped over

Groups = Sequence[Sequence[Expr]]
Reference = int
"""A node by its place among the entries, or a number, by -1 - its place in the row."""


@dataclass(frozen=True)
class Hole:
    """A hole: the place in a row where a slot's parameters begin, and what is known of its cells.

    ``whole`` is true of an integer in one piece: its mask and lowest value are holes too.
    """

    at: int
    type: SlotType
    cells: tuple[Cell, ...]
    whole: bool

    @property
    def key(self) -> tuple[Any, ...]:
        """The key of a slot; slots with the same key fit into one hole."""
        if self.whole:
            return ("whole",)
        return (self.type, *(
            (cell.lo, cell.bits, *((piece.bits, piece.offset) for piece in cell.pieces))
            for cell in self.cells))


@dataclass(frozen=True)
class Shape:
    """Expressions with holes, in the groups in which they were given.

    A ``Read`` of ``#n`` reads the slot of ``holes[n]``, the ConstRef ``#n`` stands for the
    parameter n, and the ConstRef ``large n`` for ``large[n]``. ``targets`` are the holes of
    the slots that the caller writes. A row has ``size`` parameters.
    """

    number: int
    groups: tuple[tuple[Expr, ...], ...]
    targets: tuple[int, ...]
    holes: tuple[Hole, ...]
    large: tuple[Expr, ...]
    size: int


def is_large(node: Expr) -> bool:
    """True if a junction has so many parts that code for each of them would be too much."""
    return isinstance(node, Op) and node.op in ("and", "or") and (
        len(node.operands) > LARGE_JUNCTION)


class Shapes:
    """The shapes met so far in one model, and whether its numbers fit in words.

    Raises TooWide where an intermediate result may not.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.found: dict[tuple[Any, ...], Shape] = {}
        self._ranges = Values(None, layout, ())

    def of(self, groups: Groups, targets: Sequence[str] = ()) -> tuple[Shape, list[int]]:
        """The shape of some expressions (and of the slots to write), and the row of them."""
        reading = _Reading(self.layout, self._ranges)
        roots = tuple(tuple(map(reading.refer, group)) for group in groups)
        written = tuple(map(reading.slot, targets))
        key = (roots, written, tuple(reading.entries),
               tuple(hole.key for hole in reading.holes))
        shape = self.found.get(key)
        if shape is None:
            shape = self.found[key] = reading.shape(len(self.found), roots, written)
        return shape, reading.row


class _Reading:
    """One reading of some expressions, operands first: entries for the key, and the row.

    Two readings with equal entries have their holes in the same places.
    """

    def __init__(self, layout: Layout, ranges: Values) -> None:
        self.layout = layout
        self.ranges = ranges
        self.entries: list[tuple[Any, ...]] = []
        self.row: list[int] = []
        self.holes: list[Hole] = []
        self.large: list[Expr] = []
        self._places: dict[Expr, int] = {}
        self._slots: dict[str, int] = {}

    def refer(self, root: Expr) -> Reference:
        """A reference to an expression, after all that it needs."""
        stack = [root]
        places = self._places
        while stack:
            node = stack[-1]
            if node in places or _is_number(node):
                stack.pop()
                continue
            inner = () if is_large(node) else node.operands
            missing = [child for child in inner
                       if child not in places and not _is_number(child)]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            entry = self._entry(node)
            places[node] = len(self.entries)
            self.entries.append(entry)
        return self._reference(root)

    def _reference(self, node: Expr) -> Reference:
        if not _is_number(node):
            return self._places[node]
        assert isinstance(node, Lit)
        self.ranges.admit(node)
        self.row.append(node.value)
        return -len(self.row)

    def _entry(self, node: Expr) -> tuple[Any, ...]:
        if is_large(node):
            self.large.append(node)
            return ("large", node)
        if isinstance(node, Lit):
            return ("truth", node.value)
        if isinstance(node, EmptyQueue):
            return ("empty", node.type)
        if isinstance(node, Read):
            self._admit(node)
            return ("read", self.slot(node.slot))
        assert isinstance(node, Op), f"{node!r} has no place in code"
        references = tuple(map(self._reference, node.operands))
        self._admit(node)
        return (node.op, node.extra, INT if isinstance(node.type, Int) else node.type, references)

    def _admit(self, node: Expr) -> None:
        if isinstance(node.type, Int):
            self.ranges.admit(node)

    def slot(self, name: str) -> int:
        """The number of a slot's hole."""
        number = self._slots.get(name)
        if number is None:
            number = self._slots[name] = len(self.holes)
            self.holes.append(self._hole(name))
        return number

    def _hole(self, name: str) -> Hole:
        cells = tuple(self.layout.cells[name])
        kind = self.layout.model.slot_by_name[name].type
        hole = Hole(len(self.row), kind, cells,
                    whole=isinstance(kind, Int) and len(cells[0].pieces) < 2)
        for cell in cells:
            for piece in cell.pieces:
                self.row += (piece.word, piece.shift)
        if hole.whole:
            if not cells[0].pieces:  # an integer that can only have one value
                self.row += (0, 0)
            self.row += ((1 << cells[0].bits) - 1, cells[0].lo)
        return hole

    def shape(
        self, number: int, roots: tuple[tuple[Reference, ...], ...], targets: tuple[int, ...]
    ) -> Shape:
        """The expressions again, with holes."""
        made: list[Expr] = []

        def expression(reference: Reference) -> Expr:
            return ConstRef(f"#{-1 - reference}") if reference < 0 else made[reference]

        large = 0
        for entry in self.entries:
            match entry:
                case ("large", _):
                    made.append(ConstRef(f"large {large}"))
                    large += 1
                case ("truth", value):
                    made.append(Lit(value, BOOL))
                case ("empty", kind):
                    made.append(EmptyQueue(kind))
                case ("read", slot):
                    made.append(Read(f"#{slot}", self.holes[slot].type))
                case (op, extra, kind, references):
                    made.append(Op(op, tuple(map(expression, references)), kind, extra))
        groups = tuple(tuple(map(expression, group)) for group in roots)
        return Shape(number, groups, targets, tuple(self.holes), tuple(self.large),
                     len(self.row))


def _is_number(node: Expr) -> bool:
    return isinstance(node, Lit) and not isinstance(node.type, Bool)
