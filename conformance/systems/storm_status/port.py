"""The port ``storm.status``: backpressure status between two Storm workers, as data.

Under test are a receiving worker and a sending worker's flags. Between them is one connection,
which is up at the start, and the statuses on their way, which the harness delivers, loses and
reorders. A sender needs nobody's permission to send to a task until it hears otherwise.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, INTEGER, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello, promised,
)

__all__ = ["PORT"]

TASKS: Final = Kind(
    "a list of task numbers",
    lambda v: isinstance(v, list) and all(INTEGER.accepts(each) for each in v))
TOLD: Final = Kind(
    "a list of task numbers, or null", lambda v: v is None or TASKS.accepts(v))

_TOLD_MEANS: Final = (
    "answers the tasks that are backlogged according to the status that this sent over the "
    "connection, or null where it sent none")
NEWS: Final = Kind("true, false, or null", lambda v: v is None or isinstance(v, bool))

_TASK: Final = Argument("task", INTEGER, "the number of the task")
_STEPS: Final = Argument(
    "steps", POSITIVE, "stop the receiving thread after so many accesses to what it shares with "
    "other threads (where it has no more to do, at the end); absent: run it to the end",
    required=False)
_INDEX: Final = Argument("index", COUNT, "which of the statuses on their way, the oldest is 0")

_OPERATIONS: Final = (
    hello("start two fresh workers, connected, and forget those before"),
    Operation(
        "spill", TOLD, f"a tuple finds no room in its task's recvQ; {_TOLD_MEANS}",
        (_TASK, _STEPS),
    ),
    Operation("finish", TOLD, f"the receiving thread goes on to the end; {_TOLD_MEANS}"),
    Operation("drain", TRUE, "a task processes all that is in its overflowQ", (_TASK,)),
    Operation("check", TOLD, f"the backpressure-check-timer fires; {_TOLD_MEANS}"),
    Operation("disconnect", TRUE, "the connection breaks, and what was on its way is lost"),
    Operation("connect", TOLD, f"the sender connects again; {_TOLD_MEANS}", (_STEPS,)),
    Operation("deliver", NEWS, "a status on its way reaches the sender; true: it is news, and "
              "believed; false: it is older than what was heard, and ignored; null: the adapter "
              "cannot tell", (_INDEX,)),
    Operation("lose", TRUE, "a status on its way is lost", (_INDEX,)),
    Operation("restart", TRUE, "the receiving worker restarts, empty; the connection is broken"),
    Operation("flags", TASKS, "the tasks that the sender does not send to"),
    Operation(
        "settle", TRUE, "let everything run that can run at this instant, then answer",
        optional=False,
    ),
)

_PROMISES: Final = {
    "spill": {
        "The first tuple of a task that spills is told.": "STORM-O1",
        "Growth beyond the reminder is told again.": "STORM-O2",
    },
    "finish": {
        "What the thread owed when it was stopped is told.": "STORM-O1 STORM-O7",
    },
    "check": {
        "A task that has drained is told.": "STORM-O3",
        "A status that was lost is told again within so many checks.": "STORM-O8",
    },
    "connect": {
        "The new connection is told how things are.": "STORM-O7",
    },
    "deliver": {
        "When none is on its way any more, the sender knows what is so.": "STORM-O10",
    },
}
"""What has to come of each operation, and the rules of progress that judge it."""

PORT: Final = Port(
    name="storm.status",
    version=1,
    meaning="how a Storm worker tells another which of its tasks are backlogged",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(
        Argument("capacity", POSITIVE, "tuples that an overflowQ takes in without a reminder"),
        Argument("tasks", POSITIVE, "how many tasks the receiving worker has: 0, 1, …"),
        Argument("repeat", POSITIVE, "checks after which the status is told once "
                 "more, changed or not, so that one that was lost is made good"),
    ),
    policies={"numbered": "statuses are numbered, and repeated from time to time"},
)
