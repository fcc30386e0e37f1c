"""The suite ``jobs``: jobs come, workers ask, again and late, and are done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from ....spec.flow.observed_jobs import ObservedMaster
from ....spec.notation.errors import TargetError
from ...ports.base import Message
from ...suites.lengthy import Long
from ...suites.plain import PlainConversation
from ...suites.remembered import counts, kept, those
from ...suites.says import Fields, each, ends, on, says, table
from ...suites.suite import Act, Suite, Watch
from ...suites.values import Payloads, in_words

__all__ = ["SUITE", "JobsConversation"]

WORKERS: Final = 2
PICKS: Final = 16

_GIVEN: Final = "job {named} is given to worker {worker}"
_DROPPED: Final = "job {named} is dropped"
_DOES: Final = each(
    ends("rests", "the master does nothing more"),
    says("drop", "drops", "the oldest job is dropped", _DROPPED, gives="job", where="oldest"),
    says("drop", "another_leaves", "a job leaves that is not the oldest in the queue, or does not "
         "exist",
         _DROPPED, gives="job"),
    says("give", "gives", "the oldest job goes to worker {worker}", _GIVEN, gives="job worker",
         where="oldest"),
    says("give", "another_leaves", "", _GIVEN, gives="job worker"),
    nothing="nothing happens")


class JobsConversation(PlainConversation):
    """One session with a master; this is its clients, and its workers. Jobs of one name cannot be
    distinguished: if one leaves, it is taken for the oldest of them.
    """

    waiting = kept("job", adds="submit", drops="drops gives another_leaves")
    busy = kept("worker", adds="gives another_leaves", drops="done", once=True)
    given = counts("worker", "gives another_leaves")
    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"submit": ("job",)}
    says = table(
        ObservedMaster,
        on("submit", "job {named} comes", _DOES, tells="submit",
           picks={"job": lambda talk, request: (talk.times["submit"],)}),
        on("ask", "an ask of worker {worker} comes, sent when it had got {got}", _DOES,
           tells="ask", where="counts",
           picks={"worker": range(WORKERS),
                  "got": lambda talk, request: talk.got(request["worker"])}),
        on("ask", "an ask of worker {worker} comes late, sent when it had got {got}", _DOES,
           tells="late_ask"),
        on("done", "worker {worker} is done", _DOES, tells="done",
           picks={"worker": those(range(WORKERS), "busy")}),
    )

    def got(self, worker: int) -> list[int]:
        """The counts of an ask. A worker with a job has sent none since: one that still comes was
        sent before, and of the others half are late."""
        got, half = self.given[worker], PICKS // WORKERS // 2
        return [got - (worker in self.busy or (late and got > 0))
                for late in (False,) * half + (True,) * half]

    def about(self, message: Message) -> Fields:
        """A request, event or answer, with the fields that are known besides."""
        if message.get("do") == "ask":
            return {**message, "counts": message["got"] == self.given[message["worker"]]}
        if "job" not in message:
            return message
        named = in_words(message["job"])
        worker = message.get("worker", 0)
        if worker >= WORKERS:
            raise TargetError(
                f"it gives job {named} to worker {worker}, and there is none such",
                next_step=f"Give jobs to the workers 0 to {WORKERS - 1}, which ask for them.")
        return {**message, "named": named, "oldest": self.waiting[:1] == [message["job"]]}


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "workers": WORKERS}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"K": capacity, "W": WORKERS}


SUITE: Final = Suite(
    name="jobs",
    version=3,
    port="jobs",
    watches=(Watch(ObservedMaster),),
    weights={"submit": 5, "ask": 4, "done": 3},
    epilogue=(Act("ask", 0), Act("ask", 1), Act("done", 0), Act("done", 1), Act("ask", 0),
              Act("ask", 1)),
    constants=_constants,
    payloads=Payloads({"submit": "job"}, equal=True),
    long=Long(fills=("submit",), drains=("ask", "done"), sizes=(7,)),
    conversation=JobsConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    picks=PICKS,
    scene="A master. Places in its queue: {capacity}; workers: {workers}.",
)
