"""The port ``reactive.subscriber``: the harness is its publisher, and its application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    FLAG, INTEGER, ITEM, ITEM_OR_NULL, POSITIVE, TRUE, Argument, Kind, Operation, Port, Vocabulary,
    hello, is_word, promised,
)

__all__ = ["CALLS", "EVENTS", "PARTS", "PORT", "PROMISES", "is_event", "upstream"]

CALLS: Final = ("requests", "cancels", "requests_other", "cancels_other")
_NAMES: Final[Mapping[str, str]] = {
    "requests": "it requests `n` of its subscription", "cancels": "it cancels its subscription",
    "requests_other": "it requests `n` of the second subscription, after `on_subscribe_again`",
    "cancels_other": "it cancels the second subscription",
    "consumes": "the application has processed an `element`; null: there was none",
    "finishes": "the application is notified of onComplete",
    "breaks_off": "the application is notified of onError",
    "raised": "the signal has ended with an exception", "returned": "the signal has returned",
}

PARTS: Final = (
    Vocabulary("an event of a subscriber", {
        "event": "what happens", "n": "of requests and requests_other: how many, an integer",
        "element": "of consumes: the element, or null: there was none"}),
    Vocabulary("`event` of a subscriber", _NAMES),
)
"""The vocabulary of a subscriber's events."""


def is_event(value: object) -> bool:
    """True if a value is an event of a subscriber."""
    if not isinstance(value, dict) or not is_word(value.get("event"), _NAMES):
        return False
    if value["event"] in ("requests", "requests_other"):
        return INTEGER.accepts(value.get("n"))
    return value["event"] != "consumes" or (
        ITEM_OR_NULL.accepts(value.get("element", False)))


EVENTS: Final = Kind(
    'a list of events, each an object as {"event": "requests", "n": 1}',
    lambda value: isinstance(value, list) and all(map(is_event, value)), PARTS)
_SIGNALS: Final[Mapping[str, str]] = {
    "subscribe": "onSubscribe with no subscription", "next": "onNext with no element",
    "error": "onError with no error",
}
SIGNAL: Final = Kind('"subscribe", "next" or "error"', lambda value: is_word(value, _SIGNALS),
                     (Vocabulary("`signal`", _SIGNALS),))


def upstream(events: Kind = EVENTS) -> tuple[Operation, ...]:
    """The operations of a publisher on a subscriber, or on a processor."""
    return (
        Operation("on_subscribe", events, "it receives its subscription"),
        Operation("on_subscribe_again", events,
                  "it receives a second subscription, although it has one"),
        Operation("on_next", events, "an element that it has requested is signalled",
                  (Argument("element", ITEM, "the element; the same may come again"),)),
        Operation("on_complete", events, "there are no more elements"),
        Operation("on_error", events, "the publisher has failed"),
        Operation("on_null", FLAG, "a signal comes with null in it; ok: true if that ended with an "
                  "exception", (Argument("signal", SIGNAL, "which one"),)),
        Operation("hold_call", TRUE, "the next call that it makes of its subscription does not "
                  "return before a `release_call`; meanwhile other threads continue"),
        Operation("release_call", events, "the call that is held returns"),
    )


PROMISES: Final = {
    "on_subscribe": {"If elements are wanted, some are requested.": "RS-2.1"},
    "on_subscribe_again": {"The second subscription is cancelled.": "RS-2.5"},
    "on_complete": {"The end is passed on: to the application, or to the processor's "
                    "subscriber.": "RS-2.9"},
    "on_error": {"The failure is passed on: to the application, or to the processor's "
                 "subscriber.": "RS-2.10"},
}
"""The required effects of each operation on a subscribing side, with the rules that judge them."""

PORT: Final = Port(
    name="reactive.subscriber",
    version=1,
    meaning="a subscriber of Reactive Streams and its application; the harness signals elements, "
            "and lets the application process them one by one",
    operations=promised((
        hello("make a subscriber that has no subscription yet"),
        *upstream(),
        Operation("process", EVENTS, "its application processes one element"),
        Operation("stop", EVENTS, "its application needs no more elements"),
        Operation("settle", EVENTS, "everything runs that can run", optional=False),
    ), PROMISES | {
        "process": {"An element that has come is processed.": "RS-2.11",
                    "When all are processed, more are requested.": "RS-2.1"},
        "stop": {"The subscription is cancelled.": "RS-2.6"},
    }),
    settings=(Argument("capacity", POSITIVE, "the most elements that it buffers"),
              Argument("batch", POSITIVE, "how many it requests together, at least")),
    policies={
        "inline": "the effects of a signal or the application have happened when it has returned",
        "queued": "they happen at the harness's `settle`",
    },
)
