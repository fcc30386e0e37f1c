"""Executors with one seeded bug each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

from ....reference.flow.executor import Does, Event, Executor, Outcome, Rejection, Task
from ...suites.twin import Twins
from .adapter import CallerRuns, DropNewest, DropOldest, ReferenceExecutor

__all__ = ["TWINS"]

TWINS: Final = Twins("executor", ReferenceExecutor, ("reference.executor",))

_NEWEST: Final[Mapping[str, Any]] = {
    "of": DropNewest, "originals": ("reference.executor.drop-newest",)}
_OLDEST: Final[Mapping[str, Any]] = {
    "of": DropOldest, "originals": ("reference.executor.drop-oldest",)}
_CALLERS: Final[Mapping[str, Any]] = {
    "of": CallerRuns, "originals": ("reference.executor.caller-runs",)}


# ---- workers ------------------------------------------------------------------------------------


@TWINS.twin(
    "executor-one-worker-more", "EXEC-1", "one task more runs than there are workers",
    "< and <= confused where a worker is added")
class OneWorkerMore(Executor):
    """The limit is compared in the wrong way."""

    def __init__(self, workers: int, places: int, rejection: Rejection) -> None:
        super().__init__(workers + 1, places, rejection)


@TWINS.twin(
    "executor-replaces-twice", "EXEC-1", "a worker that dies is replaced twice",
    "a death that is noticed by two, the worker's own end and a watchdog")
class ReplacingTwice(Executor):
    """Each death leaves one worker more."""

    def ended(self, number: Hashable, outcome: Outcome, value: Any = None) -> list[Event]:
        self.workers += outcome is Outcome.DIED
        return super().ended(number, outcome, value)


@TWINS.twin(
    "executor-replaces-no-worker", "EXEC-3", "a worker that dies is not replaced",
    "cpython #115634 (ProcessPoolExecutor): no process takes the place of one that ended")
class ReplacingNone(Executor):
    """Each death leaves one worker fewer."""

    def ended(self, number: Hashable, outcome: Outcome, value: Any = None) -> list[Event]:
        self.workers -= outcome is Outcome.DIED
        return super().ended(number, outcome, value)


@TWINS.twin(
    "executor-sleeps-after-exception", "EXEC-3",
    "after a task that raised, its worker takes no other until one is submitted",
    "a loop whose next turn is skipped by the exception")
class SleepingAfterException(Executor):
    """The worker is idle, and others wait."""

    def ended(self, number: Hashable, outcome: Outcome, value: Any = None) -> list[Event]:
        if outcome is not Outcome.RAISED or number not in self._running:
            return super().ended(number, outcome, value)
        return [*self._settle(self._running.pop(number), outcome, value), *self._terminate()]


@TWINS.twin(
    "executor-shutdown-strands", "EXEC-3", "after a shutdown, no task that waits starts",
    "workers that look at the flag before they look at the queue")
class Stranding(Executor):
    """Accepted tasks wait forever."""

    def _start(self) -> list[Event]:
        return [] if self._is_shut else super()._start()


@TWINS.twin(
    "executor-waits-for-full-queue", "EXEC-3",
    "a second worker starts only when the queue is full",
    "the JDK's corePoolSize, taken for the number of workers that run when there is work")
class WaitingForFullQueue(Executor):
    """Tasks wait beside a worker that could run them."""

    def _start(self) -> list[Event]:
        if self._running and len(self._waiting) <= self.places:
            return []
        return super()._start()


# ---- the queue ----------------------------------------------------------------------------------


@TWINS.twin(
    "executor-newest-first", "EXEC-2", "the task that came last starts first",
    "a stack in the place of a queue")
class NewestTaskFirst(Executor):
    """Under load, old tasks starve."""

    def _next(self) -> Task:
        return self._waiting.pop()


@TWINS.twin(
    "executor-newcomer-first", "EXEC-2",
    "where a cancel has freed a slot, a newcomer enters the queue at the front",
    "a free list, whose last place is filled first")
class NewcomerFirst(Executor):
    """The place of a cancelled task is taken as it is."""

    _gap = False

    def cancel(self, number: Hashable) -> bool:
        undone = super().cancel(number)
        self._gap = self._gap or undone
        return undone

    def submit(self, task: Task) -> list[Event]:
        events = super().submit(task)
        if self._gap and self._waiting and self._waiting[-1] is task:
            self._waiting.rotate(1)
            self._gap = False
        return events


@TWINS.twin(
    "executor-unbounded", "EXEC-4", "the queue has no bound",
    "Executors.newFixedThreadPool, whose queue is a LinkedBlockingQueue without a capacity")
class UnboundedQueue(Executor):
    """Every task is kept."""

    def _has_too_many(self) -> bool:
        return False


@TWINS.twin(
    "executor-drops-in-silence", "EXEC-4",
    "a task is dropped, and its future never ends",
    "libraries#executor-jdk: DiscardPolicy, whose futures never end", **_NEWEST)
class DroppingInSilence(Executor):
    """A client waits forever."""

    def _reject(self) -> list[Event]:
        super()._reject()
        return []


@TWINS.twin(
    "executor-drops-oldest-in-silence", "EXEC-4",
    "the oldest task is dropped, and its future never ends",
    "libraries#executor-jdk: DiscardOldestPolicy, whose futures never end", **_OLDEST)
class DroppingOldestInSilence(DroppingInSilence):
    """A client that has waited longest waits forever."""


@TWINS.twin(
    "executor-one-place-fewer", "EXEC-5", "a task is refused while one place is left",
    "> and >= confused at the queue's bound")
class OnePlaceFewer(Executor):
    """The last place is never taken."""

    def _has_too_many(self) -> bool:
        return len(self._waiting) >= self.places


@TWINS.twin(
    "executor-cancelled-keep-places", "EXEC-5",
    "a cancelled task keeps its place in the queue until its turn comes",
    "libraries#executor-jdk: cancelled tasks stay in the work queue until they are purged")
class KeepingPlaces(Executor):
    """Cancelled tasks are skipped, and not removed."""

    _places_kept = 0

    def cancel(self, number: Hashable) -> bool:
        undone = super().cancel(number)
        self._places_kept += undone
        return undone

    def _has_too_many(self) -> bool:
        return len(self._waiting) + self._places_kept > self.places

    def _next(self) -> Task:
        self._places_kept = 0
        return super()._next()


@TWINS.twin(
    "executor-callers-run-early", "EXEC-5", "a caller runs its task although there is a place",
    "a bound that counts the tasks that run", **_CALLERS)
class CallersRunEarly(OnePlaceFewer):
    """The last place is never taken."""


@TWINS.twin(
    "executor-refuses-oldest", "EXEC-6",
    "the task that has waited longest is refused, and the newcomer kept",
    "a rejection handler that is given the head of the queue")
class RefusingOldest(Executor):
    """Its submit has succeeded long ago."""

    def _reject(self) -> list[Event]:
        return [Event(Does.REFUSED, self._waiting.popleft())]


@TWINS.twin(
    "executor-drops-youngest", "EXEC-6", "a full executor drops the newcomer, not the oldest",
    "drop from the tail, where the newest is what counts", **_OLDEST)
class DroppingYoungest(Executor):
    """The oldest tasks are left."""

    def _reject(self) -> list[Event]:
        return [Event(Does.DROPPED, self._waiting.pop())]


@TWINS.twin(
    "executor-callers-get-exceptions", "EXEC-6",
    "a caller that should run its task gets an exception", "a handler that is never installed",
    **_CALLERS)
class CallersGetExceptions(Executor):
    """Nothing slows the callers down."""

    def _reject(self) -> list[Event]:
        return [Event(Does.REFUSED, self._waiting.pop())]


# ---- what never runs ----------------------------------------------------------------------------


@TWINS.twin(
    "executor-runs-refused", "EXEC-7", "a task is refused, and stays in the queue",
    "an offer that times out after the item went in")
class RunningRefused(Executor):
    """Its client submits it again, and it runs twice."""

    def _reject(self) -> list[Event]:
        return [Event(Does.REFUSED, self._waiting[-1])]


@TWINS.twin(
    "executor-runs-dropped", "EXEC-7", "a task is reported as dropped, and runs later",
    "the future is cancelled, and the entry of the queue is not removed", **_OLDEST)
class RunningDropped(Executor):
    """Its future has ended."""

    def _reject(self) -> list[Event]:
        return [Event(Does.DROPPED, self._waiting[0])]


@TWINS.twin(
    "executor-runs-cancelled", "EXEC-8", "a cancel succeeds, and the task runs all the same",
    "pebble #33: tasks are run after they were cancelled")
class RunningCancelled(Executor):
    """Only its future is marked."""

    def cancel(self, number: Hashable) -> bool:
        return any(task.number == number for task in self._waiting)


@TWINS.twin(
    "executor-runs-again", "EXEC-9",
    "a task whose worker died is run again, although its future has ended",
    "a queue that keeps its head until the work is done")
class RunningAgain(Executor):
    """At least once, where at most once was promised."""

    def _settle(self, task: Task, outcome: Outcome, value: Any) -> list[Event]:
        if outcome is Outcome.DIED:
            self._waiting.appendleft(task)
        return super()._settle(task, outcome, value)


# ---- items, results and futures -----------------------------------------------------------------


@TWINS.twin(
    "executor-binds-late", "EXEC-10", "a task that waited runs with the item of the newest one",
    "a closure in a loop, which sees its variable as it is when it runs")
class BindingLate(Executor):
    """The variable is shared by all."""

    _newest: Any = None

    def submit(self, task: Task) -> list[Event]:
        self._newest = task.item
        return super().submit(task)

    def _next(self) -> Task:
        return super()._next()._replace(item=self._newest)


@TWINS.twin(
    "executor-swaps-results", "EXEC-11", "a future has the result of the task that ended before",
    "results that are matched to futures by their order")
class SwappingResults(Executor):
    """Results come one late."""

    _last: Any = None

    def _settle(self, task: Task, outcome: Outcome, value: Any) -> list[Event]:
        last, self._last = self._last, value
        return super()._settle(task, outcome, value if last is None else last)


@TWINS.twin(
    "executor-exceptions-are-results", "EXEC-11",
    "a future whose task raised ends as if it had returned",
    "an exception that is logged, and a finally that sets the result")
class ExceptionsAreResults(Executor):
    """Its client believes that all went well."""

    def _settle(self, task: Task, outcome: Outcome, value: Any) -> list[Event]:
        return [Event(Does.RETURNED, task, value)]


@TWINS.twin(
    "executor-ends-twice", "EXEC-11", "a future whose worker died ends twice",
    "a future that is ended by the worker, and again by the thread that watches it")
class EndingTwice(Executor):
    """InvalidStateError, if the future is strict."""

    def _settle(self, task: Task, outcome: Outcome, value: Any) -> list[Event]:
        return super()._settle(task, outcome, value) * (1 + (outcome is Outcome.DIED))


@TWINS.twin(
    "executor-swallows-exceptions", "EXEC-12", "a future whose task raised never ends",
    "a worker's loop that catches all exceptions, and continues")
class SwallowingExceptions(Executor):
    """Its client waits forever."""

    def _settle(self, task: Task, outcome: Outcome, value: Any) -> list[Event]:
        return [] if outcome is Outcome.RAISED else super()._settle(task, outcome, value)


@TWINS.twin(
    "executor-forgets-the-dead", "EXEC-12", "a future whose worker died never ends",
    "multiprocessing.Pool, whose results never come if a process is killed")
class ForgettingTheDead(Executor):
    """The worker is replaced, and its task forgotten."""

    def _settle(self, task: Task, outcome: Outcome, value: Any) -> list[Event]:
        return [] if outcome is Outcome.DIED else super()._settle(task, outcome, value)


@TWINS.twin(
    "executor-cancels-what-runs", "EXEC-13", "a cancel of a task that runs succeeds",
    "a future that is marked as cancelled whenever it has not ended")
class CancellingWhatRuns(Executor):
    """The task has its effects all the same."""

    def cancel(self, number: Hashable) -> bool:
        return super().cancel(number) or number in self._running


@TWINS.twin(
    "executor-cancels-the-head-only", "EXEC-13", "a cancel fails for all but the next task",
    "a remove that compares with the head of the queue")
class CancellingTheHead(Executor):
    """Other tasks that wait run although their clients do not want them."""

    def cancel(self, number: Hashable) -> bool:
        return bool(self._waiting) and self._waiting[0].number == number and super().cancel(number)


# ---- the end ------------------------------------------------------------------------------------


@TWINS.twin(
    "executor-accepts-while-busy", "EXEC-14",
    "after a shutdown, a task is accepted while others still run",
    "a flag that only idle workers look at")
class AcceptingWhileBusy(Executor):
    """It ends only when its clients do."""

    def submit(self, task: Task) -> list[Event]:
        shut, self._is_shut = self._is_shut, self._is_shut and not self._running
        events = super().submit(task)
        self._is_shut = shut
        return events


@TWINS.twin(
    "executor-discards-after-shutdown", "EXEC-14",
    "a task that is submitted after a shutdown is dropped in silence",
    "libraries#executor-jdk: CallerRunsPolicy drops it in silence after a shutdown", **_CALLERS)
class DiscardingAfterShutdown(Executor):
    """Its future never ends."""

    def submit(self, task: Task) -> list[Event]:
        return [] if self._is_shut else super().submit(task)


@TWINS.twin(
    "executor-shutdown-drops", "EXEC-15", "a shutdown drops the tasks that wait",
    "a shutdown that cancels the futures, as a stop does")
class DroppingAtShutdown(Executor):
    """Accepted tasks never run."""

    def shutdown(self) -> list[Event]:
        return self.stop()


@TWINS.twin(
    "executor-starts-after-stop", "EXEC-16", "after a stop, an idle worker runs what is submitted",
    "a stop that empties the queue, and hands over directly to workers that are idle")
class StartingAfterStop(Executor):
    """A task that starts at once passes by the flag."""

    def submit(self, task: Task) -> list[Event]:
        if self._is_stopped and len(self._running) < self.workers:
            self._running[task.number] = task
            return [Event(Does.STARTS, task)]
        return super().submit(task)


@TWINS.twin(
    "executor-one-more-at-stop", "EXEC-16", "a stop lets the next task start that waits",
    "a worker that has looked at the flag, and not yet at the queue")
class OneMoreAtStop(Executor):
    """The flag is set between two lines of a worker."""

    def stop(self) -> list[Event]:
        late = [self._waiting.popleft()] if self._waiting else []
        self._running.update((task.number, task) for task in late)
        return [*(Event(Does.STARTS, task) for task in late), *super().stop()]


@TWINS.twin(
    "executor-stops-in-silence", "EXEC-17", "a stop drops what waits, and does not report it",
    "cpython #87893: those that wait for the futures are not notified")
class StoppingInSilence(Executor):
    """Clients of what waited wait forever."""

    def stop(self) -> list[Event]:
        return [event for event in super().stop() if event.what is not Does.DROPPED]


@TWINS.twin(
    "executor-terminates-at-once", "EXEC-18", "a shutdown that waits does not wait",
    "shutdown(wait=True) that returns when the workers have been notified")
class TerminatingAtOnce(Executor):
    """Tasks still run, and what they use is closed."""

    def shutdown(self) -> list[Event]:
        events = super().shutdown()
        if not self._has_terminated:
            self._has_terminated = True
            events.append(Event(Does.TERMINATED))
        return events


@TWINS.twin(
    "executor-terminates-twice", "EXEC-18", "a second shutdown reports the end again",
    "a hook terminated() that is called by every shutdown")
class TerminatingTwice(Executor):
    """A hook closes again, and finds it closed."""

    def shutdown(self) -> list[Event]:
        self._has_terminated = False
        return super().shutdown()


@TWINS.twin(
    "executor-cancel-blocks-shutdown", "EXEC-19",
    "after a cancel, a shutdown that waits never ends",
    "cpython #94440 (ProcessPoolExecutor): a cancelled future, and a shutdown that hangs")
class CancelBlocksShutdown(Executor):
    """A cancelled task is counted as one that is to come."""

    _pending = 0

    def cancel(self, number: Hashable) -> bool:
        undone = super().cancel(number)
        self._pending += undone
        return undone

    def _terminate(self) -> list[Event]:
        return [] if self._pending else super()._terminate()


@TWINS.twin(
    "executor-ends-unnoticed", "EXEC-19",
    "a shutdown that waits never ends if tasks ran when it was requested",
    "a condition that is notified by the shutdown only")
class EndingUnnoticed(Executor):
    """The last worker notifies nothing."""

    def ended(self, number: Hashable, outcome: Outcome, value: Any = None) -> list[Event]:
        return [event for event in super().ended(number, outcome, value)
                if event.what is not Does.TERMINATED]


# ---- what shows late, and in large queues -------------------------------------------------------

TWINS.late("executor-runs-cancelled", 40)
TWINS.late("executor-newest-first", 300)
TWINS.stacks("executor-", "EXEC-2", "tasks", Executor, "_next", lambda self: self._waiting)


# ---- bugs that depend on the items of tasks -----------------------------------------------------


@TWINS.twin(
    "executor-drops-equal-items", "EXEC-3", "a task with the item of one that runs is dropped in "
    "silence", "a set of what is under way, so that nothing is done twice")
class DroppingEqualItems(Executor):
    """Two clients may ask for the same."""

    def submit(self, task: Task) -> list[Event]:
        known = any(each.item == task.item for each in self._running.values())
        return [] if known and not self._is_shut else super().submit(task)


@TWINS.twin(
    "executor-loses-what-is-false", "EXEC-3", "a task whose item is false, such as 0, is lost",
    "`if not item` where `if item is None` was meant")
class LosingWhatIsFalse(Executor):
    """The first of all numbers counts as no item."""

    def submit(self, task: Task) -> list[Event]:
        return super().submit(task) if task.item or self._is_shut else []


@TWINS.twin(
    "executor-cuts-items", "EXEC-10", "a text is cut to eight characters",
    "a column of fixed width")
class CuttingItems(Executor):
    """Texts that begin alike are one."""

    def submit(self, task: Task) -> list[Event]:
        item = task.item
        return super().submit(task._replace(item=item[:8] if isinstance(item, str) else item))


@TWINS.twin(
    "executor-reads-numbers", "EXEC-10", "a text that looks like a number is one: 007 is 7",
    "a loader that guesses types, as of YAML or a spreadsheet")
class ReadingNumbers(Executor):
    """Texts of digits lose their zeros, and their quotes."""

    def submit(self, task: Task) -> list[Event]:
        item = task.item
        return super().submit(task._replace(
            item=int(item) if isinstance(item, str) and item.isdecimal() else item))


@TWINS.twin(
    "executor-false-results-raise", "EXEC-11",
    "a result that is false, such as 0, ends its future with an exception",
    "`if result` where `if error is None` was meant")
class FalseResultsRaise(Executor):
    """The first of all numbers counts as none."""

    def _settle(self, task: Task, outcome: Outcome, value: Any) -> list[Event]:
        failed = outcome is Outcome.RETURNED and not value
        return super()._settle(task, Outcome.RAISED if failed else outcome, value)
