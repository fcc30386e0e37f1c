"""An acker in a log: the messages that reach it, each followed by what it answers.

The log is in the order of the acker's own thread, so the next event shows whether a message was
answered. The machine knows the edges one by one, and a log has the xor of some: what counts is
whether a root's value is zero, so the value is one edge, which is in it or not. A root has a place
as long as it has an entry; that it was answered, or has expired, is remembered beyond that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final

from ....spec.storm.acking import observed_acker as chapter
from ....spec.storm.acking.observed_acker import ObservedAcker, Told
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Call, Logs, Terms
from ...logs.memory import Ended
from ...logs.notes import Notes
from ...logs.steps import PLACES_MAX, Places, StepJudge, ids_of
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
    rules = ids_of(_RULES)

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self._places = Places(0, self.now.R, self._grow)
        self._values: dict[Hashable, int] = {}
        self._tasks: dict[Hashable, str] = {}       # the spout task that INIT named
        self._told, self._expired = Ended(terms.remember), Ended(terms.remember)
        self._message: Event | None = None      # the last one; its answer may follow
        self._ticks = 0
        self._older: set[Hashable] = set()      # than a log that begins in the middle, perhaps

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

    def end(self) -> None:
        if self.terms.drained:
            self.settles()

    def continues(self, entries: Sequence[tuple[Hashable, Mapping[str, Any], int, str | None]],
                  was_told: Callable[[str, Hashable], bool],
                  has_expired: Callable[[str, Hashable], bool]) -> None:
        """Be where an acker is: it has ``entries``, each with its root, the slots of a machine with
        that root alone, the value and the spout task; of other roots something is known elsewhere.
        """
        self._told.elsewhere, self._expired.elsewhere = was_told, has_expired
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
        if self.step(event, _MESSAGES[do], **args) and not self.now.left[root]:
            self._leave(item)

    def _root(self, item: Hashable) -> int | None:
        """The place of a root; what is remembered of it is put there."""
        is_new = item not in self._places.of
        at = self._places.take(item)
        if at is not None and is_new:
            for ended, those in ((self._told, self.now.told), (self._expired, self.now.expired)):
                if ended.has(self.key, item):
                    those.add(at)
        return at

    def _leave(self, *items: Hashable) -> None:
        """Roots have no entry any more."""
        for item in items:
            at = self._places.of[item]
            for ended, those in ((self._told, self.now.told), (self._expired, self.now.expired)):
                if at in those:
                    ended.add(self.key, item)
                    those.discard(at)
            self._places.leave(item)
            self._values.pop(item, None)
            self._tasks.pop(item, None)

    def _grow(self, size: int) -> None:
        more = size - self.now.R
        for values, blank in ((self.now.left, 0), (self.now.known, False),
                              (self.now.failed, False)):
            values.extend([blank] * more)
        self.now.R = size


_AT_ONCE: Final = ("end", "point")


def _whole(terms: Terms, notes: Notes, names: Any, common: Any) -> Any:
    from .whole import WholeAckers

    if terms.tolerance:
        return None     # clocks that may differ make all keys unknown
    return WholeAckers(terms, notes, names, messages=_MESSAGES, answers=_ANSWERS,
                       with_edges=_WITH_EDGES,
                       make=lambda key, noted: AckerJudge(key, terms, noted, common))


LOGS: Final = Logs(
    machines=(ObservedAcker,),
    operations={
        "init": Call("INIT of the root, the item, comes; value: the xor of its edges; process: the "
                     "spout task that it names",
                     _AT_ONCE, ("item", "value")),
        "ack": Call("an ACK of the root comes; value: the xor of the edges that it has",
                    _AT_ONCE, ("item", "value")),
        "fail": Call("a FAIL of the root comes", _AT_ONCE, ("item",)),
        "reset_timeout": Call("a RESET_TIMEOUT of the root comes", _AT_ONCE, ("item",)),
        "tick": Call("a period of the message timeout passes", _AT_ONCE),
        "tells_ack": Call("the acker answers ack for the root, to the spout task that is the "
                          "process, directly after what caused it",
                          _AT_ONCE, ("item",)),
        "tells_fail": Call("the same with fail", _AT_ONCE, ("item",)),
        "tells_reset": Call("the acker passes a RESET_TIMEOUT on", _AT_ONCE, ("item",)),
        "size": Call("the acker has entries of value roots", _AT_ONCE, ("value",)),
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
