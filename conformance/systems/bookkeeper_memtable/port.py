"""The port ``bookkeeper.memtable``: entries come, and the harness is the disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    FLAG, ITEM, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, is_count,
    is_word, promised,
)

__all__ = ["EVENTS", "PORT"]

EVENTS: Final[Mapping[str, str]] = {
    "insert": "there is space for the entry of that name, and it is in the table; or it was there "
              "already",
    "refuse": "the entry of that name is longer than there can ever be space for, which is twice "
              "`capacity`",
    "flush": "the table, of that many bytes, is to be written; or a failed flush, again",
}
"""The events of a memtable: the first two with an entry, the last with a number of bytes."""
_CARRIES: Final = {"insert": ITEM.accepts, "refuse": ITEM.accepts, "flush": is_count}


def _is_event(value: object) -> bool:
    return (isinstance(value, list) and len(value) == 2 and is_word(value[0], EVENTS)
            and _CARRIES[value[0]](value[1]))


DONE: Final = Kind(
    "a list of [event, name of an entry] and [\"flush\", number]",
    lambda value: isinstance(value, list) and all(map(_is_event, value)),
    (Vocabulary("the first of an event; the second is a name or a number", EVENTS),))

_OPERATIONS: Final = (
    hello("start a fresh, empty memtable"),
    Operation("add", DONE, "an entry comes, perhaps one that is in the table; ok: the "
              "memtable's events, in order",
              (Argument("entry", ITEM, "its name, a number or a text: a new one, or one that is in "
                        "the table"),
               Argument("length", POSITIVE, "how many bytes it has"))),
    Operation("flushed", DONE, "the requested flush is over; ok: the memtable's events, in "
              "order",
              (Argument("failed", FLAG, "true if nothing was written"),)),
)

_PROMISES: Final = {
    "add": {
        "An entry for which there is space is inserted at once.": "BK-73",
        "An entry for which there can never be space is refused at once.": "BK-72",
        "If it has to wait, a flush is under way or begins.": "BK-22",
    },
    "flushed": {
        "A waiting entry is inserted as soon as there is space.": "BK-73",
        "A snapshot that was set aside meanwhile is flushed.": "BK-24",
    },
}
"""The required effects of each operation, with the rules of progress that judge them."""

PORT: Final = Port(
    name="bookkeeper.memtable",
    version=1,
    meaning="entries in memory that are flushed in the background; the harness brings them, and is "
            "the disk",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "bytes of the table that are worth a flush; there is "
                       "space for twice as many"),),
    policies={"wait": "an entry for which there is no space waits in a queue"},
)
