"""The receiver with marks of the rule book, and so each variant of it, behind the port."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from ....spec.flow.marks import Marks
from ....spec.flow.marks_seen import MarksSeen, SquelchSeen
from ....spec.flow.squelch import Squelch
from ....spec.notation.machine import Machine
from ....spec.notation.views import View
from ...suites.mechanism import Mechanism
from .adapter import ReferenceMarks

__all__ = ["ArrivingOnly", "MarksOfTheBook", "SquelchOfTheBook"]

_LATE: Final = 2**20
"""Elements that may come after a stop, more than any program has."""


class MarksOfTheBook(Mechanism):
    """In the chapter one element comes or is taken in a step; here as many steps as elements."""

    machine: ClassVar[type[Machine]] = Marks
    view: ClassVar[type[View[Any]]] = MarksSeen

    def __init__(self, low: int, high: int) -> None:
        super().__init__(L=low, H=high, R=_LATE)

    def arrive(self, count: int) -> bool:
        """True if the sender has to be stopped now."""
        said = [self._says("arrive", "says_stop") for _ in range(count)]
        return True in said

    def take(self, most: int) -> tuple[int, bool]:
        """The number of elements given, ``most`` at most; true if the sender has to be resumed."""
        given, goes_on = 0, False
        while given < most and (says := self._says("take", "says_go")) is not None:
            given, goes_on = given + 1, goes_on or says
        return given, goes_on

    def _says(self, action: str, signal: str) -> bool | None:
        """True if a step shows the signal; None if it cannot be taken."""
        shown = self.fire(action)
        return None if shown is None else any(name == signal for name, _ in shown)


class SquelchOfTheBook(Mechanism):
    """A receiver of which nothing is taken, with one element a tick. An element arrives a tick
    after it was sent; a signal works so late that any number may come after it."""

    machine: ClassVar[type[Machine]] = Squelch
    view: ClassVar[type[View[Any]]] = SquelchSeen

    def __init__(self, low: int, high: int) -> None:
        super().__init__(R=1, F=1, B=_LATE, H=high, C=_LATE)

    def arrive(self, count: int) -> bool:
        """True if the sender has to be stopped now."""
        ticks = [self.fire("tick", sent=sent) or () for sent in [1] * count + [0]]
        return any(name == "says_stop" for shown in ticks for name, _ in shown)


class ArrivingOnly(ReferenceMarks):
    """A receiver without a consumer."""

    name = "squelch of the book"
    core: type[SquelchOfTheBook] = SquelchOfTheBook     # type: ignore[assignment]
    take = None                                         # type: ignore[assignment]
