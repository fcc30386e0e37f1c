"""The table of states: open addressing in lines of eight entries.

A line is one cache line, compared with the key in one vector operation; an entry is only
ever added, in the first empty place of the first line with room from the key's home line
on. So a probe that meets an empty place has seen all that matters, and an insertion is one
compare-and-swap; after it failed the same line is looked at again.

Two kinds of entries:

- *inline* (states of one word): the state itself;
- *indexed* (more words, or where the place of a state is wanted): 32 bits of the hash
  above the state's index in the order array plus one.

The home line depends on the upper 32 bits of the hash alone, and grows with them; so tables
can grow in place (``growth``).
"""

from __future__ import annotations

from typing import Any

import llvmlite.ir as ir

from .code import (
    I8, I64, POINTER, UNROLLED_WORDS, V8, count_trailing_zeros, function, helper, i64, like, local,
    loop, prefetch, same_words, splat, word_at, word_load,
)

__all__ = [
    "TAG", "emit_add", "emit_hash", "emit_hash_at", "emit_insert_indexed",
    "emit_insert_inline", "emit_lookup", "emit_prefetch_candidate", "emit_seed", "home_line",
    "line_of", "mask_of",
]

TAG = 0xFFFF_FFFF_0000_0000
_FACTORS = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)


def mask_of(b: ir.IRBuilder, equal: Any) -> Any:
    """Eight truth values as the bits of a byte."""
    return b.bitcast(equal, I8)


def line_of(b: ir.IRBuilder, table: Any, line: Any) -> tuple[Any, Any]:
    """The address of a line of the table, and its eight entries as a vector."""
    address = word_at(b, table, b.shl(line, i64(3)))
    entries = b.load(address, typ=V8)
    entries.align = 64
    return address, entries


def emit_hash(b: ir.IRBuilder, words: list[Any]) -> Any:
    """A 64-bit hash of a state; its upper half is what the table uses.

    The words may be vectors of words, of eight states at once.
    """
    mixed = b.mul(words[0], like(words[0], _FACTORS[0]))
    for word in words[1:]:
        mixed = _mix(b, mixed, word)
    return _finish_hash(b, mixed)


def _mix(b: ir.IRBuilder, mixed: Any, word: Any) -> Any:
    mixed = b.xor(mixed, b.lshr(mixed, i64(32)))
    return b.mul(b.add(mixed, word), i64(_FACTORS[0]))


def _finish_hash(b: ir.IRBuilder, mixed: Any) -> Any:
    mixed = b.xor(mixed, b.lshr(mixed, like(mixed, 32)))
    return b.mul(mixed, like(mixed, _FACTORS[1]))


def emit_hash_at(b: ir.IRBuilder, address: Any, words: int) -> Any:
    """The hash of the state at an address."""
    if words <= UNROLLED_WORDS:
        return emit_hash(b, _state_words(b, address, words))

    def build(b: ir.IRBuilder) -> None:
        (state,) = b.function.args
        mixed = local(b, b.mul(word_load(b, state, 0), i64(_FACTORS[0])))
        with loop(b, i64(1), i64(words)) as index:
            b.store(_mix(b, b.load(mixed, typ=I64), word_load(b, state, index)), mixed)
        b.ret(_finish_hash(b, b.load(mixed, typ=I64)))

    return b.call(helper(b, "hash_words", I64, build, POINTER), [address])


def home_line(b: ir.IRBuilder, hashed: Any, lines: Any) -> Any:
    """The line where a probe starts: the hash's upper half, scaled to the table."""
    half = like(hashed, 32)
    return b.lshr(b.mul(b.lshr(hashed, half), lines), half)


def _place_entry(b: ir.IRBuilder, place: Any, entry: Any, atomic: bool) -> Any:
    """Write an entry to an empty place; false if another thread was there first."""
    if not atomic:
        b.store(entry, place)
        return ir.Constant(ir.IntType(1), 1)
    swapped = b.cmpxchg(place, i64(0), entry, "acq_rel", "acquire")
    return b.extract_value(swapped, 1)


class _Probe:
    """The loop over the lines of one probe, as basic blocks."""

    def __init__(self, b: ir.IRBuilder, table: Any, lines: Any, home: Any) -> None:
        self.b = b
        self.lines = lines
        start = b.block
        self.again = b.append_basic_block("again")
        b.branch(self.again)
        b.position_at_end(self.again)
        self.line = b.phi(I64)
        self.line.add_incoming(home, start)
        self.address, self.entries = line_of(b, table, self.line)

    def find_room(self, entry: Any, atomic: bool, otherwise: Any = None) -> None:
        """Insert at the first empty place and return 1 (or return ``otherwise``)."""
        b = self.b
        room = mask_of(b, b.icmp_unsigned("==", self.entries, ir.Constant(V8, None)))
        full, free = (b.append_basic_block(name) for name in ("full", "free"))
        b.cbranch(b.icmp_unsigned("==", room, ir.Constant(I8, 0)), full, free)
        b.position_at_end(full)
        following = b.add(self.line, i64(1))
        at_end = b.icmp_unsigned("==", following, self.lines)
        following = b.select(at_end, i64(0), following)
        self.line.add_incoming(following, b.block)
        b.branch(self.again)
        b.position_at_end(free)
        if otherwise is not None:
            b.ret(otherwise)
            return
        place = word_at(b, self.address, count_trailing_zeros(b, room))
        with b.if_then(_place_entry(b, place, entry, atomic)):
            b.ret(i64(1))
        self.line.add_incoming(self.line, b.block)
        b.branch(self.again)


def emit_insert_inline(module: ir.Module, atomic: bool) -> ir.Function:
    """Emit ``insert(table, lines, hash, state) -> 1 if it is new, else 0``."""
    f = function(module, "insert", I64, POINTER, I64, I64, I64)
    f.linkage = "internal"
    f.attributes.add("alwaysinline")
    table, lines, hashed, state = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    key = splat(b, state)
    probe = _Probe(b, table, lines, home_line(b, hashed, lines))
    here = mask_of(b, b.icmp_unsigned("==", probe.entries, key))
    with b.if_then(b.icmp_unsigned("!=", here, ir.Constant(I8, 0)), likely=True):
        b.ret(i64(0))
    probe.find_room(state, atomic)
    return f


def _candidates(b: ir.IRBuilder, entries: Any, tag: Any) -> Any:
    """A mask of the entries with these 32 bits of hash."""
    tags = b.and_(entries, splat(b, i64(TAG)))
    same = b.icmp_unsigned("==", tags, splat(b, tag))
    taken = b.icmp_unsigned("!=", entries, ir.Constant(V8, None))
    return mask_of(b, b.and_(same, taken))


def _index_of(b: ir.IRBuilder, address: Any, mask: Any) -> Any:
    """The index that the first entry of a mask holds."""
    entry = word_load(b, address, count_trailing_zeros(b, mask))
    return b.sub(b.and_(entry, i64(~TAG & (1 << 64) - 1)), i64(1))


def _compare_candidates(
    b: ir.IRBuilder, probe: _Probe, order: Any, state: _State, tag: Any, found: Any
) -> None:
    """Return (by ``found(index)``) if one of the line's candidates is the state."""
    before = b.block
    first = _candidates(b, probe.entries, tag)
    head, body, after = (b.append_basic_block(n) for n in ("try", "compare", "tried"))
    b.branch(head)
    b.position_at_end(head)
    mask = b.phi(I8)
    mask.add_incoming(first, before)
    b.cbranch(b.icmp_unsigned("!=", mask, ir.Constant(I8, 0)), body, after)
    b.position_at_end(body)
    index = _index_of(b, probe.address, mask)
    same = state.same_at(b, order, index)
    with b.if_then(same, likely=True):
        b.ret(found(index))
    mask.add_incoming(b.and_(mask, b.sub(mask, ir.Constant(I8, 1))), b.block)
    b.branch(head)
    b.position_at_end(after)


class _State:
    """A state to compare with others: in registers while it has few words."""

    def __init__(self, b: ir.IRBuilder, address: Any, words: int) -> None:
        self.address = address
        self.count = words
        few = words <= UNROLLED_WORDS
        self.words = _state_words(b, address, words) if few else []

    def same_at(self, b: ir.IRBuilder, order: Any, index: Any) -> Any:
        """True if it is the state that stands in the order array at an index."""
        base = b.mul(index, i64(self.count))
        if not self.words:
            return same_words(b, self.address, word_at(b, order, base), self.count)
        same = ir.Constant(ir.IntType(1), 1)
        for offset, word in enumerate(self.words):
            other = word_load(b, order, b.add(base, i64(offset)))
            same = b.and_(same, b.icmp_unsigned("==", word, other))
        return same


def _state_words(b: ir.IRBuilder, address: Any, words: int) -> list[Any]:
    return [word_load(b, address, index) for index in range(words)]


def emit_insert_indexed(module: ir.Module, words: int, atomic: bool) -> ir.Function:
    """Emit ``insert(table, lines, hash, order, index) -> 1 if it is new, else 0``.

    The state must already stand in the order array at that index.
    """
    f = function(module, "insert", I64, POINTER, I64, I64, POINTER, I64)
    f.linkage = "internal"
    f.attributes.add("alwaysinline")
    table, lines, hashed, order, index = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    state = _State(b, word_at(b, order, b.mul(index, i64(words))), words)
    tag = b.and_(hashed, i64(TAG))
    probe = _Probe(b, table, lines, home_line(b, hashed, lines))
    _compare_candidates(b, probe, order, state, tag, lambda _: i64(0))
    probe.find_room(b.or_(tag, b.add(index, i64(1))), atomic)
    return f


def emit_lookup(module: ir.Module, words: int) -> ir.Function:
    """Emit ``lookup(table, lines, order, state) -> index``, or all ones if it is absent."""
    f = function(module, "lookup", I64, POINTER, I64, I64, POINTER, POINTER)
    f.linkage = "internal"
    table, lines, hashed, order, address = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    state = _State(b, address, words)
    tag = b.and_(hashed, i64(TAG))
    probe = _Probe(b, table, lines, home_line(b, hashed, lines))
    _compare_candidates(b, probe, order, state, tag, lambda index: index)
    probe.find_room(None, False, otherwise=i64((1 << 64) - 1))
    return f


def emit_prefetch_candidate(
    b: ir.IRBuilder, table: Any, lines: Any, order: Any, hashed: Any, words: int
) -> None:
    """Prefetch the state that the home line's first candidate stands for."""
    address, entries = line_of(b, table, home_line(b, hashed, lines))
    mask = _candidates(b, entries, b.and_(hashed, i64(TAG)))
    # Without a candidate bit 7 makes the last entry the one; whatever it says is harmless
    # to prefetch, and this has no branch to mispredict.
    index = _index_of(b, address, b.or_(mask, ir.Constant(I8, 0x80)))
    prefetch(b, word_at(b, order, b.mul(index, i64(words))))


def emit_seed(module: ir.Module, words: int, inline: bool, add: ir.Function) -> ir.Function:
    """Emit ``seed(table, lines, order)``: put the first state of the order in the table."""
    f = function(module, "seed", I64, POINTER, I64, POINTER)
    table, lines, order = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    hashed = emit_hash_at(b, order, words)
    entry = word_load(b, order, 0) if inline else b.or_(b.and_(hashed, i64(TAG)), i64(1))
    b.ret(b.call(add, [table, lines, hashed, entry]))
    return f


def emit_add(module: ir.Module, name: str, atomic: bool) -> ir.Function:
    """Emit ``name(table, lines, hash, entry) -> 1`` for entries known to be new."""
    f = function(module, name, I64, POINTER, I64, I64, I64)
    f.linkage = "internal"
    table, lines, hashed, entry = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    probe = _Probe(b, table, lines, home_line(b, hashed, lines))
    probe.find_room(entry, atomic)
    return f
