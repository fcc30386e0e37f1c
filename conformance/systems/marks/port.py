"""The port ``marks``: elements come, are taken, and the receiver says stop and go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    COUNT, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, is_count, is_word,
    promised,
)

__all__ = ["PORT"]

SIGNALS: Final[Mapping[str, str]] = {
    "stop": "its sender is to send nothing more", "go": "its sender may send again",
}
_SIGNALS: Final = Vocabulary("its signals", SIGNALS)


def _are_signals(value: object) -> bool:
    return isinstance(value, list) and all(is_word(each, SIGNALS) for each in value)


def _is_given(value: object) -> bool:
    return (isinstance(value, dict) and value.keys() == {"given", "says"}
            and is_count(value["given"]) and _are_signals(value["says"]))


SAYS: Final = Kind('a list of "stop" and "go"', _are_signals, (_SIGNALS,))
GIVES: Final = Kind(
    'an object {"given": how many, "says": a list of "stop" and "go"}', _is_given, (
        Vocabulary("the answer to `take`", {
            "given": "an integer from 0 up: how many elements there were",
            "says": "a list: its signals now, in their order"}), _SIGNALS))

_OPERATIONS: Final = (
    hello("start a fresh receiver, which holds nothing and has said nothing"),
    Operation("arrive", SAYS, "so many elements come at once, perhaps although it has said stop: "
              "they were under way; ok: its signals now, in their order",
              (Argument("count", POSITIVE, "how many"),)),
    Operation("take", GIVES, "a consumer asks for so many elements at most, and does not wait; ok: "
              "how many there were, and its signals now",
              (Argument("most", POSITIVE, "how many at most"),)),
)

_PROMISES: Final = {
    "arrive": {
        "Above the high mark it says stop.": "FLOW-112",
    },
    "take": {
        "If the receiver holds an element, it gives one.": "FLOW-118",
        "At the low mark it says go, if it has said stop.": "FLOW-114",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="marks",
    version=1,
    meaning="a receiver with the harness as sender and reader",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "the low mark: the most that it holds when it says "
                       "go"),
              Argument("high", COUNT, "the high mark: the most that it holds without having said "
                       "stop")),
    policies={"marks": "it says stop above its high mark, and go at its low one"},
)
