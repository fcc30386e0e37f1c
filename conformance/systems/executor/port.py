"""The port ``executor``: tasks come, start, end, and are refused, dropped and cancelled.

The harness is the clients and the tasks: a task that has started runs until the harness ends it.
Replies have what the executor does at once, in its order; nothing happens later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ...ports.base import (
    COUNT, FLAG, ITEM, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, is_count,
    is_word, promised,
)

__all__ = ["EVENTS", "PORT"]

_NONE: Final = "terminated"
_WITH_ITEM: Final = ("start", "caller", "return")

EVENTS: Final[Mapping[str, str]] = {
    "start": "a worker starts to run the task of that number, with that item",
    "caller": "the caller of `submit` starts to run that task, with that item",
    "refuse": "`submit` of that task has failed",
    "drop": "its future ended, or the executor handed it back: it never runs, and no client has "
            "cancelled it",
    "return": "the future of that task ended with that result",
    "raise": "the future of that task ended with an exception",
    "terminated": "those that wait for the end of the executor have learned of it",
}
"""By event, what the executor does."""


def _is_event(value: object) -> bool:
    if not isinstance(value, list) or not value or not is_word(value[0], EVENTS):
        return False
    what, *more = value
    if what == _NONE:
        return not more
    items = more[1:] if what in _WITH_ITEM else ()
    return (len(more) == (2 if what in _WITH_ITEM else 1) and is_count(more[0])
            and all(map(ITEM.accepts, items)))


def _are_events(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_event, value))


def _has_events(key: str, accepts: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, dict) and value.keys() == {key, "does"} and accepts(value[key])
        and _are_events(value["does"]))


_EVENT: Final = Vocabulary("the first of an event", EVENTS)

DOES: Final = Kind(
    'a list of ["start", task, item], ["caller", task, item], ["refuse", task], ["drop", task], '
    '["return", task, result], ["raise", task] and ["terminated"]', _are_events, (_EVENT,))
CANCELS: Final = Kind(
    'an object {"undone": true or false, "does": a list of events}',
    _has_events("undone", FLAG.accepts), (
        Vocabulary("the answer to `cancel`", {
            "undone": "true if the task waited, and now never starts; that is all that is said of "
                      "its future",
            "does": "a list of events, as above: what the executor does now"}), _EVENT))

_TASK: Final = Argument("task", COUNT, "its number")

_OPERATIONS: Final = (
    hello("start a fresh executor, with no task"),
    Operation("submit", DOES, "a client submits a task; ok: what the executor does now", (
        Argument("task", COUNT, "its number: 0, 1, … in the order of the submits"),
        Argument("item", ITEM, "what it is to run with; it returns that, if it returns"))),
    Operation("finish", DOES, "the run of a task returns its item; ok: what the executor does now",
              (_TASK,)),
    Operation("fail", DOES, "the run of a task raises an exception; ok: what the executor does now",
              (_TASK,)),
    Operation("die", DOES, "the worker that runs a task dies, and with it its run; ok: what the "
              "executor does now", (_TASK,)),
    Operation("cancel", CANCELS, "a client cancels a task that was accepted", (_TASK,)),
    Operation("shutdown", DOES, "it is to accept no more tasks, and to run those that wait; ok: "
              "what it does now"),
    Operation("stop", DOES, "it is to accept no more tasks, and to start none; ok: what it does "
              "now"),
)

_ENDS: Final = {
    "The future of the task ends.": "EXEC-12",
    "A task that waits starts.": "EXEC-3",
    "After a shutdown or stop the executor terminates if nothing is left.": "EXEC-19",
}

_PROMISES: Final = {
    "submit": {
        "The task starts if a worker is idle.": "EXEC-3",
        "If there is no place, the policy decides at once.": "EXEC-4",
        "After a shutdown or stop it is refused or dropped.": "EXEC-14",
    },
    "finish": _ENDS,
    "fail": _ENDS,
    "die": _ENDS,
    "cancel": {
        "A task that waits is cancelled.": "EXEC-13",
    },
    "shutdown": {
        "The executor terminates at once if no task waits or runs.": "EXEC-19",
        "It accepts no more tasks.": "EXEC-14",
    },
    "stop": {
        "Every task that waits is reported as one that never runs.": "EXEC-17",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="executor",
    version=1,
    meaning="an executor with the harness as clients and tasks",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "places for tasks that wait"),
              Argument("workers", POSITIVE, "how many tasks it may run at a time")),
    policies={
        "refuse": "a task without a place is refused",
        "caller-runs": "a task without a place is run by its caller",
        "drop-newest": "a task without a place is dropped, and that is reported",
        "drop-oldest": "the task that has waited longest is dropped for it, and that is reported",
        "unbounded": "every task has a place, whatever `capacity` says",
    },
)
