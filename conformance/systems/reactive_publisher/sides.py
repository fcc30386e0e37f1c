"""A conversation with one side of a stream, or with both sides at once.

A *side* knows its operations, the steps that the events of a reply show, and the possible
alternatives. A publisher and a subscriber have one, a processor has two; their requests and events
go through one conversation, so that each machine sees all of it in one order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ....spec.notation.interpreter import Step
from ...ports.base import ALWAYS, Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Exchange
from ...suites.values import in_words

__all__ = ["Side", "StreamConversation"]


class Side(Protocol):
    """One side of what is under test."""

    @property
    def words(self) -> Mapping[str, str]:
        """The words for each operation; a format of the request's fields."""
        ...

    @property
    def flags(self) -> Mapping[str, tuple[str, str]]:
        """For each operation that provokes an exception: the steps without one, and with one."""
        ...

    @property
    def is_held(self) -> bool:
        """True if a signal or call is open that has not been released."""
        ...

    def request_of(self, act: Act) -> Message | None:
        """The request that an act makes now; None if it makes no sense."""
        ...

    def possible(self, do: str, request: Message) -> Iterator[Answer]:
        """The possible answers in a reply."""
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
    """One session, in which the harness takes all ``sides``."""

    carries: ClassVar[Mapping[str, tuple[str, ...]]] = {"on_next": ("element",)}

    def __init__(
        self, session: Session, port: str, settings: Mapping[str, int], *sides: Side
    ) -> None:
        super().__init__(session, port, settings)
        self._sides = sides

    def always(self) -> frozenset[str]:
        return ALWAYS

    def request_of(self, act: Act) -> Message | None:
        return self._side(act.do).request_of(act)

    def asked(self, request: Message) -> str:
        shown = {name: in_words(value) if name == "element" else value
                 for name, value in request.items()}
        return self._side(request["do"]).words[request["do"]].format(**shown)

    def possible(self, request: Message) -> Iterator[Answer]:
        flags = self._flags(request["do"])
        if flags:
            yield Answer("no exception", (flags[0], ()))
            yield Answer("an exception", (flags[1], ()))
            return
        for side in self._sides:
            yield from side.possible(request["do"], request)

    def say(self, act: Act) -> Exchange:
        """See ``Conversation``: the alternatives are other events, not other requests."""
        exchange = super().say(act)
        measured = {name: most for side in self._sides for name, most in side.measured().items()}
        exchange = exchange._replace(measured=measured)
        if exchange.outcome is None or self._flags(act.do):
            return exchange
        told = self._told
        shown = (exchange.outcome, *exchange.events)
        return exchange._replace(outcome=told, events=shown[1:] if told else shown, possible=(),
                       completions=exchange.possible)

    def seen(self, request: Message, answer: Any) -> Seen:
        do = request["do"]
        flags = self._flags(do)
        if flags:
            return Seen(((flags[int(answer)], ()),), "an exception" if answer else "no exception")
        side = self._side(do)
        steps = side.note(request)
        self._told = steps[0] if steps else None
        if answer is True:
            return Seen((), "so be it")
        # A question about references is answered with numbers.
        events: list[Message] = [
            each if isinstance(each, dict) else {"event": "refers", "subscriber": each}
            for each in answer]
        for each in self._sides:
            each.overhear(request, events)
        for event in events:
            steps += next(each for each in self._sides if each.knows(event)).steps(event)
        steps += side.ends(request, events)
        if (do == "settle" or self.policy == "inline") and not any(
                each.is_held for each in self._sides):
            steps += [step for each in self._sides for step in each.rests()]
        said = [next(each for each in self._sides if each.knows(event)).in_words(event)
                for event in events]
        return Seen(tuple(steps), ", ".join(filter(None, said)) or "nothing")

    _told: Step | None = None

    def _side(self, do: str) -> Side:
        return next(each for each in self._sides if do in each.words)

    def _flags(self, do: str) -> tuple[str, str] | None:
        return self._side(do).flags.get(do)
