"""The suite ``bookkeeper.memtable``: entries of all lengths come, and flushes end or fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ....spec.bookkeeper.observed_memtable import ObservedMemtable
from ...ports.base import Message, Session
from ...suites.lengthy import Long, grown
from ...suites.plain import PlainConversation
from ...suites.says import Fields, each, ends, on, over, says, table
from ...suites.suite import Act, Suite, Watch

__all__ = ["SUITE", "MemtableConversation"]

ENTRIES_MAX: Final = 14
ENTRIES_OF_LONG: Final = 200
"""Entries that a run may name; one that comes again counts twice."""

PICKS: Final = 64
_AGAIN: Final = 48
"""Who picks this or more adds an entry that is in the table."""

_IN: Final = "entry {number} is in the table"
_REFUSED: Final = "entry {number} is refused"
_DOES: Final = each(
    ends("rests", "the memtable does nothing more"),
    over(lambda talk, request: talk.additions(request),
         says("insert", "inserts", _IN, _IN, gives="number", where="named"),
         says("refuse", "refuses", _REFUSED, _REFUSED, gives="number", where="named")),
    says("insert", "invents", "", _IN, gives="number"),
    says("refuse", "invents", "", _REFUSED, gives="number"),
    says("flush", "flushes", "a flush of {bytes} bytes", "a flush of {bytes} bytes is asked for",
         gives="bytes", among=lambda talk, request: talk.known["flushes"]["bytes"][1:-1]),
    nothing="nothing happens")


class MemtableConversation(PlainConversation):
    """One session with a memtable; this is who brings entries, and the disk."""

    says = table(
        ObservedMemtable,
        on("add", "entry {name} comes again, of {bytes} bytes", _DOES, tells="add repeats",
           where="again"),
        on("add", "entry {name} comes, of {bytes} bytes", _DOES, tells="add"),
        on("flushed", "the flush has failed", _DOES, tells="fails", where="failed"),
        on("flushed", "the flush is done", _DOES, tells="flushed"),
    )

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "bookkeeper.memtable", _settings(capacity),
                         _constants(capacity, items_max))
        self._size = capacity
        self._most = grown(ENTRIES_MAX, items_max, ENTRIES_OF_LONG)
        self._numbers: dict[int, int] = {}      # by entry, as which it was added last
        self._names: dict[int, int] = {}        # of each addition, the entry that was added
        self._lengths: dict[int, int] = {}
        self._waiting: list[int] = []
        self._table: list[int] = []
        self._snapshot: list[int] = []
        self._under_way = False

    def additions(self, request: Fields) -> list[Fields]:
        """All that were asked for, also now: the machine numbers them, and a story the entries."""
        asked = {request["entry"]: request["name"]} if request["do"] == "add" else {}
        return [{"entry": addition, "number": name}
                for addition, name in sorted({**self._names, **asked}.items())]

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "flushed":
            return {"do": "flushed", "failed": act.pick % 4 == 3} if self._under_way else None
        if self.times["add"] >= self._most:
            return None
        if act.pick < _AGAIN:
            return {"do": "add", "entry": len(self._lengths),
                    "length": act.pick % (2 * self._size + 1) + 1}
        if not self._table:
            return None
        entry = self._table[act.pick % len(self._table)]
        held = sum(self._lengths[each] for each in (*self._table, *self._snapshot))
        if self._waiting or self._lengths[entry] > 2 * self._size - held:
            return None     # it would not be known any more, perhaps, when there is room
        return {"do": "add", "entry": entry, "length": self._lengths[entry]}

    def about(self, message: Message) -> Fields:
        """See ``PlainConversation``. An entry is named as it was added last."""
        if "length" in message:
            return {"name": message["entry"], "entry": self.times["add"],
                    "again": message["entry"] in self._lengths,
                    "bytes": message["length"], "length": message["length"] - 1, "do": "add"}
        number = message.get("number")
        if number is None or "entry" in message:    # what there could be has both
            return message
        return {**message, "named": number in self._numbers, "entry": self._numbers.get(number)}

    def note(self, action: str, about: Fields) -> None:
        """See ``PlainConversation``."""
        if action == "add":
            self._numbers[about["name"]] = about["entry"]
            self._names[about["entry"]] = about["name"]
            self._lengths[about["name"]] = about["bytes"]
            self._waiting.append(about["name"])
        elif action in ("flushed", "fails"):
            self._under_way = False
            self._snapshot = self._snapshot if action == "fails" else []
        elif action == "flushes":
            if not self._snapshot:
                self._snapshot, self._table = self._table, []
            self._under_way = True
        elif action in ("inserts", "refuses"):
            if about["number"] in self._waiting:
                self._waiting.remove(about["number"])
            if action == "inserts" and about["number"] not in self._table:
                self._table.append(about["number"])


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"L": capacity, "M": 2 * capacity + 1,
            "R": grown(ENTRIES_MAX, items_max, ENTRIES_OF_LONG)}


SUITE: Final = Suite(
    name="bookkeeper.memtable",
    version=2,
    port="bookkeeper.memtable",
    watches=(Watch(ObservedMemtable),),
    weights={"add": 5, "flushed": 3},
    epilogue=(*(Act("add", 1), Act("flushed")) * 2, Act("flushed")),
    constants=_constants,
    long=Long(fills=("add",), drains=("flushed",), sizes=(6,)),
    converse=MemtableConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    picks=PICKS,
    scene="A memtable. Bytes that are worth a flush: {capacity}; room for twice as many.",
)
