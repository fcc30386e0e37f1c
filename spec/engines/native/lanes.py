"""Actions side by side in a vector: eight guards are decided with a few instructions.

An action is *plain* if its guard is a conjunction of comparisons of one slot with a number, if
it adds numbers to slots or sets them to some, and if what may be wrong with it are such
comparisons too. All actions of a net are, and most that count credits or permits. A comparison
is then a range test on some bits of a word, in place: ``(word & mask) - low <= span``, which
eight actions do at once.

The successors by those with true guards which may not be left out, are made by a loop over
their bits from two tables: the bits of the state that stay, and what is added to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.ir as ir

from ...notation.expr import Bool, Expr, Int, Lit, Op, Read
from ...notation.model import LoweredAction
from .code import (
    I1, I8, I32, I64, V8, i64, splat, word_at, word_load, word_store,
)
from .commuting import constant_change
from .layout import Layout

__all__ = ["LANES", "Plain", "emit_enabled", "emit_steps", "plain"]

LANES = 8
MOST_TESTS = 4  # comparisons of one guard
MOST_WRONG = 8


@dataclass(frozen=True)
class Test:
    """The test ``(word & mask) - low <= span``, without sign."""

    word: int
    mask: int
    low: int
    span: int


NEVER = Test(0, 0, 1, 0)
ALWAYS = Test(0, 0, 0, 0)


@dataclass(frozen=True)
class Plain:
    """An action with a guard that holds if all ``tests`` do; it is at fault if one of
    ``wrong`` holds too. Each word of the state becomes ``(word & keep) + change``."""

    tests: tuple[Test, ...]
    wrong: tuple[Test, ...]
    keep: tuple[int, ...]
    change: tuple[int, ...]


def plain(
    layout: Layout, action: LoweredAction, guard: Sequence[Expr], wrong: Sequence[Expr]
) -> Plain | None:
    """The action, if it is plain. ``guard`` are the parts of its guard, ``wrong`` what must
    not hold where the guard does."""
    effect = _effect(layout, action)
    if effect is None:
        return None
    tests = _tests(layout, guard, ALWAYS)
    faults = _tests(layout, [part for whole in wrong for part in _parts(whole)], NEVER)
    if tests is None or faults is None or len(tests) > MOST_TESTS or len(faults) > MOST_WRONG:
        return None
    return Plain(tests, faults, *effect)


def _tests(
    layout: Layout, conditions: Sequence[Expr], neutral: Test
) -> tuple[Test, ...] | None:
    """Conditions as tests, without those that change nothing."""
    tests = [_test(layout, condition) for condition in conditions]
    if None in tests:
        return None
    return tuple(test for test in tests if test is not None and test != neutral)


def _effect(
    layout: Layout, action: LoweredAction
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The bits that are kept of each word, and what is added to it, modulo 2^64."""
    keep, change = [(1 << 64) - 1] * layout.words, [0] * layout.words
    for name, expr in action.updates.items():
        added, cell = constant_change(name, expr), layout.cells[name][0]
        if len(cell.pieces) != 1 or len(layout.cells[name]) != 1:
            return None
        piece = cell.pieces[0]
        if added is None:
            if not isinstance(expr, Lit):
                return None
            added = expr.value - cell.lo
            if not 0 <= added < 1 << piece.bits:
                return None  # a fault, which ends the search
            keep[piece.word] &= ~(((1 << piece.bits) - 1) << piece.shift)
        change[piece.word] += added << piece.shift
    return tuple(keep), tuple(part % (1 << 64) for part in change)


def _parts(condition: Expr) -> tuple[Expr, ...]:
    """The parts of a disjunction."""
    if isinstance(condition, Op) and condition.op == "or":
        return condition.operands
    return (condition,)


def _test(layout: Layout, condition: Expr) -> Test | None:
    """A comparison of one slot with a number as a test; None if it is something else."""
    if isinstance(condition, Lit):
        return ALWAYS if condition.value else NEVER
    found = _interval(condition)
    if found is None or len(layout.cells[found[0]][0].pieces) != 1:
        return None
    slot, low, high = found
    cell = layout.cells[slot][0]
    piece = cell.pieces[0]
    top = (1 << piece.bits) - 1
    first = 0 if low is None else max(low - cell.lo, 0)
    last = top if high is None else min(high - cell.lo, top)
    if first > last:
        return NEVER
    if (first, last) == (0, top):
        return ALWAYS
    return Test(piece.word, top << piece.shift, first << piece.shift,
                (last - first) << piece.shift)


_OPPOSITE = {"lt": "ge", "le": "gt"}


def _interval(condition: Expr) -> tuple[str, int | None, int | None] | None:
    """A slot and the lowest and highest value for which the condition holds."""
    positive, inner = True, condition
    if isinstance(condition, Op) and condition.op == "not":
        positive, inner = False, condition.operands[0]
    if isinstance(inner, Read) and isinstance(inner.type, Bool):
        return inner.slot, int(positive), int(positive)
    if not isinstance(inner, Op) or inner.op not in ("lt", "le", "eq"):
        return None
    if not positive and inner.op == "eq":
        return None
    return _compared(inner.op if positive else _OPPOSITE[inner.op], *inner.operands)


_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}


def _compared(op: str, a: Expr, b: Expr) -> tuple[str, int | None, int | None] | None:
    """A comparison of a slot with a number, as the slot and its least and greatest value."""
    if isinstance(a, Lit):
        a, b, op = b, a, _MIRRORED[op]
    found = _shifted(a)
    if found is None or not isinstance(b, Lit):
        return None
    slot, added = found
    bound = b.value - added
    match op:
        case "lt":
            return slot, None, bound - 1
        case "le":
            return slot, None, bound
        case "gt":
            return slot, bound + 1, None
        case "ge":
            return slot, bound, None
    return slot, bound, bound


def _shifted(expr: Expr) -> tuple[str, int] | None:
    """An integer slot and the number that is added to it."""
    if isinstance(expr, Read) and isinstance(expr.type, Int):
        return expr.slot, 0
    if isinstance(expr, Op) and expr.op in ("add", "sub"):
        a, b = expr.operands
        if isinstance(a, Lit) and expr.op == "add":
            a, b = b, a
        if isinstance(a, Read) and isinstance(b, Lit):
            return a.slot, b.value if expr.op == "add" else -b.value
    return None


# --- code ------------------------------------------------------------------------------


class _Words:
    """The words of a state, as vectors for eight tests."""

    def __init__(self, b: ir.IRBuilder, words: Sequence[Any]) -> None:
        self.b = b
        self.words = words
        self.copies: dict[int, Any] = {}

    def of(self, tests: Sequence[Test]) -> Any:
        """The word of each of eight tests."""
        b = self.b
        used = {test.word for test in tests if test.mask} or {0}
        if len(used) == 1:
            word, = used
            if word not in self.copies:
                self.copies[word] = splat(b, self.words[word])
            return self.copies[word]
        vector = ir.Constant(V8, ir.Undefined)
        for lane, test in enumerate(tests):
            vector = b.insert_element(vector, self.words[test.word], ir.Constant(I32, lane))
        return vector

    def hold(self, tests: Sequence[Test]) -> Any:
        """The tests that hold, among eight."""
        b = self.b

        def each(name: str) -> Any:
            return ir.Constant(V8, [getattr(test, name) for test in tests])

        bits = b.and_(self.of(tests), each("mask"))
        if all(test.low and test.low + test.span == test.mask
               and test.low == test.mask & -test.mask for test in tests):
            return b.icmp_unsigned("!=", bits, ir.Constant(V8, None))
        if any(test.low for test in tests):
            bits = b.sub(bits, each("low"))
        if not any(test.span for test in tests):
            return b.icmp_unsigned("==", bits, ir.Constant(V8, None))
        return b.icmp_unsigned("<=", bits, each("span"))


def emit_enabled(
    b: ir.IRBuilder, words: Sequence[Any], actions: Sequence[Plain]
) -> tuple[Any, Any]:
    """The enabled ones of at most 64 plain actions, as the bits of a word, and whether one of
    them is at fault."""
    state = _Words(b, words)
    enabled, fault = i64(0), ir.Constant(I8, 0)
    for first in range(0, len(actions), LANES):
        group = actions[first:first + LANES]
        hold = _joined(state, group, "tests", ALWAYS)
        wrong = _joined(state, group, "wrong", NEVER)
        if wrong is not None:
            fault = b.or_(fault, b.bitcast(b.and_(hold, wrong), I8))
        bits = b.zext(b.bitcast(hold, I8), I64)
        enabled = b.or_(enabled, b.shl(bits, i64(first)))
    return enabled, b.icmp_unsigned("!=", fault, ir.Constant(I8, 0))


def _joined(state: _Words, group: Sequence[Plain], kind: str, neutral: Test) -> Any:
    """The actions of a group that pass all of their tests, or have something wrong; None where
    nothing can be wrong."""
    b = state.b
    rows = [getattr(action, kind) for action in group]
    joined = None
    for place in range(max(map(len, rows), default=0) or int(kind == "tests")):
        tests = [row[place] if place < len(row) else neutral for row in rows]
        tests += [NEVER] * (LANES - len(tests))
        hold = state.hold(tests)
        join = b.and_ if kind == "tests" else b.or_
        joined = hold if joined is None else join(joined, hold)
    return joined


def emit_steps(
    b: ir.IRBuilder, words: Sequence[Any], actions: Sequence[Plain], first: int, wanted: Any,
    out: Any, taken: Any, count: Any,
) -> Any:
    """Write the successors by the wanted ones (bits) of some actions, behind ``count`` others.

    ``first`` is the index of the first of these actions. Returns how many there are then.
    """
    size = len(words)
    masked = any(~mask % (1 << 64) for action in actions for mask in action.keep)
    tables = [_table(b, [part for action in actions for part in action.change])]
    if masked:
        tables.append(_table(b, [part for action in actions for part in action.keep]))
    before = b.block
    head, body, after = (b.append_basic_block(name) for name in ("bits", "step", "stepped"))
    b.branch(head)
    b.position_at_end(head)
    left, made = b.phi(I64), b.phi(I64)
    left.add_incoming(wanted, before)
    made.add_incoming(count, before)
    b.cbranch(b.icmp_unsigned("!=", left, i64(0)), body, after)
    b.position_at_end(body)
    number = b.cttz(left, ir.Constant(I1, 1))
    rows = [word_at(b, table, b.mul(number, i64(size))) for table in tables]
    target = word_at(b, out, b.mul(made, i64(size)))
    for index, word in enumerate(words):
        if masked:
            word = b.and_(word, word_load(b, rows[1], index))
        word_store(b, b.add(word, word_load(b, rows[0], index)), target, index)
    b.store(b.trunc(b.add(number, i64(first)), I32), b.gep(taken, [made], source_etype=I32))
    left.add_incoming(b.and_(left, b.sub(left, i64(1))), b.block)
    made.add_incoming(b.add(made, i64(1)), b.block)
    b.branch(head)
    b.position_at_end(after)
    return made


def _table(b: ir.IRBuilder, words: list[int]) -> Any:
    """The address of constant words."""
    kind = ir.ArrayType(I64, len(words))
    table = ir.GlobalVariable(b.module, kind, b.module.get_unique_name("table"))
    table.linkage = "internal"
    table.global_constant = True
    table.initializer = ir.Constant(kind, words)
    return table
