"""The times at which a failed message is emitted again, and when it is given up.

Pure functions from the number of failures so far. They read no clock: the caller gives times, in
milliseconds. Defaults are those of storm-kafka's ``ExponentialBackoffMsgRetryManager``; those of
storm-kafka-client are ``CLIENT``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

__all__ = ["CLIENT", "Backoff", "RetryMisuse"]


class RetryMisuse(ValueError):
    """A time, a factor or a number of failures is negative, or no integer."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """The n-th retry waits for min(longest, initial * multiplier ** (n - 1)) milliseconds.

    What is no whole number of milliseconds is rounded down. The first retry waits for ``first``
    milliseconds instead, if that is given. After ``retries`` of them (None: never) a message is
    given up. Raises ``RetryMisuse``.
    """

    initial: int = 0
    multiplier: float = 1.0
    longest: int = 60_000
    retries: int | None = None
    first: int | None = None

    def __post_init__(self) -> None:
        for what, number, low in (
                ("an initial delay", self.initial, 0), ("a longest delay", self.longest, 0),
                ("a first delay", self.first or 0, 0),
                ("a number of retries", 0 if self.retries is None else self.retries, 0)):
            if type(number) is not int or number < low:
                raise RetryMisuse(f"{what} is an integer from {low} up, not {number!r}")
        if type(self.multiplier) not in (int, float) or not 1 <= self.multiplier < inf:
            raise RetryMisuse(f"a multiplier is a number from 1 up, not {self.multiplier!r}")

    def delay(self, failures: int) -> int:
        """Milliseconds from the n-th failure to the retry that follows it."""
        _check_failures(failures)
        if failures == 1 and self.first is not None:
            return min(self.longest, self.first)
        delay: float = self.initial
        for _ in range(failures - 1):       # stops early, because powers grow without end
            if delay >= self.longest or self.multiplier == 1 or not delay:
                break
            delay *= self.multiplier
        return min(self.longest, int(delay))

    def is_worth_a_retry(self, failures: int) -> bool:
        """True if a message that has failed this often is emitted again."""
        _check_failures(failures)
        return self.retries is None or failures <= self.retries


CLIENT: Final = Backoff(initial=2, multiplier=2, longest=10_000, first=0)
"""storm-kafka-client's: the first retry comes at once, the n-th after 2 ms * 2 ** (n - 1), which
is 4 ms, 8 ms, …, at most 10 s, without end. Source: KafkaSpoutRetryExponentialBackoff.nextTime."""


def _check_failures(failures: int) -> None:
    if type(failures) is not int or failures < 1:
        raise RetryMisuse(f"a number of failures is an integer from 1 up, not {failures!r}")
