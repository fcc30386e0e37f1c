"""The port ``reactive.publisher``: a publisher with the harness as subscribers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    COUNT, FLAG, INTEGER, ITEM, POSITIVE, TRUE, Argument, Kind, Operation, Port, Vocabulary, hello,
    is_count, promised,
)

__all__ = ["CAUSES", "EVENTS", "PARTS", "POLICIES", "PORT", "PROMISES", "downstream", "is_event"]

_CAUSES: Final[Mapping[str, str]] = {
    "failure": "the source has failed", "argument": "a request was for less than one",
    "other": "anything else",
}
CAUSES: Final = (*_CAUSES,)
"""The causes that an onError may give."""

_CALLS: Final[Mapping[str, str]] = {
    "subscribe": "the call that subscribes it", "request": "its request, from outside",
    "cancel": "its cancel, from outside", "requests": "its request within a signal",
    "cancels": "its cancel within a signal",
}
_FIELDS: Final = {
    "subscribed": {}, "next": {"element": ITEM.accepts}, "returned": {}, "complete": {},
    "error": {"cause": CAUSES.__contains__}, "requests": {"n": POSITIVE.accepts}, "cancels": {},
    "raised": {"call": _CALLS.__contains__}, "waits": {"call": _CALLS.__contains__},
    "holds": {"n": COUNT.accepts},
}
"""By event, its fields besides the subscriber's number."""

_EVENTS: Final[Mapping[str, str]] = {
    "subscribed": "onSubscribe", "next": "onNext begins, with an `element`",
    "returned": "the onNext that began last, and has not returned, returns",
    "complete": "onComplete", "error": "onError, with a `cause`",
    "requests": "the subscriber requests `n` within a signal, as planned by `subscribe` and `plan`",
    "cancels": "the subscriber cancels within a signal, as planned by `quit`",
    "raised": "that `call` ends with an exception",
    "waits": "that `call` does not return while a signal is open",
    "holds": "`n` elements are drawn from the source and not signalled yet; if an adapter knows "
             "it, at each reply before which the number has changed",
}

PARTS: Final = (
    Vocabulary("an event of a publisher", {
        "event": "what happens", "subscriber": "the number of the subscriber; of holds absent",
        "element": "of next: the element", "cause": "of error: which",
        "n": "of requests and holds: how many", "call": "of raised and waits: which"}),
    Vocabulary("`event` of a publisher", _EVENTS),
    Vocabulary("`cause`", _CAUSES), Vocabulary("`call`", _CALLS),
)
"""The vocabulary of a publisher's events."""


def is_event(value: object) -> bool:
    """True if a value is an event of a publisher."""
    if not (isinstance(value, dict) and isinstance(value.get("event"), str)):
        return False
    fields = _FIELDS.get(value["event"])
    of_all = value["event"] == "holds"
    return fields is not None and (of_all or is_count(value.get("subscriber"))) and all(
        isinstance(value.get(name), str | int) and accepts(value[name])
        for name, accepts in fields.items())


EVENTS: Final = Kind(
    'a list of events, each an object as {"event": "complete", "subscriber": 0}',
    lambda value: isinstance(value, list) and all(map(is_event, value)), PARTS)
NUMBERS: Final = Kind(
    "a list of subscribers' numbers",
    lambda value: isinstance(value, list) and all(map(is_count, value)))

_SUBSCRIBER: Final = Argument("subscriber", COUNT, "its number: 0 or 1")


def downstream(events: Kind = EVENTS) -> tuple[Operation, ...]:
    """The operations of subscribers on a publisher, or on a processor."""
    return (
        Operation("subscribe", events, "a subscriber is subscribed, for the first time", (
            _SUBSCRIBER, Argument("n", COUNT, "how many it requests within onSubscribe; 0: none"))),
        Operation("request", events, "it requests elements, from outside of its signals", (
            _SUBSCRIBER, Argument("n", INTEGER, "how many; not always 1 or more"))),
        Operation("request_all", events, "it requests 2^63 - 1", (_SUBSCRIBER,)),
        Operation("cancel", events, "it cancels, perhaps again", (_SUBSCRIBER,)),
        Operation("plan", TRUE, "from now on it requests this many more in each onNext", (
            _SUBSCRIBER, Argument("n", POSITIVE, "how many"))),
        Operation("quit", TRUE, "it will cancel in its next onNext", (_SUBSCRIBER,)),
        Operation("hold", TRUE, "its next onNext does not return before a `release`; meanwhile the "
                  "publisher is called by other threads", (_SUBSCRIBER,)),
        Operation("release", events, "the onNext that is held returns", (_SUBSCRIBER,)),
        Operation("subscribe_null", FLAG, "a null subscriber is subscribed; ok: true if "
                  "that ended with an exception"),
        Operation("references", NUMBERS, "ok: the subscribers to which the publisher refers"),
        Operation("run", events, "run one piece of work that is ready, if there is one"),
        Operation("settle", events, "everything runs that can run", optional=False),
    )


POLICIES: Final = {
    "inline": "the effects of a call have happened when it has returned",
    "queued": "they happen at the harness's `run` and `settle`",
}

PROMISES: Final = {
    "subscribe": {"The subscriber gets its subscription.": "RS-1.9"},
    "request": {
        "That many more elements are signalled, as far as there are any.": "RS-3.8",
        "If more was requested than there is, the end is signalled.": "RS-1.5",
        "If the source fails, that is signalled.": "RS-1.4",
        "A request for less than one is answered with onError.": "RS-3.9",
        "The call returns, even while an onNext is held.": "RS-3.4",
    },
    "request_all": {"All elements are signalled.": "RS-3.17"},
    "cancel": {"The call returns, even while an onNext is held.": "RS-3.5"},
    "plan": {"The elements requested within onNext are signalled, too.": "RS-3.2"},
}
"""The required effects of each operation on a publishing side, with the rules that judge them."""

PORT: Final = Port(
    name="reactive.publisher",
    version=1,
    meaning="a publisher of Reactive Streams with numbers, one after the other, as elements; the "
            "harness subscribes, requests and cancels",
    operations=promised((
        hello("make a publisher; its source has this many elements, and then ends or fails"),
        *downstream()), PROMISES),
    settings=(Argument("capacity", POSITIVE, "how many elements its source has"),
              Argument("first", INTEGER, "the first of them; each of the others is one more"),
              Argument("fails", COUNT, "1: after these the source fails; 0: it ends"),
              Argument("depth", POSITIVE, "how many onNext may be open, one in the other"),
              Argument("behind", COUNT,
                       "how many signals may come after a cancel, until quiescence")),
    policies=POLICIES,
)
