"""A receiver with two marks: it says stop above the high one, and go at the low one.

Between the marks it says nothing, so that its sender is not stopped and resumed at each element.
It is right only if signals get through, and needs room for the elements that the sender sends
before it hears of a stop; that is not counted here.
"""

from __future__ import annotations

from typing import Final

from .link import LinkMisuse, check_number

__all__ = ["Watermarks"]


class Watermarks:
    """Counts what is held. Raises ``LinkMisuse`` for marks the wrong way round."""

    def __init__(self, low: int, high: int) -> None:
        check_number("a low mark", low, 0)
        check_number("a high mark", high, 1)
        if low > high:
            raise LinkMisuse(f"a low mark of {low} above a high mark of {high}")
        self.low: Final = low
        self.high: Final = high
        self._held = 0
        self._stopped = False

    @property
    def held(self) -> int:
        """The elements that have come and were not taken."""
        return self._held

    @property
    def stopped(self) -> bool:
        """True if the sender was stopped, and not resumed since."""
        return self._stopped

    def arrive(self, count: int) -> bool:
        """``count`` elements have come; True if the sender has to be stopped now."""
        check_number("a number of elements", count, 1)
        self._held += count
        if self._stopped or self._held <= self.high:
            return False
        self._stopped = True
        return True

    def take(self, most: int) -> tuple[int, bool]:
        """Number of elements given, ``most`` at most; True if the sender has to be resumed."""
        check_number("a number of elements", most, 1)
        given = min(most, self._held)
        self._held -= given
        if not self._stopped or self._held > self.low:
            return given, False
        self._stopped = False
        return given, True
