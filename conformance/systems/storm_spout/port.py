"""The port ``storm.spout``: the pending roots of a spout executor."""

from __future__ import annotations

from typing import Final

from ...ports.base import COUNT, NAME, POSITIVE, Argument, Kind, Operation, Port, hello
from ..storm_acker.port import ID, is_id, list_of

__all__ = ["CALLS", "PORT"]


def _is_call(value: object) -> bool:
    return (isinstance(value, dict) and value.get("call") in ("ack", "fail")
            and NAME.accepts(value.get("message")))


CALLS: Final = Kind('a list of {"call": "ack" or "fail", "message": text}', list_of(_is_call))
IDS: Final = Kind("a list of ids", list_of(is_id))
TEXTS: Final = Kind("a list of texts", list_of(NAME.accepts))

_ROOT = Argument("root", ID, "the id of the root")

_OPERATIONS: Final = (
    hello("start a fresh executor"),
    Operation("round", IDS, "a round of nextTuple that has these roots to emit; ok: those that "
              "it emitted; an id that is pending is not used again",
              (Argument("roots", IDS, "the ids that the spout has drawn"),
               Argument("messages", TEXTS, "the ids of the messages, one for each root"))),
    Operation("ack", CALLS, "the acker says ack; ok: the callbacks that follow", (_ROOT,)),
    Operation("fail", CALLS, "the acker says fail; ok: the callbacks that follow", (_ROOT,)),
    Operation("reset_timeout", CALLS, "the acker passes on a request for more time", (_ROOT,)),
    Operation("tick", CALLS, "a period of the message timeout has passed"),
)

PORT: Final = Port(
    name="storm.spout",
    version=1,
    meaning="what a spout executor keeps of the roots it emitted, and max.spout.pending",
    operations={each.name: each for each in _OPERATIONS},
    settings=(Argument("capacity", POSITIVE, "max.spout.pending, for each task"),
              Argument("tasks", POSITIVE, "the tasks of the executor, which share one limit: "
                       "max.spout.pending times this; absent: 1", required=False),
              Argument("buckets", COUNT, "the ticks that a pending root lives")),
    policies={"timeout": "a root that is not heard of in time has failed"},
)
