"""Measures of a machine: variables that nothing but its rules reads.

A chapter counts what happens in variables that no guard and no other variable depends on. A change
of one is no change of the mechanism: it is the measure that is wrong then. What a view reads is
seen from outside, and is no measure.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import FunctionType
from typing import Any

from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.notation.source import source_of
from checkvalve.spec.notation.views import View

__all__ = ["keeps_to", "measures", "same_but_for"]


def measures(machine: type[Machine], views: Iterable[type[View[Any]]]) -> frozenset[str]:
    """The variables of a machine that only its rules read, and none of these views."""
    read_by_views = {name for view in views for owner in view.__mro__
                     if owner not in (View, object) for name in _names_in(owner)}
    found = set(machine.variables_declared) - read_by_views
    trees = [source_of(method).node for method in _methods(machine)]
    while True:
        read = {name for tree in trees for name in _read(tree, found)}
        if not found & read:
            return frozenset(found)
        found -= read


def same_but_for(names: frozenset[str], machine: type[Machine], other: type[Machine]) -> bool:
    """True if two machines have the same variables and methods, but for those of these names and
    for what methods change of variables of these names."""
    return (_variables(names, machine) == _variables(names, other)
            and _texts(names, machine) == _texts(names, other))


def keeps_to(names: frozenset[str], machine: type[Machine], other: type[Machine]) -> bool:
    """Whether two machines do the same with variables of these names. If not, it may be the
    measure that is wrong, as where it is changed twice, or in the place of another variable."""
    return sorted(_left_out(names, machine)) == sorted(_left_out(names, other))


def _left_out(names: frozenset[str], machine: type[Machine]) -> Iterator[str]:
    for method in _methods(machine):
        if method.__name__ not in names:
            yield from _texts_of(names, method)


@lru_cache(maxsize=1_000)
def _texts_of(names: frozenset[str], method: FunctionType) -> tuple[str, ...]:
    return tuple(ast.dump(node) for node in ast.walk(_body(method))
                 if _changed(node) and _changed(node) <= names)


def _variables(names: frozenset[str], machine: type[Machine]) -> dict[str, object]:
    return {name: decl for name, decl in machine.variables_declared.items() if name not in names}


def _texts(names: frozenset[str], machine: type[Machine]) -> list[str]:
    return [_text(names, method)
            for method in _methods(machine) if method.__name__ not in names]


@lru_cache(maxsize=1_000)
def _text(names: frozenset[str], method: FunctionType) -> str:
    """Mutants share most methods."""
    return ast.dump(_Without(names).visit(_body(method)))


def _body(method: FunctionType) -> ast.Module:
    """The body of a method: a mutant's text has no decorators."""
    return ast.parse(ast.unparse(ast.Module(source_of(method).node.body, [])))


def _methods(machine: type[Machine]) -> Iterator[FunctionType]:
    """The methods that run in a step: all but rules and assumptions, in the order of the text."""
    for owner in machine.__mro__:
        if issubclass(owner, Machine) and owner is not Machine:
            for value in vars(owner).values():
                if isinstance(value, FunctionType) and not (
                        hasattr(value, "__checkvalve_rule__")
                        or hasattr(value, "__checkvalve_assume__")):
                    yield value


def _read(tree: ast.AST, measured: set[str]) -> Iterator[str]:
    """The variables that a method reads, but for what goes into a measure alone."""
    for node in ast.iter_child_nodes(tree):
        if _changed(node) and _changed(node) <= measured:
            continue
        if _is_own(node) and isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
            yield node.attr  # type: ignore[attr-defined]
        yield from _read(node, measured)


def _changed(node: ast.AST) -> set[str]:
    """The variables that a statement changes, if that is all that it does."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        return _targets(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        if isinstance(called, ast.Attribute) and not _is_own(called):
            return {_root(called.value)}
    return set()


def _targets(node: ast.Assign | ast.AugAssign) -> set[str]:
    """The variables that a statement assigns to; a name of nothing for what is not one's own."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {_root(target) for target in targets}


def _root(target: ast.expr) -> str:
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.attr if isinstance(target, ast.Attribute) and _is_own(target) else ""


def _is_own(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            and node.value.id == "self")


def _asks_only(node: ast.stmt, names: frozenset[str]) -> bool:
    """Whether a statement is a guard about variables of these names, and about no other."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name) and node.value.func.id == "require"):
        return False
    asked = {each.attr for each in ast.walk(node) if _is_own(each)}  # type: ignore[attr-defined]
    return bool(asked) and {name for name in asked if name[:1].islower()} <= names


class _Without(ast.NodeTransformer):
    """Leaves out what is assigned to some variables, and guards that ask for nothing else."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        return self._left(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        return self._left(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return self._left(node)

    def _left(self, node: ast.stmt) -> ast.AST:
        is_theirs = _changed(node) and _changed(node) <= self._names
        return ast.Pass() if is_theirs or _asks_only(node, self._names) else node


def _names_in(owner: type) -> set[str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
