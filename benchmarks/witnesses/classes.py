"""Mutants of a machine: copies of its classes in which one method is changed.

The copies are classes like any other, so that both readings of a machine, the interpreter's and
the compiler's, take them: each method that calls ``super()`` is bound anew to its copied class,
and the changed method's text is where ``source_of`` looks for it.
"""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from checkvalve.spec.notation.machine import Action, Machine
from checkvalve.spec.notation.source import source_of
from checkvalve.spec.notation.types import ArrayDecl, ChoiceDecl, Decl, FifoDecl, IntDecl, SetDecl

from .mutate import Known, edits, further_edits

__all__ = ["Mutant", "mutant_named", "mutants"]

_serial = itertools.count()


class Mutant(NamedTuple):
    """A machine with one change: ``method`` is ``Class.method``, ``words`` say what was done."""

    method: str
    words: str
    make: Callable[[], type[Machine]]


def mutants(
    machine: type[Machine], only: str = "", *, further: bool = False
) -> Iterator[Mutant]:
    """Every mutant of a machine: its actions and what they call changed, or made unfair.

    ``only`` is a method, as ``Class.method``: those of it alone. What a rule itself calls is left
    alone, for then the rule would be another one. ``further`` asks for those of ``further_edits``
    instead.
    """
    judged = _called_by_rules(machine)
    alike = _alike(machine)
    known = Known([*machine.constants_declared], [
        name for name, decl in machine.variables_declared.items() if _is_number(decl)])
    for owner in machine.__mro__:
        if not issubclass(owner, Machine) or owner is Machine:
            continue
        for name, value in vars(owner).items():
            if not isinstance(value, FunctionType) or name in judged or _judges(value):
                continue
            found: Action | None = getattr(value, "__checkvalve_action__", None)
            method = f"{owner.__name__}.{name}"
            if only not in ("", method):
                continue
            if further:
                for edit in further_edits(source_of(value).node, known):
                    yield Mutant(
                        method, edit.words, _maker(machine, owner, name, value, edit.make))
                continue
            if found is not None and found.fair:
                yield Mutant(method, "not fair", _maker(machine, owner, name, value, None))
            for edit in edits(source_of(value).node, alike):
                yield Mutant(method, edit.words, _maker(machine, owner, name, value, edit.make))


def _alike(machine: type[Machine]) -> dict[str, list[str]]:
    """For each variable the others of its kind."""
    kinds = {name: _kind(decl) for name, decl in machine.variables_declared.items()}
    return {name: [other for other in kinds if other != name and kinds[other] == kinds[name]]
            for name in kinds}


def _is_number(decl: Decl) -> bool:
    inner = decl.element if isinstance(decl, ArrayDecl) else decl
    return isinstance(inner, IntDecl)


def _kind(decl: Decl) -> tuple[object, ...]:
    """The kind of a variable, but for its bounds: variables of one kind can be mixed up."""
    over = repr(decl.domain) if isinstance(decl, ArrayDecl | SetDecl | ChoiceDecl) else ""
    inner = _kind(decl.element) if isinstance(decl, ArrayDecl | FifoDecl) else ()
    return (type(decl), over, *inner)


def mutant_named(machine: type[Machine], method: str, words: str) -> type[Machine] | None:
    """The mutant of these words, or None if the machine's text no longer has it."""
    return next((mutant.make() for further in (False, True)
                 for mutant in mutants(machine, only=method, further=further)
                 if mutant.words == words), None)


def _names_in(code: CodeType) -> Iterator[str]:
    """The names in a method, in the generators and comprehensions inside it as well."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_in(inner)


def _maker(
    machine: type[Machine], owner: type, name: str, value: FunctionType,
    changed_tree: Callable[[], ast.FunctionDef] | None,
) -> Callable[[], type[Machine]]:
    def make() -> type[Machine]:
        changed = _unfair(value) if changed_tree is None else _compiled(value, changed_tree())
        return _copy(machine, owner, {name: changed}, {})
    return make


def _judges(function: FunctionType) -> bool:
    return hasattr(function, "__checkvalve_rule__") or hasattr(function, "__checkvalve_assume__")


def _called_by_rules(machine: type[Machine]) -> set[str]:
    """The names of the methods that rules and assumptions call, directly or not."""
    methods = {name: value for owner in machine.__mro__ for name, value in vars(owner).items()
               if isinstance(value, FunctionType)}
    todo = [name for name, value in methods.items() if _judges(value)]
    found = set(todo)
    while todo:
        for name in _names_in(methods[todo.pop()].__code__):
            if name in methods and name not in found:
                found.add(name)
                todo.append(name)
    return found


# --- copies --------------------------------------------------------------------------------------

def _unfair(function: FunctionType) -> FunctionType:
    found: Action = function.__checkvalve_action__  # type: ignore[attr-defined]
    return _marked(_rebound(function, CellType()), replace(found, fair=False))


def _compiled(function: FunctionType, tree: ast.FunctionDef) -> FunctionType:
    """A changed method, as if it stood in a file of its own."""
    # Its decorators may use names of the class's body, so its marks are taken over instead.
    bare = ast.parse(ast.unparse(tree)).body[0]
    assert isinstance(bare, ast.FunctionDef)
    bare.decorator_list = []
    lines = ["def _inside(__class__):", *(f"    {line}" for line in ast.unparse(bare).split("\n"))]
    text = "\n".join([*lines, f"    return {tree.name}"]) + "\n"
    file = f"<mutant {next(_serial)} of {function.__qualname__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = dict(function.__globals__)
    exec(compile(text, file, "exec"), names)  # noqa: S102 - a chapter's text, changed by us
    made: FunctionType = names["_inside"](None)
    found: Action | None = getattr(function, "__checkvalve_action__", None)
    return made if found is None else _marked(made, found)


def _marked(function: FunctionType, action: Action) -> FunctionType:
    marked = replace(action, function=function)
    function.__checkvalve_action__ = marked  # type: ignore[attr-defined]
    return function


def _copy(
    cls: type, owner: type, changed: dict[str, FunctionType], done: dict[type, type]
) -> type[Machine]:
    """A class with its bases down to ``owner``, in which some methods are replaced."""
    if cls in done:
        return done[cls]
    if owner not in cls.__mro__:
        return cls
    cell = CellType()
    members = {
        name: value for name, value in vars(cls).items()
        if name not in ("__dict__", "__weakref__")
    }
    members["__classcell__"] = cell
    if cls is owner:
        members |= changed
    for name, value in members.items():
        if isinstance(value, FunctionType) and "__class__" in value.__code__.co_freevars:
            members[name] = _taken_over(value, cell)
    bases = tuple(_copy(base, owner, changed, done) for base in cls.__bases__)
    made: type[Machine] = type(cls)(cls.__name__, bases, members)
    done[cls] = made
    return made


def _taken_over(function: FunctionType, cell: CellType) -> FunctionType:
    """A method with its marks; its ``super()`` is that of another class."""
    bound = _rebound(function, cell)
    bound.__dict__.update(function.__dict__)
    found: Action | None = getattr(function, "__checkvalve_action__", None)
    return bound if found is None else _marked(bound, found)


def _rebound(function: FunctionType, cell: CellType) -> FunctionType:
    cells: tuple[Any, ...] = tuple(
        cell if name == "__class__" else old
        for name, old in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True))
    bound = FunctionType(function.__code__, function.__globals__, function.__name__,
                         function.__defaults__, cells)
    bound.__kwdefaults__ = function.__kwdefaults__
    bound.__qualname__, bound.__doc__ = function.__qualname__, function.__doc__
    return bound
