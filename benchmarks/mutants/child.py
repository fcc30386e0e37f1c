"""What runs in a fork: killers, one after another, on the checkvalve of a tree.

It talks to its parent in lines of JSON: ``at`` (the killer that begins), ``killed`` (the one
that noticed, and what it said) or ``crashed`` (it did so itself), ``done``. While the survey is
taken: one line for each killer.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import CodeType, FrameType
from typing import Any, Final

from checkvalve.conformance.computer.patience import Countdown

from .tree import Tree

__all__ = ["SUITE", "Patience", "Say", "enter", "sender", "survey", "try_killers", "waited"]

SUITE: Final = "suite:"
"""What the name of a suite's default run begins with: ``suite:TARGET@SUITE``."""

TEST_SECONDS_MAX: Final = 4
"""Processor time of a test that is of use: a slower one would be run for every mutant."""
SUITE_SECONDS_MAX: Final = 60
"""That of the default run of a suite, which is shown to whatever it reaches."""
_WATCHING: Final = 8
"""How many times slower code may be while its calls are watched."""
_SURVEYED_WALL_SECONDS: Final = 600
"""Of an idle machine: a suite that is watched takes minutes, and more on a busy one."""
_WALL_SECONDS: Final = 60
_WALL_FACTOR: Final = 10
"""A killer may wait ten times as long as it may compute, and a minute: for processes, timers."""
_PYTEST: Final = (
    "-q", "-x", "--no-header", "--tb=line", "-W", "ignore::pytest.PytestAssertRewriteWarning",
    "-p", "no:cacheprovider", "-p", "no:xdist",
    "-o", "faulthandler_timeout=0",     # its thread is not there in a fork that waits for it
    "-p", "no:hypothesispytest",    # which complains of what a suite has drawn before
    "-m", "not spark and not javascript", "-k", "not tlc and not both_oracles")
_COLLECTING_SECONDS: Final = 20
_SURVEYED: Final = (0, 5)
"""What pytest ends with: it has run all tests; there are none, or all are of other kinds."""
_FAILED: Final = (1, 2)
"""What pytest ends with: tests have failed; a module of tests could not be imported."""

_MUTATED: Final = "reference."
"""What the names of modules begin with of which a suite's survey notes the lines."""

Say = Callable[[dict[str, Any]], None]
_Tracer = Callable[[FrameType, str, Any], Any]


def enter(tree: Tree) -> None:
    """Forget the package of this process and see the tree's; no output."""
    package = tree.project.package
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        del sys.modules[name]
    sys.path.insert(0, str(tree.folder))
    sys.dont_write_bytecode = True
    os.environ["PYTHONPATH"] = str(tree.folder)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.chdir(tree.project.root)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@dataclass(frozen=True)
class Patience:
    """How much processor time a killer may take: ``least``, and ``factor`` times the
    ``seconds`` that it took in the survey."""

    seconds: Mapping[str, float]
    least: float = 4.0
    factor: float = 2.0

    def with_(self, killer: str) -> float:
        """How many seconds this killer gets."""
        return self.least + self.factor * self.seconds.get(killer, 0.0)

    def by_the_clock(self, killer: str) -> float:
        """How many seconds of an idle machine this killer gets, however little it does in them."""
        return _WALL_SECONDS + _WALL_FACTOR * self.with_(killer)


def try_killers(tree: Tree, killers: Sequence[str], patience: Patience, say: Say) -> None:
    """Run killers up to the first that fails."""

    def begins(killer: str) -> None:
        say({"at": killer})
        _allow(patience.with_(killer))

    for killer in killers:
        if killer.startswith(SUITE):
            begins(killer)
            verdict = _run_suite(killer)
            if verdict:
                say({"killed": killer, "why": verdict})
                return
    tests = [killer for killer in killers if not killer.startswith(SUITE)]
    if tests:
        say({"at": tests[0]})
        _allow(_COLLECTING_SECONDS + patience.least)
        _run_tests(tests, _Watched(tests, begins, say), say)


def _allow(seconds: float) -> None:
    """So much processor time from now on, then the system ends this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def sender(descriptor: int) -> Say:
    """Writes lines of JSON, each at once."""

    def say(message: dict[str, Any]) -> None:
        os.write(descriptor, json.dumps(message).encode() + b"\n")

    return say


# ---- suites ----------------------------------------------------------------------------------


def _run_suite(killer: str) -> str:
    """The default run of a suite on a target; what was found, or nothing."""
    try:
        return _conducted(killer)
    except Exception as error:  # noqa: BLE001 - whatever it is, somebody would see it
        return f"{type(error).__name__}: {error}"[:300]


def _conducted(killer: str) -> str:
    # Imported here, after ``enter``: so they are the tree's.
    from checkvalve.conformance.engines.conduct import Engine, Order, conduct
    from checkvalve.conformance.engines.local import row_of
    from checkvalve.conformance.suites.results import sort_rows

    class Stopping(Engine):
        """Runs the cases here, up to the first that does not pass."""

        def run(self, suite: str, target: str, cases: Any, settings: Any) -> Any:
            rows = []
            for case in cases:
                rows.append(row_of(suite, target, settings, case))
                if rows[-1].verdict != "passed":
                    break
            return sort_rows(rows)

    target, _, suite = killer.removeprefix(SUITE).partition("@")
    summary, rows = conduct(target, Order(suite), engine=Stopping())
    told = "; ".join(f"{row.rule} {row.message}" for row in rows if row.verdict != "passed")
    if summary.verdict == "passed":
        return ""
    return f"{summary.verdict}: {told or summary.error}"[:300]


# ---- tests -----------------------------------------------------------------------------------


class _Watched:
    """A plugin of pytest: says which test begins, and which one fails."""

    def __init__(self, order: Sequence[str], begins: Callable[[str], None], say: Say) -> None:
        self._place = {name: place for place, name in enumerate(order)}
        self._begins = begins
        self._say = say
        self.failed = False

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Run the tests in the order that was asked for."""
        items.sort(key=lambda item: self._place.get(item.nodeid, len(self._place)))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Tell that a test begins."""
        self._begins(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Tell that a test fails."""
        if report.failed and not self.failed:
            self.failed = True
            self._say({"killed": report.nodeid, "why": str(report.longrepr)[-300:]})


def _run_tests(tests: Sequence[str], plugin: _Watched, say: Say) -> None:
    import pytest

    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        code = pytest.main([*_PYTEST, *tests], plugins=[plugin])
    if code != 0 and not plugin.failed:
        what = "killed" if code in _FAILED else "crashed"
        say({what: tests[0].partition("::")[0],
             "why": f"pytest ended with {int(code)}: {told.getvalue()[-300:]}"})


# ---- the survey ------------------------------------------------------------------------------


def survey(tree: Tree, suites: Sequence[str], files: Sequence[str], say: Say) -> None:
    """Run each suite and each test of some files by itself; say what it takes and reaches.

    A line has ``killer``, ``passed``, ``seconds`` of processor time, and ``reached``, names as
    ``module:function``; of a suite those of the reference, and ``ran``, for each module of it the
    lines that were run; of one that did not pass ``why``. A killer that ends the process, or takes
    too long, has a line with ``ended`` and ``why`` instead.
    """
    for killer in suites:
        _alone(tree, killer, partial(_run_suite, killer), say)
    if files:
        import pytest

        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            code = pytest.main([*_PYTEST, *files], plugins=[_Surveyor(tree, say)])
        if code not in _SURVEYED:
            say({"failed": told.getvalue()[-500:]})


class _Surveyor:
    """A plugin of pytest: each test runs in a fork of its own, where nothing is cached yet."""

    def __init__(self, tree: Tree, say: Say) -> None:
        self._tree = tree
        self._say = say

    def pytest_runtest_protocol(self, item: Any) -> bool:
        """Run one test with all its fixtures."""
        from _pytest.runner import runtestprotocol

        def fails() -> str:
            reports = runtestprotocol(item, nextitem=None, log=False)
            return "" if all(report.passed for report in reports) else "it does not pass"

        _alone(self._tree, item.nodeid, fails, self._say)
        return True


def _alone(tree: Tree, killer: str, fails: Callable[[], str], say: Say) -> None:
    """Run one killer in a child of its own, and say whether it passes, what it reaches and takes.
    """
    child = os.fork()
    if child:
        if why := waited(child, Countdown(_SURVEYED_WALL_SECONDS)):
            say({"ended": killer, "why": why})
        return
    code = 1
    is_suite = killer.startswith(SUITE)
    most = SUITE_SECONDS_MAX if is_suite else TEST_SECONDS_MAX
    try:
        _allow((_WATCHING + 1) * most if is_suite else most)
        lines: dict[str, set[int]] = {}
        with _traced(tree, lines) if is_suite else _profiled() as codes:
            why = fails()
        before = _used() if is_suite else 0.0
        if is_suite:        # once more, to know what it takes while nobody watches
            why = why or fails()
        seconds = _used() - before
        if not why and seconds >= most:
            why = f"it takes {seconds:.1f} s of processor time, and {most} are allowed"
        say({"killer": killer, "passed": not why, "why": why,
             "seconds": round(seconds, 3), "reached": _names(tree, codes),
             "ran": {module: sorted(ran) for module, ran in lines.items()}})
        code = 0
    finally:
        os._exit(code)


def waited(child: int, left: Countdown) -> str:
    """Wait until a process ends, and end it when its limit is reached; why it ended, empty if by
    itself."""
    pause = 0.001
    while not (done := os.waitpid(child, os.WNOHANG))[0]:
        if left.over:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "it had not ended when its time was over, which counts less on a busy machine"
        time.sleep(pause)
        pause = min(2 * pause, 0.25)
    if not os.WIFSIGNALED(done[1]):
        return ""
    ended_by = os.WTERMSIG(done[1])
    return ("it used up its processor time" if ended_by == signal.SIGXCPU
            else f"its process ended, signal {ended_by}")


def _used() -> float:
    """Processor time of this process, and of what it has started itself."""
    return sum(os.times()[:4])


@contextlib.contextmanager
def _profiled() -> Iterator[set[CodeType]]:
    """The code of all functions that are called meanwhile, also in threads that begin."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield codes
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@contextlib.contextmanager
def _traced(tree: Tree, lines: dict[str, set[int]]) -> Iterator[set[CodeType]]:
    """The code of all functions of mutated modules that are called meanwhile; ``lines`` gets those
    that are run, by module."""
    codes: set[CodeType] = set()
    mutated: dict[CodeType, set[int] | None] = {}

    def called(frame: FrameType, _event: str, _argument: object) -> _Tracer | None:
        code = frame.f_code
        if code not in mutated:
            module = tree.module_of(code.co_filename)
            ours = module.startswith(_MUTATED)
            mutated[code] = lines.setdefault(module, set()) if ours else None
            if ours:
                codes.add(code)
        return None if mutated[code] is None else ran

    def ran(frame: FrameType, event: str, _argument: object) -> _Tracer:
        there = mutated[frame.f_code]
        if event == "line" and there is not None:
            there.add(frame.f_lineno)
        return ran

    threading.settrace(called)
    sys.settrace(called)
    try:
        yield codes
    finally:
        sys.settrace(None)
        threading.settrace(None)


def _names(tree: Tree, codes: set[CodeType]) -> list[str]:
    """``module:function`` of code in the tree; functions inside of others are part of them."""
    found = set()
    for code in codes:
        module = tree.module_of(code.co_filename)
        if module:
            found.add(f"{module}:{code.co_qualname.partition('.<locals>')[0]}")
    return sorted(found)
