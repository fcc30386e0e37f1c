"""A receiver with two marks: above the one it says stop, and at the other go.

Between the marks it says nothing, so that its sender is not told to stop and to go at each element.
It is right only where signals get through, and needs room for what the sender sends before it
hears of a stop; that is not counted here.
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
        """Whether the sender was told to stop, and not to go since."""
        return self._stopped

    def arrive(self, count: int) -> bool:
        """So many elements have come; whether the sender has to be told to stop now."""
        check_number("a number of elements", count, 1)
        self._held += count
        if self._stopped or self._held <= self.high:
            return False
        self._stopped = True
        return True

    def take(self, most: int) -> tuple[int, bool]:
        """How many elements whoever asks for so many gets, and whether the sender has to be told
        to go on now."""
        check_number("a number of elements", most, 1)
        given = min(most, self._held)
        self._held -= given
        if not self._stopped or self._held > self.low:
            return given, False
        self._stopped = False
        return given, True
