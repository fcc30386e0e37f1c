"""The port ``storm.status``: backpressure status between two Storm workers, as data.

Under test are a receiving worker and a sending worker's flags. Between them is one connection,
which is up at the start, and the statuses on their way, which the harness delivers, loses and
reorders. A sender needs no permission to send to a task until it hears otherwise.
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
    "connection, or null if it sent none")
NEWS: Final = Kind("true, false, or null", lambda v: v is None or isinstance(v, bool))

_TASK: Final = Argument("task", INTEGER, "the number of the task")
_STEPS: Final = Argument(
    "steps", POSITIVE, "stop the receiving thread after this many accesses to shared data "
    "(if it makes fewer, at the end); absent: run it to the end",
    required=False)
_INDEX: Final = Argument("index", COUNT, "which of the statuses on their way, the oldest is 0")

_OPERATIONS: Final = (
    hello("start two fresh workers, connected, and forget those before"),
    Operation(
        "spill", TOLD, f"a tuple finds no free slot in its task's recvQ; {_TOLD_MEANS}",
        (_TASK, _STEPS),
    ),
    Operation("finish", TOLD, f"the receiving thread continues to the end; {_TOLD_MEANS}"),
    Operation("drain", TRUE, "a task processes all tuples of its overflowQ", (_TASK,)),
    Operation("check", TOLD, f"the backpressure-check-timer fires; {_TOLD_MEANS}"),
    Operation("disconnect", TRUE, "the connection breaks, and everything on its way is lost"),
    Operation("connect", TOLD, f"the sender connects again; {_TOLD_MEANS}", (_STEPS,)),
    Operation("deliver", NEWS, "a status on its way reaches the sender; true: it is news, and "
              "believed; false: it is older than the newest heard, and ignored; null: the adapter "
              "does not know", (_INDEX,)),
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
        "A status is sent when the first tuple of a task spills.": "STORM-O1",
        "A status is sent again after growth beyond the reminder.": "STORM-O2",
    },
    "finish": {
        "The status that the thread owed when it was stopped is sent.": "STORM-O1 STORM-O7",
    },
    "check": {
        "A status is sent when a task has drained.": "STORM-O3",
        "After a loss a status is sent again within `repeat` checks.": "STORM-O8",
    },
    "connect": {
        "The current status is sent to the new connection.": "STORM-O7",
    },
    "deliver": {
        "When no status is on its way any more, the sender's flags are true.": "STORM-O10",
    },
}
"""The required effects of each operation, with the rules of progress that judge them."""

PORT: Final = Port(
    name="storm.status",
    version=1,
    meaning="how a Storm worker informs another which of its tasks are backlogged",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(
        Argument("capacity", POSITIVE, "tuples that an overflowQ takes in without a reminder"),
        Argument("tasks", POSITIVE, "how many tasks the receiving worker has: 0, 1, …"),
        Argument("repeat", POSITIVE, "checks after which the status is sent once "
                 "more, changed or not, so that a lost one is made good"),
    ),
    policies={"numbered": "statuses are numbered, and repeated from time to time"},
)
