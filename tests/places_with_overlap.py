"""Random logs of elections, executors, ackers, masters, links and spouts in no certain order.

Each is a right run, perhaps with a fault, and around its instants are calls, or clocks that differ;
it shares no code with checkvalve.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from checkvalve.conformance.logs.events import Event

SECOND: Final = 1_000_000_000

SETTINGS: Final[Mapping[str, Mapping[str, int]]] = {
    "election": {"candidates": 3, "steady": 1},
    "executor": {"workers": 2, "places": 2, "policy": 1},
    "storm.acker": {"buckets": 2},
    "jobs": {"places": 2}, "link": {"slots": 2}, "link.counted": {"slots": 2},
    "storm.spout": {"maximum": 3}, "storm.partition": {"outstanding": 3, "retries": 3}}

Acts = Iterator[Event]


class Log(NamedTuple):
    """The events, by how much their clocks may differ, and whether the fault is among them."""

    events: list[Event]
    tolerance: int
    has_fault: bool


def _act(process: str, operation: str, item: object = None, value: int | None = None,
         result: str = "ok") -> Event:
    return Event("k", process, operation, "point", item, value, result=result)  # type: ignore[arg-type]


class _Fault:
    """A fault that happens once, at the first occasion after some acts."""

    def __init__(self, rng: random.Random, wanted: bool, after: int) -> None:
        self.rng, self.is_left, self.has_been, self.left = rng, wanted, False, after

    def now(self) -> bool:
        """True if it happens here."""
        self.left -= 1
        happens = self.is_left and self.left < 0
        if happens:
            self.is_left, self.has_been = False, True
        return happens


def election(rng: random.Random, fault: _Fault) -> Acts:
    """A lock with tokens, three candidates and a store that compares them; all disturbances are
    seen. A fault: a second leader, a token that is no greater, a write with an old token, or a
    leader that has resigned."""
    names = ["a", "b", "c"]
    joined, shaken = set[str](), set[str]()
    holder, told, token, written = "", dict[str, int](), 0, 0
    while True:
        name = rng.choice(names)
        if holder == "" and joined and rng.random() < 0.7:
            holder = rng.choice(sorted(joined))
            token += 1
            continue
        if name not in joined:
            if name in told and fault.now():
                yield _act(name, "leads", value=told[name])
            joined.add(name)
            told.pop(name, None)
            yield _act(name, "join")
            continue
        does = rng.choice(["ask", "ask", "ask", "write", "write", "resign", "disturbed", "crash"])
        if does == "ask":
            if holder == name:
                told[name] = token
                yield _act(name, "leads", value=token)
            elif holder in told and not {name, holder} & shaken and fault.now():
                yield _act(name, "leads", value=rng.choice([token, token + 1]))
            elif name in told and name in shaken and rng.random() < 0.5:
                yield _act(name, "leads", value=told[name])
            else:
                yield _act(name, "leads_not")
        elif does == "write" and name in told:
            if told[name] >= written or fault.now():
                written = max(written, told[name])
                yield _act(name, "accepted")
            elif told[name] < written:
                yield _act(name, "refused")
        elif does == "disturbed" and rng.random() < 0.4:
            shaken.add(name)
            yield _act(name, "disturbed")
            holder = "" if holder == name and rng.random() < 0.6 else holder
        elif does in ("resign", "crash") and rng.random() < 0.4:
            joined.discard(name)
            yield _act(name, does)
            if does == "crash":
                shaken.add(name)
            holder = "" if holder == name else holder


def executor(rng: random.Random, fault: _Fault) -> Acts:
    """Two workers, two places, and what is too much is refused. A fault: a task too many runs, out
    of turn, though it was refused, or twice; or its future has what it has not."""
    waiting, running, number = deque[str](), list[str](), 0
    refused, ended = list[str](), list[str]()

    def starts() -> Acts:
        while waiting and len(running) < 2:
            task = waiting.popleft()
            running.append(task)
            yield _act(f"w{task}", "starts", task)

    while True:
        if rng.random() < 0.55 or not running:
            number += 1
            task = f"t{number}"
            yield _act("client", "submits", task)
            if len(running) == 2 and len(waiting) == 2:
                refused.append(task)
                yield _act("client", "refused", task)
            else:
                waiting.append(task)
        else:
            task = running.pop(rng.randrange(len(running)))
            good = rng.random() < 0.7
            yield _act(f"w{task}", "finishes" if good else "fails", task)
            good = good != fault.now()
            yield _act("futures", "future_returns" if good else "future_raises", task)
            ended.append(task)
        if len(waiting) > 1 and fault.now():
            task = waiting.pop()
            running.append(task)
            yield _act(f"w{task}", "starts", task)
        elif refused + ended and fault.now():
            yield _act("w", "starts", rng.choice(refused + ended))
        yield from starts()
        yield _act("client", "rest")


def acker(rng: random.Random, fault: _Fault) -> Acts:
    """Roots with a few edges, of which one may fail. A fault: an answer too early, the wrong one,
    none, or a second one."""
    trees, number, over = dict[str, list[Event]](), 0, list[tuple[str, str]]()
    spouts: dict[str, str] = {}
    entries: dict[str, list[int]] = {}      # value, ticks, known, failed
    while True:
        if len(trees) < 3:
            number += 1
            root, spout = f"r{number}", rng.choice(["s1", "s2"])
            first, second = rng.randrange(1, 9), rng.randrange(9, 17)
            messages = [_act(spout, "init", root, first), _act("b1", "ack", root, first ^ second),
                        _act("b2", "ack", root, second)]
            if rng.random() < 0.2:
                messages[2] = _act("b2", "fail", root)
            rng.shuffle(messages)
            trees[root] = messages
        if rng.random() < 0.07:
            yield _act("timer", "tick")
            for root in list(entries):
                entries[root][1] -= 1
                if entries[root][1] == 0:
                    del entries[root]
            continue
        root = rng.choice(list(trees))
        message = trees[root].pop()
        if not trees[root]:
            del trees[root]
        yield message
        entry = entries.setdefault(root, [0, 2, 0, 0])
        entry[0] ^= message.value or 0
        entry[2] |= message.operation == "init"
        if message.operation == "fail":
            entry[1], entry[3] = 2, 1
        answer = ("tells_ack" if entry[2] and not entry[0] else
                  "tells_fail" if entry[2] and entry[3] else "")
        if message.operation == "init":
            spouts[root] = message.process
        if entry[2] and fault.now():
            wrong = [each for each in ("tells_ack", "tells_fail", "") if each != answer]
            answer = rng.choice(wrong)
        elif over and fault.now():
            answer, root = rng.choice(over)
        if answer:
            yield _act(spouts[root], answer, root)
            entries.pop(root, None)
            over.append((answer, root))


def jobs(rng: random.Random, fault: _Fault) -> Acts:
    """A master with two places. A fault: a job out of turn, to a worker that has one, or dropped
    though there is a free place."""
    waiting, asking, busy, got, number = deque[str](), list[str](), set[str](), dict[str, int](), 0
    while True:
        idle = [name for name in ("w1", "w2", "w3") if name not in busy and name not in asking]
        does = rng.choice(["submit", "submit", "ask", "done"])
        if does == "submit":
            number += 1
            waiting.append(f"j{number}")
            yield _act("client", "submit", waiting[-1])
        elif does == "ask" and idle:
            asking.append(rng.choice(idle))
            yield _act(asking[-1], "ask", value=got.get(asking[-1], 0))
        elif does == "done" and busy:
            name = rng.choice(sorted(busy))
            busy.discard(name)
            yield _act(name, "done")
        else:
            continue
        if len(waiting) > 1 and fault.now():
            yield _act(rng.choice(["w1", "w2"]), rng.choice(["gives", "drops"]), waiting.pop())
        while waiting and asking:
            name = asking.pop(0)
            busy.add(name)
            got[name] = got.get(name, 0) + 1
            yield _act(name, "gives", waiting.popleft())
        if len(waiting) > 2:
            yield _act("master", "drops", waiting.popleft())
        yield _act("master", "rest")


def link(rng: random.Random, fault: _Fault) -> Acts:
    """A link with two slots, in batches of one. A fault: an element without a credit, out of turn,
    a second time, or credits for what was not freed."""
    offered = sent = freed = 0
    credits = 2
    data, permits, inside = deque[int](), deque[int](), deque[int]()
    while True:
        does = rng.choice(["offer", "sends", "data", "processes", "grants", "permit"])
        if does == "offer" and offered - sent < 3:
            offered += 2
            yield _act("app", "offer", value=2)
        elif does == "sends" and sent < offered and (credits > 0 or fault.now()):
            yield _act("a", "sends", value=sent - (sent > 0 and fault.now()))
            data.append(sent)
            sent, credits = sent + 1, credits - 1
        elif does == "data" and data:
            inside.append(data.popleft())
            yield _act("net", "data")
        elif does == "processes" and inside:
            yield _act("b", "processes", value=inside.popleft() + fault.now())
            freed += 1
        elif does == "grants" and (freed > 0 or fault.now()):
            freed -= 1
            permits.append(1)
            yield _act("b", "grants", value=1)
        elif does == "permit" and permits:
            credits += permits.popleft()
            yield _act("net", "permit", value=1)


def counted(rng: random.Random, fault: _Fault) -> Acts:
    """A counted link with two slots. A fault: an element beyond the limit, out of turn, or an
    acknowledgement or a limit that is too large."""
    offered = sent = accepted = freed = acked = 0
    granted = told = 2
    while True:
        does = rng.choice(["offer", "sends", "sends", "again", "data", "processes", "acks", "ack",
                           "limits", "permit"])
        if does == "offer" and offered - sent < 3:
            offered += 2
            yield _act("app", "offer", value=2)
        elif does == "sends" and sent < offered and (sent < told or fault.now()):
            yield _act("a", "sends", value=sent + fault.now())
            sent += 1
        elif does == "again" and acked < sent and rng.random() < 0.3:
            yield _act("a", "sends", value=rng.randrange(acked, sent))
        elif does == "data" and accepted < sent:
            yield _act("net", "data", value=accepted)
            accepted += 1
        elif does == "processes" and freed < accepted:
            yield _act("b", "processes", value=freed + fault.now())
            freed += 1
        elif does == "acks":
            yield _act("b", "acks", value=accepted + fault.now())
        elif does == "ack" and acked < accepted:
            acked = accepted
            yield _act("net", "ack", value=acked)
        elif does == "limits":
            granted = 2 + freed
            yield _act("b", "limits", value=granted + fault.now())
        elif does == "permit" and told < granted:
            told, acked = granted, max(acked, granted - 2)
            yield _act("net", "permit", value=told)


def spout(rng: random.Random, fault: _Fault) -> Acts:
    """A spout with a maximum of three; roots time out at the second tick. A fault: too many are
    pending, or a callback is missing, wrong, or comes twice."""
    pending, number, over = dict[str, int](), 0, list[str]()
    while True:
        does = rng.choice(["emits", "emits", "ack", "fail", "tick"])
        if does == "emits" and (len(pending) < 3 or fault.now()):
            number += 1
            pending[f"r{number}"] = 2
            yield _act("spout", "emits", f"r{number}", number)
        elif does in ("ack", "fail") and pending:
            root = rng.choice(sorted(pending))
            yield _act("acker", does, root)
            del pending[root]
            over.append(root)
            if not fault.now():
                yield _act("spout", f"calls_{'fail' if fault.now() else does}", root)
        elif does == "tick" and rng.random() < 0.4:
            yield _act("timer", "tick")
            for root in sorted(pending):
                pending[root] -= 1
                if pending[root] == 0:
                    del pending[root]
                    yield _act("spout", "calls_fail", root)
        elif over and fault.now():
            yield _act("spout", "calls_ack", rng.choice(over))


def partition(rng: random.Random, fault: _Fault) -> Acts:
    """A source with three messages under way at most. A fault: one is left out, emitted twice, or
    committed too early."""
    end = top = committed = 0
    under_way, failed = list[int](), list[int]()
    while True:
        does = rng.choice(["append", "emits", "emits", "ack", "ack", "fail", "commit"])
        if does == "append" and end - top < 4:
            end += 2
            yield _act("log", "append", value=2)
        elif does == "emits" and len(under_way) < 3 and failed:
            under_way.append(failed.pop(0))
            yield _act("manager", "emits", value=under_way[-1])
        elif does == "emits" and len(under_way) < 3 and top < end:
            top += top + 1 < end and fault.now()
            under_way.append(top)
            top += 1
            yield _act("manager", "emits", value=under_way[-1])
        elif does == "ack" and under_way:
            yield _act("bolt", "ack", value=under_way.pop(rng.randrange(len(under_way))))
        elif does == "fail" and under_way and rng.random() < 0.4:
            failed.append(under_way.pop(0))
            yield _act("bolt", "fail", value=failed[-1])
        elif does == "commit":
            committed = min([*under_way, *failed, top]) + fault.now()
            yield _act("manager", "commit", value=committed)
        elif under_way and fault.now():
            yield _act("manager", "emits", value=rng.choice(under_way))


PLACES: Final[Mapping[str, Callable[[random.Random, _Fault], Acts]]] = {
    "election": election, "executor": executor, "storm.acker": acker, "jobs": jobs, "link": link,
    "link.counted": counted, "storm.spout": spout, "storm.partition": partition}


def recorded(rng: random.Random, system: str, acts: int, fault: bool = False, overlap: float = 0.0,
             skew: float = 0.0) -> Log:
    """A log of a random run with so many acts, which are about a second apart. Those that are calls
    begin and end up to ``overlap`` seconds away; clocks differ by up to ``skew`` seconds."""
    happens = _Fault(rng, fault, rng.randrange(1 + acts // 8))
    run = PLACES[system](rng, happens)
    done = [next(run) for _ in range(acts)]
    clocks: dict[str, float] = {}
    now, rows = 10.0, list[tuple[float, Event]]()
    ends = dict.fromkeys((each.process for each in done), 0.0)
    times = []
    for _ in done:
        now += 0.2 + 1.6 * rng.random()
        times.append(now)
    after = dict[str, float]()      # when each process does its next act
    latest = [0.0] * acts
    for at in reversed(range(acts)):
        latest[at] = after.get(done[at].process, now + 1e6)
        after[done[at].process] = times[at]
    for at, (time, act) in enumerate(zip(times, done, strict=True)):
        clock = clocks.setdefault(_clock_of(system, act), (rng.random() - 0.5) * skew)
        if overlap:
            begin = max(ends[act.process], time - overlap * rng.random())
            end = min(time + overlap * rng.random(), (time + latest[at]) / 2)
            ends[act.process] = end + 1e-3
            rows.append((begin + clock, act._replace(phase="begin", call=at)))
            rows.append((end + clock, act._replace(phase="end", call=at)))
        else:
            rows.append((time + clock, act))
    rows.sort(key=lambda row: row[0])
    events = [event._replace(line=line, time=round(time * SECOND))
              for line, (time, event) in enumerate(rows, 1)]
    return Log(sorted(events, key=lambda event: moved(event, round(skew * SECOND))),
               round(skew * SECOND), happens.has_been)


def moved(event: Event, tolerance: int) -> tuple[int, bool]:
    """The place of an event in the order: begins are earlier, and ends later, by half of it."""
    half = {"begin": -(tolerance // 2), "end": tolerance // 2}.get(event.phase, 0)
    return (event.time or 0) + half, event.phase == "end"


def _clock_of(system: str, act: Event) -> str:
    """The clock that has recorded an act."""
    if system == "election" and act.operation in ("accepted", "refused"):
        return "store"
    if system == "election" and act.operation in ("disturbed", "crash"):
        return "operator"
    if system == "jobs" and act.operation in ("gives", "drops", "rest"):
        return "master"
    return "acker" if act.operation.startswith("tells_") else act.process


def certain(events: Sequence[Event], tolerance: int) -> list[tuple[Event, set[int]]]:
    """By call or point, its end, and which others are before it for certain."""
    begun = {event.call: at for at, event in enumerate(events) if event.phase == "begin"}
    spans = [(begun[event.call] if event.phase == "end" else at, at)
             for at, event in enumerate(events) if event.phase != "begin"]

    def is_before(one: tuple[int, int], other: tuple[int, int]) -> bool:
        end, begin = events[one[1]], events[other[0]]
        if not tolerance:
            return one[1] < other[0]
        assert end.time is not None and begin.time is not None
        if end.time + tolerance < begin.time:
            return True
        clocks = _clock_of("", end), _clock_of("", begin)
        return (end.process == begin.process and _kind(end) == _kind(begin)
                and clocks[0] == clocks[1] and (end.time, end.line) < (begin.time, begin.line))

    return [(events[each[1]], {at for at, other in enumerate(spans) if is_before(other, each)})
            for each in spans]


def _kind(event: Event) -> int:
    """The clock that records an operation, whatever its process is."""
    of_others = [("accepted", "refused"), ("disturbed", "crash", "restart", "quiet"),
                 ("gives", "drops")]
    return next((at for at, names in enumerate(of_others) if event.operation in names), -1)
