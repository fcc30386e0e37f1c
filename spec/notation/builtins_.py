"""Python's built-in functions, as far as the notation has them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import EnumMeta
from functools import reduce
from typing import Protocol

from . import expr as e
from .errors import NotationError
from .rules import Rule
from .symbolic import (
    Context, Static, SymArray, SymSet, Value, as_static, capacity, equal, integer, static_int,
    truth,
)

__all__ = ["Evaluating", "call", "contains", "is_function", "upper"]

Guarded = list[tuple[e.Expr, Value]]


class Evaluating(Protocol):
    """The part of an evaluator that the built-in functions use."""

    def value(self, ctx: Context, node: ast.expr) -> Value:
        """The value of an expression."""
        ...

    def truth(self, ctx: Context, node: ast.expr) -> e.Expr:
        """The truth of a condition."""
        ...

    def number(self, ctx: Context, node: ast.expr) -> e.Expr:
        """The value of an expression that has to be a number."""
        ...

    def iterate(self, ctx: Context, node: ast.expr) -> Guarded:
        """The items of an iterable, each with the condition under which it is there."""
        ...

    def comprehension(
        self, ctx: Context, node: ast.GeneratorExp | ast.ListComp
    ) -> Guarded:
        """The items of a comprehension, likewise."""
        ...

    def refuse(self, node: ast.AST, what: str, next_step: str = "") -> NotationError:
        """The error for an expression that the notation does not have."""
        ...


Handler = Callable[[Evaluating, Context, ast.Call], Value]


def contains(container: Value, item: Value) -> e.Expr:
    """``item in container`` as a symbolic expression."""
    if isinstance(container, SymArray):
        return e.or_(*(equal(part, item) for part in container.items))
    if isinstance(container, SymSet):
        index = _number(item)
        fixed = static_int(index)
        if fixed is not None:
            pairs = dict(zip(map(int, container.members), container.bits, strict=True))
            return pairs.get(fixed, e.FALSE)
        bits = zip(container.members, container.bits, strict=True)
        return e.or_(*(e.and_(e.eq(index, e.Lit(int(m))), bit) for m, bit in bits))
    if isinstance(container, e.Expr) and isinstance(container.type, e.Queue):
        size = e.length(container)
        positions = [e.Lit(i) for i in range(capacity(container.type))]
        return e.or_(*(
            e.and_(e.lt(p, size), equal(e.at(container, p), item)) for p in positions
        ))
    if isinstance(container, Static) and isinstance(container.value, tuple | range | EnumMeta):
        return e.or_(*(equal(as_static(part), item) for part in container.value))
    raise NotationError("the right side of 'in' is not a container")


def upper(value: e.Expr) -> int | None:
    """An upper bound of an integer that is known from its form, or None."""
    return e.fold(value, _summands, _upper)


def _summands(value: e.Expr) -> tuple[e.Expr, ...]:
    """The operands that an upper bound depends on."""
    if isinstance(value, e.Op) and value.op in ("sub", "min", "max", "add", "ite"):
        return tuple(part for part in value.operands if isinstance(part.type, e.Int))
    return ()


def _upper(value: e.Expr, parts: list[int | None]) -> int | None:
    if isinstance(value, e.Lit):
        return value.value
    numbers = [part for part in parts if part is not None]
    op = value.op if isinstance(value, e.Op) else ""
    if op == "len" and isinstance(value.operands[0].type, e.Queue):
        return capacity(value.operands[0].type)
    if op == "sub":
        bottom = lower(value.operands[1])
        return None if parts[0] is None or bottom is None else parts[0] - bottom
    if op == "min":
        return min(numbers, default=None)
    if op in ("max", "add", "ite"):
        if len(numbers) < len(parts):
            return None
        return sum(numbers) if op == "add" else max(numbers)
    if isinstance(value.type, e.Int) and isinstance(value.type.hi, e.Lit):
        return value.type.hi.value
    return None


def lower(value: e.Expr) -> int | None:
    """A lower bound of an integer that is known from its form, or None."""
    if isinstance(value, e.Lit):
        return value.value
    if isinstance(value, e.Op) and value.op == "len":
        return 0
    if isinstance(value.type, e.Int) and isinstance(value.type.lo, e.Lit):
        return value.type.lo.value
    return None


def _number(value: Value) -> e.Expr:
    found = integer(value)
    if found is None:
        raise NotationError("a number is needed here")
    return found


def _elements(run: Evaluating, ctx: Context, node: ast.Call) -> Guarded:
    """The elements that a reducing function takes: of one iterable, or several arguments."""
    if len(node.args) == 1:
        only = node.args[0]
        if isinstance(only, ast.GeneratorExp | ast.ListComp):
            return run.comprehension(ctx, only)
        return run.iterate(ctx, only)
    return [(e.TRUE, run.value(ctx, argument)) for argument in node.args]


def _len(run: Evaluating, ctx: Context, node: ast.Call) -> Value:
    found = run.value(ctx, node.args[0])
    if isinstance(found, e.Expr) and isinstance(found.type, e.Queue):
        return e.length(found)
    if isinstance(found, SymArray):
        return e.Lit(len(found))
    if isinstance(found, SymSet):
        nothing: e.Expr = e.Lit(0)
        return reduce(e.add, (_number(bit) for bit in found.bits), nothing)
    if isinstance(found, Static) and hasattr(found.value, "__len__"):
        return e.Lit(len(found.value))
    raise run.refuse(node, f"{ast.unparse(node.args[0])} has no length")


def _any(run: Evaluating, ctx: Context, node: ast.Call) -> Value:
    return e.or_(*(e.and_(there, truth(item)) for there, item in _elements(run, ctx, node)))


def _all(run: Evaluating, ctx: Context, node: ast.Call) -> Value:
    return e.and_(*(e.implies(there, truth(item)) for there, item in _elements(run, ctx, node)))


def _sum(run: Evaluating, ctx: Context, node: ast.Call) -> Value:
    total = e.Lit(0)
    found: e.Expr = total
    for there, item in _elements(run, ctx, node):
        found = e.add(found, e.ite(there, _number(item), e.Lit(0)))
    return found


def _extreme(pick: Callable[[e.Expr, e.Expr], e.Expr]) -> Handler:
    def handler(run: Evaluating, ctx: Context, node: ast.Call) -> Value:
        found: e.Expr = e.FALSE
        best: e.Expr | None = None
        for there, item in _elements(run, ctx, node):
            value = _number(item)
            better = value if best is None else e.ite(found, pick(best, value), value)
            best = better if best is None else e.ite(there, better, best)
            found = e.or_(found, there)
        default = next((k.value for k in node.keywords if k.arg == "default"), None)
        if best is None or (found is not e.TRUE and default is None):
            raise run.refuse(
                node, f"{ast.unparse(node)} may be applied to nothing", "Give it a default=…"
            )
        return best if default is None else e.ite(found, best, run.number(ctx, default))
    return handler


def _abs(run: Evaluating, ctx: Context, node: ast.Call) -> Value:
    value = run.number(ctx, node.args[0])
    return e.ite(e.lt(value, e.Lit(0)), e.neg(value), value)


def _int(run: Evaluating, ctx: Context, node: ast.Call) -> Value:
    return run.number(ctx, node.args[0])


def _bool(run: Evaluating, ctx: Context, node: ast.Call) -> Value:
    return run.truth(ctx, node.args[0])


def _require(run: Evaluating, ctx: Context, node: ast.Call) -> Value:
    if not ctx.mutable:
        raise run.refuse(node, "require cannot stand inside an expression")
    condition = run.truth(ctx, node.args[0])
    named = [each for each in node.args[1:] if isinstance(each, ast.Name | ast.Attribute)]
    cited = [run.value(ctx, each) for each in named]
    ids = [each.value.id for each in cited
           if isinstance(each, Static) and isinstance(each.value, Rule)]
    ctx.require(condition, "".join(ids))
    return Static(None)


_FUNCTIONS: dict[str, Handler] = {
    "len": _len, "any": _any, "all": _all, "sum": _sum, "min": _extreme(e.min_),
    "max": _extreme(e.max_), "abs": _abs, "int": _int, "bool": _bool, "require": _require,
}
_OF_SEVERAL = ("min", "max")


def is_function(name: str) -> bool:
    """True if the notation has a built-in function of this name."""
    return name in _FUNCTIONS


def call(run: Evaluating, ctx: Context, name: str, node: ast.Call) -> Value:
    """A call of a built-in function. What CPython or the notation does not take is refused."""
    most = {"require": 2, **dict.fromkeys(_OF_SEVERAL, len(node.args))}.get(name, 1)
    named = {"default"} if name in _OF_SEVERAL and len(node.args) == 1 else set()
    if not 1 <= len(node.args) <= most or any(isinstance(each, ast.Starred) for each in node.args):
        raise run.refuse(node, f"{ast.unparse(node)}: {name} takes other arguments here")
    for keyword in node.keywords:
        if keyword.arg not in named:
            raise run.refuse(node, f"{ast.unparse(node)}: {name} takes no {keyword.arg} here")
    return _FUNCTIONS[name](run, ctx, node)
