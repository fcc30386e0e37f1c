"""The port ``timer``: tasks that run after a delay, unless they are cancelled.

Time is the ``now`` of each request, in milliseconds. An adapter lets its timer run at each instant
at which it is due, up to ``now``, and answers with the runs on the way.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, INTEGER, POSITIVE, TRUE, Argument, Kind, Operation, Port, Vocabulary, hello,
    is_count, promised,
)

__all__ = ["RUNS", "PORT"]


def _is_runs(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and is_count(each.get("task")) and is_count(each.get("at"))
        for each in value)


def _is_queue(value: object) -> bool:
    return isinstance(value, dict) and all(
        is_count(value.get(name)) for name in ("buckets", "wheels"))


def _is_driven(value: object) -> bool:
    return (isinstance(value, dict) and isinstance(value.get("due"), bool)
            and _is_runs(value.get("runs")))


_RUN: Final = Vocabulary("a task that ran", {
    "task": "its number", "at": "when it ran: an integer of milliseconds, like `now`"})
RUNS: Final = Kind('a list of {"task": number, "at": milliseconds}', _is_runs, (_RUN,))
DRIVEN: Final = Kind('{"due": true or false, "runs": as for add}', _is_driven, (
    Vocabulary("the answer to `drive`", {
        "due": "true or false: the timer's answer, whether anything was due",
        "runs": "a list: the tasks that ran"}), _RUN))
QUEUE: Final = Kind("an object with the counts buckets and wheels", _is_queue, (
    Vocabulary("the answer to `queue`", {
        "buckets": "the number of buckets in the queue", "wheels": "the number of wheels"}),))

_TASK = Argument("task", COUNT, "the number of a task")
_AFTER = Argument("steps", COUNT, "how many; at most all. A step is the smallest unit between "
                  "which a thread may be stopped")
_LATER = Argument("delay", POSITIVE, "milliseconds")

_OPERATIONS: Final = (
    hello("start a fresh timer, at the time now"),
    Operation("add", RUNS, "run the task after so many milliseconds; a pending task is to run "
              "then, and no longer at its earlier time; ok: the runs, in order", (_TASK, Argument(
                  "delay", INTEGER, "milliseconds; below 0, the deadline has passed, and the task "
                  "is due at once: refuse it with an error if the timer does"))),
    Operation("cancel", RUNS, "the task must not run; ok: as for add", (_TASK,)),
    Operation("elapse", RUNS, "time has passed, up to now; ok: as for add"),
    Operation("drive", DRIVEN, "time has passed, up to now, without the timer being driven; drive "
              "it once, at now: all due tasks run now; due: the timer's answer, whether anything, "
              "cancelled or not, was due"),
    Operation("fail", TRUE, "the task raises when it runs next; its run is reported as usual",
              (_TASK,)),
    Operation("add_amid", RUNS, "time has passed, up to now; the timer is driven at now, and "
              "stopped after so many steps; meanwhile another thread adds the task, which is not "
              "pending; then the timer continues; ok: the runs, in order", (_TASK, _LATER, _AFTER)),
    Operation("cancel_amid", RUNS, "the same, but the other thread cancels the task; if it is due "
              "now, it may run or not", (_TASK, _AFTER)),
    Operation("add_two", RUNS, "two threads add tasks which are not pending: the first is stopped "
              "after so many steps, the other adds its task, with a delay 1 ms longer, and the "
              "first continues; ok: as for add",
              (_TASK, _LATER, Argument("other", COUNT, "the number of the other's task"), _AFTER)),
    Operation("size", COUNT, "the number of pending tasks"),
    Operation("entries", COUNT, "the number of tasks that a timer with lazy deletion holds, "
              "cancelled ones included"),
    Operation("queue", QUEUE, "the buckets in the queue of a timer of wheels, and its wheels"),
)

_PROMISES: Final = {
    "add": {
        "The task runs at its instant, unless it is cancelled.": "KAFKA-W23 KAFKA-W25",
    },
    "drive": {
        "All tasks that have become due meanwhile run.": "KAFKA-W36",
    },
    "fail": {
        "The other due tasks run nevertheless.": "KAFKA-W35",
    },
}
"""The promises of each operation, and the rules of progress that judge them."""

PORT: Final = Port(
    name="timer",
    version=1,
    meaning="a timer in virtual time",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(
        Argument("capacity", POSITIVE, "the tick in milliseconds, for a timer that has one"),
        Argument("wheel", POSITIVE, "the buckets of a wheel, for a timer that has some"),
    ),
    policies={
        "tick": "a task runs at max(time of its add, floor(deadline / tick) * tick)",
        "deadline": "a task runs at its deadline; tasks with the same deadline run in any order",
        "in-order": "a task runs at its deadline; tasks with the same deadline run in the order in "
                    "which they were added",
        "timeout": "as in-order, and a delay below 1 ms counts as 1 ms",
    },
)
