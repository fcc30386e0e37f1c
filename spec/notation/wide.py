"""Long arrays, of which a step changes little: copied and checked where they were written only.

A state of a net has thousands of places, and a step changes two of them. A frozen long array is a
tuple of blocks, each a tuple of ``BLOCK`` elements, and states share the blocks that are the same;
so a step costs the blocks that it writes, and a trace of ten thousand states does not hold ten
thousand copies. What actions work on reads like any array.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, SupportsIndex

__all__ = ["WIDE", "FifoCheck", "WideArray", "WideCheck", "blocks_of", "elements_of"]

WIDE = 512
"""Arrays of at least so many scalars are held in blocks."""
BLOCK = 64

Block = tuple[Any, ...]
Blocks = tuple[Block, ...]


def blocks_of(values: Any) -> Blocks:
    """The frozen form of a long array, live or just a sequence of its elements."""
    if isinstance(values, WideArray):
        return values.frozen()
    elements = tuple(values)
    return tuple(elements[at:at + BLOCK] for at in range(0, len(elements), BLOCK))


def elements_of(blocks: Blocks) -> Iterator[Any]:
    """The elements of a frozen long array, in order."""
    return itertools.chain.from_iterable(blocks)


class WideArray(Sequence[Any]):
    """A long array that is worked on; a block is copied when it is first written."""

    __slots__ = ("_blocks", "_size")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, blocks: Blocks) -> None:
        self._blocks: list[Any] = list(blocks)  # tuples, and lists where it was written
        self._size = BLOCK * (len(blocks) - 1) + len(blocks[-1])

    def frozen(self) -> Blocks:
        """Its elements as they are now; blocks that were not written stay the same objects."""
        return tuple(block if block.__class__ is tuple else tuple(block)
                     for block in self._blocks)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if isinstance(index, slice):
            return list(self)[index]
        at = self._place(index, "list index out of range")
        return self._blocks[at // BLOCK][at % BLOCK]

    def __setitem__(self, index: SupportsIndex, value: Any) -> None:
        at = self._place(index, "list assignment index out of range")
        block = self._blocks[at // BLOCK]
        if block.__class__ is tuple:
            block = self._blocks[at // BLOCK] = list(block)
        block[at % BLOCK] = value

    def _place(self, index: SupportsIndex, words: str) -> int:
        """The place that an index points to, as in a list."""
        at = operator.index(index)
        if at < 0:
            at += self._size
        if not 0 <= at < self._size:
            raise IndexError(words)
        return at

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self._blocks)

    def __contains__(self, value: object) -> bool:
        return any(value in block for block in self._blocks)

    def __eq__(self, other: object) -> bool:
        return list(self) == (list(other) if isinstance(other, WideArray) else other)

    def __repr__(self) -> str:
        return repr(list(self))


class WideCheck:
    """The check of a frozen long array: one check for the elements of each block."""

    def __init__(self, blocks: Iterable[Callable[[Any], str]], size: int) -> None:
        self._checks = list(blocks)
        self._size = size

    def __call__(self, value: Blocks) -> str:
        """The first thing that is wrong, or nothing. Raises ValueError for another length."""
        return self.since(value, ((),) * len(value))

    def since(self, value: Blocks, before: Blocks) -> str:
        """The same, if nothing was wrong before: only what changed is looked at."""
        if sum(map(len, value)) != self._size:
            raise ValueError("it has another length")
        for check, new, old in zip(self._checks, value, before, strict=True):
            if new is not old and (problem := check(new)):
                return problem
        return ""


class FifoCheck:
    """The check of a frozen FIFO queue, which mostly is a right one after a push or a pop."""

    def __init__(self, check: Callable[[Any], str]) -> None:
        self._check = check

    def __call__(self, value: Block) -> str:
        """The first thing that is wrong, or nothing."""
        return self._check(value)

    def since(self, value: Block, before: Block) -> str:
        """The same, if nothing was wrong before: only what was pushed is looked at."""
        kept = len(before)
        if len(value) < kept:
            return "" if value == before[kept - len(value):] else self._check(value)
        return self._check(value[kept:] if value[:kept] == before else value)
