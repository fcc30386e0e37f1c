"""The suite ``reactive.subscriber``: elements are signalled, and its application processes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ....spec.reactive.observed_subscriber import ObservedSubscriber
from ...suites.lengthy import Long, grown
from ...suites.says import table
from ...suites.suite import Act, Measure, Suite, Watch
from ...suites.values import Payloads
from .conversation import Application, application

__all__ = ["PAYLOADS", "SUITE", "UPSTREAM_MEASURES", "UPSTREAM_WEIGHTS"]

BATCHES: Final = {1: 1, 2: 1, 3: 2, 7: 3}
"""Sizes of batches by capacity of the buffer."""


ELEMENTS_MAX: Final = 24
"""Elements that a program may signal."""


class SubscriberConversation(Application):
    """One session with a subscriber; see ``Conversation``."""

    says = table(ObservedSubscriber, *application())


def _settings(capacity: int) -> Mapping[str, int]:
    return {"capacity": capacity, "batch": BATCHES.get(capacity, 1)}


def _constants(capacity: int, items_max: int) -> Mapping[str, int]:
    return {"C": capacity, "most": grown(ELEMENTS_MAX, items_max)}


PAYLOADS: Final = Payloads({"on_next": "element"}, equal=True)
UPSTREAM_WEIGHTS: Final = {
    "on_subscribe": 4, "on_subscribe_again": 1, "on_next": 6, "on_complete": 1, "on_error": 1,
    "on_null": 1, "hold_call": 1, "release_call": 2,
}
UPSTREAM_MEASURES: Final = (
    Measure("demand", "Largest demand (elements that it had requested, and not processed or "
            "passed on)"),
    Measure("within", "Deepest recursion above (signals, and calls of its subscription within "
            "them, that were open)"),
)

SUITE: Final = Suite(
    name="reactive.subscriber",
    version=4,
    port="reactive.subscriber",
    watches=(Watch(ObservedSubscriber),),
    weights={**UPSTREAM_WEIGHTS, "process": 6, "stop": 1, "settle": 1},
    epilogue=(Act("release_call"), Act("settle"), *(Act("on_next"), Act("process")) * 2,
              Act("on_complete"), *(Act("process"),) * 3),
    constants=_constants,
    payloads=PAYLOADS,
    long=Long(fills=("on_next",), drains=("process",), sizes=(7,),
              ending=("on_complete", "on_error", "on_null", "on_subscribe_again", "stop")),
    conversation=SubscriberConversation,
    settings=_settings,
    capacities=(1, 2, 3),
    courses={
        "RS-2.4": (("on_subscribe", "on_next", "on_complete", "process"),),
        "RS-2.7": (("on_subscribe", "on_next", "hold_call", "process", "stop", "release_call"),
                   ("on_subscribe", "on_next", "hold_call", "process", "on_next", "process"),
                   ("hold_call", "on_subscribe", "stop", "release_call")),
        "RS-2.8": (("on_subscribe", "stop", "on_next"),),
        "RS-2.10": (("on_subscribe", "on_next", "on_error", "process"),),
    },
    measures=(Measure("buffer", "Largest buffer (elements that were received and not processed)"),
              *UPSTREAM_MEASURES),
    scene="A subscriber. Elements that it may buffer: {capacity}; elements that it requests "
          "together, at least: {batch}.",
)
