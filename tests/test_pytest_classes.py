"""A suite as a class of pytest: one method is written, and each rule is a test."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from checkvalve.conformance import testing
from checkvalve.conformance.systems.catalogue import SYSTEMS

TESTS = '''
import threading
from collections import deque
from checkvalve.conformance.testing import QueueConformance, SemaphoreConformance

class Between:
    def __init__(self, capacity):
        self.changed = threading.Condition()
        self.items, self.capacity = deque(), capacity
    def put(self, item):
        with self.changed:
            while len(self.items) >= self.capacity:
                self.changed.wait()
        with self.changed:
            self.items.append(item)
            self.changed.notify_all()
    def get(self):
        with self.changed:
            while not self.items:
                self.changed.wait()
            self.changed.notify_all()
            return self.items.popleft()
    def qsize(self):
        return len(self.items)

class TestBetween(QueueConformance):
    cases, known = 9, ("QUEUE-12",)
    def make_queue(self, capacity):
        return Between(capacity)

class TestSemaphore(SemaphoreConformance):
    cases = 9
    def make_semaphore(self, capacity):
        import asyncio
        return asyncio.Semaphore(capacity)

class TestNothing(QueueConformance):
    def make_queue(self, capacity):
        return object()
'''
DESIGN = """
checkvalve: 2
name: NAME
tasks:
  a: {kind: map}
  b: {kind: map}
links:
  - {from: a, to: b, capacity: 1}
  - {from: b, to: a, capacity: 1}
"""
CHECKS = """
def test_a_design(check_design):
    check_design("design.yaml")
"""


def run_pytest(folder: Path, *words: str) -> tuple[int, str, dict[str, str]]:
    """The exit code, the output, and what became of each test."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--junitxml=junit.xml", *words],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
    became = {f"{each.get('classname', '').rpartition('.')[2]} {each.get('name')}":
              next((child.tag for child in each), "passed") for each in cases}
    return done.returncode, done.stdout, became


def test_each_rule_is_a_test_that_tells_the_story_and_how_to_run_it_again(
    tmp_path: Path
) -> None:
    """A broken rule fails, a known or not shown one is skipped, and the rest passes."""
    (tmp_path / "test_mine.py").write_text(TESTS)
    code, out, became = run_pytest(tmp_path)
    assert code == 1
    assert became["TestBetween test_rule[QUEUE-1]"] == "failure"
    assert became["TestBetween test_rule[QUEUE-12]"] == "skipped"
    assert became["TestBetween test_rule[QUEUE-9]"] == "skipped"
    assert became["TestSemaphore test_rule[PERMIT-1]"] == "passed"
    assert "checkvalve replay " in out and "a call that can continue does" in out
    failures, _, _ = out.partition("= short test summary")     # it repeats messages under CI
    assert "Seed: 0" in out and failures.count("has no method for put") == 1
    assert "It cannot be run: test_mine.py::TestNothing::test_rule[QUEUE-1] says how" in out
    assert "Traceback" not in out and "checkvalve/conformance/" not in out


def test_one_rule_is_chosen_by_its_id(tmp_path: Path) -> None:
    """As any other test is."""
    (tmp_path / "test_mine.py").write_text(TESTS)
    _, _, became = run_pytest(tmp_path, "-k", "TestSemaphore and PERMIT-3]")
    assert became == {"TestSemaphore test_rule[PERMIT-3]": "passed"}


@pytest.mark.parametrize(("kind", "code"), [("source", 0), ("map", 1)])
def test_a_design_is_checked_by_a_fixture(kind: str, code: int, tmp_path: Path) -> None:
    """The test fails with what `check` prints."""
    text = DESIGN if kind == "map" else DESIGN.replace(
        "  - {from: b, to: a, capacity: 1}\n", "").replace("a: {kind: map}", "a: {kind: source}")
    (tmp_path / "design.yaml").write_text(text.replace("b: {kind: map}", "b: {kind: sink}")
                                          if kind == "source" else text)
    (tmp_path / "test_design.py").write_text(CHECKS)
    ended, out, _ = run_pytest(tmp_path)
    assert ended == code and (code == 0 or "checkvalve check design.yaml ended with 1" in out)


DOCS = (Path(__file__).parents[1] / "docs" / "pytest.md").read_text(encoding="utf-8")


def test_the_classes_of_the_docs_run_as_they_are(tmp_path: Path) -> None:
    """One for each suite that takes a class by its name; here in two cases each."""
    found = re.search(r"<!-- tested: classes -->\n\n```python\n(.*?)```", DOCS, re.DOTALL)
    assert found is not None
    (tmp_path / "test_docs.py").write_text(
        re.sub(r"(class Test\w+\(\w+\):)", r"\1\n    cases = 2", found[1]))
    code, out, became = run_pytest(tmp_path, "-rs")
    assert code == 0 and set(became.values()) <= {"passed", "skipped"}
    classes = {each.partition(" ")[0] for each in became}
    assert len(classes) == len(testing.__all__) and "too few cases" in out
    assert {kind.suite for kind in vars(testing).values() if hasattr(kind, "suite")} == {
        system.name for system in SYSTEMS.values() if system.looked_for}


def test_a_failure_runs_again_by_the_command_that_it_prints(tmp_path: Path) -> None:
    """From the folder of the run, also if the test and its class lie in folders below."""
    (tmp_path / "tests").mkdir()
    tests = TESTS.partition("class TestSemaphore")[0]
    (tmp_path / "tests" / "test_mine.py").write_text(tests)
    _, out, _ = run_pytest(tmp_path, "-k", "QUEUE-1]")
    line = next(line for line in out.splitlines() if line.startswith("Run it again: "))
    command = line.removeprefix("Run it again: ").replace(
        "checkvalve replay", f"{sys.executable} -m checkvalve.conformance.cli replay")
    again = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True,
                           check=False)
    assert again.returncode == 1 and "This breaks QUEUE-1" in again.stdout, again.stderr


def test_a_class_that_there_is_not_is_named_with_those_that_there_are() -> None:
    """At its import, as a suite is called after what it judges: rate, and the class a limiter."""
    with pytest.raises(ImportError, match="did you mean TimerConformance.* LimiterConformance"):
        exec("from checkvalve.conformance.testing import TimersConformance")     # noqa: S102
    assert not hasattr(testing, "__path__")
