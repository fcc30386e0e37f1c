"""Operators' settings for replication."""

from __future__ import annotations

from dataclasses import dataclass

from .truncation import Fenced, Truncation

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Times are milliseconds of the broker's own clock.

    ``min_isr`` is min.insync.replicas. A replica that has not caught up for ``lag_max`` leaves the
    ISR (replica.lag.time.max.ms). ``truncation`` is the rule by which followers cut; with
    ``joins_early`` they may join the ISR before the leader's epoch has begun, as before KAFKA-7128.
    ``fetch_max`` is the maximal number of records in one answer.
    """

    min_isr: int = 1
    lag_max: int = 120
    fetch_max: int = 4
    truncation: Truncation = Fenced()
    joins_early: bool = False
