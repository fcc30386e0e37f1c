"""A spout executor in a log: rounds, the acker's answers, and the callbacks that follow them.

The log is in the order of the executor's own thread: a callback stands directly after the answer or
the tick that caused it. A root has a place while it is pending; after that nothing is remembered of
it, in the machine neither.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any, Final

from ....spec.storm.spouts import observed_spout as chapter
from ....spec.storm.spouts.observed_spout import Due, ObservedSpout
from ....spec.storm.spouts.spout_places import ROOTS
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Call, Logs, Terms
from ...logs.notes import Notes
from ...logs.places import PLACES_MAX, Places, Room
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from ...suites.says import ANY, END
from .suite import SpoutConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(SpoutConversation.says)
_RULES: Final[tuple[Rule, ...]] = (
    chapter.MAXIMUM_STOPS, chapter.BELOW_MAXIMUM, chapter.OWN_ID, chapter.ONE_CALL, chapter.CALLED,
    chapter.NOT_EARLY, chapter.NOT_LATE)

_EMITS: Final = _SAYS.meant("round", ANY, "all")
_DRAWS_AGAIN: Final = _SAYS.meant("round", ANY, "nothing", row="again")
_HOLDS: Final = _SAYS.meant("round", ANY, "nothing")
_PARTLY: Final = _SAYS.otherwise("round", ANY)
_ANSWERS: Final = {do: _SAYS.answer(do, "nothing") for do in ("ack", "fail")}
_RESET: Final = _SAYS.answer("reset_timeout", "nothing")
_STRAY: Final = _SAYS.otherwise("tick", ANY)
_TICKS: Final = _SAYS.answer("tick", END)
_TIMES_OUT: Final = _SAYS.meant("tick", ANY, "timed_out")
_CALLS: Final[Mapping[str, Due]] = {"calls_ack": Due.ACK, "calls_fail": Due.FAIL}

_NOT_PENDING: Final = 0
"""The place of every root that is not pending."""


class SpoutJudge(StepJudge):
    """Judges one executor; see ``StepJudge``."""

    machine = ObservedSpout
    reuse = ROOTS
    rules = ids_of(_RULES)
    own = ("_round", "_cause")

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self._room = Room(self.live, self.reuse)
        self._places = Places(_NOT_PENDING + 1, self._room)
        self._may_leave: dict[Hashable, None] = {}      # roots that are over in some state
        self._round: list[Event] = []           # what is emitted in the round that goes on
        self._cause: Event | None = None        # an answer or tick with callbacks that may follow
        self._ticks = 0

    def constants(self) -> Mapping[str, int]:
        settings = self.terms.settings
        return {"M": settings.get("maximum", 0), "N": settings.get("buckets", 2), "R": 8}

    def sees(self, event: Event) -> None:
        do = event.operation
        if not self.terms.from_start and self._ticks < self.now.N + 1:
            self._ticks += do == "tick"     # by then all that was pending has timed out
            if do == "emits":
                self._pending(event)
            elif event.item is not None and do != "reset_timeout":
                self._is_over(event.item)
            return
        if self._round and not (do == "emits" and event.value is not None
                                and event.value == self._round[-1].value):
            self._ends_round()
        if self._cause is not None and do not in _CALLS:
            self._settle()
        if self.is_over:
            return
        if do == "emits":
            self._round.append(event)
        elif do in _CALLS:
            self._calls(event)
        elif do in _ANSWERS or do == "tick":
            self._cause = event
        elif do == "reset_timeout":
            self.step(event, _RESET, root=self._at(event.item))
        elif do == "partly":
            self.step(event, _PARTLY)
        elif event.item is not None:
            self.step(event, _DRAWS_AGAIN, root=self._at(event.item))
        else:
            self.step(event, _HOLDS)

    def at_end(self) -> None:
        if not self.terms.drained:
            return
        if self._round:
            self._ends_round()
        if self._cause is not None and not self.is_over:
            self._settle()

    def _at(self, item: Hashable) -> int:
        return self._places.of.get(item, _NOT_PENDING)

    def _pending(self, event: Event) -> None:
        """A root of a time from which the log does not have all: it is noted, and not judged."""
        at = self._places.take(event.item)
        if at is not None:
            self.now.left[at] = self.now.N

    def _is_over(self, item: Hashable) -> None:
        at = self._places.of.get(item)
        if at is not None:
            self.now.left[at] = 0
            self._places.leave(item)

    def _ends_round(self) -> None:
        events, self._round = self._round, []
        event = events[-1]
        if len(events) > 2:
            self.unsure(f"a round emits {len(events)} roots, and the machine knows rounds of one "
                        "and of two", event)
            return
        at = [self._places.take(each.item) for each in events]
        if None in at:
            self.unsure(f"more than {PLACES_MAX:,} roots are pending", event)
            return
        self.step(event, _EMITS, first=at[0] or 0, second=at[-1] or 0)

    def _calls(self, event: Event) -> None:
        cause, due = self._cause, _CALLS[event.operation]
        if cause is None:
            self.step(event, _STRAY)
        elif cause.operation == "tick" and due == Due.FAIL:
            if self.step(event, _TIMES_OUT, root=self._at(event.item)):
                self._leave(event.item)
        elif cause.operation == "tick" or cause.item != event.item:
            self.step(event, _STRAY)
        else:
            self._cause = None
            self._answered(cause, event, due)

    def _answered(self, cause: Event, event: Event, due: Due) -> None:
        if self.step(event, _ANSWERS[cause.operation], root=self._at(cause.item),
                     calls=due) and cause.item in self._places.of:
            self._leave(cause.item)

    def _leave(self, item: Hashable) -> None:
        """A root is over; it leaves its place if it is that in every state."""
        if self.in_orders:
            self._may_leave[item] = None
        else:
            self._places.leave(item)

    def settles_down(self) -> None:
        left, of = self.now.left, self._places.of
        for item in [each for each in self._may_leave if each in of and not left[of[each]]]:
            self._places.leave(item)
        self._may_leave = {}

    def restore(self, saved: Any) -> None:
        super().restore(saved)
        self._room.grows(self.now.R)    # there may have been fewer places

    def _settle(self) -> None:
        """After the last answer or tick, no other callback came."""
        cause, self._cause = self._cause, None
        assert cause is not None
        if cause.operation == "tick":
            self.step(cause, _TICKS)
        else:
            self._answered(cause, cause, Due.NOTHING)


_does: Final = partial(Call, by_end=True)

LOGS: Final = Logs(
    machines=(ObservedSpout,),
    operations={
        "emits": _does("a root, the item, is emitted; those of one round have the same value",
                       needs=("item",)),
        "holds": _does("a round emits nothing, although it has something; item: its id was "
                       "pending"),
        "partly": _does("a round emits only a part of what it has"),
        "ack": _does("the acker answers ack for a root", needs=("item",)),
        "fail": _does("the acker answers fail for a root", needs=("item",)),
        "reset_timeout": _does("the acker passes on a RESET_TIMEOUT of a root", needs=("item",)),
        "tick": _does("a period of the message timeout passes"),
        "calls_ack": _does("ack() is called for a root, directly after its cause",
                           needs=("item",)),
        "calls_fail": _does("fail() is called for a root, directly after its cause",
                            needs=("item",)),
    },
    settings={"maximum": "roots that may be pending; 0: any number",
              "buckets": "ticks until a root times out, of which there are 2 if it is not said"},
    rules=_RULES,
    judge=SpoutJudge,
    no_asks="the suite says what a spout emits before each round, and a log only what it emitted",
)
