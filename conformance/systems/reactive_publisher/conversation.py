"""What is said to whoever publishes: the harness as its subscribers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ....spec.notation.interpreter import Step
from ....spec.reactive.observed_publisher import Cause
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Exchange
from .port import CAUSES

__all__ = ["PICKS", "PublisherConversation", "step_of"]

_COUNTS: Final = (1, 2, 3, 0, 9, -1)
"""What is requested: the last but one is more than there is, and 0 and less is wrong."""

PICKS: Final = 2 * len(_COUNTS)

_OF_ONE: Final = {
    "subscribe": "subscriber {s} is subscribed", "request": "subscriber {s} requests {n}",
    "request_all": "subscriber {s} requests 2^63 - 1", "cancel": "subscriber {s} cancels",
    "plan": "subscriber {s} will request {n} in each onNext",
    "quit": "subscriber {s} will cancel in its next onNext",
    "hold": "the next onNext of subscriber {s} will not return",
    "release": "the onNext of subscriber {s} may return",
}
_CALLS: Final = ("subscribe", "request", "request_all", "cancel")
_OF_ALL: Final = {
    "subscribe_null": "null is subscribed", "references": "to whom does the publisher refer",
    "run": "one piece of work runs", "settle": "all runs that can run",
}
_WORDS: Final = {
    "subscribed": "onSubscribe", "complete": "onComplete", "requests": "it requests {n} within",
    "cancels": "it cancels within", "raised": "{call} raises", "waits": "{call} does not return",
}


class PublisherConversation(PlainConversation):
    """One session; ``subscribers`` is how many there may be. ``pick`` is one of them, and how many
    elements are requested.

    It knows who has a subscription, which onNext is to be held, and which is.
    """

    def __init__(
        self, session: Session, port: str, settings: Mapping[str, int], subscribers: int
    ) -> None:
        super().__init__(session, port, settings)
        self._elements = settings["capacity"]
        self._depth = settings["depth"]
        self._most = range(subscribers)
        self._joined: set[int] = set()
        self._active: set[int] = set()          # those who have their subscription
        self._next = [0] * subscribers          # the element that is due next
        self._arming: set[int] = set()          # those whose next onNext is to be held
        self._held: set[int] = set()
        self._open = [0] * subscribers          # elements that have not returned
        self._planning: set[int] = set()
        self.deepest = 0

    def makes_sense(self, act: Act) -> bool:
        """See ``Conversation``."""
        return (act.do == "settle" or act.do in self.can) and self.request_of(act) is not None

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        if act.do in _OF_ALL:
            return {"do": act.do}
        if act.do not in _OF_ONE:
            return None
        s = act.pick % len(self._most)
        if (s in self._joined if act.do == "subscribe" else s not in self._active) or (
                act.do == "release" and s not in self._held) or (
                act.do == "hold" and s in self._held):
            return None
        request = {"do": act.do, "subscriber": s}
        count = _COUNTS[act.pick // len(self._most) % len(_COUNTS)]
        if act.do == "request":
            request["n"] = count
        elif act.do == "plan":
            request["n"] = max(1, count)
        elif act.do == "subscribe":
            # None at first, then one, and so on: the pick that is 0 is the simplest.
            request["n"] = max(0, _COUNTS[(act.pick // len(self._most) + 3) % len(_COUNTS)])
        return request

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        do = request["do"]
        words = _OF_ONE.get(do) or _OF_ALL[do]
        said = words.format(s=request.get("subscriber"), n=request.get("n"))
        if do == "subscribe" and request["n"]:
            said += f", and will request {request['n']} within onSubscribe"
        return said

    def say(self, act: Act) -> Exchange:
        """See ``Conversation``: what could be otherwise is what comes, not what was asked."""
        exchange = super().say(act)
        if exchange.outcome is None or act.do in ("subscribe_null", "references"):
            return exchange
        if self._told(exchange.request) is None:
            events = (exchange.outcome, *exchange.events)
            return replace(exchange, outcome=None, events=events, possible=(),
                           completions=exchange.possible)
        return replace(exchange, possible=(), completions=exchange.possible)

    # --- what may come, and what came --------------------------------------------------------

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        do = request["do"]
        if do == "subscribe_null":
            yield Answer("an exception", ("refuses_nobody", ()))
            yield Answer("no exception", ("takes_nobody", ()))
            return
        joined = {*self._joined, *([request["subscriber"]] if do == "subscribe" else [])}
        for s in sorted(joined):
            if do == "references":
                yield Answer(f"to subscriber {s}", step_of("refers", s))
            elif do not in ("plan", "quit", "hold"):
                yield from self._signals(s)
                yield from self._failures(do, s)

    def _signals(self, s: int) -> Iterator[Answer]:
        yield Answer(f"no more for subscriber {s}", step_of("rests", s))
        yield Answer(f"onSubscribe to {s}", step_of("on_subscribe", s))
        yield Answer(f"the next element to {s}", step_of("on_next", s, deep=0))
        if s in self._planning:
            yield Answer(f"the next element to {s}, within {self._depth} others",
                         step_of("on_next", s, deep=self._depth))
        yield Answer(f"another element to {s}", step_of("on_next_other", s))
        yield Answer(f"onComplete to {s}", step_of("on_complete", s))
        for cause, word in enumerate(_CAUSES_IN_WORDS):
            yield Answer(f"onError to {s}{word}", step_of("on_error", s, cause=Cause(cause)))

    def _failures(self, do: str, s: int) -> Iterator[Answer]:
        yield Answer(f"{do} returns", step_of("call_returns", s))
        call = "request" if do == "request_all" else do
        if do in _CALLS:
            yield Answer(f"{call} raises", step_of(f"{call}_raises", s))
        if do in _CALLS and call != "subscribe" and self._held:
            yield Answer(f"{call} does not return", step_of(f"{call}_waits", s))
        if s in self._planning:
            yield Answer("a request within a signal raises", step_of("request_within_raises", s))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        if do == "subscribe_null":
            return Seen((("refuses_nobody" if answer else "takes_nobody", ()),),
                        "an exception" if answer else "no exception")
        if do == "references":
            known = [s for s in answer if s in self._joined]
            return Seen(tuple(step_of("refers", s) for s in known),
                        " and ".join(f"subscriber {s}" for s in answer) or "to nobody")
        steps = self._note(request)
        if answer is True:
            return Seen((), "so be it")
        for event in answer:
            steps += self._steps(event)
        if do in _CALLS and not any(_is_fault_of(event, request) for event in answer):
            steps.append(step_of("call_returns", request["subscriber"]))
        if (do == "settle" or self.policy == "inline") and not self._held:
            steps += [step_of("rests", s) for s in sorted(self._joined)]
        return Seen(tuple(steps), self.in_words(answer))

    def _told(self, request: Message) -> Step | None:
        """The step that a request is, whatever its answer."""
        do, s = request["do"], request.get("subscriber", 0)
        if do == "subscribe":
            return step_of("subscriber", s)
        if do == "request":
            return step_of("asks", s, n=self._clipped(request["n"]))
        if do in ("request_all", "cancel", "release"):
            return step_of("asks_for_all" if do == "request_all" else str(do), s)
        return None

    def _note(self, request: Message) -> list[Step]:
        do, s = request["do"], request.get("subscriber", 0)
        if do == "subscribe":
            self._joined.add(s)
        if do == "plan" or (do == "subscribe" and request["n"]):
            self._planning.add(s)
        if do == "hold":
            self._arming.add(s)
        if do == "release":
            self._held.discard(s)
        told = self._told(request)
        return [] if told is None else [told]

    def _steps(self, event: Message) -> list[Step]:
        """What an event shows."""
        name, s = event["event"], event["subscriber"]
        if s not in self._joined:
            # Of nobody who is there: an element for one who has none.
            return [step_of("on_next_other", min(self._joined, default=0))]
        if name == "subscribed":
            self._active.add(s)
            return [step_of("on_subscribe", s)]
        if name == "next":
            return self._element(s, event["element"])
        if name == "returned":
            self._open[s] -= 1
            return []
        if name == "complete":
            return [step_of("on_complete", s)]
        if name == "error":
            return [step_of("on_error", s, cause=Cause(CAUSES.index(event["cause"])))]
        if name == "requests":
            return [step_of("asks_within", s, n=self._clipped(event["n"]))]
        if name == "cancels":
            return [step_of("cancel", s)]
        return [_failed(name, event["call"], s)]

    def _element(self, s: int, element: int) -> list[Step]:
        is_next = element == self._next[s]
        self._next[s] += 1
        deep = min(self._open[s], self._depth)
        self._open[s] += 1
        self.deepest = max(self.deepest, self._open[s])
        steps = [step_of("on_next", s, deep=deep) if is_next else step_of("on_next_other", s)]
        if s in self._arming:
            self._arming.discard(s)
            self._held.add(s)
            steps.append(step_of("hold", s))
        return steps

    def _clipped(self, count: int) -> int:
        """A request as the machine takes it: more than there is is all and the end."""
        return max(0, min(count, self._elements + 1))

    def in_words(self, events: list[Message]) -> str:
        """What came, for a reader."""
        said = [_in_words(event) for event in events if event["event"] != "returned"]
        return ", ".join(said) or "nothing"


_CAUSES_IN_WORDS: Final = (": the source has failed", ": the request was wrong", "")


def step_of(name: str, s: int, **more: int) -> Step:
    """A step of one subscriber."""
    return name, (("s", s), *more.items())


def _is_fault_of(event: Message, request: Message) -> bool:
    """Whether an event says of a request itself that it did not return as it should."""
    return (event["event"] in ("raised", "waits") and event["subscriber"] == request["subscriber"]
            and request["do"].startswith(event["call"]))


def _failed(name: str, call: str, s: int) -> Step:
    """A call that raises, or does not return."""
    if call == "requests":
        return step_of("request_within_raises" if name == "raised" else "request_waits", s)
    called = {"cancels": "cancel", "subscribe": "subscribe"}.get(call, call)
    if name == "raised" or called == "subscribe":
        return step_of(f"{called}_raises", s)
    return step_of(f"{called}_waits", s)


def _in_words(event: Message) -> str:
    name, s = event["event"], event["subscriber"]
    if name == "next":
        return f"onNext({event['element']}) to {s}"
    if name == "error":
        return f"onError to {s}{_CAUSES_IN_WORDS[CAUSES.index(event['cause'])]}"
    words = _WORDS[name].format(n=event.get("n"), call=event.get("call"))
    return f"{words} to {s}" if name in ("subscribed", "complete") else f"({s}) {words}"
