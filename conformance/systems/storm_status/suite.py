"""The suite ``storm.status``: backpressure status between two Storm workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ....spec.storm.backpressure.observed_status import ObservedStatus, Taken
from ...suites.besides import at_least, given, is_there, looked_up, made, room, words
from ...suites.plain import PlainConversation
from ...suites.remembered import flag, numbers_below, tally
from ...suites.says import ANY, Says, on, says, table
from ...suites.suite import Act, Fuller, Suite, Watch

__all__ = ["SUITE", "StatusConversation"]

TASKS: Final = 2
REPEAT: Final = 2
MORE: Final = 14
"""Statuses and spills that a run may see beyond the harness's items."""

ALL: Final = 2**TASKS - 1

_TAKEN: Final = {None: Taken.UNTOLD, True: Taken.BELIEVED, False: Taken.IGNORED}
_TAKEN_WORDS: Final = {None: "", True: "it is believed", False: "it is ignored as old"}


_SETS: Final = [[task for task in range(TASKS) if flags >> task & 1] for flags in range(ALL + 1)]


def _told(action: str) -> Says:
    return says(ANY, action, "{so}", gives="tasks_told", exact=True,
                among=(None, *_SETS))


_ANY: Final = range(512)
"""A fixture may be about any task, and stop after any step."""
_STEPS: Final = _ANY[1:]
_ON_ITS_WAY: Final[Mapping[str, Any]] = {"index": numbers_below("on_their_way")}
_TELLING: Final = ("strayed", "spill_begun", "spilled", "finished", "checked", "join_begun",
                   "joined")
"""The actions with which a status may be sent."""


def _flags(tasks: Sequence[int]) -> int:
    """The number of a set of tasks; it is beyond all flags if the set has an unknown task."""
    known = sum(1 << task for task in set(tasks) if 0 <= task < TASKS)
    return known if all(0 <= task < TASKS for task in tasks) else ALL + 1


def _number_told(tasks: Sequence[int] | None) -> int:
    return 0 if tasks is None else _flags(tasks) + 1


def _nth(index: int) -> str:
    return ("oldest", "second", "third")[index] if index < 3 else f"{index + 1}th"


def _news(tasks: Sequence[int] | None) -> str:
    if tasks is None:
        return "no status is sent"
    return f"ON is sent for {_list(tasks)}" if tasks else "OFF is sent for all"


def _held(tasks: Sequence[int]) -> str:
    return f"tasks {_list(tasks)}" if tasks else "none"


def _list(tasks: Sequence[int]) -> str:
    return " and ".join(map(str, tasks))


class StatusConversation(PlainConversation):
    """One session with two workers; see ``Conversation``.

    An act's ``pick`` chooses the task that spills (the last one is none of the worker's), the
    number of steps, less one, after which the receiving thread is stopped, or the status that is
    meant.
    """

    errors_tell = True
    reported = tally(dict.fromkeys(_TELLING, "is_told"))
    on_their_way = tally({**dict.fromkeys(_TELLING, "is_told"), "delivered": -1,
                          "lost_on_its_way": -1}, clears="disconnected restarted")
    connected = flag(on="joined join_begun", off="disconnected restarted", first=True)
    busy = flag(on="spill_begun join_begun", off="strayed spilled finished joined")
    has_room = room("reported", "K", spare=1)       # a number for one more status
    knows = (
        given("task", is_stray=at_least("task", TASKS)),
        given("steps", halfway=words(", halted after step {steps}")),
        given("index", nth=made(_nth, "index")),
        given("tasks_told", told=made(_number_told, "tasks_told"), so=made(_news, "tasks_told"),
              is_told=is_there("tasks_told")),
        given("held", flags=made(_flags, "held"), tasks=made(_held, "held")),
        given("news", taken=looked_up("news", _TAKEN), so=looked_up("news", _TAKEN_WORDS)),
    )
    says = table(
        ObservedStatus,
        on("spill", "a tuple of task {task} spills", _told("strayed"), where="is_stray",
           only="has_room", unless="busy", picks={"task": _ANY},
           also={"spill halfway": {"task": (0,), "steps": _STEPS}}),
        on("spill", "a tuple of task {task} spills{halfway}", _told("spill_begun"), where="steps"),
        on("spill", "a tuple of task {task} spills", _told("spilled")),
        on("finish", "the receiving thread continues", _told("finished"), only="busy"),
        on("drain", "task {task} drains its overflowQ", tells="drained",
           picks={"task": range(TASKS)}),
        on("check", "the timer checks", _told("checked"), only="has_room"),
        on("disconnect", "the connection breaks", tells="disconnected", only="connected",
           unless="busy"),
        on("connect", "the sender connects{halfway}", _told("join_begun"), where="steps",
           unless="connected busy", also={"connect halfway": {"steps": _STEPS}}),
        on("connect", "the sender connects", _told("joined")),
        on("deliver", "the {nth} status on its way arrives", says(
            ANY, "delivered", "{so}", gives="news", among=(True, False)),
           picks=_ON_ITS_WAY, only="on_their_way",
           also={"deliver newest": {"index": lambda talk, request: [talk.on_their_way - 1]}}),
        on("lose", "the {nth} status on its way is lost", tells="lost_on_its_way",
           picks=_ON_ITS_WAY),
        on("restart", "the receiving worker restarts", tells="restarted", unless="busy"),
        on("flags", "the sender holds back", says(
            ANY, "flags_seen", "{tasks}", gives="held", exact=True,
            among=_SETS)),
        on("settle", "settle"),
    )

def _settings(capacity: int) -> Mapping[str, int]:
    """The settings of ``hello``."""
    return {"capacity": capacity, "tasks": TASKS, "repeat": REPEAT}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    most = items_max + MORE
    return {"n": TASKS, "A": ALL, "R": capacity, "P": REPEAT, "K": most, "S": most}


_HEAR: Final = (Act("deliver newest"), *(Act("deliver"),) * 3, Act("flags"))

SUITE: Final = Suite(
    name="storm.status",
    version=3,
    port="storm.status",
    watches=(Watch(ObservedStatus),),
    weights={"spill": 2, "spill halfway": 1, "drain": 1, "check": 2, "disconnect": 1,
             "connect": 1, "connect halfway": 1, "finish": 1, "deliver": 1,
             "deliver newest": 1, "lose": 1, "flags": 1, "restart": 1},
    # A flag that is set after it was looked up shows if a task spills in between.
    needs={"STORM-O1": (("spill",),)},
    epilogue=(Act("finish"), *_HEAR, Act("connect"), Act("check"), Act("check"), *_HEAR),
    constants=_constants,
    conversation=StatusConversation,
    settings=_settings,
    favoured={
        "STORM-O1": ("spill", "spill halfway", "drain", "check"),
        "STORM-O6": ("spill", "spill halfway", "drain", "check", "finish"),
        "STORM-O8": ("spill", "drain", "check", "deliver", "lose"),
        "STORM-O10": ("spill", "drain", "check", "disconnect", "connect halfway"),
    },
    fuller={
        "STORM-O10": (
            Fuller(("connect",), "a status that changes while a connection is made (D5)"),),
    },
    courses={
        # One overflowQ grows, by more than the reminder of any capacity.
        "STORM-O2": (((Act("spill"),),) * 6,),
        # The flag is looked up; the next check clears it; then it is set.
        "STORM-O1": (((Act("spill"),), (Act("drain"),), "spill halfway", "check", "finish"),),
        # The status changes while a connection is being made, or has just changed.
        "STORM-O10": (
            ((Act("spill"),), "disconnect", "connect halfway", (Act("drain"),), "check"),
            ((Act("spill"),), (Act("drain"),), "disconnect", "connect halfway", "check")),
    },
    # One task, and a receiving thread that is stopped before it has sent its status.
    favoured_picks={"STORM-O10": {"spill": (0,), "drain": (0,), "connect halfway": (0, 1)}},
    scene=("Two workers, {tasks} tasks; a reminder when an overflowQ has grown by more than "
           "{capacity}, a lost status made good within {repeat} checks."),
)
