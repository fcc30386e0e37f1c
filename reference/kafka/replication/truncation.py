"""Truncation of a follower's log: Kafka's rules, from the first to the correct one.

    ToHighWatermark   0.10 and before
    ByEpoch           KIP-101 (0.11): where the leader's epoch ends that the follower's log is in
    AtLastMatch       KIP-279 (2.0): the same, again and again until both have the epoch
    WhenFetching      KIP-320 as first tried: when a fetch shows that logs do not match
    Fenced            KIP-320 (2.1): as KIP-279, and only with a leader of the same epoch

``Fenced`` is Kafka's present rule. The others lose or change committed records, each in its own
way.

Source: Kafka's ``AbstractFetcherThread.getOffsetTruncationState``; KIP-101, KIP-279, KIP-320.
"""

from __future__ import annotations

from typing import NamedTuple

from .log import NO_EPOCH, EpochEnd, Log

__all__ = [
    "AtLastMatch", "ByEpoch", "Cut", "Fenced", "ToHighWatermark", "Truncation", "WhenFetching",
]


class Cut(NamedTuple):
    """The offset of a cut; ``is_last`` if the logs match then, and the leader need not be asked
    again.
    """

    at: int
    is_last: bool


class Truncation:
    """A truncation rule.

    ``asks``: it asks the leader where to cut. ``fenced``: epochs of replicas are compared when it
    asks and fetches. ``compares``: a fetch compares the epochs of records.
    """

    asks = True
    fenced = False
    compares = False

    def at_once(self, log: Log, hw: int) -> int:
        """The offset of the cut when a replica becomes a follower, before it sends any request."""
        return log.end

    def answered(self, log: Log, hw: int, answer: EpochEnd) -> Cut:
        """The cut after the leader has answered where the epoch of the last record ends."""
        raise NotImplementedError


class ToHighWatermark(Truncation):
    """Records above the high watermark are cut. They may be committed, since the mark lags."""

    asks = False

    def at_once(self, log: Log, hw: int) -> int:
        """The high watermark, or the end of the log if that is lower."""
        return min(hw, log.end)


class ByEpoch(Truncation):
    """One question. If the leader knows no such epoch, the high watermark is used."""

    def answered(self, log: Log, hw: int, answer: EpochEnd) -> Cut:
        """Cut where the leader's epoch ends, or at the high watermark."""
        return Cut(min(hw if answer.epoch == NO_EPOCH else answer.offset, log.end), True)


class AtLastMatch(Truncation):
    """A follower without the epoch of the answer cuts to its next lower one, and asks again."""

    def answered(self, log: Log, hw: int, answer: EpochEnd) -> Cut:
        """Cut behind the last record that both may have; repeat until both have the epoch."""
        if answer.epoch == NO_EPOCH:
            return Cut(min(hw, log.end), True)
        mine = log.end_of(answer.epoch)
        if mine.epoch == NO_EPOCH:
            return Cut(min(answer.offset, log.end), True)
        return Cut(min(mine.offset, answer.offset, log.end), mine.epoch == answer.epoch)


class WhenFetching(AtLastMatch):
    """Nothing is asked before the first fetch, and epochs of replicas are not compared."""

    asks = False
    compares = True


class Fenced(AtLastMatch):
    """A follower in another epoch than the leader gets no answer."""

    fenced = True
