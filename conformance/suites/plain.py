"""Conversations about ports whose operations never wait: one request, one answer, no tickets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from ...spec.notation.errors import InputError
from ...spec.notation.interpreter import Step
from ..ports.base import Message, Session, excerpt
from .asking import greet, refused
from .exchange import Act, Answer, Exchange
from .says import Table

__all__ = ["PlainConversation", "Seen"]

_PICKS_MAX = 64


class Seen(NamedTuple):
    """What an answer shows: the steps of the machines, in their order, and words for it."""

    steps: tuple[Step, ...]
    words: str


class PlainConversation:
    """One session; a subclass knows the port. See ``Conversation``.

    What a request and its one answer stand for, ``says`` tells; where that depends on more than the
    two, or an answer has several steps, the subclass overrides what comes from it.
    """

    says: ClassVar[Table] = {}
    acts: ClassVar[Collection[str]] = ()
    """Operations that are steps themselves: what could be otherwise comes after that one."""

    def __init__(
        self, session: Session, port: str, settings: Mapping[str, int], now: int = 0
    ) -> None:
        self._session = session
        self._port = port
        greeting = greet(session, port, settings, now=now)
        self.can: frozenset[str] = frozenset(greeting["can"])
        self.policy: str = greeting["policy"]

    # --- for subclasses ------------------------------------------------------------------

    def request_of(self, act: Act) -> Message | None:
        """The request that an act makes now; None where it makes no sense."""
        raise NotImplementedError

    def asked(self, request: Message) -> str:
        """A request in words."""
        return self.says[request["do"]].asked.format_map(request)

    def possible(self, request: Message) -> Iterator[Answer]:
        """The answers that there could be to a request."""
        return self.says[request["do"]].could(self, request)

    def seen(self, request: Message, answer: Any) -> Seen:
        """What an answer shows; it is called once for each, in order."""
        said = self.says[request["do"]].of(answer)
        fields = {**request, said.gives: answer}
        shown = Seen((said.step(fields),), said.seen.format_map(fields))
        self.note(request, answer)
        return shown

    def note(self, request: Message, answer: Any) -> None:
        """Remember what later requests depend on."""

    # --- for the engine ------------------------------------------------------------------

    def makes_sense(self, act: Act) -> bool:
        """See ``Conversation``."""
        return act.do in self.can and self.request_of(act) is not None

    def say(self, act: Act) -> Exchange:
        """See ``Conversation``."""
        request = self.request_of(act)
        assert request is not None, "an act is said only where it makes sense"
        possible = tuple(self.possible(request))
        reply = self._session.request(dict(request))
        asked = self.asked(request)
        if error := refused(request, reply, asked):
            return error
        steps, words = self.seen(request, reply["ok"])
        acts = request["do"] in self.acts
        return Exchange(
            request, reply, f"{asked}: {words}", steps[0] if steps else None, steps[1:],
            possible=() if acts else possible,
            completions=possible if acts or len(steps) > 1 else ())

    def act_for(self, request: Mapping[str, Any]) -> Act | None:
        """See ``Conversation``."""
        do = request["do"]
        if do not in self.can:
            raise InputError(f"the target cannot do {excerpt(do)}")
        for pick in range(_PICKS_MAX):
            made = self.request_of(Act(do, pick))
            if made == dict(request):
                return Act(do, pick)
            if made is not None and made.keys() != request.keys():
                raise InputError(f"{do!r} has the fields {', '.join(made)}")
        return None
