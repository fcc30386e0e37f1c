"""A conversation with one side of a stream, or with both sides at once.

A *side* knows its operations, the steps that the events of a reply show, and those that they could
show instead. A publisher and a subscriber have one, a processor has two; their requests and events
go through one conversation, so that each machine sees all of it in one order, and have one table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ....spec.notation.interpreter import Step
from ....spec.notation.machine import Machine
from ...ports.base import ALWAYS, Message
from ...suites.plain import PlainConversation
from ...suites.says import Fields, Says, Table, on, says, table
from ...suites.says import each as listed
from ...suites.suite import Act, Exchange
from ...suites.values import in_words

__all__ = ["Entries", "Side", "StreamConversation", "table_of"]

Entries = Says | tuple[Says, ...]


class Side(Protocol):
    """One side of what is under test."""

    words: ClassVar[Mapping[str, str]]
    """The words for each operation; a format of the request's fields."""
    flags: ClassVar[Mapping[str, tuple[str, str]]]
    """For each operation that provokes an exception: the steps without one, and with one."""
    shows: ClassVar[tuple[Entries, ...]]
    """The entries of the table that its events show, and could show."""

    @property
    def is_held(self) -> bool:
        """True if a signal or call is open that has not been released."""
        ...

    def request_of(self, act: Act) -> Message | None:
        """The request that an act makes now; None if it makes no sense."""
        ...

    def note(self, request: Message) -> list[Step]:
        """Take note of a request, and return its steps."""
        ...

    def knows(self, event: Message) -> bool:
        """True if an event is of this side."""
        ...

    def steps(self, event: Message) -> list[Step]:
        """The steps that an event shows."""
        ...

    def ends(self, request: Message, events: Sequence[Message]) -> list[Step]:
        """Steps that mark the end of a reply without an explicit signal."""
        ...

    def rests(self) -> list[Step]:
        """Steps that show quiescence."""
        ...

    def in_words(self, event: Message) -> str:
        """An event for a reader; empty for one that is obvious."""
        ...

    def overhear(self, request: Message, events: Sequence[Message]) -> None:
        """Take note of requests to any side, and of all events, for the measures."""
        ...

    def measured(self) -> Mapping[str, int]:
        """The largest values of this side's measures so far."""
        ...


class StreamConversation(PlainConversation):
    """One session, in which the harness takes all ``sides``; a subclass has their table."""

    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "on_next": ("element",), "request": ("n",)}

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.sides = self.taken()
        self.caused: Step | None = None

    def taken(self) -> tuple[Side, ...]:
        """The sides that the harness takes."""
        raise NotImplementedError

    def always(self) -> frozenset[str]:
        return ALWAYS

    def side(self, do: str) -> Side:
        """The side that asks for an operation."""
        return next(each for each in self.sides if do in each.words)

    def request_of(self, act: Act) -> Message | None:
        return self.side(act.do).request_of(act)

    def about(self, message: Message) -> Fields:
        return {**message, "element": in_words(message["element"])} if (
            message.get("do") == "on_next") else message

    def say(self, act: Act) -> Exchange:
        """See ``Conversation``: the alternatives are other events, not other requests."""
        exchange = super().say(act)
        measured = {name: most for side in self.sides for name, most in side.measured().items()}
        exchange = exchange._replace(measured=measured)
        if exchange.outcome is None or act.do in self.side(act.do).flags:
            return exchange
        shown = (exchange.outcome, *exchange.events)
        return exchange._replace(
            outcome=self.caused, events=shown[1:] if self.caused else shown, possible=(),
            completions=exchange.possible)


def _read(talk: Any, request: Fields, answer: Any) -> Iterator[Message]:
    """The request itself, the events in their order, and the end of it all: what has returned, and
    which subscribers are quiescent."""
    asked, side = talk.request, talk.side(talk.request["do"])
    steps = side.note(asked)
    talk.caused = steps[0] if steps else None
    if answer is True:
        return
    events = _events(answer)
    for each in talk.sides:
        each.overhear(asked, events)
    for event in events:
        steps += _side_of(talk, event).steps(event)
    steps += side.ends(asked, events)
    if (asked["do"] == "settle" or talk.policy == "inline") and not any(
            each.is_held for each in talk.sides):
        steps += [step for each in talk.sides for step in each.rests()]
    yield from ({"does": name, **dict(about)} for name, about in steps)


def _reported(talk: Any, request: Fields, answer: Any) -> str:
    if answer is True:
        return "so be it"
    said = [_side_of(talk, event).in_words(event) for event in _events(answer)]
    return ", ".join(filter(None, said)) or "nothing"


def _events(answer: Any) -> list[Message]:
    """The events of an answer; a question about references is answered with numbers."""
    return [each if isinstance(each, dict) else {"event": "refers", "subscriber": each}
            for each in answer]


def _side_of(talk: Any, event: Message) -> Side:
    found: Side = next(each for each in talk.sides if each.knows(event))
    return found


def table_of(observer: type[Machine] | tuple[type[Machine], ...], *sides: type[Side]) -> Table:
    """The requests of some sides, each with the events of all of them."""
    shown = listed(*(entry for side in sides for entry in side.shows),
                   reads=_read, reports=_reported)
    return table(observer, *(
        on(do, words, *_of_an_exception(*side.flags[do])) if do in side.flags
        else on(do, words, shown)
        for side in sides for do, words in side.words.items()))


def _of_an_exception(without: str, with_one: str) -> tuple[Says, Says]:
    return says(False, without, "no exception"), says(True, with_one, "an exception")
