"""The prover's explanation of the runs it found, read off with the reference evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...notation.errors import InternalError
from ...notation.evaluate import evaluate
from ...notation.expr import Expr, Int, Op, Queue, Record, SlotType
from ...notation.model import LoweredRule, Model
from ...notation.model import Value
from ...notation.show import show

__all__ = ["describe", "is_true", "slot_out_of_range", "why_violated"]

Slots = Mapping[str, Value]
Constants = Mapping[str, int]


def describe(values: Mapping[str, Value]) -> str:
    """``a=1, b=2``."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def is_true(model: Model, rule: LoweredRule, run: Sequence[Slots], constants: Constants) -> bool:
    """A rule in the last state of a run, or of the last step."""
    expr = rule.exprs[0]
    if rule.rule.kind == "step":
        return len(run) < 2 or bool(evaluate(expr, run[-2], run[-1], constants))
    if bool(evaluate(expr, run[-1], None, constants)):
        return True
    return rule.rule.kind == "never stuck" and any(
        evaluate(action.guard, run[-1], None, constants) for action in model.actions)


def why_violated(rule: LoweredRule, run: Sequence[Slots], constants: Constants) -> str:
    """The conjunct of a violated rule that fails, and the values of the constants with which it
    does."""
    values = f" with {describe(constants)}" if constants else ""
    if rule.rule.kind == "never stuck":
        return f"no action is enabled, and the machine may not rest there{values}"
    whole = rule.exprs[0]
    conjuncts: tuple[Expr, ...] = (whole,)
    if isinstance(whole, Op) and whole.op == "and":
        conjuncts = whole.operands
    before, after = (run[-2], run[-1]) if rule.rule.kind == "step" else (run[-1], None)
    for conjunct in conjuncts:
        if not evaluate(conjunct, before, after, constants):
            return f"{show(conjunct, 300)} fails{values}"
    raise InternalError(f"{rule.rule.id} is violated but none of its conjuncts is")


def slot_out_of_range(model: Model, state: Slots, constants: Constants) -> str:
    """The first slot with a value outside its declared range."""
    for slot in model.slots:
        if not _in_range(slot.type, state[slot.name], constants):
            return slot.name
    raise InternalError(f"the prover finds {model.name} ill-formed where it is not")


def _in_range(type: SlotType, value: Value, constants: Constants) -> bool:
    def bound(expr: Expr) -> Value:
        return evaluate(expr, {}, None, constants)

    if isinstance(value, tuple):
        if isinstance(type, Record):
            fields = zip(type.fields, value, strict=True)
            return all(_in_range(of, part, constants) for (_, of), part in fields)
        assert isinstance(type, Queue)
        fits = _in_range(Int(hi=type.capacity), len(value), constants)
        return fits and all(_in_range(type.element, item, constants) for item in value)
    if not isinstance(type, Int):
        return True
    low = None if type.lo is None else bound(type.lo)
    high = None if type.hi is None else bound(type.hi)
    assert not isinstance(low, tuple) and not isinstance(high, tuple)
    return (low is None or low <= value) and (high is None or value <= high)
