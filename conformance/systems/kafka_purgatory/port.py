"""The port ``kafka.purgatory``: requests that wait for an event of a key, or for their timeout.

The harness says when a request becomes ready: the adapter's requests are tried and answer whether
they are ready, and it reports every try and callback, and every exception. Times are ms, with a
tick of 1.
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
    "complete": "it is notified of its completion: onComplete",
    "expire": "it is notified that its timeout came first: onExpiration",
}
"""Callbacks that may raise."""

CALLS: Final[Mapping[str, str]] = {
    **CALLBACKS, "raise": "the call before, of the same request, has raised",
}
"""Calls of a request that are reported, and that the call before has raised."""


def _is_call(value: object) -> bool:
    return (isinstance(value, dict) and is_word(value.get("call"), CALLS)
            and NAME.accepts(value.get("request")))


def _reports(answer: Kind) -> Kind:
    """The kind of an answer that comes with the calls of requests; an operation that raised has no
    answer."""
    def accepts(value: object) -> bool:
        return (isinstance(value, dict)
                and (value.get("raised") is True or answer.accepts(value.get("answer")))
                and isinstance(value.get("calls"), list) and all(map(_is_call, value["calls"])))

    return Kind(
        f'{{"answer": {answer.words}, "calls": the calls, in order}}, or "raised": true for the '
        "answer if the call raised", accepts, (
            Vocabulary("the answer to an operation that calls requests", {
                "answer": "the result of the operation; absent if it raised",
                "raised": "true: it raised; absent if it did not",
                "calls": "a list: each call of a request in the operation, in order"}),
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
    _operation("ready", TRUE, "a request becomes ready, perhaps before it is created; that "
               "notifies no one", _REQUEST),
    _operation("soon", TRUE, "a request will become ready after its first try; it is not created "
               "yet", _REQUEST),
    _operation("fail", TRUE, "the next such call of a request raises, after it is reported",
               _REQUEST, Argument("call", CALLBACK, "which call")),
    _operation("watch", _reports(FLAG), "create a request: try it, watch, try again, begin its "
               "timeout; ok: whether its tries completed it", _REQUEST,
               Argument("keys", NAMES, "its keys"),
               Argument("timeout", COUNT, "its timeout (ms); 0 has passed at once: it expires in "
                        "this call, or in the next round")),
    _operation("force", _reports(FLAG), "complete a request; ok: whether this call did", _REQUEST),
    _operation("check", _reports(COUNT), "an event of a key; ok: the number of requests that it "
               "completed",
               _KEY),
    _operation("cancel", _reports(TRUE), "remove a key's requests from list and timer; they are "
               "not completed", _KEY),
    _operation("advance", _reports(TRUE), "time passes, and then a round of the reaper runs",
               Argument("by", POSITIVE, "how long (ms)")),
    _operation("moved", FLAG, "the timer's answer in the last round: whether an entry of it, of a "
               "completed request or not, was due"),
    _operation("watched", COUNT, "the total length of all watcher lists"),
    _operation("delayed", COUNT, "the number of requests in the timer"),
    _operation("estimate", COUNT, "the estimate of the number of watched requests"),
    _operation("keys", COUNT, "the number of keys with a watcher list"),
)

_PROMISES: Final = {
    "watch": {
        "A request that is ready is completed at once.": "KAFKA-P22",
        "A request that becomes ready while it is created is completed too.": "KAFKA-P3",
    },
    "force": {
        "The request is completed, unless it was completed before.": "KAFKA-P23",
    },
    "check": {
        "Every ready request on the list is completed.": "KAFKA-P3",
        "A request does not delay others if its callback raises.": "KAFKA-P28",
    },
    "advance": {
        "Every request that has timed out is completed.": "KAFKA-P2L",
        "Its expiry callback is called.": "KAFKA-P21",
        "A request does not delay others if its callback raises.": "KAFKA-P27",
    },
}
"""The promises of each operation, and the rules of progress that judge them."""

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
