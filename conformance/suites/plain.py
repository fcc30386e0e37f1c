"""Conversations about ports whose operations never wait: one request, one answer, no tickets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from ...spec.notation.errors import InputError
from ...spec.notation.interpreter import Step
from ..ports.base import Message, Session, excerpt
from .asking import greet, refused
from .exchange import Act, Answer, Exchange
from .says import Fields, Known, On, Seen, Table

__all__ = ["PlainConversation", "Seen"]

_PICKS_MAX = 64


class PlainConversation:
    """One session; a subclass knows the port. See ``Conversation``.

    What requests and answers stand for, the table ``says`` tells. A subclass makes the requests,
    and remembers for that, by ``note``, what was shown; and it adds in ``about`` what the fields of
    the table need beyond those of a message. ``constants`` are the observer's, and ``times`` counts
    how often each of its actions was shown.
    """

    says: ClassVar[Table | None] = None

    def __init__(
        self, session: Session, port: str, settings: Mapping[str, int],
        constants: Mapping[str, int] | None = None, *, now: int = 0,
    ) -> None:
        self._session = session
        self._port = port
        self.known: Known = self.says.known(constants or {}) if self.says else {}
        self.times = Counter[str]()
        greeting = greet(session, port, settings, now=now)
        self.can: frozenset[str] = frozenset(greeting["can"])
        self.policy: str = greeting["policy"]

    # --- for subclasses ------------------------------------------------------------------

    def request_of(self, act: Act) -> Message | None:
        """The request that an act makes now; None where it makes no sense."""
        raise NotImplementedError

    def about(self, message: Message) -> Fields:
        """A request, or an event or answer that there is or could be, with what else is known."""
        return message

    def note(self, action: str, about: Fields) -> None:
        """Remember what later requests depend on: an action that was shown, and its fields. Of an
        answer that is no list, those of its request are among them."""

    def told(self, row: On, request: Fields) -> Iterable[Step]:
        """The steps that a request is itself."""
        return [tells.step(request, self.known) for tells in row.tells]

    # --- what comes from the table, unless it is overridden ------------------------------

    def asked(self, request: Message) -> str:
        """A request in words."""
        return self._row(request).asked.format_map(self.about(request))

    def possible(self, request: Message) -> Iterator[Answer]:
        """The answers that there could be to a request."""
        return self._row(request).could(self, request)

    def seen(self, request: Message, answer: Any) -> Seen:
        """What an answer shows; it is called once for each, in order."""
        return self._row(request).shown(self, request, answer)

    def acts(self, request: Message) -> bool:
        """Whether a request is a step itself: what could be otherwise comes after that one."""
        return self._row(request).acts

    def _row(self, request: Message) -> On:
        assert self.says is not None, "a conversation without a table overrides what needs one"
        rows = self.says.rows[request["do"]]
        return rows[0] if len(rows) == 1 else next(
            row for row in rows if not row.where or self.about(request).get(row.where))

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
        acts = self.says is not None and self.acts(request)
        steps, words = self.seen(request, reply["ok"])
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
