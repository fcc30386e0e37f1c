"""An acker in a log: the messages that reach it, each followed by what it answers.

The log is in the order of the acker's own thread, so the next event shows whether a message was
answered. The machine knows the edges one by one, and a log has the xor of some: what counts is
whether a root's value is zero, so the value is one edge, which is in it or not. A root has a place
as long as it has an entry; that it was answered, or has expired, is remembered beyond that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ....spec.storm.acking import observed_acker as chapter
from ....spec.storm.acking.acker_places import ROOTS
from ....spec.storm.acking.observed_acker import ObservedAcker, Told
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Call, Logs, Terms
from ...logs.memory import FORGOTTEN, Elsewhere, Ended
from ...logs.notes import Notes
from ...logs.places import PLACES_MAX, Places, Room
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from ...suites.says import ANY
from .suite import AckerConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(AckerConversation.says)
_RULES: Final[tuple[Rule, ...]] = (
    chapter.NOT_BEFORE_INIT, chapter.ACK_SAFE, chapter.ACK_AT_ONCE, chapter.ONE_ANSWER,
    chapter.FAIL_AT_ONCE, chapter.FAIL_FOUNDED, chapter.ZERO_FIRST, chapter.RESET_PASSED_ON,
    chapter.KEPT, chapter.EXPIRES, chapter.SILENT, chapter.ADDRESSED)

_MESSAGES: Final = {do: _SAYS.answer(do, ANY) for do in (
    "init", "ack", "fail", "reset_timeout", "tick")}
_STRAY: Final = _SAYS.otherwise("init", ANY)
_SIZED: Final = _SAYS.answer("size", ANY)
_ANSWERS: Final[Mapping[str, Told]] = {
    "tells_ack": Told.ACK, "tells_fail": Told.FAIL, "tells_reset": Told.RESET}
_WITH_EDGES: Final = ("init", "ack")


class AckerJudge(StepJudge):
    """Judges one acker; see ``StepJudge``."""

    machine = ObservedAcker
    reuse = ROOTS
    rules = ids_of(_RULES)
    own = ("_values", "_tasks", "_message")
    clocks = dict.fromkeys(_ANSWERS, "acker")

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self._room = Room(self.live, self.reuse)
        self._places = Places(0, self._room)
        self._values: dict[Hashable, int] = {}
        self._tasks: dict[Hashable, str] = {}       # the spout task that INIT named
        self._told, self._expired = Ended(terms.remember), Ended(terms.remember)
        self._doubtful: set[Hashable] = set()       # their answers may be forgotten
        self._message: Event | None = None      # the last one; its answer may follow
        self._ticks = 0
        self._older: set[Hashable] = set()      # than a log that begins in the middle, perhaps
        self._may_leave: dict[Hashable, None] = {}      # roots without an entry in some state

    def constants(self) -> Mapping[str, int]:
        return {"N": self.terms.settings["buckets"], "R": 8}

    def sees(self, event: Event) -> None:
        told = _ANSWERS.get(event.operation)
        if told is not None:
            self._is_told(event, told)
            return
        self.settles()
        if self.is_over:
            return
        if event.operation in _MESSAGES:
            self._message = None if self._is_older(event) else event
        elif self.terms.from_start:
            self.step(event, _SIZED, count=event.value or 0)

    def at_end(self) -> None:
        if self.terms.drained:
            self.settles()

    def continues(self, entries: Sequence[tuple[Hashable, Mapping[str, Any], int, str | None]],
                  was_told: Elsewhere, has_expired: Elsewhere) -> None:
        """Be where an acker is: it has ``entries``, each with its root, the slots of a machine with
        that root alone, the value and the spout task; of other roots something is known elsewhere.
        """
        self._told.continues(was_told)
        self._expired.continues(has_expired)
        for item, slots, value, task in entries:
            root = self._places.take(item)
            if root is None:
                self.unsure(f"more than {PLACES_MAX:,} roots have an entry at a time", None)
                return
            now = self.now
            now.left[root] = slots["left[0]"]
            now.known[root], now.failed[root] = bool(slots["known[0]"]), bool(slots["failed[0]"])
            for members, name, member in (
                    (now.told, "told{0}", root), (now.expired, "expired{0}", root),
                    (now.value, "value{0}", 2 * root)):
                if slots[name]:
                    members.add(member)
            self._values[item] = value
            if was_told.has_forgotten or has_expired.has_forgotten:
                self._doubtful.add(item)
            if task is not None:
                self._tasks[item] = task

    def _is_older(self, event: Event) -> bool:
        """True for a root of which the log may not have all messages."""
        self._ticks += event.operation == "tick"
        if self.terms.from_start or event.item is None:
            return False
        if self._ticks < self.now.N:
            self._older.add(event.item)
        return event.item in self._older

    def _is_told(self, event: Event, told: Told) -> None:
        message, self._message = self._message, None
        if event.item in self._older:
            return
        if message is not None and message.operation == "init":
            self._tasks[event.item] = message.process
        known = self._tasks.get(event.item)
        if message is None or message.item not in (None, event.item) or (
                message.item is not None and known is not None and known != event.process):
            self.step(event, _STRAY)
        else:
            self.notes.times[chapter.ADDRESSED.id] += 1
            self._takes(message, told, event)

    def settles(self) -> None:
        """The message that came last was not answered."""
        message, self._message = self._message, None
        if message is not None:
            self._takes(message, Told.NOTHING, message)

    def _takes(self, message: Event, told: Told, event: Event) -> None:
        """Take a message with its answer, in the machine."""
        do, item = message.operation, message.item
        if do == "init":
            self._tasks[item] = message.process
        if item is None:
            if self.step(event, _MESSAGES[do], tells=told):
                self._leave(*[name for name, at in self._places.of.items()
                              if not self.now.left[at]])
            return
        root = self._root(item)
        if root is None:
            self.unsure(f"more than {PLACES_MAX:,} roots have an entry at a time", event)
            return
        args = {"root": root, "tells": int(told)}
        if do in _WITH_EDGES:
            before = self._values.get(item, 0) if self.now.left[root] else 0
            after = self._values[item] = before ^ (message.value or 0)
            args |= {"a": int((before == 0) != (after == 0)), "b": 0}
        failure = self.tries(_MESSAGES[do], **args)
        if failure is not None and item in self._doubtful and not self.now.known[root]:
            self.unsure(f"the answer about {item!r} is wrong, for its INIT is missing, or it was "
                        f"answered {FORGOTTEN}", event)
        elif failure is not None:
            self.refused(event, failure)
        elif not self.now.left[root]:
            self._leave(item)

    def _root(self, item: Hashable) -> int | None:
        """The place of a root; what is remembered of it is put there."""
        is_new = item not in self._places.of
        at = self._places.take(item)
        if at is not None and (is_new or self.in_orders):
            for ended, those in ((self._told, self.now.told), (self._expired, self.now.expired)):
                if ended.has(self.key, item):
                    those.add(at)
                elif ended.has_forgotten:
                    self._doubtful.add(item)
        return at

    def _leave(self, *items: Hashable) -> None:
        """Roots have no entry any more, if they have none in any state."""
        for item in items:
            self._values.pop(item, None)
            self._tasks.pop(item, None)
        if self.in_orders:
            self._may_leave |= dict.fromkeys(items)
        else:
            self._gone(items)

    def _gone(self, items: Iterable[Hashable]) -> None:
        """Roots leave their places, and what is known of them is remembered."""
        for item in items:
            at = self._places.of[item]
            self._doubtful.discard(item)
            for ended, those in ((self._told, self.now.told), (self._expired, self.now.expired)):
                if at in those:
                    ended.add(self.key, item)
            self._places.leave(item)

    def settles_down(self) -> None:
        if self._may_leave:
            left, of = self.now.left, self._places.of
            self._gone([item for item in self._may_leave if item in of and not left[of[item]]])
            self._may_leave = {}

    def restore(self, saved: Any) -> None:
        super().restore(saved)
        self._room.grows(self.now.R)    # there may have been fewer places


def _whole(terms: Terms, notes: Notes, names: Any, common: Any) -> Any:
    from .whole import WholeAckers

    if terms.tolerance:
        return None     # clocks that may differ make all keys unknown
    return WholeAckers(terms, notes, names, messages=_MESSAGES, answers=_ANSWERS,
                       with_edges=_WITH_EDGES,
                       make=lambda key, noted: AckerJudge(key, terms, noted, common))


_does: Final = partial(Call, by_end=True)

LOGS: Final = Logs(
    machines=(ObservedAcker,),
    operations={
        "init": _does("INIT of the root, the item, comes; value: the xor of its edges; process: "
                      "the spout task that it names", needs=("item", "value")),
        "ack": _does("an ACK of the root comes; value: the xor of the edges that it has",
                     needs=("item", "value")),
        "fail": _does("a FAIL of the root comes", needs=("item",)),
        "reset_timeout": _does("a RESET_TIMEOUT of the root comes", needs=("item",)),
        "tick": _does("a period of the message timeout passes"),
        "tells_ack": _does("the acker answers ack for the root, to the spout task that is the "
                           "process, directly after what caused it", needs=("item",)),
        "tells_fail": _does("the same with fail", needs=("item",)),
        "tells_reset": _does("the acker passes a RESET_TIMEOUT on", needs=("item",)),
        "size": _does("the acker has entries of value roots", needs=("value",)),
    },
    settings={"buckets": "ticks that an entry lives"},
    required=("buckets",),
    rules=_RULES,
    judge=AckerJudge,
    whole=_whole,
    by_item=lambda terms: not terms.tolerance,
    no_asks="the suite sends trees that it makes itself, and a log has only the xor of their edges",
    has_wide_values=True,
)
