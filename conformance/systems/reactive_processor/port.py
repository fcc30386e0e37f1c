"""The port ``reactive.processor``: the harness is its publisher, and its subscriber."""

from __future__ import annotations

from typing import Final

from ...ports.base import COUNT, POSITIVE, Argument, Kind, Port, hello, promised
from ..reactive_publisher.port import PARTS as OF_PUBLISHER
from ..reactive_publisher.port import PROMISES as PUBLISHER_PROMISES
from ..reactive_publisher.port import downstream
from ..reactive_publisher.port import is_event as is_of_publisher
from ..reactive_subscriber.port import PARTS as OF_SUBSCRIBER
from ..reactive_subscriber.port import PROMISES as SUBSCRIBER_PROMISES
from ..reactive_subscriber.port import is_event as is_of_subscriber
from ..reactive_subscriber.port import upstream

__all__ = ["PORT"]


def _is_event(value: object) -> bool:
    """True for an event of a processor; one of its subscriber has the subscriber's number."""
    of_subscriber = isinstance(value, dict) and "subscriber" in value
    return is_of_publisher(value) if of_subscriber else is_of_subscriber(value)


EVENTS: Final = Kind(
    'a list of events, each an object as {"event": "consumes", "element": 0}',
    lambda value: isinstance(value, list) and all(map(_is_event, value)),
    (*OF_PUBLISHER, *OF_SUBSCRIBER))

PORT: Final = Port(
    name="reactive.processor",
    version=1,
    meaning="a processor of Reactive Streams that passes each element on unchanged; the harness "
            "signals to it, and requests from it",
    operations=promised((
        hello("make a processor that has no subscription and no subscriber"),
        *upstream(EVENTS), *downstream(EVENTS)), PUBLISHER_PROMISES | SUBSCRIBER_PROMISES | {
            "on_error": {"The failure is passed on at once.": "RS-4.2",
                         "The end is passed on to the subscriber.": "RS-2.10"},
            "cancel": {"The call returns, even while an onNext is held.": "RS-3.5",
                       "If no subscriber wants elements any more, its own subscription is "
                       "cancelled.":
                           "RS-2.6"},
        }),
    settings=(Argument("capacity", POSITIVE, "the most elements that it buffers"),
              Argument("batch", POSITIVE, "how many it requests together, at least"),
              Argument("depth", POSITIVE, "how many onNext may be open, one in the other"),
              Argument("behind", COUNT,
                       "how many signals may come after a cancel, until quiescence")),
    policies={"inline": "the effects of a signal or a call have happened when it has returned",
              "queued": "they happen at the harness's `run` and `settle`"},
)
