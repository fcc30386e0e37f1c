"""A gate in a log: which calls pass, and which are notified that it is broken.

Calls overlap, and that is what they are for. Where opening, shutting and breaking take time in the
log, the gate counts as open, and as broken, from the first instant at which it may have been, and
as shut from the last: nothing that passes then is accused. That a call does not pass shows only
where all is idle, which a log of calls does not say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....spec.queues.locks import gate as chapter
from ....spec.notation.rules import Rule
from ....spec.queues.locks.gate import Gate
from ....spec.queues.locks.gate_places import CALLS
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.notes import Notes
from ...logs.places import Room
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from .suite import GateConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(GateConversation.says)
_RULES: Final[tuple[Rule, ...]] = (chapter.SHUT_HOLDS, chapter.WHOLE)
_COMES: Final = _SAYS.request("wait")
_EARLY: Final = {"open": _SAYS.request("open"), "break": _SAYS.request("break")}
_SHUTS: Final = _SAYS.request("shut")
_STOPS: Final = _SAYS.request("interrupt")
_CANCELLED: Final = _SAYS.answer("wait", "cancelled")
_ENDS: Final = {"ok": _SAYS.answer("wait", "passes"), "empty": _SAYS.answer("wait", "told")}


class GateJudge(StepJudge):
    """Judges one gate; see ``StepJudge``."""

    machine = Gate
    reuse = CALLS
    rules = ids_of(_RULES)
    may_overlap = True

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self._calls: dict[int, int] = {}
        self._room = Room(self.live, self.reuse)
        if not terms.from_start:    # it may have been open, and it may have been broken
            for does in _EARLY:
                self.step(Event(key, "", does, "point"), _EARLY[does])
            notes.not_shown[chapter.WHOLE.id] = "the gate may have been broken before the log began"

    def constants(self) -> Mapping[str, int]:
        return {"K": 8}

    def begins(self, event: Event) -> None:
        if event.operation in _EARLY:
            self.step(event, _EARLY[event.operation])
        elif event.operation == "wait":
            if self.now.came == self.now.K:
                self._make_room()
            self._calls[event.call] = self.now.came
            self.step(event, _COMES)

    def _make_room(self) -> None:
        """Calls that have ended leave their numbers; the others get the first ones."""
        waiting = self.now.waiting
        names = {number: at for at, number in enumerate(sorted(waiting))}
        self._room.drops([number for number in range(self.now.came) if number not in waiting])
        self._calls = {call: names[at] for call, at in self._calls.items()}
        if 2 * self.now.came > self._room.size:
            self._room.grows(2 * self._room.size)

    def sees(self, event: Event) -> None:
        do, is_point = event.operation, event.phase == "point"
        if do == "shut":
            self.step(event, _SHUTS)
        elif is_point:
            self.begins(event)
        if do == "wait" and event.call in self._calls:
            self._ends(event, self._calls.pop(event.call))
        elif do == "wait" and self.terms.from_start:
            self.is_foreign("a wait ends that has not begun", event)

    def _ends(self, event: Event, call: int) -> None:
        if event.result in _ENDS:
            self.step(event, _ENDS[event.result], call=call)
        elif self.step(event, _STOPS, call=call):
            self.step(event, _CANCELLED, call=call)


LOGS: Final = Logs(
    machines=(Gate,),
    operations={
        "wait": Call("a call waits at the gate, and passes at its end; \"empty\": it is notified "
                     "that the gate is broken; \"failed\": it was cancelled"),
        "open": Call("the gate is opened"),
        "shut": Call("the gate is shut"),
        "break": Call("the gate breaks"),
    },
    settings={},
    rules=_RULES,
    judge=GateJudge,
    asks={**{("wait", result): Asks(("wait",)) for result in ("ok", "empty", "unknown")},
          **{(do, "ok"): Asks((do,)) for do in ("open", "shut", "break")}},
)
