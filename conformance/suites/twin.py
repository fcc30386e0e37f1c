"""Twins: adapters of a reference, each with one seeded bug."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from types import new_class
from typing import Any, Final, TypeVar

from ...spec.refinements import Refinement
from ..ports.base import Adapter, Message
from .mechanism import Mechanism

__all__ = ["Twin", "Twins", "stack_from"]

_NUMBERS: Final = {"four": 4, "six": 6}

Class = TypeVar("Class", bound=type[Any])


@dataclass(frozen=True)
class Twin:
    """A reference with one bug: what it does, what it stands for, and which rule it breaks.

    ``rule`` is the id of the rule of ``suite`` that must kill it; ``bug`` says in a line what it
    does wrong, ``history`` the real bug that it stands for. ``of`` makes the adapter on which
    ``parts`` are set. ``originals`` are targets without the bug, on which no fixture of it fails.
    ``equivalent`` says why no rule of the suite can tell it from them, and is empty for all others.
    With ``after`` it has no bug in its first so many requests. ``in_long``: short programs do not
    get to its bug, so it is hunted with long ones.
    """

    name: str
    suite: str
    rule: str
    bug: str
    history: str
    of: Callable[[], Any]
    parts: Mapping[str, Any]
    originals: tuple[str, ...]
    equivalent: str = ""
    after: int = 0
    in_long: bool = False

    def adapter(self) -> Adapter:
        """A new adapter of this twin."""
        adapter = self.of()
        requests = _Requests(adapter.request, self.after)
        # On the instance: the bug is a value here, not one more class.
        for name, part in self.parts.items():
            setattr(adapter, name, _late(part, requests) if self.after else part)
        if self.after:
            adapter.request = requests
        adapter.name = f"zoo:{self.name}"
        made: Adapter = adapter
        return made


class _Requests:
    """Answers as an adapter does, and counts the requests of a session."""

    def __init__(self, answer: Callable[[Message], Message], after: int) -> None:
        self._answer, self._after, self._count = answer, after, 0

    def __call__(self, message: Message) -> Message:
        self._count = 0 if message["do"] == "hello" else self._count + 1
        return self._answer(message)

    @property
    def are_many(self) -> bool:
        """True once there were so many requests that the bug shows."""
        return self._count > self._after


def _late(bug: Any, requests: _Requests) -> Any:
    """A class without the bug until there were many requests; or a record of classes, in which
    those that are none of the sound ones get it then."""
    if is_dataclass(bug) and not isinstance(bug, type):
        own = {each.name: getattr(bug, each.name) for each in fields(bug)
               if getattr(bug, each.name) is not each.default}
        return replace(bug, **{name: _late(value, requests) for name, value in own.items()
                               if isinstance(value, type)})
    return type(bug.__name__, (bug,), {
        name: _by_then(bug, name, method, requests) for name, method in vars(bug).items()
        if callable(method) and not name.startswith("__")})


def _by_then(bug: type[Any], name: str, method: Any, requests: _Requests) -> Callable[..., Any]:
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        sound = getattr(super(bug, self), name, None)
        if requests.are_many or sound is None:
            return method(self, *arguments, **named)
        return sound(*arguments, **named)
    return call


def _as_core(bug: type[Any]) -> Mapping[str, Any]:
    return {"core": bug}


_TURNED: Final = "a ring whose read index is taken from the wrong end once it has wrapped"


class Twins(dict[str, Twin]):
    """The twins of a suite by name; each says what it is where its bug is written.

    ``of`` makes the adapter of the reference, ``originals`` are the references' names, and
    ``parts_of`` says which attributes of the adapter a class with a bug takes the place of.
    """

    def __init__(
        self, suite: str, of: Callable[[], Any], originals: tuple[str, ...],
        parts_of: Callable[[type[Any]], Mapping[str, Any]] = _as_core,
    ) -> None:
        super().__init__()
        self._suite = suite
        self._of = of
        self._originals = originals
        self._parts_of = parts_of

    def twin(
        self, name: str, rule: str, bug: str, history: str, **more: Any,
    ) -> Callable[[Class], Class]:
        """Mark a class as the bug of a twin; what there is ``more`` is as for ``add``."""
        def mark(made: Class) -> Class:
            self.add(name, rule, bug, history, parts=self._parts_of(made), **more)
            return made

        return mark

    def add(
        self, name: str, rule: str, bug: str, history: str, *, parts: Mapping[str, Any],
        of: Callable[[], Any] | None = None, originals: tuple[str, ...] | None = None,
        equivalent: str = "", in_long: bool = False,
    ) -> None:
        """Add a twin with these parts; see ``Twin``."""
        assert name not in self, name
        self[name] = Twin(
            name, self._suite, rule, bug, history, of or self._of, parts,
            self._originals if originals is None else originals, equivalent, in_long=in_long)

    def variants(
        self, rows: Iterable[object], book: type[Mechanism], *,
        known: Mapping[str, tuple[str, str]] | None = None, apart: Collection[str] = (),
        **more: Any,
    ) -> None:
        """Add the variants of a chapter that its observer refuses, as ``book`` runs them; each must
        be caught by the rule of its row. It is called as the suite and its class, but for those
        that are ``known``: by class, a name and the real bug. Those ``apart`` are no twins, and
        ``BY_HAND`` says why. What there is ``more`` is as for ``add``."""
        for row in rows:
            if (not isinstance(row, Refinement) or not row.rule or row.shows is not book.view
                    or row.machine.__name__ in apart or not issubclass(row.machine, book.machine)):
                continue
            variant = row.machine.__name__
            words = re.sub(r"(?<!^)(?=[A-Z])", "-", variant).lower()
            name, history = (known or {}).get(variant) or (
                f"{self._suite}-{words}", f"{variant}, a variant in the rule book")
            if name in self:    # its observer refuses it at another rule, too
                name = f"{name}-at-{row.rule.lower()}"
            made = type(variant, (book,), {"machine": row.machine})
            self.add(name, row.rule, row.about, history, parts=self._parts_of(made), **more)

    def late(self, name: str, *after: int, code: type[Any] | None = None) -> None:
        """Add the twin of a name once more for each number of requests, after which its bug shows:
        a counter wraps by then, a ring turns, a table is full. A variant of a chapter has no sound
        class below it: ``code`` has the same bug as a class that has one."""
        twin = self[name]
        if code is not None:
            twin = replace(twin, of=self._of, parts=self._parts_of(code))
        for requests in after:
            self[f"{name}-after-{requests}"] = replace(
                twin, name=f"{name}-after-{requests}", after=requests,
                bug=f"from request {requests + 1} on: {twin.bug}")

    def stacks(
        self, prefix: str, rule: str, things: str, of: type[Any], take: str,
        waiting: Callable[[Any], deque[Any]], history: str = _TURNED,
    ) -> None:
        """Add two twins that are stacks from four and six ``things`` on; see ``stack_from``."""
        for word, many in _NUMBERS.items():
            self.add(f"{prefix}stack-from-{word}", rule,
                     f"from {word} {things} on, the newest comes first", history,
                     parts=self._parts_of(stack_from(of, take, waiting, many)))


def stack_from(
    of: type[Any], take: str, waiting: Callable[[Any], deque[Any]], many: int
) -> type[Any]:
    """A class with a method ``take`` that takes the newest of what is ``waiting``, where that is so
    many or more."""
    def taking(self: Any, *arguments: Any, **named: Any) -> Any:
        line = waiting(self)
        if len(line) >= many:
            line.rotate(1)
        return getattr(super(made, self), take)(*arguments, **named)

    made = new_class(f"StackFrom{many}", (of,), {}, lambda body: body.update({
        take: taking, "__module__": __name__}))
    return made
