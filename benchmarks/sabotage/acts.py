"""How an implementation is sabotaged: a session around that of a reference, which works.

Nothing here knows a system. Requests are counted from 0, hello apart. Where a run is one history
(``HistorySuite``), its events are counted in their place, and its end always stays: a history
without an end is refused as such.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from checkvalve.conformance.ports.base import Message, Port, Session, Target
from checkvalve.spec.notation.labels import counted

from .replies import Replies, hushed

__all__ = [
    "NOBODY", "SABOTAGES", "Place", "Sabotage", "Sabotaged", "Scene", "matters",
]

NOBODY: Final = 1 << 60
"""As many requests as no program has."""


@dataclass
class Place:
    """Where a run is in its program: ``at`` of ``length`` acts, from 1."""

    at: int = 0
    length: int = NOBODY

    @property
    def is_last(self) -> bool:
        """Whether no act comes after this one."""
        return self.at >= self.length


@dataclass(frozen=True)
class Scene:
    """What a sabotage is made of: what the reference answers, and how long its runs are.

    ``ends`` are the last words of its histories; there are none where runs are conversations.
    """

    port: Port
    samples: Mapping[str, list[Any]]
    median: int
    ends: frozenset[str] = frozenset()
    place: Place = field(default_factory=Place, compare=False)

    @property
    def is_history(self) -> bool:
        """Whether a run is one history."""
        return bool(self.ends)

    def is_end(self, event: Any) -> bool:
        """Whether a history ends with this event."""
        return isinstance(event, str) and event.split(" ")[1:2] in [[word] for word in self.ends]

    @property
    def tells_later(self) -> bool:
        """Whether some of what it does is told in lists or events, which can be kept back."""
        return not self.is_history and (
            any(_lists(each) for known in self.samples.values() for each in known)
            or any(self.port.operations[do].completion is not None for do in self.samples))

    @property
    def unit(self) -> str:
        """An event of a history, or a request."""
        return "event" if self.is_history else "request"


@dataclass(frozen=True)
class Sabotage:
    """A way to spoil any implementation. ``about`` says what it does, of a scene."""

    name: str
    about: Callable[[Scene], str]
    session: Callable[[Session, Scene], Session]


class _Around:
    """A session around another one; requests go through as they are."""

    def __init__(self, session: Session, scene: Scene) -> None:
        self._session = session
        self._scene = scene
        self.close = session.close

    def request(self, message: Message) -> Message:
        return (self._session.request(message) if message["do"] == "hello"
                else self.spoiled(message))

    def spoiled(self, message: Message) -> Message:
        """The reply to what is not hello."""
        raise NotImplementedError

    def hushed(self, message: Message, reply: Message) -> Message:
        """A reply, without what it tells of what was done."""
        kind = self._scene.port.operations[message["do"]].answer
        return {**reply, "events": []} | (
            {"ok": hushed(reply["ok"], kind)} if "ok" in reply else {})


class _Silent(_Around):
    """Works at first; from some request on it does nothing, and answers the least."""

    def __init__(self, session: Session, scene: Scene, after: int, agrees: bool = False) -> None:
        super().__init__(session, scene)
        self._left = after
        self._tickets = 0
        self._replies = Replies(scene.samples, agrees)

    def spoiled(self, message: Message) -> Message:
        self._left -= 1
        if self._left >= 0:
            return self._session.request(message)
        self._tickets += 1
        return self._replies.to(
            self._scene.port.operations[message["do"]], f"never {self._tickets}")


class _SilentHistory(_Around):
    """Tells only the first events of its history, and how it ended."""

    def __init__(self, session: Session, scene: Scene, after: int) -> None:
        super().__init__(session, scene)
        self._left = after

    def spoiled(self, message: Message) -> Message:
        reply = self._session.request(message)
        events = reply.get("ok")
        if not isinstance(events, list):
            return reply
        told = events[:self._left]
        self._left -= len(told)
        if len(told) < len(events) and self._scene.is_end(events[-1]):
            told = [*told, events[-1]]
        return {**reply, "ok": told}


class _Hushed(_Around):
    """Works, and tells nothing of it: lists of what was done are empty, and no wait ends."""

    def spoiled(self, message: Message) -> Message:
        return self.hushed(message, self._session.request(message))


class _Late(_Around):
    """Works, and keeps back whatever it does until the last request of the program."""

    def __init__(self, session: Session, scene: Scene) -> None:
        super().__init__(session, scene)
        self._events: list[Any] = []
        self._kept: dict[str, list[Any]] = {}

    def spoiled(self, message: Message) -> Message:
        reply = self._session.request(message)
        self._events += reply["events"]
        if "ok" in reply:
            for name, each in _lists(reply["ok"]):
                self._kept.setdefault(name, []).extend(each)
        if not self._scene.place.is_last:
            return self.hushed(message, reply)
        return {**reply, "events": self._events} | (
            {"ok": self._all(message["do"], reply["ok"])} if "ok" in reply else {})

    def _all(self, do: str, answer: Any) -> Any:
        """An answer with all that was kept back, as far as it can tell that."""
        whole = self._kept.get("", answer) if isinstance(answer, list) else {
            **answer, **{name: each for name, each in self._kept.items() if name in answer}
        } if isinstance(answer, dict) else answer
        return whole if self._scene.port.operations[do].answer.accepts(whole) else answer


def _lists(answer: Any) -> list[tuple[str, list[Any]]]:
    """The lists of an answer, each with the name of its field."""
    fields = answer if isinstance(answer, dict) else {"": answer}
    return [(name, each) for name, each in fields.items() if isinstance(each, list)]


class Sabotaged:
    """A target each instance of which is sabotaged."""

    def __init__(self, target: Target, sabotage: Sabotage, scene: Scene) -> None:
        self._target, self._sabotage, self._scene = target, sabotage, scene

    @property
    def name(self) -> str:
        """The target's, and what became of it."""
        return f"{self._target.name} that {self._sabotage.about(self._scene)}"

    def open(self) -> Session:
        return self._sabotage.session(self._target.open(), self._scene)

    def renew(self) -> bool:
        return self._target.renew()


def _silent(after: Callable[[Scene], int], agrees: bool = False) -> Callable[
        [Session, Scene], Session]:
    def session(inner: Session, scene: Scene) -> Session:
        if scene.is_history:
            return _SilentHistory(inner, scene, after(scene))
        return _Silent(inner, scene, after(scene), agrees)

    return session


def _stops(name: str, share: float) -> Sabotage:
    def after(scene: Scene) -> int:
        return round(share * scene.median)

    return Sabotage(name, lambda scene: f"stops after {counted(after(scene), scene.unit)}",
                    _silent(after))


def _from_on(after: int) -> Sabotage:
    return Sabotage(
        f"silent from {after}", lambda scene: f"is silent from {scene.unit} {after} on",
        _silent(lambda scene: after))


SABOTAGES: Final[Mapping[str, Sabotage]] = {each.name: each for each in (
    Sabotage("does nothing", lambda scene: "does nothing (silent from 0)",
             _silent(lambda scene: 0)),
    Sabotage("agrees", lambda scene: "says yes, and does nothing",
             _silent(lambda scene: 0, agrees=True)),
    Sabotage("tells nothing", lambda scene: "tells nothing of what it does", _Hushed),
    _stops("half", 0.5), _stops("nine tenths", 0.9),
    Sabotage("keeps back", lambda scene: "keeps everything back until the end", _Late),
    _from_on(8), _from_on(25), _from_on(300),
)}
"""By name, in the order of the table."""

def matters(name: str, scene: Scene) -> bool:
    """Whether a sabotage is anything of its own. A history is told as a whole, and nothing can be
    kept back where each answer is one value."""
    if name in ("tells nothing", "keeps back"):
        return scene.tells_later
    return name != "agrees" or not scene.is_history
