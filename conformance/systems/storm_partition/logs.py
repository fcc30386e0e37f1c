"""A replayable source in a log: what its manager emits, and which positions it commits.

The machine has a window of offsets, which moves with the commit: what is below the commit, and not
under way, it never looks at again. One offset below stays, for what is emitted or committed below
the window. Messages beyond it are appended to the machine when the window reaches them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from ....spec.storm.spouts import observed_partition as chapter
from ....spec.storm.spouts.observed_partition import ObservedPartition
from ....spec.storm.spouts.partition_places import WINDOW
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.notes import Notes
from ...logs.places import PLACES_MAX, Room
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from ...suites.says import ANY
from .suite import PartitionConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(PartitionConversation.says)
_RULES: Final[tuple[Rule, ...]] = (
    chapter.COMMIT_SAFE, chapter.COMMIT_GOES_ON, chapter.COMMIT_STAYS, chapter.NOT_SKIPPED,
    chapter.NOT_REPEATED, chapter.NOT_BELOW, chapter.RETRIES_BOUNDED, chapter.REPLAYED_FIRST,
    chapter.GONE_BLOCKS_NOTHING, chapter.MAXIMUM_KEPT, chapter.NOT_INVENTED, chapter.RETRIES_WAIT)
_WITH_REST: Final = (chapter.NEW_EMITTED, chapter.REPLAYED)

_APPENDED: Final = _SAYS.answer("append", True)
_STRAY: Final = _SAYS.beyond("next", ANY)
_OF_OFFSET: Final = {
    "emits": _SAYS.answer("next", ANY), "splits": _SAYS.answer("split", ANY),
    "ack": _SAYS.answer("ack", True), "fail": _SAYS.answer("fail", True)}
_OF_POSITION: Final = {"commit": _SAYS.answer("commit", ANY), "close": _SAYS.answer("close", ANY)}
_PLAIN: Final = {"nothing": _SAYS.answer("next", None), "restart": _SAYS.answer("restart", True),
                 "reassign": _SAYS.answer("reassign", True)}
_GONE: Final = {"truncate": _SAYS.answer("truncate", True),
                "compact": _SAYS.answer("compact", True)}
_WAITS: Final = _SAYS.answer("wait", True)

_ALWAYS: Final = 1 << 40
_WINDOW: Final = 16


class PartitionJudge(StepJudge):
    """Judges one partition; see ``StepJudge``. The offset ``_base`` is the first of the window."""

    machine = ObservedPartition
    reuse = WINDOW
    rules = ids_of((*_RULES, *_WITH_REST))
    own = ("_base", "_end", "_truncated", "_compacted", "_spent")

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self._first = self._base = self._end = terms.settings.get("first", 0)
        self._truncated = self._first - 1
        self._compacted: set[int] = set()       # beyond the window
        self._room = Room(self.live, self.reuse)
        self._spent: set[int] = set()           # let go of, and not to be emitted before a start

    def constants(self) -> Mapping[str, int]:
        get = self.terms.settings.get
        return {"L": _WINDOW, "F": get("fetch", 1), "M": get("outstanding", 0),
                "retries": get("retries", _ALWAYS), "first": get("delay", 0),
                "longest": get("longest", 0)}

    def restore(self, saved: Any) -> None:
        super().restore(saved)
        self.now.L = len(self.now.tries)    # windows may have different widths

    def sees(self, event: Event) -> None:
        do, value = event.operation, event.value or 0
        if not self.terms.from_start:
            self.unsure("the lists of the manager when the log began are not known", event)
        elif do == "append":
            self._end += value
            self._reaches(event)
        elif do in _OF_OFFSET:
            self._of_offset(event, _OF_OFFSET[do], value)
        elif do in _OF_POSITION:
            if self._has_room(event, value):
                self.step(event, _OF_POSITION[do], position=max(0, value - self._base))
        elif do in _GONE:
            self._goes(event, value)
        elif do == "wait":
            self.step(event, _WAITS, milliseconds=value)
        elif do != "nothing" or self._has_next(event):
            self.step(event, _PLAIN[do])
        if do in ("restart", "close"):
            self._spent.clear()

    def _of_offset(self, event: Event, action: str, offset: int) -> None:
        if event.operation in ("emits", "splits") and not self._first <= offset < self._end:
            self.notes.times[chapter.NOT_INVENTED.id] += 1
            self.step(event, _STRAY)
        elif self._has_room(event, offset):
            if offset in self._spent:   # whatever its place, it has no retry left
                self.now.tries[0] = self.now.retries + 1
            self.step(event, action, offset=max(0, offset - self._base))

    def _goes(self, event: Event, offset: int) -> None:
        """Messages leave the log; of those beyond the window it is noted for later."""
        if offset >= self._end:
            self.is_foreign(f"the message at {offset} leaves the log, and was never in it", event)
            return
        inside = self._base + self.now.end
        if event.operation == "truncate":
            self._truncated = max(self._truncated, offset)
            offset = min(offset, inside - 1)
        elif offset >= inside:
            if self.now.dropped or self._truncated >= inside:
                self._compacted.add(offset)
                return
            # Once anything is gone the machine blames other rules, so the first has a place.
            if not self._has_room(event, offset):
                return
        self.step(event, _GONE[event.operation], offset=max(0, offset - self._base))

    def _has_next(self, event: Event) -> bool:
        """Make the window reach the next message that may be emitted; false where it cannot."""
        at = max(self._base + self.now.top, self._truncated + 1)
        while at in self._compacted or at - self._base in self.now.dropped:
            at += 1
        return at >= self._end or self._has_room(event, at)

    def _has_room(self, event: Event, offset: int) -> bool:
        """Make the window reach an offset; false where it cannot."""
        if offset - self._base + 1 >= self.now.L:
            self._slide()
            while offset - self._base + 1 >= self.now.L and self.now.L < PLACES_MAX:
                self._room.grows(2 * self.now.L)
            if offset - self._base + 1 >= self.now.L:
                self.unsure(f"more than {PLACES_MAX:,} offsets lie between the commit, or what is "
                            f"under way, and {offset}", event)
                return False
        return self._reaches(event)

    def _slide(self) -> None:
        """Let go of what is below the commit and everything under way, but one offset."""
        now = self.now
        by = min(now.committed, now.top, *now.under_way, *now.failed) - 1
        if by <= 0:
            return
        self._spent.update(self._base + at for at in range(by + 1) if now.tries[at] > now.retries)
        self._base += by
        self._room.drops(range(by))

    def _reaches(self, event: Event) -> bool:
        """Append to the machine what is in the log and in the window."""
        more = min(self._end - self._base, self.now.L - 1) - self.now.end
        if more <= 0:
            return True
        before = self._base + self.now.end
        if not self.step(event, _APPENDED, count=more):
            return False
        last = min(self._truncated, before + more - 1)
        if last >= before and not self.step(event, _GONE["truncate"], offset=last - self._base):
            return False
        for offset in range(before, before + more):
            if offset in self._compacted:
                self._compacted.discard(offset)
                self.step(event, _GONE["compact"], offset=offset - self._base)
        return True


_does: Final = partial(Call, by_end=True)
_VALUE: Final = ("value",)

LOGS: Final = Logs(
    machines=(ObservedPartition,),
    operations={
        "append": _does("value messages enter the log", needs=_VALUE),
        "emits": _does("the message at the offset value is emitted", needs=_VALUE),
        "splits": _does("the same, as two tuples that share its id", needs=_VALUE),
        "nothing": _does("the manager has looked at the log, and has nothing to emit"),
        "ack": _does("the message at the offset value, or one of its tuples, was processed",
                     needs=_VALUE),
        "fail": _does("the message at the offset value failed, or timed out", needs=_VALUE),
        "commit": _does("the position value is committed", needs=_VALUE),
        "close": _does("an orderly restart, which commits the position value", needs=_VALUE),
        "restart": _does("a crash, and a start from the commit"),
        "reassign": _does("the leader of the partition changes"),
        "truncate": _does("retention removes all up to the offset value", needs=_VALUE),
        "compact": _does("compaction removes the message at the offset value", needs=_VALUE),
        "wait": _does("value milliseconds pass for the manager", needs=_VALUE),
    },
    settings={"first": "the first offset", "fetch": "messages of one fetch; 1 if it is not said",
              "outstanding": "messages that may be under way; 0: any number",
              "retries": "how often a message is emitted again; any number if it is not said",
              "delay": "milliseconds before the first retry", "longest": "before any retry"},
    rules=_RULES,
    with_rest={rule.id: "nothing" for rule in _WITH_REST},
    judge=PartitionJudge,
    capacity="fetch",
    asks={("append", "ok"): Asks(("append",), value="count"),
          **dict.fromkeys([("emits", "ok"), ("nothing", "ok")], Asks(("next",))),
          ("splits", "ok"): Asks(("split",)),
          **{(do, "ok"): Asks((do,), value="offset")
             for do in ("ack", "fail", "truncate", "compact")},
          **{(do, "ok"): Asks((do,)) for do in ("commit", "close", "restart", "reassign")},
          ("wait", "ok"): Asks(("wait",), value="milliseconds")},
)
