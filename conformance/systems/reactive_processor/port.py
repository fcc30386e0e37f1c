"""The port ``reactive.processor``: the harness is its publisher, and its subscriber."""

from __future__ import annotations

from typing import Final

from ...ports.base import COUNT, POSITIVE, Argument, Kind, Port, hello
from ..reactive_publisher.port import downstream
from ..reactive_publisher.port import is_event as is_of_publisher
from ..reactive_subscriber.port import is_event as is_of_subscriber
from ..reactive_subscriber.port import upstream

__all__ = ["PORT"]


def _is_event(value: object) -> bool:
    """Those of its subscriber have its number."""
    of_subscriber = isinstance(value, dict) and "subscriber" in value
    return is_of_publisher(value) if of_subscriber else is_of_subscriber(value)


EVENTS: Final = Kind(
    'a list of events, each an object as {"event": "consumes", "element": 0}',
    lambda value: isinstance(value, list) and all(map(_is_event, value)))

PORT: Final = Port(
    name="reactive.processor",
    version=1,
    meaning="a processor of Reactive Streams that passes each element on as it is; the harness "
            "signals to it, and requests from it",
    operations={each.name: each for each in (
        hello("make a processor that has no subscription and no subscriber"),
        *upstream(EVENTS), *downstream(EVENTS))},
    settings=(Argument("capacity", POSITIVE, "the most elements that it buffers"),
              Argument("batch", POSITIVE, "how many it is to ask for together, at least"),
              Argument("depth", POSITIVE, "how many onNext may be open, one in the other"),
              Argument("behind", COUNT, "how many signals may come between a cancel and a rest")),
    policies={"inline": "what a signal or a call leads to has happened when that has returned",
              "queued": "it happens when the harness lets it: `run`, `settle`"},
)
