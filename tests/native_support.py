"""Models made by hand or at random for the tests of the native explorer, and an oracle.

The oracle is a breadth-first search over the reference evaluator: slow, plain, and it
shares nothing with the packed layout, the emitted code or the table.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from checkvalve.spec.notation.evaluate import apply, evaluate, initial_slots
from checkvalve.spec.notation.expr import (
    FALSE, TRUE, Bool, EmptyQueue, Expr, Int, Lit, Queue, Read, ReadAfter, Record, SlotType,
    add, and_, at, eq, field as field_of, floordiv, ite, le, length, lt, max_, min_, mod, mul,
    neg, not_, or_, pop, push, record, sub,
)
from checkvalve.spec.notation.model import Value
from checkvalve.spec.notation.model import Fault, LoweredAction, LoweredRule, Model, Slot
from checkvalve.spec.notation.rules import MUST, Kind, Rule

State = tuple[Value, ...]


def rule(kind: Kind, *exprs: Expr) -> LoweredRule:
    """A rule without a name worth having."""
    return LoweredRule(Rule("T-1", MUST, "A test.", "here", kind), (), exprs)


def model_of(
    slots: Sequence[Slot], actions: Sequence[LoweredAction], rules: Sequence[LoweredRule] = ()
) -> Model:
    """A model without constants."""
    return Model("test", {}, (), tuple(slots), tuple(actions), tuple(rules))


def chain(links: int, capacity: int) -> Model:
    """Credit-controlled links in a row, from a source always ready to a sink."""
    counter = Int(Lit(0), Lit(capacity))
    slots = [Slot(f"{name}{i}", counter, Lit(capacity if name == "P" else 0))
             for i in range(links) for name in "PQDN"]
    moves = [("send", ["P0"], ["D0"]), ("drain", [f"N{links - 1}"], [f"Q{links - 1}"])]
    for i in range(links):
        moves += [(f"arrive{i}", [f"D{i}"], [f"N{i}"]), (f"permit{i}", [f"Q{i}"], [f"P{i}"])]
        if i + 1 < links:
            moves.append((f"pass{i}", [f"N{i}", f"P{i + 1}"], [f"Q{i}", f"D{i + 1}"]))
    actions = []
    for name, taken, given in moves:
        guard = and_(*(lt(Lit(0), Read(slot, counter)) for slot in taken))
        updates = {slot: sub(Read(slot, counter), Lit(1)) for slot in taken}
        updates |= {slot: add(Read(slot, counter), Lit(1)) for slot in given}
        actions.append(LoweredAction(name, (), True, False, guard, updates, ()))
    return model_of(slots, actions)


# --- random models -----------------------------------------------------------------------


class RandomModel:
    """A model drawn from a seed: all types, all operators, guards that keep the ranges
    (or, now and then, a fault where they do not)."""

    def __init__(self, seed: int, wide: bool = False) -> None:
        self.random = random.Random(seed)
        kinds = [self._type(wide) for _ in range(self.random.randint(2, 4))]
        if wide:
            kinds += [Int(Lit(0), Lit((1 << 40) + place)) for place in range(3)]
        self.slots = [Slot(f"s{i}", kind, self._initial(kind)) for i, kind in enumerate(kinds)]
        actions = [self._action(i) for i in range(self.random.randint(4, 8))]
        rare = or_(self.boolean(2), self.boolean(3), self.boolean(3))
        rules = [rule("always", self.boolean(3)), rule("never stuck", self.boolean(2)),
                 rule("step", self._step()), rule("always", rare)]
        self.model = model_of(self.slots, actions, rules)

    def _scalar_type(self) -> Int | Bool:
        if self.random.random() < 0.25:
            return Bool()
        lo = self.random.randint(-3, 2)
        return Int(Lit(lo), Lit(lo + self.random.randint(0, 4)))

    def _type(self, wide: bool) -> SlotType:
        draw = self.random.random()
        if draw < 0.5:
            return self._scalar_type()
        parts = tuple((f"f{i}", self._scalar_type()) for i in range(self.random.randint(1, 2)))
        element = Record(f"R{len(parts)}", parts) if self.random.random() < 0.6 else parts[0][1]
        if isinstance(element, Record) and draw < 0.65:
            return element
        return Queue(element, Lit(self.random.randint(1, 40 if wide else 3)))

    def _initial(self, kind: SlotType) -> Expr:
        if isinstance(kind, Queue):
            return EmptyQueue(kind)
        if isinstance(kind, Record):
            return record(kind, *(self._initial(part) for _, part in kind.fields))
        return FALSE if isinstance(kind, Bool) else kind.lo or Lit(0)

    def _reads(self, wanted: type) -> list[Read]:
        return [Read(slot.name, slot.type) for slot in self.slots if isinstance(slot.type, wanted)]

    def boolean(self, depth: int) -> Expr:
        """A random predicate."""
        pick = self.random.random
        if depth == 0 or pick() < 0.15:
            found = self._reads(Bool)
            return self.random.choice(found) if found and pick() < 0.7 else (
                TRUE if pick() < 0.5 else lt(self.integer(0), self.integer(0)))
        make = self.random.choice([
            lambda: lt(self.integer(depth - 1), self.integer(depth - 1)),
            lambda: le(self.integer(depth - 1), self.integer(depth - 1)),
            lambda: eq(self.integer(depth - 1), self.integer(depth - 1)),
            lambda: and_(self.boolean(depth - 1), self.boolean(depth - 1)),
            lambda: or_(self.boolean(depth - 1), self.boolean(depth - 1)),
            lambda: not_(self.boolean(depth - 1)),
            lambda: ite(self.boolean(0), self.boolean(depth - 1), self.boolean(depth - 1)),
            self._equal_records,
        ])
        return make()

    def _equal_records(self) -> Expr:
        found = self._reads(Record)
        if not found:
            return self.boolean(0)
        read = self.random.choice(found)
        return eq(read, self.value(read.type, 1))

    def integer(self, depth: int) -> Expr:
        """A random integer expression."""
        if depth == 0:
            return self._integer_leaf()
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        divisor = Lit(self.random.choice([-3, -2, 1, 2, 3]))
        return self.random.choice([
            lambda: add(a, b), lambda: sub(a, b), lambda: mul(a, Lit(2)), lambda: neg(a),
            lambda: min_(a, b), lambda: max_(a, b), lambda: floordiv(a, divisor),
            lambda: mod(a, divisor), lambda: ite(self.boolean(0), a, b)])()

    def _integer_leaf(self) -> Expr:
        leaves: list[Expr] = [Lit(self.random.randint(-2, 4))]
        leaves += self._reads(Int)
        leaves += [length(queue) for queue in self._reads(Queue)]
        for value in self._reads(Record):
            assert isinstance(value.type, Record)
            leaves += [field_of(value, i) for i, (_, kind) in enumerate(value.type.fields)
                       if isinstance(kind, Int)]
        return self.random.choice(leaves)

    def value(self, kind: SlotType, depth: int) -> Expr:
        """A random expression of a type; integers may leave their range."""
        if isinstance(kind, Record):
            return record(kind, *(self.value(part, depth) for _, part in kind.fields))
        if isinstance(kind, Bool):
            return self.boolean(depth)
        raw = self.integer(depth)
        if self.random.random() < 0.2:
            return raw
        assert isinstance(kind.lo, Lit) and isinstance(kind.hi, Lit)
        return add(kind.lo, mod(raw, Lit(kind.hi.value - kind.lo.value + 1)))

    def _step(self) -> Expr:
        slot = self.random.choice(self.slots)
        if isinstance(slot.type, Int):
            return le(sub(ReadAfter(slot.name, slot.type), Read(slot.name, slot.type)), Lit(1))
        if isinstance(slot.type, Queue):
            return le(length(ReadAfter(slot.name, slot.type)), Lit(1))
        return eq(ReadAfter(slot.name, slot.type), Read(slot.name, slot.type))

    def _action(self, number: int) -> LoweredAction:
        needed: list[Expr] = []
        updates: dict[str, Expr] = {}
        for slot in self.random.sample(self.slots, self.random.randint(1, min(3, len(self.slots)))):
            updates[slot.name], more = self._update(slot)
            needed += more
        guard = TRUE if self.random.random() < 0.4 else self.boolean(self.random.randint(1, 2))
        if self.random.random() < 0.97:
            return LoweredAction(f"a{number}", (), True, False, and_(guard, *needed), updates, ())
        faults = tuple(Fault(and_(guard, *needed[:i], not_(need)), f"need {i}", "file", i)
                       for i, need in enumerate(needed))
        return LoweredAction(f"a{number}", (), True, False, guard, updates, faults)

    def _update(self, slot: Slot) -> tuple[Expr, list[Expr]]:
        kind, old = slot.type, Read(slot.name, slot.type)
        if not isinstance(kind, Queue):
            new = add(old, Lit(self.random.choice([-1, 1]))) if (
                isinstance(kind, Int) and self.random.random() < 0.5) else self.value(kind, 2)
            return new, self._within(kind, new)
        if self.random.random() < 0.4:
            return pop(old), [lt(Lit(0), length(old))]
        element = self.value(kind.element, 1)
        if self.random.random() < 0.2:
            return push(pop(old), at(old, Lit(0))), [lt(Lit(0), length(old))]
        return push(old, element), [lt(length(old), kind.capacity),
                                    *self._within(kind.element, element)]

    def _within(self, kind: Int | Bool | Record, new: Expr) -> list[Expr]:
        if isinstance(kind, Record):
            return [need for i, (_, part) in enumerate(kind.fields)
                    for need in self._within(part, field_of(new, i))]
        if isinstance(kind, Bool):
            return []
        assert kind.lo is not None and kind.hi is not None
        return [le(kind.lo, new), le(new, kind.hi)]


# --- the oracle ----------------------------------------------------------------------------


@dataclass
class Expected:
    """The findings that a search must have; ``broken`` maps a rule to the length of its shortest
    run.
    """

    states: int = 0
    transitions: int = 0
    depth: int = 0
    broken: dict[int, int] = field(default_factory=dict)
    fault: int | None = None
    too_many: bool = False


def search(model: Model, most: int) -> Expected:
    """Search a model with the reference evaluator, up to a number of states."""
    result = Expected()
    seen: set[State] = set()
    level: list[dict[str, Value]] = [initial_slots(model)]
    seen.add(tuple(level[0].values()))
    depth = 0
    while level:
        result.depth = depth
        following: list[dict[str, Value]] = []
        for state in level:
            for new in _expand(model, state, depth, result):
                key = tuple(new[slot.name] for slot in model.slots)
                if key not in seen:
                    seen.add(key)
                    following.append(new)
        if result.fault is not None or len(seen) > most:
            result.too_many = len(seen) > most
            return result
        level, depth = following, depth + 1
    result.states = len(seen)
    return result


def rich_model(seed: int, wide: bool = False) -> tuple[Model, Expected]:
    """The first model from a seed on that is neither trivial nor large, and its search."""
    for attempt in range(1000):
        model = RandomModel(1000 * seed + attempt, wide).model
        expected = search(model, most=300)
        if not expected.too_many and (expected.states >= 12 or (expected.fault or 0) > 2):
            return model, expected
    raise AssertionError("no random model is rich enough")


def _expand(
    model: Model, state: dict[str, Value], depth: int, result: Expected
) -> list[dict[str, Value]]:
    successors = []
    for action in model.actions:
        if any(evaluate(fault.condition, state) for fault in action.faults):
            result.fault = depth + 1
            continue
        new = apply(action, state)
        if new is None:
            continue
        successors.append(new)
        for number in broken_rules(model, state, new):
            result.broken.setdefault(number, depth + 1)
    result.transitions += len(successors)
    for number in broken_rules(model, state, None, stuck=not successors):
        result.broken.setdefault(number, depth)
    return successors


def broken_rules(
    model: Model, state: dict[str, Value], new: dict[str, Value] | None, stuck: bool = False
) -> list[int]:
    """The rules that a state breaks, or, with ``new``, that a step breaks."""
    found = []
    for number, lowered in enumerate(model.rules):
        kind, expr = lowered.rule.kind, lowered.exprs[0]
        applies = kind == "step" if new is not None else (
            kind == "always" or (kind == "never stuck" and stuck))
        if applies and not evaluate(expr, state, new):
            found.append(number)
    return found
