"""Conformance suites as classes of pytest: a test for each rule.

    from checkvalve.conformance.testing import QueueConformance

    class TestMyQueue(QueueConformance):
        def make_queue(self, capacity):
            return MyQueue(maxsize=capacity)

That is all: ``pytest`` runs the suite once for the class, in a process of its own, and each rule is
a test with its id in its name (``pytest -k QUEUE-9``). ``names`` says what the methods are called
(docs/by-name.md), ``known`` has the ids of rules that are known to be broken, ``cases`` the number
of cases if not the usual one, and ``kind`` is ``thread`` or ``asyncio`` where it is not to be found
out. A rule that is not shown is skipped, with its reason; with ``strict`` it fails, unless the
target cannot show it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar, Final

from checkvalve.spec.notation.errors import CheckvalveError

if TYPE_CHECKING:
    from .campaigns.summary import RuleResult, Summary

__all__ = [
    "AwaitsQueueConformance", "ClosingConformance", "ConditionConformance", "EventConformance",
    "LimiterConformance", "LockConformance", "QueueConformance", "SemaphoreConformance",
    "TimerConformance",
]

_FOLDER: Final = "checkvalve"


def __getattr__(name: str) -> Any:
    """No class: for one that is asked for by a name that there is not, say which there are."""
    if name.endswith("Conformance"):
        near = get_close_matches(name, __all__, n=1)
        raise ImportError(
            f"there is no {name} in checkvalve.conformance.testing; "
            f"{f'did you mean {near[0]}? ' if near else ''}There are {', '.join(__all__)}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Conformance:
    """The parts that all classes have in common; ``suite`` is the name of the suite."""

    suite: ClassVar[str]
    names: ClassVar[Mapping[str, str]] = {}
    known: ClassVar[Sequence[str]] = ()
    cases: ClassVar[int | None] = None
    seed: ClassVar[int] = 0
    kind: ClassVar[str] = "python"
    strict: ClassVar[bool] = False

    @classmethod
    def target(cls) -> str:
        """The name of the target, as ``checkvalve conform`` and ``replay`` take it."""
        said = "&".join(f"{ours}={theirs}" for ours, theirs in cls.names.items())
        return f"{cls.kind}:{cls.__module__}:{cls.__qualname__}.made{f'?{said}' if said else ''}"

    @classmethod
    def pytest_generate_tests(cls, metafunc: Any) -> None:
        """A test for each rule of the suite."""
        from .systems.catalogue import suite_named

        if "rule" in metafunc.fixturenames:
            rules = [rule.id for rule in suite_named(cls.suite).rules()]
            metafunc.parametrize("rule", rules, ids=rules)

    def test_rule(self, rule: str, request: Any) -> None:
        """The rule holds in all cases of the run."""
        import pytest

        from .suites.results import TARGET_FAILED

        summary = _summary(type(self))
        if isinstance(summary, CheckvalveError):
            words = self._failed(f"{summary}", request.node.nodeid)
            pytest.fail(f"It cannot be run: {words}", pytrace=False)
        result = next(each for each in summary.results if each.rule.id == rule)
        by_error = {each.rule.id for each in summary.results if each.reason == TARGET_FAILED}
        if summary.error and (rule in by_error or not by_error):
            words = self._failed(summary.error, request.node.nodeid)
            pytest.fail(f"The target failed: {words}", pytrace=False)
        words = f"{rule} ({result.rule.strength.value}): {result.rule.statement}"
        if result.verdict == "not shown":
            told = f"not shown, {result.reason}: {result.message}"
            if self.strict and not result.declared:
                pytest.fail(f"{words}\n{told}", pytrace=False)
            pytest.skip(told)
        known = {rule, *result.follows_from} & {*self.known}
        if result.verdict in ("violated", "follows") and known:
            pytest.xfail(f"known: {result.rule.statement}")
        if result.verdict == "follows":
            pytest.skip(f"{result.message}; its test decides")
        if result.verdict != "passed":
            pytest.fail(f"{words}\n{self._told(result, request)}", pytrace=False)

    def _failed(self, error: str, test: str) -> str:
        """An error, in full for the first of the rules that it hides."""
        first = _told_by.setdefault(type(self), test)
        return error if first == test else f"{first} says how."

    def _told(self, result: RuleResult, request: Any) -> str:
        """The failure for a reader, with the command that runs it again."""
        if result.fixture is None:
            return f"{result.verdict}: {result.message}"
        folder = Path(request.config.cache.mkdir(_FOLDER))
        name = re.sub(r"[^A-Za-z0-9.]+", "-", f"{self.target()}-{result.rule.id}")
        saved = folder / f"{name}.json"
        saved.write_text(result.fixture.to_json(), encoding="utf-8")
        story = "\n".join(f"  {line}" for line in result.fixture.story())
        return (f"{story}\nSource: {result.rule.source}\nSeed: {self.seed}\n"
                f"Run it again: {_places(request.config)}checkvalve replay {quote(str(saved))} "
                f"{quote(self.target())}")


def _places(config: Any) -> str:
    """An assignment of PYTHONPATH for a shell, with the folders of the project in which pytest has
    looked for modules; empty if the current one is all."""
    here = Path.cwd().resolve()
    roots = {here, Path(config.rootpath).resolve()}
    found = [place for place in dict.fromkeys(sys.path) if place
             and any(Path(place).resolve().is_relative_to(root) for root in roots)
             and not Path(place).resolve().is_relative_to(Path(sys.prefix).resolve())
             and Path(place).resolve() != here]
    return f"PYTHONPATH={quote(os.pathsep.join(found))} " if found else ""


_runs: Final[dict[type[_Conformance], Summary | CheckvalveError]] = {}
_told_by: Final[dict[type[_Conformance], str]] = {}
"""The tests that said in full how the target of a class failed."""


def _summary(of: type[_Conformance]) -> Summary | CheckvalveError:
    """The run of a class, one for all its rules; or why there is none."""
    from .engines.conduct import Order, conduct

    if of not in _runs:
        try:
            _runs[of] = conduct(
                of.target(), Order(of.suite, of.cases, of.seed), known=of.known)[0]
        except CheckvalveError as error:
            _runs[of] = error
    return _runs[of]


class QueueConformance(_Conformance):
    """A bounded queue, for threads or for tasks; ``make_queue(capacity)`` makes one."""

    suite = "queue"

    def make_queue(self, capacity: int) -> Any:
        """An empty queue that holds so many items."""
        raise NotImplementedError

    @classmethod
    def made(cls, capacity: int) -> Any:
        """Make the object under test, where it runs."""
        return cls().make_queue(capacity)


class AwaitsQueueConformance(QueueConformance):
    """A bounded queue for tasks, callback by callback."""

    suite = "awaits.queue"


class ClosingConformance(QueueConformance):
    """A queue for tasks that is closed, or joined."""

    suite = "awaits.closing"


class SemaphoreConformance(_Conformance):
    """A semaphore for tasks, or a limit on those at work; ``make_semaphore(capacity)`` makes one.
    """

    suite = "awaits.permits"

    def make_semaphore(self, capacity: int) -> Any:
        """A semaphore of so many permits."""
        raise NotImplementedError

    @classmethod
    def made(cls, capacity: int) -> Any:
        """Make the object under test, where it runs."""
        return cls().make_semaphore(capacity)


class LockConformance(_Conformance):
    """A lock for tasks; ``make_lock()`` makes one."""

    suite = "awaits.permits"

    def make_lock(self) -> Any:
        """A lock that is free."""
        raise NotImplementedError

    @classmethod
    def made(cls) -> Any:
        """Make the object under test, where it runs."""
        return cls().make_lock()


class ConditionConformance(_Conformance):
    """A condition variable for tasks; ``make_condition()`` makes one."""

    suite = "awaits.condition"

    def make_condition(self) -> Any:
        """A condition variable with its lock."""
        raise NotImplementedError

    @classmethod
    def made(cls) -> Any:
        """Make the object under test, where it runs."""
        return cls().make_condition()


class EventConformance(_Conformance):
    """An event for tasks; ``make_event()`` makes one that is not set."""

    suite = "awaits.gate"

    def make_event(self) -> Any:
        """An event that is not set."""
        raise NotImplementedError

    @classmethod
    def made(cls) -> Any:
        """Make the object under test, where it runs."""
        return cls().make_event()


class LimiterConformance(_Conformance):
    """A limit on a rate; ``make_limiter(capacity, rate)`` makes one."""

    suite = "rate"

    def make_limiter(self, capacity: int, rate: float) -> Any:
        """A limit that keeps so many permits, and gets so many in a second."""
        raise NotImplementedError

    @classmethod
    def made(cls, capacity: int, rate: float) -> Any:
        """Make the object under test, where it runs."""
        return cls().make_limiter(capacity, rate)


class TimerConformance(_Conformance):
    """A timer; ``make_timer()`` makes one without tasks."""

    suite = "timer"

    def make_timer(self) -> Any:
        """A timer without tasks."""
        raise NotImplementedError

    @classmethod
    def made(cls) -> Any:
        """Make the object under test, where it runs."""
        return cls().make_timer()
