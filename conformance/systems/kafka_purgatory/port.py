"""The port ``kafka.purgatory``: requests that wait for an event of a key, or for their timeout.

What a request waits for is told: the adapter's requests are tried and say whether they are ready,
and it reports every try and callback, and what raises. Times are ms, with a tick of 1.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, FLAG, NAME, NAMES, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello, is_word,
)

__all__ = ["CALLBACKS", "CALLS", "PORT"]

CALLBACKS: Final = ("try", "complete", "expire")
"""What may raise: a try, ``on_complete``, ``on_expiration``."""

CALLS: Final = (*CALLBACKS, "raise")
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
        "answer where the call raised", accepts)


def _operation(name: str, answer: Kind, meaning: str, *arguments: Argument) -> Operation:
    return Operation(name, answer, meaning, arguments)


CALLBACK: Final = Kind('"try", "complete" or "expire"', lambda value: is_word(value, CALLBACKS))

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

PORT: Final = Port(
    name="kafka.purgatory",
    version=1,
    meaning="a request purgatory; every call of a request is reported with the answer to the "
            "operation in which it came: {\"call\": \"try\", \"complete\", \"expire\" or "
            "\"raise\", \"request\": name}",
    operations={each.name: each for each in _OPERATIONS},
    settings=(Argument("capacity", POSITIVE, "the purge interval"),),
    policies={
        "estimate": "lists are purged if the estimate exceeds the timer's size by more than the "
                    "purge interval",
        "length": "lists are purged if their length reaches the purge interval",
    },
)
