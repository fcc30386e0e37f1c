"""Processors with one seeded bug each: on their publisher's side, their subscriber's, or between.

A processor is made of an outlet and an inlet, so a bug in these of a publisher or of a subscriber
is a bug here, and violates the same rule, except for the bugs that another rule detects first if
both sides are watched.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from ....reference.reactive.outlet import Outlet
from ....reference.reactive.processor import MapProcessor
from ....reference.reactive.signals import DEMAND_MAX, Call, Request
from ....reference.reactive.subscriber import BatchSubscriber
from ...suites.twin import Twins
from ..reactive_publisher.twins import TWINS as PUBLISHERS
from ..reactive_subscriber.twins import TWINS as SUBSCRIBERS
from .adapter import ReferenceProcessor

__all__ = ["TWINS"]

Mapper = MapProcessor[int, int]
Inlet = BatchSubscriber[int]


def _part(bug: type[Any]) -> dict[str, Any]:
    """The part that a class with a bug replaces: the processor or its inlet."""
    return {"core" if issubclass(bug, BatchSubscriber) else "processor": bug}


TWINS: Final = Twins("reactive.processor", ReferenceProcessor, ("reference.processor",), _part)

ELSEWHERE: Final = {
    "publisher-fails-in-silence": "RS-4.2", "subscriber-drops-errors": "RS-4.2",
    "subscriber-forgets-the-end": "RS-1.5", "subscriber-keeps-the-newest": "RS-0.2",
    "subscriber-processes-the-newest": "RS-0.1", "subscriber-stack-from-four": "RS-0.1",
    "subscriber-stack-from-six": "RS-0.1", "subscriber-drops-equal-elements": "RS-0.2",
    **dict.fromkeys(("subscriber-loses-what-is-false", "subscriber-cuts-long-texts",
                     "subscriber-takes-numbers-for-texts"), "RS-0.1"),
}
"""By twin of one side, the rule that detects its bug in a processor, if it is another one."""

NOT_HERE: Final = (
    "subscriber-works-within", "publisher-fails-at-its-end", "subscriber-application-sleeps")
"""Twins that are no bugs in a processor: it may work within the signal, draws from no iterator, and
has no application."""

for _each in (*PUBLISHERS.values(), *SUBSCRIBERS.values()):
    if "publisher" not in _each.parts and not _each.after and _each.name not in NOT_HERE:
        _side, _, _bug = _each.name.partition("-")
        TWINS.add(f"processor-{'in' if _side == 'subscriber' else 'out'}-{_bug}",
                  ELSEWHERE.get(_each.name, _each.rule), _each.bug, _each.history,
                  parts=_each.parts)


# ---- between both sides -------------------------------------------------------------------------


@TWINS.twin("processor-takes-nobody", "RS-1.9", "null is subscribed like any subscriber",
            "no check: the exception comes later, elsewhere")
class TakingNobody(Mapper):
    """A null subscriber is treated like any other."""

    def subscribe(self, subscriber: Hashable) -> Outlet[int]:
        return super().subscribe("nobody" if subscriber is None else subscriber)


@TWINS.twin("processor-does-not-pass-on-cancels", "RS-2.6", "a cancel stays in the processor",
            "RxJava #7081: the source is not cancelled, and continues without a subscriber")
class KeepingCancels(Mapper):
    """A cancel only makes the processor forget its subscriber."""

    def _leave(self) -> None:
        """Do nothing: the publisher does not learn of the cancel."""


@TWINS.twin("processor-asks-for-all", "RS-0.2", "requests everything from its publisher",
            "RxJava #3061, reactor #167: MAX is passed on instead of the demand")
class AskingForAll(Inlet):
    """Every element that comes is kept until it is requested."""

    def _next(self) -> Call | None:
        call = super()._next()
        return Request(DEMAND_MAX >> 20) if isinstance(call, Request) else call


@TWINS.twin("processor-ends-with-elements-left", "RS-0.1", "onComplete overtakes waiting elements",
            "the end is passed on when it comes, like a failure")
class EndingWithElementsLeft(Inlet):
    """The end is passed on even while elements wait."""

    def on_complete(self) -> None:
        self._buffer.clear()
        super().on_complete()


# ---- bugs that show late ------------------------------------------------------------------------

TWINS.late("processor-out-overlaps", 40, 300)
