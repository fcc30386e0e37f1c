"""Fixtures and settings that all tests share: cases that never differ from run to run, and Java."""

from __future__ import annotations

import gc
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from checkvalve.conformance.computer.environment import java_environment

# The same examples every time and on every machine; how long one takes decides nothing.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


gc.set_threshold(50_000, 10, 10)
"""Objects before the garbage of cycles is looked for: as in a run of a suite. At Python's own 700,
tests of random machines spent a twelfth of their time on it."""


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Freeze all objects that exist by now: they live as long as the run, so no collection scans
    them.
    """
    gc.collect()
    gc.freeze()


SHARING = frozenset({
    "test_design_pursuit", "test_design_repairs", "test_fixture_format", "test_house_rules",
    "test_mutants", "test_rules_reach", "test_sources", "test_storm_cluster_port",
    "test_storm_cluster_tcp", "test_suite_parts", "test_wheel"})
"""Files with tests that share what takes seconds to make. Each runs in one worker, which makes
it."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep those tests together that share something, and leave out the slow ones if asked to."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    _group(items)
    if config.getoption("quick"):
        known = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
        slow = {unit for unit, seconds in known.items() if seconds > SLOW}
        left = [item for item in items if _unit(item) in slow]
        items[:] = [item for item in items if _unit(item) not in slow]
        config.hook.pytest_deselected(items=left)
    if config.getoption("loadgroup", False):
        for item in items:
            _say_the_group(item)


def _group(items: list[pytest.Item]) -> None:
    """Keep all tests on Spark in one worker, which pays for one session of it; all with real
    servers, which they share; and those of a file that share something else."""
    for item in items:
        for together in ("spark", "services"):
            if item.get_closest_marker(together) is not None:
                item.add_marker(pytest.mark.xdist_group(together))
        if item.path.stem in SHARING and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


# ---- the tests that `make test` runs -------------------------------------------------------------

DURATIONS = Path(__file__).parent / "durations.json"
"""The seconds of each test, or of each group of tests that share something, by ``make durations``;
those below half a second are not in it."""

SLOW = 1.0
"""Seconds of what `make test` leaves to `make test-all`, so that it takes six minutes."""

_spent: Counter[str] = Counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--quick`` leaves out what takes long; ``--note-durations`` writes down what that is."""
    parser.addoption("--quick", action="store_true", help="leave out what is known to take long")
    parser.addoption("--note-durations", action="store_true", help=f"write {DURATIONS.name}")


def _unit(item: pytest.Item) -> str:
    """The group of a test, or its own id."""
    groups = [str(mark.args[0]) for mark in item.iter_markers("xdist_group")]
    return groups[0] if groups else item.nodeid


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up the seconds of each group, and of each test that is in none."""
    test, _, group = report.nodeid.rpartition("@") if "@" in report.nodeid else (
        report.nodeid, "", "")
    _spent[group or test] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the seconds down, where that is asked for, once for all workers."""
    if session.config.getoption("note_durations") and not hasattr(session.config, "workerinput"):
        known = {unit: round(seconds, 1) for unit, seconds in sorted(_spent.items())
                 if seconds >= 0.5}
        DURATIONS.write_text(json.dumps(known, indent=0, ensure_ascii=False) + "\n")


def _say_the_group(item: pytest.Item) -> None:
    """Say in a test's id of which group it is: by that xdist keeps a group together.

    xdist 3.8 does so itself, in a field that pytest no longer reads from 9.2 on. Then groups are
    silently spread over the workers, and what their tests share is made once in each
    (github.com/pytest-dev/pytest-xdist/issues/1386).
    """
    groups = sorted({mark.args[0] for mark in item.iter_markers("xdist_group")})
    name = getattr(item, "_id", None)
    if groups and name is not None:
        item._id = type(name).parse(f"{name}@{'_'.join(groups)}")  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)
def java_for_spark(request: pytest.FixtureRequest) -> None:
    """Point JAVA_HOME at a Java that Spark can use, where a test of this run needs one."""
    if any(item.get_closest_marker("spark") is not None for item in request.session.items):
        os.environ.update(java_environment())
