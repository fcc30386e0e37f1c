"""When a failed message is emitted again, and when it no longer is.

Pure functions from the number of failures so far. They read no clock: times are told, in
milliseconds, by whoever has one. Defaults are those of storm-kafka's
``ExponentialBackoffMsgRetryManager``; those of storm-kafka-client are ``CLIENT``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["CLIENT", "Backoff", "RetryMisuse"]


class RetryMisuse(ValueError):
    """A time, a factor or a number of failures is negative, or no integer."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """The n-th retry waits for min(longest, initial * multiplier ** (n - 1)) milliseconds.

    After ``retries`` of them (None: never) a message is given up. Raises ``RetryMisuse``.
    """

    initial: int = 0
    multiplier: int = 1
    longest: int = 60_000
    retries: int | None = None

    def __post_init__(self) -> None:
        for what, number, low in (
                ("an initial delay", self.initial, 0), ("a multiplier", self.multiplier, 1),
                ("a longest delay", self.longest, 0),
                ("a number of retries", 0 if self.retries is None else self.retries, 0)):
            if type(number) is not int or number < low:
                raise RetryMisuse(f"{what} is an integer from {low} up, not {number!r}")

    def delay(self, failures: int) -> int:
        """Milliseconds from the n-th failure to the retry that follows it."""
        _check_failures(failures)
        delay = self.initial
        for _ in range(failures - 1):       # stops early, for powers grow without end
            if delay >= self.longest or self.multiplier == 1 or not delay:
                break
            delay *= self.multiplier
        return min(self.longest, delay)

    def is_worth_a_retry(self, failures: int) -> bool:
        """Whether a message that has failed so often is emitted again."""
        _check_failures(failures)
        return self.retries is None or failures <= self.retries


CLIENT: Final = Backoff(initial=2, multiplier=2, longest=10_000)
"""storm-kafka-client's: 2 ms, doubled each time, at most 10 s, without end. (Its very first
retry comes at once; that is left out here.)"""


def _check_failures(failures: int) -> None:
    if type(failures) is not int or failures < 1:
        raise RetryMisuse(f"a number of failures is an integer from 1 up, not {failures!r}")
