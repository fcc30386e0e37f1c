"""The parts that ports have in common whose calls are coroutines on a loop that is driven.

A call has a name, begins when it is requested, and runs only at ``run`` and ``settle``. The answer
to every request is the list of what became of the calls, in the order in which that happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .base import NAME, POSITIVE, Argument, Kind, Operation, Vocabulary, is_word, list_of

__all__ = ["BY", "driven", "events_of_calls"]

BY: Final = Argument("by", NAME, "the name of the call")


def events_of_calls(events: Mapping[str, str]) -> Kind:
    """The kind of an answer: what calls do, each event one of these words with its meaning."""
    def is_event(value: object) -> bool:
        return (isinstance(value, dict) and is_word(value.get("does"), events)
                and NAME.accepts(value.get("by")))

    return Kind('a list of {"by", "does"}', list_of(is_event), (
        Vocabulary("an event", {"by": "the name of the call", "does": "what became of it"}),
        Vocabulary("`does`", events)))


def driven(answer: Kind) -> tuple[Operation, Operation]:
    """The two operations by which calls run, with the kind of their answer."""
    return (
        Operation("run", answer,
                  "let so many callbacks run, first in, first out; fewer if no more are ready",
                  (Argument("steps", POSITIVE, "how many"),)),
        Operation("settle", answer, "let everything run that can run at this instant",
                  optional=False),
    )
