"""The suite ``jobs``: jobs come, workers ask, again and late, and are done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.flow.observed_jobs import ObservedMaster
from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch

__all__ = ["SUITE", "JobsConversation"]

WORKERS: Final = 2
PICKS: Final = 16
_LATE: Final = 8
"""Who picks this or more repeats an ask that was answered before, if there is one."""

_REST: Final[Step] = ("rests", ())
_ANOTHER: Final[Step] = ("another_leaves", ())


class JobsConversation(PlainConversation):
    """One session with a master; this is its clients, and its workers."""

    acts = ("submit", "ask", "done")

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "jobs", _settings(capacity))
        self._submitted = 0
        self._waiting: list[int] = []
        self._got = [0] * WORKERS
        self._busy: set[int] = set()

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        worker = act.pick % WORKERS
        if act.do == "submit":
            return {"do": "submit", "job": self._submitted}
        if act.do == "done":
            return {"do": "done", "worker": worker} if worker in self._busy else None
        # A worker with a job has sent no ask since; what still comes was sent before.
        late = worker in self._busy or (act.pick % PICKS >= _LATE and self._got[worker] > 0)
        return {"do": "ask", "worker": worker, "got": self._got[worker] - late}

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "submit":
            return f"job {request['job']} comes"
        worker = request["worker"]
        if request["do"] == "done":
            return f"worker {worker} is done"
        late = " late" if request["got"] != self._got[worker] else ""
        return f"an ask of worker {worker} comes{late}, sent when it had got {request['got']}"

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        yield Answer("the master does nothing more", _REST)
        yield Answer("the oldest job is dropped", ("drops", ()))
        yield Answer("another job leaves the queue", _ANOTHER)
        for worker in range(WORKERS):
            yield Answer(f"the oldest job goes to worker {worker}", _to("gives", worker))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        told = self._told(request)
        steps = [self._shown(*event) for event in answer]
        words = " and ".join(
            f"job {job} is {f'given to worker {to[0]}' if to else 'dropped'}"
            for _, job, *to in answer)
        return Seen((told, *steps, _REST), words or "nothing happens")

    def _told(self, request: Message) -> Step:
        """What the master is told."""
        if request["do"] == "submit":
            self._waiting.append(request["job"])
            self._submitted += 1
            return "submit", ()
        worker = request["worker"]
        if request["do"] == "done":
            self._busy.discard(worker)
            return _to("done", worker)
        return _to("ask" if request["got"] == self._got[worker] else "late_ask", worker)

    def _shown(self, event: str, job: int, worker: int = 0) -> Step:
        """What the master does."""
        is_next = self._waiting[:1] == [job] and worker < WORKERS
        if job in self._waiting:
            self._waiting.remove(job)
        if event == "give" and worker < WORKERS:
            self._got[worker] += 1
            self._busy.add(worker)
        if not is_next:
            return _ANOTHER
        return _to("gives", worker) if event == "give" else ("drops", ())


def _to(action: str, worker: int) -> Step:
    return action, (("worker", worker),)


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "workers": WORKERS}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"K": capacity, "W": WORKERS}


SUITE: Final = Suite(
    name="jobs",
    version=1,
    port="jobs",
    watches=(Watch(ObservedMaster),),
    weights={"submit": 5, "ask": 4, "done": 3},
    epilogue=(Act("ask", 0), Act("ask", 1), Act("done", 0), Act("done", 1), Act("ask", 0),
              Act("ask", 1)),
    constants=_constants,
    converse=JobsConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    picks=PICKS,
    scene="A master. Places in its queue: {capacity}; workers: {workers}.",
)
