"""The port ``reactive.publisher``: a publisher, whose subscribers are the harness."""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, FLAG, INTEGER, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello, is_count,
)

__all__ = ["CAUSES", "EVENTS", "POLICIES", "PORT", "downstream", "is_event"]

CAUSES: Final = ("failure", "argument", "other")
"""What an onError may say: the source has failed, a request was for less than one, or else."""

_CALLS: Final = ("subscribe", "request", "cancel", "requests", "cancels")
_FIELDS: Final = {
    "subscribed": {}, "next": {"element": COUNT.accepts}, "returned": {}, "complete": {},
    "error": {"cause": CAUSES.__contains__}, "requests": {"n": POSITIVE.accepts}, "cancels": {},
    "raised": {"call": _CALLS.__contains__}, "waits": {"call": _CALLS.__contains__},
    "holds": {"n": COUNT.accepts},
}
"""By event, its fields besides the subscriber's number."""


def is_event(value: object) -> bool:
    """Whether a value is an event of a publisher."""
    if not (isinstance(value, dict) and isinstance(value.get("event"), str)):
        return False
    fields = _FIELDS.get(value["event"])
    of_all = value["event"] == "holds"
    return fields is not None and (of_all or is_count(value.get("subscriber"))) and all(
        isinstance(value.get(name), str | int) and accepts(value[name])
        for name, accepts in fields.items())


EVENTS: Final = Kind(
    'a list of events, each an object as {"event": "complete", "subscriber": 0}',
    lambda value: isinstance(value, list) and all(map(is_event, value)))
NUMBERS: Final = Kind(
    "a list of subscribers' numbers",
    lambda value: isinstance(value, list) and all(map(is_count, value)))

_SUBSCRIBER: Final = Argument("subscriber", COUNT, "its number: 0 or 1")


def downstream(events: Kind = EVENTS) -> tuple[Operation, ...]:
    """What whoever publishes is asked by its subscribers; a processor too."""
    return (
        Operation("subscribe", events, "a subscriber is subscribed, for the first time", (
            _SUBSCRIBER, Argument("n", COUNT, "how many it requests within onSubscribe; 0: none"))),
        Operation("request", events, "it requests elements, from outside of its signals", (
            _SUBSCRIBER, Argument("n", INTEGER, "how many; not always 1 or more"))),
        Operation("request_all", events, "it requests 2^63 - 1", (_SUBSCRIBER,)),
        Operation("cancel", events, "it cancels, perhaps again", (_SUBSCRIBER,)),
        Operation("plan", TRUE, "from now on it requests so many more in each onNext", (
            _SUBSCRIBER, Argument("n", POSITIVE, "how many"))),
        Operation("quit", TRUE, "it will cancel in its next onNext", (_SUBSCRIBER,)),
        Operation("hold", TRUE, "its next onNext does not return before a `release`; meanwhile the "
                  "publisher is called by other threads", (_SUBSCRIBER,)),
        Operation("release", events, "the onNext that is held returns", (_SUBSCRIBER,)),
        Operation("subscribe_null", FLAG, "a subscriber that is null is subscribed; ok: whether "
                  "that ended with an exception"),
        Operation("references", NUMBERS, "ok: the subscribers to which the publisher refers"),
        Operation("run", events, "one piece of work runs that is ready, if there is one"),
        Operation("settle", events, "everything runs that can run", optional=False),
    )


POLICIES: Final = {
    "inline": "what a call leads to has happened when it has returned",
    "queued": "it happens when the harness lets it: `run`, `settle`",
}

PORT: Final = Port(
    name="reactive.publisher",
    version=1,
    meaning="a publisher of Reactive Streams with the elements 0, 1, …; the harness subscribes, "
            "requests and cancels",
    operations={each.name: each for each in (
        hello("make a publisher whose source has so many elements, and then ends or fails"),
        *downstream())},
    settings=(Argument("capacity", POSITIVE, "how many elements its source has"),
              Argument("fails", COUNT, "1: after these the source fails; 0: it ends"),
              Argument("depth", POSITIVE, "how many onNext may be open, one in the other"),
              Argument("behind", COUNT, "how many signals may come between a cancel and a rest")),
    policies=POLICIES,
)
