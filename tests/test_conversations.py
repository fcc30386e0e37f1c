"""How a suite is named, and how much of its conversation is written by hand.

All suites have a table. Counted are the lines of code of what takes part in a conversation: its
methods, the functions that its table and its declarations call, and those that these call in turn;
without docstrings and comments, and without what all suites share (``conformance/suites``).
"""

from __future__ import annotations

import inspect
import io
import textwrap
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import CodeType, FunctionType
from typing import Any

import pytest

from checkvalve.conformance.suites.besides import Given
from checkvalve.conformance.suites.remembered import Variable
from checkvalve.conformance.suites.says import Table
from checkvalve.conformance.systems.catalogue import SYSTEMS

AIM = 20
"""Lines by hand of a suite with an observer that keeps what later requests depend on."""

ABOVE = {"kafka.purgatory": 247, "kafka.races": 211}
"""The suites that have more, and how many: plans that are drawn as a whole, steps of several
events, as docs/decisions/conversations-by-tables.md says. A number may get smaller, and not larger.
"""

MODULES = ("suite", "conversation")
OURS = "checkvalve.conformance.systems"
IDLE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENDMARKER}

Line = tuple[str, int]


def lines_of(function: FunctionType) -> set[Line]:
    """The lines of code of a function, without its docstring; a lambda is one."""
    code = function.__code__
    if code.co_name == "<lambda>":
        return {(code.co_filename, code.co_firstlineno)}
    source, first = inspect.getsourcelines(function)
    text = textwrap.dedent("".join(source))
    found: set[int] = set()
    begins = True       # a text at the beginning of a line is a docstring
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in IDLE and not (begins and token.type == tokenize.STRING):
            found |= set(range(token.start[0], token.end[0] + 1))
        begins = token.type in IDLE
    return {(code.co_filename, first + each - 1) for each in found}


def called_by(table: Table) -> Iterator[Callable[..., Any] | None]:
    """The functions that a table calls."""
    for row in (row for rows in table.rows.values() for row in rows):
        yield from (*row.picks.values(), row.makes_sense)
        yield from (picks for also in row.also.values() for picks in also.values())
        yield from (*(row.turns[1].values() if row.turns else ()), *row.if_all,
                    *row.sends.values(), *row.second.values())
        for part in (*row.parts, *([row.later] if row.later else [])):
            yield from (part.reads, part.reports)
            yield from (entry.among for group in part.groups for entry in group)


def declared_by(partner: type) -> Iterator[object]:
    """The functions that the declarations of a conversation call: those of its variables, of the
    fields that it knows, and of values that follow from these."""
    for each in vars(partner).values():
        if isinstance(each, Variable):
            yield from vars(each).values()
        elif isinstance(each, Mapping):      # what a program may set itself, by operation
            yield from (works for named in each.values() if isinstance(named, Mapping)
                        for works in named.values())
        elif isinstance(each, tuple):
            yield from (works for given in each if isinstance(given, Given)
                        for _, works in given.works)


def found_in(values: Iterable[object]) -> set[FunctionType]:
    """The functions of suites among some values, with those that they hold or name."""
    found, seen, left = set[FunctionType](), set[int](), list(values)
    while left:
        each = left.pop()
        if isinstance(each, list | tuple):
            left += each
        elif isinstance(each, FunctionType) and id(each) not in seen:
            seen.add(id(each))
            left += [cell.cell_contents for cell in each.__closure__ or ()]
            if each.__module__.startswith(OURS):
                found.add(each)
                left += [each.__globals__.get(name) for name in names_in(each.__code__)]
    return found


def names_in(code: CodeType) -> Iterator[str]:
    """The names of other things that code has."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from names_in(each)


def partners(folder: str) -> Iterator[type]:
    """The conversation of a system, and its bases that stand there."""
    for name in MODULES:
        if find_spec(f"{folder}.{name}") is not None:
            module = import_module(f"{folder}.{name}")
            yield from (each for each in vars(module).values() if inspect.isclass(each)
                        and each.__module__ == module.__name__ and hasattr(each, "request_of")
                        and not getattr(each, "_is_protocol", False))


@cache
def by_hand(folder: str) -> int:
    """The lines that are written by hand."""
    found: set[Line] = set()
    for partner in partners(folder):
        methods = [each.fget if isinstance(each, property) else each
                   for each in vars(partner).values()]
        table = getattr(partner, "says", None)
        called = called_by(table) if table is not None else ()
        for each in found_in([*methods, *called, *declared_by(partner)]):
            found |= lines_of(each)
    return len(found)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_suite_has_the_table_and_no_more_by_hand_than_is_argued(name: str) -> None:
    folder = SYSTEMS[name].folder
    assert any(getattr(each, "says", None) is not None for each in partners(folder))
    assert by_hand(folder) <= ABOVE.get(name, AIM)


def test_the_numbers_are_those_of_today() -> None:
    """A conversation that became shorter stays so."""
    assert {name: lines for name, system in SYSTEMS.items()
            if (lines := by_hand(system.folder)) > AIM} == ABOVE


def test_a_function_that_a_declaration_calls_is_counted_with_those_that_it_calls() -> None:
    """Code that moves from a method to a declaration is as much by hand as before."""
    conversation = SYSTEMS["storm.status"].suite.conversation
    names = {each.__name__ for each in found_in(declared_by(conversation))}
    assert {"_held", "_nth", "_list"} <= names


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_suite_its_folder_and_its_chapter_have_one_name(name: str) -> None:
    """``observed_`` stands before it where a mechanism is hidden behind what can be seen; and no
    suite judges by an observer that has the name of another one."""
    system, last = SYSTEMS[name], name.rpartition(".")[2]
    judges = {machine.__module__.rpartition(".")[2] for rule in system.suite.rules()
              for machine in system.suite.machines(rule)}
    assert system.folder.rpartition(".")[2] == name.replace(".", "_")
    assert {last, f"observed_{last}"} & judges
    assert all(each.startswith(f"observed_{last}") for each in judges if "observed" in each)
