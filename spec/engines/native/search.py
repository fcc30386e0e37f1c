"""The loops around a machine's successors: expanding, retracing, and collecting edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.ir as ir

from ...notation.expr import Expr
from .code import (
    I1, I8, I32, I64, POINTER, UNROLLED_WORDS, copy_words, function, i64, less_words, local,
    loop, prefetch, same_words, word_at, word_load, word_store,
)
from .control import (
    CHUNK, ENABLED, FLAGGED, INSERT_LAG, LOOK_LAG, MADE_MASK, Shared, Status, Thread, recent_states,
)
from .rows import RowCode
from .table import emit_hash, emit_hash_at, emit_prefetch_candidate, home_line

__all__ = ["Parts", "emit_edges", "emit_levels", "emit_predecessor", "emit_predicates",
           "emit_work"]

@dataclass(frozen=True)
class Parts:
    """The functions that the loops call, and how states are kept.

    ``pending`` is how many states may wait to be inserted, a power of two.
    ``skip_words`` is how many words of bits say what may be left out after an action; 0 where
    nothing may be. ``smallest`` puts the smallest renaming of a state in its place, if there
    are renamings.
    """

    module: ir.Module
    words: int
    inline: bool
    atomic: bool
    successors: ir.Function
    insert: ir.Function
    block: int
    pending: int
    skip_words: int = 0
    smallest: ir.Function | None = None

    def rename_all(self, b: ir.IRBuilder, buffer: Any, count: Any) -> None:
        """Put the smallest renamings in the places of some states."""
        if self.smallest is not None:
            with loop(b, i64(0), count) as index:
                b.call(self.smallest, [word_at(b, buffer, b.mul(index, i64(self.words)))])

    def all_successors(self, b: ir.IRBuilder, state: Any, out: Any, taken: Any) -> Any:
        """Call ``successors`` so that nothing is left out; its result."""
        nothing = ir.Constant(POINTER, None)
        if self.skip_words:
            kind = ir.ArrayType(I64, self.skip_words)
            nothing = self.module.globals.get("nothing")
            if nothing is None:
                nothing = ir.GlobalVariable(self.module, kind, "nothing")
                nothing.linkage = "internal"
                nothing.global_constant = True
                nothing.initializer = ir.Constant(kind, None)
        return b.call(self.successors, [state, out, taken, nothing])


def _copy(b: ir.IRBuilder, words: int, source: Any, target: Any) -> None:
    if words > UNROLLED_WORDS:
        copy_words(b, source, target, words)
        return
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
        self.buffer, self.taken, self.recent, self.pending, self.hashes, self.vias = (
            b.inttoptr(word_load(b, self.thread, field), POINTER)
            for field in (Thread.SUCCESSORS, Thread.ACTIONS, Thread.RECENT, Thread.PENDING,
                          Thread.HASHES, Thread.VIAS))
        self.via, self.skips = (
            b.inttoptr(word_load(b, self.shared, field), POINTER)
            for field in (Shared.VIA, Shared.SKIPS))
        self.position = local(b, word_load(b, self.thread, Thread.POSITION))
        self.chunk_end = local(b, word_load(b, self.thread, Thread.CHUNK_END))
        self.quota = local(b, word_load(b, self.thread, Thread.QUOTA))
        self.status = local(b, i64(Status.LEVEL_DONE))
        # Of the successors that waited so far: how many were inserted, looked at, and put there.
        self.head, self.looked, self.tail = (local(b, i64(0)) for _ in range(3))

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
        first = _add(b, self.shared, Shared.CURSOR, i64(self.parts.block), self.parts.atomic)
        b.cbranch(b.icmp_unsigned("<", first, self.level_end), body, leave)
        b.position_at_end(body)
        end = b.add(first, i64(self.parts.block))
        end = b.select(b.icmp_unsigned("<", end, self.level_end), end, self.level_end)
        b.store(b.sub(b.load(self.quota, typ=I64), i64(self.parts.block)), self.quota)
        self._hash_all(self._expand(first, end))
        self._advance(LOOK_LAG, INSERT_LAG)
        b.branch(head)
        b.position_at_end(leave)
        self._advance(0, 0)
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
                made = b.and_(sum_before, i64(MADE_MASK))
                out = self.state_at(self.buffer, made)
                if self.parts.skip_words:
                    result = self._expand_with_skips(state, out, index, made)
                else:
                    result = self.parts.all_successors(b, state, out, self.taken)
                b.store(b.add(sum_before, result), total)
        sums = b.load(total, typ=I64)
        _add(b, self.thread, Thread.FLAGGED, b.lshr(sums, i64(FLAGGED)), False)
        enabled = b.and_(b.lshr(sums, i64(ENABLED)), i64(MADE_MASK))
        _add(b, self.thread, Thread.TRANSITIONS, enabled, False)
        return b.and_(sums, i64(MADE_MASK))

    def _expand_with_skips(self, state: Any, out: Any, index: Any, made: Any) -> Any:
        """The successors of a state, but for those that may be left out."""
        b = self.b
        via = b.zext(b.load(b.gep(self.via, [index], source_etype=I8), typ=I8), I64)
        skip = word_at(b, self.skips, b.mul(via, i64(self.parts.skip_words)))
        taken = b.gep(self.taken, [made], source_etype=I32)
        return b.call(self.parts.successors, [state, out, taken, skip])

    def _hash_all(self, count: Any) -> None:
        """Hash every successor, prefetch its line of the table, and let it wait.

        Successors that this thread has met lately are dropped here: neighbours in the
        search have many successors in common, and each one dropped is a line of the table
        that need not come from memory.
        """
        b = self.b
        self.parts.rename_all(b, self.buffer, count)
        with loop(b, i64(0), count) as index:
            tail = b.load(self.tail, typ=I64)
            place = self._waiting(tail)
            hashed, recent, new = self._keep(self.state_at(self.buffer, index), place)
            word_store(b, hashed, self.hashes, place)
            if self.parts.skip_words:
                taken = b.load(b.gep(self.taken, [index], source_etype=I32), typ=I32)
                b.store(b.trunc(taken, I8), b.gep(self.vias, [place], source_etype=I8))
            b.store(b.add(tail, b.zext(new, I64)), self.tail)
            line = home_line(b, hashed, self.lines)
            address = word_at(b, self.table, b.shl(line, i64(3)))
            prefetch(b, b.select(new, address, recent))

    def _waiting(self, number: Any) -> Any:
        """The place in the rings of what waits."""
        return self.b.and_(number, i64(self.parts.pending - 1))

    def _advance(self, lag: int, insert_lag: int) -> None:
        """Insert what has waited long enough for its line to have come from memory.

        Where the table has only indices, the state that the line points to is asked for
        before, and has to come too.
        """
        b = self.b
        ready = self.tail
        if not self.parts.inline:
            until = self._until(self.tail, lag, self.looked)
            with loop(b, b.load(self.looked, typ=I64), until) as number:
                hashed = word_load(b, self.hashes, self._waiting(number))
                emit_prefetch_candidate(
                    b, self.table, self.lines, self.order, hashed, self.parts.words)
            b.store(until, self.looked)
            ready = self.looked
        until = self._until(ready, insert_lag, self.head)
        self._insert_all(b.load(self.head, typ=I64), until)
        b.store(until, self.head)

    def _until(self, ready: Any, lag: int, reached: Any) -> Any:
        """``ready`` but for so many, and no less than what was reached before."""
        b = self.b
        now, end = b.load(reached, typ=I64), b.sub(b.load(ready, typ=I64), i64(lag))
        return b.select(b.icmp_signed(">", end, now), end, now)

    def _keep(self, state: Any, place: Any) -> tuple[Any, Any, Any]:
        """Put a successor to those that wait, and into the cache.

        Returns its hash, its place in the cache, and whether it was not there.
        """
        b, count = self.b, self.parts.words
        few = count <= UNROLLED_WORDS
        words = [word_load(b, state, offset) for offset in range(count)] if few else []
        hashed = emit_hash(b, words) if few else emit_hash_at(b, state, count)
        recent = self.state_at(self.recent, b.and_(hashed, i64(recent_states(count) - 1)))
        if not few:
            new = b.not_(same_words(b, state, recent, count))
            copy_words(b, state, recent, count)
            copy_words(b, state, self.state_at(self.pending, place), count)
            return hashed, recent, new
        new = ir.Constant(I1, 0)
        for offset, word in enumerate(words):
            new = b.or_(new, b.icmp_unsigned("!=", word, word_load(b, recent, offset)))
            word_store(b, word, recent, offset)
            word_store(b, word, self.state_at(self.pending, place), offset)
        return hashed, recent, new

    def _insert_all(self, first: Any, end: Any) -> None:
        b = self.b
        new = local(b, i64(0))
        b.store(i64(0), new)
        with loop(b, first, end) as number:
            self._claim_if_needed()
            position = b.load(self.position, typ=I64)
            place = self._waiting(number)
            state = self.state_at(self.pending, place)
            # Written before it is known to be new: where it is not, the next one takes
            # its place, and no other thread reads there.
            _copy(b, self.parts.words, state, self.state_at(self.order, position))
            if self.parts.skip_words:
                via = b.load(b.gep(self.vias, [place], source_etype=I8), typ=I8)
                b.store(via, b.gep(self.via, [position], source_etype=I8))
            hashed = word_load(b, self.hashes, place)
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
    kept = word_at(b, result, 1)
    found = local(b, i64(0))
    with loop(b, i64(0), size) as place:
        state = word_at(b, states, b.mul(place, i64(parts.words)))
        with b.if_then(b.icmp_unsigned("!=", word_load(b, state, 0), i64(0))):
            made = parts.all_successors(b, state, buffer, taken)
            made = b.and_(made, i64(MADE_MASK))
            parts.rename_all(b, buffer, made)
            hit = _first_hit(b, parts.words, target, buffer, made)
            better = b.or_(b.icmp_unsigned("==", b.load(found, typ=I64), i64(0)),
                           less_words(b, state, kept, parts.words))
            hits = b.icmp_signed(">=", hit, i64(0))
            with b.if_then(b.and_(hits, better), likely=False):
                action = b.load(b.gep(taken, [hit], source_etype=I32), typ=I32)
                word_store(b, b.zext(action, I64), result, 0)
                _copy(b, parts.words, state, kept)
                b.store(i64(1), found)
    b.ret(b.load(found, typ=I64))
    return f


def _first_hit(b: ir.IRBuilder, words: int, wanted: Any, buffer: Any, count: Any) -> Any:
    """The first place in the buffer that holds the wanted state, or -1."""
    hit = local(b, i64(-1))
    b.store(i64(-1), hit)
    with loop(b, i64(0), count) as place:
        state = word_at(b, buffer, b.mul(place, i64(words)))
        same = same_words(b, state, wanted, words)
        before = b.load(hit, typ=I64)
        first = b.and_(same, b.icmp_signed("<", before, i64(0)))
        b.store(b.select(first, place, before), hit)
    return b.load(hit, typ=I64)


def emit_edges(parts: Parts, lookup: ir.Function) -> ir.Function:
    """Emit ``edges(table, lines, order, states, count, buffer, rows, targets, actions)``.

    For each of the states, which are a part of the order: ``rows[i + 1]`` is where its edges
    end; an edge is the index of a successor and the index of the action. ``rows[0]`` is where
    the first one's begin.
    """
    f = function(parts.module, "edges", ir.VoidType(),
                 POINTER, I64, POINTER, POINTER, I64, POINTER, POINTER, POINTER, POINTER)
    table, lines, order, states, size, buffer, rows, targets, actions = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    with loop(b, i64(0), size) as index:
        state = word_at(b, states, b.mul(index, i64(parts.words)))
        start = word_load(b, rows, index)
        made = parts.all_successors(
            b, state, buffer, b.gep(actions, [start], source_etype=I32))
        count = b.and_(made, i64(MADE_MASK))
        with loop(b, i64(0), count) as place:
            address = word_at(b, buffer, b.mul(place, i64(parts.words)))
            hashed = emit_hash_at(b, address, parts.words)
            target = b.call(lookup, [table, lines, hashed, order, address])
            slot = b.gep(targets, [b.add(start, place)], source_etype=I32)
            b.store(b.trunc(target, I32), slot)
        word_store(b, b.add(start, count), rows, b.add(index, i64(1)))
    b.ret_void()
    return f


def emit_predicates(parts: Parts, code: RowCode, predicates: Sequence[Expr]) -> ir.Function:
    """Emit ``predicates(states, count, bits, stride)``: a byte per state and predicate, those
    of one predicate in one row of so many bytes."""
    f = function(parts.module, "predicates", ir.VoidType(), POINTER, I64, POINTER, I64)
    states, size, bits, stride = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    with loop(b, i64(0), size) as index:
        state = word_at(b, states, b.mul(index, i64(parts.words)))
        for row, predicate in enumerate(predicates):
            place = b.add(b.mul(stride, i64(row)), index)
            holds = code.condition(b, state, predicate)
            b.store(b.zext(holds, I8), b.gep(bits, [place], source_etype=I8))
    b.ret_void()
    return f
