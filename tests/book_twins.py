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

__all__ = ["Answer", "answers", "played", "refused_rows", "suites_of"]


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
    BEGUN = "the chapter begins after requests of the port for which it has no step"
    AT_ONCE = "one step of the chapter is all the requests that its rule is tested with"
    UNDONE = "its rule is tested with a request that is no step of the chapter"
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
    judging = suites_of(row)
    if (row.machine, row.rule) in _played():
        return Answer.TWIN
    if not judging:
        return Answer.NO_SUITE
    tables = [suite for suite in judging if getattr(
        getattr(suite, "conversation", None), "says", None) is not None]
    if not tables:
        return Answer.HISTORY
    if not any(_can_be_tested(suite, row) for suite in tables):
        return Answer.UNSHOWN
    if row.machine in {each.machine for each in _rows() if not each.rule}:
        return Answer.SETTING
    if any(_could_play(core, twin, row) for core, twin in played()):
        return Answer.SAME_VIEW
    if any(name in row.machine.actions_declared for name in getattr(row.shows, "around", ())):
        return Answer.CLIENTS
    return next((answer for answer in (
        Answer.HIDDEN, Answer.BEGUN, Answer.AT_ONCE, Answer.UNDONE)
        if all(answer in _of_steps(suite, row) for suite in tables)), Answer.OPEN)


def _could_play(core: type[Mechanism], twin: Twin, row: Refinement) -> bool:
    """True if the adapter of a twin shows what the row does, and can do what its rule needs."""
    if core.view is not row.shows or not issubclass(row.machine, core.__mro__[1].machine):
        return False
    suite = SYSTEMS[twin.suite].suite
    can = set(twin.adapter().request({
        "do": "hello", "port": suite.port, "settings": suite.settings(suite.capacities[-1]),
    }).get("ok", {}).get("can", ()))
    operations = set(suite.conversation.says.rows)
    return all(can & set(group) for group in suite.groups(suite.rule(row.rule))
               if set(group) & operations)


def _of_steps(suite: Any, row: Refinement) -> set[Answer]:
    """The reasons that follow from the requests of a suite for which a chapter has steps. A step
    that only shows what a server does is its own."""
    steps = {name: _asked(suite, _words_in([member], row.shows))
             for name, member in row.shows.shows_actions.items()}
    steps |= {name: _asked(suite, frozenset([name])) for name in row.shows.same}
    taken = frozenset[str]().union(*steps.values())
    found = set()
    if any(not steps.get(name) for name in row.machine.actions_declared):
        found.add(Answer.HIDDEN)
    begins = _words_in([row.shows.begins], row.shows)
    if _asked(suite, begins) - taken:
        found.add(Answer.BEGUN)
    operations = set(suite.conversation.says.rows)
    groups = [set(group) for group in suite.groups(suite.rule(row.rule)) if set(group) & operations]
    if len(steps) == 1 < len(groups) and all(group & taken for group in groups):
        found.add(Answer.AT_ONCE)
    if any(not group & taken for group in groups):
        found.add(Answer.UNDONE)
    return found


def _asked(suite: Any, words: frozenset[str]) -> frozenset[str]:
    """The requests that words of a view stand for: each has steps that report it, or the first part
    of its answer has a step that could be no other request's."""
    return frozenset(do for do, rows in suite.conversation.says.rows.items() if words & (
        {tells.action for on in rows for tells in on.tells}
        or {entry.action for on in rows for part in on.parts[:1] for group in part.groups
            for entry in group}))


def suites_of(row: Refinement) -> list[Any]:
    """The suites that judge by the observer of a row."""
    return [system.suite for system in SYSTEMS.values() if _judges(system.suite, row)]


def _judges(suite: Any, row: Refinement) -> bool:
    watching = [getattr(each, "machine", each) for each in getattr(
        suite, "watches", None) or suite.watching]
    return any(issubclass(each, row.observer) for each in watching)


@cache
def _played() -> frozenset[tuple[type[Any], str]]:
    """The machines that twins play, with the rule of each."""
    return frozenset((core.machine, twin.rule) for core, twin in played())


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
            steps = [step for each in named if isinstance(each, tuple)
                     for step in (each, *each) if isinstance(step, tuple) and step]
            found |= {step[0] for step in steps if isinstance(step[0], str)}
    return frozenset(found)
