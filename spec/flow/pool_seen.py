"""A pool of workers, as its clients and tasks see it.

Theory. In ``pool`` all is seen but sleep: submits and what becomes of each, starts, the ends of
runs and of futures, and the end of all. That a worker sleeps shows only where a task waits beside
it. A client submits, shuts or stops here when the pool has finished reacting; it cancels at any
time, and runs end and workers die at any time. So the races of two submits, or of a submit and a
shutdown, are left out: ``pool`` takes each in one step, and has no more of them to show.

Source: ``pool``, ``observed_executor``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..notation import action, require, upto
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_executor import ObservedExecutor, Policy
from .pool import (
    AskingTheQueueAlone, DroppingInSilence, Fate, KeepingTooMany, Pool, RunningWhatWasCancelled,
    Sleep, SleepingOnTheJob, StoppingInSilence, WakingNobodyAtTheEnd, WithoutReplacement,
)

__all__ = [
    "EXPECTATIONS", "KeepingThePlace", "LastInFirstOut", "PoolSeen", "ReportingResultsAlone",
]


class PoolSeen(View[Pool]):
    """All that clients and tasks see; they are the harness's, and so is when a worker dies."""

    around = ("shut", "stop", "return_here", "die", "deaths", "begun", "named")

    def follows(self, machine: Pool, action: str) -> bool:
        """A client's next call comes when the pool has finished reacting to the last one."""
        return action not in ("submit", "shut", "stop") or not (
            any(each == Sleep.AWAKE for each in machine.does)
            or any(each in (Fate.RETURNED, Fate.RAISED) for each in machine.fate)
            or all(each == Sleep.GONE for each in machine.does) and not machine.ended)

    @shown
    def submit(self, before: Pool, after: Pool) -> list[Seen]:
        found = [see("rests"), see("submits", promise=before.P)]
        if after.fate[before.named] == Fate.HERE:
            found.append(see("caller_runs", task=before.named))
        return [*found, *self.given_up(before, after)]

    @shown
    def cancel(self, before: Pool, after: Pool, task: int) -> Seen:
        took = after.fate[task] == Fate.CANCELLED
        return see("cancel_succeeds" if took else "cancel_fails", task=task)

    @shown
    def shut(self, before: Pool, after: Pool) -> list[Seen]:
        return [see("rests"), see("shuts")]

    @shown
    def stop(self, before: Pool, after: Pool) -> list[Seen]:
        return [see("rests"), see("stops"), *self.given_up(before, after)]

    def given_up(self, before: Pool, after: Pool) -> Iterator[Seen]:
        """The tasks that are refused or dropped in a step."""
        for task in range(before.K):
            if before.fate[task] != after.fate[task]:
                if after.fate[task] == Fate.REFUSED:
                    yield see("refuses", task=task)
                if after.fate[task] == Fate.DROPPED:
                    yield see("drops", task=task)

    @shown
    def take(self, before: Pool, after: Pool, worker: int) -> Seen:
        return see("starts", task=after.has[worker])

    @shown
    def finish(self, before: Pool, after: Pool, worker: int, good: int) -> Seen:
        return see("run_returns" if good == 1 else "run_raises", task=before.has[worker])

    @shown
    def return_here(self, before: Pool, after: Pool, task: int, good: int) -> Seen:
        return see("run_returns" if good == 1 else "run_raises", task=task)

    @shown
    def die(self, before: Pool, after: Pool, worker: int) -> Seen:
        return see("worker_dies", task=before.has[worker])

    @shown
    def report(self, before: Pool, after: Pool, task: int) -> Seen:
        returned = before.fate[task] == Fate.RETURNED
        return see("future_returns" if returned else "future_raises", task=task)

    @shown
    def end(self, before: Pool, after: Pool) -> Seen:
        return see("terminates")

    def asked(self, machine: Pool) -> Iterable[Seen | Sequence[Seen]]:
        """Report that the pool has finished reacting if it can do nothing by itself."""
        if not self.enabled & {"take", "sleep", "report", "end"}:
            yield see("rests")


# --- what shows only outside -----------------------------------------------------------------

class ReportingResultsAlone(Pool):
    """The future of a task that raised never ends."""

    @action(fair=True, task=upto(Pool.K))
    def report(self, task: int) -> None:
        """A task that raised is left as it is."""
        require(self.fate[task] == Fate.RETURNED)
        self.fate[task] = Fate.OVER


class LastInFirstOut(Pool):
    """A stack in the place of a queue."""

    def joins(self, task: int) -> None:
        """The newest is first."""
        self.line.push(task)
        for _ in range(len(self.line) - 1):
            self.line.push(self.line.pop())
        self.fate[task] = Fate.WAITS
        self.wakes(1)


class KeepingThePlace(Pool):
    """A task that is cancelled keeps its place, as with the JDK until a worker takes it."""

    def has_room(self) -> bool:
        """A place that a cancelled task keeps is not free."""
        return self.P == Policy.UNBOUNDED or len(self.line) + sum(
            each == Fate.CANCELLED for each in self.fate) < self.Q


SEEN = refines(Pool, ObservedExecutor, "each task runs once, or never and says so", shows=PoolSeen,
               seen_by={"W": "W", "Q": "Q", "K": "K", "L": "max(K, Q + 1)"},
               W=(1, 2), Q=1, K=2, P=(1, 2, 3, 4, 5), X=1)

EXPECTATIONS = (
    SEEN,
    refines(Pool, ObservedExecutor, "each task runs once, also where one is too many",
            shows=PoolSeen, seen_by=dict(SEEN.seen_by), W=1, Q=1, K=3, P=(1, 2, 3, 4, 5), X=0),
    refused(KeepingTooMany, "EXEC-4", "one too many waits", like=SEEN, W=1, K=3, P=1, X=0),
    refused(DroppingInSilence, "EXEC-4", "the future of what is dropped never ends", like=SEEN,
            W=1, K=3, P=(3, 4), X=0),
    refused(StoppingInSilence, "EXEC-17", "a stop reports nothing", like=SEEN, W=1, P=1, X=0),
    refused(RunningWhatWasCancelled, "EXEC-8", "a task that was cancelled runs", like=SEEN, W=1,
            P=1, X=0),
    refused(SleepingOnTheJob, "EXEC-3", "a worker sleeps beside a task", like=SEEN, W=1, P=1, X=0),
    refused(WithoutReplacement, "EXEC-3", "a worker that died is missed", like=SEEN, W=(1, 2),
            K=3, P=5, X=1),
    refused(WakingNobodyAtTheEnd, "EXEC-19", "a pool that never ends", like=SEEN, W=(1, 2), P=1,
            X=0),
    refused(AskingTheQueueAlone, "EXEC-18", "an end that is reported while a task runs", like=SEEN,
            W=1, P=1, X=0),
    refused(ReportingResultsAlone, "EXEC-12", "an exception that no future learns of", like=SEEN,
            W=1, P=1, X=0),
    refused(LastInFirstOut, "EXEC-2", "the newest task is first", like=SEEN, W=1, K=3, P=5, X=0),
    refused(KeepingThePlace, "EXEC-5", "a task is refused before a place that a cancelled one "
            "keeps", like=SEEN, W=1, K=3, P=1, X=0),
)
