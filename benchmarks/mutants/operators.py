"""The operators: what a mutant changes, on the syntax tree of one function.

Only the bodies of functions are changed, and in them only what decides something: no
docstrings, messages, annotations, nor what a `raise` raises. The change is made in the text of
the file, so that all other lines stay where they are.
"""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

__all__ = ["OPERATORS", "Mutant", "mutants_of", "names_in"]

_SHOWN: Final = 100
"""Characters of a change that are shown."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mutant:
    """One change to the text of one module.

    ``function`` is its dotted name in the module, ``line`` the text of the line on which the
    change begins, ``number`` counts those that agree in all of this, from 1. ``start`` and
    ``end`` are places in the UTF-8 text, between which ``text`` is put.
    """

    module: str
    function: str
    operator: str
    line: str
    change: str
    number: int
    start: int
    end: int
    text: str

    @property
    def id(self) -> str:
        """What names it, whatever is edited elsewhere in the file."""
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{self.module}:{self.function} | {self.operator} | {self.line} | " \
               f"{self.change}{again}"

    def lines(self, source: str) -> range:
        """The numbers, from 1, of the lines that the change is in."""
        text = source.encode()
        first = text.count(b"\n", 0, self.start) + 1
        return range(first, first + text.count(b"\n", self.start, self.end) + 1)

    def applied(self, source: str) -> str:
        """The text of the module with the change in it."""
        text = source.encode()
        return (text[: self.start] + self.text.encode() + text[self.end :]).decode()


class _Site(NamedTuple):
    node: ast.AST
    parent: ast.AST
    function: Function


class _Change(NamedTuple):
    node: ast.AST       # what is replaced
    new: ast.AST
    shown: str = ""


Operator = Callable[[_Site], Iterator[_Change]]


# ---- conditions ------------------------------------------------------------------------------

_BOUNDARIES: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_OPPOSITES: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}


def _compared(site: _Site, table: Mapping[type[ast.cmpop], type[ast.cmpop]]) -> Iterator[_Change]:
    node = site.node
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            if type(op) in table:
                ops = [*node.ops[:place], table[type(op)](), *node.ops[place + 1 :]]
                yield _Change(node, ast.Compare(node.left, ops, node.comparators))


def _boundary(site: _Site) -> Iterator[_Change]:
    """`<` for `<=`, and so on."""
    return _compared(site, _BOUNDARIES)


def _comparison(site: _Site) -> Iterator[_Change]:
    """`!=` for `==`, `>=` for `<`, `not in` for `in`, and so on."""
    return _compared(site, _OPPOSITES)


def _connective(site: _Site) -> Iterator[_Change]:
    """`or` for `and`; or without its first part; or without its last."""
    node = site.node
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _Change(node, ast.BoolOp(other, node.values))
        for values in (node.values[1:], node.values[:-1]):
            rest = values[0] if len(values) == 1 else ast.BoolOp(node.op, values)
            yield _Change(node, rest)


def _negation(site: _Site) -> Iterator[_Change]:
    """`x` for `not x`, and the other branch of a condition."""
    node = site.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _Change(node, node.operand)
    tests = [node.test] if isinstance(node, (ast.If, ast.While, ast.IfExp)) else \
        node.ifs if isinstance(node, ast.comprehension) else []
    for test in tests:
        single = isinstance(test, ast.Compare) and len(test.ops) == 1
        if not single and not isinstance(test, ast.UnaryOp):
            yield _Change(test, ast.UnaryOp(ast.Not(), test))


# ---- values ----------------------------------------------------------------------------------

_SWAPS: Final[Mapping[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr}
_NAMES: Final[Mapping[str, str]] = {"min": "max", "max": "min", "any": "all", "all": "any"}
_METHODS: Final[Mapping[str, str]] = {
    "popleft": "pop", "append": "appendleft", "appendleft": "append", "add": "discard",
    "discard": "add", "update": "difference_update"}
_ORDERLESS: Final = frozenset({
    "isinstance", "issubclass", "getattr", "hasattr", "cast", "field",
    "add", "mul", "and_", "or_", "xor", "eq", "ne", "min", "max", "And", "Or"})
"""Callees with arguments that nobody could mean the other way round, or which commute."""



def _arithmetic(site: _Site) -> Iterator[_Change]:
    """`-` for `+`, `*` for `//`, `|` for `&`, and so on."""
    node = site.node
    if isinstance(node, ast.BinOp) and type(node.op) in _SWAPS:
        yield _Change(node, ast.BinOp(node.left, _SWAPS[type(node.op)](), node.right))
    if isinstance(node, ast.AugAssign) and type(node.op) in _SWAPS:
        yield _Change(node, ast.AugAssign(node.target, _SWAPS[type(node.op)](), node.value))


def _constant(site: _Site) -> Iterator[_Change]:
    """One more, or one less; `True` for `False`."""
    node = site.node
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield _Change(node, ast.Constant(not node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield from (_Change(node, ast.Constant(node.value + by)) for by in (1, -1))


def _extreme(site: _Site) -> Iterator[_Change]:
    """`min` for `max`, `any` for `all`, the other end of a list."""
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMES:
        yield _Change(node.func, ast.Name(_NAMES[node.func.id]))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) \
            and node.func.attr in _METHODS:
        other = ast.Attribute(node.func.value, _METHODS[node.func.attr])
        yield _Change(node.func, other)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        ends = {"0": ast.Constant(-1), "-1": ast.Constant(0)}
        if (index := ast.unparse(node.slice)) in ends:
            yield _Change(node, ast.Subscript(node.value, ends[index]))


def _arguments(site: _Site) -> Iterator[_Change]:
    """The first two arguments of a call the other way round."""
    node = site.node
    if not isinstance(node, ast.Call) or len(node.args) < 2 or _callee(node) in _ORDERLESS:
        return
    first, second, *rest = node.args
    starred = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
    if not starred and ast.unparse(first) != ast.unparse(second):
        yield _Change(node, ast.Call(node.func, [second, first, *rest], node.keywords))


# ---- statements ------------------------------------------------------------------------------


def _dropped(site: _Site) -> Iterator[_Change]:
    """A call for its effect, or an assignment to a part of something, is left out."""
    node = site.node
    if isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(value, ast.Call):
            yield _Change(node, ast.Pass())
    constructs = site.function.name == "__init__"
    targets = node.targets if isinstance(node, ast.Assign) else \
        [node.target] if isinstance(node, ast.AugAssign) else \
        node.targets if isinstance(node, ast.Delete) else []
    if any(isinstance(one, (ast.Attribute, ast.Subscript)) for one in targets) and not constructs:
        yield _Change(node, ast.Pass())


def _exit(site: _Site) -> Iterator[_Change]:
    """An early `return`, a `raise`, a `break` or a `continue` is left out."""
    node = site.node
    early = isinstance(node, ast.Return) and site.parent is not site.function
    if isinstance(node, ast.Raise) and "NotImplementedError" in ast.unparse(node):
        return      # which subclasses replace
    if early or isinstance(node, (ast.Raise, ast.Break, ast.Continue)):
        yield _Change(node, ast.Pass())


def _unguarded(site: _Site) -> Iterator[_Change]:
    """Without the lock, or what else a `with` does around its block; without the `await`."""
    node = site.node
    if isinstance(node, (ast.With, ast.AsyncWith)) \
            and all(item.optional_vars is None for item in node.items):
        header = ", ".join(ast.unparse(item) for item in node.items)
        bare = ast.If(ast.Constant(True), node.body, [])
        yield _Change(node, bare, f"with {header}: -> if True:")
    if isinstance(node, ast.Await) and not isinstance(site.parent, ast.Expr):
        yield _Change(node, node.value)


OPERATORS: Final[Mapping[str, Operator]] = {
    "boundary": _boundary, "comparison": _comparison, "connective": _connective,
    "negation": _negation, "arithmetic": _arithmetic, "constant": _constant, "extreme": _extreme,
    "arguments": _arguments, "dropped": _dropped, "exit": _exit, "unguarded": _unguarded,
}
"""By name; each yields what could stand in the place of a node, or of a part of it."""


# ---- where they apply ------------------------------------------------------------------------

_SILENT_FUNCTIONS: Final = frozenset({"__repr__", "__str__", "__format__"})
_SPEAKING: Final = frozenset({"print", "echo", "warn", "debug", "info", "warning", "cast"})


def mutants_of(module: str, source: str) -> list[Mutant]:
    """All mutants of a module with this text, in the order of the text."""
    starts = _line_starts(source)
    lines = source.splitlines()
    found: list[Mutant] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for function, name in _functions(ast.parse(source), ""):
        for site in _sites(function):
            for operator, changes in OPERATORS.items():
                for node, new, shown in changes(site):
                    text = _text_of(new, node)
                    change = _short(shown or f"{ast.unparse(node)} -> {ast.unparse(new)}")
                    line = lines[_lineno(node) - 1].strip()
                    key = (name, operator, line, change)
                    seen[key] += 1
                    start, end = _span(node, starts)
                    found.append(Mutant(module, name, operator, line, change, seen[key], start,
                                        end, text))
    return found


def names_in(source: str) -> set[str]:
    """The dotted names of all functions and classes that a module has, but for those inside
    functions."""
    found: set[str] = set()

    def below(node: ast.AST, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add(f"{inside}{child.name}")
                if isinstance(child, ast.ClassDef):
                    below(child, f"{inside}{child.name}.")
            else:
                below(child, inside)

    below(ast.parse(source), "")
    return found


def _functions(node: ast.AST, inside: str) -> Iterator[tuple[Function, str]]:
    """The functions of a module and the methods of its classes, with dotted names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if child.name not in _SILENT_FUNCTIONS:
                yield child, f"{inside}{child.name}"
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{inside}{child.name}.")
        elif isinstance(child, (ast.If, ast.Try)):
            yield from _functions(child, inside)


def _sites(function: Function) -> Iterator[_Site]:
    """The nodes of a body that may be changed; those of functions in it belong to it."""

    def below(node: ast.AST, parent: ast.AST) -> Iterator[_Site]:
        if _is_talk(node):
            return
        yield _Site(node, parent, function)
        if not isinstance(node, ast.Raise):
            for child in _deciding(node):
                yield from below(child, node)

    for statement in function.body:
        yield from below(statement, function)


def _is_talk(node: ast.AST) -> bool:
    """Whether a node only says something, to a reader or to a type checker."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or _is_talk(node.value)
    if isinstance(node, ast.Call):
        name = _callee(node)
        return name in _SPEAKING or name.endswith(("Error", "Warning"))
    return isinstance(node, (ast.JoinedStr, ast.Assert))


def _deciding(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node, without annotations, decorators and defaults."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield from node.body
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return      # of zip: it refuses what cannot be
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "ctx", "op", "ops"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield child


def _callee(node: ast.Call) -> str:
    func = node.func
    return func.id if isinstance(func, ast.Name) else \
        func.attr if isinstance(func, ast.Attribute) else ""


# ---- text ------------------------------------------------------------------------------------


def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _lineno(node: ast.AST) -> int:
    return int(node.lineno)  # type: ignore[attr-defined]  # expressions and statements have one


def _span(node: ast.AST, starts: list[int]) -> tuple[int, int]:
    assert isinstance(node, (ast.expr, ast.stmt))
    assert node.end_lineno is not None and node.end_col_offset is not None
    return (starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset)


def _text_of(new: ast.AST, old: ast.AST) -> str:
    """What is put in the place of ``old``: an expression in parentheses, or statements."""
    text = ast.unparse(ast.fix_missing_locations(new))
    if isinstance(new, ast.expr):
        return text if isinstance(new, (ast.Name, ast.Attribute)) else f"({text})"
    assert isinstance(old, ast.stmt)
    return textwrap.indent(text, " " * old.col_offset).lstrip()


def _short(change: str) -> str:
    """The change on one line; of a long one the beginning and the end."""
    line = " ".join(change.split())
    half = _SHOWN // 2
    return line if len(line) <= _SHOWN else f"{line[:half]} … {line[-half:]}"
