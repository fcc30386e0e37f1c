"""What is said to whoever subscribes: the harness as its publisher and as its application."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ....spec.notation.interpreter import Step
from ...ports.base import Message, Session
from ...suites.plain import PlainConversation, Seen
from ...suites.suite import Act, Answer, Exchange

__all__ = ["SubscriberConversation"]

_SIGNALS: Final = {
    "on_subscribe": "subscribe", "on_subscribe_again": "subscribe_again", "on_next": "next",
    "on_complete": "complete", "on_error": "error",
}
_NULLS: Final = ("next", "error", "subscribe")
_ASKED: Final = {
    "on_subscribe": "onSubscribe", "on_subscribe_again": "onSubscribe, with another subscription",
    "on_next": "onNext({element})", "on_complete": "onComplete", "on_error": "onError",
    "on_null": "null in the signal {signal}", "process": "the application processes an element",
    "stop": "the application needs no more elements",
    "hold": "the next call of the subscription will not return",
    "release": "the call of the subscription returns", "settle": "all runs that can run",
}
_SAID: Final = {
    "requests": "request({n})", "cancels": "cancel", "requests_other": "request({n}) of the other",
    "cancels_other": "cancel of the other", "consumes": "{element} is processed",
    "finishes": "the application is told of the end",
    "breaks_off": "the application is told of the failure", "raised": "it raises",
}


class SubscriberConversation(PlainConversation):
    """One session with a subscriber: what was requested, what waits, and how far the end is."""

    def __init__(self, session: Session, port: str, settings: Mapping[str, int]) -> None:
        super().__init__(session, port, settings)
        self._capacity = settings["capacity"]
        self._on = self._again = self._over = self._stopped = self._cancelled = False
        self._asked = 0
        self._element = 0
        self._waiting: deque[int] = deque()
        self._arming = self._held = False

    def makes_sense(self, act: Act) -> bool:
        """See ``Conversation``."""
        return (act.do == "settle" or act.do in self.can) and self.request_of(act) is not None

    def request_of(self, act: Act) -> Message | None:
        """See ``PlainConversation``."""
        do = act.do
        sensible = {
            "on_subscribe": not self._on, "on_subscribe_again": self._on and not self._again,
            "on_next": self._asked > 0 and not self._over,
            "on_complete": self._on and not self._over, "on_error": self._on and not self._over,
            "on_null": True, "process": not self._stopped, "stop": self._on and not self._stopped,
            "hold": not self._held, "release": self._held, "settle": True,
        }
        if not sensible.get(do, False):
            return None
        if do == "on_next":
            return {"do": do, "element": self._element}
        return {"do": do, "signal": _NULLS[act.pick % 3]} if do == "on_null" else {"do": do}

    def asked(self, request: Message) -> str:
        """See ``PlainConversation``."""
        return _ASKED[request["do"]].format(**request)

    def say(self, act: Act) -> Exchange:
        """See ``Conversation``: what could be otherwise is what the subscriber does."""
        exchange = super().say(act)
        if exchange.outcome is None or act.do == "on_null":
            return exchange
        if act.do in ("settle", "hold"):
            return replace(exchange, outcome=None, events=(exchange.outcome, *exchange.events),
                           possible=(), completions=exchange.possible)
        return replace(exchange, possible=(), completions=exchange.possible)

    def possible(self, request: Message) -> Iterator[Answer]:
        """See ``PlainConversation``."""
        do = request["do"]
        if do == "on_null":
            yield Answer("an exception", ("refuses_null", ()))
            yield Answer("no exception", ("takes_null", ()))
            return
        if do == "hold":
            return
        yield Answer("nothing more", ("comes_to_rest", ()))
        yield from self._calls(do)
        if do in _SIGNALS:
            yield Answer("it returns", ("signal_returns", ()))
            yield Answer("it raises", ("signal_raises", ()))
        if do in ("process", "on_next"):
            yield Answer("the oldest element is processed", ("consumes", ()))
            yield Answer("another element is processed", ("consumes_another", ()))
        if do == "process":
            yield Answer("nothing is processed", ("consumes_nothing", ()))
        if do in ("process", "on_complete", "settle"):
            yield Answer("the application is told of the end", ("finishes", ()))
        if do in ("on_error", "settle"):
            yield Answer("the application is told of the failure", ("breaks_off", ()))

    def _calls(self, do: str) -> Iterator[Answer]:
        for count in range(self._capacity + 2):
            yield Answer(f"request({count})", _requests(count))
        yield Answer("cancel", ("cancels", ()))
        if self._again or do == "on_subscribe_again":
            yield Answer("request of the other", ("requests_other", ()))
            yield Answer("cancel of the other", ("cancels_other", ()))

    def seen(self, request: Message, answer: Any) -> Seen:
        """See ``PlainConversation``."""
        do = request["do"]
        if do == "on_null":
            return Seen((("refuses_null" if answer else "takes_null", ()),),
                        "an exception" if answer else "no exception")
        steps = self._note(request)
        if answer is True:
            return Seen((), "so be it")
        for event in answer:
            steps += self._steps(event)
        if (do == "settle" or self.policy == "inline") and not self._held:
            steps.append(("comes_to_rest", ()))
        return Seen(tuple(steps), in_words(answer))

    def _note(self, request: Message) -> list[Step]:
        """What a request is a step of, and what it changes."""
        do: str = request["do"]
        if do == "on_next":
            self._asked -= 1
            self._element += 1
            if not (self._stopped or self._cancelled):
                self._waiting.append(request["element"])
        self._on = self._on or do == "on_subscribe"
        self._again = self._again or do == "on_subscribe_again"
        self._over = self._over or do in ("on_complete", "on_error")
        self._stopped = self._stopped or do == "stop"
        if do == "hold":
            self._arming = True
        if do == "release":
            self._held = False
        name = _SIGNALS.get(do, do)
        return [] if do in ("hold", "settle") else [(name, ())]

    def _steps(self, event: Message) -> list[Step]:
        """What an event shows."""
        name: str = event["event"]
        if name == "requests":
            return self._held_after(self._request(event["n"]))
        if name == "cancels":
            self._cancelled = True
            return self._held_after(("cancels", ()))
        if name == "consumes":
            return [(self._consumed(event["element"]), ())]
        return [({"raised": "signal_raises", "returned": "signal_returns"}.get(name, name), ())]

    def _request(self, count: int) -> Step:
        if not (self._cancelled or self._over):
            self._asked = min(self._asked + max(0, count), self._capacity)
        # More than a buffer holds is as wrong as that, and less than 0 as wrong as 0.
        return _requests(max(0, min(count, self._capacity + 1)))

    def _consumed(self, element: int | None) -> str:
        if element is None:
            return "consumes_nothing"
        if self._waiting and self._waiting[0] == element:
            self._waiting.popleft()
            return "consumes"
        return "consumes_another"

    def _held_after(self, step: Step) -> list[Step]:
        """A call, which is held if the next one was to be."""
        if not self._arming:
            return [step]
        self._arming, self._held = False, True
        return [step, ("hold", ())]


def _requests(count: int) -> Step:
    return "requests", (("n", count),)


def in_words(events: list[Message]) -> str:
    """What came, for a reader."""
    said = [_SAID[each["event"]].format(n=each.get("n"), element=(
        "nothing" if each.get("element") is None else f"element {each['element']}"))
        for each in events if each["event"] != "returned"]
    return ", ".join(said) or "nothing"
