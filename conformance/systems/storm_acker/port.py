"""The port ``storm.acker``: the messages that reach an acker, and its answers to spouts.

Ids have 64 bits and travel as 16 hexadecimal digits, because a JSON number of that size does not
survive everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    COUNT, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, is_word, list_of, promised,
)

__all__ = ["ID", "PORT", "TELLS", "is_id"]

TELLINGS: Final[Mapping[str, str]] = {
    "ack": "the tree is done", "fail": "the tree has failed",
    "reset_timeout": "a bolt asks for more time",
}


def is_id(value: object) -> bool:
    """True if ``value`` is an id: 16 hexadecimal digits, in lower case."""
    return isinstance(value, str) and len(value) == 16 and set(value) <= set("0123456789abcdef")


def _is_telling(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("tell"), TELLINGS)
            and COUNT.accepts(value.get("to")) and is_id(value.get("root")))


ID: Final = Kind("an id (16 hexadecimal digits)", is_id)
TELLS: Final = Kind(
    'a list of {"tell": "ack", "fail" or "reset_timeout", "to": task, "root": id}',
    list_of(_is_telling), (
        Vocabulary("a message to a spout", {
            "tell": "what it says", "to": "the number of the spout task",
            "root": "the id of the tree's root"}),
        Vocabulary("`tell`", TELLINGS)))

_ROOT = Argument("root", ID, "the id of the tree's root")
_VALUE = Argument("value", ID, "the xor of some edges' ids")

_OPERATIONS: Final = (
    hello("start a fresh acker"),
    Operation("init", TELLS, "INIT: the spout's own edges, and the spout task to answer",
              (_ROOT, _VALUE, Argument("task", COUNT, "the spout task"))),
    Operation("ack", TELLS, "ACK: a bolt's edge, with those of what it emitted from it",
              (_ROOT, _VALUE)),
    Operation("fail", TELLS, "FAIL: a bolt failed a tuple of the tree", (_ROOT,)),
    Operation("reset_timeout", TELLS, "RESET_TIMEOUT: a bolt asks for more time", (_ROOT,)),
    Operation("tick", TELLS, "a period of the message timeout has passed"),
    Operation("size", COUNT, "how many roots the acker has an entry of"),
)

_PROMISES: Final = {
    "init": {
        "If the tree is complete with it, ack is sent to the spout.": "STORM-A22",
        "If a tuple of the tree has failed before, fail is sent to the spout.": "STORM-A24",
    },
    "ack": {
        "If the tree is complete with it, ack is sent to the spout.": "STORM-A22",
    },
    "fail": {
        "Once INIT is known, fail is sent to the spout.": "STORM-A24",
    },
    "reset_timeout": {
        "It is passed on to the spout of a root that is known.": "STORM-A27",
    },
}
"""The required effects of each operation, with the rules of progress that judge them."""

PORT: Final = Port(
    name="storm.acker",
    version=1,
    meaning="Storm's acker; ok holds the messages to spouts that a request causes, in order",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "the ticks that an entry lives: buckets"),),
    policies={"rotate": "each tick drops the entries that are too old"},
)
