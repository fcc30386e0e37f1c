"""A class by its name that waits in C, or that has its methods elsewhere, is soon known as such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.notation.errors import InputError

CLASSES = '''
import asyncio, os, queue, select

class Piped:
    """Python code, over a pipe: its get waits in C."""
    def __init__(self, maxsize):
        self.reads, self.writes = os.pipe()
    def put(self, item):
        os.write(self.writes, item.encode().ljust(64))
    def get(self):
        return os.read(self.reads, 64).decode().strip()

class Polled(Piped):
    def get_nowait(self):
        return self.get() if select.select([self.reads], [], [], 0)[0] else None

class Parted:
    def __init__(self, maxsize):
        self.for_threads = queue.Queue(maxsize)

class Async:
    def __init__(self, maxsize):
        self.queue = asyncio.Queue(maxsize)
    async def put(self, item, blocking=True):
        await self.queue.put(item)
    async def get(self, blocking=True):
        return await self.queue.get()

class Filled:
    def __init__(self, items=()):
        self.items = [*items]
    def put(self, item): pass
    def get(self): pass

class Weighed:
    def __init__(self, capacity, rate):
        self.left = capacity
    def try_acquire(self, name="all", weight=1, blocking=True):
        assert isinstance(name, str) and not blocking
        self.left -= weight
        return self.left >= 0
'''


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the classes, in which targets are looked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.py").write_text(CLASSES)


def asked(spec: str, *requests: dict[str, Any], port: str = "queue", **more: int) -> list[Any]:
    """The answers of a target to its hello, and to some requests."""
    opened = resolve_target(spec).open()
    try:
        hello = {"do": "hello", "protocol": 1, "port": port, "settings": {"capacity": 1} | more}
        return [opened.request(each)["ok"] for each in (hello, *requests)]
    finally:
        opened.close()


def refusal(spec: str) -> InputError:
    """The error of a hello."""
    with pytest.raises(InputError) as raised:
        asked(spec)
    return raised.value


def line_of(text: str) -> str:
    """The number of the line of the classes that has a text."""
    return str(next(at for at, line in enumerate(CLASSES.splitlines(), 1) if text in line))


def test_of_a_class_that_waits_in_c_the_calls_are_offered_that_answer_at_once() -> None:
    """Its get is found asleep, and the hello says where; a poll works all the same."""
    hello, poll = asked("thread:odd:Polled", {"do": "poll"})
    assert f"odd.py:{line_of('os.read')}: not offered" in hello["called"]["get"]
    assert "poll" in hello["can"]
    assert not {"take", "put", "pause"} & {*hello["can"]}
    assert poll is None


def test_a_class_of_which_nothing_is_left_is_refused_with_the_line_that_waits() -> None:
    """Its author learns which call it is, and what to write."""
    error = refusal("thread:odd:Piped")
    assert error.where.endswith(f"odd.py:{line_of('os.read')}")
    assert "get of thread:odd:Piped waits in C" in error.what
    assert "--names put_nowait=…" in error.next_step


def test_methods_of_a_part_are_proposed_with_their_names() -> None:
    """As of a class with one part for threads and one for tasks."""
    assert "--names put=for_threads.put,get=for_threads.get." in (
        refusal("thread:odd:Parted").next_step)


def test_a_coroutine_that_could_give_way_is_no_poll() -> None:
    """Its result has to be awaited, whatever its arguments."""
    hello, = asked("asyncio:odd:Async")
    assert not {"poll", "offer"} & {*hello["can"]}


def test_an_argument_that_was_no_capacity_is_named() -> None:
    """The exception of a constructor is not reported as an answer of a full queue."""
    error = refusal("thread:odd:Filled")
    assert "Filled(1): it raised TypeError: " in error.what
    assert error.next_step.startswith("It takes items. Say which of them is capacity")


def test_permits_are_asked_for_by_the_name_of_their_argument() -> None:
    """And an ask that could wait is asked not to."""
    _, first, second = asked(
        "thread:odd:Weighed", {"do": "take", "permits": 3}, {"do": "take", "permits": 1},
        port="rate", capacity=3, rate=1)
    assert (first, second) == (True, False)
