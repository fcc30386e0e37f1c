"""The reference reading of the expression tree: slow, plain, and Python's own meaning.

Engines are tested against it, and traces that a solver found are replayed with it. Values
are those of :data:`checkvalve.spec.verdicts.verdict.Value`: ints (booleans as 0 and 1),
records as tuples of their fields, queues as tuples of their elements, head first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from .errors import ModelFault
from .expr import ConstRef, EmptyQueue, Expr, Lit, Op, Read, ReadAfter
from .model import Value
from .model import LoweredAction, Model

__all__ = ["apply", "evaluate", "initial_slots"]

Slots = Mapping[str, Value]
_NO_CONSTANTS: Mapping[str, int] = {}


def evaluate(
    expr: Expr,
    before: Slots,
    after: Slots | None = None,
    constants: Mapping[str, int] = _NO_CONSTANTS,
) -> Value:
    """The value of an expression in a state (``before``), or over a step (``after`` too).

    ``and``, ``or`` and the branches of a choice are evaluated only as far as needed, so
    an ``at`` beyond the end of a queue matters only where it is selected. Where it is,
    and for a ``pop`` of an empty queue and a division by zero, ModelFault is raised. A
    slot or a constant that is not given is a KeyError of the caller's.
    """
    return _Evaluation(before, after, constants).value(expr)


def apply(
    action: LoweredAction, slots: Slots, constants: Mapping[str, int] = _NO_CONSTANTS
) -> dict[str, Value] | None:
    """The state after an action, or None where its guard does not hold.

    Faults are not looked at: a caller that wants them evaluates ``action.faults`` first.
    """
    now = _Evaluation(slots, None, constants)
    if not now.value(action.guard):
        return None
    return {**slots, **{name: now.value(expr) for name, expr in action.updates.items()}}


def initial_slots(
    model: Model, constants: Mapping[str, int] = _NO_CONSTANTS
) -> dict[str, Value]:
    """The initial state of a model; ``constants`` are the values of its symbolic ones."""
    now = _Evaluation({}, None, constants)
    return {slot.name: now.value(slot.init) for slot in model.slots}


class _Evaluation:
    """The values found so far in one state; several expressions share them."""

    def __init__(self, before: Slots, after: Slots | None, constants: Mapping[str, int]) -> None:
        self.before = before
        self.after = after
        self.constants = constants
        self.known: dict[Expr, Value] = {}

    def value(self, root: Expr) -> Value:
        """The value of one expression; without recursion, as trees may be deep."""
        pending = [root]
        while pending:
            node = pending[-1]
            missing = [] if node in self.known else self._missing(node)
            if missing:
                pending.extend(missing)
                continue
            if node not in self.known:
                self.known[node] = self._compute(node)
            pending.pop()
        return self.known[root]

    def _missing(self, node: Expr) -> list[Expr]:
        """The operands that are still needed, of which the last is looked at first."""
        if isinstance(node, Op) and node.op in ("and", "or"):
            return self._missing_in_junction(node)
        if isinstance(node, Op) and node.op == "ite":
            condition, then, otherwise = node.operands
            if condition not in self.known:
                return [condition]
            chosen = then if self.known[condition] else otherwise
            return [] if chosen in self.known else [chosen]
        return [child for child in reversed(node.operands) if child not in self.known]

    def _missing_in_junction(self, node: Op) -> list[Expr]:
        deciding = node.op == "or"
        for child in node.operands:
            if child not in self.known:
                return [child]
            if bool(self.known[child]) == deciding:
                return []
        return []

    def _compute(self, node: Expr) -> Value:
        if isinstance(node, Lit):
            return node.value
        if isinstance(node, ConstRef):
            return self.constants[node.name]
        if isinstance(node, Read):
            return self.before[node.slot]
        if isinstance(node, ReadAfter):
            if self.after is None:
                raise ValueError(f"{node!r} has a value only over a step; give the state after")
            return self.after[node.slot]
        if isinstance(node, EmptyQueue):
            return ()
        assert isinstance(node, Op)
        return self._compute_op(node)

    def _compute_op(self, node: Op) -> Value:
        if node.op == "and":
            return int(all(self.known.get(child, 1) for child in node.operands))
        if node.op == "or":
            return int(any(self.known.get(child, 0) for child in node.operands))
        if node.op == "ite":
            condition, then, otherwise = node.operands
            return self.known[then if self.known[condition] else otherwise]
        values = tuple(self.known[child] for child in node.operands)
        if node.op == "record":
            return values
        if node.op == "field":
            return cast("tuple[Value, ...]", values[0])[node.extra]
        if node.op in _QUEUES:
            return _QUEUES[node.op](node, *values)
        return _SCALARS[node.op](*values)


def _at(node: Op, queue: tuple[Value, ...], index: int) -> Value:
    if not 0 <= index < len(queue):
        raise ModelFault(
            f"the element at {index} of a queue of {len(queue)} is used: {node!r}",
            next_step="Require that the queue is long enough before looking into it.",
        )
    return queue[index]


def _pop(node: Op, queue: tuple[Value, ...]) -> Value:
    if not queue:
        raise ModelFault(f"the head of an empty queue is taken away: {node!r}",
                         next_step="Require that the queue is not empty.")
    return queue[1:]


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise ModelFault(f"{a} is divided by zero", next_step="Require a divisor other than 0.")
    return a // b


_QUEUES: dict[str, Callable[..., Value]] = {
    "len": lambda node, queue: len(queue),
    "push": lambda node, queue, element: (*queue, element),
    "pop": _pop,
    "at": _at,
}

_SCALARS: dict[str, Callable[..., Value]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "floordiv": _divide, "mod": lambda a, b: a - b * _divide(a, b), "neg": lambda a: -a,
    "min": min, "max": max, "not": lambda a: int(not a),
    "eq": lambda a, b: int(a == b), "ne": lambda a, b: int(a != b),
    "lt": lambda a, b: int(a < b), "le": lambda a, b: int(a <= b),
}
