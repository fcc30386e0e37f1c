"""The port ``storm.spout``: the pending roots of a spout executor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    COUNT, NAME, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, is_word,
    list_of, promised,
)
from ..storm_acker.port import ID, is_id

__all__ = ["CALLS", "PORT"]


CALLBACKS: Final[Mapping[str, str]] = {
    "ack": "the spout's ack() is called", "fail": "the spout's fail() is called",
}


def _is_call(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("call"), CALLBACKS)
            and NAME.accepts(value.get("message")))


CALLS: Final = Kind(
    'a list of {"call": "ack" or "fail", "message": text}', list_of(_is_call), (
        Vocabulary("a callback", {
            "call": "which one", "message": "the id of the message, as `round` gave it"}),
        Vocabulary("`call`", CALLBACKS)))
IDS: Final = Kind("a list of ids", list_of(is_id))
TEXTS: Final = Kind("a list of texts", list_of(NAME.accepts))

_ROOT = Argument("root", ID, "the id of the root")

_OPERATIONS: Final = (
    hello("start a fresh executor"),
    Operation("round", IDS, "a round of nextTuple that has these roots to emit; ok: those that "
              "it emitted; an id that is pending is not used again",
              (Argument("roots", IDS, "the ids that the spout has drawn"),
               Argument("messages", TEXTS, "the ids of the messages, one for each root"))),
    Operation("ack", CALLS, "the acker answers ack; ok: the callbacks that follow", (_ROOT,)),
    Operation("fail", CALLS, "the acker answers fail; ok: the callbacks that follow", (_ROOT,)),
    Operation("reset_timeout", CALLS, "the acker passes on a request for more time", (_ROOT,)),
    Operation("tick", CALLS, "a period of the message timeout has passed"),
)

_PROMISES: Final = {
    "round": {
        "Below the maximum, all roots of the round are emitted.": "STORM-K41",
    },
    "ack": {
        "The callback ack() is called at once for a root that is pending.": "STORM-K44",
    },
    "fail": {
        "The callback fail() is called at once for a root that is pending.": "STORM-K44",
    },
    "tick": {
        "The callback fail() is called for each root that has timed out.": "STORM-K46",
    },
}
"""The required effects of each operation, with the rules of progress that judge them."""

PORT: Final = Port(
    name="storm.spout",
    version=1,
    meaning="a spout executor's record of the roots it emitted, and max.spout.pending",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "max.spout.pending, for each task"),
              Argument("tasks", POSITIVE, "the tasks of the executor, which share one limit: "
                       "max.spout.pending times this; absent: 1", required=False),
              Argument("buckets", COUNT, "the ticks that a pending root lives")),
    policies={"timeout": "a root that is not answered in time has failed"},
)
