"""Timers with one seeded bug each: Kafka's wheels with one decision changed, and a few others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ....reference.kafka.delay_queue import DelayQueue
from ....reference.kafka.old_timer import OldTimer
from ....reference.kafka.timer import Timer
from ....reference.kafka.timing_wheel import TimerTask, TimerTaskEntry, TimerTaskList, TimingWheel
from ....spec.kafka.timer_seen import EXPECTATIONS
from ...suites.twin import Twins
from .mechanism import BookTimer, TimerOfTheBook
from .timers import ReferenceOldTimer, ReferenceTimer, SchedTimer
from .twins_ends import ENDS

__all__ = ["TWINS", "OpenTimer", "OpenWheel"]

FLUSHES_MAX: Final = 500


# ---- the wheel with its decisions as methods -------------------------------------------------


class OpenWheel(TimingWheel):
    """The reference's wheel, which a twin changes in one method; tests check it by the suite."""

    def add(self, entry: TimerTaskEntry) -> bool:
        if self.is_cancelled(entry) or self.is_expired(entry.deadline):
            return False
        if not self.is_covered(entry.deadline):
            return (self.overflow or self.make_overflow()).add(entry)
        number = entry.deadline // self.tick
        bucket = self.buckets[self.slot(number) % self.size]
        bucket.add(entry)
        if self.is_new(bucket, number * self.tick):
            self.queue.offer(bucket, number * self.tick)
        return True

    def is_cancelled(self, entry: TimerTaskEntry) -> bool:
        """True if the task has another entry now, or none."""
        return entry.cancelled

    def is_expired(self, deadline: int) -> bool:
        """True if the deadline is within the present tick, or before it."""
        return deadline < self.clock + self.tick

    def is_covered(self, deadline: int) -> bool:
        """True if the deadline is within the wheel's interval."""
        return deadline < self.clock + self.interval

    def slot(self, number: int) -> int:
        """The bucket of a tick, by the tick's number."""
        return number

    def is_new(self, bucket: TimerTaskList, expiration: int) -> bool:
        """True if the bucket is to be offered."""
        return bucket.set_expiration(expiration)

    def with_overflow(self, tick: int, start: int) -> TimingWheel:
        """Make an overflow wheel with this tick and start, rounded or not."""
        self.overflow = type(self)(tick, self.size, start, self.counter, self.queue)
        self.overflow.clock = start
        return self.overflow


class OpenTimer(Timer):
    """A driver that gives up where the real one would never return: it then runs nothing more."""

    wheel = OpenWheel
    entry: type[TimerTaskEntry] = TimerTaskEntry

    def add(self, task: TimerTask, now: int) -> None:
        self._enter(self.entry(task, now + task.delay))
        self._run_ready()

    def _enter(self, entry: TimerTaskEntry) -> None:
        super()._place(entry)

    def _expire(self, bucket: TimerTaskList, now: int) -> None:
        due: TimerTaskList | None = bucket
        for _ in range(FLUSHES_MAX):
            if due is None:
                return
            self.flush(due)
            due = self._queue.poll(now)
        self._queue.discard(lambda bucket: True)

    def flush(self, bucket: TimerTaskList) -> None:
        """The clock advances, and the tasks are placed again."""
        self._wheel.advance(bucket.expiration)
        self.empty(bucket, self._place)

    def empty(self, bucket: TimerTaskList, place: Callable[[TimerTaskEntry], None]) -> None:
        """As ``TimerTaskList.flush``, but entries that arrive meanwhile stay."""
        held: list[TimerTaskEntry] = []
        bucket.flush(held.append)
        for entry in held:
            place(entry)


def timer_of(wheel: type[TimingWheel]) -> type[OpenTimer]:
    """The timer with wheels of this type."""
    return type(f"Timer{wheel.__name__}", (OpenTimer,), {"wheel": wheel})


def _parts_of(bug: type[Any]) -> Mapping[str, Any]:
    return {"core": timer_of(bug) if issubclass(bug, TimingWheel) else bug}


TWINS: Final = Twins("timer", ReferenceTimer, ("reference.timer",), _parts_of)
_OLD: Final = ("reference.timer.old",)
_MUTANT: Final = "a line of TimingWheel that is easily left out; timer_mutants"


# ---- clocks ---------------------------------------------------------------------------------


@TWINS.twin(
    "timer-clock-not-rounded", "KAFKA-W23", "clocks are not rounded to ticks",
    _MUTANT)
class UnroundedClocks(OpenWheel):
    """Clocks are set to the time, not to the beginning of a tick."""

    def make_overflow(self) -> TimingWheel:
        return self.with_overflow(self.interval, self.clock)

    def advance(self, time: int) -> None:
        wheel: TimingWheel | None = self
        while wheel is not None and time >= wheel.clock + wheel.tick:
            wheel.clock = time
            wheel = wheel.overflow


@TWINS.twin(
    "timer-wall-clock", "KAFKA-W23", "the wall clock is set back by 5 ms",
    "KAFKA-4051: requests did not expire until the clock had caught up")
class WallClockSetBack(Timer):
    """A timer that uses a wall clock, which is set back by 5 ms when it shows 12."""

    AT, BY = 12, 5
    told = 0

    def add(self, task: TimerTask, now: int) -> None:
        self.told = now
        super().add(task, self.wall(now))

    def advance(self, now: int) -> bool:
        self.told = now
        self._last = min(self._last, self.wall(now))
        return super().advance(self.wall(now))

    def next_expiration(self) -> int | None:
        found = super().next_expiration()
        if found is None or max(found, self.told) < self.AT:
            return found
        return found + self.BY

    def wall(self, now: int) -> int:
        """The time of the wall clock."""
        return now if now < self.AT else now - self.BY


# ---- choice of the bucket -------------------------------------------------------------------


@TWINS.twin(
    "timer-horizon", "KAFKA-W22", "covered if exp <= cur + n u",
    "a line of TimingWheel that is easily left out; timer_mutants; equivalent only as long as "
    "buckets that expire together leave the queue from the lowest wheel up")
class EndOfIntervalIncluded(OpenWheel):
    """exp <= cur + n u: the present tick's bucket is used for the tick n later."""

    def is_covered(self, deadline: int) -> bool:
        return deadline <= self.clock + self.interval


class JavaQueue(DelayQueue[TimerTaskList]):
    """java.util.PriorityQueue: a binary heap that compares only times; equal ones have no order."""

    def offer(self, item: TimerTaskList, time: int) -> None:
        heap = self._heap
        at = len(heap)
        heap.append((time, 0, item))
        while at and time < heap[(at - 1) // 2][0]:
            heap[at], at = heap[(at - 1) // 2], (at - 1) // 2
        heap[at] = (time, 0, item)

    def poll(self, now: int) -> TimerTaskList | None:
        heap = self._heap
        if not heap or heap[0][0] > now:
            return None
        first, last = heap[0][2], heap.pop()
        if heap:
            self._sift_down(last)
        return first

    def _sift_down(self, row: tuple[int, int, TimerTaskList]) -> None:
        heap, at = self._heap, 0
        while 2 * at + 1 < len(heap):
            child = 2 * at + 1
            if child + 1 < len(heap) and heap[child][0] > heap[child + 1][0]:
                child += 1
            if row[0] <= heap[child][0]:
                break
            heap[at], at = heap[child], child
        heap[at] = row


@TWINS.twin(
    "timer-horizon-in-java", "KAFKA-W22", "covered if exp <= cur + n u, with Java's DelayQueue",
    "the same with Kafka's own classes, where a run of all rules in turn did not find it")
class HorizonInJava(OpenTimer):
    """The same with Kafka's own queue: buckets with the same time leave it in any order."""

    wheel = EndOfIntervalIncluded

    def __init__(self, tick: int, wheel_size: int, start: int, **more: Any) -> None:
        super().__init__(tick, wheel_size, start, **more)
        self._queue = self._wheel.queue = JavaQueue()    # type: ignore[misc]


# ---- the queue of buckets -------------------------------------------------------------------


@TWINS.twin(
    "timer-expiration-kept", "KAFKA-W23", "a flushed bucket keeps its expiration",
    _MUTANT,
    equivalent=(
        "A bucket is used next for another tick, at least n ticks later, so its expiration changes "
        "anyway, and it is offered. (timer_mutants: KAFKA-W1 to W6 hold.)"))
class KeepingExpirations(OpenTimer):
    """A flushed bucket keeps its expiration."""

    def empty(self, bucket: TimerTaskList, place: Callable[[TimerTaskEntry], None]) -> None:
        expiration = bucket.expiration
        super().empty(bucket, place)
        if bucket.expiration == -1:
            bucket.expiration = expiration


# ---- cancelling and counting ----------------------------------------------------------------


class Untested(OpenWheel):
    """The test whether an entry is cancelled is missing."""

    def is_cancelled(self, entry: TimerTaskEntry) -> bool:
        return False


@TWINS.twin(
    "timer-added-twice", "KAFKA-W1", "a task that is added again is in two buckets",
    "KAFKA-2226: an entry in two lists; KAFKA-385: a request ended twice")
class AddedTwice(OpenTimer):
    """A second add leaves the task's older entry in its bucket."""

    wheel = Untested

    def _place(self, entry: TimerTaskEntry) -> None:
        if not self._wheel.add(entry):
            self._submit(entry.task)

    _enter = _place

    def add(self, task: TimerTask, now: int) -> None:
        task.entry = None
        super().add(task, now)


class _Counted(TimerTaskEntry):
    """An entry with a cancellation that does not decrement the counter."""

    def remove(self) -> None:
        found = self.list
        super().remove()
        if found is not None:
            found.counter.value += 1


@TWINS.twin(
    "timer-cancelled-counted", "KAFKA-W2", "cancel does not decrement the counter",
    "KAFKA-1616: the purgatory's size was wrong")
class CancelledIsCounted(OpenTimer):
    """A cancelled task is counted forever."""

    entry = _Counted


@TWINS.twin(
    "timer-cascade-counted", "KAFKA-W2", "a cascade increments the counter",
    "KAFKA-2226: the counter followed the lists, not the tasks")
class CascadeIsCounted(OpenTimer):
    """A task that is cascaded is counted again."""

    def _place(self, entry: TimerTaskEntry) -> None:
        super()._place(entry)
        if entry.list is not None:
            self._counter.value += 1


# ---- drives and their answers ---------------------------------------------------------------


@TWINS.twin(
    "timer-answers-always", "KAFKA-W34", "a drive always returns that something was due",
    "SystemTimer.advanceClock: the return value")
class AnsweringAlways(Timer):
    """Every drive returns that something was due."""

    def advance(self, now: int) -> bool:
        super().advance(now)
        return True


@TWINS.twin(
    "timer-answers-what-is-left", "KAFKA-W34", "a drive returns whether something is still due",
    "SystemTimer.advanceClock: the bucket of the last poll")
class AnsweringWhatIsLeft(Timer):
    """The answer is that of the last poll, which found nothing."""

    def advance(self, now: int) -> bool:
        super().advance(now)
        return self._queue.poll(now) is not None


@TWINS.twin(
    "timer-one-bucket-a-drive", "KAFKA-W36",
    "a late drive expires only one of the buckets that are due",
    "SystemTimer.advanceClock: if instead of while")
class OneBucketADrive(Timer):
    """A drive expires one bucket; the next one needs another drive."""

    def _expire(self, bucket: TimerTaskList, now: int) -> None:
        self._wheel.advance(bucket.expiration)
        bucket.flush(self._place)


@TWINS.twin(
    "timer-ends-at-error", "KAFKA-W35",
    "after a task that raises, the others wait for the next call",
    "tasks run in the driver's own thread, not in an executor")
class EndingAtTheFirstError(Timer):
    """A task that raises ends the run of all due tasks; they wait for the next call."""

    def _run_ready(self) -> None:
        while self._ready:
            self._ready.popleft().run()


# ---- other timers ---------------------------------------------------------------------------


@TWINS.twin(
    "timer-old-strict", "KAFKA-W25", "runs only when now > deadline", "MockTimer of Kafka's tests",
    of=ReferenceOldTimer, originals=_OLD)
class StrictlyAfter(OldTimer):
    """A task runs after its deadline, as with MockTimer of Kafka's tests."""

    def advance(self, now: int) -> bool:
        return super().advance(max(self._last, now - 1))

    def next_expiration(self) -> int | None:
        found = super().next_expiration()
        return None if found is None else found + 1


@TWINS.twin(
    "timer-old-early", "KAFKA-W24", "a deadline 1 ms too early",
    "hiResClockMs is truncated to whole ms", of=ReferenceOldTimer, originals=_OLD)
class OneUnitEarly(OldTimer):
    """A delay that was truncated to whole units is too short."""

    def add(self, task: TimerTask, now: int) -> None:
        super().add(task, now - 1 if task.delay else now)


@TWINS.twin(
    "timer-old-keeps-all", "KAFKA-W31", "tasks that ran are held as well",
    "KAFKA-664: satisfied requests were never removed", of=ReferenceOldTimer, originals=_OLD)
class NothingLeaves(OldTimer):
    """Tasks that ran are counted as well, like completed requests in KAFKA-664."""

    gone = 0

    @property
    def size(self) -> int:
        return super().size + self.gone

    def advance(self, now: int) -> bool:
        before = super().size
        found = super().advance(now)
        self.gone += before - super().size
        return found


class _Unsigned(ReferenceOldTimer):
    """A timer with unsigned numbers as delays."""

    def schedule(self, task: int, delay: int) -> None:
        super().schedule(task, delay % 2**32)


class _Lifo(SchedTimer):
    """Among tasks with one deadline, the one that was added last runs first."""

    def schedule(self, task: int, delay: int) -> None:
        self.unschedule(task)
        self._added = getattr(self, "_added", 0) + 1
        self._events[task] = self._scheduler.enterabs(
            self.now + delay, -self._added, self._run, (task,))


class _ToldByAdds(ReferenceOldTimer):
    """Due tasks run in the order of their adds, and the clock is set to the deadline of each."""

    def schedule(self, task: int, delay: int) -> None:
        self._turns = getattr(self, "_turns", {})
        self._turns.pop(task, None)
        self._turns[task] = None
        super().schedule(task, delay)

    def move(self, until: int) -> None:
        super().move(until)
        self._runs.sort(key=lambda run: [*self._turns].index(run["task"]))


class _Timeout(ReferenceOldTimer):
    """setTimeout on top of a queue of tasks."""

    policy = "timeout"


@TWINS.twin(
    "timer-unclamped", "KAFKA-W26", "a delay of 0 ms is not changed to 1 ms",
    "mock timers of node:test (Node.js 20)", of=_Timeout, originals=())
class Unclamped(OldTimer):
    """A delay of 0 stays 0, as with node:test's mock timers."""


TWINS.add(
    "timer-delay-wraps", "KAFKA-W25", "a delay below 0 wraps, and the task runs seven weeks later",
    "deadline - now in an unsigned integer, for a deadline that has passed", parts={},
    of=_Unsigned, originals=_OLD)
TWINS.add(
    "timer-lifo", "KAFKA-W27", "of two tasks with one deadline the later one runs first",
    "a heap without a counter of insertions", parts={}, of=_Lifo, originals=("sched",))
TWINS.add(
    "timer-time-goes-back", "KAFKA-W37",
    "due tasks run in the order of their adds, each at its own time",
    "a fake clock that goes through its list of timers, not from one deadline to the next",
    parts={}, of=_ToldByAdds, originals=_OLD)


TWINS.variants(EXPECTATIONS, TimerOfTheBook, of=BookTimer, known={
    "ClockNotMovedAtFlush": ("timer-clock-not-moved", _MUTANT),
    "OverflowNotAdvanced": ("timer-overflow-not-advanced", _MUTANT),
    "OverflowFromZero": (
        "timer-overflow-from-zero",
        "KAFKA-2112: an overflow wheel was used before it was initialised"),
    "ExpiredOneTickEarly": ("timer-tick-early", _MUTANT),
    "ExpiredOnlyBeforeClock": ("timer-tick-late", _MUTANT),
    "SlotFromClock": ("timer-slot-from-clock", _MUTANT),
    "CoarseOverflow": ("timer-coarse-overflow", _MUTANT),
    "EagerOverflow": (
        "timer-eager-overflow",
        "overflow wheels are made on demand; each costs n buckets"),
    "RunWithoutCascade": ("timer-no-cascade", _MUTANT),
    "NotOfferedAgain": ("timer-not-offered-again", _MUTANT),
    "OfferedAlways": (
        "timer-offered-always",
        "a line of TimingWheel that is easily left out; timer_mutants; tasks run in time, but "
        "the queue is as long as with a queue of tasks"),
    "CancelledStaysLinked": ("timer-cancelled-runs", "KAFKA-2226: cancel during a cascade"),
})


class FlushingInPlace(OpenTimer):
    """A flush without advanceClock, as code."""

    def flush(self, bucket: TimerTaskList) -> None:
        self.empty(bucket, self._place)


TWINS.late("timer-clock-not-moved", 40, 300, code=FlushingInPlace)
TWINS.update(ENDS)
