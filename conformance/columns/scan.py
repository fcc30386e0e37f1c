"""A scanner of lines of JSON as machine code: each line one flat object of texts, whole numbers
and nulls, with known names in any order.

It either takes a line or stops before it: at escapes, fractions, nested values, names that are not
known or come twice, and whatever is no JSON. So it has no say in what such a line means. A text is
not copied: it gets the number of the first equal one of its field.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import llvmlite.ir as ir
import numpy as np

from ...spec.engines.native.code import (
    I1, I8, I64, POINTER, i64, local, word_at, word_load, word_store,
)
from ...spec.engines.native.jit import compiled_once

if TYPE_CHECKING:
    from .cells import Numbers

__all__ = ["ABSENT", "FIELDS_MAX", "NUMBER", "PAD", "TEXT", "Scan"]

FIELDS_MAX: Final = 64
"""Fields of a line: those that were seen are the bits of a word."""

ABSENT: Final = -1 << 63
"""In a cell: the line has no such field, or null. It is taken for no number."""

TEXT: Final = 1
NUMBER: Final = 2
"""The kinds of values that a field had, as bits."""

PAD: Final = b"\0" * 16
"""Stands behind the text, for words are read beyond its end."""

_PROBES_MAX: Final = 512
"""Places of the table that are looked at for one text: more are the work of an adversary."""

_DIGITS_MAX: Final = 19
_ONES: Final = 0x0101010101010101
_HIGH: Final = 0x8080808080808080
_PRIME: Final = 0x9E3779B97F4A7C15
_FIELD: Final = 4
"""Words of a field in the table of names: where its words are, their number, its length."""


class Scan:
    """The lines of a ``text``, which ends with a line's end, by field: ``cells`` has a row for
    each field that was ``learned``, and in it for each line a whole number, or the number of a
    text among those of its field; ``kinds`` the kinds of its values, ``ends`` where each of its
    texts begins and ends. ``row`` lines were taken so far, up to ``at``."""

    def __init__(self, text: bytes, lines: int) -> None:
        self._text = np.frombuffer(text + PAD, np.uint8)
        self.lines, self.row, self.at = lines, 0, 0
        self.names: list[bytes] = []
        self.cells = np.zeros((0, lines), np.int64)
        self.kinds = np.zeros(FIELDS_MAX, np.int64)
        self._counts = np.zeros(FIELDS_MAX, np.int64)
        self._ends = np.zeros((0, lines, 2), np.int64)
        self._slots = 1 << (2 * lines).bit_length()
        self.learns(())
        self._begins()

    def learns(self, names: Sequence[bytes]) -> None:
        """Know some more names, each as it is written, with its quotes."""
        more = len(names)
        self.names += names
        self.cells = np.concatenate([self.cells, np.full((more, self.lines), ABSENT)])
        self._ends = np.concatenate([self._ends, np.empty((more, self.lines, 2), np.int64)])
        self._fields, self._words = _table_of(self.names)

    def _begins(self) -> None:
        self.row = self.at = self._used = 0
        self.kinds[:] = self._counts[:] = 0
        self._table = np.zeros(self._slots, np.uint64)

    def takes(self) -> bool:
        """Take lines up to the next that cannot be taken; False if there is one."""
        while True:
            where = np.array([self.at, self.row, self._used], np.int64)
            arrays = (self._text, self._words, self._fields, self.kinds, self.cells, self._table,
                      self._ends, self._counts, where)
            assert all(each.flags.c_contiguous for each in arrays)
            is_full = _scan()(*(each.ctypes.data for each in arrays), len(self.names), self.lines,
                              self._slots - 1)
            self.at, self.row, self._used = where.tolist()
            if not is_full:
                return self.row == self.lines
            self._slots *= 4
            self.cells[:] = ABSENT
            self._begins()

    def texts(self, field: int) -> tuple[Numbers, Any]:
        """Where the texts of a field stand, each from one place to another, and the bytes."""
        return self._ends[field, :self._counts[field]].reshape(-1), self._text


def _table_of(names: Sequence[bytes]) -> tuple[Numbers, Numbers]:
    """The names as words, each with the mask of its bytes, and where those of each are."""
    fields, words = list[int](), list[int]()
    for name in names:
        fields += [len(words), -(-len(name) // 8), len(name), 0]
        for at in range(0, len(name), 8):
            some = name[at:at + 8]
            words += [int.from_bytes(some, "little"), (1 << 8 * len(some)) - 1]
    return np.array(fields, np.int64), np.array(words, np.uint64)


@cache
def _scan() -> Callable[..., int]:
    """The function, compiled once."""
    module = ir.Module(name="lines")
    _Emission(module).lines()
    engine = compiled_once(str(module))
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 9, *[ctypes.c_uint64] * 3)(
        engine.get_function_address("scan"))
    return _Kept(function, engine)


class _Kept:
    """A function of an engine, which has to live as long."""

    def __init__(self, function: Callable[..., int], engine: Any) -> None:
        self._function, self._engine = function, engine

    def __call__(self, *arguments: int) -> int:
        return self._function(*arguments)


class _Emission:
    """Emits ``scan(text, words, fields, kinds, cells, table, ends, counts, where, names, lines,
    mask) -> 1 if the table is full``; ``where`` is the place and the row to begin with, and how
    much of the table is used, and then the same at the line that was not taken."""

    def __init__(self, module: ir.Module) -> None:
        f = ir.Function(module, ir.FunctionType(I64, [*[POINTER] * 9, *[I64] * 3]), "scan")
        self.b = b = ir.IRBuilder(f.append_basic_block("entry"))
        (self.text, self.words, self.fields, self.kinds, self.cells, self.table, self.ends,
         self.counts, self.where, self.names, self.rows, self.mask) = f.args
        self.line = local(b, word_load(b, self.where, 0))   # where the line begins
        self.row = local(b, word_load(b, self.where, 1))
        self.at, self.seen, self.field, self.tries = (local(b, i64(0)) for _ in range(4))
        self.full = local(b, i64(0))
        self.used = local(b, word_load(b, self.where, 2))
        self.odd = b.append_basic_block("odd")

    def blocks(self, *names: str) -> list[Any]:
        """New blocks of code, by their names."""
        return [self.b.append_basic_block(name) for name in names]

    def of(self, place: Any) -> Any:
        """The value of a variable."""
        return self.b.load(place, typ=I64)

    def byte(self, at: Any) -> Any:
        """A byte of the text."""
        return self.b.load(self.b.gep(self.text, [at], source_etype=I8), typ=I8)

    def word(self, at: Any) -> Any:
        """Eight bytes of the text."""
        return self.b.load(self.b.gep(self.text, [at], source_etype=I8), typ=I64, align=1)

    def is_byte(self, byte: Any, letter: str) -> Any:
        """True of a letter."""
        return self.b.icmp_unsigned("==", byte, ir.Constant(I8, ord(letter)))

    def needs(self, condition: Any) -> None:
        """Do not take the line unless something holds."""
        following = self.b.append_basic_block("fits")
        self.b.cbranch(condition, following, self.odd)
        self.b.position_at_end(following)

    def skips(self, more: int = 0) -> Any:
        """Pass by so many bytes ``more``, and white space; the byte that follows."""
        b = self.b
        if more:
            b.store(b.add(self.of(self.at), i64(more)), self.at)
        head, space, other = self.blocks("skips", "space", "other")
        b.branch(head)
        b.position_at_end(head)
        byte = self.byte(self.of(self.at))
        is_space = b.or_(self.is_byte(byte, " "), b.or_(self.is_byte(byte, "\t"),
                                                       self.is_byte(byte, "\r")))
        b.cbranch(is_space, space, other)
        b.position_at_end(space)
        b.store(b.add(self.of(self.at), i64(1)), self.at)
        b.branch(head)
        b.position_at_end(other)
        return byte

    def lines(self) -> None:
        """The loop over lines."""
        b = self.b
        head, begins, member, done = self.blocks("line", "begins", "member", "done")
        b.branch(head)
        b.position_at_end(head)
        b.cbranch(b.icmp_unsigned("<", self.of(self.row), self.rows), begins, done)
        b.position_at_end(begins)
        b.store(self.of(self.line), self.at)
        b.store(i64(0), self.seen)
        b.store(i64(-1), self.field)
        self.needs(self.is_byte(self.skips(), "{"))
        self.skips(1)
        b.branch(member)
        b.position_at_end(member)
        self._name()
        self.needs(self.is_byte(self.skips(), ":"))
        self._value(self.skips(1))
        byte = self.skips()
        following, ended = self.blocks("following", "ended")
        b.cbranch(self.is_byte(byte, ","), following, ended)
        b.position_at_end(following)
        self.skips(1)
        b.branch(member)
        b.position_at_end(ended)
        self.needs(self.is_byte(byte, "}"))
        self.needs(self.is_byte(self.skips(1), "\n"))
        b.store(b.add(self.of(self.at), i64(1)), self.line)
        b.store(b.add(self.of(self.row), i64(1)), self.row)
        b.branch(head)
        b.position_at_end(self.odd)
        b.branch(done)
        b.position_at_end(done)
        word_store(b, self.of(self.line), self.where, 0)
        word_store(b, self.of(self.row), self.where, 1)
        word_store(b, self.of(self.used), self.where, 2)
        b.ret(self.of(self.full))

    def _name(self) -> None:
        """The field of the name that stands here: most often the one after the last."""
        b = self.b
        head, compare, word, same, differs, found = self.blocks(
            "field", "compare", "word", "same", "differs", "found")
        b.store(i64(0), self.tries)
        place = local(b, i64(0))
        b.branch(head)
        b.position_at_end(head)
        following = b.add(self.of(self.field), i64(1))
        following = b.select(b.icmp_unsigned("<", following, self.names), following, i64(0))
        b.store(following, self.field)
        tries = self.of(self.tries)
        b.store(b.add(tries, i64(1)), self.tries)
        self.needs(b.icmp_unsigned("<", tries, self.names))
        entry = word_at(b, self.fields, b.mul(following, i64(_FIELD)))
        first, size, length = (word_load(b, entry, each) for each in range(3))
        b.store(i64(0), place)
        b.branch(compare)
        b.position_at_end(compare)
        index = self.of(place)
        b.cbranch(b.icmp_unsigned("<", index, size), word, found)
        b.position_at_end(word)
        pair = b.add(first, b.mul(index, i64(2)))
        here = self.word(b.add(self.of(self.at), b.mul(index, i64(8))))
        is_same = b.icmp_unsigned(
            "==", b.and_(here, word_load(b, self.words, b.add(pair, i64(1)))),
            word_load(b, self.words, pair))
        b.store(b.add(index, i64(1)), place)
        b.cbranch(is_same, same, differs)
        b.position_at_end(same)
        b.branch(compare)
        b.position_at_end(differs)
        b.branch(head)
        b.position_at_end(found)
        bit, seen = b.shl(i64(1), following), self.of(self.seen)
        b.store(b.or_(seen, bit), self.seen)
        b.store(b.add(self.of(self.at), length), self.at)
        self.needs(b.icmp_unsigned("==", b.and_(seen, bit), i64(0)))

    def _value(self, byte: Any) -> None:
        """The value that stands here."""
        b = self.b
        text, other, number, null, done = self.blocks("text", "other", "number", "null", "valued")
        b.cbranch(self.is_byte(byte, '"'), text, other)
        b.position_at_end(text)
        self._puts(self._text(), TEXT)
        b.branch(done)
        b.position_at_end(other)
        b.cbranch(self.is_byte(byte, "n"), null, number)
        b.position_at_end(null)
        four = b.and_(self.word(self.of(self.at)), i64(0xFFFFFFFF))
        self.needs(b.icmp_unsigned("==", four, i64(int.from_bytes(b"null", "little"))))
        b.store(b.add(self.of(self.at), i64(4)), self.at)
        b.branch(done)
        b.position_at_end(number)
        self._puts(self._number(byte), NUMBER)
        b.branch(done)
        b.position_at_end(done)

    def _puts(self, value: Any, kind: int) -> None:
        """Put a value into its cell."""
        b, field = self.b, self.of(self.field)
        word_store(b, value, self.cells, b.add(b.mul(field, self.rows), self.of(self.row)))
        word_store(b, b.or_(word_load(b, self.kinds, field), i64(kind)), self.kinds, field)

    def _number(self, byte: Any) -> Any:
        """A whole number of 64 bits, as JSON writes it."""
        b = self.b
        head, digit, done = self.blocks("digits", "digit", "digits_done")
        minus = b.zext(self.is_byte(byte, "-"), I64)
        first = b.add(self.of(self.at), minus)
        value, at = local(b, i64(0)), local(b, i64(0))
        b.store(i64(0), value)
        b.store(first, at)
        b.branch(head)
        b.position_at_end(head)
        this = b.sub(b.zext(self.byte(self.of(at)), I64), i64(ord("0")))
        b.cbranch(b.icmp_unsigned("<", this, i64(10)), digit, done)
        b.position_at_end(digit)
        b.store(b.add(b.mul(self.of(value), i64(10)), this), value)
        b.store(b.add(self.of(at), i64(1)), at)
        b.branch(head)
        b.position_at_end(done)
        digits = b.sub(self.of(at), first)
        self.needs(b.icmp_unsigned("<", b.sub(digits, i64(1)), i64(_DIGITS_MAX)))
        self.needs(b.or_(b.icmp_unsigned("==", digits, i64(1)),
                         b.not_(self.is_byte(self.byte(first), "0"))))
        self.needs(b.icmp_signed(">=", self.of(value), i64(0)))
        b.store(self.of(at), self.at)
        return b.select(b.trunc(minus, I1), b.neg(self.of(value)), self.of(value))

    def _text(self) -> Any:
        """The number of the text that stands here."""
        b = self.b
        head, more, last = self.blocks("letters", "more", "last")
        start = b.add(self.of(self.at), i64(1))
        at, hash_ = local(b, i64(0)), local(b, i64(0))
        b.store(start, at)
        b.store(b.mul(b.add(self.of(self.field), i64(1)), i64(_PRIME)), hash_)
        b.branch(head)
        b.position_at_end(head)
        word = self.word(self.of(at))
        found = b.or_(self._zeros(b.xor(word, i64(_ONES * ord('"')))),
                      self._zeros(b.xor(word, i64(_ONES * ord("\\")))))
        low = b.and_(b.and_(b.sub(word, i64(_ONES * 32)), b.not_(word)), i64(_HIGH))
        found = b.or_(found, low)
        b.cbranch(b.icmp_unsigned("==", found, i64(0)), more, last)
        b.position_at_end(more)
        b.store(self._mixed(self.of(hash_), word), hash_)
        b.store(b.add(self.of(at), i64(8)), at)
        b.branch(head)
        b.position_at_end(last)
        # The lowest bit is right: what is borrowed for a byte only reaches those above it.
        bits = b.and_(b.cttz(found, ir.Constant(I1, 1)), i64(0x38))
        end = b.add(self.of(at), b.lshr(bits, i64(3)))
        self.needs(self.is_byte(self.byte(end), '"'))
        rest = b.and_(word, b.sub(b.shl(i64(1), bits), i64(1)))
        b.store(b.add(end, i64(1)), self.at)
        return self._numbered(start, end, self._mixed(self.of(hash_), rest))

    def _zeros(self, word: Any) -> Any:
        """The high bits of the bytes that are 0, and of some above them."""
        b = self.b
        return b.and_(b.and_(b.sub(word, i64(_ONES)), b.not_(word)), i64(_HIGH))

    def _mixed(self, hash_: Any, word: Any) -> Any:
        b = self.b
        found = b.mul(b.xor(hash_, word), i64(_PRIME))
        return b.xor(found, b.lshr(found, i64(29)))

    def _numbered(self, start: Any, end: Any, hash_: Any) -> Any:
        """The number of a text among those of its field, a new one if it is not known."""
        b = self.b
        head, known, fits, new, following, done = self.blocks(
            "slot", "known", "candidate", "new", "next_slot", "numbered")
        tag = b.and_(hash_, i64(0xFFFFFFFF << 32))
        field = self.of(self.field)
        base = b.mul(field, self.rows)
        slot, tries, code = (local(b, i64(0)) for _ in range(3))
        b.store(b.and_(b.lshr(hash_, i64(7)), self.mask), slot)
        b.store(i64(0), tries)
        b.branch(head)
        b.position_at_end(head)
        self.needs(b.icmp_unsigned("<", self.of(tries), i64(_PROBES_MAX)))
        entry = word_load(b, self.table, self.of(slot))
        b.cbranch(b.icmp_unsigned("==", entry, i64(0)), new, known)
        b.position_at_end(known)
        place = b.sub(b.and_(entry, i64(0xFFFFFFFF)), i64(1))
        b.store(b.sub(place, base), code)
        may_be = b.and_(b.icmp_unsigned("==", b.and_(entry, i64(0xFFFFFFFF << 32)), tag),
                        b.icmp_unsigned("<", b.sub(place, base), self.rows))
        b.cbranch(may_be, fits, following)
        b.position_at_end(fits)
        ends = word_at(b, self.ends, b.mul(place, i64(2)))
        self._compares(start, end, word_load(b, ends, 0), word_load(b, ends, 1), done, following)
        b.position_at_end(following)
        b.store(b.and_(b.add(self.of(slot), i64(1)), self.mask), slot)
        b.store(b.add(self.of(tries), i64(1)), tries)
        b.branch(head)
        b.position_at_end(new)
        used = self.of(self.used)
        self._has_room(used)
        b.store(b.add(used, i64(1)), self.used)
        count = word_load(b, self.counts, field)
        word_store(b, b.add(count, i64(1)), self.counts, field)
        b.store(count, code)
        place = b.add(base, count)
        ends = word_at(b, self.ends, b.mul(place, i64(2)))
        word_store(b, start, ends, 0)
        word_store(b, end, ends, 1)
        word_store(b, b.or_(tag, b.add(place, i64(1))), self.table, self.of(slot))
        b.branch(done)
        b.position_at_end(done)
        return self.of(code)

    def _has_room(self, used: Any) -> None:
        """Stop where the table is three quarters full."""
        b = self.b
        most = b.sub(self.mask, b.lshr(self.mask, i64(2)))
        full, fits = self.blocks("full", "room")
        b.cbranch(b.icmp_unsigned("<", used, most), fits, full)
        b.position_at_end(full)
        b.store(i64(1), self.full)
        b.branch(self.odd)
        b.position_at_end(fits)

    def _compares(self, start: Any, end: Any, other: Any, its_end: Any, same: Any, differs: Any
                  ) -> None:
        """Branch to one of two blocks: two texts are the ``same``, or it ``differs``."""
        b = self.b
        head, word, full, rest, equal = self.blocks(
            "compares", "compares_word", "whole_word", "rest", "equal")
        size, at = b.sub(end, start), local(b, i64(0))
        b.store(i64(0), at)
        b.cbranch(b.icmp_unsigned("==", size, b.sub(its_end, other)), head, differs)
        b.position_at_end(head)
        here = self.of(at)
        left = b.sub(size, here)
        unlike = b.xor(self.word(b.add(start, here)), self.word(b.add(other, here)))
        b.cbranch(b.icmp_unsigned("<", left, i64(8)), rest, word)
        b.position_at_end(word)
        b.cbranch(b.icmp_unsigned("==", unlike, i64(0)), full, differs)
        b.position_at_end(full)
        b.store(b.add(here, i64(8)), at)
        b.branch(head)
        b.position_at_end(rest)
        mask = b.sub(b.shl(i64(1), b.mul(left, i64(8))), i64(1))
        b.cbranch(b.icmp_unsigned("==", b.and_(unlike, mask), i64(0)), equal, differs)
        b.position_at_end(equal)
        b.branch(same)
