"""A class that cannot be tested by its name is refused with advice; its clock is the loop's."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path

import pytest

from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import BAD_INPUT, run
from checkvalve.conformance.foreign.place import Place
from checkvalve.conformance.foreign.surface import Surface
from checkvalve.conformance.systems.queue.named_ways import WANTED

CLASSES = '''
import asyncio, threading, time
from collections import deque

class LoopExit(Exception):
    """As gevent's."""

class Green:
    def __init__(self, maxsize):
        self.maxsize, self.items = maxsize, deque()
    def put(self, item, block=True):
        if len(self.items) < self.maxsize:
            self.items.append(item)
        elif block:
            raise LoopExit("This operation would block forever")
        else:
            raise asyncio.QueueFull
    def get(self, block=True):
        if self.items:
            return self.items.popleft()
        raise LoopExit("This operation would block forever") if block else asyncio.QueueEmpty

class Bucket:
    """For tasks, by time.monotonic."""
    def __init__(self, capacity, rate):
        self.capacity, self.rate, self.tokens = capacity, rate, capacity
        self.at, self.turn = time.monotonic(), asyncio.Lock()
    async def acquire(self, permits=1):
        async with self.turn:
            while not self.has(permits):
                await asyncio.sleep((permits - self.tokens) / self.rate)
            self.tokens -= permits
    def has(self, permits):
        now = time.monotonic()
        self.tokens = min(self.capacity, self.tokens + (now - self.at) * self.rate)
        self.at = now
        return self.tokens >= permits

class Both:
    """For threads and for tasks, by names of their own."""
    def __init__(self, value=1):
        self.value = value
    def green_acquire(self):
        pass
    async def async_acquire(self):
        pass
    def release(self):
        pass

class Patient:
    """A limit for threads that waits, unless it is asked not to."""
    def __init__(self, capacity, rate):
        self.capacity, self.rate, self.tokens = capacity, rate, capacity
        self.at, self.lock = time.monotonic(), threading.Lock()
    def acquire(self, permits=1, blocking=True):
        with self.lock:
            while not Bucket.has(self, permits):
                if not blocking:
                    return False
                time.sleep(1)
            self.tokens -= permits
            return True

class Slow(Patient):
    def acquire(self, permits=1):
        return super().acquire(permits)

class Sink:
    def __init__(self, maxsize, path):
        self.seen = set()
    def put(self, item):
        pass

class Permits:
    """Its part has the usual names, and is a lock of the library."""
    def __init__(self, value=1):
        self.changed = threading.Condition()
    def down(self):
        pass
    def up(self):
        pass

def ends(maxsize):
    return Green(maxsize), Green(maxsize)

def sink(maxsize):
    return Sink(maxsize, "")
'''


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the classes, in which targets are looked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CLASSES)


@pytest.mark.parametrize(("spec", "suite", "words"), [
    ("thread:multiprocessing:Queue", "queue",
     ("is shared between processes: its _reader is a Connection", "judge the log: docs/logs.md")),
    ("thread:multiprocessing:SimpleQueue", "queue", ("is shared between processes",)),
    ("python:mine:ends", "queue",
     ("makes 2 objects, and one is tested: Green, Green", "has the methods put and get")),
    ("python:mine:Both", "awaits.permits", ("It may be --names acquire=async_acquire",)),
    ("thread:mine:Permits", "awaits.permits", (" it has down, up. Or name",)),
    ("thread:mine:Slow", "rate", ("acquire of thread:mine:Slow waits for its permits",)),
    ("python:mine:Sink", "queue", ("def make(capacity): return Sink(…)",)),
    ("python:mine:sink", "queue", ("Or name a class of yours that calls it",)),
])
def test_the_message_on_what_cannot_be_tested_says_what_to_do(
    spec: str, suite: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Parts of processes, two objects, other names, other arguments, and a method that is
    missing.
    """
    assert run(root, ["conform", spec, "--suite", suite]) == BAD_INPUT
    error = capsys.readouterr().err
    assert all(each in error for each in words), error
    # A set or a lock that it keeps is no part to be tested.
    assert "seen.pop" not in error and "changed.acquire" not in error


@pytest.mark.parametrize(("at_first", "found"), [(0, "size"), (2, "__len__")])
def test_an_attribute_that_is_not_0_at_first_is_not_the_number_of_items(
    at_first: int, found: str
) -> None:
    """It is how many a queue may hold, unless --names says otherwise."""
    class Queue(deque[str]):
        size = at_first
        put, get = deque[str].append, deque[str].popleft

    for names, called in (({}, found), ({"size": "size"}, "size")):
        place = Place("asyncio", "mine", "Queue", names)
        assert Surface(Queue(), WANTED, place).called["size"] == called


def test_what_waits_for_greenlets_is_not_offered_and_the_rest_is_judged(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """A class of gevent raises LoopExit where a thread would wait."""
    run(root, ["conform", "python:mine:Green", "--suite", "queue", "--cases", "12"])
    shown = capsys.readouterr().out
    assert "(waits in C, at the loop of gevent: not offered)" in shown
    assert "violated" not in shown
    assert "passed 4 rules" in shown


@pytest.mark.parametrize(("spec", "rules"), [
    ("asyncio:mine:Bucket", {"FLOW-80", "FLOW-82"}),
    ("thread:mine:Patient", {"FLOW-80", "FLOW-81"})])
def test_a_limit_is_judged_by_one_clock(
    spec: str, rules: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """``time.monotonic`` and the loop's time are the same, and a call that may wait is asked not
    to.
    """
    words = ["conform", spec, "--suite", "rate", "--cases", "12", "--json"]
    run(root, words)
    results = json.loads(capsys.readouterr().out)["results"]
    assert {each["rule"] for each in results if each["verdict"] == "passed"} >= rules
    assert not [each for each in results if each["verdict"] == "violated"]
