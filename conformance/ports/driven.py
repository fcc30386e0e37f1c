"""The common parts of ports with calls that are coroutines on a loop that is driven, or are
made by threads that run one at a time.

A call has a name, begins when it is requested, and runs only at ``run`` and ``settle``; one that a
thread makes at ``proceed`` and ``settle``. The answer to every request is the list of what became
of the calls, in the order in which that happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .base import (
    COUNT, NAME, POSITIVE, TRUE, Argument, Kind, Operation, Vocabulary, is_word, list_of,
)

__all__ = ["BY", "driven", "events_of_calls", "stopped"]

BY: Final = Argument("by", NAME, "the name of the call")


def events_of_calls(events: Mapping[str, str]) -> Kind:
    """The kind of an answer: what calls do, each event one of these words with its meaning."""
    def is_event(value: object) -> bool:
        return (isinstance(value, dict) and is_word(value.get("does"), events)
                and NAME.accepts(value.get("by")))

    return Kind('a list of {"by", "does"}', list_of(is_event), (
        Vocabulary("an event", {"by": "the name of the call", "does": "what became of it"}),
        Vocabulary("`does`", events)))


def stopped(answer: Kind) -> tuple[Operation, Operation]:
    """The two operations by which a call of a thread is stopped on its way, and continues."""
    return (
        Operation("pause", TRUE,
                  "the next call that is new or gives back is stopped after so many steps of its "
                  "thread, if it takes as many; it continues at `proceed` or `settle`",
                  (Argument("steps", POSITIVE, "how many: a step is the smallest unit between "
                            "which a thread may be stopped"),)),
        Operation("proceed", answer,
                  "one of the calls that can continue does, until it ends or waits",
                  (Argument("place", COUNT, "which of them, from 0, round and round"),)),
    )


def driven(answer: Kind) -> tuple[Operation, Operation]:
    """The two operations by which calls run, with the kind of their answer."""
    return (
        Operation("run", answer,
                  "let so many callbacks run, first in, first out; fewer if no more are ready",
                  (Argument("steps", POSITIVE, "how many"),)),
        Operation("settle", answer, "let everything run that can run at this instant",
                  optional=False),
    )
