"""The port ``timer``: tasks that run after a delay, unless they are cancelled.

Time is the ``now`` of each request, in milliseconds. An adapter lets its timer run at each
instant at which it wants to, up to ``now``, and answers what ran on the way.
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
    "task": "its number", "at": "when it ran: an integer of milliseconds, as in `now`"})
RUNS: Final = Kind('a list of {"task": number, "at": milliseconds}', _is_runs, (_RUN,))
DRIVEN: Final = Kind('{"due": true or false, "runs": as for add}', _is_driven, (
    Vocabulary("the answer to `drive`", {
        "due": "true or false: what the timer answered, whether anything was due",
        "runs": "a list: the tasks that ran"}), _RUN))
QUEUE: Final = Kind("an object with the counts buckets and wheels", _is_queue, (
    Vocabulary("the answer to `queue`", {
        "buckets": "how many buckets are in the queue", "wheels": "how many wheels there are"}),))

_TASK = Argument("task", COUNT, "the number of a task")

_OPERATIONS: Final = (
    hello("start a fresh timer, at the time now"),
    Operation("add", RUNS, "run the task after so many milliseconds; one that is pending is to "
              "run then, and not when it was to run before; ok: the tasks that ran, in order, "
              "and when", (_TASK, Argument(
                  "delay", INTEGER, "milliseconds; below 0, the deadline has passed, and the task "
                  "is due at once: refuse it with an error if the timer does"))),
    Operation("cancel", RUNS, "the task is not to run; ok: as for add", (_TASK,)),
    Operation("elapse", RUNS, "time has passed, up to now; ok: as for add"),
    Operation("drive", DRIVEN, "time has passed, up to now, and nobody has driven the timer; drive "
              "it once, at now: what is due runs now; due: what the timer answered, whether "
              "anything, cancelled or not, was due"),
    Operation("fail", TRUE, "the task raises when it runs next; what runs is told as ever",
              (_TASK,)),
    Operation("size", COUNT, "how many tasks are to run"),
    Operation("entries", COUNT, "how many tasks a timer with lazy deletion holds, cancelled ones "
              "included"),
    Operation("queue", QUEUE, "the buckets in the queue of a timer of wheels, and its wheels"),
)

_PROMISES: Final = {
    "add": {
        "The task runs at its instant, unless it is cancelled.": "KAFKA-W23 KAFKA-W25",
    },
    "drive": {
        "All that has become due meanwhile runs.": "KAFKA-W36",
    },
    "fail": {
        "The other tasks that are due run nonetheless.": "KAFKA-W35",
    },
}
"""What has to come of each operation, and the rules of progress that judge it."""

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
        "deadline": "a task runs at its deadline; tasks of the same deadline in any order",
        "in-order": "a task runs at its deadline; tasks of the same deadline in the order in "
                    "which they were added",
        "timeout": "as in-order, and a delay below 1 ms is one of 1 ms",
    },
)
