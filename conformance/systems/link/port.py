"""The port ``link``: both ends of a link, between which the harness is the network."""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, INTEGER, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, promised,
)

__all__ = ["ELEMENTS", "FIRST", "PORT"]


def _is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(map(INTEGER.accepts, value))


def _is_permits(value: object) -> bool:
    return isinstance(value, list) and all(map(POSITIVE.accepts, value))


def _is_processed(value: object) -> bool:
    return (isinstance(value, dict) and _is_permits(value.get("permits"))
            and (value.get("element", 0) is None or INTEGER.accepts(value.get("element"))))


FIRST: Final = Argument(
    "first", COUNT, "the number of the first element; each of the others is one more")
# A number that was cut to too few bits may be below 0: that is a breach, and no misuse of the port.
ELEMENTS: Final = Kind("a list of the numbers of elements", _is_numbers)
PERMITS: Final = Kind("a list with the number of credits of each message", _is_permits)
PROCESSED: Final = Kind(
    'an object {"element": its number, or null, "permits": a list}', _is_processed, (
        Vocabulary("the answer to `process`", {
            "element": "the number of the element that is processed; null, or absent: there was "
                       "none",
            "permits": "a list: the number of credits of each message that B sends now"}),))

_OPERATIONS: Final = (
    hello("start a fresh link: B is empty, and A has a credit for each of its slots"),
    Operation("offer", ELEMENTS, "A's application has these elements more; ok: those that A "
              "sends now, each a message, in the order of sending",
              (Argument("elements", ELEMENTS, "their numbers: `first`, and one more each, in the "
                        "order of offers"),)),
    Operation("permit", ELEMENTS, "a message with credits is delivered to A; ok: the elements that "
              "A sends now",
              (Argument("count", POSITIVE, "how many credits, as B sent them"),)),
    Operation("data", PERMITS, "an element is delivered to B; ok: the messages that B sends now",
              (Argument("element", COUNT, "its number, as A sent it"),)),
    Operation("process", PROCESSED, "B's consumer has processed one element, and its slot is free; "
              "ok: which one, null if there was none, and the messages that B sends now"),
)

_PROMISES: Final = {
    "offer": {
        "An element for which there is a credit is sent at once.": "FLOW-8",
    },
    "permit": {
        "An element for which there is a credit now is sent at once.": "FLOW-8",
    },
    "process": {
        "A batch of free slots is announced at once.": "FLOW-9",
        "While the sender has elements, the link never deadlocks.": "FLOW-3",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="link",
    version=1,
    meaning="a sender A and a receiver B with credits; the harness carries all messages, loses "
            "none, and keeps the order of each direction",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "how many slots B has"),
              Argument("batch", POSITIVE, "how many freed slots B announces together"), FIRST),
    policies={"incremental": "a message says how many more credits there are"},
)
