"""Which variants that an observer refuses are twins of its suite, and why the others are not.

Each row of the book that says ``refused`` has one answer, which is found here and not written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from importlib import import_module
from inspect import unwrap
from types import CodeType, FunctionType
from typing import Any

from checkvalve.conformance.suites.mechanism import Mechanism
from checkvalve.conformance.suites.twin import Twin
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.spec.notation.views import View
from checkvalve.spec.refinements import Refinement
from checkvalve.spec.shelf import chapter_names, module_of

__all__ = ["Answer", "answers", "played", "refused_rows"]


class Answer(StrEnum):
    """The fate of a row, or a reason that keeps its variant from the port; the first that holds.
    """

    TWIN = "is a twin"
    NO_SUITE = "no suite judges by this observer"
    HISTORY = "its suite asks for a whole run at a time, and has no request for a step"
    UNSHOWN = "its rule is tested with a request that the chapter does not show"
    SETTING = "the machine is a sound one, with constants that do not fit"
    CLIENTS = "the chapter plays the clients, too, whose steps must come in between"
    HIDDEN = "the chapter takes steps of its own, whose order no request says"
    SAME_VIEW = "its suite's machine could play it, and a default run does not name its rule"
    OPEN = "nothing was found that keeps it from the port"


def refused_rows() -> Iterator[Refinement]:
    """The rows of all chapters that say that an observer refuses a variant."""
    for each in _rows():
        if each.rule:
            yield each


@cache
def _rows() -> tuple[Refinement, ...]:
    return tuple(row for name in chapter_names()
                 for row in getattr(import_module(module_of(name)), "EXPECTATIONS", ())
                 if isinstance(row, Refinement))


def answers() -> Mapping[Answer, list[Refinement]]:
    """The rows by answer."""
    found: dict[Answer, list[Refinement]] = {answer: [] for answer in Answer}
    for row in refused_rows():
        found[_answer(row)].append(row)
    return found


def _answer(row: Refinement) -> Answer:
    judging = [system for system in SYSTEMS.values() if _judges(system.suite, row)]
    played = _played()
    if (row.machine, row.rule) in played:
        return Answer.TWIN
    if not judging:
        return Answer.NO_SUITE
    tables = [system for system in judging if getattr(
        getattr(system.suite, "conversation", None), "says", None) is not None]
    if not tables:
        return Answer.HISTORY
    if not any(_can_be_tested(system.suite, row) for system in tables):
        return Answer.UNSHOWN
    if row.machine in {each.machine for each in _rows() if not each.rule}:
        return Answer.SETTING
    if row.shows in _views():
        return Answer.SAME_VIEW
    if any(name in row.machine.actions_declared for name in getattr(row.shows, "around", ())):
        return Answer.CLIENTS
    shown = {*row.shows.shows_actions, *row.shows.same}
    return Answer.HIDDEN if set(row.machine.actions_declared) - shown else Answer.OPEN


def _judges(suite: Any, row: Refinement) -> bool:
    watching = [getattr(each, "machine", each) for each in getattr(
        suite, "watches", None) or suite.watching]
    return any(issubclass(each, row.observer) for each in watching)


@cache
def _played() -> frozenset[tuple[type[Any], str]]:
    """The machines that twins play, with the rule of each."""
    return frozenset((core.machine, twin.rule) for core, twin in played())


@cache
def _views() -> frozenset[type[View[Any]]]:
    return frozenset(core.view for core, _ in played())


def played() -> Iterator[tuple[type[Mechanism], Twin]]:
    """The machines that stand behind ports, each with its twin."""
    for system in SYSTEMS.values():
        for twin in system.twins.values():
            for part in twin.parts.values():
                if isinstance(part, type) and issubclass(part, Mechanism):
                    yield part, twin


def _can_be_tested(suite: Any, row: Refinement) -> bool:
    """True if the chapter shows one request of each group that the rule needs."""
    shown = words_of(row.shows)
    asked = {do for do, rows in suite.conversation.says.rows.items()
             if shown & {entry.action for on in rows
                         for entry in (*on.tells, *_entries(on))}}
    rule = suite.rule(row.rule)
    operations = {do for rows in suite.conversation.says.rows.values() for do in [rows[0].do]}
    return all(asked & set(group) for group in suite.groups(rule) if set(group) & operations)


def _entries(on: Any) -> Iterator[Any]:
    for part in (*on.parts, *([on.later] if on.later else [])):
        for group in part.groups:
            yield from group


def words_of(view: type[View[Any]]) -> frozenset[str]:
    """All words in the text of a view and of the functions that it calls: the actions that it may
    show are among them."""
    return frozenset(view.same) | _words_in([
        member for base in view.__mro__ if base is not View for member in vars(base).values()],
        view)


def _words_in(members: Iterable[Any], view: type[View[Any]]) -> frozenset[str]:
    """All words in the text of some members of a view, and of what they call."""
    found, looked = set[str](), set[object]()
    waiting = [*members]
    while waiting:
        function = unwrap(getattr(waiting[-1], "__func__", waiting[-1])) if callable(
            getattr(waiting[-1], "__func__", waiting[-1])) else None
        waiting.pop()
        if not isinstance(function, FunctionType) or function in looked:
            continue
        looked.add(function)
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            found |= {each for each in code.co_consts if isinstance(each, str)}
            codes += [each for each in code.co_consts if isinstance(each, CodeType)]
            named = [function.__globals__.get(name, getattr(view, name, None))
                     for name in code.co_names]
            waiting += [each for each in named if isinstance(each, FunctionType)
                        and each.__module__.startswith("checkvalve.spec")]
            found |= {word for each in named if isinstance(each, tuple) and each
                      for word in [each[0], *(step[0] for step in each if isinstance(step, tuple) and step)]
                      if isinstance(word, str)}
    return frozenset(found)
