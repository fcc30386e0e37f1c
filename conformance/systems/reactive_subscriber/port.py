"""The port ``reactive.subscriber``: the harness is its publisher, and its application."""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, FLAG, INTEGER, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello, is_count,
)

__all__ = ["CALLS", "EVENTS", "PORT", "upstream"]

CALLS: Final = ("requests", "cancels", "requests_other", "cancels_other")
_NAMES: Final = (*CALLS, "consumes", "finishes", "breaks_off", "raised", "returned")


def _is_event(value: object) -> bool:
    if not isinstance(value, dict) or value.get("event") not in _NAMES:
        return False
    if value["event"] in ("requests", "requests_other"):
        return INTEGER.accepts(value.get("n"))
    return value["event"] != "consumes" or (
        value.get("element", 0) is None or is_count(value.get("element")))


EVENTS: Final = Kind(
    "a list of events",
    lambda value: isinstance(value, list) and all(map(_is_event, value)))
SIGNAL: Final = Kind('"subscribe", "next" or "error"',
                     lambda value: value in ("subscribe", "next", "error"))


def upstream() -> tuple[Operation, ...]:
    """What whoever subscribes is told by its publisher; a processor too."""
    return (
        Operation("on_subscribe", EVENTS, "it is handed its subscription"),
        Operation("on_subscribe_again", EVENTS, "it is handed another one, although it has one"),
        Operation("on_next", EVENTS, "an element that it has requested is signalled",
                  (Argument("element", COUNT, "its number: 0, 1, … in turn"),)),
        Operation("on_complete", EVENTS, "there are no more elements"),
        Operation("on_error", EVENTS, "the publisher has failed"),
        Operation("on_null", FLAG, "a signal comes with null in it; ok: whether that ended with an "
                  "exception", (Argument("signal", SIGNAL, "which one"),)),
    )


PORT: Final = Port(
    name="reactive.subscriber",
    version=1,
    meaning="a subscriber of Reactive Streams and its application; the harness signals elements, "
            "and says when the application processes one",
    operations={each.name: each for each in (
        hello("make a subscriber that has no subscription yet"),
        *upstream(),
        Operation("process", EVENTS, "its application processes one element"),
        Operation("stop", EVENTS, "its application needs no more elements"),
        Operation("hold", TRUE, "the next call that it makes of its subscription does not return "
                  "before a `release`; meanwhile other threads go on"),
        Operation("release", EVENTS, "the call that is held returns"),
        Operation("settle", EVENTS, "everything runs that can run", optional=False),
    )},
    settings=(Argument("capacity", POSITIVE, "the most elements that it buffers"),
              Argument("batch", POSITIVE, "how many it is to ask for together, at least")),
    policies={
        "inline": "what a signal or the application leads to has happened when that has returned",
        "queued": "it happens when the harness lets it: `settle`",
    },
)
