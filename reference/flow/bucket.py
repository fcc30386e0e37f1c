"""A token bucket: permits that nobody sends, for a receiver that says nothing.

``rate`` permits come a tick, and up to ``depth`` are kept. In t ticks that follow one another no
more than depth + rate t elements can go, so a receiver whose rate is known is not overrun while the
rates of all its senders together are not above it. A stage with such a bucket in the place of its
downstream link's permits is a throttle; with ``RolledUp`` between, nothing is lost by it.
"""

from __future__ import annotations

from typing import Final

from .link import LinkMisuse, check_number

__all__ = ["TokenBucket"]


class TokenBucket:
    """Says how many permits a tick brings. Raises ``LinkMisuse`` where a tick's do not fit."""

    def __init__(self, rate: int, depth: int) -> None:
        check_number("a rate", rate, 1)
        check_number("a depth", depth, 1)
        if rate > depth:
            raise LinkMisuse(f"{rate} permits a tick do not fit a bucket of {depth}")
        self.rate: Final = rate
        self.depth: Final = depth

    def tick(self, held: int) -> int:
        """How many there are more after a tick, where so many are held: what is more runs over."""
        return min(self.rate, self.depth - held)
