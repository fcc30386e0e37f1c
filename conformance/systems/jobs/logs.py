"""A master and its workers in a log, in the order in which the master took its events.

The conversation's half of the judging is short: which job is the oldest, and whether an ask counts
all jobs that its worker was given. Progress needs ``rest``, the event that the master has no more
to do for the time being.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping
from typing import Any, Final

from ....spec.flow import observed_jobs as chapter
from ....spec.flow.observed_jobs import ObservedMaster
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
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

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self.now.W = _WORKERS
        self._waiting: deque[Hashable] = deque()
        self._workers: dict[str, int] = {}
        self._got: dict[str, int] = {}

    def constants(self) -> Mapping[str, int]:
        return {"K": self.terms.settings["places"], "W": 1}

    def sees(self, event: Event) -> None:
        do, worker = event.operation, event.process
        at = self._workers.setdefault(worker, len(self._workers))
        if do == "submit":
            # The master has done with what came before: else its reaction has no place.
            if self.now.waiting > self.now.K and not self.step(event, _RESTS):
                return
            self._waiting.append(event.item)
            self.step(event, _SUBMIT)
        elif do == "ask":
            if event.value is None:
                counts = at not in self.now.busy
            else:
                counts = event.value == self._got.get(worker, 0)
            self.step(event, _ASK if counts else _LATE, worker=at)
        elif do == "done":
            self.step(event, _DONE, worker=at)
        elif do == "rest":
            self.step(event, _RESTS)
        elif not self._waiting or self._waiting[0] != event.item:
            self.step(event, _ANOTHER)
        else:
            self._waiting.popleft()
            args = {"worker": at} if do == "gives" else {}
            self._got[worker] = self._got.get(worker, 0) + (do == "gives")
            self.step(event, _LEAVES[do], **args)


_AT_ONCE: Final = ("end", "point")

LOGS: Final = Logs(
    machines=(ObservedMaster,),
    operations={
        "submit": Call("a job, the item, comes", _AT_ONCE, ("item",)),
        "ask": Call("an ask of a worker, the process, comes; value: the jobs that it had got",
                    _AT_ONCE),
        "done": Call("a worker is done with its job", _AT_ONCE),
        "gives": Call("a job goes to a worker, the process", _AT_ONCE, ("item",)),
        "drops": Call("a job is dropped", _AT_ONCE, ("item",)),
        "rest": Call("the master does no more for the time being", _AT_ONCE),
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
