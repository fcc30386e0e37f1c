"""A link with credits in a log, as the network between its ends counts what it carries.

Elements are numbered in the order in which A is offered them, from 0 or from the setting ``first``.
Progress needs the events that an end has no more to send for the time being.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from functools import partial
from typing import Any, Final

from ....spec.flow import observed_link as chapter
from ....spec.flow.observed_link import ObservedLink
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.notes import Notes
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from ...suites.says import ANY, END
from .suite import LinkConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(LinkConversation.says)
_RULES: Final[tuple[Rule, ...]] = (
    chapter.IN_BATCHES, chapter.AGAINST_PERMIT, chapter.FOR_FREED, chapter.SENT_IN_ORDER,
    chapter.PROCESSED_IN_ORDER)
_WITH_REST: Final = {chapter.NOT_STUCK: "rest_b", chapter.SENDS: "rest_a",
                     chapter.ANNOUNCES: "rest_b"}
_MOST: Final = 1 << 40

_COUNTED: Final = {"offer": _SAYS.request("offer"), "permit": _SAYS.request("permit"),
                   "grants": _SAYS.answer("data", ANY)}
_DATA: Final = _SAYS.request("data")
_SENDS: Final = (_SAYS.answer("offer", ANY), _SAYS.otherwise("offer", ANY))
_PROCESSES: Final = (_SAYS.answer("process", ANY, of="element"),
                     _SAYS.otherwise("process", ANY, of="element"))
_RESTS: Final = {"rest_a": _SAYS.answer("offer", END), "rest_b": _SAYS.answer("data", END)}


class LinkJudge(StepJudge):
    """Judges one link; see ``StepJudge``."""

    machine = ObservedLink
    rules = ids_of((*_RULES, *_WITH_REST))
    own = ("_offered", "_next")

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        super().__init__(key, terms, notes, common)
        self._offered = 0
        self._next: dict[str, int] = {}

    def constants(self) -> Mapping[str, int]:
        settings = self.terms.settings
        return {"C": settings["slots"], "b": settings.get("batch", 1), "K": _MOST}

    def before(self) -> Iterable[Mapping[str, Any]]:
        # All splits of the slots. A has offers that it has not sent, or has none: that is seen
        # when it sends one, or rests with credits.
        slots = self.now.C
        for P, Q, D, N in product(range(slots + 1), repeat=4):
            if P + Q + D + N <= slots:
                yield {"P": P, "Q": Q, "D": D, "N": N, "F": slots - P - Q - D - N}

    def sees(self, event: Event) -> None:
        do, number = event.operation, event.value or 0
        place = number - self.terms.settings.get("first", 0)
        if do in _COUNTED:
            self._offered += number if do == "offer" else 0
            self.step(event, _COUNTED[do], count=number)
        elif do == "sends":
            own = self._is_next("sends", place) and (
                self.many is not None or self._next["sends"] <= self._offered)
            if self.many is not None:
                self.many.splits(lambda now: [{"offered": max(1, now.offered)}])
            self.notes.times[chapter.SENT_IN_ORDER.id] += 1
            self.step(event, _SENDS[not own])
        elif do == "processes":
            own = self._is_next("processes", place)
            self.notes.times[chapter.PROCESSED_IN_ORDER.id] += 1
            self.step(event, _PROCESSES[not own])
        elif do == "data":
            self.step(event, _DATA)
        else:
            self.step(event, _RESTS[do])

    def _is_next(self, do: str, place: int) -> bool:
        """True of the next element that is sent, or processed. The first of a log that begins in
        the middle is any."""
        expected = self._next.get(do, place if self.many is not None else 0)
        self._next[do] = expected + 1
        return place == expected >= 0


_does: Final = partial(Call, by_end=True)
_VALUE: Final = ("value",)

LOGS: Final = Logs(
    machines=(ObservedLink,),
    operations={
        "offer": _does("A's application has value elements more", needs=_VALUE),
        "permit": _does("value credits reach A", needs=_VALUE, receives=True),
        "data": _does("the oldest element under way reaches B", receives=True),
        "sends": _does("A sends the element with the number value", needs=_VALUE, sends=True),
        "processes": _does("B processes the element with the number value", needs=_VALUE),
        "grants": _does("B sends value credits", needs=_VALUE, sends=True),
        "rest_a": _does("A sends no more for the time being"),
        "rest_b": _does("B sends no more for the time being"),
    },
    settings={"slots": "slots of B", "batch": "freed slots that are announced together; 1 if it is "
                                             "not said",
              "first": "the number of the first element; 0 if it is not said"},
    required=("slots",),
    rules=_RULES,
    with_rest={rule.id: event for rule, event in _WITH_REST.items()},
    judge=LinkJudge,
    capacity="slots",
    asks={("offer", "ok"): Asks(("offer",), many="elements"),
          ("permit", "ok"): Asks(("permit",), value="count"),
          ("data", "ok"): Asks(("data",)), ("processes", "ok"): Asks(("process",)),
          **dict.fromkeys([(does, "ok") for does in ("sends", "grants", "rest_a", "rest_b")])},
)
