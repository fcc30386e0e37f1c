"""The port ``bookkeeper.memtable``: entries come, and the harness is the disk."""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, FLAG, POSITIVE, Argument, Kind, Operation, Port, hello, is_count, is_word,
)

__all__ = ["EVENTS", "PORT"]

EVENTS: Final = ("insert", "refuse", "flush")
"""What a memtable does: the first two with an entry, the last with a number of bytes."""


def _is_event(value: object) -> bool:
    return (isinstance(value, list) and len(value) == 2 and is_word(value[0], EVENTS)
            and is_count(value[1]))


DONE: Final = Kind(
    "a list of [event, number]",
    lambda value: isinstance(value, list) and all(map(_is_event, value)))

_OPERATIONS: Final = (
    hello("start a fresh memtable, in which nothing is"),
    Operation("add", DONE, "an entry comes, perhaps one that is in the table; ok: what the "
              "memtable does now, in its order",
              (Argument("entry", COUNT, "its number: 0, 1, …, or one that is in the table"),
               Argument("length", POSITIVE, "how many bytes it has"))),
    Operation("flushed", DONE, "the flush that was asked for is over; ok: what the memtable does "
              "now",
              (Argument("failed", FLAG, "whether nothing was written"),)),
)

PORT: Final = Port(
    name="bookkeeper.memtable",
    version=1,
    meaning="entries in memory that are flushed in the background; the harness brings them, and is "
            "the disk",
    operations={each.name: each for each in _OPERATIONS},
    settings=(Argument("capacity", POSITIVE, "bytes of the table that are worth a flush; there is "
                       "room for twice as many"),),
    policies={"wait": "an entry for which there is no room waits in line"},
)
