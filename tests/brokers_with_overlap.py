"""Random logs of a broker at which calls overlap; it shares no code with checkvalve."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

from checkvalve.conformance.logs.events import Event

FAULTS = ("again", "double", "order", "lost", "unacked")
"""An item is given after its ack; is given to a second consumer; is given out of turn; is lost; an
ack of what is in flight is ignored."""


class Log(NamedTuple):
    """The events, and whether the fault is among them."""

    events: list[Event]
    has_fault: bool


class _Broker:
    """One queue: ``law`` 3 gives the oldest, 4 the oldest that is fresh or any that came back."""

    def __init__(self, rng: random.Random, fault: str, law: int) -> None:
        self._rng, self._fault, self._law = rng, fault, law
        self.has_fault = False
        self._ready: list[int] = []
        self.held: dict[int, str] = {}
        self._given: Counter[int] = Counter()
        self._acked: list[int] = []
        self._published = 0

    def does(self, operation: str, process: str, may_fail: bool) -> tuple[int | None, str]:
        """The item of a call, and its result."""
        fault = self._fault if may_fail and not self.has_fault else ""
        if operation == "publish":
            self._published += 1
            self._ready.append(self._published)
            return self._published, "ok"
        if operation == "receive":
            item = self._wrongly(fault, process) or self._rightly(process)
            return item, "empty" if item is None else "ok"
        item = self._rng.choice([each for each, holder in self.held.items() if holder == process])
        del self.held[item]
        if operation == "requeue":
            self._ready.append(item)
            return item, "ok"
        self._acked.append(item)
        self.has_fault |= fault == "unacked"
        return item, "empty" if fault == "unacked" else "ok"

    def _wrongly(self, fault: str, process: str) -> int | None:
        fresh = sorted(each for each in self._ready if not self._given[each])
        item = None
        if fault == "again" and self._acked:
            item = self._rng.choice(self._acked)
        elif fault == "double" and self.held:
            item = self._rng.choice(list(self.held))
        elif fault == "order" and len(fresh) > 3:
            item = fresh[-1]
            self._gives(item, process)
        elif fault == "lost" and len(self._ready) > 2:
            self._ready.remove(self._rng.choice(self._ready))
            self.has_fault = True
        self.has_fault |= item is not None
        return item

    def _rightly(self, process: str) -> int | None:
        fresh = sorted(each for each in self._ready if not self._given[each])[:1]
        back = [each for each in self._ready if self._given[each]]
        if not fresh + back:
            return None
        item = min(self._ready) if self._law != 4 else self._rng.choice(fresh + back)
        self._gives(item, process)
        return item

    def _gives(self, item: int, process: str) -> None:
        self._ready.remove(item)
        self.held[item] = process
        self._given[item] += 1


def recorded(rng: random.Random, fault: str, calls: int, callers: int, law: int,
             overlap: float = 0.5) -> Log:
    """A log of one queue ``k``: each call has its effect between its begin and its end, which are
    up to ``overlap`` away."""
    broker, rows, now = _Broker(rng, fault, law), list[tuple[float, int, Event]](), 0.0
    free = {f"c{number}": 0.0 for number in range(callers)}
    for call in range(calls):
        process = rng.choice(list(free))
        now = max(free[process] + rng.random() * 0.1, now + rng.random() * 0.3)
        has = process in broker.held.values()
        operation = rng.choice(["publish", "receive"] * 3 + ["ack", "ack", "ack", "requeue"] * has)
        item, result = broker.does(operation, process, call > calls // 3)
        begin, end = max(free[process], now - rng.random() * overlap), now + rng.random() * overlap
        free[process] = end + 1e-6
        event = Event("k", process, operation, "end", item=item, result=result, call=call)
        asked = event._replace(phase="begin", result="",
                               item=None if operation == "receive" else item)
        rows += [(begin, 0, asked), (end, 1, event)]
    rows.sort(key=lambda row: row[:2])
    return Log([event._replace(line=line) for line, (*_, event) in enumerate(rows, 1)],
               broker.has_fault)
