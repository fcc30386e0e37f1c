"""Small mechanical changes of a method's text, one at a time.

Each mutant has a name that stays the same while other lines change: the method, what was done,
to which piece of text, and the how-manyeth of these it is.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, TypeGuard

__all__ = ["Edit", "Known", "edits", "further_edits"]


class Edit(NamedTuple):
    """One change of a method: ``words`` names it, ``make`` returns the method with it.

    Most are only named: a copy of the method is made where it is asked for.
    """

    words: str
    make: Callable[[], ast.FunctionDef]


class _Change(NamedTuple):
    """A change of a node: ``make`` returns what stands in its place."""

    words: str
    make: Callable[[], ast.AST]


Alike = Mapping[str, Sequence[str]]


class Known(NamedTuple):
    """What is known of a machine: the names of its constants, and of its variables that are
    numbers."""

    constants: Collection[str]
    numbers: Collection[str]

_NEAR: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE,), ast.LtE: (ast.Lt,), ast.Gt: (ast.GtE,), ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}
_OTHER: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}


def edits(method: ast.FunctionDef, alike: Alike = MappingProxyType({})) -> Iterator[Edit]:
    """Every change of a method's body, guards first.

    ``alike`` has for each variable of the machine the others of its kind, which one might have
    meant.
    """
    count: Counter[str] = Counter()
    nodes = [node for statement in method.body for node in ast.walk(statement)]
    for find in (_guards, _statements, _conditions, _numbers, _arithmetic, _arguments,
                 partial(_variables, alike)):
        for position, node in enumerate(nodes):
            for change in find(node):
                count[change.words] += 1
                nth = f" ({count[change.words]})" if count[change.words] > 1 else ""
                yield Edit(change.words + nth, partial(_with, method, position, change))


def further_edits(method: ast.FunctionDef, known: Known) -> Iterator[Edit]:
    """More changes of a method's body, for where those of ``edits`` are too few."""
    count: Counter[str] = Counter()
    nodes = [node for statement in method.body for node in ast.walk(statement)]
    parameters = [each.arg for each in method.args.args if each.arg != "self"]
    returns = ast.unparse(method.returns) if method.returns else ""
    for find in (_turned_guards, _branches, _connectives, _comparisons, _doubled,
                 partial(_named, known.constants, parameters), partial(_assigned, known.numbers),
                 partial(_returned, returns)):
        for position, node in enumerate(nodes):
            for change in find(node):
                count[change.words] += 1
                nth = f" ({count[change.words]})" if count[change.words] > 1 else ""
                yield Edit(change.words + nth, partial(_with, method, position, change))
    yield from _orders(method, nodes)


def _with(method: ast.FunctionDef, position: int, change: _Change) -> ast.FunctionDef:
    """A copy of the method in which the node at a position is replaced."""
    changed = copy.deepcopy(method)
    nodes = [node for statement in changed.body for node in ast.walk(statement)]
    _Replace(nodes[position], change.make()).visit(changed)
    return ast.fix_missing_locations(changed)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().visit(node)


# --- what can be changed -----------------------------------------------------------------------

def _guards(node: ast.AST) -> Iterator[_Change]:
    """A guard left out, or one of its conjuncts."""
    if not _is_require(node):
        return
    yield _Change(f"without {ast.unparse(node)}", ast.Pass)
    condition = node.value.args[0]  # type: ignore[attr-defined]
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
        for left_out in range(len(condition.values)):
            words = f"{ast.unparse(node)} without {ast.unparse(condition.values[left_out])}"
            yield _Change(words, partial(_without, node, left_out))


def _without(node: ast.Expr, left_out: int) -> ast.AST:
    changed = copy.deepcopy(node)
    values = changed.value.args[0].values  # type: ignore[attr-defined]
    del values[left_out]
    if len(values) == 1:
        changed.value.args[0] = values[0]  # type: ignore[attr-defined]
    return changed


def _is_require(node: ast.AST) -> TypeGuard[ast.Expr]:
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name) and node.value.func.id == "require")


def _statements(node: ast.AST) -> Iterator[_Change]:
    """An assignment to the state, or a call for its effect, left out or turned round."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in targets):
            yield _Change(f"without {ast.unparse(node)}", ast.Pass)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _is_require(node):
        yield _Change(f"without {ast.unparse(node)}", ast.Pass)
    if isinstance(node, ast.AugAssign) and type(node.op) in _OTHER:
        turned = ast.AugAssign(node.target, _OTHER[type(node.op)](), node.value)
        yield _Change(f"{ast.unparse(turned)} for {ast.unparse(node)}",
                      lambda: copy.deepcopy(turned))


def _conditions(node: ast.AST) -> Iterator[_Change]:
    """A comparison moved by one or turned round, a connective swapped, a branch turned round."""
    if isinstance(node, ast.Compare):
        for position, operator in enumerate(node.ops):
            for near in _NEAR.get(type(operator), ()):
                ops = [*node.ops[:position], near(), *node.ops[position + 1:]]
                yield _in_place_of(node, ast.Compare(node.left, ops, node.comparators))
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _in_place_of(node, ast.BoolOp(other, node.values))
    elif isinstance(node, ast.If | ast.IfExp):
        turned = copy.deepcopy(node)
        turned.test = ast.UnaryOp(ast.Not(), turned.test)
        yield _Change(f"not ({ast.unparse(node.test)}) as the condition",
                      lambda: copy.deepcopy(turned))


def _numbers(node: ast.AST) -> Iterator[_Change]:
    """A number one larger or smaller, a truth value turned round."""
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield _in_place_of(node, ast.Constant(not node.value))
    elif isinstance(node.value, int):
        yield _in_place_of(node, ast.Constant(node.value + 1))
        yield _in_place_of(node, ast.Constant(node.value - 1))


def _arithmetic(node: ast.AST) -> Iterator[_Change]:
    """A sum turned round, or one operand of an operation alone."""
    if isinstance(node, ast.BinOp):
        if type(node.op) in _OTHER:
            yield _in_place_of(node, ast.BinOp(node.left, _OTHER[type(node.op)](), node.right))
        yield _in_place_of(node, node.left)


def _arguments(node: ast.AST) -> Iterator[_Change]:
    """The first two arguments of a call swapped."""
    if isinstance(node, ast.Call) and len(node.args) > 1:
        first, second, *rest = node.args
        yield _in_place_of(node, ast.Call(node.func, [second, first, *rest], node.keywords))


def _variables(alike: Alike, node: ast.AST) -> Iterator[_Change]:
    """Another variable of the same kind."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) \
            and node.value.id == "self":
        for other in alike.get(node.attr, ()):
            yield _in_place_of(node, ast.Attribute(node.value, other, node.ctx))


def _in_place_of(old: ast.expr, new: ast.expr) -> _Change:
    return _Change(f"{ast.unparse(new)} for {ast.unparse(old)}", lambda: copy.deepcopy(new))


# --- what else can be changed ------------------------------------------------------------------

_FURTHER: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.GtE, ast.Gt, ast.Eq), ast.LtE: (ast.Gt, ast.GtE, ast.Eq),
    ast.Gt: (ast.LtE, ast.Lt, ast.Eq), ast.GtE: (ast.Lt, ast.LtE, ast.Eq),
    ast.Eq: (ast.LtE, ast.GtE), ast.NotEq: (ast.Lt, ast.Gt),
}
_COUNTERPARTS = {"all": "any", "any": "all", "min": "max", "max": "min"}


def _turned_guards(node: ast.AST) -> Iterator[_Change]:
    """A guard that asks for the opposite."""
    if _is_require(node):
        turned = copy.deepcopy(node)
        called = turned.value
        assert isinstance(called, ast.Call)
        called.args[0] = ast.UnaryOp(ast.Not(), called.args[0])
        yield _Change(f"{ast.unparse(turned)} for {ast.unparse(node)}", lambda: turned)


def _branches(node: ast.AST) -> Iterator[_Change]:
    """A branch that is always taken, or never."""
    if isinstance(node, ast.If | ast.IfExp):
        for word, value in (("always", True), ("never", False)):
            changed = copy.deepcopy(node)
            changed.test = ast.Constant(value)
            yield _Change(f"{word} as if {ast.unparse(node.test)}", partial(_itself, changed))


def _itself(node: ast.AST) -> ast.AST:
    return node


def _connectives(node: ast.AST) -> Iterator[_Change]:
    """One operand of a connective left out, or a negation."""
    if isinstance(node, ast.BoolOp):
        for left_out in range(len(node.values)):
            values = [*node.values[:left_out], *node.values[left_out + 1:]]
            yield _in_place_of(
                node, values[0] if len(values) == 1 else ast.BoolOp(node.op, values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _in_place_of(node, node.operand)


def _comparisons(node: ast.AST) -> Iterator[_Change]:
    """A comparison by another relation, and the counterpart of ``all``, ``any``, ``min``, ``max``.
    """
    if isinstance(node, ast.Compare):
        for position, operator in enumerate(node.ops):
            for other in _FURTHER.get(type(operator), ()):
                ops = [*node.ops[:position], other(), *node.ops[position + 1:]]
                yield _in_place_of(node, ast.Compare(node.left, ops, node.comparators))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) \
            and node.func.id in _COUNTERPARTS:
        name = ast.Name(_COUNTERPARTS[node.func.id], ast.Load())
        yield _in_place_of(node, ast.Call(name, node.args, node.keywords))


def _doubled(node: ast.AST) -> Iterator[_Change]:
    """A change of the state made twice."""
    if isinstance(node, ast.AugAssign) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            and not _is_require(node)):
        yield _Change(f"{ast.unparse(node)} twice", partial(_twice, node))


def _twice(node: ast.stmt) -> ast.AST:
    return ast.If(ast.Constant(True), [copy.deepcopy(node), copy.deepcopy(node)], [])


def _named(
    constants: Collection[str], parameters: Sequence[str], node: ast.AST
) -> Iterator[_Change]:
    """A constant one larger or smaller, and another parameter of the action."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) \
            and node.value.id == "self" and node.attr in constants:
        yield from _moved(node)
    elif isinstance(node, ast.Name) and node.id in parameters:
        for other in parameters:
            if other != node.id:
                yield _in_place_of(node, ast.Name(other, ast.Load()))


def _moved(node: ast.expr) -> Iterator[_Change]:
    yield _in_place_of(node, ast.BinOp(node, ast.Add(), ast.Constant(1)))
    yield _in_place_of(node, ast.BinOp(node, ast.Sub(), ast.Constant(1)))


def _assigned(numbers: Collection[str], node: ast.AST) -> Iterator[_Change]:
    """What is assigned to a variable one larger or smaller."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        while isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(target, ast.Attribute) and target.attr in numbers:
            for change in _moved(node.value):
                changed = copy.deepcopy(node)
                value = change.make()
                assert isinstance(value, ast.expr)
                changed.value = value
                yield _Change(f"{ast.unparse(changed)} for {ast.unparse(node)}",
                              partial(_itself, changed))


def _returned(returns: str, node: ast.AST) -> Iterator[_Change]:
    """What a method says turned round, or one larger or smaller."""
    if isinstance(node, ast.Return) and node.value is not None:
        if returns == "bool":
            turned = ast.Return(ast.UnaryOp(ast.Not(), node.value))
            yield _Change(f"{ast.unparse(turned)} for {ast.unparse(node)}",
                          lambda: copy.deepcopy(turned))
        elif returns == "int":
            for change in _moved(node.value):
                value = change.make()
                assert isinstance(value, ast.expr)
                moved = ast.Return(value)
                yield _Change(f"{ast.unparse(moved)} for {ast.unparse(node)}",
                              partial(_itself, moved))


def _orders(method: ast.FunctionDef, nodes: Sequence[ast.AST]) -> Iterator[Edit]:
    """Two neighbouring statements in the other order."""
    place_of = {node: place for place, node in enumerate(nodes)}
    bodies = [method.body, *(node.body for node in nodes if isinstance(node, ast.If | ast.For)),
              *(node.orelse for node in nodes if isinstance(node, ast.If))]
    count: Counter[str] = Counter()
    for body in bodies:
        for first, second in zip(body, body[1:], strict=False):
            words = f"{_begin(second)} before {_begin(first)}"
            count[words] += 1
            nth = f" ({count[words]})" if count[words] > 1 else ""
            yield Edit(words + nth, partial(_swapped, method, place_of[first], place_of[second]))


def _begin(statement: ast.stmt) -> str:
    return ast.unparse(statement).partition("\n")[0]


def _swapped(method: ast.FunctionDef, first: int, second: int) -> ast.FunctionDef:
    changed = copy.deepcopy(method)
    nodes = [node for statement in changed.body for node in ast.walk(statement)]
    one, other = copy.deepcopy(nodes[first]), copy.deepcopy(nodes[second])
    _Replace(nodes[second], one).visit(changed)
    _Replace(nodes[first], other).visit(changed)
    return ast.fix_missing_locations(changed)
