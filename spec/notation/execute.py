"""Statements of a chapter's source, executed on symbolic values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from typing import Any

from . import expr as e
from .errors import NotationError
from .source import source_of, text_of
from .symbolic import (
    Context, Static, SymArray, SymSet, Value, integer, join, replace, truth,
)
from .translate import Evaluator, MachineRef, Method

__all__ = ["Executor"]

Change = Callable[[Value, e.Expr], Value]


class Executor(Evaluator):
    """Runs the body of an action, or inlines a helper."""

    def run_function(self, ctx: Context, method: Method, args: dict[str, Value]) -> Value:
        """Inline a function with its arguments; its effects are on ``ctx.state``."""
        if self.calls.count(method.function) > 0:
            name = method.function.__name__
            raise self.refuse(source_of(method.function).node, f"{name} calls itself")
        source = source_of(method.function)
        parameters = source.node.args
        positional = parameters.args[len(parameters.args) - len(parameters.defaults):]
        self.calls.append(method.function)
        try:
            for parameter, default in zip(positional, parameters.defaults, strict=True):
                if parameter.arg not in args:
                    args[parameter.arg] = self.value(ctx, default)
            inner = ctx.call(dict(args))
            self.block(inner, source.node.body)
            return Static(None) if inner.returned is None else inner.returned
        finally:
            self.calls.pop()

    # --- blocks -------------------------------------------------------------------------

    def block(self, ctx: Context, statements: list[ast.stmt]) -> None:
        """Run statements in order, until one returns."""
        for position, statement in enumerate(statements):
            if isinstance(statement, ast.If) and _returns(statement):
                rest = statements[position + 1:]
                self._branch(ctx, statement, [*statement.body, *rest], [*statement.orelse, *rest])
                return
            self.watch()
            self._statement(ctx, statement)
            if isinstance(statement, ast.Return):
                return

    def _statement(self, ctx: Context, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr):
            if not (isinstance(node.value, ast.Constant)  # a docstring
                    or self._only_looks(ctx, node.value)):
                self.value(ctx, node.value)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            self._assign(ctx, node)
        elif isinstance(node, ast.AugAssign):
            self._augment(ctx, node)
        elif isinstance(node, ast.If):
            self._branch(ctx, node, node.body, node.orelse)
        elif isinstance(node, ast.For):
            self._loop(ctx, node)
        elif isinstance(node, ast.Return):
            ctx.returned = Static(None) if node.value is None else self.value(ctx, node.value)
        elif isinstance(node, ast.Assert):
            wrong = e.not_(self.truth(ctx, node.test))
            ctx.fault(wrong, f"the assertion {text_of(node.test)} fails",
                      self.source.where(node))
        elif not isinstance(node, ast.Pass):
            raise self.refuse(
                node, f"the notation has no {type(node).__name__} statement")

    def _only_looks(self, ctx: Context, node: ast.expr) -> bool:
        """True for a call of ``print`` or ``breakpoint``, which are there for runs with CPython."""
        return (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                and node.func.id in ("print", "breakpoint")
                and node.func.id not in ctx.names and node.func.id not in self.source.names)

    def _branch(
        self, ctx: Context, node: ast.If, body: list[ast.stmt], orelse: list[ast.stmt]
    ) -> None:
        """Run both branches on copies, and join them; a row of ``elif`` without recursion."""
        joints: list[tuple[Context, e.Expr, Context, Context, ast.If]] = []
        while True:
            self.watch()
            test = self.truth(ctx, node.test)
            if test is e.TRUE:
                self.block(ctx, body)
                break
            if test is not e.FALSE:
                then, otherwise = (
                    ctx.under(way, mutable=True) for way in (test, e.not_(test)))
                self.block(then, body)
                joints.append((ctx, test, then, otherwise, node))
                ctx = otherwise
            following = _only_if(orelse)
            if following is None:
                self.block(ctx, orelse)
                break
            node, rest = following, orelse[1:]
            body, orelse = [*node.body, *rest], [*node.orelse, *rest]
        for joint in reversed(joints):
            self._merge(*joint)

    def _merge(
        self, ctx: Context, test: e.Expr, then: Context, otherwise: Context, node: ast.AST
    ) -> None:
        """Join the two ways of an if: what differs becomes a choice; a name of one way alone is
        unknown."""
        for name in ctx.state:
            ctx.state[name] = join(test, then.state[name], otherwise.state[name])
        both = then.names.keys() & otherwise.names.keys()
        for name in sorted(then.names.keys() | otherwise.names.keys()):
            try:
                if name not in both:
                    raise NotationError("assigned on one path only")
                ctx.names[name] = join(test, then.names[name], otherwise.names[name])
            except (NotationError, TypeError):
                ctx.names.pop(name, None)  # using it later is refused as an unknown name
        if then.returned is not None and otherwise.returned is not None:
            ctx.returned = join(test, then.returned, otherwise.returned)
        elif then.returned is not None or otherwise.returned is not None:
            given = then.returned or otherwise.returned
            if not (isinstance(given, Static) and given.value is None):
                raise self.refuse(node, "one path returns a value and another does not")

    def _loop(self, ctx: Context, node: ast.For) -> None:
        if node.orelse or _leaves_early(node):
            raise self.refuse(node, "a loop cannot be left early in the notation")
        for condition, item in self.iterate(ctx, node.iter):
            self.watch()
            if condition is e.TRUE:
                self.bind(ctx, node.target, item)
                self.block(ctx, node.body)
            elif condition is not e.FALSE:
                inside = ctx.under(condition, mutable=True)
                outside = ctx.under(e.not_(condition), mutable=True)
                self.bind(inside, node.target, item)
                self.block(inside, node.body)
                self._merge(ctx, condition, inside, outside, node)

    # --- assignment -------------------------------------------------------------------------

    def _assign(self, ctx: Context, node: ast.Assign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is None:
            raise self.refuse(node, "a declaration without a value")
        value = self.value(ctx, node.value)
        for target in targets:
            if isinstance(target, ast.Name | ast.Tuple):
                self.bind(ctx, target, value)
            else:
                self._store(ctx, target, value)

    def _augment(self, ctx: Context, node: ast.AugAssign) -> None:
        operation = ast.BinOp(_as_load(node.target), node.op, node.value)
        value = self.value(ctx, ast.copy_location(operation, node))
        if isinstance(node.target, ast.Name):
            ctx.names[node.target.id] = value
        else:
            self._store(ctx, node.target, value)

    def _store(self, ctx: Context, target: ast.expr, value: Value) -> None:
        def change(old: Value, here: e.Expr) -> Value:
            return self.coerce(target, value, old)
        self.write(ctx, target, change)

    def coerce(self, node: ast.AST, value: Value, old: Value) -> Value:
        """A value in the form of what it replaces: the slot's own type."""
        if isinstance(old, e.Expr) and isinstance(value, e.Expr):
            return self.coerce_to(node, value, old.type)
        if isinstance(old, SymArray) and isinstance(value, SymArray):
            pairs = zip(value.items, old.items, strict=True)
            return SymArray(tuple(self.coerce(node, new, was) for new, was in pairs))
        if isinstance(old, SymSet) and isinstance(value, SymSet):
            return value
        raise self.refuse(node, "the value is of another kind than the variable")

    def coerce_to(self, node: ast.AST, value: e.Expr, kind: e.SlotType) -> e.Expr:
        """A scalar, record or queue in the declared type."""
        if isinstance(kind, e.Bool):
            return truth(value)
        if isinstance(kind, e.Int):
            number = integer(value)
            if number is not None:
                return number
        if isinstance(kind, e.Record) and isinstance(value.type, e.Record):
            if value.type == kind:
                return value
            parts = (e.field(value, i) for i in range(len(kind.fields)))
            return e.record(kind, *(
                self.coerce_to(node, part, field)
                for part, (_, field) in zip(parts, kind.fields, strict=True)
            ))
        if isinstance(kind, e.Queue) and value.type == kind:
            return value
        raise self.refuse(node, "the value is of another kind than what it is stored in")

    def write(self, ctx: Context, target: ast.expr, change: Change) -> None:
        """Replace the value at a place by ``change(old, condition of being the place)``."""
        if not ctx.mutable:
            raise self.refuse(target, "an operand that may not be evaluated cannot have effects")
        if isinstance(target, ast.Attribute):
            base = self.value(ctx, target.value)
            if base == Static(MachineRef()) and target.attr in ctx.state:
                ctx.state[target.attr] = change(ctx.state[target.attr], e.TRUE)
                return
        if isinstance(target, ast.Subscript):
            index = self.number(ctx, target.slice)

            def inside(old: Value, here: e.Expr) -> Value:
                if not isinstance(old, SymArray):
                    raise self.refuse(target, "only an array's elements can be replaced")
                place = self.checked(ctx, target, index, len(old))
                return replace(old, place, lambda item, at: change(item, e.and_(here, at)))
            self.write(ctx, target.value, inside)
            return
        raise self.refuse(
            target, f"cannot assign to {ast.unparse(target)}",
            "Assign to the machine's variables, their elements, or local names.",
        )

    # --- methods of containers ---------------------------------------------------------------

    def method_call(self, ctx: Context, node: ast.Call, func: ast.Attribute) -> Value | None:
        """A call of a queue's or a set's method, or of ``super()``; None for others."""
        if _is_super(func.value):
            return self._super(ctx, node, func.attr)
        if func.attr not in ("push", "pop", "clear", "add", "discard", "_replace"):
            return None
        place = self.value(ctx, func.value)
        if not isinstance(place, e.Expr | SymSet):
            return None
        args = [self.value(ctx, argument) for argument in node.args]
        place = self.value(ctx, func.value)  # again: an argument may have changed it
        if isinstance(place, e.Expr) and isinstance(place.type, e.Queue):
            return self._queue_method(ctx, node, func, place, args)
        if isinstance(place, SymSet):
            return self._set_method(ctx, func, args)
        if isinstance(place, e.Expr) and isinstance(place.type, e.Record):
            return self._replaced(ctx, node, place, place.type)
        return None

    def _super(self, ctx: Context, node: ast.Call, name: str) -> Value:
        current = self.calls[-1]
        order = list(self.machine.__mro__)
        here = next(i for i, c in enumerate(order) if current in vars(c).values())
        for cls in order[here + 1:]:
            if name in vars(cls):
                return self._inline(ctx, node, Method(vars(cls)[name], on_machine=True))
        raise self.refuse(node, f"no base of {order[here].__name__} defines {name}")

    def _queue_method(
        self, ctx: Context, node: ast.Call, func: ast.Attribute, queue: e.Expr,
        args: list[Value],
    ) -> Value:
        kind = queue.type
        assert isinstance(kind, e.Queue)
        size = e.length(queue)
        if func.attr == "pop":
            ctx.require(e.lt(e.Lit(0), size))
            self.write(ctx, func.value, lambda old, _: e.pop(_as_expr(old)))
            return e.at(queue, e.Lit(0))
        if func.attr == "clear":
            self.write(ctx, func.value, lambda old, _: e.EmptyQueue(kind))
            return Static(None)
        if func.attr != "push" or not isinstance(args[0], e.Expr):
            raise self.refuse(node, f"a sequence has no method {func.attr}")
        full = e.le(kind.capacity, size)
        ctx.fault(full, f"a push to {text_of(func.value)}, which is full",
                  self.source.where(node))
        element = self.coerce_to(node, args[0], kind.element)
        self.write(ctx, func.value, lambda old, _: e.push(_as_expr(old), element))
        return Static(None)

    def _set_method(self, ctx: Context, func: ast.Attribute, args: list[Value]) -> Value:
        present = e.lit(func.attr == "add")
        clear = func.attr == "clear"
        member = None if clear else integer(args[0])

        def change(old: Value, _: e.Expr) -> Value:
            assert isinstance(old, SymSet)
            bits = tuple(
                e.FALSE if member is None
                else e.ite(e.eq(member, e.Lit(int(value))), present, bit)
                for value, bit in zip(old.members, old.bits, strict=True)
            )
            return SymSet(old.members, bits)
        self.write(ctx, func.value, change)
        return Static(None)

    def _replaced(self, ctx: Context, node: ast.Call, value: e.Expr, kind: e.Record) -> Value:
        changes = {k.arg: self.value(ctx, k.value) for k in node.keywords}
        parts: list[e.Expr] = []
        for index, (name, field) in enumerate(kind.fields):
            new = changes.get(name)
            old = e.field(value, index)
            parts.append(self.coerce_to(node, new, field) if isinstance(new, e.Expr) else old)
        return e.record(kind, *parts)


def _as_expr(value: Value) -> e.Expr:
    assert isinstance(value, e.Expr)
    return value


@cache
def _as_load(node: ast.expr) -> ast.expr:
    copy: Any = ast.parse(ast.unparse(node), mode="eval").body
    for part in ast.walk(copy):
        if hasattr(part, "lineno"):
            part.lineno = node.lineno
    return copy  # type: ignore[no-any-return]


def _only_if(statements: list[ast.stmt]) -> ast.If | None:
    """The ``if`` that a list of statements begins with, if the rest of the list belongs to it."""
    first = statements[0] if statements else None
    if isinstance(first, ast.If) and (len(statements) == 1 or _returns(first)):
        return first
    return None


def _is_super(node: ast.expr) -> bool:
    return (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            and node.func.id == "super" and not node.args)


@cache
def _returns(statement: ast.If) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(statement))


@cache
def _leaves_early(loop: ast.For) -> bool:
    return any(isinstance(node, ast.Break | ast.Continue | ast.Return)
               for part in loop.body for node in ast.walk(part))

