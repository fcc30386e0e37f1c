"""The suite ``bookkeeper.memtable``: entries of all lengths come, and flushes end or fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ....spec.bookkeeper.observed_memtable import ObservedMemtable
from ...ports.base import Message
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation
from ...suites.says import Fields, each, ends, on, over, says, table
from ...suites.suite import Act, Suite, Watch
from ...suites.values import BEYOND, KEYS, Payloads, Value, in_words, unlike

__all__ = ["SUITE", "MemtableConversation"]

ENTRIES_MAX: Final = 14
ENTRIES_OF_LONG: Final = 40
"""Entries that have a number; a repeated one has two. The next entry takes the number of one that
no longer waits and is in no table."""

PICKS: Final = 64
_AGAIN: Final = 48
"""A pick of this or more adds an entry that is in the table."""

_IN: Final = "entry {called} is in the table"
_REFUSED: Final = "entry {called} is refused"
_DOES: Final = each(
    ends("rests", "the memtable does nothing more"),
    over(lambda talk, request: talk.additions(request),
         says("insert", "inserts", _IN, _IN, gives="number", where="named"),
         says("refuse", "refuses", _REFUSED, _REFUSED, gives="number", where="named")),
    says("insert", "invents", "", _IN, gives="number"),
    says("refuse", "invents", "", _REFUSED, gives="number"),
    says("flush", "flushes", "a flush of {bytes} bytes", "a flush of {bytes} bytes is requested",
         gives="bytes", among=lambda talk, request: talk.known["flushes"]["bytes"][1:-1]),
    nothing="nothing happens")


class MemtableConversation(PlainConversation):
    """One session with a memtable; the harness brings entries, and is the disk."""

    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"add": ("entry", "length")}
    says = table(
        ObservedMemtable,
        on("add", "entry {called} comes again, of {bytes} bytes", _DOES, tells="add repeats",
           where="again"),
        on("add", "entry {called} comes, of {bytes} bytes", _DOES, tells="add"),
        on("flushed", "the flush has failed", _DOES, tells="fails", where="failed"),
        on("flushed", "the flush is done", _DOES, tells="flushed"),
    )

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._size = self.settings["capacity"]
        self._count = self.constants["R"]
        self._at: dict[int, str] = {}           # place of each number in use: "line" or another
        self._numbers: dict[Value, int] = {}      # by entry, the number of its last addition
        self._names: dict[int, Value] = {}        # by number, the entry that was added
        self._lengths: dict[Value, int] = {}
        self._waiting: list[Value] = []
        self._table: list[Value] = []
        self._snapshot: list[Value] = []
        self._under_way = False

    def additions(self, request: Fields) -> list[Fields]:
        """All additions so far, including this one: the machine numbers them, and a story the
        entries."""
        asked = {request["entry"]: request["name"]} if request["do"] == "add" else {}
        return [{"entry": addition, "number": name, "called": in_words(name)}
                for addition, name in sorted({**self._names, **asked}.items())]

    def request_of(self, act: Act) -> Message | None:
        """The next entry, or one that the table has already; or the end of a flush."""
        if act.do == "flushed":
            return {"do": "flushed", "failed": act.pick % 4 == 3} if self._under_way else None
        if self._next in self._at:
            return None
        if act.pick < _AGAIN:
            told = dict(act.about)
            name = unlike(told.get("entry", len(self._lengths)), self._lengths)
            return {"do": "add", "entry": name,
                    "length": told.get("length", act.pick % (2 * self._size + 1) + 1)}
        if not self._table:
            return None
        entry = self._table[act.pick % len(self._table)]
        held = sum(self._lengths[each] for each in (*self._table, *self._snapshot))
        if self._waiting or self._lengths[entry] > 2 * self._size - held:
            return None     # it might not be in the table any more when there is room
        return {"do": "add", "entry": entry, "length": self._lengths[entry]}

    @property
    def _next(self) -> int:
        """The number of the next entry that comes."""
        return self.times["add"] % self._count

    def about(self, message: Message) -> Fields:
        """See ``PlainConversation``. An entry is named as it was added last."""
        if "length" in message:
            return {"name": message["entry"], "called": in_words(message["entry"]),
                    "entry": self._next,
                    "again": message["entry"] in self._lengths,
                    "bytes": message["length"], "length": message["length"] - 1, "do": "add"}
        number = message.get("number")
        if number is None or "entry" in message:    # possible answers have both
            return message
        return {**message, "called": in_words(number), "named": number in self._numbers,
                "entry": self._numbers.get(number)}

    def note(self, action: str, about: Fields) -> None:
        """Follow each entry: it waits, or it is in the table, or in the snapshot."""
        if action == "add":
            # The earlier entry with this number cannot be named any more.
            self._numbers = {name: number for name, number in self._numbers.items()
                             if number != about["entry"]}
            self._at[about["entry"]] = "line"
            self._numbers[about["name"]] = about["entry"]
            self._names[about["entry"]] = about["name"]
            self._lengths[about["name"]] = about["bytes"]
            self._waiting.append(about["name"])
        elif action in ("flushed", "fails"):
            self._under_way = False
            if action == "flushed":
                self._snapshot = []
                self._move("snapshot", None)
        elif action == "flushes":
            if not self._snapshot:
                self._snapshot, self._table = self._table, []
                self._move("table", "snapshot")
            self._under_way = True
        elif action in ("inserts", "refuses"):
            self._moved_on(about["number"], action == "inserts")
            if about["number"] in self._waiting:
                self._waiting.remove(about["number"])
            if action == "inserts" and about["number"] not in self._table:
                self._table.append(about["number"])


    def _moved_on(self, name: Value, inserted: bool) -> None:
        """End an entry's wait: it is in the table, unless it was there before, or is refused."""
        number = self._numbers[name]
        known = name in (*self._table, *self._snapshot)
        if self._at.pop(number, None) is not None and inserted and not known:
            self._at[number] = "table"

    def _move(self, here: str, there: str | None) -> None:
        """Put all entries of one place into another one; None: on disk."""
        moved = [number for number, place in self._at.items() if place == here]
        for number in moved:
            del self._at[number]
        if there is not None:
            self._at |= dict.fromkeys(moved, there)


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"L": capacity, "M": 2 * capacity + 1,
            "R": grown(ENTRIES_MAX, items_max, ENTRIES_OF_LONG)}


SUITE: Final = Suite(
    name="bookkeeper.memtable",
    version=3,
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
    scene="A memtable. Bytes that are worth a flush: {capacity}; room for twice as many.",
)
