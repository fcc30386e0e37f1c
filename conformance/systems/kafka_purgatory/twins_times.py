"""Purgatories that lose or change timeouts at the ends of numbers, or where two end together."""

from __future__ import annotations

from typing import Final

from ....reference.kafka.delayed_operation import DelayedOperation
from ....reference.kafka.purgatory import Purgatory
from ...suites.twin import Twins
from .adapter import ReferencePurgatory
from .twins_rounds import parts_of

__all__ = ["TIMES"]

TIMES: Final = Twins("kafka.purgatory", ReferencePurgatory, ("reference.purgatory",), parts_of)
"""Twins of this module; ``twins`` includes them."""


class _Timeouts(Purgatory):
    """A purgatory that changes some timeouts; one of None is never over."""

    def _begin_timeout(self, operation: DelayedOperation, now: int) -> None:
        delay = self.delay_of(operation.delay)
        if delay is not None:
            operation.delay = delay
            super()._begin_timeout(operation, now)

    def delay_of(self, wanted: int) -> int | None:
        """The timeout that is used instead."""
        raise NotImplementedError


@TIMES.twin(
    "purgatory-wraps-at-16-bits", "KAFKA-P20", "a timeout is kept in 16 bits",
    "milliseconds in a field that was made for seconds")
class WrapsAt16Bits(_Timeouts):
    """A timeout of 65,539 ms becomes one of 3 ms."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted % 2**16


@TIMES.twin(
    "purgatory-wraps-at-31-bits", "KAFKA-P20", "a request whose timeout is beyond 2^31 ms expires "
    "at once", "an int of milliseconds, where Long.MaxValue stands for a timeout that never comes")
class WrapsAt31Bits(_Timeouts):
    """A timeout of 25 days is below 0, and over."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted if wanted < 2**31 else 1


@TIMES.twin(
    "purgatory-cuts-at-31-bits", "KAFKA-P2L", "a timeout beyond 2^31 ms never ends",
    "a timeout that does not fit is taken for none")
class CutsAt31Bits(_Timeouts):
    """A timeout of 25 days counts as no timeout."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted if wanted < 2**31 else None


@TIMES.twin(
    "purgatory-takes-nought-for-never", "KAFKA-P2L", "a request whose timeout is 0 never expires",
    "`if timeout` where `if timeout is not None` was meant")
class TakesNoughtForNever(_Timeouts):
    """A timeout of 0 counts as no timeout."""

    def delay_of(self, wanted: int) -> int | None:
        return wanted or None


@TIMES.twin(
    "purgatory-one-for-each-deadline", "KAFKA-P2L", "a request replaces another one whose timeout "
    "ends at the same time", "a sorted map from deadlines to requests")
class OneForEachDeadline(Purgatory):
    """The timeout of the first of two is lost."""

    def __init__(self, purge_interval: int) -> None:
        super().__init__(purge_interval)
        self._by_deadline: dict[int, DelayedOperation] = {}

    def _begin_timeout(self, operation: DelayedOperation, now: int) -> None:
        deadline = now + operation.delay
        if deadline in self._by_deadline:
            self._by_deadline[deadline].cancel()
        self._by_deadline[deadline] = operation
        super()._begin_timeout(operation, now)
