"""The growth of the table of states, in place.

The home line of an entry grows with its hash. So the upper part of the table moves, in
sequential order, to where there was nothing before, the part below it to where that one was,
and so on. Entries that belong before such a part, for they had overflowed from there, are
stashed and put back at the end; there are few of them.

While a part moves, its entries come to their lines in nearly ascending order. How full those
lines are is kept in a window of counts: a line that was written to a moment ago cannot be read
as a vector before the processor has put its words together.
"""

from __future__ import annotations

from typing import Any

import llvmlite.ir as ir

from .code import (
    I64, POINTER, V8, function, i64, local, loop, splat, word_at, word_load, word_store,
)
from .table import emit_hash, home_line, line_of, mask_of

__all__ = ["emit_migrate", "emit_restore"]

WINDOW = 256  # lines with counts that are kept, a power of two
BEHIND = 64  # lines before the first entry's home with which the window begins


class _Migration:
    """The body of ``migrate`` while it is built."""

    def __init__(self, module: ir.Module, inline: bool) -> None:
        f = self.f = function(module, "migrate", I64, POINTER, *[I64] * 5, POINTER)
        self.table, self.first, self.end, self.floor, self.limit, self.lines, self.stash = f.args
        self.inline = inline
        b = self.b = ir.IRBuilder(f.append_basic_block("entry"))
        self.counts = b.alloca(I64, size=WINDOW)
        self.entries, self.homes = (local(b, ir.Constant(V8, None)) for _ in range(2))
        self.stashed = local(b, i64(0))
        self.low, self.high = local(b, i64(0)), local(b, i64(0))  # of the window

    def build(self) -> ir.Function:
        """Emit the loop over the lines."""
        b = self.b
        with loop(b, self.first, self.end) as line:
            address, entries = line_of(b, self.table, line)
            count = self._taken(entries)
            with b.if_then(b.icmp_unsigned("!=", count, i64(0)), likely=True):
                hashed = emit_hash(b, [entries]) if self.inline else entries
                b.store(entries, self.entries)
                b.store(home_line(b, hashed, splat(b, self.lines)), self.homes)
                b.store(ir.Constant(V8, None), address).align = 64
                with loop(b, i64(0), count) as place:
                    self._move(word_load(b, self.entries, place),
                               word_load(b, self.homes, place))
        b.ret(b.load(self.stashed, typ=I64))
        return self.f

    def _taken(self, entries: Any) -> Any:
        """The number of places of a line that are taken: they are its first ones."""
        b = self.b
        free = mask_of(b, b.icmp_unsigned("==", entries, ir.Constant(V8, None)))
        return b.sub(i64(8), b.zext(b.ctpop(free), I64))

    def _move(self, entry: Any, home: Any) -> None:
        """Put an entry into the first line with room, or stash it."""
        b = self.b
        start = self._start(home)
        before = b.block
        head, look, put, stash, moved = (
            b.append_basic_block(name) for name in ("try", "look", "put", "stash", "moved"))
        b.branch(head)
        b.position_at_end(head)
        line = b.phi(I64)
        line.add_incoming(start, before)
        b.cbranch(b.icmp_unsigned("<", line, self.limit), look, stash)
        b.position_at_end(look)
        self._extend(line)
        kept = word_at(b, self.counts, b.and_(line, i64(WINDOW - 1)))
        count = b.load(kept, typ=I64)
        line.add_incoming(b.add(line, i64(1)), b.block)
        b.cbranch(b.icmp_unsigned("==", count, i64(8)), head, put)
        b.position_at_end(put)
        word_store(b, entry, self.table, b.add(b.shl(line, i64(3)), count))
        b.store(b.add(count, i64(1)), kept)
        b.branch(moved)
        b.position_at_end(stash)
        stashed = b.load(self.stashed, typ=I64)
        word_store(b, entry, self.stash, stashed)
        b.store(b.add(stashed, i64(1)), self.stashed)
        b.branch(moved)
        b.position_at_end(moved)

    def _start(self, home: Any) -> Any:
        """An entry's home line; the limit where the entry is to be stashed."""
        b = self.b
        unopened = b.icmp_unsigned("==", b.load(self.high, typ=I64), i64(0))
        with b.if_then(unopened, likely=False):
            near = b.icmp_unsigned(">", home, b.add(self.floor, i64(BEHIND)))
            opened = b.select(near, b.sub(home, i64(BEHIND)), self.floor)
            b.store(opened, self.low)
            b.store(opened, self.high)
        late = b.icmp_unsigned("<", b.add(home, i64(WINDOW // 2)), b.load(self.high, typ=I64))
        early = b.icmp_unsigned("<", home, b.load(self.low, typ=I64))
        outside = b.or_(late, b.or_(early, b.icmp_unsigned("<", home, self.floor)))
        return b.select(outside, self.limit, home)

    def _extend(self, line: Any) -> None:
        """Count what the lines up to this one hold, as far as they are not in the window."""
        b = self.b
        high = b.load(self.high, typ=I64)
        end = b.add(line, i64(1))
        with b.if_then(b.icmp_unsigned("<", high, end)):
            with loop(b, high, end) as number:
                _, entries = line_of(b, self.table, number)
                word_store(b, self._taken(entries), self.counts,
                           b.and_(number, i64(WINDOW - 1)))
            b.store(end, self.high)


def emit_migrate(module: ir.Module, inline: bool) -> ir.Function:
    """Emit ``migrate(table, first, end, floor, limit, lines, stash) -> count``.

    Empties the lines from ``first`` to ``end`` and puts their entries where a table of so many
    ``lines`` has them, as far as that is at ``floor`` or beyond, and before ``limit``. The
    others are written to ``stash``, and counted.
    """
    return _Migration(module, inline).build()


def emit_restore(module: ir.Module, inline: bool, add: ir.Function) -> ir.Function:
    """Emit ``restore(table, lines, stash, count)``: put stashed entries back."""
    f = function(module, "restore", I64, POINTER, I64, POINTER, I64)
    table, lines, stash, count = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    with loop(b, i64(0), count) as place:
        entry = word_load(b, stash, place)
        hashed = emit_hash(b, [entry]) if inline else entry
        b.call(add, [table, lines, hashed, entry])
    b.ret(count)
    return f
