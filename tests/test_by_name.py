"""A class is tested by its name: its methods are found, its waits seen, its lines interleaved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from checkvalve.conformance.foreign.place import place_of, with_names
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.ports.base import Session
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.notation.errors import InputError, TargetError

CLASSES = '''
import asyncio, queue, threading, time
from collections import deque
from concurrent.futures import ThreadPoolExecutor

class Careful:
    def __init__(self, capacity):
        self.changed = threading.Condition()
        self.items, self.capacity = deque(), capacity
    def put(self, item):
        with self.changed:
            while len(self.items) >= self.capacity:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()
    def get(self):
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.popleft()
            self.changed.notify_all()
            return item
    def qsize(self):
        return len(self.items)

class Unlocked(Careful):
    def put(self, item):
        while len(self.items) >= self.capacity:
            with self.changed:
                self.changed.wait()
        self.items.append(item)
        with self.changed:
            self.changed.notify_all()

class Between(Careful):
    def put(self, item):
        with self.changed:
            while len(self.items) >= self.capacity:
                self.changed.wait()
        with self.changed:
            self.items.append(item)
            self.changed.notify_all()

class Unsized:
    def __init__(self, capacity):
        self.changed = threading.Condition()
        self.items, self.capacity = deque(), capacity
    put, get = Between.put, Careful.get

class Belt:
    def __init__(self, slots):
        self.lock, self.parcels, self.slots = threading.Lock(), [], slots
    def load(self, parcel):
        with self.lock:
            if len(self.parcels) >= self.slots:
                return False
            self.parcels.append(parcel)
            return True
    def unload(self):
        with self.lock:
            return self.parcels.pop(0) if self.parcels else None

class LooseBelt(Belt):
    """Gives its lock back between looking and putting, or taking."""
    def load(self, parcel):
        with self.lock:
            full = len(self.parcels) >= self.slots
        if full:
            return False
        with self.lock:
            self.parcels.append(parcel)
        return True
    def unload(self):
        if not self.parcels:
            return None
        first = self.parcels[0]
        self.parcels = self.parcels[1:]
        return first

class SlowBelt(Belt):
    async def load(self, parcel):
        return super().load(parcel)
    async def unload(self):
        return super().unload()

class Polling(Careful):
    def get(self):
        while True:
            with self.changed:
                self.changed.wait(0.05)
                if self.items:
                    return self.items.popleft()

class Sleeping(Careful):
    def get(self):
        began = time.monotonic()
        time.sleep(2.5)
        assert time.monotonic() - began >= 2.5
        return super().get()

class Handing(Careful):
    """Each put is handed to a thread that the class starts."""
    def __init__(self, capacity):
        super().__init__(capacity)
        self.asked = queue.Queue()
        self.worker = threading.Thread(target=self.work, daemon=True)
        self.worker.start()
    def work(self):
        while True:
            item, done = self.asked.get()
            Careful.put(self, item)
            done.set()
    def put(self, item):
        assert self.worker.is_alive()
        done = threading.Event()
        self.asked.put((item, done))
        done.wait()

class Pooled(Careful):
    """A put runs in a pool of threads, a get once its thread has ended."""
    def __init__(self, capacity):
        super().__init__(capacity)
        self.pool = ThreadPoolExecutor(1)
    def put(self, item):
        self.pool.submit(super().put, item).result()
    def get(self):
        found = []
        taker = threading.Thread(target=lambda: found.append(Careful.get(self)))
        taker.start()
        taker.join()
        return found[0]

class Raising(Careful):
    def put(self, item):
        threading.Thread(target=[].pop).start()
        super().put(item)


class Strange:
    def __init__(self, size):
        self.inner = queue.Queue(size)
    def write(self, item):
        self.inner.put(item)
    def read(self):
        return self.inner.get()
    def write_if(self, item):
        try:
            self.inner.put(item, block=False)
        except queue.Full:
            raise RuntimeWarning("no room") from None

def make_queue(capacity):
    return Careful(capacity)

def make_other(capacity):
    return asyncio.Queue(capacity)

class Bucket:
    def __init__(self, rate, capacity):
        self.rate, self.capacity, self.tokens = rate, capacity, capacity
        self.at = time.monotonic()
    def allow(self, n=1):
        now = time.monotonic()
        tokens = min(self.capacity, self.tokens + (now - self.at) * self.rate)
        self.at = now
        if tokens >= n:
            self.tokens = tokens - n
            return True
        self.tokens = tokens
        return False

class OneByOne:
    def __init__(self, rate, capacity):
        self.inner, self.lock = Bucket(rate, capacity), threading.Lock()
    def allow(self):
        with self.lock:
            return self.inner.allow()

class Timer:
    def __init__(self):
        self.tasks = []
    def schedule(self, delay, callback):
        task = [time.monotonic() + delay, callback]
        self.tasks.append(task)
        return task
    def cancel(self, task):
        self.tasks.remove(task)
    def run_pending(self):
        for task in sorted(self.tasks, key=lambda each: each[0]):
            if task[0] <= time.monotonic():
                self.tasks.remove(task)
                task[1]()
'''
PAUSES = range(1, 12)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the classes, in which targets are looked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CLASSES)


@contextmanager
def session(spec: str, port: str = "queue", **settings: int) -> Iterator[Session]:
    """A session with a target, greeted."""
    opened = resolve_target(spec).open()
    opened.request({"do": "hello", "protocol": 1, "port": port,
                    "settings": settings or {"capacity": 1}})
    try:
        yield opened
    finally:
        opened.close()


def said(opened: Session, do: str, **more: Any) -> Any:
    """The answer of a target, without the events."""
    reply = opened.request({"do": do, **more})
    return reply.get("ok", reply.get("waiting"))


def conform(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """The document of a run."""
    run(root, ["conform", *words, *([] if "--suite" in words else ["--suite", "queue"]), "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def largest(spec: str, steps: int) -> int:
    """The number of items that a queue of one holds after two puts, the first stopped on its way.
    """
    with session(spec) as opened:
        said(opened, "pause", steps=steps)
        said(opened, "put", item="a1")
        said(opened, "put", item="a2")
        said(opened, "settle")
        size: int = said(opened, "size")
        return size


# --- threads -------------------------------------------------------------------------------------

@pytest.mark.parametrize("spec", ["thread:queue:Queue", "thread:mine:Careful"])
@pytest.mark.parametrize("steps", PAUSES)
def test_a_queue_that_keeps_its_lock_holds_wherever_a_put_is_stopped(
    spec: str, steps: int
) -> None:
    """It holds one item, whichever put is in, and the other one waits."""
    assert largest(spec, steps) == 1


@pytest.mark.parametrize("spec", ["thread:mine:Unlocked", "thread:mine:Between"])
def test_a_put_that_looks_and_appends_later_is_found_to_hold_too_much(spec: str) -> None:
    """After one of its lines; whether it has no lock, or gives it back between the two."""
    assert max(largest(spec, steps) for steps in PAUSES) == 2


BELT = "put_nowait=load,get_nowait=unload"


def test_a_call_that_never_waits_is_stopped_between_its_lines_as_well() -> None:
    """Two offers are accepted by a belt of one that looks and puts later; its event says so."""
    accepted = set()
    for steps in PAUSES:
        with session(with_names("thread:mine:LooseBelt", (BELT,))) as opened:
            said(opened, "begin_offer", item="a1", steps=steps)
            second = said(opened, "offer", item="a2")
            ends = opened.request({"do": "settle"}).get("events", [])
            accepted.add(second and [each["ok"] for each in ends] == [True])
    assert True in accepted


@pytest.mark.parametrize("steps", PAUSES)
def test_a_lock_makes_a_call_that_never_waits_whole(steps: int) -> None:
    """Wherever an offer is stopped, one of two is refused by a belt of one."""
    with session(with_names("thread:mine:Belt", (BELT,))) as opened:
        first = opened.request({"do": "begin_offer", "item": "a1", "steps": steps})
        second = said(opened, "offer", item="a2")
        ends = opened.request({"do": "settle"}).get("events", [])
        assert [first.get("ok", ends and ends[0]["ok"]), second] in ([True, False], [False, True])


@pytest.mark.parametrize("spec", [
    "thread:mine:LooseBelt?put_nowait=load&get_nowait=unload", "thread:mine:Between",
    "thread:mine:Unsized"])
def test_the_suite_finds_it_in_a_few_steps(
    spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a run of the cases that look for each rule once; whether it waits, or says its size, or
    not.
    """
    results = conform(capsys, spec, "--cases", "9", "--fixtures", "found")["results"]
    saved = [Path(each["fixture"]) for each in results
             if each["rule"] in ("QUEUE-1", "QUEUE-7") and each["fixture"]]
    assert saved
    assert min(len(json.loads(each.read_text())["steps"]) for each in saved) <= 6


def test_a_poll_that_needs_a_lock_waits_for_whoever_was_stopped_with_it() -> None:
    """The stopped call continues line by line, until the lock is free; the rest of it comes at
    settle.
    """
    with session("thread:queue:Queue") as opened:
        said(opened, "pause", steps=6)
        ticket = said(opened, "put", item="a1")
        assert said(opened, "poll") == "a1"
        events = opened.request({"do": "settle"})["events"]
        assert events == [{"done": ticket, "ok": True}]


def test_a_wait_with_a_time_limit_ends_at_settle() -> None:
    """Once for each limit that is set by then, for the class may wait again and again."""
    with session("thread:mine:Polling") as opened:
        ticket = said(opened, "take")
        said(opened, "put", item="a1")
        assert opened.request({"do": "settle"})["events"] == [{"done": ticket, "ok": "a1"}]


def test_a_class_that_sleeps_costs_no_time() -> None:
    """Its clock is the harness's."""
    with session("thread:mine:Sleeping") as opened:
        said(opened, "put", item="a1")
        ticket = said(opened, "take")
        assert opened.request({"do": "settle"})["events"] == [{"done": ticket, "ok": "a1"}]


@pytest.mark.parametrize("spec", ["thread:mine:Handing", "thread:mine:Pooled"])
def test_threads_that_the_class_starts_run_when_a_call_waits(spec: str) -> None:
    """They are started, waited for and joined as they are by ``threading``."""
    with session(spec) as opened:
        ticket = said(opened, "put", item="a1")
        assert opened.request({"do": "settle"})["events"] == [{"done": ticket, "ok": True}]
        second = said(opened, "put", item="a2")
        assert opened.request({"do": "settle"})["events"] == []
        taken = opened.request({"do": "take"})
        events = [*taken["events"], *opened.request({"do": "settle"})["events"]]
        assert {"done": second, "ok": True} in events
        assert taken.get("ok") == "a1" or {"done": taken["waiting"], "ok": "a1"} in events


def test_a_thread_that_raises_ends_the_session_with_its_error() -> None:
    """With the line of the class where it was."""
    with (pytest.raises(TargetError, match="IndexError"),
          session("thread:mine:Raising") as opened):
        said(opened, "put", item="a1")
        said(opened, "settle")


def test_what_waits_in_c_is_not_offered() -> None:
    """``queue.SimpleQueue`` is written in C: nobody would see it wait."""
    opened = resolve_target("thread:queue:SimpleQueue").open()
    greeting = opened.request({"do": "hello", "protocol": 1, "port": "queue",
                               "settings": {"capacity": 1}})["ok"]
    opened.close()
    assert greeting["can"] == ["offer", "poll", "size"]


def test_a_limit_that_two_threads_ask_at_once_is_found_to_give_too_much() -> None:
    """One of them is stopped between reading what is left and writing it."""
    given = set()
    for steps in PAUSES:
        with session("thread:mine:Bucket", "rate", capacity=1, rate=1) as opened:
            given.add(tuple(said(opened, "both", permits=1, other=1, steps=steps)))
    assert (True, True) in given


def test_a_limit_that_gives_one_permit_at_a_time_is_not_asked_for_more(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing has happened then, and the rules are judged by what it can be asked."""
    results = conform(capsys, "thread:mine:OneByOne", "--suite", "rate", "--cases", "18")["results"]
    assert {each["rule"]: each["verdict"] for each in results if each["reason"] != "not offered"} \
        == {"FLOW-80": "passed", "FLOW-81": "passed"}


def test_a_timer_runs_a_task_at_its_instant() -> None:
    """It is driven then, and reads the harness's clock."""
    with session("thread:mine:Timer", "timer", capacity=1, wheel=2) as opened:
        said(opened, "add", task=0, delay=30)
        said(opened, "add", task=1, delay=20)
        said(opened, "cancel", task=1)
        reply = opened.request({"do": "elapse", "now": 100})
        assert reply["ok"] == [{"task": 0, "at": 30}]


# --- names ---------------------------------------------------------------------------------------

def test_what_was_found_is_said_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Before the table, in one line."""
    run(root, ["conform", "thread:queue:Queue", "--suite", "queue", "--cases", "1"])
    assert "Read off the class: put = put, get = get, put_nowait = put_nowait, " in (
        capsys.readouterr().out)


def test_other_names_are_said_by_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    """The exception that says no has one, too."""
    names = "put=write,get=read,put_nowait=write_if,full=RuntimeWarning"
    document = conform(capsys, "thread:mine:Strange", "--names", names, "--cases", "2")
    assert document["targets"][0]["error"] == ""
    assert document["targets"][0]["target"] == f"thread:mine:Strange?{names.replace(',', '&')}"


@pytest.mark.parametrize(("spec", "names", "words"), [
    ("thread:mine:Strange", (), "has no method for put"),
    ("thread:mine:Careful", ("push=add",), "says push, which is no operation"),
    ("thread:mine:Careful", ("put=add",), "has no add"),
    ("thread:mine:Careful", ("put",), "is not two names"),
    ("reference", ("put=add",), "is no class"),
    ("thread:queue:Queue:x", (), "one part too many"),
    ("thread:queue", (), "names no class"),
    ("thread:queue.Queue", (), "here perhaps thread:queue:Queue"),
    ("thread:src/mine.py:Careful", (), "Write thread:mine:Careful"),
    ("thread:mine:Belt --names put_nowait=load,get_nowait=unload", (),
     "Write thread:mine:Belt?put_nowait=load&get_nowait=unload"),
    ("asyncio:queue:Queue", (), "is for threads"),
    ("thread:asyncio:Queue", (), "is for tasks"),
    ("thread:mine:Absent", (), "has no Absent"),
    ("thread:mine:CLASSES", (), "has no CLASSES"),
    ("thread:absent_module:Queue", (), "cannot be imported"),
    ("thread:queue:Qeue", (), "Did you mean Queue"),
    ("thread:mine:Careful", ("put=putt",), "Did you mean put"),
    ("thread:mine:Careful", ("putt=put",), "Did you mean put"),
    ("thread:mine:Careful", ("get=put",), "needs 1 argument, and get is called with none"),
    ("thread:collections:OrderedDict", (), "cannot be made by OrderedDict(1)"),
    ("thread:mine:Belt", (), "send, enqueue, add, append, and none for get: none of get, pop"),
    ("thread:mine:Belt", ("put_nowait=load",), "(of methods that never wait: --names get_now"),
    ("thread:mine:Belt", ("put=load,get_nowait=unload",), "answers at once, by False; what"),
    ("thread:mine:Belt", ("put_nowait=load,get=unload",), "Write --names get_nowait=unload, and"),
    ("asyncio:asyncio:Semaphore", (), "find all that they need: --suite awaits.permits"),
])
def test_a_name_that_does_not_fit_is_bad_input(
    spec: str, names: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what to write instead."""
    said_by = [word for name in names for word in ("--names", name)]
    assert run(root, ["conform", spec, *said_by, "--suite", "queue"]) == 64
    captured = capsys.readouterr()
    assert words in captured.out + captured.err


@pytest.mark.parametrize("suite", ["rate", "awaits.permits"])
def test_a_queue_is_told_which_suites_are_its_own(
    suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its ``get`` is no acquire, for its ``put`` needs an item."""
    assert run(root, ["conform", "asyncio:asyncio:Queue", "--suite", suite]) == 64
    captured = capsys.readouterr()
    assert "--suite queue" in captured.out + captured.err


def test_a_queue_that_never_waits_is_tested_by_what_it_has(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """Its refusals are refusals, and the rules of waiting are not offered."""
    names = "put_nowait=load,get_nowait=unload"
    document = conform(capsys, "thread:mine:Belt", "--names", names, "--cases", "9")
    found = {each["rule"]: each["verdict"] for each in document["results"]}
    assert found["QUEUE-1"] == found["QUEUE-2"] == "passed"
    assert document["targets"][0]["not_shown"]["not offered"][:2] == ["QUEUE-6", "QUEUE-7"]


def test_names_are_given_to_replay_and_identify_as_to_conform(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They look closer at the class that it tests."""
    found = conform(capsys, "thread:mine:LooseBelt", "--names", BELT, "--cases", "1",
                    "--fixtures", "found")["results"]
    fixture = next(each["fixture"] for each in found if each["fixture"])
    assert run(root, ["replay", fixture, "thread:mine:LooseBelt", "--names", BELT]) == 1
    assert run(root, ["identify", "thread:mine:Belt", "--names", BELT]) == 0
    assert "reject" in capsys.readouterr().out


def test_a_coroutine_that_refuses_is_no_put() -> None:
    """That shows at the first refusal, for what is called put waits for a free slot."""
    with session("asyncio:mine:SlowBelt?put=load&get=unload", "queue", capacity=1) as opened:
        said(opened, "put", item="a1")
        with pytest.raises(InputError, match="answers at once, by False"):
            said(opened, "put", item="a2")


def test_names_go_with_the_target_wherever_it_is_named() -> None:
    """A fixture or a row names it by one text."""
    spec = with_names("thread:m:C", ("put=push,get=pop", "size=length"))
    assert spec == "thread:m:C?put=push&get=pop&size=length"
    assert place_of(spec).names == {"put": "push", "get": "pop", "size": "length"}


def test_a_suite_that_takes_no_class_says_which_do(capsys: pytest.CaptureFixture[str]) -> None:
    """And how others are tested."""
    assert run(root, ["conform", "thread:mine:Careful", "--suite", "link"]) == 64
    captured = capsys.readouterr()
    said_so = captured.out + captured.err
    assert "suite of link takes no class" in said_so and "awaits.queue" in said_so


# --- python: and tasks ---------------------------------------------------------------------------

@pytest.mark.parametrize(("spec", "cancels"), [
    ("python:mine:make_queue", False), ("python:queue:Queue", False),
    ("python:mine:make_other", True), ("python:asyncio:Queue", True),
])
def test_python_tells_the_kind_by_the_class(spec: str, cancels: bool) -> None:
    """A class, or what a function makes; what is for threads cannot be cancelled."""
    opened = resolve_target(spec).open()
    greeting = opened.request({"do": "hello", "protocol": 1, "port": "queue",
                               "settings": {"capacity": 1}})["ok"]
    opened.close()
    assert ("cancel" in greeting["can"], "pause" in greeting["can"]) == (cancels, not cancels)
    assert greeting["wakes"] == "stepped"


@pytest.mark.parametrize(("named", "by_hand", "suite"), [
    ("thread:queue:Queue", "queue.Queue", "queue"),
    ("asyncio:asyncio:Queue", "asyncio.Queue", "queue"),
    ("asyncio:asyncio:Queue", "awaits.asyncio.Queue", "awaits.queue"),
    ("asyncio:asyncio:Semaphore", "awaits.asyncio.Semaphore", "awaits.permits"),
    ("asyncio:asyncio:Lock", "awaits.asyncio.Lock", "awaits.permits"),
    ("asyncio:asyncio:Condition", "awaits.asyncio.Condition", "awaits.condition"),
    ("asyncio:asyncio:Event", "awaits.asyncio.Event", "awaits.gate"),
    ("asyncio:asyncio:Queue", "awaits.asyncio.Queue.closing", "awaits.closing"),
])
def test_a_class_breaks_by_its_name_what_it_breaks_behind_an_adapter(
    named: str, by_hand: str, suite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And offers as much; here in a few cases, in docs/by-name.md in default runs."""
    both = [conform(capsys, target, "--suite", suite, "--cases", "9")
            for target in (named, by_hand)]
    broken, offered = [
        [{each["rule"] for each in document["results"] if fits(each)} for document in both]
        for fits in (lambda each: each["verdict"] in ("violated", "follows"),
                     lambda each: each.get("reason") != "not offered")]
    assert broken[0] == broken[1] and offered[0] == offered[1]
