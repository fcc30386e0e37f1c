"""The suite ``bookkeeper.memtable``: entries of all lengths come, and flushes end or fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from ....spec.bookkeeper.observed_memtable import ObservedMemtable
from ...ports.base import Message
from ...suites.besides import (
    asked, being, inside, minus, next_around, number_of, one_of, same, told, value, worded,
)
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation
from ...suites.remembered import flag, kept, latest, next_number, places, up_to
from ...suites.says import Fields, each, ends, on, over, says, table
from ...suites.suite import Act, Suite, Watch
from ...suites.values import BEYOND, KEYS, Payloads, in_words

__all__ = ["SUITE", "MemtableConversation"]

ENTRIES_MAX: Final = 14
ENTRIES_OF_LONG: Final = 40
"""Entries that have a number; a repeated one has two. The next entry takes the number of one that
no longer waits and is in no table."""

PICKS: Final = 64
_AGAIN: Final = 48
"""A pick of this or more adds an entry that is in the table."""

def _additions(talk: MemtableConversation, request: Fields) -> Iterator[Fields]:
    """All additions so far, including this one: the machine numbers them, and a story the
    entries."""
    asked = {request["entry"]: request["name"]} if request["do"] == "add" else {}
    for number, name in {**talk.names, **asked}.items():
        yield {"entry": number, "called": in_words(name)}


def _repeated(talk: MemtableConversation, request: Fields) -> list[Message | None]:
    """The entries in the table, none that might not be there any more when there is space."""
    room = 2 * talk.settings["capacity"] - sum(talk.lengths[each] for each in talk.held)
    return [{"entry": each, "length": talk.lengths[each]}
            if not talk.waiting and talk.lengths[each] <= room else None for each in talk.tabled]


_IN: Final = "entry {called} is in the table"
_REFUSED: Final = "entry {called} is refused"
_DOES: Final = each(
    ends("rests", "the memtable does nothing more"),
    over(_additions,
         says("insert", "inserts", _IN, _IN, gives="name", where="named"),
         says("refuse", "refuses", _REFUSED, _REFUSED, gives="name", where="named")),
    says("insert", "invents", "", _IN, gives="name"),
    says("refuse", "invents", "", _REFUSED, gives="name"),
    says("flush", "flushes", "a flush of {bytes} bytes", "a flush of {bytes} bytes is requested",
         gives="bytes", among=lambda talk, request: talk.known["flushes"]["bytes"][1:-1]),
    nothing="nothing happens")


class MemtableConversation(PlainConversation):
    """One session with a memtable; the harness brings entries, and is the disk."""

    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"add": ("entry", "length")}
    names = latest("name", "add", of="entry")
    numbers = latest("entry", "add", of="name", alone=True)
    lengths = latest("bytes", "add", of="name")
    waiting = kept("name", adds="add", drops="inserts refuses")
    placed = places("entry", {"add": "line", "inserts": "table"}, "refuses inserts:is_there",
                    {"flushes": ("table", "snapshot"), "flushed": ("snapshot", "")})
    under_way = flag(on="flushes", off="flushed fails")
    tabled = being("placed", "table", by="names")
    held = being("placed", "table", "snapshot", by="names")
    number = next_around("add", "R")
    is_taken = one_of("number", "placed")       # the earlier entry of this number is here still

    knows = (
        asked("entry", again=inside("entry", "lengths"), name=same("entry"),
              called=worded("entry"), entry=value("number"), bytes=same("length"),
              length=minus("length", 1)),
        told("name", called=worded("name"), named=inside("name", "numbers"),
             entry=number_of("name", "numbers"), is_there=inside("name", "held")),
    )
    says = table(
        ObservedMemtable,
        on("add", "entry {called} comes again, of {bytes} bytes", _DOES, tells="add repeats",
           where="again", unless="is_taken", new={"entry": "lengths"},
           picks={"entry": next_number("lengths"), "length": up_to("M")},
           turns=(_AGAIN, {"": _repeated})),
        on("add", "entry {called} comes, of {bytes} bytes", _DOES, tells="add"),
        on("flushed", "the flush has failed", _DOES, tells="fails", where="failed",
           only="under_way", picks={"failed": (False, False, False, True)}),
        on("flushed", "the flush is done", _DOES, tells="flushed"),
    )


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"L": capacity, "M": 2 * capacity + 1,
            "R": grown(ENTRIES_MAX, items_max, ENTRIES_OF_LONG)}


SUITE: Final = Suite(
    name="bookkeeper.memtable",
    version=4,
    port="bookkeeper.memtable",
    watches=(Watch(ObservedMemtable),),
    weights={"add": 5, "flushed": 3},
    epilogue=(*(Act("add", 1), Act("flushed")) * 2, Act("flushed")),
    constants=_constants,
    payloads=Payloads({"add": "entry"}, styles=KEYS, ends={"add": ("length", BEYOND)}),
    long=Long(fills=("add",), drains=("flushed",), sizes=(6,)),
    conversation=MemtableConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    picks=PICKS,
    scene="A memtable. Bytes that are worth a flush: {capacity}; space for twice as many.",
)
