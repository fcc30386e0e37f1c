"""Conversations in which a run is planned, and answered with a history.

The first request deploys what runs, the last one lets it run to its end. Each request has the
fields of its act, which are the arguments of its operation. The table ``says`` of a suite has the
words of the requests, and no answers: the alternative to a history is another history, of which
there are too many to list, and a history is judged as a whole (``HistorySuite.judging``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ...spec.notation.errors import InputError, TargetError
from ...spec.notation.labels import counted
from ..ports.base import Argument, Message, Port, Session, check_request, excerpt
from .exchange import Act, Answer
from .plain import PlainConversation, Seen
from .says import Fields

__all__ = ["ENDS", "PlannedConversation"]

ENDS = ("rested", "stalled")
"""The ends of a history: it is quiescent, or never will be."""


class _Event(Protocol):
    """The part of an event that the conversation reads."""

    @property
    def at(self) -> int: ...
    @property
    def what(self) -> str: ...


class PlannedConversation(PlainConversation):
    """One session; a subclass knows the port, and what requests fit what is deployed."""

    port: ClassVar[Port]
    page: ClassVar[str]
    """The page of the port, for what is wrong with a history."""
    last: ClassVar[str]
    """The operation that lets all of it run to its end."""
    most: ClassVar[Mapping[str, int]]
    """The largest numbers that a fixture may ask for; no larger one is ever drawn."""
    names: ClassVar[Mapping[str, Collection[str]]]
    """The names that a field may have."""
    deploys: ClassVar[Mapping[str, Collection[str]]]
    """By field of what was deployed, which is a number of things, those in which other requests
    name some of these: by their numbers from 0, none of them twice."""

    def __init__(self, session: Session, capacity: int, items_max: int) -> None:
        super().__init__(session, self.port.name, {"capacity": capacity})
        self.deployed: Message | None = None
        self._is_over = False
        self._at = 0

    # --- for subclasses ------------------------------------------------------------------

    def fits(self, do: str, fields: Fields, deployed: Message) -> bool:
        """True if a request is about what was deployed, and still there: see ``deploys``."""
        for name, those in self.deploys.items():
            numbers = [number for each in those for number in _numbers(fields.get(each, ""))]
            if len(set(numbers)) < len(numbers) or max(numbers, default=-1) >= deployed[name]:
                return False
        return True

    def events(self, rows: Sequence[str]) -> Sequence[_Event]:
        """The events in the texts of a history."""
        raise NotImplementedError

    def wrong_with(self, event: Any, deployed: Message) -> str:
        """The fault of an event that no right target can report; empty if it has none."""
        return ""

    # --- requests ------------------------------------------------------------------------

    def request_of(self, act: Act) -> Message | None:
        fields = dict(act.about)
        if self._is_over or (act.do == "deploy") == (self.deployed is not None):
            return None
        if self.deployed is not None and not self.fits(act.do, fields, self.deployed):
            return None
        return {"do": act.do, **fields}

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        do = request["do"]
        if do not in self.can:
            raise InputError(f"the target cannot do {excerpt(do)}")
        about = {name: value for name, value in request.items() if name != "do"}
        _check_names(do, about, check_request(self.port, request).arguments)
        for name, most in self.most.items():
            if (about.get(name) or 0) > most:
                raise InputError(f"{name} is {excerpt(about[name])}, which is more than {most}")
        for name, known in self.names.items():
            if name in about and about[name] not in known:
                raise InputError(f"there is no {name} {excerpt(about[name])}")
        act = Act(do, about=tuple(about.items()))
        return act if self.request_of(act) is not None else None

    def asked(self, request: Message) -> str:
        row, fields = self._row(request)
        return row.asked.format_map(fields)

    # --- answers -------------------------------------------------------------------------

    def possible(self, request: Message) -> Iterator[Answer]:
        return iter(())

    def seen(self, request: Message, answer: Any) -> Seen:
        """Remember the request, and check the events; see the module."""
        if request["do"] == "deploy":
            self.deployed = request
        self.note(f"{request['do']}()", request)
        if not isinstance(answer, list):
            return Seen((), "done")
        events = self.events(answer)
        self._is_over = request["do"] == self.last
        self._check(events, answer)
        end = f", and it {events[-1].what}" if self._is_over else ""
        return Seen((), counted(len(events), "event") + end)

    def _check(self, events: Sequence[_Event], rows: Sequence[str]) -> None:
        """Raises ``TargetError`` for a history that no right target can report."""
        fault = ""
        ends = [event.what in ENDS for event in events]
        if ends != [False] * (len(events) - self._is_over) + [True] * self._is_over:
            fault = (f"its one end, {' or '.join(ENDS)}, is not the last event that "
                     f"{self.last!r} is answered with")
        for event, row in zip(events, rows, strict=True):
            if event.at < self._at:
                fault = f"its instants decrease at {excerpt(row)}"
            else:
                self._at = event.at
            if wrong := self.wrong_with(event, self.deployed or {}):
                fault = f"{wrong}: {excerpt(row)}"
        if fault:
            raise TargetError(f"the target reported a history, and {fault}",
                              next_step=f"Fix the history in the adapter; see docs/{self.page}.")


def _numbers(value: object) -> list[int]:
    """The numbers in a field: none, one, or a text of several with commas."""
    return [int(each) for each in str(value).split(",") if each]


def _check_names(do: str, about: Mapping[str, Any], arguments: Sequence[Argument]) -> None:
    """Raises ``InputError`` for fields that the operation lacks, or needs and does not get."""
    names = {argument.name for argument in arguments}
    if not {each.name for each in arguments if each.required} <= about.keys() <= names:
        told = ", ".join(argument.name for argument in arguments)
        raise InputError(f"{do!r} has the fields {told or 'none'}")
