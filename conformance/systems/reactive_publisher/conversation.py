"""The conversation with a publisher: the harness acts as its subscribers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from ....spec.notation.interpreter import Step
from ....spec.reactive.observed_publisher import Cause
from ...ports.base import Message
from ...suites.says import Among, Fields, over, says
from ...suites.suite import Act
from ...suites.values import Value, in_words
from .port import CAUSES
from .sides import Entries

__all__ = ["COUNTS", "Downstream"]

COUNTS: Final = (1, 2, 3, 0, 9, -1)
"""The requested numbers: the last but one exceeds the source, and 0 and less is illegal."""

_CALLS: Final = ("subscribe", "request", "request_all", "cancel")
_OF_ALL: Final = ("subscribe_null", "references", "run", "settle")
_SAID: Final = {
    "subscribed": "onSubscribe to {s}", "complete": "onComplete to {s}",
    "requests": "({s}) it requests {n} within", "cancels": "({s}) it cancels within",
    "raised": "({s}) {call} raises", "waits": "({s}) {call} does not return", "returned": "",
    "refers": "to subscriber {s}",
}
_CAUSES_IN_WORDS: Final = (": the source has failed", ": the request was illegal", "")


# ---- what could be shown ------------------------------------------------------------------------


def _below(talk: Any) -> Downstream:
    found: Downstream = talk.side("subscribe")
    return found


def _joined(talk: Any, request: Fields) -> list[int]:
    joining = {request["subscriber"]} if request["do"] == "subscribe" else set()
    return sorted(_below(talk).joined | joining)


def _signalled(talk: Any, request: Fields) -> Iterator[Message]:
    """Each subscriber that may get a signal now."""
    if request["do"] not in ("references", "plan", "quit", "hold"):
        yield from ({"s": s, "deep": 0} for s in _joined(talk, request))


def _planning(talk: Any, request: Fields) -> Iterator[Message]:
    """Each subscriber that requests within its signals."""
    below = _below(talk)
    yield from ({"s": each["s"], "deep": below.depth} for each in _signalled(talk, request)
                if each["s"] in below.planning)


def _failing(talk: Any, request: Fields) -> Iterator[Message]:
    yield from ({"s": each["s"], "cause": Cause(cause), "why": why}
                for each in _signalled(talk, request)
                for cause, why in enumerate(_CAUSES_IN_WORDS))


def _referred(talk: Any, request: Fields) -> Iterator[Message]:
    if request["do"] == "references":
        yield from ({"s": s} for s in _joined(talk, request))


def _called(*calls: str, held: bool = False) -> Among:
    """A call that was made, if it is one of these; one that another thread may hold up."""
    def among(talk: Any, request: Fields) -> Iterator[Message]:
        if request["do"] in calls and (_below(talk).is_held or not held):
            call = "request" if request["do"] == "request_all" else request["do"]
            yield from ({"s": s, "call": call} for s in _joined(talk, request))
    return among


_REQUESTING: Final = ("request", "request_all")

_SHOWS: Final[tuple[Entries, ...]] = (
    over(_signalled, says("rests", "rests", "no more for subscriber {s}"),
         says("on_subscribe", "on_subscribe", "onSubscribe to {s}"),
         says("on_next", "on_next", "the next element to {s}")),
    over(_planning, says("on_next", "on_next", "the next element to {s}, within {deep} others")),
    over(_signalled, says("on_next_other", "on_next_other", "another element to {s}"),
         says("on_complete", "on_complete", "onComplete to {s}")),
    over(_failing, says("on_error", "on_error", "onError to {s}{why}")),
    over(_referred, says("refers", "refers", "to subscriber {s}")),
    over(_called(*_CALLS), says("call_returns", "call_returns", "{call} returns")),
    over(_called("subscribe"), says("subscribe_raises", "subscribe_raises", "subscribe raises")),
    over(_called(*_REQUESTING), says("request_raises", "request_raises", "request raises")),
    over(_called("cancel"), says("cancel_raises", "cancel_raises", "cancel raises")),
    over(_called(*_REQUESTING, held=True),
         says("request_waits", "request_waits", "request does not return")),
    over(_called("cancel", held=True),
         says("cancel_waits", "cancel_waits", "cancel does not return")),
    over(_planning, says("request_within_raises", "request_within_raises",
                         "a request within a signal raises")),
    *(says(does, does, "") for does in (
        "subscriber", "release", "asks", "asks_for_all", "asks_within", "cancel", "hold")),
)


class Downstream:
    """The side of the subscribers, of which there are ``subscribers``. At most ``most`` elements
    come: ``brought`` if they come from another side, otherwise the numbers from ``first`` on.

    ``pick`` is a subscriber, and how many elements it requests. ``depth`` is how many onNext may be
    open, one in the other. It knows which subscribers have a subscription, and which onNext is
    held.
    """

    words: ClassVar[Mapping[str, str]] = {
        "subscribe": "subscriber {subscriber} is subscribed, and is to request {n} within",
        "request": "subscriber {subscriber} requests {n}",
        "request_all": "subscriber {subscriber} requests 2^63 - 1",
        "cancel": "subscriber {subscriber} cancels",
        "plan": "subscriber {subscriber} will request {n} in each onNext",
        "quit": "subscriber {subscriber} will cancel in its next onNext",
        "hold": "the next onNext of subscriber {subscriber} will not return",
        "release": "the onNext of subscriber {subscriber} may return",
        "subscribe_null": "null is subscribed", "references": "subscribers it refers to",
        "run": "one piece of work runs", "settle": "everything runs that can run",
    }
    flags: ClassVar[Mapping[str, tuple[str, str]]] = {
        "subscribe_null": ("takes_nobody", "refuses_nobody")}
    shows: ClassVar[tuple[Entries, ...]] = _SHOWS

    def __init__(self, subscribers: int, most: int, depth: int, *, first: int = 0,
                 brought: list[Value] | None = None) -> None:
        self._count = subscribers
        self._first = first
        self._brought = brought
        self._most = most
        self.depth = depth
        self.joined: set[int] = set()
        self._active: set[int] = set()          # subscribers with a subscription
        self._next = [0] * subscribers          # the element that is due next
        self._open = [0] * subscribers          # elements that have not returned
        self._arming: set[int] = set()          # subscribers whose next onNext is to be held
        self._held: set[int] = set()
        self.planning: set[int] = set()
        self._measured: dict[str, int] = {}

    @property
    def is_held(self) -> bool:
        return bool(self._held)

    def request_of(self, act: Act) -> Message | None:
        """A subscriber joins once; all else takes a subscription, and what is held is released."""
        if act.do in _OF_ALL:
            return {"do": act.do}
        s = act.pick % self._count
        sensible = {"subscribe": s not in self.joined, "hold": s not in self._held,
                    "release": s in self._held}
        if not sensible.get(act.do, True) or (act.do != "subscribe" and s not in self._active):
            return None
        request: Message = {"do": act.do, "subscriber": s}
        place = act.pick // self._count
        if act.do == "subscribe":
            # None at first: the pick that is 0 is the simplest.
            request["n"] = max(0, COUNTS[(place + 3) % len(COUNTS)])
        elif act.do in ("request", "plan"):
            count = COUNTS[place % len(COUNTS)]
            # A program may name a number, such as one that 32 bits do not hold.
            request["n"] = dict(act.about).get("n", count) if act.do == "request" else max(1, count)
        return request

    # --- requests and events -----------------------------------------------------------------

    def note(self, request: Message) -> list[Step]:
        """Remember what a subscriber will do in its signals; the steps of its request."""
        do, s = request["do"], request.get("subscriber", 0)
        if do == "plan" or (do == "subscribe" and request["n"]):
            self.planning.add(s)
        if do == "hold":
            self._arming.add(s)
        if do == "subscribe":
            self.joined.add(s)
            return [step_of("subscriber", s)]
        if do == "release":
            self._held.discard(s)
            return [step_of("release", s)]
        if do == "request":
            return [step_of("asks", s, n=self._clipped(request["n"]))]
        if do == "request_all":
            return [step_of("asks_for_all", s)]
        return [step_of("cancel", s)] if do == "cancel" else []

    def knows(self, event: Message) -> bool:
        return "subscriber" in event or event["event"] == "holds"

    def steps(self, event: Message) -> list[Step]:
        """The step of a signal or of a call; elements are compared with the one that is due."""
        if event["event"] == "holds":
            return []
        name, s = event["event"], event["subscriber"]
        if name == "refers":
            return [step_of("refers", s)] if s in self.joined else []
        if s not in self.joined:
            # An event of an unknown subscriber counts as an element that does not exist.
            return [step_of("on_next_other", min(self.joined, default=0))]
        if name == "next":
            return self._element(s, event["element"])
        if name == "returned":
            self._open[s] -= 1
            return []
        if name == "subscribed":
            self._active.add(s)
            return [step_of("on_subscribe", s)]
        if name == "error":
            return [step_of("on_error", s, cause=Cause(CAUSES.index(event["cause"])))]
        if name == "requests":
            return [step_of("asks_within", s, n=self._clipped(event["n"]))]
        if name in ("complete", "cancels"):
            return [step_of("on_complete" if name == "complete" else "cancel", s)]
        return [_failed(name, event["call"], s)]

    def _is_due(self, number: int, element: Value) -> bool:
        """True if an element is the one with this number."""
        if self._brought is None:
            return element == self._first + number
        return self._brought[number:number + 1] == [element]

    def _element(self, s: int, element: Value) -> list[Step]:
        is_next = self._is_due(self._next[s], element)
        deep = min(self._open[s], self.depth)
        self._next[s] += 1
        self._open[s] += 1
        # A held one belongs to another thread, and is no recursion.
        self._measure("depth", self._open[s] - (s in self._held))
        steps = [step_of("on_next", s, deep=deep) if is_next else step_of("on_next_other", s)]
        if s in self._arming:
            self._arming.discard(s)
            self._held.add(s)
            steps.append(step_of("hold", s))
        return steps

    def ends(self, request: Message, events: Sequence[Message]) -> list[Step]:
        """See ``Side``: a call returns, if nothing else was said of it."""
        if request["do"] not in _CALLS or any(_is_fault_of(event, request) for event in events):
            return []
        return [step_of("call_returns", request["subscriber"])]

    def rests(self) -> list[Step]:
        return [step_of("rests", s) for s in sorted(self.joined)]

    def overhear(self, request: Message, events: Sequence[Message]) -> None:
        """See ``Side``: the adapter's reports are all that is known of a buffer."""
        if self._brought is not None and request["do"] == "on_next":
            self._brought.append(request["element"])
        for event in events:
            if event["event"] == "holds":
                self._measure("buffer", event["n"])

    def measured(self) -> Mapping[str, int]:
        return dict(self._measured)

    def _measure(self, name: str, found: int) -> None:
        self._measured[name] = max(found, self._measured.get(name, 0))

    def in_words(self, event: Message) -> str:
        if event["event"] == "holds":
            return ""
        name, s = event["event"], event["subscriber"]
        if name == "next":
            return f"onNext({in_words(event['element'])}) to {s}"
        if name == "error":
            return f"onError to {s}{_CAUSES_IN_WORDS[CAUSES.index(event['cause'])]}"
        return _SAID[name].format(s=s, n=event.get("n"), call=event.get("call"))

    def _clipped(self, count: int) -> int:
        """A request as the machine takes it: a larger one counts as all elements and the end."""
        return max(0, min(count, self._most + 1))


def step_of(name: str, s: int, **more: int) -> Step:
    """A step of one subscriber."""
    return name, (("s", s), *more.items())


def _is_fault_of(event: Message, request: Message) -> bool:
    """True if an event reports that a request itself did not return normally."""
    return (event["event"] in ("raised", "waits")
            and event.get("subscriber") == request["subscriber"]
            and str(request["do"]).startswith(event["call"]))


def _failed(name: str, call: str, s: int) -> Step:
    """The step for a call that raises, or does not return."""
    if call == "requests":
        return step_of("request_within_raises" if name == "raised" else "request_waits", s)
    called = "cancel" if call == "cancels" else call
    raises = name == "raised" or called == "subscribe"
    return step_of(f"{called}_raises" if raises else f"{called}_waits", s)
