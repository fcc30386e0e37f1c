"""Semaphores, conditions and events for threads are run by their names, and stopped on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run

CLASSES = '''
import threading

class Semaphore:
    """It looks at the count, and takes one without a lock."""
    def __init__(self, value=1):
        self.count, self.changed = value, threading.Condition()
    def acquire(self):
        while True:
            if self.count > 0:
                self.count -= 1
                return
            with self.changed:
                if self.count <= 0:
                    self.changed.wait()
    def release(self):
        with self.changed:
            self.count += 1
            self.changed.notify()

class Fair:
    """Waiters form a line, each with a lock of its own."""
    def __init__(self, value=1):
        self.count, self.lock, self.line = value, threading.Lock(), []
    def acquire(self):
        with self.lock:
            if self.count > 0 and not self.line:
                self.count -= 1
                return
            mine = threading.Lock()
            mine.acquire()
            self.line.append(mine)
        mine.acquire()
    def release(self):
        with self.lock:
            if self.line:
                self.line.pop(0).release()
            else:
                self.count += 1

class AtOnce(Fair):
    """Its acquire does not wait."""
    def acquire(self):
        return False

class Condition:
    """It gives its lock back before it is among the sleepers."""
    def __init__(self):
        self.lock, self.sleepers = threading.Lock(), []
    def acquire(self):
        self.lock.acquire()
    def release(self):
        self.lock.release()
    def wait(self):
        mine = threading.Lock()
        mine.acquire()
        self.lock.release()
        self.sleepers.append(mine)
        mine.acquire()
        self.lock.acquire()
    def notify(self, n=1):
        for mine in self.sleepers[:n]:
            mine.release()
        del self.sleepers[:n]

class Event:
    """To set it wakes one."""
    def __init__(self):
        self.changed, self.flag = threading.Condition(), False
    def wait(self):
        with self.changed:
            if not self.flag:
                self.changed.wait()
    def set(self):
        with self.changed:
            self.flag = True
            self.changed.notify()
'''


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the classes, in which targets are looked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "held.py").write_text(CLASSES)


def found(
    capsys: pytest.CaptureFixture[str], suite: str, spec: str, *words: str
) -> dict[str, dict[str, Any]]:
    """The verdict of a run on each rule."""
    code = run(root, ["conform", spec, "--suite", suite, "--json", *words])
    said = capsys.readouterr()
    assert code in (0, 1, 2) and said.out, f"{code}: {said.err}"
    document: dict[str, Any] = json.loads(said.out)
    return {each["rule"]: each for each in document["results"]}


@pytest.mark.parametrize(("suite", "name", "rule"), [
    ("awaits.permits", "Semaphore", "PERMIT-1"), ("awaits.condition", "Condition", "COND-3"),
    ("awaits.gate", "Event", "GATE-2")])
def test_what_a_thread_breaks_that_is_stopped_on_its_way_is_found(
    suite: str, name: str, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A count that two see, a notification between two lines, and waiters that are forgotten."""
    results = found(capsys, suite, f"thread:held:{name}", "--cases", "1", "--seed", "0")
    assert results[rule]["verdict"] == "violated"


@pytest.mark.parametrize(("suite", "spec"), [
    ("awaits.permits", "thread:held:Fair"), ("awaits.gate", "thread:threading:Event")])
def test_what_keeps_its_rules_is_not_accused_wherever_it_is_stopped(
    suite: str, spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A call may be stopped before it joins the line, or before it looks at the event."""
    results = found(capsys, suite, spec, "--cases", "1")
    assert "violated" not in [each["verdict"] for each in results.values()]


@pytest.mark.parametrize(("spec", "words"), [
    ("thread:threading:RLock", "threading:_RLock, the same in Python, can be tested"),
    ("thread:held:AtOnce", "what is called acquire here waits")])
def test_what_cannot_be_judged_is_refused_with_its_reason(
    spec: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No verdict on a stand-in is one on a lock that is written in C."""
    assert run(root, ["conform", spec, "--suite", "awaits.permits"]) not in (0, 1)
    assert words in " ".join(capsys.readouterr().err.split())
