"""Masters with one seeded bug each."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from ....reference.flow.jobs import Happens, Job, Master, News
from ....reference.queue import EMPTY, BoundedQueue, Overflow
from ...suites.twin import Twins
from .adapter import ReferenceMaster

__all__ = ["TWINS"]

TWINS: Final = Twins("jobs", ReferenceMaster, ("reference.jobs",))


@TWINS.twin(
    "jobs-takes-every-ask", "FLOW-50", "an ask that was answered before counts again",
    "003#E12: a set of askers, in which a late ask makes a second job")
class TakingEveryAsk(Master):
    """The number of an ask is ignored."""

    def _is_news(self, worker: Hashable, got: int) -> bool:
        return True


@TWINS.twin(
    "jobs-takes-old-asks", "FLOW-50", "an ask counts that names fewer jobs than were given",
    "a comparison the wrong way round: >= in the place of ==")
class TakingOldAsks(Master):
    """Old asks are taken, and new ones, too."""

    def _is_news(self, worker: Hashable, got: int) -> bool:
        return got <= self._given.get(worker, 0)


@TWINS.twin(
    "jobs-gives-again", "FLOW-50", "a worker that asked once is given jobs forever",
    "a worker's request kept after it was answered")
class GivingAgain(Master):
    """An ask is not removed when it is answered."""

    def _give(self) -> list[News]:
        news = super()._give()
        self._asking.update(dict.fromkeys(each.worker for each in news))
        return news


@TWINS.twin(
    "jobs-newest-first", "FLOW-51", "the job that came last is given first",
    "a stack in the place of a queue")
class NewestJobFirst(Master):
    """The queue is reversed before each assignment."""

    def _give(self) -> list[News]:
        self._queue._items.reverse()
        news = super()._give()
        self._queue._items.reverse()
        return news


@TWINS.twin(
    "jobs-drops-newest", "FLOW-51", "a full queue drops the job that comes",
    "drop from the tail, where resent jobs wait behind their own first copies")
class DroppingNewest(Master):
    """The oldest jobs stay."""

    def __init__(self, places: int) -> None:
        super().__init__(places)
        self._queue = BoundedQueue(places, Overflow.DROP_NEWEST)


@TWINS.twin(
    "jobs-drops-youngest", "FLOW-51", "a full queue drops the youngest of the queued jobs",
    "evict the youngest of those that are queued")
class DroppingYoungest(Master):
    """The tail goes, not the head."""

    def __init__(self, places: int) -> None:
        super().__init__(places)
        self._queue = BoundedQueue(places, Overflow.DROP_YOUNGEST)


@TWINS.twin(
    "jobs-one-place-fewer", "FLOW-52", "a job is dropped while one place is left",
    "> and >= confused at the queue's bound")
class OnePlaceFewer(Master):
    """The last place is never taken, except by the only one."""

    def submit(self, job: Job) -> list[News]:
        news = super().submit(job)
        if len(self) == self.places and (old := self._queue.poll().answer) is not EMPTY:
            assert isinstance(old, Job)
            news.append(News(Happens.DROPPED, old))
        return news


@TWINS.twin(
    "jobs-drops-all", "FLOW-52", "a full queue drops all that it holds",
    "drop-buffer in the place of drop-head")
class DroppingTheWholeQueue(Master):
    """The waiting jobs are cleared for the one that comes."""

    def __init__(self, places: int) -> None:
        super().__init__(places)
        self._queue = BoundedQueue(places, Overflow.CLEAR)


@TWINS.twin(
    "jobs-unbounded", "FLOW-53", "a queue without a bound",
    "the mail's opinion, misread as a permission: unboundedness rather than dropping")
class UnboundedJobs(Master):
    """Every job is kept."""

    def __init__(self, places: int) -> None:
        super().__init__(places)
        self._queue = BoundedQueue(places, Overflow.UNBOUNDED)


@TWINS.twin(
    "jobs-drops-in-silence", "FLOW-53", "a job is dropped, and its client is not notified",
    "drop without accounting")
class DroppingInSilence(Master):
    """A dropped job is not reported."""

    def submit(self, job: Job) -> list[News]:
        return [news for news in super().submit(job) if news.what is not Happens.DROPPED]


@TWINS.twin(
    "jobs-forgets-who-asks", "FLOW-54", "an ask that finds no job is forgotten",
    "a worker that is answered 'nothing', and does not ask again")
class ForgettingAsks(Master):
    """Only a job that is there already is given."""

    def ask(self, worker: Hashable, got: int) -> list[News]:
        news = super().ask(worker, got)
        self._asking.clear()
        return news


@TWINS.twin(
    "jobs-sleeps-on-jobs", "FLOW-54", "a job that comes wakes no worker",
    "a lost wake-up: jobs are given at the next ask only")
class SleepingOnJobs(Master):
    """A worker that has asked before waits for another worker's ask."""

    def submit(self, job: Job) -> list[News]:
        asking, self._asking = self._asking, {}
        news = super().submit(job)
        self._asking = asking
        return news


@TWINS.twin(
    "jobs-gives-one", "FLOW-54", "an ask that is answered late counts as old",
    "the numbers of asks compared with those of all workers")
class CountingTogether(Master):
    """One count for all workers, so that an ask is news to the first of them only."""

    def _is_news(self, worker: Hashable, got: int) -> bool:
        return got == sum(self._given.values()) and worker not in self._at


# ---- what shows late ----------------------------------------------------------------------------

TWINS.late("jobs-takes-every-ask", 40, 300)


# ---- what shows in large queues ------------------------------------------------------------------

TWINS.stacks("jobs-", "FLOW-51", "jobs", Master, "_give", lambda self: self._queue._items)


# ---- bugs that depend on the names of jobs ----------------------------------------------------

@TWINS.twin(
    "jobs-drops-equal-names", "FLOW-54", "a job of a name that waits already is dropped in silence",
    "a set of the jobs that are known, so that none is done twice")
class DroppingEqualNames(Master):
    """Two clients may give their jobs one name."""

    def submit(self, job: Job) -> list[News]:
        known = any(each.number == job.number for each in self._queue._items)
        return [] if known else super().submit(job)


@TWINS.twin(
    "jobs-loses-what-is-false", "FLOW-54", "a job whose name is false, such as 0, is lost",
    "`if not job` where `if job is None` was meant")
class LosingWhatIsFalse(Master):
    """The first of all numbers counts as no name."""

    def submit(self, job: Job) -> list[News]:
        return super().submit(job) if job.number else []


@TWINS.twin(
    "jobs-cuts-names", "FLOW-51", "the name of a job is cut to eight characters",
    "a column of fixed width")
class CuttingNames(Master):
    """Names that begin alike are one."""

    def submit(self, job: Job) -> list[News]:
        name = job.number
        return super().submit(job._replace(number=name[:8] if isinstance(name, str) else name))


@TWINS.twin(
    "jobs-reads-numbers", "FLOW-51", "a name that looks like a number is one: 007 is 7",
    "a loader that guesses types, as of YAML or a spreadsheet")
class ReadingNumbers(Master):
    """Names of digits lose their zeros, and their quotes."""

    def submit(self, job: Job) -> list[News]:
        name = job.number
        return super().submit(job._replace(
            number=int(name) if isinstance(name, str) and name.isdecimal() else name))
