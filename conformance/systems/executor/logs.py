"""An executor in a log, in the order in which it took its events.

The machine takes one submit at a time: what comes of it stands before the next one, and ``rest``
says that nothing more does. A log of submits without it is *unknown*. (Of a pool that is recorded
by its callers and its tasks, judge the tasks that run by ``awaits.permits``: an acquire for each
start, a release for each end.)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from copy import copy
from itertools import product
from functools import partial
from typing import Any, Final

from ....spec.flow import observed_executor as chapter
from ....spec.flow.observed_executor import ObservedExecutor, Phase, Policy
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.many import Many
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

_OF_WAITING: Final = frozenset({"starts", "caller_runs", "refused", "dropped", "cancels"})
_OF_RUNNING: Final = frozenset({"finishes", "fails", "dies"})

_WHERE: Final = ("line", "running", "here", "good", "bad", "over", "refused", "cancelled")
"""The variables of which one has each task that was submitted."""

_MANY: Final = 1 << 40


class ExecutorJudge(StepJudge):
    """Judges one executor; see ``StepJudge``."""

    machine = ObservedExecutor
    _FAR, _KEPT = 1 << 20, 256
    rules = ids_of((*_RULES, *_WITH_REST))
    own = ()

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        now = self.now      # one state needs no bound on the tasks
        now.K = now.L = now.coming = now.line.capacity = _MANY
        self._policy = Policy(max(1, min(terms.settings["policy"], len(Policy) - 1)))
        self._numbers: dict[Hashable, int] = {}
        self._next = self._submitted = 0
        self._has_forgotten = False
        self._given = 0     # numbers of tasks that a log from the middle names later

    def constants(self) -> Mapping[str, int]:
        places = self.terms.settings.get("places", 1)
        return {"W": self.terms.settings["workers"], "Q": places, "K": 1, "L": places + 1}

    def before(self) -> Iterable[Mapping[str, Any]]:
        # Tasks without names wait and run: as many wait as may, or, where none is too many, none
        # or some. The newest may be about to be refused.
        waits = 1 if self._policy == Policy.UNBOUNDED else self.now.Q + 1
        for phase, waiting, running in product(Phase, range(waits + 1), range(self.now.W + 1)):
            line = copy(self.now.line)
            line.extend(-number for number in range(1, waiting + 1))
            found = {"phase": phase, "policy": self._policy, "line": line,
                     "running": {-self._FAR - number for number in range(running)}}
            yield found
            if waiting:
                yield found | {"coming": -waiting}
            elif not running and phase != Phase.OPEN:
                yield found | {"terminated": True}

    def sees(self, event: Event) -> None:
        do = event.operation
        if do == "submits":
            self._submits(event)
        elif do in _PLAIN:
            self.step(event, _PLAIN[do])
        elif not self._is_known(event.item) and not self._is_named(event):
            return
        elif do != "cancels":
            self.step(event, _OF_TASK[do], task=self._numbers[event.item])
        elif event.result in _CANCELS:
            self.step(event, _CANCELS[event.result], task=self._numbers[event.item])
        else:
            self.unsure("it is not known what a cancel did", event)

    def _is_known(self, item: Hashable) -> bool:
        """True if a task was submitted: in all states, or in this one of several."""
        number = self._numbers.get(item)
        return number is not None and (not self.in_orders or any(
            number in getattr(self.now, where) for where in _WHERE))

    def _is_named(self, event: Event) -> bool:
        """Give a task its number that is named for the first time. It was submitted before the log,
        and is one of those without names then; in states that have none it is over. False if
        nothing is known of it."""
        if self.many is None:
            self.is_foreign(f"{event.item!r} was never submitted, or so long ago that it is "
                            "forgotten (a log of starts and ends without submits is one of "
                            "awaits.permits)", event)
            return False
        if self._has_forgotten:
            self.unsure(f"{event.item!r} was submitted before the log, or so long ago that it is "
                        "forgotten", event)
            return False
        if event.operation == "cancels" and event.result != "ok":
            return False
        self._given += 1
        number = self._numbers[event.item] = -2 * self._FAR - self._given
        self.many.splits(lambda now: self._was(now, event.operation, number))
        return True

    def _was(self, now: Any, do: str, number: int) -> Iterator[Mapping[str, Any]]:
        """The states that a task without a name may have, to which this happens next."""
        found = 0
        unnamed = [each for each in now.line if each < 0 and each > -self._FAR]
        if do in _OF_WAITING:
            for each in {unnamed[0], unnamed[-1]} if unnamed else ():
                line = copy(now.line)
                line[line.index(each)] = number
                coming = {"coming": number} if now.coming == each else {}
                yield {"line": line, **coming}
                if self._policy == Policy.UNBOUNDED and not coming:
                    line = copy(line)       # and there are more of them
                    line.insert(line.index(number) + 1, each)
                    yield {"line": line}
                found += 1
        elif do in _OF_RUNNING:
            for each in [each for each in now.running if -2 * self._FAR < each <= -self._FAR][:1]:
                yield {"running": now.running - {each} | {number}}
                found += 1
            if self._policy == Policy.CALLER_RUNS and do != "dies":
                yield {"here": now.here | {number}}
        else:
            name = "good" if do == "future_returns" else "bad"
            yield {name: getattr(now, name) | {number}}
            found += 1
        if do == "cancels":
            yield {"cancelled": now.cancelled | {number}}
        elif not found:
            for name in ("over", "refused", "cancelled"):
                yield {name: getattr(now, name) | {number}}

    def _submits(self, event: Event) -> None:
        if self._is_known(event.item):
            self.unsure(f"{event.item!r} is submitted twice, so it is no identity", event)
        elif 0 <= self.now.coming != _MANY:
            self.unsure("a submit follows another one, and no event \"rest\" says that what comes "
                        "of the first is over", event)
        else:
            self._named(event.item)
            if self.many is not None:       # what came of the newest before the log is over
                self.many.splits(lambda now: [{"coming": _MANY}])
            self.step(event, _SUBMITS, promise=self._policy)
            if self.in_orders:
                self.now.named = 0
                self._submitted += 1
            else:
                self._forget()

    def _named(self, item: Hashable) -> None:
        """Give a task that is submitted its number. Where it may have been before another, or
        after it, it has the same one in both orders."""
        if item not in self._numbers:
            self._numbers[item] = self._next
            self._next += 1
        if self.in_orders:
            self.now.named = self._numbers[item]

    def settles_down(self) -> None:
        for _ in range(self._submitted):
            self._forget()
        self._submitted = 0

    def _forget(self) -> None:
        """Forget what has ended, the oldest first, beyond what is to be remembered. A task that
        waits or runs goes behind the others, so two are looked at for each that comes."""
        if self.many is not None:
            self._forget_in_all(self.many)
            return
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

    def _forget_in_all(self, many: Many) -> None:
        """The same where there are many states: those that are over in all of them, a few hundred
        at a time, for each state has all of them."""
        if len(self._numbers) < self._KEPT:
            return
        ended = set(self._numbers.values())

        def are_over(now: Any) -> Iterable[Mapping[str, Any]]:
            ended.intersection_update(now.over | now.refused | now.cancelled)
            return [{}]

        many.splits(are_over)
        many.splits(lambda now: [
            {name: getattr(now, name) - ended for name in ("over", "refused", "cancelled")}])
        self._numbers = {name: number for name, number in self._numbers.items()
                         if number not in ended}
        self._has_forgotten = True


_TASK: Final = ("item",)
_does: Final = partial(Call, by_end=True)

LOGS: Final = Logs(
    machines=(ObservedExecutor,),
    operations={
        "submits": _does("a task, the item, is submitted", needs=_TASK),
        "starts": _does("a worker begins to run a task", needs=_TASK),
        "caller_runs": _does("the caller of submit begins to run its task", needs=_TASK),
        "refused": _does("the submit of a task fails", needs=_TASK),
        "dropped": _does("a task is reported as one that never runs", needs=_TASK),
        "finishes": _does("the run of a task returns", needs=_TASK),
        "fails": _does("the run of a task raises", needs=_TASK),
        "dies": _does("the worker that runs a task dies", needs=_TASK),
        "future_returns": _does("the future of a task has its result", needs=_TASK),
        "future_raises": _does("the future of a task has an exception", needs=_TASK),
        "cancels": _does("a task is cancelled; \"empty\": it is too late", needs=_TASK),
        "shutdown": _does("a shutdown is asked for"),
        "stop": _does("a stop is asked for"),
        "terminated": _does("those that wait for the executor's end learn of it"),
        "rest": _does("the executor does no more for the time being"),
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
