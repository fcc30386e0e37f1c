"""A counted link in a log, as the network between its ends counts what it carries.

The network may lose, double and reorder messages. Elements are numbered in the order in which A is
offered them, from 0 or from the setting ``first``; acknowledgements and limits count from it, too.
Progress needs the events that an end has no more to send for the time
being.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from ....spec.flow import observed_counted as chapter
from ....spec.flow.observed_counted import ObservedCountedLink
from ....spec.flow.observed_link import ANNOUNCES, PROCESSED_IN_ORDER, SENDS
from ....spec.notation.rules import Rule
from ...logs.events import Event
from ...logs.kinds import Asks, Call, Logs
from ...logs.steps import StepJudge, ids_of
from ...suites.meanings import Meanings
from ...suites.says import ANY, END
from .suite import CountedConversation

__all__ = ["LOGS"]

_SAYS: Final = Meanings(CountedConversation.says)
_RULES: Final[tuple[Rule, ...]] = (
    PROCESSED_IN_ORDER, chapter.WITHIN_LIMIT, chapter.LETS_GO, chapter.NUMBERED,
    chapter.TRUE_ACK, chapter.LIMIT_FITS)
_WITH_REST: Final = {SENDS: "rest_a", chapter.REPEATS: "rest_a",
                     chapter.ANSWERS: "rest_b", ANNOUNCES: "rest_b",
                     chapter.REPEATS_LIMIT: "rest_b"}
_MOST: Final = 1 << 40

_PLAIN: Final = {
    "timer_a": _SAYS.request("sender_timer"), "timer_b": _SAYS.request("receiver_timer"),
    "rest_a": _SAYS.answer("offer", END), "rest_b": _SAYS.answer("data", END),
    "nothing": _SAYS.answer("process", None, of="element")}
_NUMBERED: Final = {
    "offer": _SAYS.request("offer"), "permit": _SAYS.request("permit"),
    "ack": _SAYS.request("ack"), "data": _SAYS.request("data"),
    "acks": _SAYS.answer("data", "ack"), "limits": _SAYS.answer("data", "limit")}
_FROM_FIRST: Final = frozenset({"permit", "ack", "data", "acks", "limits", "sends", "processes"})
_SENDS: Final = _SAYS.answer("offer", ANY)
_AGAIN: Final = _SAYS.meant("offer", ANY, "again")
_ANOTHER: Final = _SAYS.otherwise("offer", ANY)
_PROCESSES: Final = (_SAYS.answer("process", ANY, of="element"),
                     _SAYS.otherwise("process", ANY, of="element"))


class CountedJudge(StepJudge):
    """Judges one link; see ``StepJudge``."""

    machine = ObservedCountedLink
    rules = ids_of((*_RULES, *_WITH_REST))
    own = ()

    def constants(self) -> Mapping[str, int]:
        settings = self.terms.settings
        return {"C": settings["slots"], "b": settings.get("batch", 1), "K": _MOST}

    def sees(self, event: Event) -> None:
        do, number, now = event.operation, event.value or 0, self.now
        if do in _FROM_FIRST:
            number -= self.terms.settings.get("first", 0)
        if not self.terms.from_start:
            self.unsure("what was sent before the log began is not known", event)
        elif do == "data" and number < 0:
            self.is_foreign(f"{event.value} is below the number of the first element", event)
        elif do in _PLAIN:
            self.step(event, _PLAIN[do])
        elif do == "sends":
            self.notes.times[chapter.NUMBERED.id] += 1
            if 0 <= number < now.sent:
                self.step(event, _AGAIN, id=number)
            else:
                self.step(event, _SENDS if number == now.sent < now.offered else _ANOTHER)
        elif do == "processes":
            self.step(event, _PROCESSES[number != now.freed])
        else:
            action = _NUMBERED[do]
            name, _ = ObservedCountedLink.actions_declared[action].over[0]
            if do in ("permit", "limits"):      # on the wire it is a whole limit
                number -= now.C
            # What acknowledges nothing, or grants nothing, is an old message, and does no harm.
            self.step(event, action, **{name: max(0, number)})


_does: Final = partial(Call, by_end=True)
_VALUE: Final = ("value",)

LOGS: Final = Logs(
    machines=(ObservedCountedLink,),
    operations={
        "offer": _does("A's application has value elements more", needs=_VALUE),
        "permit": _does("the limit value reaches A", needs=_VALUE, receives=True),
        "ack": _does("the acknowledgement of value elements reaches A", needs=_VALUE,
                    receives=True),
        "sends": _does("A sends the element with the number value", needs=_VALUE, sends=True),
        "timer_a": _does("A's timer runs out"),
        "rest_a": _does("A sends no more for the time being"),
        "data": _does("the element with the number value reaches B", needs=_VALUE,
                     receives=True),
        "timer_b": _does("B's timer runs out"),
        "processes": _does("B processes the element with the number value", needs=_VALUE),
        "nothing": _does("B has nothing to process"),
        "acks": _does("B acknowledges value elements", needs=_VALUE, sends=True),
        "limits": _does("B sends the limit value", needs=_VALUE, sends=True),
        "rest_b": _does("B sends no more for the time being"),
    },
    settings={"slots": "slots of B, and the first limit", "batch": "freed slots that are announced "
              "together; 1 if it is not said",
              "first": "the number of the first element; 0 if it is not said"},
    required=("slots",),
    rules=_RULES,
    with_rest={rule.id: event for rule, event in _WITH_REST.items()},
    judge=CountedJudge,
    capacity="slots",
    asks={("offer", "ok"): Asks(("offer",), many="elements"),
          ("permit", "ok"): Asks(("permit",), value="limit"),
          ("ack", "ok"): Asks(("ack",), value="number"),
          ("data", "ok"): Asks(("data",), value="element"),
          ("timer_a", "ok"): Asks(("sender_timer",)), ("timer_b", "ok"): Asks(("receiver_timer",)),
          **dict.fromkeys([("processes", "ok"), ("nothing", "ok")], Asks(("process",))),
          **dict.fromkeys([(does, "ok") for does in (
              "sends", "acks", "limits", "rest_a", "rest_b")])},
)
