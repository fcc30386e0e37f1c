"""Conversations about ports with calls that may wait: an answer is a ticket, and an event ends
it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ...spec.notation.errors import InputError
from ...spec.notation.interpreter import Step
from ..ports.base import Message, Session
from .asking import refused
from .besides import Given, asked
from .exchange import Act, Answer, Exchange
from .plain import PlainConversation
from .says import WAITS, Fields, On, Seen

__all__ = ["WAITERS_MAX", "TicketConversation", "Wait"]

WAITERS_MAX: Final = 3
"""Limit of the calls of a kind that wait at the same time: more find no more, and cost states."""

_VOUCHES: Final = "settle"
"""The operation that says by its answer that all has run that can run, and that all is reported."""


@dataclass(eq=False)
class Wait:
    """A call that waits, asked for in ``step``: the target's ``ticket``, the ``row`` of its
    operation, and fields of it.

    It is ``over`` when it is known to wait no longer; ``told`` says whether its caller knows how it
    ended: after a late cancel the caller may learn that later, or never. A call that has ``ended``
    was reported by an event, and no cancel of it has been requested since. One that cancels another
    is the cancellation ``of`` that.
    """

    ticket: str | int
    row: On
    about: Fields
    step: int
    of: Wait | None = None
    over: bool = False
    told: bool = False
    ended: bool = False


def _cancelled(talk: TicketConversation, fields: Fields) -> Fields:
    """The fields of the call that a request cancels."""
    call = talk.call_of(fields["ticket_of"])
    return {**call.about, call.row.do: True, "began": call.step + 1,
            "over": ", which has ended" if "late" in fields else ""}


class TicketConversation(PlainConversation):
    """One session. An operation that may wait has in its row the answer WAITS, and ``later`` the
    answers of its event; the field of its own name selects the row of an operation that cancels it.

    What rides on a reply happened after it or shows late; only ``settle`` vouches for all.
    """

    cancels: ClassVar[str] = "cancel"
    lets_run: ClassVar[tuple[str, ...]] = ("settle", "proceed")
    """Operations in which any call that waits may end."""
    knows: ClassVar[tuple[Given, ...]] = (asked("ticket_of", _cancelled),)
    late: ClassVar[bool] = True
    """True if a cancel may come when its call has ended."""
    vouching: ClassVar[bool] = True
    """True if nothing else may be to come after any event; else only at ``settle``."""

    def __init__(
        self, session: Session, port: str, settings: Mapping[str, int],
        constants: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(session, port, settings, constants)
        self._calls: dict[int, Wait] = {}               # by step, also those that are over
        self._tickets: dict[object, Wait] = {}          # by the target's name
        self._said = 0

    def waiting(self, do: str = "") -> list[Wait]:
        """The calls that wait, as far as is known; those of an operation."""
        return [each for each in self._calls.values()
                if not each.over and do in ("", each.row.do)]

    def call_of(self, step: int) -> Wait:
        """The call that was asked for in a step."""
        return self._calls[step]

    # --- for subclasses ------------------------------------------------------------------

    def begun(self, request: Message) -> Fields:
        """The fields of a call that has begun to wait, for the steps and words of its end."""
        return {}

    def beside(self, act: Act, reply: Message) -> tuple[Step, ...]:
        """Steps that show by something else than the answer and the events."""
        return ()

    def request_of(self, act: Act) -> Message | None:
        if act.do == self.cancels:
            those = self._to_cancel()
            if not those:
                return None
            call = those[act.pick % len(those)]
            return {"do": act.do, "ticket_of": call.step} | ({"late": True} if call.ended else {})
        assert self.says is not None, "tickets are followed by a table"
        row = self.says.rows[act.do][0]
        if row.later is not None and WAITERS_MAX <= sum(
                each.row.begins_to_wait == row.begins_to_wait and not each.told
                for each in self._calls.values()):
            return None
        return super().request_of(act)

    # --- the same for all ------------------------------------------------------------------

    def possible(self, request: Message) -> Iterator[Answer]:
        return self._ends() if request["do"] in self.lets_run else super().possible(request)

    def say(self, act: Act) -> Exchange:
        """Make the request of an act; its call may wait, and the events end calls that waited."""
        request = self.made(act)
        self.request = request
        possible = tuple(self.possible(request)) if self.tells else ()
        asked = self.asked(request)
        number, self._said = self._said, self._said + 1
        reply = self._session.request(self._on_the_wire(request))
        if error := refused(request, reply, asked):
            return error
        steps, words = self.seen(request, WAITS if "waiting" in reply else reply["ok"])
        self._follow(request, reply, number)
        shown = steps[1:] + self.beside(act, reply)
        completions: tuple[Answer, ...] = ()
        if reply["events"]:
            completions = tuple(self._ends()) if self.tells else ()
            ends = [self._ended(event) for event in reply["events"]]
            shown += tuple(step for end in ends for step in end.steps)
            words = "; ".join([words, *(end.words for end in ends)])
        return Exchange(request, reply, f"{asked}: {words}", steps[0] if steps else None, shown,
                        request["do"] == _VOUCHES, possible, completions)

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        do = request["do"]
        if do not in self.can:
            raise InputError(f"the target cannot do {do!r}")
        if do != self.cancels:
            act = super().act_for(request)
            if act is None and do not in self.lets_run and self.request_of(Act(do)) is None:
                raise InputError(f"{do!r} would be more than may wait at the same time")
            return act
        if "ticket_of" not in request:
            raise InputError(f"{do!r} lacks \"ticket_of\"")
        wanted = request["ticket_of"], bool(request.get("late"))
        calls = [(each.step, each.ended) for each in self._to_cancel()]
        return Act(do, calls.index(wanted)) if wanted in calls else None

    def _on_the_wire(self, request: Message) -> Message:
        """The request with the target's name of a ticket. A call that it cancels may end anew."""
        if "ticket_of" not in request:
            return dict(request)
        call = self._calls[request["ticket_of"]]
        call.ended = False
        return {"do": request["do"], "ticket": call.ticket}

    def _to_cancel(self) -> list[Wait]:
        """The calls that a cancel may be about: those that wait, and the last that has ended; or
        those that were not asked to cancel, where that waits too."""
        own = [each.of for each in self.waiting(self.cancels)]
        calls = [each for each in self.waiting() if each.of is None and each not in own]
        return calls + [each for each in self._calls.values() if each.ended and self.late][-1:]

    def _follow(self, request: Message, reply: Message, number: int) -> None:
        """Note a call that waits now, or waits no longer."""
        cancelled = self._calls.get(request.get("ticket_of", -1))
        if "waiting" in reply:
            row = self._row(request)[0]
            about = cancelled.about if cancelled else self.begun(request)
            call = Wait(reply["waiting"], row, about, number, cancelled)
            self._calls[number] = self._tickets[call.ticket] = call
        elif cancelled is not None:
            cancelled.over, cancelled.told = True, bool(reply["ok"])

    def _ended(self, event: Message) -> Seen:
        """The steps and words of the end of a wait."""
        call = self._tickets[event["done"]]
        call.over = call.told = True
        call.ended = call.of is None
        if call.of is not None:
            # The event of a wait that had completed may have been lost, or be on its way.
            call.of.over, call.of.told = True, bool(event["ok"])
        assert call.row.later is not None, "a session lets no other call wait"
        steps, words = call.row.later.shown(self, call.about, event["ok"])
        return Seen(tuple(steps), words)

    def _ends(self) -> Iterator[Answer]:
        """All that there could be where calls may end: nothing more, and the end of each."""
        assert self.says is not None, "tickets are followed by a table"
        if self.vouching or self.request["do"] == _VOUCHES:
            yield from self.says.rows[_VOUCHES][0].parts[0].could(self, {})
        for call in sorted(self.waiting(), key=lambda each: each.of is not None):
            if call.row.later is not None:
                yield from call.row.later.could(self, call.about)
