"""The chapter's timer with its driver's steps, behind its port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from ....spec.kafka.timer import Timer
from ....spec.kafka.timer_seen import TimerSeen
from ....spec.notation.interpreter import Step
from ....spec.notation.machine import Machine
from ....spec.notation.views import Seen
from ...ports.base import Message
from ...suites.mechanism import Mechanism
from .adapter import TimerAdapter

__all__ = ["BookTimer", "TimerOfTheBook"]

_WHEELS: Final = 6
"""Wheels at first. More are there when a deadline is too far for them."""
_TASKS: Final = 4
"""Tasks at first."""
_HORIZON: Final = 1 << 45
"""An instant after the last one of any program."""


class TimerOfTheBook(Mechanism):
    """The driver polls whenever a bucket is due."""

    machine: ClassVar[type[Machine]] = Timer
    view = TimerSeen

    def __init__(self, tick: int, buckets: int, start: int) -> None:
        super().__init__(u=tick, n=buckets, S=start, M=_WHEELS, K=_TASKS, D=_HORIZON,
                         H=_HORIZON)

    def add(self, task: int, delay: int) -> tuple[Seen, ...]:
        """The runs that follow when a task is added, or added anew."""
        self._has_room(task, delay)
        self.fire("cancel", task=task)
        self.fire("add", task=task, delay=delay)
        return self.settle()

    def _has_room(self, task: int, delay: int) -> None:
        """Make the machine larger for a task, a deadline or a size that it has no place for.
        Numbers that stand for none are the first beyond those that there are."""
        machine = self.now
        far, wheels, tasks = machine.now - machine.S + delay, machine.M, machine.K
        while machine.u * machine.n ** wheels <= 2 * far:
            wheels += 1
        while task >= tasks or machine.size >= 2 * tasks - 1:
            tasks *= 2
        if (wheels, tasks) == (machine.M, machine.K) or machine.held < machine.K:
            return
        none, buckets, beyond = machine.M * machine.n, [*machine.bucket], wheels * machine.n
        self.grow(M=wheels, K=tasks)
        self.put(held=tasks, flushed=beyond, **{
            f"bucket[{each}]": beyond for each in range(tasks)
            if each >= len(buckets) or buckets[each] == none})

    def passes(self, until: int) -> tuple[Seen, ...]:
        """The runs until an instant: time passes from one bucket that expires to the next. A
        driver that never returns gets no further."""
        runs = self.settle()
        while (now := self.now.now) < until:
            machine = self.now
            due = min((each for each, queued in zip(
                machine.expiration, machine.queued, strict=True) if queued and each > now),
                default=until)
            self.put(now=min(due, until) - 1)
            if self.fire("elapse") is None:
                return runs
            runs += self.settle()
        return runs

    def own_steps(self) -> Iterator[Step]:
        """Of the many tasks and buckets those alone that are in use."""
        machine = self.now
        if machine.held < machine.K:
            yield "place", (("task", machine.held),)
        elif machine.flushed < machine.M * machine.n:
            yield from [("take_out", (("task", task),)) for task, bucket in enumerate(
                machine.bucket) if bucket == machine.flushed]
            yield "finish", ()
        else:
            yield from [("poll", (("bucket", bucket),)) for bucket, queued in enumerate(
                machine.queued) if queued]

    def queued(self) -> Mapping[str, int]:
        """The numbers of buckets in the queue, and of wheels."""
        machine = self.now
        return {"buckets": sum(machine.queued), "wheels": machine.wheels}


class BookTimer(TimerAdapter):
    """``core`` is what the twins replace."""

    name = "timer of the book"
    policy: ClassVar[str] = "tick"
    core: type[TimerOfTheBook] = TimerOfTheBook

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Create a timer at ``now``."""
        self._timer = self.core(settings["capacity"], settings["wheel"], self.now)

    def schedule(self, task: int, delay: int) -> None:
        """Add a task, in the place of one that is pending."""
        self._note(self._timer.add(task, max(0, delay)))

    def unschedule(self, task: int) -> None:
        """Cancel a task, if it is pending."""
        if task < self._timer.now.K:
            self._timer.fire("cancel", task=task)

    def move(self, until: int) -> None:
        """Let time pass up to ``until``."""
        self._note(self._timer.passes(until))

    def size(self) -> int:
        """The number of pending tasks."""
        size: int = self._timer.now.size
        return size

    def queue(self) -> Message:
        """The number of queued buckets, and of wheels."""
        return dict(self._timer.queued())

    def _note(self, shown: tuple[Seen, ...]) -> None:
        for name, arguments in shown:
            if name == "ran":
                told = dict(arguments)
                self.ran(told["task"], told["at"])
