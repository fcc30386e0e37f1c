"""The port ``link.counted``: both ends of a link; the network loses, duplicates and reorders."""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, INTEGER, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, promised,
)
from ..link.port import ELEMENTS, FIRST

__all__ = ["PORT"]


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and len(value) == 1 and INTEGER.accepts(
        value.get("ack", value.get("limit")))


def _is_messages(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_message, value))


def _is_processed(value: object) -> bool:
    return (isinstance(value, dict) and _is_messages(value.get("messages"))
            and (value.get("element", 0) is None or INTEGER.accepts(value.get("element"))))


_MESSAGE: Final = Vocabulary("a message that B sends, which has one of", {
    "ack": "B has accepted the elements below this number",
    "limit": "A may send the elements below this number"})
MESSAGES: Final = Kind(
    'a list of {"ack": number} or {"limit": number}', _is_messages, (_MESSAGE,))
PROCESSED: Final = Kind(
    'an object {"element": its number, or null, "messages": a list}', _is_processed, (
        Vocabulary("the answer to `process`", {
            "element": "the number of the element that is processed; null, or absent: there was "
                       "none",
            "messages": "a list: the messages that B sends now"}), _MESSAGE))

_OPERATIONS: Final = (
    hello("start a fresh link: B is empty, and A's first limit is B's capacity more than `first`"),
    Operation("offer", ELEMENTS, "A's application has these elements more; ok: those that A "
              "sends now, each a message, in the order of sending",
              (Argument("elements", ELEMENTS, "their numbers: `first`, and one more each, in the "
                        "order of offers"),)),
    Operation("permit", ELEMENTS, "a message with a limit is delivered to A, perhaps an old one; "
              "ok: the elements that A sends now",
              (Argument("limit", COUNT, "A may send the elements below it"),)),
    Operation("ack", ELEMENTS, "a message with an acknowledgement is delivered to A, perhaps an "
              "old one; ok: the elements that A sends now",
              (Argument("number", COUNT, "B has accepted the elements below it"),)),
    Operation("sender_timer", ELEMENTS, "A's timer runs out; ok: the elements that A sends again"),
    Operation("data", MESSAGES, "an element is delivered to B, perhaps not for the first time; ok: "
              "the messages that B sends now",
              (Argument("element", COUNT, "its number, as A sent it"),)),
    Operation("receiver_timer", MESSAGES, "B's timer runs out; ok: the messages that B sends"),
    Operation("process", PROCESSED, "B's consumer processes one element, if there is one; ok: "
              "which one, null if there was none, and the messages that B sends now"),
)

_PROMISES: Final = {
    "offer": {
        "An element below the limit is sent at once.": "FLOW-8",
    },
    "permit": {
        "An element that is below the limit now is sent at once.": "FLOW-8",
    },
    "sender_timer": {
        "The oldest element that is not acknowledged is sent again.": "FLOW-20",
    },
    "data": {
        "Every element that arrives is acknowledged.": "FLOW-19",
    },
    "receiver_timer": {
        "The limit is sent again.": "FLOW-25",
    },
    "process": {
        "An element that is there is processed.": "FLOW-11",
        "A batch of free slots is announced at once.": "FLOW-9",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="link.counted",
    version=1,
    meaning="a sender A and a receiver B; the harness carries their messages: any sent may "
            "be delivered at any time and any number of times, or never",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "how many slots B has"),
              Argument("batch", POSITIVE, "by how much B raises its limit, at least"), FIRST),
    policies={"absolute": "a message says up to which number A may send"},
)
