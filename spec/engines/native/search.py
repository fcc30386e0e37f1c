"""The loops around a machine's successors: expanding, retracing, and collecting edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.ir as ir

from ...notation.expr import Expr
from .code import (
    I1, I8, I32, I64, POINTER, function, i64, local, loop, prefetch, word_at, word_load,
    word_store,
)
from .control import BLOCK, CHUNK, Shared, Status, Thread, recent_states
from .layout import Layout
from .successors import FLAGGED
from .table import emit_hash, emit_prefetch_candidate, home_line
from .values import Values

__all__ = ["Parts", "emit_edges", "emit_levels", "emit_predecessor", "emit_predicates",
           "emit_work"]

COUNT_MASK = (1 << FLAGGED) - 1


@dataclass(frozen=True)
class Parts:
    """The functions that the loops call, and how states are kept."""

    module: ir.Module
    words: int
    inline: bool
    atomic: bool
    successors: ir.Function
    insert: ir.Function


def _copy(b: ir.IRBuilder, words: int, source: Any, target: Any) -> None:
    for index in range(words):
        word_store(b, word_load(b, source, index), target, index)


def _add(b: ir.IRBuilder, base: Any, index: int, amount: Any, atomic: bool) -> Any:
    """Add to a control word and return its value before."""
    place = word_at(b, base, index)
    if atomic:
        return b.atomic_rmw("add", place, amount, "monotonic")
    before = b.load(place, typ=I64)
    b.store(b.add(before, amount), place)
    return before


class _Work:
    """``work(shared, thread) -> Status``: expand blocks of states of one level."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        f = function(parts.module, "work", I64, POINTER, POINTER)
        self.f = f
        self.shared, self.thread = f.args
        b = self.b = ir.IRBuilder(f.append_basic_block("entry"))
        self.table = b.inttoptr(word_load(b, self.shared, Shared.TABLE), POINTER)
        self.lines = word_load(b, self.shared, Shared.LINES)
        self.order = b.inttoptr(word_load(b, self.shared, Shared.ORDER), POINTER)
        self.level_end = word_load(b, self.shared, Shared.LEVEL_END)
        self.limit = word_load(b, self.shared, Shared.LIMIT)
        self.order_limit = word_load(b, self.shared, Shared.ORDER_LIMIT)
        self.buffer, self.taken, self.hashes, self.recent = (
            b.inttoptr(word_load(b, self.thread, field), POINTER)
            for field in (Thread.SUCCESSORS, Thread.ACTIONS, Thread.HASHES, Thread.RECENT))
        self.position = local(b, word_load(b, self.thread, Thread.POSITION))
        self.chunk_end = local(b, word_load(b, self.thread, Thread.CHUNK_END))
        self.quota = local(b, word_load(b, self.thread, Thread.QUOTA))
        self.status = local(b, i64(Status.LEVEL_DONE))

    def state_at(self, base: Any, index: Any) -> Any:
        """The address of a state in an array of states."""
        return word_at(self.b, base, self.b.mul(index, i64(self.parts.words)))

    def build(self) -> ir.Function:
        """Emit the loop over blocks."""
        b = self.b
        head, take, body, leave = (
            b.append_basic_block(name) for name in ("head", "take", "block", "leave"))
        b.branch(head)
        b.position_at_end(head)
        b.store(self._status_now(), self.status)
        going = b.icmp_unsigned("==", b.load(self.status, typ=I64), i64(Status.LEVEL_DONE))
        b.cbranch(going, take, leave)
        b.position_at_end(take)
        first = _add(b, self.shared, Shared.CURSOR, i64(BLOCK), self.parts.atomic)
        b.cbranch(b.icmp_unsigned("<", first, self.level_end), body, leave)
        b.position_at_end(body)
        end = b.add(first, i64(BLOCK))
        end = b.select(b.icmp_unsigned("<", end, self.level_end), end, self.level_end)
        b.store(b.sub(b.load(self.quota, typ=I64), i64(BLOCK)), self.quota)
        count = self._expand(first, end)
        self._insert_all(self._hash_all(count))
        b.branch(head)
        b.position_at_end(leave)
        self._leave()
        return self.f

    def _status_now(self) -> Any:
        b = self.b
        count = word_load(b, self.shared, Shared.COUNT)
        end = word_load(b, self.shared, Shared.OUT_END)
        position = b.load(self.position, typ=I64)
        end = b.select(b.icmp_unsigned(">", position, end), position, end)
        full = b.or_(b.icmp_unsigned(">=", count, self.limit),
                     b.icmp_unsigned(">=", end, self.order_limit))
        spent = b.icmp_signed("<=", b.load(self.quota, typ=I64), i64(0))
        status = b.select(spent, i64(Status.QUOTA), i64(Status.LEVEL_DONE))
        return b.select(full, i64(Status.FULL), status)

    def _expand(self, first: Any, end: Any) -> Any:
        """All successors of the block's states, one after the other in the buffer."""
        b = self.b
        total = local(b, i64(0))
        b.store(i64(0), total)
        with loop(b, first, end) as index:
            state = self.state_at(self.order, index)
            present = b.icmp_unsigned("!=", word_load(b, state, 0), i64(0))
            with b.if_then(present, likely=True):
                # Counts add up in the lower half of the sum, flags in the upper.
                sum_before = b.load(total, typ=I64)
                made = b.and_(sum_before, i64(COUNT_MASK))
                result = b.call(self.parts.successors,
                                [state, self.state_at(self.buffer, made), self.taken])
                b.store(b.add(sum_before, result), total)
        count = b.and_(b.load(total, typ=I64), i64(COUNT_MASK))
        flags = b.lshr(b.load(total, typ=I64), i64(FLAGGED))
        _add(b, self.thread, Thread.FLAGGED, flags, False)
        _add(b, self.thread, Thread.TRANSITIONS, count, False)
        return count

    def _hash_all(self, count: Any) -> Any:
        """Hash every successor and prefetch its line of the table.

        Successors that this thread has met lately are dropped here: neighbours in the
        search have many successors in common, and each one dropped is a line of the table
        that need not come from memory. Returns how many are left.
        """
        b = self.b
        left = local(b, i64(0))
        b.store(i64(0), left)
        with loop(b, i64(0), count) as index:
            state = self.state_at(self.buffer, index)
            words = [word_load(b, state, offset) for offset in range(self.parts.words)]
            hashed = emit_hash(b, words)
            place = b.load(left, typ=I64)
            recent = self.state_at(self.recent, b.and_(hashed, i64(recent_states(len(words)) - 1)))
            new = ir.Constant(I1, 0)
            for offset, word in enumerate(words):
                new = b.or_(new, b.icmp_unsigned("!=", word, word_load(b, recent, offset)))
                word_store(b, word, recent, offset)
                word_store(b, word, self.state_at(self.buffer, place), offset)
            word_store(b, hashed, self.hashes, place)
            b.store(b.add(place, b.zext(new, I64)), left)
            line = home_line(b, hashed, self.lines)
            address = word_at(b, self.table, b.shl(line, i64(3)))
            prefetch(b, b.select(new, address, recent))
        count = b.load(left, typ=I64)
        if self.parts.inline:
            return count
        with loop(b, i64(0), count) as index:
            emit_prefetch_candidate(b, self.table, self.lines, self.order,
                                    word_load(b, self.hashes, index), self.parts.words)
        return count

    def _insert_all(self, count: Any) -> None:
        b = self.b
        new = local(b, i64(0))
        b.store(i64(0), new)
        with loop(b, i64(0), count) as index:
            self._claim_if_needed()
            position = b.load(self.position, typ=I64)
            state = self.state_at(self.buffer, index)
            # Written before it is known to be new: where it is not, the next one takes
            # its place, and no other thread reads there.
            _copy(b, self.parts.words, state, self.state_at(self.order, position))
            hashed = word_load(b, self.hashes, index)
            key = ([word_load(b, state, 0)] if self.parts.inline else [self.order, position])
            inserted = b.call(self.parts.insert, [self.table, self.lines, hashed, *key])
            b.store(b.add(position, inserted), self.position)
            b.store(b.add(b.load(new, typ=I64), inserted), new)
        _add(b, self.shared, Shared.COUNT, b.load(new, typ=I64), self.parts.atomic)

    def _claim_if_needed(self) -> None:
        b = self.b
        spent = b.icmp_unsigned(
            "==", b.load(self.position, typ=I64), b.load(self.chunk_end, typ=I64))
        with b.if_then(spent, likely=False):
            start = _add(b, self.shared, Shared.OUT_END, i64(CHUNK), True)
            b.store(start, self.position)
            b.store(b.add(start, i64(CHUNK)), self.chunk_end)

    def _leave(self) -> None:
        b = self.b
        position = b.load(self.position, typ=I64)
        end = b.load(self.chunk_end, typ=I64)
        with b.if_then(b.icmp_unsigned("<", position, end)):
            word_store(b, i64(0), self.state_at(self.order, position), 0)
        word_store(b, position, self.thread, Thread.POSITION)
        word_store(b, end, self.thread, Thread.CHUNK_END)
        b.ret(b.load(self.status, typ=I64))


def emit_work(parts: Parts) -> ir.Function:
    """Emit ``work(shared, thread) -> Status``."""
    return _Work(parts).build()


def emit_levels(parts: Parts, work: ir.Function) -> ir.Function:
    """Emit ``levels(shared, thread) -> Status``: level after level, on one thread.

    Returns to Python where a rule may be broken, where a level is wide enough for several
    threads, or where the array of levels is full (all three as LEVEL_DONE, with the level
    not yet closed).
    """
    f = function(parts.module, "levels", I64, POINTER, POINTER)
    shared, thread = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    again, done = (b.append_basic_block(name) for name in ("again", "done"))
    b.branch(again)
    b.position_at_end(again)
    status = b.call(work, [shared, thread])
    end = word_load(b, thread, Thread.POSITION)
    word_store(b, end, shared, Shared.OUT_END)
    closed = b.icmp_unsigned("==", status, i64(Status.LEVEL_DONE))
    with b.if_then(b.not_(closed)):
        b.ret(status)
    start = word_load(b, shared, Shared.LEVEL_END)
    count = word_load(b, shared, Shared.LEVEL_COUNT)
    wide = b.icmp_unsigned(">=", b.sub(end, start), word_load(b, shared, Shared.LEVEL_WIDE))
    broken = b.icmp_unsigned("!=", word_load(b, thread, Thread.FLAGGED), i64(0))
    room = b.icmp_unsigned("<", count, word_load(b, shared, Shared.LEVEL_ROOM))
    with b.if_then(b.or_(b.or_(wide, broken), b.not_(room))):
        b.ret(i64(Status.LEVEL_DONE))
    b.cbranch(b.icmp_unsigned("==", end, start),
              done, following := b.append_basic_block("following"))
    b.position_at_end(following)
    ends = b.inttoptr(word_load(b, shared, Shared.LEVELS), POINTER)
    word_store(b, end, ends, count)
    word_store(b, b.add(count, i64(1)), shared, Shared.LEVEL_COUNT)
    word_store(b, start, shared, Shared.CURSOR)
    word_store(b, end, shared, Shared.LEVEL_END)
    b.branch(again)
    b.position_at_end(done)
    b.ret(i64(Status.EXHAUSTED))
    return f


def emit_predecessor(parts: Parts) -> ir.Function:
    """Emit ``predecessor(states, count, target, buffer, actions, result) -> found``.

    ``result`` is an action followed by a state: the smallest state among ``states`` that
    has ``target`` as a successor, and its first action that leads there.
    """
    f = function(parts.module, "predecessor", I64, *([POINTER, I64] + [POINTER] * 4))
    states, size, target, buffer, taken, result = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    wanted = [word_load(b, target, index) for index in range(parts.words)]
    kept = word_at(b, result, 1)
    found = local(b, i64(0))
    with loop(b, i64(0), size) as place:
        state = word_at(b, states, b.mul(place, i64(parts.words)))
        with b.if_then(b.icmp_unsigned("!=", word_load(b, state, 0), i64(0))):
            made = b.call(parts.successors, [state, buffer, taken])
            hit = _first_hit(b, parts.words, wanted, buffer, b.and_(made, i64(COUNT_MASK)))
            better = b.or_(b.icmp_unsigned("==", b.load(found, typ=I64), i64(0)),
                           _less(b, parts.words, state, kept))
            hits = b.icmp_signed(">=", hit, i64(0))
            with b.if_then(b.and_(hits, better), likely=False):
                action = b.load(b.gep(taken, [hit], source_etype=I32), typ=I32)
                word_store(b, b.zext(action, I64), result, 0)
                _copy(b, parts.words, state, kept)
                b.store(i64(1), found)
    b.ret(b.load(found, typ=I64))
    return f


def _first_hit(b: ir.IRBuilder, words: int, wanted: list[Any], buffer: Any, count: Any) -> Any:
    """The first place in the buffer that holds the wanted state, or -1."""
    hit = local(b, i64(-1))
    b.store(i64(-1), hit)
    with loop(b, i64(0), count) as place:
        state = word_at(b, buffer, b.mul(place, i64(words)))
        same = ir.Constant(I1, 1)
        for index, word in enumerate(wanted):
            same = b.and_(same, b.icmp_unsigned("==", word_load(b, state, index), word))
        before = b.load(hit, typ=I64)
        first = b.and_(same, b.icmp_signed("<", before, i64(0)))
        b.store(b.select(first, place, before), hit)
    return b.load(hit, typ=I64)


def _less(b: ir.IRBuilder, words: int, left: Any, right: Any) -> Any:
    less = ir.Constant(I1, 0)
    for index in reversed(range(words)):
        x, y = word_load(b, left, index), word_load(b, right, index)
        less = b.select(b.icmp_unsigned("==", x, y), less, b.icmp_unsigned("<", x, y))
    return less


def emit_edges(parts: Parts, lookup: ir.Function) -> ir.Function:
    """Emit ``edges(table, lines, order, count, buffer, rows, targets, actions)``.

    For each state in order: ``rows[i + 1]`` is where its edges end; an edge is the index
    of a successor and the index of the action. ``rows[0]`` must be 0.
    """
    f = function(parts.module, "edges", ir.VoidType(),
                 POINTER, I64, POINTER, I64, POINTER, POINTER, POINTER, POINTER)
    table, lines, order, size, buffer, rows, targets, actions = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    with loop(b, i64(0), size) as index:
        state = word_at(b, order, b.mul(index, i64(parts.words)))
        start = word_load(b, rows, index)
        made = b.call(parts.successors,
                      [state, buffer, b.gep(actions, [start], source_etype=I32)])
        count = b.and_(made, i64(COUNT_MASK))
        with loop(b, i64(0), count) as place:
            address = word_at(b, buffer, b.mul(place, i64(parts.words)))
            words = [word_load(b, address, offset) for offset in range(parts.words)]
            target = b.call(lookup, [table, lines, emit_hash(b, words), order, address])
            slot = b.gep(targets, [b.add(start, place)], source_etype=I32)
            b.store(b.trunc(target, I32), slot)
        word_store(b, b.add(start, count), rows, b.add(index, i64(1)))
    b.ret_void()
    return f


def emit_predicates(parts: Parts, layout: Layout, predicates: Sequence[Expr]) -> ir.Function:
    """Emit ``predicates(states, count, bits)``: a byte per state, predicate by predicate."""
    f = function(parts.module, "predicates", ir.VoidType(), POINTER, I64, POINTER)
    states, size, bits = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    with loop(b, i64(0), size) as index:
        state = word_at(b, states, b.mul(index, i64(parts.words)))
        values = Values(b, layout, [word_load(b, state, k) for k in range(parts.words)])
        for row, predicate in enumerate(predicates):
            place = b.add(b.mul(size, i64(row)), index)
            b.store(b.zext(values.of(predicate), I8), b.gep(bits, [place], source_etype=I8))
    b.ret_void()
    return f
