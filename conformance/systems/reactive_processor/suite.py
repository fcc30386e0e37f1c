"""The suite ``reactive.processor``: both sides of a processor at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final

from ....spec.reactive.observed_processor import ObservedInlet, ObservedOutlet
from ...suites.besides import Derived, Given, room
from ...suites.lengthy import Long, grown
from ...suites.remembered import kept
from ...suites.says import all_events, table, unsaid
from ...suites.suite import Act, Course, Measure, Suite, Watch
from ..reactive_publisher.conversation import (
    COUNTS, DEPTH, REFERRED, SHOWN_BELOW, Downstream, below,
)
from ..reactive_publisher.suite import DOWNSTREAM_COURSES, DOWNSTREAM_DEPTH, ENDS
from ..reactive_publisher.suite import DOWNSTREAM_WEIGHTS as DOWN
from ..reactive_subscriber.conversation import SHOWN_ABOVE, Upstream, above
from ..reactive_subscriber.suite import PAYLOADS, UPSTREAM_MEASURES
from ..reactive_subscriber.suite import UPSTREAM_WEIGHTS as UP

__all__ = ["SUITE"]

ELEMENTS_MAX: Final = 9
"""Elements that a program may signal to the processor."""

BATCHES: Final = {1: 1, 2: 1, 3: 2, 6: 3}
"""Sizes of batches by capacity of the buffer."""


class ProcessorConversation(Downstream, Upstream):
    """One session with a processor, both sides of it; see ``Conversation``. Each machine sees all
    of it in one order."""

    carries: ClassVar = {**Downstream.carries, **Upstream.carries}
    measures: ClassVar = {**Downstream.measures, **Upstream.measures}
    knows: ClassVar[tuple[Given, ...]] = ()
    elements = kept("element", adds="next")
    has_room = room("brought", "N")
    quiescent = Derived(lambda talk: (
        talk.request["do"] == "settle" or talk.policy == "inline") and not (
            talk.holding or talk.held))
    says = table(
        (ObservedOutlet, ObservedInlet),
        *below(all_events(*SHOWN_BELOW, *SHOWN_ABOVE),
               all_events(*REFERRED, unsaid(*SHOWN_BELOW), *SHOWN_ABOVE)),
        *above(all_events(*SHOWN_BELOW, *SHOWN_ABOVE)))


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "batch": BATCHES.get(capacity, 1), "depth": DEPTH, "behind": 1}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "S": 1, "N": grown(ELEMENTS_MAX, items_max), "X": 0, "D": DEPTH, "L": 1}


def _of_one(course: Course) -> Course:
    """A course of two subscribers' suite, for the only subscriber here, as if the publisher had its
    elements already: they are in the processor's buffer before any is requested."""
    acts = tuple(tuple(act._replace(pick=act.pick // 2) for act in each)
                 if isinstance(each, tuple) else each for each in course)
    return ("on_subscribe", *("on_next",) * 5, *acts)


SUITE: Final = Suite(
    name="reactive.processor",
    version=4,
    port="reactive.processor",
    watches=(Watch(ObservedOutlet), Watch(ObservedInlet)),
    weights={**{name: 2 * weight for name, weight in UP.items()}, **DOWN,
             "on_null": 1, "on_complete": 1, "on_error": 1},
    epilogue=(Act("release"), Act("release_call"), Act("settle"), Act("request", 4),
              *(Act("on_next"),) * 2, Act("on_complete"), Act("settle"), Act("references")),
    constants=_constants,
    payloads=replace(PAYLOADS, ends=ENDS, ends_in_long=False),
    long=Long(fills=("on_next",), drains=("request", "release"),
              picks={"request": (0, 1, 2), "plan": (0, 1, 2), "subscribe": (0, 1, 2)},
              ending=("on_complete", "on_error", "on_null", "on_subscribe_again", "cancel", "quit",
                      "request_all", "subscribe_null")),
    conversation=ProcessorConversation,
    settings=_settings,
    capacities=tuple(BATCHES),
    telling={"RS-1.1": (2, 3, 6), "RS-1.3": (3, 6), "RS-1.8": (3, 6), "RS-3.3": (6,)},
    courses={
        **{rule: tuple(map(_of_one, courses)) for rule, courses in DOWNSTREAM_COURSES.items()},
        "RS-1.4": (("on_subscribe", "subscribe", "on_next", "on_error", "request", "settle"),),
        "RS-1.6": (("on_subscribe", "subscribe", "on_complete", "settle", "references"),),
        "RS-1.7": (("on_subscribe", "subscribe", "on_complete", "request", "settle"),
                   ("on_subscribe", "subscribe", (Act("request", 3),), "request", "settle")),
        "RS-2.4": (("on_subscribe", "subscribe", "on_next", "on_next", "on_complete", "request"),),
        "RS-2.6": (("on_subscribe", "subscribe", "on_next", "cancel", "settle"),),
        "RS-2.7": (("on_subscribe", "subscribe", "on_next", "hold_call", "request", "cancel"),
                   ("hold_call", "on_subscribe", "subscribe", "cancel", "release_call"),
                   ("on_subscribe", "subscribe", "on_next", "on_next", "hold_call", "request",
                    "request", "on_next")),
        "RS-2.8": (("on_subscribe", "subscribe", "cancel", "on_next"),),
        # Demand adds up while there are no elements yet.
        "RS-3.8": (("on_subscribe", "subscribe", (Act("request", 1),), (Act("request"),), "on_next",
                    "on_next", "on_next"),),
        "RS-4.2": (("on_subscribe", "subscribe", "on_next", "on_error", "settle"),),
    },
    picks=len(COUNTS),
    measures=(Measure("buffer", "Largest buffer (elements that were received and not passed on)"),
              *UPSTREAM_MEASURES, DOWNSTREAM_DEPTH),
    scene="A processor. Elements that it may buffer: {capacity}; elements that it requests "
          "together, at least: {batch}.",
)
