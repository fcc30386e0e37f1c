"""A race between two lines of a class for threads is found by its name, whatever the class is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run

CLASSES = '''
import heapq, threading, time

class Full(Exception): pass
class Empty(Exception): pass

class Careful:
    """Each call is whole, under one lock."""
    def __init__(self, maxsize):
        self.changed, self.maxsize, self.items = threading.Condition(), maxsize, []
    def put(self, item):
        with self.changed:
            while len(self.items) >= self.maxsize:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()
    def get(self):
        with self.changed:
            while not self.items:
                self.changed.wait()
            self.changed.notify_all()
            return self.items.pop(0)
    def put_nowait(self, item):
        with self.changed:
            if len(self.items) >= self.maxsize:
                raise Full
            self.items.append(item)
            self.changed.notify_all()
    def get_nowait(self):
        with self.changed:
            if not self.items:
                raise Empty
            self.changed.notify_all()
            return self.items.pop(0)

class HastyPut(Careful):
    """Its put_nowait alone has no lock."""
    def put_nowait(self, item):
        if len(self.items) >= self.maxsize:
            raise Full
        self.items.append(item)
        with self.changed:
            self.changed.notify_all()

class HastyGet(Careful):
    """Its get_nowait alone has no lock."""
    def get_nowait(self):
        if not self.items:
            raise Empty
        first = self.items[:1]
        self.items = self.items[1:]
        with self.changed:
            self.changed.notify_all()
        return (first or [None])[0]

class Feeding(Careful):
    """A thread of its own takes each item in; put_nowait hands it over."""
    put = None
    def __init__(self, maxsize):
        super().__init__(maxsize)
        self.handed = []
        threading.Thread(target=self.feed, daemon=True).start()
    def feed(self):
        while True:
            with self.changed:
                while not self.handed:
                    self.changed.wait()
                self.items.append(self.handed.pop(0))
                self.changed.notify_all()
    def put_nowait(self, item):
        with self.changed:
            if len(self.items) + len(self.handed) >= self.maxsize:
                raise Full
            self.handed.append(item)
            self.changed.notify_all()

class Asking(Careful):
    """It polls until its time is over, by a clock."""
    def get_nowait(self):
        end = time.monotonic()
        while not self.items:
            if time.monotonic() > end:
                raise Empty
        return super().get_nowait()

class Timer:
    """Each call is whole, under one lock; tasks run outside of it."""
    def __init__(self):
        self.heap, self.added, self.lock = [], 0, threading.Lock()
    def number(self):
        self.added += 1
        return self.added
    def schedule(self, delay, callback):
        with self.lock:
            task = (time.monotonic() + delay, self.number(), callback)
            heapq.heappush(self.heap, task)
        return task
    def cancel(self, task):
        with self.lock:
            self.heap.remove(task)
            heapq.heapify(self.heap)
    def first(self):
        with self.lock:
            if self.heap and self.heap[0][0] <= time.monotonic():
                return heapq.heappop(self.heap)
    def run_pending(self):
        while task := self.first():
            try:
                task[2]()
            except Exception:
                pass

class HastyRun(Timer):
    """It looks at the first task, and then takes whatever is the first."""
    def first(self):
        with self.lock:
            due = self.heap and self.heap[0][0] <= time.monotonic()
        with self.lock:
            if due and self.heap:
                return heapq.heappop(self.heap)

class HastyAdd(Timer):
    """Two tasks may get one number, and then one of the two is known by it."""
    def __init__(self):
        super().__init__()
        self.tasks = {}
    def schedule(self, delay, callback):
        number = self.added + 1
        self.tasks[number] = super().schedule(delay, lambda: self.run(number, callback))
        return number
    def number(self):
        return super().number()
    def run(self, number, callback):
        if self.tasks.pop(number, None):
            callback()
    def cancel(self, number):
        task = self.tasks.pop(number, None)
        if task in self.heap:
            super().cancel(task)
'''


WHOLE = '''
import racy

class Whole:
    """All that it does, a part of another module does."""
    __slots__ = ("part",)
    def __init__(self, maxsize):
        self.part = racy.HastyPut(maxsize)
    def put_nowait(self, item):
        return self.part.put_nowait(item)
    def get_nowait(self):
        return self.part.get_nowait()
'''


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the classes, in which targets are looked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "racy.py").write_text(CLASSES)
    (tmp_path / "whole.py").write_text(WHOLE)


def broken(capsys: pytest.CaptureFixture[str], suite: str, spec: str, *words: str) -> set[str]:
    """The rules that a default run finds broken, but for the order among waiters: a SHOULD."""
    run(root, ["conform", spec, "--suite", suite, "--json", *words])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["exit_code"] in (0, 1)
    return {each["rule"] for each in document["results"]
            if each["verdict"] == "violated"} - {"QUEUE-12", "PERMIT-6"}


# --- queues --------------------------------------------------------------------------------------

@pytest.mark.parametrize(("name", "rules"), [
    ("HastyPut", {"QUEUE-1"}), ("HastyGet", {"QUEUE-6", "QUEUE-3", "QUEUE-4"})])
def test_a_call_that_never_waits_is_stopped_beside_calls_that_wait(
    name: str, rules: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A put or a get that answers at once may be the only one without a lock."""
    assert rules & broken(capsys, "queue", f"thread:racy:{name}", "--cases", "24")


def test_the_lines_of_parts_are_those_of_the_class(capsys: pytest.CaptureFixture[str]) -> None:
    """A class may leave all that it does to a part of another module."""
    assert "QUEUE-1" in broken(capsys, "queue", "thread:whole:Whole", "--cases", "8")


@pytest.mark.parametrize("name", ["Careful", "Feeding", "Asking"])
def test_a_queue_whose_calls_are_whole_keeps_its_rules_wherever_they_are_stopped(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Calls that wait, and calls that answer at once, both stopped between lines; with a thread of
    its own that has time to do what it is handed, and with a loop that ends by the clock.
    """
    assert not broken(capsys, "queue", f"thread:racy:{name}", "--cases", "6")


# --- timers --------------------------------------------------------------------------------------

@pytest.mark.parametrize(("name", "rule"), [
    ("HastyRun", "KAFKA-W24"), ("HastyAdd", "KAFKA-W25")])
def test_calls_of_a_timer_overlap(
    name: str, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One adds or cancels while the timer runs what is due, and two add at once."""
    assert rule in broken(capsys, "timer", f"thread:racy:{name}", "--cases", "12")


@pytest.mark.parametrize("spec", [
    "thread:racy:Timer", "thread:sched:scheduler", "thread:racy:HastyRun?threads=one"])
def test_a_timer_keeps_its_rules_whatever_calls_overlap(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """If its calls are whole, a cancel that comes too late included; or if one thread calls it."""
    assert not broken(capsys, "timer", spec, "--cases", "12")
