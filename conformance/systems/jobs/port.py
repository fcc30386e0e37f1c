"""The port ``jobs``: a master; the harness is its clients and its workers."""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, ITEM, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, is_count, promised,
)

__all__ = ["PORT"]


def _is_event(value: object) -> bool:
    return (isinstance(value, list) and len(value) > 1 and ITEM.accepts(value[1])
            and all(map(is_count, value[2:]))
            and (value[0], len(value)) in (("drop", 2), ("give", 3)))


DONE: Final = Kind(
    'a list of ["give", job, worker] and ["drop", job]',
    lambda value: isinstance(value, list) and all(map(_is_event, value)),
    (Vocabulary("the first of an event", {
        "give": "the master gives the job of that name to the worker of that number",
        "drop": "the master drops the job of that name"}),))

WORKER: Final = Argument("worker", COUNT, "its number")

_OPERATIONS: Final = (
    hello("start a fresh master, with no job, which no worker has asked"),
    Operation("submit", DONE, "a client's job arrives; ok: what the master does now, in its order",
              (Argument("job", ITEM,
                        "its name, a text or a number; another job may have it too"),)),
    Operation("ask", DONE, "a worker's ask arrives, perhaps late or for the second time; ok: what "
              "the master does now",
              (WORKER, Argument("got", COUNT, "how many jobs the worker had got when it sent the "
                                "ask"))),
    Operation("done", DONE, "a worker is done with its job; ok: what the master does now",
              (WORKER,)),
)

_PROMISES: Final = {
    "submit": {
        "A worker that is asking gets the job at once.": "FLOW-54",
        "If there is no place, a job is dropped at once.": "FLOW-53",
    },
    "ask": {
        "The worker gets a job at once, if one waits.": "FLOW-54",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="jobs",
    version=1,
    meaning="a master with the harness as clients and workers",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "places in the queue"),
              Argument("workers", POSITIVE, "how many workers there are: 0, 1, …")),
    policies={"drop-oldest": "a full queue drops its oldest job for the one that comes"},
)
