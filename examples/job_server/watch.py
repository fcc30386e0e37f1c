"""Watches the rules of the example system while it runs, by the machines of the rule book.

Every machine is one of the chapters, and judges what is seen of one part of the system:

- ``ObservedLink``, for each client: its jobs go into the master's queue only against permits;
- ``ObservedMaster``: which worker gets which job, what is dropped, and from where;
- ``Bucket`` and ``ObservedSummaries``, for each worker: how much it sends in a row, and that no
  value is missing in what it sends.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from checkvalve.reference.drivers.job_server import ALWAYS_READS, Event, Terms
from checkvalve.reference.flow.bucket import TokenBucket
from checkvalve.spec.engines.monitor import Failure, Monitor
from checkvalve.spec.flow.bucket import Bucket
from checkvalve.spec.flow.observed_jobs import ObservedMaster
from checkvalve.spec.flow.observed_link import ObservedLink
from checkvalve.spec.flow.observed_summaries import ObservedSummaries
from checkvalve.spec.notation import bind

__all__ = ["Watch"]

VALUES_MAX = 50_000
"""Values that a worker may hold rolled up, at most: so far the observer can count."""


@dataclass
class Watch:
    """Judge of a run: the system calls it with each event. ``wrong`` has the first failure of each.
    """

    terms: Terms
    workers: int
    bucket: TokenBucket
    wrong: dict[str, Failure] = field(default_factory=dict)
    steps: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)
    most_waiting: int = 0
    values_sent: int = 0
    _order: deque[tuple[int, int]] = field(default_factory=deque)
    _names: dict[int, int] = field(default_factory=dict)
    _given: Counter[int] = field(default_factory=Counter)
    _sent: Counter[int] = field(default_factory=Counter)
    _judges: dict[str, Monitor] = field(default_factory=dict)

    def told(self, event: Event) -> None:
        """Something has happened in the system."""
        self.counted[event.what] += 1
        see: Callable[[Event], None] | None = getattr(
            self, f"_{event.what.replace(' ', '_')}", None)
        if see is not None:
            see(event)

    # -- clients and their links --------------------------------------------------------------

    def _submit(self, event: Event) -> None:
        self._order.append((event.who, event.job))
        self.most_waiting = max(self.most_waiting, len(self._order))
        self._link(event.who, ("offer", (("count", 1),)), ("sends", ()), ("data", ()))
        self._master(("submit", ()))

    def _leaves(self, event: Event) -> None:
        head = self._order.popleft() if self._order else None
        if head != (event.who, event.job):
            self._master(("another_leaves", ()))
        one = (("count", 1),)
        self._link(event.who, ("processes", ()), ("grants", one), ("permit", one))

    def _link(self, client: int, *steps: Any) -> None:
        # A master that always reads gives its permits at arrival: it has no link to keep.
        if self.terms.share != ALWAYS_READS:
            self._see(f"link of client {client}", ObservedLink, steps,
                      C=self.terms.share, b=1, K=1)

    # -- the master ---------------------------------------------------------------------------

    def _worker(self, event: Event) -> None:
        self._names[event.who] = len(self._names)

    def _drops(self, event: Event) -> None:
        self._master(("drops", ()))

    def _ask(self, event: Event) -> None:
        is_news = event.job == self._given[event.who]
        self._master(("ask" if is_news else "late_ask", self._of(event)))

    def _gives(self, event: Event) -> None:
        self._given[event.who] += 1
        self._master(("gives", self._of(event)))

    def _done(self, event: Event) -> None:
        self._master(("done", self._of(event)))

    def _rests(self, event: Event) -> None:
        self._master(("rests", ()))

    def _of(self, event: Event) -> Any:
        return (("worker", self._names[event.who]),)

    def _master(self, *steps: Any) -> None:
        self._see("master", ObservedMaster, steps, K=self.terms.places, W=self.workers)

    # -- metrics ------------------------------------------------------------------------------

    def _measured(self, event: Event) -> None:
        self._summaries(event.who, ("takes", (("value", 1),)))

    def _summary(self, event: Event) -> None:
        self._sent[event.who] += 1
        self.values_sent += event.job
        self._summaries(event.who, ("emits", (("total", event.job),)))

    def _tick(self, event: Event) -> None:
        sent = self._sent.pop(event.who, 0)
        # The receiver's part of this machine is that of one which is fast enough.
        self._see(f"bucket of worker {event.who}", Bucket, [("tick", (("sent", sent),))],
                  r=self.bucket.rate, b=self.bucket.depth, u=2 * self.bucket.depth, th=0)

    def _summaries(self, worker: int, *steps: Any) -> None:
        self._see(f"summaries of worker {worker}", ObservedSummaries, steps, K=VALUES_MAX)

    # -- judging ------------------------------------------------------------------------------

    def _see(self, name: str, machine: Any, steps: Any, **constants: int) -> None:
        if name not in self._judges:
            self._judges[name] = Monitor(bind(machine, **constants))
        for step in steps:
            self.steps[machine.__name__] += 1
            failure = None if name in self.wrong else self._judges[name].observe([step])
            if failure is not None:
                self.wrong[name] = failure
