"""The suite ``executor``: tasks are submitted, end, lose their workers, and are cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from ....spec.flow.observed_executor import ObservedExecutor, Policy
from ....spec.notation.errors import TargetError
from ...suites.besides import being, by_policy, given, next_names, room, told, worded
from ...suites.lengthy import Long
from ...suites.plain import PlainConversation
from ...suites.remembered import in_state, kept, latest, next_number, states
from ...suites.says import Fields, Says, any_one, each, ends, on, one, over, says, table
from ...suites.suite import Act, Suite, Watch
from ...suites.values import Payloads

__all__ = ["SUITE", "ExecutorConversation"]

WORKERS: Final = 2
PICKS: Final = 12
_SPARE: Final = 4
"""Limit of the tasks that wait beyond the places: in an unbounded executor, or dropped in silence.
"""

_POLICIES: Final[Mapping[str, Policy]] = {
    "refuse": Policy.REFUSE, "caller-runs": Policy.CALLER_RUNS, "drop-newest": Policy.DROP_NEWEST,
    "drop-oldest": Policy.DROP_OLDEST, "unbounded": Policy.UNBOUNDED}


def _about(talk: ExecutorConversation, request: Fields) -> Iterator[Fields]:
    """Tasks that an event could be about: the first and last that wait, and the last of each other
    fate."""
    last = {fate: task for task, fate in talk.present.items()}
    for task in dict.fromkeys((*talk.waiting[:1], *last.values(), *talk.past.values())):
        yield {"task": task, "item": talk.items[task]}
    if request["do"] == "submit":
        yield {"task": request["task"], "item": request["item"]}


def _is_own(talk: ExecutorConversation, fields: Fields) -> bool:
    """True if an event of a task says nothing of another item than its own."""
    items = [*talk.items, talk.request.get("item")]
    if fields["task"] >= len(items):
        raise TargetError(
            f"it reports something of task {fields['task']}, and none was submitted",
            next_step="Give tasks the numbers of their submits, from 0.")
    own = items[fields["task"]]
    item = fields.get("item", own)
    return (type(item), item) == (type(own), own)


def _seen(kind: str, action: str, words: str, item: str = "", **more: Any) -> Says:
    return says(kind, action, words, gives=f"task {item}", **more)


_DOES: Final = each(
    ends("rests", "the executor does nothing more"),
    over(_about,
         _seen("start", "starts", "task {task} starts", "item", where="own"),
         _seen("caller", "caller_runs", "its caller runs task {task}", "item", where="own"),
         _seen("refuse", "refuses", "task {task} is refused"),
         _seen("drop", "drops", "task {task} is dropped"),
         _seen("return", "future_returns", "the future of task {task} has its result", "item",
               where="own"),
         _seen("raise", "future_raises", "the future of task {task} has an exception")),
    says("terminated", "terminates", "the executor has terminated"),
    says("start", "starts_another", "a task starts with another item",
         "task {task} starts with {named}, which is another item", gives="task item",
         among=any_one(_about)),
    says("caller", "starts_another", "",
         "its caller runs task {task} with {named}, which is another item", gives="task item"),
    says("return", "another_result", "a future has another result",
         "the future of task {task} has {named}, which is not its result", gives="task item",
         among=any_one(_about)),
    nothing="nothing happens")


_RUNS: Final[Mapping[str, str]] = {"starts": "running", "caller_runs": "here"}
_LEAVES: Final[Mapping[str, str]] = {
    "refuses": "refused", "drops": "refused", "cancel_succeeds": "cancelled",
    "run_returns": "over", "run_raises": "over", "worker_dies": "over",
}
"""By action, what becomes of its task."""


class ExecutorConversation(PlainConversation):
    """One session with an executor; this is its clients, and its tasks."""

    items = kept("item", adds="submits")        # of the tasks, by number
    present = states("task", {"submits": "waiting", **_RUNS}, ends=" ".join(_LEAVES))
    past = latest("task", _LEAVES)              # the last task of each other fate
    waiting = being("present", "waiting")
    has_place = room("waiting", "L", spare=1)
    next_items = next_names("a", "items", "K")
    knows = (given("do", promise=by_policy(_POLICIES)), told("task", own=_is_own),
             given("item", named=worded("item")))
    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"submit": ("item",)}
    says = table(
        ObservedExecutor,
        on("submit", "task {task} is submitted with {named}", _DOES, tells="submits",
           only="has_place", picks={"task": next_number("items"), "item": "next_items"}),
        on("finish", "task {task} returns its item", _DOES, tells="run_returns",
           picks={"task": in_state("present", "running", "here")}),
        on("fail", "task {task} raises an exception", _DOES, tells="run_raises",
           picks={"task": in_state("present", "running", "here")}),
        on("die", "the worker of task {task} dies", _DOES, tells="worker_dies",
           picks={"task": in_state("present", "running")}),
        on("cancel", "task {task} is cancelled", {
            "undone": one(says(True, "cancel_succeeds", "it never starts"),
                          says(False, "cancel_fails", "it is too late")),
            "does": _DOES},
           picks={"task": "to_cancel"}),
        on("shutdown", "it is shut down", _DOES, tells="shuts"),
        on("stop", "it is stopped", _DOES, tells="stops"),
    )

    @property
    def to_cancel(self) -> list[int]:
        """Tasks that a client may cancel: those that wait, one that runs, and one that has ended.
        """
        running = [task for task in self.present if task not in self.waiting]
        over = [self.past["over"]] if "over" in self.past else []
        return [*self.waiting, *running[:1], *over]


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "workers": WORKERS}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"W": WORKERS, "Q": capacity, "K": items_max, "L": capacity + _SPARE}


SUITE: Final = Suite(
    name="executor",
    version=2,
    port="executor",
    watches=(Watch(ObservedExecutor),),
    weights={"submit": 9, "finish": 4, "fail": 2, "die": 2, "cancel": 3, "shutdown": 1, "stop": 1},
    epilogue=(Act("submit"), *(Act("finish"),) * 3, Act("submit"), Act("shutdown"), Act("submit"),
              *(Act("finish"),) * 6, Act("stop")),
    constants=_constants,
    payloads=Payloads({"submit": "item"}, equal=True),
    long=Long(fills=("submit",), drains=("finish", "fail", "die"), ending=("shutdown", "stop"),
              sizes=(7,)),
    conversation=ExecutorConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    picks=PICKS,
    scene="An executor. Workers: {workers}; places for tasks that wait: {capacity}.",
)
