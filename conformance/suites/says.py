"""Which steps of an observer requests and answers stand for: a table, a line an operation.

``on("take", "somebody asks for {permits}", says(True, "passes", "all are given"), …)`` reads: the
request is told in these words, and the answer true stands for the action ``passes``. A parameter of
the action is the field of the request that has its name, unless it is what the answer ``gives``;
that is one of as many values as the observer declares, or of those that ``among`` finds. From the
table come the words, what an answer shows, and all that could have been in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from ...spec.notation.interpreter import Step
from ...spec.notation.machine import Machine
from ..ports.base import Message
from .exchange import Answer

__all__ = ["ANY", "On", "Says", "Table", "on", "says", "table"]


class _Any(Enum):
    ANY = "any"


ANY: Final = _Any.ANY
"""Every answer that has no entry of its own."""

Among = Callable[[Any], Iterable[int]]
"""From a conversation, the values that an answer may give now."""


@dataclass(frozen=True)
class Says:
    """An answer, and the action that it stands for.

    ``words`` and, if it was really given, ``seen`` are formats of the request's fields and of what
    the answer ``gives``. More than ``most`` is told as that number or, if there is one, as the
    action ``beyond``.
    """

    answer: Any
    action: str
    words: str
    seen: str = ""
    gives: str = ""
    among: Among | None = None
    most: int | None = None
    beyond: str = ""
    names: tuple[str, ...] = ()
    _known: dict[Step, Answer] = field(
        default_factory=dict, init=False, compare=False, repr=False)

    def step(self, fields: Mapping[str, Any]) -> Step:
        """The step, with these fields of a request and of its answer."""
        value = fields[self.gives] if self.gives else 0
        if self.most is not None and value > self.most:
            if self.beyond:
                return self.beyond, ()
            fields = {**fields, self.gives: self.most}
        return self.action, tuple([(name, fields[name]) for name in self.names])

    def could(self, conversation: Any, request: Message) -> Iterator[Answer]:
        """The answers that there could be of this kind."""
        if self.among is None:
            yield self._answer(request)
            return
        for value in self.among(conversation):
            yield self._answer({**request, self.gives: value})

    def _answer(self, fields: Mapping[str, Any]) -> Answer:
        step = self.step(fields)
        found = self._known.get(step)
        if found is None:
            found = self._known[step] = Answer(self.words.format_map(fields), step)
        return found


@dataclass(frozen=True)
class On:
    """An operation: the words of its request, and its answers; or the one step that it is."""

    do: str
    asked: str
    answers: tuple[Says, ...]

    def of(self, answer: Any) -> Says:
        """The entry of an answer."""
        return next(each for each in self.answers if each.answer in (answer, ANY))

    def could(self, conversation: Any, request: Message) -> Iterator[Answer]:
        """All the answers that there could be; where there is but one, nothing is to be told."""
        if len(self.answers) > 1 or self.answers[0].among is not None:
            for each in self.answers:
                yield from each.could(conversation, request)


Table = Mapping[str, On]
"""By operation."""


def on(do: str, asked: str, *answers: Says) -> On:
    """An operation, the words of its request, and what its answers stand for."""
    return On(do, asked, answers)


def says(answer: Any, action: str, words: str, seen: str = "", **more: Any) -> Says:
    """An answer that stands for an action; see ``Says``."""
    return Says(answer, action, words, seen or words, **more)


def table(observer: type[Machine], *rows: On) -> Table:
    """The rows by operation, each action with its parameters as the observer declares them."""
    def named(each: Says) -> Says:
        over = observer.actions_declared[each.action].over
        names = tuple(name for name, _ in over)
        return Says(**{**_fields(each), "names": names})

    return {row.do: On(row.do, row.asked, tuple(map(named, row.answers))) for row in rows}


def _fields(each: Says) -> dict[str, Any]:
    return {name: getattr(each, name) for name in (
        "answer", "action", "words", "seen", "gives", "among", "most", "beyond")}
