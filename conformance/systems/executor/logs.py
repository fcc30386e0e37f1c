"""An executor in a log, in the order in which it took its events.

The machine takes one submit at a time: what comes of it stands before the next one, and ``rest``
says that nothing more does. A log of submits without it is *unknown*. (Of a pool that is recorded
by its callers and its tasks, judge the tasks that run by ``awaits.permits``: an acquire for each
start, a release for each end.)
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

from ....spec.flow import observed_executor as chapter
from ....spec.flow.observed_executor import ObservedExecutor, Policy
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.notes import Notes
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from ...suites.says import END
from .suite import ExecutorConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(ExecutorConversation.says)
_RULES: Final[tuple[Rule, ...]] = (
    chapter.AT_MOST, chapter.IN_ORDER, chapter.ONLY_FULL, chapter.AS_PROMISED,
    chapter.REFUSED_NEVER_RUNS, chapter.CANCELLED_NEVER_STARTS, chapter.RUNS_ONCE,
    chapter.ENDS_AS_ITS_RUN, chapter.CANCELS_WHAT_WAITS, chapter.KEEPS_ITS_PROMISE,
    chapter.NOTHING_STARTS, chapter.NOT_EARLY)
_WITH_REST: Final[tuple[Rule, ...]] = (
    chapter.NO_IDLE_WORKER, chapter.BOUND, chapter.ENDS_IN_TIME, chapter.ACCEPTS_NO_MORE,
    chapter.ALL_REPORTED, chapter.TERMINATES)

_SUBMITS: Final = _SAYS.request("submit")
_RESTS: Final = _SAYS.answer("submit", END)
_OF_TASK: Final = {
    "starts": _SAYS.answer("submit", "start"), "caller_runs": _SAYS.answer("submit", "caller"),
    "refused": _SAYS.answer("submit", "refuse"), "dropped": _SAYS.answer("submit", "drop"),
    "finishes": _SAYS.request("finish"), "fails": _SAYS.request("fail"),
    "dies": _SAYS.request("die"), "future_returns": _SAYS.answer("submit", "return"),
    "future_raises": _SAYS.answer("submit", "raise")}
_CANCELS: Final = {"ok": _SAYS.answer("cancel", True, of="undone"),
                   "empty": _SAYS.answer("cancel", False, of="undone")}
_PLAIN: Final = {"shutdown": _SAYS.request("shutdown"), "stop": _SAYS.request("stop"),
                 "terminated": _SAYS.answer("submit", "terminated"), "rest": _RESTS}

_MANY: Final = 1 << 40


class ExecutorJudge(StepJudge):
    """Judges one executor; see ``StepJudge``."""

    machine = ObservedExecutor
    rules = ids_of((*_RULES, *_WITH_REST))

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        now = self.now      # one state needs no bound on the tasks
        now.K = now.L = now.coming = now.line.capacity = _MANY
        self._policy = Policy(max(1, min(terms.settings["policy"], len(Policy) - 1)))
        self._numbers: dict[Hashable, int] = {}

    def constants(self) -> Mapping[str, int]:
        places = self.terms.settings.get("places", 1)
        return {"W": self.terms.settings["workers"], "Q": places, "K": 1, "L": places + 1}

    def sees(self, event: Event) -> None:
        do = event.operation
        if not self.terms.from_start:
            self.unsure("which tasks waited when the log began is not known", event)
        elif do == "submits":
            self._submits(event)
        elif do in _PLAIN:
            self.step(event, _PLAIN[do])
        elif event.item not in self._numbers:
            self.is_foreign(f"{event.item!r} was never submitted, or so long ago that it is "
                            "forgotten (a log of starts and ends without submits is one of "
                            "awaits.permits)", event)
        elif do != "cancels":
            self.step(event, _OF_TASK[do], task=self._numbers[event.item])
        elif event.result in _CANCELS:
            self.step(event, _CANCELS[event.result], task=self._numbers[event.item])
        else:
            self.unsure("it is not known what a cancel did", event)

    def _submits(self, event: Event) -> None:
        if event.item in self._numbers:
            self.unsure(f"{event.item!r} is submitted twice, so it is no identity", event)
        elif self.now.coming != _MANY:
            self.unsure("a submit follows another one, and no event \"rest\" says that what comes "
                        "of the first is over", event)
        else:
            self._numbers[event.item] = self.now.named
            self.step(event, _SUBMITS, promise=self._policy)
            self._forget()

    def _forget(self) -> None:
        """Forget what has ended, the oldest first, beyond what is to be remembered. A task that
        waits or runs goes behind the others, so two are looked at for each that comes."""
        for _ in range(2):
            if len(self._numbers) <= self.terms.remember:
                return
            oldest = next(iter(self._numbers))
            number = self._numbers.pop(oldest)
            ended = [those for those in (self.now.over, self.now.refused, self.now.cancelled)
                     if number in those]
            if not ended:
                self._numbers[oldest] = number
            for those in ended:
                those.discard(number)       # the machine forgets it as well


_AT_ONCE: Final = ("end", "point")
_TASK: Final = ("item",)

LOGS: Final = Logs(
    machines=(ObservedExecutor,),
    operations={
        "submits": Call("a task, the item, is submitted", _AT_ONCE, _TASK),
        "starts": Call("a worker begins to run a task", _AT_ONCE, _TASK),
        "caller_runs": Call("the caller of submit begins to run its task", _AT_ONCE, _TASK),
        "refused": Call("the submit of a task fails", _AT_ONCE, _TASK),
        "dropped": Call("a task is reported as one that never runs", _AT_ONCE, _TASK),
        "finishes": Call("the run of a task returns", _AT_ONCE, _TASK),
        "fails": Call("the run of a task raises", _AT_ONCE, _TASK),
        "dies": Call("the worker that runs a task dies", _AT_ONCE, _TASK),
        "future_returns": Call("the future of a task has its result", _AT_ONCE, _TASK),
        "future_raises": Call("the future of a task has an exception", _AT_ONCE, _TASK),
        "cancels": Call("a task is cancelled; \"empty\": it is too late", _AT_ONCE, _TASK),
        "shutdown": Call("a shutdown is asked for", _AT_ONCE),
        "stop": Call("a stop is asked for", _AT_ONCE),
        "terminated": Call("those that wait for the executor's end learn of it", _AT_ONCE),
        "rest": Call("the executor does no more for the time being", _AT_ONCE),
    },
    settings={"workers": "tasks that run at a time", "places": "tasks that may wait",
              "policy": "for a task too many: 1 refuse it, 2 its caller runs it, 3 drop it, 4 drop "
                        "the oldest, 5 there is none: all wait"},
    required=("workers", "policy"),
    rules=_RULES,
    with_rest={rule.id: "rest" for rule in _WITH_REST},
    judge=ExecutorJudge,
    capacity="places",
    asks={("submits", "ok"): Asks(("submit",), item="task", new=("task",)),
          **{(does, "ok"): Asks((do,), item="task") for does, do in (
              ("finishes", "finish"), ("fails", "fail"), ("dies", "die"), ("cancels", "cancel"))},
          ("cancels", "empty"): Asks(("cancel",), item="task"),
          ("shutdown", "ok"): Asks(("shutdown",)), ("stop", "ok"): Asks(("stop",)),
          **dict.fromkeys([(does, "ok") for does in (
              "starts", "caller_runs", "refused", "dropped", "future_returns", "future_raises",
              "terminated", "rest")])},
)
