"""A timer in a log: tasks are added and cancelled, and some run.

The clock of a log is not the timer's own, and real timers are late. So the driver counts as late:
a task may run at its deadline or after, and only what runs too early, twice, or after its cancel is
judged. Where there are ticks it may be early by one, for a log does not show where they begin. A
call of add that has a begin counts from there. Tasks that ran or were cancelled leave their places;
two places stand for them, as long as they are remembered.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

from ....spec.kafka import observed_timer as chapter
from ....spec.kafka.observed_timer import Law, ObservedTimer
from ....spec.kafka.timer import Phase
from ....spec.kafka.timer_places import TASKS
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Call, Logs, Terms
from ...logs.memory import FORGOTTEN, Elsewhere, Ended
from ...logs.notes import Notes
from ...logs.places import PLACES_MAX, Places, Room
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from ...suites.says import ANY
from .suite import TimerConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(TimerConversation.says)
_RULES: Final[tuple[Rule, ...]] = (
    chapter.ONCE, chapter.NOT_CANCELLED, chapter.TICK_NOT_EARLY, chapter.NOT_EARLY)

_ADD: Final = _SAYS.request("add")
_CANCEL: Final = _SAYS.request("cancel")
_DRIVE: Final = _SAYS.request("drive")
_RAN: Final = _SAYS.meant("add", ANY, "ours")
_STRAY: Final = _SAYS.otherwise("add", ANY)

_MOST: Final = 1 << 61
_OVER: Final = {Phase.RAN: 0, Phase.CANCELLED: 1}


class TimerJudge(StepJudge):
    """Judges one timer; see ``StepJudge``."""

    machine = ObservedTimer
    reuse = TASKS
    rules = ids_of(_RULES)
    may_overlap = True

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self._places = Places(len(_OVER), Room(self.live, self.reuse))
        self._ended = {phase: Ended(terms.remember) for phase in _OVER}
        self.law = Law.TICK if terms.settings.get("tick_ns", 0) else Law.DEADLINE
        for phase, at in _OVER.items():
            self.now.phase[at] = phase

    def constants(self) -> Mapping[str, int]:
        # Wheels are not seen in a log: their numbers are of no account.
        return {"u": 1, "n": 2, "K": 8, "D": 3, "H": _MOST, "T": _MOST, "M": 1, "S": 0}

    def continues(self, tasks: Sequence[tuple[Hashable, int, int, int]],
                  was: Mapping[Phase, Elsewhere], **variables: int) -> None:
        """Be where a timer is: these tasks are pending, each with its ``due``, ``brief`` and
        ``turn``; of others it ``was`` known elsewhere how they ended."""
        for phase, known in was.items():
            self._ended[phase].continues(known)
        now = self.now
        for item, due, brief, turn in tasks:
            at = self._places.take(item)
            if at is None:
                self.unsure(f"more than {PLACES_MAX:,} tasks are pending", None)
                return
            now.phase[at], now.due[at] = Phase.PENDING, due
            now.brief[at], now.turn[at] = brief, turn
        for name, value in variables.items():
            setattr(now, name, value)

    def begins(self, event: Event) -> None:
        self._sees(event)

    def sees(self, event: Event) -> None:
        if event.operation != "adds" or event.call < 0 and (
                event.phase == "point" or self.terms.from_start):
            self._sees(event)   # a call that began before the log has added at a time unknown

    def _sees(self, event: Event) -> None:
        time = event.time
        if time is None:
            self.is_foreign(f"a {event.operation} has no time", event)
            return
        # The clock of the machine does not go back, and that of a log may.
        if not self.step(event, _DRIVE, until=max(time, self.now.now)):
            return
        if event.operation == "adds":
            self._adds(event, time)
        elif event.operation == "runs":
            self._runs(event)
        elif event.result == "ok" and event.item in self._places.of:
            self.step(event, _CANCEL, task=self._places.of[event.item])
            self._leave(event.item, Phase.CANCELLED)

    def _adds(self, event: Event, time: int) -> None:
        at = self._places.take(event.item)
        if at is None:
            self.unsure(f"more than {PLACES_MAX:,} tasks are pending", event)
            return
        settings = self.terms.settings
        early = max(0, settings.get("tick_ns", 0) - 1)
        # What was added before the clock of the machine is due by so much earlier.
        early += self.now.now - time
        delay = max(0, (event.value or 0) * settings.get("unit_ns", 1_000_000) - early)
        self.step(event, _ADD, task=at, delay=delay, law=self.law)

    def _runs(self, event: Event) -> None:
        item, at = event.item, self._places.of.get(event.item)
        if at is None:
            at = next((_OVER[phase] for phase, ended in self._ended.items()
                       if ended.has(self.key, item)), None)
        if at is None and not self.terms.from_start:
            return
        if at is None and any(ended.has_forgotten for ended in self._ended.values()):
            self.unsure(f"{item!r} runs, which was never added, or ran or was cancelled "
                        f"{FORGOTTEN}", event)
        elif at is None:
            self.step(event, _STRAY)
        elif self.step(event, _RAN, task=at, at=self.now.now, law=self.law):
            self._leave(item, Phase.RAN)

    def _leave(self, item: Hashable, phase: Phase) -> None:
        self._places.leave(item)
        self._ended[phase].add(self.key, item)


def _whole(terms: Terms, notes: Notes, names: Any, common: Any) -> Any:
    from .whole import WholeTimers

    if terms.tolerance:
        return None     # clocks that may differ make all keys unknown
    judge = TimerJudge("", terms, Notes(), common)
    return WholeTimers(
        terms, notes, names, constants=dict(judge.constants()), law=int(judge.law),
        actions=(_DRIVE, _ADD, _CANCEL, _RAN),
        make=lambda key, noted: TimerJudge(key, terms, noted, common))


LOGS: Final = Logs(
    machines=(ObservedTimer,),
    operations={
        "adds": Call("a task, the item, is to run after value; it needs a time",
                     needs=("item", "value", "time")),
        "cancels": Call("a task is cancelled, and has not run by then; \"failed\", \"empty\": it "
                        "is too late", ("end", "point"), ("item", "time")),
        "runs": Call("a task begins to run", ("end", "point"), ("item", "time")),
    },
    settings={"tick_ns": "nanoseconds of the timer's tick, if it has one, by which it may be early",
              "unit_ns": "nanoseconds of the unit of a delay; 1,000,000 if it is not said"},
    rules=_RULES,
    judge=TimerJudge,
    whole=_whole,
    no_asks="the suite drives a timer by a clock of its own, and a log has other instants",
)
