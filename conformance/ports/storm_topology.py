"""The port ``storm.topology``: a topology is run under faults, and tells its history, as data.

The events are in the words of ``reference.storm.cluster``, and are judged by the rules of
``spec.storm.observed_topology``. Root ids are texts: 64 bits do not survive JSON everywhere.
"""

from __future__ import annotations

from typing import Final

from .base import INTEGER, NAME, OBJECT, TRUE, Argument, Kind, Operation, Port

__all__ = ["STORM_TOPOLOGY"]


def _is_event(row: object) -> bool:
    return (isinstance(row, list) and len(row) >= 2 and type(row[0]) is int
            and isinstance(row[1], str) and all(type(each) in (int, str) for each in row[2:]))


EVENTS: Final = Kind(
    "a list of events, each a list: the instant, the word, what it is about",
    lambda v: isinstance(v, list) and all(map(_is_event, v)))
FAULTS: Final = Kind(
    "a list of faults, each a list: the instant, the kind, on, to, how long",
    lambda v: isinstance(v, list) and all(
        isinstance(row, list) and len(row) == 5 and isinstance(row[1], str) for row in v))

_SIZES: Final = (
    ("workers", "how many workers there are"), ("messages", "how long the source is"),
    ("capacity", "of each recvQ"), ("overflow_limit", "of each overflowQ; 0: none"),
    ("transfer_capacity", "of each transfer queue"),
    ("max_pending", "roots that may be pending when a round begins; 0: any number"),
    ("per_round", "roots that a round emits at most"),
    ("reminder", "growth of an overflowQ that is told again"),
    ("repeat", "checks between repetitions of the status"),
    ("seed", "of whatever the implementation leaves to chance"))

_OPERATIONS: Final = (
    Operation(
        "hello", OBJECT, "begin anew",
        (
            Argument("protocol", INTEGER, "the version of the protocol, 1"),
            Argument("port", NAME, "the name of the port"),
            Argument("settings", OBJECT, "the settings of the port"),
        ),
        optional=False,
    ),
    Operation(
        "run", EVENTS, "run to rest, or until it is clear that there will be none; the history",
        (Argument("faults", FAULTS, "what goes wrong, and when"),)),
    Operation(
        "settle", TRUE, "let everything run that can run at this instant, then answer",
        optional=False,
    ),
)

STORM_TOPOLOGY: Final = Port(
    name="storm.topology",
    version=1,
    meaning="a topology from source to sink, on a cluster of workers, under faults",
    operations={operation.name: operation for operation in _OPERATIONS},
    settings=(
        Argument("topology", NAME, "word-count or diamond"),
        *(Argument(name, INTEGER, meaning) for name, meaning in _SIZES)),
    policies={"repeat": "every tree that is not acked is emitted again"},
)
