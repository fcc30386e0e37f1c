"""Parameters of a design: numbers by name, from which other numbers are computed.

``parameters: {n: 4, room: 2*n + 1}`` at the top of a file; wherever the language wants a whole
number there may be an expression of them, and ``expect`` may say under which condition a verdict
is wanted. ``n: 1..8`` has a design for each value, and a file with several such for each choice.
All of this is done on the tree that was read, before its shape is checked: what follows knows
numbers only.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import gcd, prod
from typing import Any, Final

from ...notation.errors import InputError
from .schema import check_shape, until_closed
from .source import Node

__all__ = [
    "MAX_POINTS", "Point", "computed", "expected", "point_with", "points", "range_of", "range_said",
    "resolved", "value_of", "with_given",
]

MAX_POINTS: Final = 1_000
"""Designs that one file may stand for."""
_MAX_TEXT: Final = 200
_MAX_NUMBER: Final = 10**18

Point = Mapping[str, int]
"""A value for each parameter, in the order of the file."""

_NUMBERS: Final = {
    "capacity", "batch", "initial", "gives", "takes", "lossy", "hand", "count", "repeat", "up-to",
    "threads", "depth",
    "roots", "copies", "kinds", "size", "slide", "stop", "go", "lag",
}
"""The keys with a whole number as value."""
_BY_LINK: Final = {"gives", "takes"}
"""Those that a transition may have, with a number for each link."""
_VERDICTS: Final = {"holds": "violated", "violated": "holds"}
_RANGE: Final = re.compile(r"\s*(-?\d{1,18})\s*\.\.\s*(-?\d{1,18})\s*")


def points(root: Node, file: str, given: Mapping[str, str]) -> list[Point]:
    """Every choice of values for the parameters of a file; one without any has one, of none.

    ``given`` has values that take the place of those in the file, as text: a number, a range
    ``1..8``, or an expression of the parameters before it. Raises InputError, with the line, for
    what is no number, and for more than ``MAX_POINTS`` choices.
    """
    check_shape(root, file, "parameters")
    nodes = _nodes(root, file, given)
    sizes = {name: range_said(node.value, name, f"--set {name}={given[name][:40]}")
             if name in given else range_of(node, name, file) for name, node in nodes.items()}
    count = prod(len(values) for values in sizes.values() if values is not None)
    if count > MAX_POINTS:
        swept = next(node for name, node in nodes.items() if sizes[name] is not None)
        raise InputError(f"the parameters have {count} choices of values, more than {MAX_POINTS}",
                         f"{file}:{swept.spot}", "Narrow the ranges, as with `--set n=1..8`.")
    return [_point(nodes, dict(zip(sizes, chosen, strict=True)), file)
            for chosen in product(*(values or [None] for values in sizes.values()))]


def point_with(
    root: Node, file: str, given: Mapping[str, str], values: Mapping[str, Any]
) -> Point:
    """The point at which some parameters have these ``values``, which may be symbols (see
    ``symbols``); the others have what follows from them, or the first of their range."""
    chosen: dict[str, Any] = {}
    nodes = _nodes(root, file, given)
    for name, node in nodes.items():
        found = None if name in values else range_of(node, name, file)
        chosen[name] = values.get(name) if found is None else found[0]
    return _point(nodes, chosen, file)


def with_given(root: Node, file: str, given: Mapping[str, str]) -> Node:
    """The tree with what is ``given`` in place of what the file says of its parameters."""
    nodes = _nodes(root, file, given)
    if not nodes:
        return root
    declared = replace(root.value["parameters"], value=nodes)
    return replace(root, value={**root.value, "parameters": declared})


def resolved(root: Node, point: Point, file: str) -> Node:
    """The tree with its expressions computed and its conditions decided, without ``parameters``.

    Raises InputError, with the line, for an expression that is none.
    """
    if not isinstance(root.value, dict) or not _declared(root):
        return root
    kept = {key: child for key, child in root.value.items() if key != "parameters"}
    if isinstance(expect := kept.get("expect"), Node):
        kept["expect"] = expected(expect, point, file)
    return replace(root, value={key: computed(child, point, file) for key, child in kept.items()})


def expected(expect: Node, point: Point, file: str) -> Node:
    """The expected verdicts, with their conditions decided."""
    if not isinstance(expect.value, dict):
        return expect
    return replace(expect, value={
        key: _expected(child, point, file) for key, child in expect.value.items()})


def _declared(root: Node) -> dict[str, Node]:
    """The parameters as they are written."""
    node = root.value.get("parameters") if isinstance(root.value, dict) else None
    return {} if node is None else dict(node.value)


def _nodes(root: Node, file: str, given: Mapping[str, str]) -> dict[str, Node]:
    """The parameters with what they are: what is ``given``, or what the file says."""
    declared = _declared(root)
    for name in given:
        if name not in declared:
            known = f"Its parameters are: {', '.join(declared)}." if declared else (
                "Give it some: `parameters: {n: 4}`.")
            raise InputError(f"the design has no parameter called {name[:40]!r}", file, known)
    return {name: replace(node, value=given.get(name, node.value))
            for name, node in declared.items()}


def range_of(node: Node, name: str, file: str) -> range | None:
    """The values of a range; None for what is a single value. Raises InputError for a range that
    has none."""
    return range_said(node.value, name, f"{file}:{node.spot}")


def range_said(value: Any, name: str, where: str) -> range | None:
    """As ``range_of``, of a value that stands anywhere: on a command line, too."""
    found = _RANGE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    low, high = map(int, found.groups())
    if low > high:
        raise InputError(f"{name[:40]!r} has no value: {low} is more than {high}", where,
                         "Write the smaller number first.")
    return range(low, high + 1)


def _point(nodes: Mapping[str, Node], chosen: Mapping[str, int | None], file: str) -> Point:
    point: dict[str, int] = {}
    for name, node in nodes.items():
        value = chosen[name]
        point[name] = value_of(node, point, file) if value is None else value
    return point


def computed(node: Node, point: Point, file: str, key: str = "") -> Node:
    """A part of the tree, which stands under ``key``, with its expressions computed."""
    if isinstance(node.value, dict):
        return replace(node, value={
            name: computed(child, point, file, key if key in _BY_LINK else name)
            for name, child in node.value.items()})
    if isinstance(node.value, list) and key == "kinds":
        return node  # their names
    if key == "of" and isinstance(node.value, str) and _names(node.value) <= {*point}:
        return replace(node, value=value_of(node, point, file))
    if isinstance(node.value, list):
        return replace(node, value=[computed(child, point, file) for child in node.value])
    if key in _NUMBERS and isinstance(node.value, str):
        return replace(node, value=value_of(node, point, file))
    return node


def _expected(node: Node, point: Point, file: str) -> Node:
    """``{violated: CONDITION}`` as the verdict that it comes to; also below ``no-starvation``."""
    if not isinstance(node.value, dict):
        return node
    if len(node.value) == 1:
        (verdict, condition), = node.value.items()
        if verdict in _VERDICTS and isinstance(condition.value, str) \
                and condition.value not in _VERDICTS:
            is_so = _evaluated(condition, point, file)
            return Node(verdict if is_so else _VERDICTS[verdict], condition.spot)
    return replace(node, value={
        task: _expected(child, point, file) for task, child in node.value.items()})


# --- expressions ---------------------------------------------------------------------------

_BINARY: Final[Mapping[type[ast.AST], Callable[[int, int], int]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}
_COMPARED: Final[Mapping[type[ast.AST], Callable[[int, int], bool]]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}
_FUNCTIONS: Final[Mapping[str, Callable[..., int]]] = {"min": min, "max": max, "gcd": gcd}


def _names(text: str) -> set[str]:
    """The names in an expression; of what is none, the whole."""
    try:
        return {each.id for each in ast.walk(ast.parse(text, mode="eval"))
                if isinstance(each, ast.Name)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {text}


class _Wrong(Exception):
    """An error in an expression: what is wrong, and what to do about it."""


def value_of(node: Node, point: Point, file: str) -> int:
    """The number that a node stands for; raises InputError, with the line, if it is none."""
    value = _evaluated(node, point, file)
    if isinstance(value, bool):
        raise _refusal(node, "it is a condition and no number", file)
    return value


def _evaluated(node: Node, point: Point, file: str) -> int:
    if isinstance(node.value, int):
        return node.value
    text = str(node.value)
    if len(text) > _MAX_TEXT:
        raise _refusal(node, f"it has more than {_MAX_TEXT} characters", file)
    try:
        return _of(ast.parse(text.strip(), mode="eval").body, point)
    except _Wrong as wrong:
        raise _refusal(node, str(wrong), file) from None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _refusal(node, "it is no expression", file) from None


def _refusal(node: Node, why: str, file: str) -> InputError:
    text = str(node.value)
    shown = text if len(text) <= 60 else text[:57] + "…"
    return InputError(
        f"{shown!r} cannot be computed: {why}", f"{file}:{node.spot}", until_closed(text) +
        "Write a whole number, or parameters with + - * // %, min, max, gcd (in quotes, if there "
        "is a comma); in a condition also < <= > >= == !=, and, or, not.")


def _of(tree: ast.expr, point: Point) -> int:
    """The value of an expression; Python's own reader made the tree, and nothing of it is run."""
    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return _bounded(tree.value)
    if isinstance(tree, ast.Name):
        if tree.id not in point:
            known = f"; there are {', '.join(point)}" if point else ""
            raise _Wrong(f"there is no parameter {tree.id[:40]!r} before it{known}")
        return point[tree.id]
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_of(tree.operand, point)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return not _of(tree.operand, point)
    if isinstance(tree, ast.BinOp) and type(tree.op) in _BINARY:
        left, right = _of(tree.left, point), _of(tree.right, point)
        if right == 0 and isinstance(tree.op, ast.FloorDiv | ast.Mod):
            raise _Wrong("it divides by 0")
        return _bounded(_BINARY[type(tree.op)](left, right))
    if isinstance(tree, ast.Compare):
        return all(_comparisons(tree, point))
    if isinstance(tree, ast.BoolOp):
        parts = [bool(_of(part, point)) for part in tree.values]
        return all(parts) if isinstance(tree.op, ast.And) else any(parts)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords \
            and tree.func.id in _FUNCTIONS and len(tree.args) == 2:
        return _FUNCTIONS[tree.func.id](*(_of(part, point) for part in tree.args))
    raise _Wrong(f"{ast.unparse(tree)[:40]!r} means nothing here")


def _comparisons(tree: ast.Compare, point: Point) -> Iterator[bool]:
    """Each of ``a < b <= c`` by itself."""
    values = [_of(part, point) for part in (tree.left, *tree.comparators)]
    for compare, left, right in zip(tree.ops, values, values[1:], strict=False):
        if type(compare) not in _COMPARED:
            raise _Wrong("it compares in a way that means nothing here")
        yield _COMPARED[type(compare)](left, right)


def _bounded(value: int) -> int:
    if not -_MAX_NUMBER <= value <= _MAX_NUMBER:
        raise _Wrong("a number in it is too large")
    return value
