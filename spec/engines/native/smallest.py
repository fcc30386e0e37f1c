"""The smallest of a state's renamings, which the search keeps in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.ir as ir

from ...notation.renaming import Move, Renaming
from .code import I1, POINTER, function, i64, word_load, word_store
from .layout import Cell, Layout

__all__ = ["emit_smallest"]


@dataclass(frozen=True)
class _Bits:
    """Bits that keep their value: from a place in a word to one in another."""

    word: int
    shift: int
    to_word: int
    to_shift: int
    bits: int


def emit_smallest(
    module: ir.Module, layout: Layout, renamings: Sequence[Renaming]
) -> ir.Function:
    """Emit ``smallest(state)``: put the smallest of its renamings in a state's place.

    The first of the renamings changes nothing. Words are compared as numbers, the first one
    first, as ``Layout.pack`` makes them.
    """
    f = function(module, "smallest", ir.VoidType(), POINTER)
    f.linkage = "internal"
    (state,) = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    words = [word_load(b, state, index) for index in range(layout.words)]
    least = list(words)
    for renaming in renamings[1:]:
        renamed = _Renamed(b, layout, words).by(renaming)
        smaller = _less(b, renamed, least)
        least = [b.select(smaller, new, old) for new, old in zip(renamed, least, strict=True)]
    for index, word in enumerate(least):
        word_store(b, word, state, index)
    b.ret_void()
    return f


def _less(b: ir.IRBuilder, one: Sequence[Any], other: Sequence[Any]) -> Any:
    less = ir.Constant(I1, 0)
    for x, y in reversed(list(zip(one, other, strict=True))):
        less = b.select(b.icmp_unsigned("==", x, y), less, b.icmp_unsigned("<", x, y))
    return less


class _Renamed:
    """The words of a state after a renaming."""

    def __init__(self, b: ir.IRBuilder, layout: Layout, words: Sequence[Any]) -> None:
        self.b = b
        self.layout = layout
        self.words = words
        self.made: list[Any] = [i64(0) for _ in words]

    def by(self, renaming: Renaming) -> list[Any]:
        """Move every cell of every slot."""
        self.made[0] = self.b.and_(self.words[0], i64(1 << 63))
        kept: dict[tuple[int, int, int], int] = {}  # source bits by word, other word, distance
        for slot, move in renaming.moves.items():
            for source, target, images in self._cells(slot, move):
                if images is None:
                    for part in _bits(source, target):
                        key = part.word, part.to_word, part.to_shift - part.shift
                        mask = ((1 << part.bits) - 1) << part.shift
                        kept[key] = kept.get(key, 0) | mask
                else:
                    self._scatter(target, self._image(self._gather(source), images, target.bits))
        for (word, to_word, distance), mask in kept.items():
            part = self.b.and_(self.words[word], i64(mask))
            self._put(to_word, part, distance)
        return self.made

    def _cells(
        self, slot: str, move: Move
    ) -> Iterator[tuple[Cell, Cell, tuple[int, ...] | None]]:
        sources, targets = self.layout.cells[slot], self.layout.cells[move.slot]
        images = move.values if len(move.values) == len(sources) else (None,) * len(sources)
        yield from zip(sources, targets, images, strict=True)

    def _put(self, word: int, value: Any, distance: int) -> None:
        """Add bits to a word, further up by so many places (or down)."""
        b = self.b
        moved = b.shl(value, i64(distance)) if distance > 0 else (
            b.lshr(value, i64(-distance)) if distance < 0 else value)
        self.made[word] = b.or_(self.made[word], moved)

    def _gather(self, cell: Cell) -> Any:
        b, value = self.b, i64(0)
        for piece in cell.pieces:
            part = b.and_(b.lshr(self.words[piece.word], i64(piece.shift)),
                          i64((1 << piece.bits) - 1))
            value = b.or_(value, b.shl(part, i64(piece.offset)))
        return value

    def _scatter(self, cell: Cell, value: Any) -> None:
        b = self.b
        for piece in cell.pieces:
            part = b.and_(b.lshr(value, i64(piece.offset)), i64((1 << piece.bits) - 1))
            self._put(piece.word, part, piece.shift)

    def _image(self, value: Any, images: Sequence[int], bits: int) -> Any:
        """The new name of a member: from a table in a word where it fits in one."""
        b = self.b
        if len(images) * bits <= 64:
            table = sum(new << place * bits for place, new in enumerate(images))
            return b.and_(b.lshr(i64(table), b.mul(value, i64(bits))), i64((1 << bits) - 1))
        result = value
        for old, new in enumerate(images):
            if old != new:
                result = b.select(b.icmp_unsigned("==", value, i64(old)), i64(new), result)
        return result


def _bits(source: Cell, target: Cell) -> Iterator[_Bits]:
    """The parts of a cell that are in one piece both before and after."""
    for piece in source.pieces:
        for other in target.pieces:
            start = max(piece.offset, other.offset)
            end = min(piece.offset + piece.bits, other.offset + other.bits)
            if start < end:
                yield _Bits(piece.word, piece.shift + start - piece.offset,
                            other.word, other.shift + start - other.offset, end - start)
