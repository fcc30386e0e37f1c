"""Where a follower cuts its log: Kafka's rules, from the first to the one that holds.

    ToHighWatermark   0.10 and before
    ByEpoch           KIP-101 (0.11): where the leader's epoch ends that the follower's log is in
    AtLastMatch       KIP-279 (2.0): the same, again and again until both have the epoch
    WhenFetching      KIP-320 as first tried: when a fetch shows that logs do not match
    Fenced            KIP-320 (2.1): as KIP-279, and only with a leader of the same epoch

``Fenced`` is what Kafka does. The others lose or change committed records, each in its own way.

Source: Kafka's ``AbstractFetcherThread.getOffsetTruncationState``; KIP-101, KIP-279, KIP-320.
"""

from __future__ import annotations

from typing import NamedTuple

from .log import NO_EPOCH, EpochEnd, Log

__all__ = [
    "AtLastMatch", "ByEpoch", "Cut", "Fenced", "ToHighWatermark", "Truncation", "WhenFetching",
]


class Cut(NamedTuple):
    """Where to cut; and whether the logs match then, or the leader has to be asked again."""

    at: int
    is_last: bool


class Truncation:
    """A rule. ``asks``: it asks the leader where to cut. ``fenced``: epochs of replicas are
    compared when it asks and fetches. ``compares``: a fetch compares the epochs of records."""

    asks = True
    fenced = False
    compares = False

    def at_once(self, log: Log, hw: int) -> int:
        """Where to cut when a replica becomes a follower, before it says anything to anyone."""
        return log.end

    def answered(self, log: Log, hw: int, answer: EpochEnd) -> Cut:
        """Where to cut after the leader has said where the epoch of the last record ends."""
        raise NotImplementedError


class ToHighWatermark(Truncation):
    """What is above the high watermark may not be committed. It may be: the mark lags."""

    asks = False

    def at_once(self, log: Log, hw: int) -> int:
        return min(hw, log.end)


class ByEpoch(Truncation):
    """One question. If the leader knows no such epoch, the high watermark has to do."""

    def answered(self, log: Log, hw: int, answer: EpochEnd) -> Cut:
        return Cut(min(hw if answer.epoch == NO_EPOCH else answer.offset, log.end), True)


class AtLastMatch(Truncation):
    """If the follower has not the epoch of the answer, it cuts to its next lower one, and asks."""

    def answered(self, log: Log, hw: int, answer: EpochEnd) -> Cut:
        if answer.epoch == NO_EPOCH:
            return Cut(min(hw, log.end), True)
        mine = log.end_of(answer.epoch)
        if mine.epoch == NO_EPOCH:
            return Cut(min(answer.offset, log.end), True)
        return Cut(min(mine.offset, answer.offset, log.end), mine.epoch == answer.epoch)


class WhenFetching(AtLastMatch):
    """Nothing is asked before the first fetch, and no epoch of a replica is compared."""

    asks = False
    compares = True


class Fenced(AtLastMatch):
    """Who is in another epoch than the leader is not answered."""

    fenced = True
