"""The port ``kafka.purgatory``: requests that wait for an event of a key, or for their timeout.

What a request waits for is told: the adapter's requests are tried and say whether they are ready,
and it reports every try and callback, and what raises. Times are ms, with a tick of 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    COUNT, FLAG, NAME, NAMES, POSITIVE, TRUE, Argument, Kind, Operation, Port, Vocabulary,
    hello, is_word, promised,
)

__all__ = ["CALLBACKS", "CALLS", "PORT"]

CALLBACKS: Final[Mapping[str, str]] = {
    "try": "it is asked whether it can be completed: tryComplete",
    "complete": "it is told that it is completed: onComplete",
    "expire": "it is told that its timeout came first: onExpiration",
}
"""What may raise."""

CALLS: Final[Mapping[str, str]] = {
    **CALLBACKS, "raise": "the call before, of the same request, has raised",
}
"""What is reported of a request: it is called; and the call before has raised."""


def _is_call(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("call"), CALLS)
            and NAME.accepts(value.get("request")))


def _reports(answer: Kind) -> Kind:
    def accepts(value: object) -> bool:
        return (isinstance(value, dict)
                and (value.get("raised") is True or answer.accepts(value.get("answer")))
                and isinstance(value.get("calls"), list) and all(map(_is_call, value["calls"])))

    return Kind(
        f'{{"answer": {answer.words}, "calls": the calls, in order}}, or "raised": true for the '
        "answer where the call raised", accepts, (
            Vocabulary("the answer to an operation that calls requests", {
                "answer": "what the operation returned; absent where it raised",
                "raised": "true: it raised; absent where it did not",
                "calls": "a list: each call of a request that there was in it, in order"}),
            Vocabulary("a call of a request", {"call": "which one", "request": "its name"}),
            Vocabulary("`call`", CALLS)))


def _operation(name: str, answer: Kind, meaning: str, *arguments: Argument) -> Operation:
    return Operation(name, answer, meaning, arguments)


CALLBACK: Final = Kind('"try", "complete" or "expire"', lambda value: is_word(value, CALLBACKS),
                       (Vocabulary("`call`", CALLS),))

_REQUEST = Argument("request", NAME, "the request")
_KEY = Argument("key", NAME, "the key")

_OPERATIONS: Final = (
    hello("start with an empty purgatory at time 0"),
    _operation("ready", TRUE, "what a request waits for comes true, perhaps before it is made; "
               "nobody is told by that", _REQUEST),
    _operation("soon", TRUE, "what a request waits for will come true after it was tried once; "
               "it is not made yet", _REQUEST),
    _operation("fail", TRUE, "the next such call of a request raises, once it is reported",
               _REQUEST, Argument("call", CALLBACK, "which call")),
    _operation("watch", _reports(FLAG), "make a request: try it, watch, try again, begin its "
               "timeout; whether its tries completed it", _REQUEST,
               Argument("keys", NAMES, "its keys"),
               Argument("timeout", POSITIVE, "its timeout (ms)")),
    _operation("force", _reports(FLAG), "complete a request; whether this did", _REQUEST),
    _operation("check", _reports(COUNT), "an event of a key; how many requests it completed",
               _KEY),
    _operation("cancel", _reports(TRUE), "take a key's requests out of list and timer; they are "
               "not completed", _KEY),
    _operation("advance", _reports(TRUE), "time goes by, and then the reaper goes round",
               Argument("by", POSITIVE, "how long (ms)")),
    _operation("moved", FLAG, "what the timer answered in the round before: whether anything in "
               "it, of a completed request or not, was due"),
    _operation("watched", COUNT, "the lengths of all watcher lists together"),
    _operation("delayed", COUNT, "how many requests are in the timer"),
    _operation("estimate", COUNT, "the estimate of the requests that are watched"),
    _operation("keys", COUNT, "how many keys have a watcher list"),
)

_PROMISES: Final = {
    "watch": {
        "A request that is ready is completed at once.": "KAFKA-P22",
        "One that becomes ready while it is made is completed too.": "KAFKA-P3",
    },
    "force": {
        "The request is completed, unless it was before.": "KAFKA-P23",
    },
    "check": {
        "Every request on the list that is ready is completed.": "KAFKA-P3",
        "One whose callback raises holds up no other.": "KAFKA-P28",
    },
    "advance": {
        "Every request whose timeout has passed is completed.": "KAFKA-P2L",
        "Its expiry callback is called.": "KAFKA-P21",
        "One whose callback raises holds up no other.": "KAFKA-P27",
    },
}
"""What has to come of each operation, and the rules of progress that judge it."""

PORT: Final = Port(
    name="kafka.purgatory",
    version=1,
    meaning="a request purgatory; every call of a request is reported with the answer to the "
            "operation in which it came: {\"call\": \"try\", \"complete\", \"expire\" or "
            "\"raise\", \"request\": name}",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "the purge interval"),),
    policies={
        "estimate": "lists are purged if the estimate exceeds the timer's size by more than the "
                    "purge interval",
        "length": "lists are purged if their length reaches the purge interval",
    },
)
