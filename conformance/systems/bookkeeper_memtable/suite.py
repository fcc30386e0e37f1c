"""The suite ``bookkeeper.memtable``: entries of all lengths come, and flushes end or fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ....spec.bookkeeper.observed_memtable import ObservedMemtable
from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Suite, Watch

__all__ = ["SUITE", "MemtableConversation"]

ENTRIES_MAX: Final = 14
"""Entries that a run may name; one that comes again counts twice."""

PICKS: Final = 64
_AGAIN: Final = 48
"""Who picks this or more adds an entry that is in the table."""

_REST: Final[Step] = ("rests", ())


class MemtableConversation(PlainConversation):
    """One session with a memtable; this is who brings entries, and the disk."""

    acts = ("add", "flushed")

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, "bookkeeper.memtable", _settings(capacity))
        self._size = capacity
        self._named = 0                         # entries added, with those that came again
        self._numbers: dict[int, int] = {}      # by entry, as which it was added last
        self._lengths: dict[int, int] = {}
        self._waiting: list[int] = []
        self._table: list[int] = []
        self._snapshot: list[int] = []
        self._under_way = False

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do == "flushed":
            return {"do": "flushed", "failed": act.pick % 4 == 3} if self._under_way else None
        if self._named >= ENTRIES_MAX:
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

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        if request["do"] == "flushed":
            return "the flush has failed" if request["failed"] else "the flush is done"
        again = " again" if request["entry"] in self._lengths else ""
        return f"entry {request['entry']} comes{again}, of {request['length']} bytes"

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        yield Answer("the memtable does nothing more", _REST)
        for number in range(self._named + (request["do"] == "add")):
            yield Answer(f"addition {number} is in the table", _about("inserts", number))
            yield Answer(f"addition {number} is refused", _about("refuses", number))
        for bytes_ in range(1, 2 * self._size + 1):
            yield Answer(f"a flush of {bytes_} bytes", _flushes(bytes_, self._size))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        told = list(self._told(request))
        steps = [self._shown(event, number) for event, number in answer]
        words = " and ".join(_in_words(event, number) for event, number in answer)
        return Seen((*told, *steps, _REST), words or "nothing happens")

    def _told(self, request: Message) -> Iterator[Step]:
        """What the memtable is told."""
        if request["do"] == "flushed":
            self._under_way = False
            if not request["failed"]:
                self._snapshot = []
            yield ("fails" if request["failed"] else "flushed"), ()
            return
        entry, number = request["entry"], self._named
        again = entry in self._lengths
        self._numbers[entry] = number
        self._lengths[entry] = request["length"]
        self._named += 1
        self._waiting.append(entry)
        yield "add", (("length", request["length"] - 1),)
        if again:
            yield _about("repeats", number)

    def _shown(self, event: str, number: int) -> Step:
        """What the memtable does, and what follows from it."""
        if event == "flush":
            if not self._snapshot:
                self._snapshot, self._table = self._table, []
            self._under_way = True
            return _flushes(number, self._size)
        if number not in self._numbers:
            return "invents", ()
        if number in self._waiting:
            self._waiting.remove(number)
        if event == "insert" and number not in self._table:
            self._table.append(number)
        return _about("inserts" if event == "insert" else "refuses", self._numbers[number])


def _about(action: str, number: int) -> Step:
    return action, (("entry", number),)


def _flushes(count: int, size: int) -> Step:
    # More than all the room is as wrong as a byte more.
    return "flushes", (("bytes", min(count, 2 * size + 1)),)


def _in_words(event: str, number: int) -> str:
    if event == "flush":
        return f"a flush of {number} bytes is asked for"
    return f"entry {number} is {'in the table' if event == 'insert' else 'refused'}"


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"L": capacity, "M": 2 * capacity + 1, "R": ENTRIES_MAX}


SUITE: Final = Suite(
    name="bookkeeper.memtable",
    version=1,
    port="bookkeeper.memtable",
    watches=(Watch(ObservedMemtable),),
    weights={"add": 5, "flushed": 3},
    epilogue=(*(Act("add", 1), Act("flushed")) * 2, Act("flushed")),
    constants=_constants,
    converse=MemtableConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    picks=PICKS,
    scene="A memtable. Bytes that are worth a flush: {capacity}; room for twice as many.",
)
