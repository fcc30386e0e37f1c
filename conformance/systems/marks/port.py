"""The port ``marks``: elements come, are taken, and the receiver says stop and go."""

from __future__ import annotations

from typing import Final

from ...ports.base import COUNT, POSITIVE, Argument, Kind, Operation, Port, hello, is_count

__all__ = ["PORT"]

SIGNALS: Final = ("stop", "go")


def _are_signals(value: object) -> bool:
    return isinstance(value, list) and all(each in SIGNALS for each in value)


def _is_given(value: object) -> bool:
    return (isinstance(value, dict) and value.keys() == {"given", "says"}
            and is_count(value["given"]) and _are_signals(value["says"]))


SAYS: Final = Kind('a list of "stop" and "go"', _are_signals)
GIVES: Final = Kind('an object {"given": how many, "says": a list of "stop" and "go"}', _is_given)

_OPERATIONS: Final = (
    hello("start a fresh receiver, which holds nothing and has said nothing"),
    Operation("arrive", SAYS, "so many elements come at once, perhaps although it has said stop: "
              "they were under way; ok: what it says now, in its order",
              (Argument("count", POSITIVE, "how many"),)),
    Operation("take", GIVES, "somebody asks for so many elements at most, and does not wait; ok: "
              "how many there were, and what it says now",
              (Argument("most", POSITIVE, "how many at most"),)),
)

PORT: Final = Port(
    name="marks",
    version=1,
    meaning="a receiver whose sender and reader are the harness",
    operations={each.name: each for each in _OPERATIONS},
    settings=(Argument("capacity", POSITIVE, "the low mark: what it may hold when it says go"),
              Argument("high", COUNT, "the high mark: what it may hold without having said stop")),
    policies={"marks": "it says stop above its high mark, and go at its low one"},
)
