"""The syntax tree of a function, with its file and lines."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from .errors import NotationError
from .labels import brief

__all__ = ["Source", "place_of_member", "source_of", "syntax_of_file", "text_of"]


@dataclass(frozen=True)
class Source:
    """A function's definition and the names that it can see besides its own."""

    node: ast.FunctionDef
    file: str
    names: dict[str, Any]

    def where(self, node: ast.AST) -> str:
        """``file:line`` of a node of this function."""
        return f"{self.file}:{getattr(node, 'lineno', self.node.lineno)}"

    def error(self, node: ast.AST, what: str, next_step: str = "") -> NotationError:
        """A NotationError at a node."""
        return NotationError(brief(what, 300), self.where(node), brief(next_step, 300))


@cache
def syntax_of_file(file: str) -> ast.Module:
    """The syntax tree of a source file (or of what linecache knows by that name)."""
    return ast.parse("".join(linecache.getlines(file)), file)


@cache
def text_of(node: ast.AST) -> str:
    """The source text of a node of a chapter's syntax tree."""
    return ast.unparse(node)


@cache
def _definitions(file: str) -> dict[tuple[str, int], ast.FunctionDef]:
    found = {}
    for node in ast.walk(syntax_of_file(file)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found[node.name, first] = node
    return found


@cache
def source_of(function: Callable[..., Any]) -> Source:
    """The definition of a Python function, found by its file and first line."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise NotationError(f"{function!r} is not a function written in Python")
    node = _definitions(code.co_filename).get((code.co_name, code.co_firstlineno))
    if node is None:
        raise NotationError(
            f"the source of {code.co_name} is not available",
            f"{code.co_filename}:{code.co_firstlineno}",
            "Define machines in a file, not in an interactive session.",
        )
    names = dict(function.__globals__)
    cells = function.__closure__ or ()
    for name, cell in zip(code.co_freevars, cells, strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # a cell that is filled later, such as the class itself
            continue
    return Source(node, code.co_filename, names)


def place_of_member(machine: type, name: str) -> str:
    """``file:line`` where a class, or one that it derives from, defines or assigns ``name``; else
    empty."""
    code = getattr(getattr(machine, name, None), "__code__", None)
    if code is not None:
        return f"{code.co_filename}:{code.co_firstlineno}"
    for owner in machine.__mro__:
        if name in vars(owner) and owner.__module__ in sys.modules:
            file = getattr(sys.modules[owner.__module__], "__file__", None) or ""
            line = _line_of_member(file, owner.__name__, name)
            return f"{file}:{line}" if line else file
    return ""


def _line_of_member(file: str, owner: str, name: str) -> int:
    found = 0
    for node in ast.walk(syntax_of_file(file)):
        if isinstance(node, ast.ClassDef) and node.name == owner:
            for line in node.body:
                targets = line.targets if isinstance(line, ast.Assign) else (
                    [line.target] if isinstance(line, ast.AnnAssign) else [])
                if any(isinstance(each, ast.Name) and each.id == name for each in targets):
                    found = line.lineno
    return found
