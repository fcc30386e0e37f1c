"""Code for a machine's actions and rules: the part of the search that knows the model.

``successors(state, out, actions, skip) -> made + (enabled << 24) + (flagged << 48)`` writes
the successors and the actions that lead to them, but for those that may be left out (``skip``,
bits by action; see ``commuting``). It only notices *that* a rule is broken or a fault possible
(``flagged``). Which, ``inspect`` finds out for a whole level; it is emitted and compiled
only when that is needed.

Cheap actions are made without branches: the successor is always written, and the place
for the next one moves on only if the guard held. Guards are as good as random to a branch
predictor, and a misprediction costs more than the few instructions of most updates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import llvmlite.ir as ir

from ...notation.expr import (
    FALSE, TRUE, Expr, Lit, Op, Queue, Read, ReadAfter, Record, and_, not_, substitute,
)
from ...notation.model import LoweredAction, LoweredRule, Model, OpenAction
from .code import (
    I1, I32, I64, POINTER, any_of, copy_words, function, i64, less_words, local, loop, word_at,
    word_load, word_store,
)
from .commuting import constant_change
from .control import ENABLED, FLAGGED, MADE_MASK
from .lanes import Plain, emit_enabled, emit_steps, plain
from .layout import Cell, Layout
from .rows import Program, RowCode
from .shapes import Shape
from .values import QueueValue, Values, resize

__all__ = ["FOUND_HEAD", "Checks", "emit_inspect", "emit_note", "emit_successors",
           "emit_successors_by_rows"]

ACTIONS_PER_FUNCTION = 64  # compile time grows faster than the length of a function
BRANCHLESS_COST = 16  # instructions that are cheaper than the branch around them
PLAIN_FROM = 6  # plain actions that follow one another; fewer are not worth a loop over bits
GUARD_PART_COST = 12  # conjuncts dearer than this are evaluated behind the cheap ones
FOUND_HEAD = 3  # words before the state in a record of `found`: live, has, code


@dataclass(frozen=True)
class Checks:
    """The checks to make: rules by their place in the caller's list, and all faults.

    ``steps[rule][action]`` is the predicate over the state before that action, with the
    action's updates in place of the values after; only those that are not plainly true.
    """

    always: dict[int, Expr]
    may_rest: dict[int, Expr]
    steps: dict[int, dict[int, Expr]]
    rules: int

    @staticmethod
    def of(
        model: Model, rules: Sequence[LoweredRule], watch: Callable[[], None] = lambda: None
    ) -> Checks:
        """Sort rules by kind; liveness rules are not the search's concern."""
        by_kind: dict[str, dict[int, Expr]] = {"always": {}, "never stuck": {}}
        steps: dict[int, dict[int, Expr]] = {}
        for index, rule in enumerate(rules):
            watch()
            if rule.rule.kind == "step":
                steps[index] = {
                    place: predicate for place, action in enumerate(model.actions)
                    if (predicate := after(rule.exprs[0], action)) is not TRUE}
            elif rule.rule.kind in by_kind:
                by_kind[rule.rule.kind][index] = rule.exprs[0]
            else:
                raise ValueError(f"a search cannot decide a rule of kind {rule.rule.kind}")
        return Checks(by_kind["always"], by_kind["never stuck"], steps, len(rules))


def after(predicate: Expr, action: LoweredAction) -> Expr:
    """A step predicate for one action, over the values before the step alone."""
    def value(leaf: Expr) -> Expr | None:
        if not isinstance(leaf, ReadAfter):
            return None
        return action.updates.get(leaf.slot, Read(leaf.slot, leaf.type))
    return substitute(predicate, value)


def conjuncts(condition: Expr) -> tuple[Expr, ...]:
    """The parts of a conjunction."""
    if isinstance(condition, Op) and condition.op == "and":
        return condition.operands
    return () if condition is TRUE else (condition,)


# --- the successor of one action -------------------------------------------------------


def packed_successor(
    values: Values, layout: Layout, action: LoweredAction | OpenAction
) -> list[Any]:
    """The words of the state after an action."""
    b = values.builder
    kept = [(1 << 64) - 1] * layout.words
    delta = [0] * layout.words
    inserted: list[list[Any]] = [[] for _ in range(layout.words)]
    for name, expr in action.updates.items():
        cells = layout.cells[name]
        change = constant_change(name, expr)
        if change is not None and len(cells[0].pieces) == 1:
            piece = cells[0].pieces[0]
            delta[piece.word] += change << piece.shift
            continue
        for cell, raw in _raw_cells(values, layout, name, values.of(expr)):
            for piece in cell.pieces:
                part = raw if not piece.offset else b.lshr(raw, ir.Constant(raw.type, piece.offset))
                part = resize(b, resize(b, part, piece.bits), 64)
                kept[piece.word] &= ~(((1 << piece.bits) - 1) << piece.shift)
                inserted[piece.word].append(b.shl(part, i64(piece.shift)))
    result = []
    for index, word in enumerate(values.words):
        if inserted[index]:
            word = b.and_(word, i64(kept[index]))
        for part in inserted[index]:
            word = b.or_(word, part)
        result.append(b.add(word, i64(delta[index] % (1 << 64))) if delta[index] else word)
    return result


def _raw_cells(
    values: Values, layout: Layout, name: str, value: Any
) -> Iterator[tuple[Cell, Any]]:
    """The new bits of each cell of a slot that has any."""
    kind = layout.model.slot_by_name[name].type
    cells = layout.cells[name]
    if isinstance(kind, Queue):
        queue: QueueValue = values.fitted(value, kind)
        if cells[0].bits:
            yield cells[0], resize(values.builder, queue.length, cells[0].bits)
        if cells[1].bits:
            yield cells[1], queue.data
        return
    parts = value if isinstance(kind, Record) else [value]
    for cell, part in zip(cells, parts, strict=True):
        if cell.bits:
            yield cell, values.encoded(part, cell.lo, cell.bits)


# --- successors ------------------------------------------------------------------------


class _Emission:
    """The body of ``successors`` while it is built; some of ``skippable`` (bits by action)
    may be left out."""

    def __init__(
        self, b: ir.IRBuilder, layout: Layout, checks: Checks, skippable: int
    ) -> None:
        self.b = b
        self.layout = layout
        self.checks = checks
        self.skippable = skippable
        self.state, self.out, self.taken, self.skip, before = b.function.args
        words = [word_load(b, self.state, index) for index in range(layout.words)]
        self.values = Values(b, layout, words)
        self.skips: dict[int, Any] = {}
        self.count = local(b, b.and_(before, i64(MADE_MASK)))
        enabled = b.and_(b.lshr(before, i64(ENABLED)), i64(MADE_MASK))
        self.enabled = local(b, enabled) if skippable else self.count
        self.flag = local(b, b.icmp_unsigned("!=", b.lshr(before, i64(FLAGGED)), i64(0)))

    def plain(self, index: int, action: LoweredAction) -> Plain | None:
        """The action, if it is plain and no rule about steps is to be checked of it."""
        rest = [_behind(fault.condition, action.guard) for fault in action.faults]
        wrong = [part for part in rest if part is not None]
        if len(wrong) < len(rest) or any(index in steps for steps in self.checks.steps.values()):
            return None
        return plain(self.layout, action, conjuncts(action.guard), wrong)

    def plain_actions(
        self, row: Sequence[tuple[int, Plain]], actions: Mapping[int, LoweredAction]
    ) -> None:
        """Append the successors by plain actions that follow one another."""
        if len(row) < PLAIN_FROM:
            for index, _ in row:
                self.action(index, actions[index])
            return
        b, first, words = self.b, row[0][0], self.values.words
        group = [action for _, action in row]
        enabled, fault = emit_enabled(b, words, group)
        wanted = enabled
        if self.skippable:
            self._load_skips(first // 64)
            left_out = b.lshr(self.skips[first // 64], i64(first % 64))
            wanted = b.and_(enabled, b.not_(left_out))
            before = b.load(self.enabled, typ=I64)
            b.store(b.add(before, b.ctpop(enabled)), self.enabled)
        count = emit_steps(b, words, group, first, wanted, self.out, self.taken,
                           b.load(self.count, typ=I64))
        b.store(count, self.count)
        self._raise(fault)

    def action(self, index: int, action: LoweredAction) -> None:
        """Append the successor by one action, if its guard holds."""
        if isinstance(action.guard, Lit) and not action.guard.value:
            self._flag_outside(action)
            return
        self._flag_outside(action)
        parts = conjuncts(action.guard)
        dear = [part for part in parts if self.values.cost(part) > GUARD_PART_COST]
        cheap = and_(*(part for part in parts if part not in dear))
        guard = self.values.of(cheap)
        if self.skippable >> index & 1:
            self._load_skips(index // 64)
        body = partial(self._body, index, action)
        updates = list(action.updates.values())
        cost = self.values.cost(*updates) + 2 * self.layout.words
        if not dear and cost <= BRANCHLESS_COST:
            body(self.values, guard)
            return
        with self._branch(guard) as scope:
            body(scope, scope.of(and_(*dear)))

    @contextmanager
    def _branch(self, guard: Any) -> Iterator[Values]:
        if isinstance(guard, ir.Constant) and guard.constant:
            yield self.values
            return
        with self.b.if_then(guard):
            yield self.values.inside()

    def _body(self, index: int, action: LoweredAction, values: Values, guard: Any) -> None:
        b = self.b
        words = packed_successor(values, self.layout, action)
        count = b.load(self.count, typ=I64)
        target = word_at(b, self.out, b.mul(count, i64(self.layout.words)))
        changed = [offset for offset, word in enumerate(words) if word is not values.words[offset]]
        if len(words) - len(changed) > 2:
            copy_words(b, self.state, target, len(words))
        else:
            changed = list(range(len(words)))
        for offset in changed:
            word_store(b, words[offset], target, offset)
        b.store(ir.Constant(I32, index), b.gep(self.taken, [count], source_etype=I32))
        b.store(b.add(count, b.zext(self._wanted(index, guard), I64)), self.count)
        wrong = [not_(steps[index]) for steps in self.checks.steps.values() if index in steps]
        wrong += [rest for fault in action.faults
                  if (rest := _behind(fault.condition, action.guard)) is not None]
        if wrong:
            self._raise(b.and_(guard, any_of(b, [values.of(part) for part in wrong])))

    def _load_skips(self, word: int) -> None:
        """Load some bits of what may be left out, here and not behind a branch."""
        if word not in self.skips:
            self.skips[word] = word_load(self.b, self.skip, word)

    def _wanted(self, index: int, guard: Any) -> Any:
        """True if the step is taken: its guard holds, and it may not be left out."""
        b = self.b
        if not self.skippable:
            return guard
        b.store(b.add(b.load(self.enabled, typ=I64), b.zext(guard, I64)), self.enabled)
        if not self.skippable >> index & 1:
            return guard
        left_out = b.trunc(b.lshr(self.skips[index // 64], i64(index % 64)), I1)
        return b.and_(guard, b.not_(left_out))

    def _flag_outside(self, action: LoweredAction) -> None:
        """Faults that may hold where the guard does not."""
        for fault in action.faults:
            if _behind(fault.condition, action.guard) is None:
                self._raise(self.values.of(fault.condition))

    def _raise(self, condition: Any) -> None:
        self.b.store(self.b.or_(self.b.load(self.flag, typ=I1), condition), self.flag)

    def finish(self, last: bool) -> None:
        """Return; after the last action, check the rules about states."""
        b = self.b
        for predicate in self.checks.always.values() if last else ():
            self._raise(self.values.of(not_(predicate)))
        count, enabled = (b.load(place, typ=I64) for place in (self.count, self.enabled))
        if self.checks.may_rest and last:
            stuck = b.icmp_unsigned("==", enabled, i64(0))
            final = self.values.of(and_(*self.checks.may_rest.values()))
            self._raise(b.and_(stuck, b.not_(final)))
        flag = b.zext(b.load(self.flag, typ=I1), I64)
        counts = b.or_(count, b.shl(enabled, i64(ENABLED)))
        b.ret(b.or_(counts, b.shl(flag, i64(FLAGGED))))


def _behind(fault: Expr, guard: Expr) -> Expr | None:
    """The part of a fault to check once the guard holds; None where the fault may come first."""
    parts, known = conjuncts(fault), set(conjuncts(guard))
    if not known.issubset(parts):
        return None
    return and_(*(part for part in parts if part not in known))


def emit_successors_by_rows(code: RowCode, checks: Checks) -> ir.Function:
    """Emit ``successors(state, out, actions, skip)`` for a machine of many actions or words.

    Nothing is left out.
    """
    program = Program(heads=1)
    for index, action in enumerate(code.layout.model.actions):
        code.watch()
        behind = [_behind(fault.condition, action.guard) for fault in action.faults]
        outside = [fault.condition for fault, rest in zip(action.faults, behind, strict=True)
                   if rest is None]
        if action.guard is FALSE and not outside:
            continue
        wrong = [not_(steps[index]) for steps in checks.steps.values() if index in steps]
        wrong += [rest for rest in behind if rest is not None]
        shape, row = code.shapes.of(
            [conjuncts(action.guard), list(action.updates.values()), wrong, outside],
            targets=list(action.updates))
        program.add(shape, [index], row)
    f = function(code.module, "successors", I64, *[POINTER] * 4)
    f.linkage = "internal"
    state, out, taken, _ = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    made = local(b, i64(0))

    def call(b: ir.IRBuilder, shape: Shape, first: Any, count: Any) -> None:
        before = b.load(made, typ=I64)
        b.store(b.call(code.step(shape), [state, out, taken, before, first, count]), made)

    code.run(b, program, call)
    count = b.load(made, typ=I64)
    flag = code.condition(b, state, not_(and_(*checks.always.values())))
    if checks.may_rest:
        stuck = b.icmp_unsigned("==", b.and_(count, i64(MADE_MASK)), i64(0))
        kept = local(b, flag)
        b.store(flag, kept)
        with b.if_then(stuck, likely=False):
            wrong_rest = code.condition(b, state, not_(and_(*checks.may_rest.values())))
            b.store(b.or_(flag, wrong_rest), kept)
        flag = b.load(kept, typ=I1)
    b.ret(b.or_(count, b.shl(b.zext(flag, I64), i64(FLAGGED))))
    return f


def emit_successors(
    module: ir.Module, layout: Layout, checks: Checks, skippable: int = 0,
    watch: Callable[[], None] = lambda: None,
) -> ir.Function:
    """Emit ``successors(state, out, actions, skip)``.

    ``out`` needs room for one state more than there are actions, and so has ``actions``
    (32-bit action indices). ``skip`` is not read where nothing is ``skippable``.
    """
    f = function(module, "successors", I64, *[POINTER] * 4)
    f.linkage = "internal"
    b = ir.IRBuilder(f.append_basic_block("entry"))
    actions = list(enumerate(layout.model.actions))
    parts = [actions[i:i + ACTIONS_PER_FUNCTION]
             for i in range(0, len(actions), ACTIONS_PER_FUNCTION)] or [[]]
    total = i64(0)
    for number, part in enumerate(parts):
        name = f"successors_{number}"
        last = number == len(parts) - 1
        callee = function(module, name, I64, *[POINTER] * 4, I64)
        _emit_part(_Emission(_entry(callee), layout, checks, skippable), part, last, watch)
        if len(parts) == 1:
            callee.attributes.add("alwaysinline")
        total = b.call(callee, [*f.args, total])
    b.ret(total)
    return f


def _entry(f: ir.Function) -> ir.IRBuilder:
    """A builder for the body of an internal function with arguments that do not overlap."""
    f.linkage = "internal"
    for argument in f.args:
        if argument.type == POINTER:
            argument.add_attribute("noalias")
    return ir.IRBuilder(f.append_basic_block("entry"))


def _emit_part(
    emission: _Emission, actions: Sequence[tuple[int, LoweredAction]], last: bool,
    watch: Callable[[], None],
) -> None:
    """Emit the code of some actions, which adds to what the parts before it made."""
    row: list[tuple[int, Plain]] = []
    for index, action in actions:
        watch()
        found = emission.plain(index, action)
        if found is not None:
            row.append((index, found))
            continue
        emission.plain_actions(row, dict(actions))
        row = []
        emission.action(index, action)
    emission.plain_actions(row, dict(actions))
    emission.finish(last)


# --- which rule, which fault -----------------------------------------------------------


def emit_note(module: ir.Module, words: int) -> ir.Function:
    """Emit ``note(record, state, code)``: keep the smallest (state, code) of a level.

    The smallest, so that a trace does not depend on the order of the search.
    """
    f = function(module, "note", ir.VoidType(), POINTER, POINTER, I64)
    f.linkage = "internal"
    f.attributes.add("noinline")
    record, state, code = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    with b.if_then(b.icmp_unsigned("==", word_load(b, record, 0), i64(0))):
        b.ret_void()  # this rule has its trace already
    had = b.icmp_unsigned("!=", word_load(b, record, 1), i64(0))
    kept = word_at(b, record, FOUND_HEAD)
    smaller = b.or_(
        less_words(b, state, kept, words),
        b.and_(b.icmp_unsigned("<", code, word_load(b, record, 2)),
               b.not_(less_words(b, kept, state, words))))
    with b.if_then(b.or_(b.not_(had), smaller)):
        word_store(b, i64(1), record, 1)
        word_store(b, code, record, 2)
        copy_words(b, state, kept, words)
    b.ret_void()
    return f


def emit_inspect(code: RowCode, checks: Checks) -> ir.Function:
    """Emit ``inspect(states, count, found)``: note the rules and faults that apply.

    ``found`` has one record per rule and a last one for faults. The code is 0 for a state,
    the action's index plus one for a step, and for a fault the action's index shifted by
    16 with the fault's place in the action below.
    """
    layout = code.layout
    stride = FOUND_HEAD + layout.words
    note = emit_note(code.module, layout.words)
    program = code.program_of(
        (((record * stride, number), condition)
         for record, condition, number in _conditions(layout.model, checks)), heads=2)
    f = function(code.module, "inspect", ir.VoidType(), POINTER, I64, POINTER)
    states, count, found = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    with loop(b, i64(0), count) as index:
        state = word_at(b, states, b.mul(index, i64(layout.words)))
        with b.if_then(b.icmp_unsigned("!=", word_load(b, state, 0), i64(0))):

            def call(b: ir.IRBuilder, shape: Shape, first: Any, rows: Any) -> None:
                b.call(_emit_notes(code, shape, note), [state, found, first, rows])

            code.run(b, program, call)
            if checks.may_rest:
                _note_stuck(code, b, checks, note, state, found)
    b.ret_void()
    return f


def _emit_notes(code: RowCode, shape: Shape, note: ir.Function) -> ir.Function:
    """Emit ``notes(state, found, rows, count)``: note each row with a true condition.

    A row's head is the place of its record in ``found`` and the code to note.
    """
    f = function(code.module, f"notes_{shape.number}", ir.VoidType(), *[POINTER] * 3, I64)
    f.linkage = "internal"
    state, found, rows, count = f.args
    b = ir.IRBuilder(f.append_basic_block("entry"))
    with loop(b, i64(0), count) as index:
        row = word_at(b, rows, b.mul(index, i64(shape.size + 2)))
        holds = code.values(b, state, word_at(b, row, 2), shape).of(shape.groups[0][0])
        with b.if_then(holds, likely=False):
            record = word_at(b, found, word_load(b, row, 0))
            b.call(note, [record, state, word_load(b, row, 1)])
    b.ret_void()
    return f


def _note_stuck(
    code: RowCode, b: ir.IRBuilder, checks: Checks, note: ir.Function, state: Any, found: Any
) -> None:
    """Note the rules by which a state without successors may not be the last one."""
    guards = code.any_of(action.guard for action in code.layout.model.actions)
    with b.if_then(b.not_(b.call(guards, [state])), likely=False):
        for rule, predicate in checks.may_rest.items():
            with b.if_then(code.condition(b, state, not_(predicate))):
                place = word_at(b, found, rule * (FOUND_HEAD + code.layout.words))
                b.call(note, [place, state, i64(0)])


def _conditions(model: Model, checks: Checks) -> Iterator[tuple[int, Expr, int]]:
    """The conditions that one row each looks for: a record, the condition to note it, and the code.
    """
    for rule, predicate in checks.always.items():
        yield rule, not_(predicate), 0
    for index, action in enumerate(model.actions):
        for rule, steps in checks.steps.items():
            if index in steps:
                yield rule, and_(action.guard, not_(steps[index])), index + 1
        for place, fault in enumerate(action.faults):
            yield checks.rules, fault.condition, index << 16 | place
