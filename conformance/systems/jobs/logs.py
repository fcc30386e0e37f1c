"""A master and its workers in a log, in the order in which the master took its events.

The conversation's half of the judging is short: which job is the oldest, and whether an ask counts
all jobs that its worker was given. Progress needs ``rest``, the event that the master has no more
to do for the time being.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from ....spec.flow import observed_jobs as chapter
from ....spec.flow.observed_jobs import ObservedMaster
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.many import Step, step
from ...logs.notes import Notes
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from ...suites.says import END
from .suite import JobsConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(JobsConversation.says)
_RULES: Final[tuple[Rule, ...]] = (
    chapter.GIVES_TO_IDLE, chapter.FROM_THE_FRONT, chapter.DROPS_WHERE_FULL)
_WITH_REST: Final[tuple[Rule, ...]] = (chapter.KEEPS_TO_ITS_PLACES, chapter.GIVES_AT_ONCE)

_SUBMIT: Final = _SAYS.request("submit")
_ASK: Final = _SAYS.request("ask", "counts")
_LATE: Final = _SAYS.request("ask")
_DONE: Final = _SAYS.request("done")
_LEAVES: Final = {"gives": _SAYS.answer("submit", "give"), "drops": _SAYS.answer("submit", "drop")}
_ANOTHER: Final = _SAYS.otherwise("submit", "drop")
_RESTS: Final = _SAYS.answer("submit", END)

_WORKERS: Final = 1 << 20


class JobsJudge(StepJudge):
    """Judges one master; see ``StepJudge``."""

    machine = ObservedMaster
    rules = ids_of((*_RULES, *_WITH_REST))
    own = ("_waiting", "_got")
    clocks = dict.fromkeys(("gives", "drops"), "master")

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self.now.W = _WORKERS
        self._waiting: deque[Hashable] = deque()
        self._workers: dict[str, int] = {}
        self._got: dict[str, int] = {}
        self._earlier: dict[str, int] = {}      # jobs that they had got before the log, at least

    def constants(self) -> Mapping[str, int]:
        return {"K": self.terms.settings["places"], "W": 1}

    def before(self) -> Iterable[Mapping[str, Any]]:
        return [{"waiting": waiting} for waiting in range(self.now.K + 2)]

    def sees(self, event: Event) -> None:
        do, worker = event.operation, event.process
        if self.many is not None and worker not in self._workers:
            self._may_be_at_anything(len(self._workers))
        at = self._workers.setdefault(worker, len(self._workers))
        if do == "submit":
            # The master has done with what came before: else its reaction has no place.
            if self.takes(event, lambda now: [
                    [*(step(_RESTS) if now.waiting > now.K else ()), *step(_SUBMIT)]]):
                self._waiting.append(event.item)
        elif do == "ask":
            self._asks(event, at)
        elif do == "done":
            self.step(event, _DONE, worker=at)
        elif do == "rest":
            self.step(event, _RESTS)
        else:
            self._leaves(event, at)

    def _may_be_at_anything(self, worker: int) -> None:
        """A worker asks, or has a job, or neither: before a log that begins in the middle."""
        assert self.many is not None
        self.many.splits(lambda now: [
            {}, {"asking": now.asking | {worker}}, {"busy": now.busy | {worker}}])

    def _asks(self, event: Event, worker: int) -> None:
        counts, late = step(_ASK, worker=worker), step(_LATE, worker=worker)
        got = self._got.get(event.process, 0)
        if event.value is None:
            self.takes(event, lambda now: [late if worker in now.busy else counts])
            return
        # Before the log it may have got jobs, too: as many as an ask shows, or still more. When it
        # gets a second one it has asked for that in the log, with the true number.
        earlier = self._earlier.get(event.process, 0)
        more = event.value - got
        if self.many is None or got > 1 or more < earlier:
            ways = [counts if more == earlier else late]
        else:
            self._earlier[event.process] = more
            ways = [counts, late]
        self.takes(event, lambda now: ways)

    def _leaves(self, event: Event, worker: int) -> None:
        """The job has to be the oldest: those that came before the log are older than all others,
        and their names are not known."""
        do, item = event.operation, event.item
        here = len(self._waiting)
        is_first = here > 0 and self._waiting[0] == item
        is_known = is_first or (self.many is not None and item in self._waiting)
        leaves = step(_LEAVES[do], **({"worker": worker} if do == "gives" else {}))

        def ways(now: Any) -> list[tuple[Step]]:
            older = self.many is not None and now.waiting > here
            return [leaves if is_first and not older or older and not is_known else step(_ANOTHER)]

        if self.takes(event, ways):
            if is_first:
                self._waiting.popleft()
            self._got[event.process] = self._got.get(event.process, 0) + (do == "gives")


_does: Final = partial(Call, by_end=True)

LOGS: Final = Logs(
    machines=(ObservedMaster,),
    operations={
        "submit": _does("a job, the item, comes", needs=("item",)),
        "ask": _does("an ask of a worker, the process, comes; value: the jobs that it had got"),
        "done": _does("a worker is done with its job"),
        "gives": _does("a job goes to a worker, the process", needs=("item",)),
        "drops": _does("a job is dropped", needs=("item",)),
        "rest": _does("the master does no more for the time being"),
    },
    settings={"places": "jobs that may wait"},
    required=("places",),
    rules=_RULES,
    with_rest={rule.id: "rest" for rule in _WITH_REST},
    judge=JobsJudge,
    capacity="places",
    asks={("submit", "ok"): Asks(("submit",), item="job", new=("job",)),
          ("ask", "ok"): Asks(("ask",), process="worker"),
          ("done", "ok"): Asks(("done",), process="worker"),
          **dict.fromkeys([(does, "ok") for does in ("gives", "drops", "rest")])},
)
