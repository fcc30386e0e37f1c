"""The place of each piece of the state in the packed words.

A state is ``W`` words of 64 bits. Every slot is flattened into *cells* of a few bits: an
integer is one cell holding its offset from its lower bound, a record one cell per field,
a queue a cell for its length and one for its elements, head in the lowest bits. Cells of
up to 64 bits stay within a word where that costs no extra word; longer ones (and the rest)
are cut into *pieces*.

The top bit of word 0 is set in every state, so that a word 0 of zero can mean "no state
here" in the search's table and in its order array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...notation.errors import InputError
from ...notation.expr import Bool, Expr, Int, Lit, Op, Queue, Record, SlotType, substitute
from ...notation.model import Model, Slot
from ...notation.model import Value
from ...verdicts.native_refusal import NotNative

__all__ = ["MAX_WORDS", "PRESENT", "Cell", "Layout", "Piece", "TooWide", "bits_of", "number"]

MAX_WORDS = 2048
MAX_QUEUE_BITS = 4096  # of the elements of one queue, which is one number to the compiler
PRESENT = 1 << 63  # bit of word 0 that every state has


class TooWide(NotNative):
    """The state needs more words than the native explorer packs, or one queue more bits.

    Usual causes: queues of great capacity, or elements with wide ranges.
    """


@dataclass(frozen=True)
class Piece:
    """``bits`` bits of a cell, from its bit ``offset``, kept at ``shift`` of ``word``."""

    word: int
    shift: int
    bits: int
    offset: int


@dataclass(frozen=True)
class Cell:
    """``bits`` bits that hold ``value - lo``; ``bits`` is 0 where only one value exists."""

    lo: int
    bits: int
    pieces: tuple[Piece, ...] = ()


def number(expr: Expr, constants: Mapping[str, int | Expr]) -> int:
    """The value of an expression over constants that all have values."""
    def of_constant(leaf: Expr) -> Expr | None:
        value = constants.get(getattr(leaf, "name", ""))
        return Lit(value) if isinstance(value, int) else value

    folded = expr if isinstance(expr, Lit) else substitute(expr, of_constant)
    if not isinstance(folded, Lit):
        raise InputError(
            f"the explorer needs a value for every constant, and {expr!r} has none",
            next_step="Give values to all constants, or use the prover.",
        )
    return folded.value


def int_range(of: Int | Bool, constants: Mapping[str, int | Expr]) -> tuple[int, int]:
    """The lowest and highest value of a bounded integer or of a truth value."""
    if isinstance(of, Bool):
        return 0, 1
    if of.lo is None or of.hi is None:
        raise InputError("the explorer needs bounds for every integer of the state")
    return number(of.lo, constants), number(of.hi, constants)


def scalars(of: Int | Bool | Record) -> list[Int | Bool]:
    """The scalar types inside an element type, in the order in which they are packed."""
    return [kind for _, kind in of.fields] if isinstance(of, Record) else [of]


def bits_of(of: SlotType, constants: Mapping[str, int | Expr]) -> list[tuple[int, int]]:
    """The cells of a type, as (lowest value, bits) pairs."""
    if isinstance(of, Queue):
        capacity = number(of.capacity, constants)
        width = sum(bits for _, bits in bits_of(of.element, constants))
        return [(0, capacity.bit_length()), (0, capacity * width)]
    ranges = [int_range(kind, constants) for kind in scalars(of)]
    return [(lo, (hi - lo).bit_length()) for lo, hi in ranges]


def check_size(
    machine: str, slots: Sequence[Slot], constants: Mapping[str, int | Expr]
) -> None:
    """Raise TooWide where a state would have more bits than the explorer packs.

    It needs only the declarations, so it can be asked before a machine is lowered.
    """
    total = 0
    for slot in slots:
        bits = [bits for _, bits in bits_of(slot.type, constants)]
        total += sum(bits)
        if isinstance(slot.type, Queue) and bits[1] > MAX_QUEUE_BITS:
            raise TooWide(
                f"the queue {slot.name} of {machine} needs {bits[1]} bits, and the explorer "
                f"packs at most {MAX_QUEUE_BITS} in one queue",
                next_step="Choose a shorter queue, or smaller elements.")
    if total > MAX_WORDS * 64 - 1:
        raise TooWide(
            f"a state of {machine} needs {total} bits, and the explorer packs at most "
            f"{MAX_WORDS * 64 - 1}",
            next_step="Choose smaller constants, or shorter queues.")


class Layout:
    """The cells of every slot of a model, and the number of words that they need."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.constants = model.constants
        check_size(model.name, model.slots, model.constants)
        sizes = [(slot.name, index, lo, bits)
                 for slot in model.slots
                 for index, (lo, bits) in enumerate(bits_of(slot.type, model.constants))]
        total = sum(bits for *_, bits in sizes)
        placed = _place_whole([bits for *_, bits in sizes])
        if placed is None or max((p.word for ps in placed for p in ps), default=0) > total // 64:
            placed = _place_tightly([bits for *_, bits in sizes])
        self.cells: dict[str, list[Cell]] = {slot.name: [] for slot in model.slots}
        for (name, _, lo, bits), pieces in zip(sizes, placed, strict=True):
            self.cells[name].append(Cell(lo, bits, tuple(pieces)))
        self.bits = total
        self.words = 1 + max((p.word for ps in placed for p in ps), default=0)

    def pack(self, values: Mapping[str, Value]) -> tuple[int, ...]:
        """The words of a state given by the values of its slots."""
        words = [0] * self.words
        words[0] = PRESENT
        for slot in self.model.slots:
            raw = self._raw(slot.type, values[slot.name])
            for cell, value in zip(self.cells[slot.name], raw, strict=True):
                for piece in cell.pieces:
                    part = (value >> piece.offset) & ((1 << piece.bits) - 1)
                    words[piece.word] |= part << piece.shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> dict[str, Value]:
        """The values of all slots in a packed state."""
        result: dict[str, Value] = {}
        for slot in self.model.slots:
            raw = [sum(((int(words[p.word]) >> p.shift) & ((1 << p.bits) - 1)) << p.offset
                       for p in cell.pieces)
                   for cell in self.cells[slot.name]]
            result[slot.name] = self._value(slot.type, raw)
        return result

    def initial(self) -> tuple[int, ...]:
        """The words of the initial state."""
        return self.pack({slot.name: self._literal(slot.init) for slot in self.model.slots})

    def _literal(self, init: Expr) -> Value:
        """The value of an initial expression: literals, records and pushes of them."""
        if isinstance(init, Op) and init.op == "record":
            return tuple(self._literal(part) for part in init.operands)
        if isinstance(init, Op) and init.op == "push":
            queue, element = (self._literal(part) for part in init.operands)
            assert isinstance(queue, tuple)
            return (*queue, element)
        return () if isinstance(init.type, Queue) else number(init, self.constants)

    def _raw(self, of: SlotType, value: Value) -> list[int]:
        if isinstance(of, Queue):
            assert isinstance(value, tuple)
            cells = bits_of(of.element, self.constants)
            width = sum(bits for _, bits in cells)
            data = sum(_join(cells, self._raw(of.element, element)) << (place * width)
                       for place, element in enumerate(value))
            return [len(value), data]
        parts = value if isinstance(value, tuple) else (value,)
        raw = []
        for kind, part in zip(scalars(of), parts, strict=True):
            assert isinstance(part, int)
            raw.append(part - int_range(kind, self.constants)[0])
        return raw

    def _value(self, of: SlotType, raw: list[int]) -> Value:
        if isinstance(of, Queue):
            cells = bits_of(of.element, self.constants)
            width = sum(bits for _, bits in cells)
            return tuple(self._value(of.element, _split(cells, raw[1] >> (place * width)))
                         for place in range(raw[0]))
        parts = tuple(part + int_range(kind, self.constants)[0]
                      for kind, part in zip(scalars(of), raw, strict=True))
        return parts if isinstance(of, Record) else parts[0]


def _join(cells: list[tuple[int, int]], raw: list[int]) -> int:
    result, shift = 0, 0
    for (_, bits), value in zip(cells, raw, strict=True):
        result |= value << shift
        shift += bits
    return result


def _split(cells: list[tuple[int, int]], data: int) -> list[int]:
    parts = []
    for _, bits in cells:
        parts.append(data & ((1 << bits) - 1))
        data >>= bits
    return parts


def _place_whole(sizes: list[int]) -> list[list[Piece]] | None:
    """Each cell within one word, largest first; None where a cell is longer than a word."""
    if max(sizes, default=0) > 63:
        return None
    room: list[int] = []
    result: list[list[Piece]] = [[] for _ in sizes]
    for index in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        bits = sizes[index]
        if bits == 0:
            continue
        word = next((w for w, free in enumerate(room) if free >= bits), len(room))
        if word == len(room):
            room.append(63 if word == 0 else 64)
        result[index] = [Piece(word, (63 if word == 0 else 64) - room[word], bits, 0)]
        room[word] -= bits
    return result


def _place_tightly(sizes: list[int]) -> list[list[Piece]]:
    """Cells one after the other, cut where a word ends: never more words than needed."""
    result = []
    word, shift = 0, 0
    for bits in sizes:
        pieces = []
        offset = 0
        while offset < bits:
            end = 63 if word == 0 else 64
            if shift == end:
                word, shift = word + 1, 0
                continue
            part = min(bits - offset, end - shift)
            pieces.append(Piece(word, shift, part, offset))
            offset += part
            shift += part
        result.append(pieces)
    return result
