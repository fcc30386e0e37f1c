"""The suite ``reactive.publisher``: two subscribers request, cancel and hold signals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ....spec.reactive.observed_publisher import ObservedPublisher
from ...suites.lengthy import Long
from ...suites.says import all_events, table, unsaid
from ...suites.suite import Act, Measure, Suite, Watch
from ...suites.values import BEYOND, Payloads
from .conversation import COUNTS, DEPTH, REFERRED, SHOWN_BELOW, Downstream, below

__all__ = ["DOWNSTREAM_COURSES", "DOWNSTREAM_DEPTH", "DOWNSTREAM_WEIGHTS", "ENDS", "SUITE"]

FAILING: Final = 2
"""The number of elements with which the source fails at its end."""


_FIRST: Final = {3: -1, 6: 2**31 - 3, 400: 2**53 - 400}
"""By number of elements, the first of them, if it is not 0: -1, which may be mistaken for the end;
numbers beyond 31 bits; and the largest."""

SUBSCRIBERS: Final = 2

class PublisherConversation(Downstream):
    """One session with a publisher; see ``Conversation``."""

    says = table(ObservedPublisher, *below(
        all_events(*SHOWN_BELOW), all_events(*REFERRED, unsaid(*SHOWN_BELOW))))


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "first": _FIRST.get(capacity, 0),
            "fails": int(capacity == FAILING), "depth": DEPTH, "behind": 1}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"S": SUBSCRIBERS, "N": capacity, "X": int(capacity == FAILING), "D": DEPTH, "L": 1}


def _act(do: str, value: int = 0) -> tuple[Act, ...]:
    """An operation of the first subscriber; ``value`` picks the number."""
    return (Act(do, value * SUBSCRIBERS),)


ONE, TWO, WRONG, MANY = 0, 1, 3, 4
"""Picks of requests; see ``COUNTS``."""

_JOINED: Final = (_act("subscribe"), "settle")
"""If signals are deferred, onSubscribe comes when everything runs that can run."""

DOWNSTREAM_WEIGHTS: Final = {
    "subscribe": 3, "request": 6, "request_all": 1, "cancel": 1, "plan": 1, "quit": 1, "hold": 1,
    "release": 2, "subscribe_null": 1, "references": 1, "run": 3, "settle": 4,
}

DOWNSTREAM_COURSES: Final = {
    "RS-1.3": ((*_JOINED, _act("hold"), _act("request", TWO), "settle", _act("request"), "settle",
                _act("release"), "settle"),),
    "RS-1.6": ((*_JOINED, _act("request", MANY), "settle", "references"),),
    "RS-1.7": ((*_JOINED, _act("request", MANY), "settle", "request", "settle"),
               (*_JOINED, _act("request", WRONG), "settle", "request", "settle")),
    "RS-1.8": ((*_JOINED, _act("quit"), _act("request", MANY), "settle"),
               (*_JOINED, _act("request", TWO), _act("cancel"), "settle"),
               (*_JOINED, _act("cancel"), "settle", "settle")),
    "RS-3.2": ((_act("subscribe", 3), "settle"),
               (*_JOINED, _act("plan"), _act("request"), "settle")),
    "RS-3.3": ((*_JOINED, _act("plan"), _act("request"), "settle"),),
    "RS-3.4": ((*_JOINED, _act("hold"), _act("request", TWO), "settle", _act("request")),),
    "RS-3.5": ((*_JOINED, _act("hold"), _act("request", TWO), "settle", _act("cancel")),),
    "RS-3.6": ((*_JOINED, _act("request"), _act("cancel"), "settle", "request", "settle"),
               (*_JOINED, _act("cancel"), "settle", _act("request", WRONG), "settle")),
    "RS-3.7": ((*_JOINED, _act("request"), _act("cancel"), "settle", _act("cancel"), "settle"),),
    "RS-3.8": ((*_JOINED, _act("hold"), _act("request", TWO), "settle", _act("request"),
                _act("release"), "settle"),),
    "RS-3.9": ((*_JOINED, _act("request", WRONG), "settle"),),
    "RS-3.13": ((*_JOINED, _act("request"), _act("cancel"), "settle", "references"),),
    "RS-3.17": ((*_JOINED, _act("request_all"), "settle", _act("request_all"), "settle"),
                (*_JOINED, _act("request_all"), _act("request_all"), "settle"),
                (*_JOINED, _act("request_all"), _act("request"), "settle")),
}
"""The rare courses of events that test the rules for every publisher."""

ENDS: Final = {"request": ("n", BEYOND)}
"""Requests of more than 16, 31 or 32 bits hold, all of them more than any stream here has."""

DOWNSTREAM_DEPTH: Final = Measure(
    "depth", "Deepest recursion below (onNext that were open, one in the other)",
    "an element that is signalled")

SUITE: Final = Suite(
    name="reactive.publisher",
    version=7,
    port="reactive.publisher",
    watches=(Watch(ObservedPublisher),),
    weights=DOWNSTREAM_WEIGHTS,
    epilogue=(Act("release"), Act("release", 1), Act("settle"), Act("request", 2 * MANY),
              Act("settle"), Act("references")),
    constants=_constants,
    payloads=Payloads({}, ends=ENDS, ends_in_long=False),
    # A subscriber that requests within each onNext receives all elements at once.
    long=Long(sizes=(1_000, 400),
              ending=("cancel", "quit", "request_all", "subscribe_null", "plan"),
              picks={"subscribe": (0, 1), "plan": (0, 1),
                     "request": tuple(range(3 * SUBSCRIBERS))}),
    conversation=PublisherConversation,
    settings=_settings,
    capacities=(1, FAILING, 3, 6),
    # A publisher may drop waiting elements as soon as its source fails: then no onNext can be held,
    # and
    # nothing is cancelled before the end.
    telling={"RS-1.1": (3, 6), "RS-1.3": (3, 6), "RS-1.4": (FAILING,), "RS-1.8": (3, 6),
             "RS-3.3": (6,), **dict.fromkeys(("RS-1.5", "RS-3.4", "RS-3.5", "RS-3.7"), (1, 3, 6))},
    courses=DOWNSTREAM_COURSES,
    picks=SUBSCRIBERS * len(COUNTS),
    measures=(Measure("buffer", "Largest buffer (elements that it had drawn from its source, and "
                      "not signalled)", 'an adapter that reports it: the event "holds"'),
              DOWNSTREAM_DEPTH),
    scene="A publisher. Elements of its source: {capacity}; whether it fails after them: {fails}.",
)
