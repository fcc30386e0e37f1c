"""Expressions of a chapter's source, evaluated on symbolic values.

What is not handled here is not part of the notation, and is refused with file and line.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import EnumMeta
from typing import Any, ClassVar

from . import builtins_ as known
from . import expr as e
from .errors import NotationError
from .machine import Machine, require
from .source import Source, source_of, text_of
from .symbolic import (
    Context, Static, SymArray, SymSet, Value, as_static, capacity, equal, integer, join,
    select, static_int, truth,
)

__all__ = ["Evaluator", "MachineRef", "Method"]

_ARITHMETIC: dict[type[ast.operator], Callable[[e.Expr, e.Expr], e.Expr]] = {
    ast.Add: e.add, ast.Sub: e.sub, ast.Mult: e.mul, ast.FloorDiv: e.floordiv, ast.Mod: e.mod,
}
_ORDER: dict[type[ast.cmpop], Callable[[e.Expr, e.Expr], e.Expr]] = {
    ast.Lt: e.lt, ast.LtE: e.le,
    ast.Gt: lambda a, b: e.lt(b, a), ast.GtE: lambda a, b: e.le(b, a),
}
_MISUSE = (
    ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError,
)
"""Exceptions while an expression is read that CPython would not evaluate either: too few arguments,
a number where a queue is needed."""
_SEE_DOCS = "docs/notation.md lists what actions and rules may contain."
MOST_ROUNDS = 100_000
_NOTATION = os.path.dirname(require.__code__.co_filename)
_LIBRARY = os.path.dirname(ast.__file__)


@dataclass(frozen=True)
class MachineRef:
    """``self``, or the machine after the step in a rule about steps."""

    after: bool = False


@dataclass(frozen=True)
class Method:
    """A function that may be inlined; ``on_machine`` if it takes ``self`` first, which is
    the machine after the step if ``after``."""

    function: Callable[..., Any]
    on_machine: bool
    after: bool = False


class Evaluator:
    """Evaluates expressions of one machine's methods under given constants."""

    def __init__(
        self, machine: type[Machine], constants: Mapping[str, Any],
        watch: Callable[[], None] = lambda: None,
    ) -> None:
        self.machine = machine
        self.constants = constants
        self.watch = watch  # asked at every statement and round of a loop; may raise
        self.after: dict[str, Value] = {}
        self.calls: list[Callable[..., Any]] = []

    @property
    def source(self) -> Source:
        """The function that is being read."""
        return source_of(self.calls[-1])

    def refuse(self, node: ast.AST, what: str, next_step: str = "") -> NotationError:
        """The error for a construct that the notation does not have."""
        return self.source.error(node, what, next_step or _SEE_DOCS)

    def run_function(self, ctx: Context, method: Method, args: dict[str, Value]) -> Value:
        """Inline a call; the executor of statements provides it."""
        raise NotImplementedError

    # --- entry points --------------------------------------------------------------

    def value(self, ctx: Context, node: ast.expr) -> Value:
        """The value of an expression."""
        handler = self._handlers.get(type(node))
        if handler is None:
            raise self.refuse(
                node, f"the notation has no {type(node).__name__} expression")
        try:
            return handler(self, ctx, node)
        except NotationError as error:
            if error.where:
                raise
            raise self.refuse(node, error.what, error.next_step) from None
        except _MISUSE as error:
            raise self.refuse(
                node, f"the notation cannot read {ast.unparse(node)}: {error}") from error

    def truth(self, ctx: Context, node: ast.expr) -> e.Expr:
        """The truth of an expression."""
        return truth(self.value(ctx, node))

    def number(self, ctx: Context, node: ast.expr) -> e.Expr:
        """An expression that must be an integer (or a truth value, as 0 or 1)."""
        found = integer(self.value(ctx, node))
        if found is None:
            raise self.refuse(node, f"{ast.unparse(node)} is not a number")
        return found

    # --- leaves --------------------------------------------------------------------

    def _constant(self, ctx: Context, node: ast.Constant) -> Value:
        return as_static(node.value)

    def _name(self, ctx: Context, node: ast.Name) -> Value:
        if node.id in ctx.names:
            return ctx.names[node.id]
        if node.id in self.source.names:
            return self._global(self.source.names[node.id])
        if known.is_function(node.id) or node.id in ("require", "super", "range"):
            return Static(node.id)
        raise self.refuse(
            node, f"the name {node.id} is not known here",
            "A local name must be assigned on every path before it is used.",
        )

    @staticmethod
    def _global(value: Any) -> Value:
        if value is require:
            return Static("require")
        if callable(value) and hasattr(value, "__code__"):
            return Static(Method(value, on_machine=False))
        return as_static(value)

    def _attribute(self, ctx: Context, node: ast.Attribute) -> Value:
        base = self.value(ctx, node.value)
        if isinstance(base, Static) and isinstance(base.value, MachineRef):
            return self._of_machine(ctx, node, base.value)
        if isinstance(base, e.Expr) and isinstance(base.type, e.Record):
            names = [name for name, _ in base.type.fields]
            if node.attr in names:
                return e.field(base, names.index(node.attr))
        if isinstance(base, Static) and hasattr(base.value, node.attr):
            return as_static(getattr(base.value, node.attr))
        raise self.refuse(node, f"{ast.unparse(node.value)} has no attribute {node.attr}")

    def _of_machine(self, ctx: Context, node: ast.Attribute, ref: MachineRef) -> Value:
        name = node.attr
        if name in self.machine.constants_declared:
            constant = self.constants[name]
            return constant if isinstance(constant, e.Expr) else as_static(constant)
        if name in self.machine.variables_declared:
            return self.after[name] if ref.after else ctx.state[name]
        found = getattr(self.machine, name, None)
        if found is None:
            raise self.refuse(
                node, f"{self.machine.__name__} has no attribute {name}",
                f"Declare it in the class, as in `{name} = integer(0, 3)`.")
        if hasattr(found, "__code__"):
            return Static(Method(found, on_machine=True, after=ref.after))
        return as_static(found)

    # --- operators --------------------------------------------------------------------

    def _binary(self, ctx: Context, node: ast.BinOp) -> Value:
        make = _ARITHMETIC.get(type(node.op))
        if make is None:
            raise self.refuse(node, f"the notation has no operator {type(node.op).__name__}")
        left, right = self.number(ctx, node.left), self.number(ctx, node.right)
        if make in (e.floordiv, e.mod):
            ctx.fault(e.eq(right, e.Lit(0)), "division by zero", self.source.where(node))
        return make(left, right)

    def _unary(self, ctx: Context, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return e.not_(self.truth(ctx, node.operand))
        if isinstance(node.op, ast.USub):
            return e.neg(self.number(ctx, node.operand))
        raise self.refuse(node, f"the notation has no operator {type(node.op).__name__}")

    def _boolean(self, ctx: Context, node: ast.BoolOp) -> Value:
        conjunction = isinstance(node.op, ast.And)
        parts: list[e.Expr] = []
        for operand in node.values:
            reached = e.and_(*parts) if conjunction else e.and_(*map(e.not_, parts))
            parts.append(self.truth(ctx.under(reached, mutable=False), operand))
        return e.and_(*parts) if conjunction else e.or_(*parts)

    def _compare(self, ctx: Context, node: ast.Compare) -> Value:
        values = [self.value(ctx, part) for part in (node.left, *node.comparators)]
        parts = [
            self._relation(node, operator, left, right)
            for operator, left, right in zip(node.ops, values, values[1:], strict=False)
        ]
        return e.and_(*parts)

    def _relation(self, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> e.Expr:
        if isinstance(op, ast.Eq):
            return equal(left, right)
        if isinstance(op, ast.NotEq):
            return e.not_(equal(left, right))
        if isinstance(op, ast.In):
            return known.contains(right, left)
        if isinstance(op, ast.NotIn):
            return e.not_(known.contains(right, left))
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(left, Static):
            same = isinstance(right, Static) and left.value is right.value
            return e.lit(same == isinstance(op, ast.Is))
        first, second = integer(left), integer(right)
        if type(op) in _ORDER and first is not None and second is not None:
            return _ORDER[type(op)](first, second)
        raise self.refuse(node, f"{ast.unparse(node)} compares what has no order")

    def _conditional(self, ctx: Context, node: ast.IfExp) -> Value:
        test = self.truth(ctx, node.test)
        if test is e.TRUE or test is e.FALSE:
            return self.value(ctx, node.body if test is e.TRUE else node.orelse)
        then = self.value(ctx.under(test, mutable=False), node.body)
        return join(test, then, self.value(ctx.under(e.not_(test), mutable=False), node.orelse))

    def _tuple(self, ctx: Context, node: ast.Tuple | ast.List) -> Value:
        return SymArray(tuple(self.value(ctx, part) for part in node.elts))

    def _subscript(self, ctx: Context, node: ast.Subscript) -> Value:
        base = self.value(ctx, node.value)
        if isinstance(node.slice, ast.Slice):
            raise self.refuse(node, "the notation has no slices")
        index = self.number(ctx, node.slice)
        if isinstance(base, Static) and isinstance(base.value, tuple):
            place = self.checked(ctx, node, index, len(base.value))
            fixed = static_int(place)
            if fixed is not None:  # the usual case; the whole table is never looked at
                return as_static(base.value[fixed])
            return select(SymArray(tuple(map(as_static, base.value))), place)
        if isinstance(base, SymArray):
            return select(base, self.checked(ctx, node, index, len(base)))
        if isinstance(base, e.Expr) and isinstance(base.type, e.Queue):
            size = e.length(base)
            known_index = static_int(index)
            if known_index is not None and known_index < 0:
                index = e.add(size, index)
            outside = e.or_(e.lt(index, e.Lit(0)), e.le(size, index))
            ctx.fault(outside, f"{text_of(node)} is out of range", self.source.where(node))
            return e.at(base, index)
        raise self.refuse(node, f"{ast.unparse(node.value)} cannot be indexed")

    def checked(self, ctx: Context, node: ast.Subscript, index: e.Expr, size: int) -> e.Expr:
        """An index into an array of known size; one that is out of range is a fault."""
        fixed = static_int(index)
        if fixed is not None:
            if not -size <= fixed < size:
                raise self.refuse(node, f"{ast.unparse(node)}: the index {fixed} is out of range")
            return e.Lit(fixed % size)
        kind = index.type
        bounded = isinstance(kind, e.Int) and isinstance(kind.hi, e.Lit) and kind.hi.value < size
        if not bounded:
            outside = e.or_(e.lt(index, e.Lit(0)), e.le(e.Lit(size), index))
            ctx.fault(outside, f"{text_of(node)} is out of range", self.source.where(node))
        return index

    # --- iteration --------------------------------------------------------------------

    def iterate(self, ctx: Context, node: ast.expr) -> list[tuple[e.Expr, Value]]:
        """The elements of an iterable, each with the condition that it is there at all."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("range", "upto"):  # a domain's values are those of a range
                return self._range(ctx, node)
            if node.func.id == "enumerate":
                inner = self.iterate(ctx, node.args[0])
                return [(c, SymArray((e.Lit(i), v))) for i, (c, v) in enumerate(inner)]
        found = self.value(ctx, node)
        if isinstance(found, SymArray):
            return [(e.TRUE, item) for item in found.items]
        if isinstance(found, SymSet):
            return [(b, e.Lit(int(m))) for m, b in zip(found.members, found.bits, strict=True)]
        if isinstance(found, e.Expr) and isinstance(found.type, e.Queue):
            size = e.length(found)
            positions = map(e.Lit, range(capacity(found.type)))
            return [(e.lt(p, size), e.at(found, p)) for p in positions]
        if isinstance(found, Static) and isinstance(found.value, tuple | range | EnumMeta):
            return [(e.TRUE, as_static(item)) for item in found.value]
        raise self.refuse(node, f"cannot iterate over {ast.unparse(node)}")

    def _range(self, ctx: Context, node: ast.Call) -> list[tuple[e.Expr, Value]]:
        bounds = [self.number(ctx, argument) for argument in node.args]
        fixed = [static_int(bound) for bound in bounds]
        if all(bound is not None for bound in fixed):
            try:
                rounds = range(*(b for b in fixed if b is not None))
            except (TypeError, ValueError) as error:
                raise self.refuse(node, f"{ast.unparse(node)}: {error}") from None
            if len(rounds) > MOST_ROUNDS:
                raise self.refuse(node, f"{ast.unparse(node)} goes round {len(rounds)} times, "
                                  f"more than {MOST_ROUNDS}", "Loop over fewer values.")
            return [(e.TRUE, e.Lit(i)) for i in rounds]
        top = known.upper(bounds[-1])
        start = 0 if len(bounds) == 1 else fixed[0]
        if top is None or start is None or len(bounds) > 2:
            raise self.refuse(
                node, f"{ast.unparse(node)} has no known bound",
                "Loop over a fixed range, a queue, or range(len(queue)).",
            )
        return [(e.lt(e.Lit(i), bounds[-1]), e.Lit(i)) for i in range(start, top)]

    def comprehension(
        self, ctx: Context, node: ast.GeneratorExp | ast.ListComp
    ) -> list[tuple[e.Expr, Value]]:
        """The elements of a generator expression, each with its condition."""
        found: list[tuple[e.Expr, Value]] = []

        def descend(inner: Context, generators: list[ast.comprehension], present: e.Expr) -> None:
            if not generators:
                found.append((present, self.value(inner, node.elt)))
                return
            first, *rest = generators
            for condition, item in self.iterate(inner, first.iter):
                here = inner.under(condition, mutable=False)
                self.watch()
                self.bind(here, first.target, item)
                kept = e.and_(present, condition)
                for test in first.ifs:
                    wanted = self.truth(here, test)
                    kept = e.and_(kept, wanted)
                    here = here.under(wanted, mutable=False)
                if kept is not e.FALSE:
                    descend(here, rest, kept)

        descend(ctx.under(e.TRUE, mutable=False), list(node.generators), e.TRUE)
        return found

    def bind(self, ctx: Context, target: ast.expr, value: Value) -> None:
        """Give a local name (or a tuple of names) its value."""
        if isinstance(target, ast.Name):
            ctx.names[target.id] = value
        elif isinstance(target, ast.Tuple):
            for name, part in zip(target.elts, self._parts(target, value), strict=True):
                self.bind(ctx, name, part)
        else:
            raise self.refuse(target, f"cannot assign to {ast.unparse(target)} here")

    def _parts(self, node: ast.Tuple, value: Value) -> tuple[Value, ...]:
        if isinstance(value, SymArray) and len(value) == len(node.elts):
            return value.items
        if isinstance(value, e.Expr) and isinstance(value.type, e.Record):
            return tuple(e.field(value, i) for i in range(len(value.type.fields)))
        if isinstance(value, Static) and isinstance(value.value, tuple):
            return tuple(map(as_static, value.value))
        raise self.refuse(node, "the two sides have different numbers of parts")

    # --- calls ---------------------------------------------------------------------------

    def _call(self, ctx: Context, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            special = self.method_call(ctx, node, node.func)
            if special is not None:
                return special
        target = self.value(ctx, node.func)
        if not isinstance(target, Static):
            raise self.refuse(node, f"{ast.unparse(node.func)} cannot be called")
        if isinstance(target.value, Method):
            if not _is_readable(target.value.function):
                raise self.refuse(node, f"the notation cannot call {ast.unparse(node.func)} here")
            return self._inline(ctx, node, target.value)
        if isinstance(target.value, type) and hasattr(target.value, "_fields"):
            return self._make_record(ctx, node, target.value)
        if isinstance(target.value, EnumMeta) and len(node.args) == 1:
            return self.value(ctx, node.args[0])
        name = target.value if isinstance(target.value, str) else ""
        name = name or getattr(target.value, "__name__", "")
        if known.is_function(name):
            return known.call(self, ctx, name, node)
        raise self.refuse(node, f"the notation cannot call {ast.unparse(node.func)}")

    def method_call(self, ctx: Context, node: ast.Call, func: ast.Attribute) -> Value | None:
        """A call of a container's method; the executor of statements handles those."""
        return None

    def _inline(self, ctx: Context, node: ast.Call, method: Method) -> Value:
        parameters = [a.arg for a in source_of(method.function).node.args.args]
        args: dict[str, Value] = {}
        if method.on_machine:
            args[parameters.pop(0)] = Static(MachineRef(method.after))
        for name, given in zip(parameters, node.args, strict=False):
            args[name] = self.value(ctx, given)
        for keyword in node.keywords:
            args[keyword.arg or ""] = self.value(ctx, keyword.value)
        return self.run_function(ctx, method, args)

    def _make_record(self, ctx: Context, node: ast.Call, factory: Any) -> Value:
        names: tuple[str, ...] = factory._fields
        given = dict(zip(names, (self.value(ctx, arg) for arg in node.args), strict=False))
        given.update({k.arg or "": self.value(ctx, k.value) for k in node.keywords})
        if set(given) != set(names):
            raise self.refuse(node, f"{factory.__name__} has the fields {', '.join(names)}")
        parts = [given[name] for name in names]
        if not all(isinstance(p, e.Expr) and isinstance(p.type, e.Int | e.Bool) for p in parts):
            raise self.refuse(node, "the fields of a record are numbers and truth values")
        values = [part for part in parts if isinstance(part, e.Expr)]
        kinds = tuple((n, v.type) for n, v in zip(names, values, strict=True))
        return e.record(e.Record(factory.__name__, kinds), *values)  # type: ignore[arg-type]

    _handlers: ClassVar[dict[type[ast.expr], Callable[[Any, Context, Any], Value]]] = {
        ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute,
        ast.BinOp: _binary, ast.UnaryOp: _unary, ast.BoolOp: _boolean,
        ast.Compare: _compare, ast.IfExp: _conditional, ast.Tuple: _tuple, ast.List: _tuple,
        ast.Subscript: _subscript, ast.Call: _call,
    }


def _is_readable(function: Callable[..., Any]) -> bool:
    """True for a function of a machine; false for one that declares machines, or of Python's
    library, with a text that was not written for an engine."""
    file = function.__code__.co_filename
    ours = function.__module__ == "checkvalve.spec.expectations"
    return not (ours or file.startswith((_NOTATION, _LIBRARY))) or "site-packages" in file
