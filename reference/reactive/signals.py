"""Signals of a publisher to a subscriber, and calls of a subscriber on its subscription."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

__all__ = [
    "CANCEL", "COMPLETE", "DEMAND_MAX", "SUBSCRIBED", "Cancel", "Complete", "Failed", "Next",
    "Request", "Signal", "StreamMisuse", "Subscribed", "Call",
]

E = TypeVar("E")

DEMAND_MAX: Final = 2**63 - 1
"""Demand from here on counts as unbounded."""


class StreamMisuse(ValueError):
    """An argument breaks the rules of streams; nothing has changed.

    Usual causes: a request for less than one element, no subscriber, no element.
    """


@dataclass(frozen=True, slots=True)
class Subscribed:
    """onSubscribe: the subscriber has a subscription."""


@dataclass(frozen=True, slots=True)
class Next(Generic[E]):
    """onNext: the subscriber receives an element."""

    element: E


@dataclass(frozen=True, slots=True)
class Complete:
    """onComplete: there are no more elements."""


@dataclass(frozen=True, slots=True)
class Failed:
    """onError: there are no more elements, for this reason."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Request:
    """request: ``count`` more elements are wanted."""

    count: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """cancel: no more elements."""


Signal = Subscribed | Next[E] | Complete | Failed
Call = Request | Cancel

SUBSCRIBED: Final = Subscribed()
COMPLETE: Final = Complete()
CANCEL: Final = Cancel()
