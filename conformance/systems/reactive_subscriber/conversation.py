"""The conversation with a subscriber: the harness acts as its publisher and its application."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from ....spec.notation.interpreter import Step
from ...ports.base import Message
from ...suites.says import Among, Fields, over, says
from ...suites.suite import Act
from ...suites.values import Value, in_words
from ..reactive_publisher.sides import Entries

__all__ = ["Application", "Upstream"]

_SIGNALS: Final = {
    "on_subscribe": "subscribe", "on_subscribe_again": "subscribe_again", "on_next": "next",
    "on_complete": "complete", "on_error": "error",
}
_NULLS: Final = ("next", "error", "subscribe")
_SAID: Final = {
    "requests": "request({n})", "cancels": "cancel",
    "requests_other": "request({n}) of the second subscription",
    "cancels_other": "cancel of the second subscription", "raised": "it raises", "returned": "",
}


class _Load:
    """The elements that a subscriber holds, and those that it has requested, apart from all rules.

    ``inside`` elements were received and have not been processed, or passed on. ``coming`` were
    requested and not received. Elements that it drops when it is stopped, or its publisher fails,
    are not counted any more.
    """

    def __init__(self) -> None:
        self.inside = self.coming = 0
        self.stopped = False
        self.most: dict[str, int] = {}

    def overhear(self, request: Message, events: Sequence[Message]) -> None:
        """Take one exchange; its elements are counted when it is over."""
        if request["do"] == "on_next":
            self.coming = max(0, self.coming - 1)
            self.inside += not self.stopped
        if request["do"] in ("stop", "cancel", "on_error"):
            self._drop()
        depth = int(request["do"] in _SIGNALS)
        for event in events:
            name = event["event"]
            if name == "returned" and "subscriber" not in event:
                depth = 0
            if name in ("requests", "cancels") and "subscriber" not in event and depth:
                self._count("within", depth + 1)
            self._take(name, event)
        self._count("buffer", self.inside)
        self._count("demand", self.inside + self.coming)

    def _take(self, name: str, event: Message) -> None:
        below = "subscriber" in event
        if name == "requests" and not below:
            self.coming += max(0, event["n"])
        elif name == "cancels" or (name == "error" and below):
            self._drop()
        elif (name == "next" and below) or (name == "consumes" and event["element"] is not None):
            self.inside = max(0, self.inside - 1)

    def _drop(self) -> None:
        self.inside = self.coming = 0
        self.stopped = True

    def _count(self, name: str, found: int) -> None:
        self.most[name] = max(found, self.most.get(name, 0))


# ---- what could be shown ------------------------------------------------------------------------


def _asked(*those: str, not_: tuple[str, ...] = ()) -> Among:
    """Nothing else is to be said of what is shown, in the answers to these requests (none: all)."""
    def among(talk: Any, request: Fields) -> Iterator[Message]:
        if request["do"] not in not_ and (request["do"] in those or not those):
            yield {}
    return among


def _counts(talk: Any, request: Fields) -> Iterator[Message]:
    if request["do"] != "hold_call":
        yield from ({"n": count} for count in range(talk.side("on_next").capacity + 2))


def _of_the_second(talk: Any, request: Fields) -> Iterator[Message]:
    """True of a publisher that has signalled a second subscription, or does so now."""
    do = request["do"]
    if do != "hold_call" and (talk.side("on_next").again or do == "on_subscribe_again"):
        yield {}


_AT_ANY_TIME: Final = _asked(not_=("hold_call",))

_SHOWS: Final[tuple[Entries, ...]] = (
    over(_AT_ANY_TIME, says("comes_to_rest", "comes_to_rest", "nothing more")),
    over(_counts, says("requests", "requests", "request({n})")),
    over(_AT_ANY_TIME, says("cancels", "cancels", "cancel")),
    over(_of_the_second,
         says("requests_other", "requests_other", "request of the second subscription"),
         says("cancels_other", "cancels_other", "cancel of the second subscription")),
    over(_asked(*_SIGNALS), says("signal_returns", "signal_returns", "it returns"),
         says("signal_raises", "signal_raises", "it raises")),
    *(says(does, does, "") for does in (*_SIGNALS.values(), "hold_call", "release_call")),
)

_SHOWS_OF_APPLICATION: Final[tuple[Entries, ...]] = (
    over(_asked("process", "on_next"),
         says("consumes", "consumes", "the oldest element is processed"),
         says("consumes_another", "consumes_another", "another element is processed")),
    over(_asked("process"), says("consumes_nothing", "consumes_nothing", "nothing is processed")),
    over(_asked("process", "on_complete", "settle"),
         says("finishes", "finishes", "the application is notified of the end")),
    over(_asked("on_error", "settle"),
         says("breaks_off", "breaks_off", "the application is notified of the failure")),
    *(says(does, does, "") for does in ("process", "stop")),
)


class Upstream:
    """The side of the publisher: the demand, and the progress of the stream.

    It signals at most ``most`` elements. At most ``capacity`` may be requested at a time.
    """

    words: ClassVar[Mapping[str, str]] = {
        "on_subscribe": "onSubscribe",
        "on_subscribe_again": "onSubscribe, with a second subscription",
        "on_next": "onNext({element})", "on_complete": "onComplete", "on_error": "onError",
        "on_null": "null in the signal {signal}",
        "hold_call": "the next call of the subscription will not return",
        "release_call": "the call of the subscription returns",
    }
    flags: ClassVar[Mapping[str, tuple[str, str]]] = {"on_null": ("takes_null", "refuses_null")}
    shows: ClassVar[tuple[Entries, ...]] = _SHOWS

    def __init__(self, capacity: int, most: int) -> None:
        self.capacity = capacity
        self._most = most
        self._on = self.again = self._over = self._cancelled = False
        self._asked = 0
        self._element = 0
        self._load = _Load()
        self._arming = self._held = False

    @property
    def is_held(self) -> bool:
        return self._held

    def request_of(self, act: Act) -> Message | None:
        do = act.do
        if not self._sensible().get(do, False):
            return None
        if do == "on_next":
            return {"do": do, "element": dict(act.about).get("element", self._element)}
        return {"do": do, "signal": _NULLS[act.pick % 3]} if do == "on_null" else {"do": do}

    def _sensible(self) -> dict[str, bool]:
        """For each operation, true if it makes sense now."""
        running = self._on and not self._over
        return {
            "on_subscribe": not self._on, "on_subscribe_again": self._on and not self.again,
            "on_next": running and self._asked > 0 and self._element < self._most,
            "on_complete": running, "on_error": running, "on_null": True,
            "hold_call": not self._held, "release_call": self._held,
        }

    def note(self, request: Message) -> list[Step]:
        do: str = request["do"]
        if do == "on_next":
            self._asked -= 1
            self._element += 1
        self._on = self._on or do == "on_subscribe"
        self.again = self.again or do == "on_subscribe_again"
        self._over = self._over or do in ("on_complete", "on_error")
        if do == "hold_call":
            self._arming = True
            return []
        if do == "release_call":
            self._held = False
        return [(_SIGNALS.get(do, do), ())]

    def knows(self, event: Message) -> bool:
        return "subscriber" not in event

    def steps(self, event: Message) -> list[Step]:
        name: str = event["event"]
        if name == "requests":
            return self._held_after(self._request(event["n"]))
        if name == "cancels":
            self._cancelled = True
            return self._held_after(("cancels", ()))
        return [({"raised": "signal_raises", "returned": "signal_returns"}.get(name, name), ())]

    def _request(self, count: int) -> Step:
        if not (self._cancelled or self._over):
            self._asked = min(self._asked + max(0, count), self.capacity)
        # A number above the buffer is as wrong as this one, and one below 0 as wrong as 0.
        return _requests(max(0, min(count, self.capacity + 1)))

    def _held_after(self, step: Step) -> list[Step]:
        """The steps of a call, which is held if the next one was to be."""
        if not self._arming:
            return [step]
        self._arming, self._held = False, True
        return [step, ("hold_call", ())]

    def ends(self, request: Message, events: Sequence[Message]) -> list[Step]:
        """See ``Side``: that a signal has returned is an event."""
        return []

    def rests(self) -> list[Step]:
        return [("comes_to_rest", ())]

    def in_words(self, event: Message) -> str:
        return _SAID[event["event"]].format(n=event.get("n"))

    def overhear(self, request: Message, events: Sequence[Message]) -> None:
        self._load.overhear(request, events)

    def measured(self) -> Mapping[str, int]:
        return dict(self._load.most)


class Application(Upstream):
    """The side of the publisher and of the application, with the elements that wait for it."""

    words: ClassVar[Mapping[str, str]] = {
        **Upstream.words, "process": "the application processes an element",
        "stop": "the application needs no more elements", "settle": "everything runs that can run",
    }
    shows: ClassVar[tuple[Entries, ...]] = _SHOWS + _SHOWS_OF_APPLICATION

    def __init__(self, capacity: int, most: int) -> None:
        super().__init__(capacity, most)
        self._stopped = False
        self._due = False           # it was asked to process an element, and has not answered
        self._waiting: deque[Value] = deque()

    def _sensible(self) -> dict[str, bool]:
        return {**super()._sensible(), "settle": True, "process": not self._stopped,
                "stop": self._on and not self._stopped}

    def note(self, request: Message) -> list[Step]:
        do = request["do"]
        if do == "on_next" and not (self._stopped or self._cancelled):
            self._waiting.append(request["element"])
        self._stopped = self._stopped or do == "stop"
        self._due = self._due or do == "process"
        return [] if do == "settle" else super().note(request)

    def knows(self, event: Message) -> bool:
        """See ``Side``: there is no other."""
        return True

    def steps(self, event: Message) -> list[Step]:
        if event["event"] == "consumes":
            return [(self._consumed(event["element"]), ())]
        return super().steps(event)

    def rests(self) -> list[Step]:
        """See ``Side``: an idle subscriber that has reported no element has processed none."""
        nothing: list[Step] = [("consumes_nothing", ())] if self._due else []
        self._due = False
        return nothing + super().rests()

    def _consumed(self, element: Value | None) -> str:
        self._due = False
        if element is None:
            return "consumes_nothing"
        if self._waiting and self._waiting[0] == element:
            self._waiting.popleft()
            return "consumes"
        return "consumes_another"

    def in_words(self, event: Message) -> str:
        name = event["event"]
        if name == "consumes":
            element = event["element"]
            return "nothing" if element is None else f"element {in_words(element)} is processed"
        told = {"finishes": "the application is notified of the end",
                "breaks_off": "the application is notified of the failure"}
        return told.get(name) or super().in_words(event)


def _requests(count: int) -> Step:
    return "requests", (("n", count),)
