"""A replica's log: records with the epochs of the leaders that appended them.

Beside the records there is the *leader epoch cache*: for each epoch, the offset at which it begins.
It answers the question that truncation needs: where does an epoch end in this log? Offsets count
from 0, and no record is deleted at the front.

Source: Kafka's ``UnifiedLog`` and ``LeaderEpochFileCache``; KIP-101, KIP-279.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["NO_EPOCH", "EpochEnd", "Log", "LogMisuse", "Record"]

NO_EPOCH: Final = -1
"""The number of an unknown epoch."""


class LogMisuse(ValueError):
    """A cut beyond the end of the log, or before its beginning."""


class Record(NamedTuple):
    """A producer's value, and the epoch of the leader that appended it."""

    value: int
    epoch: int


class EpochEnd(NamedTuple):
    """An epoch, and the offset behind its last record; ``NO_EPOCH`` and -1 if it is unknown."""

    epoch: int
    offset: int


UNKNOWN: Final = EpochEnd(NO_EPOCH, -1)


class Log:
    """Records in order, and where each epoch begins."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._begins: list[tuple[int, int]] = []    # epoch and first offset, both ascending

    @property
    def end(self) -> int:
        """The log end offset (LEO): that of the next record."""
        return len(self.records)

    @property
    def last_epoch(self) -> int:
        """The largest epoch in the cache; ``NO_EPOCH`` if there is none."""
        return self._begins[-1][0] if self._begins else NO_EPOCH

    def begin(self, epoch: int) -> None:
        """A leader begins an epoch at the end of its log; a lower epoch has no effect."""
        if epoch > self.last_epoch:
            # An epoch without a record leaves no trace: the next one begins at the same place.
            self._begins = [each for each in self._begins if each[1] < self.end]
            self._begins.append((epoch, self.end))

    def append(self, record: Record) -> int:
        """Append a record, and return its offset."""
        self.begin(record.epoch)
        self.records.append(record)
        return self.end - 1

    def cut(self, at: int) -> None:
        """Remove all records from an offset on. Raises ``LogMisuse`` beyond the end."""
        if not 0 <= at <= self.end:
            raise LogMisuse(f"a log of {self.end} records cannot be cut at {at}")
        del self.records[at:]
        self._begins = [each for each in self._begins if each[1] < at]

    def epoch_at(self, offset: int) -> int:
        """The epoch of a record; ``NO_EPOCH`` if there is no record."""
        return self.records[offset].epoch if 0 <= offset < self.end else NO_EPOCH

    def end_of(self, epoch: int) -> EpochEnd:
        """The largest epoch up to this one, and where it ends.

        The log's last epoch ends at its end. An epoch that is larger or smaller than all is
        unknown: the latter ends where the log begins.
        """
        if epoch == NO_EPOCH or epoch > self.last_epoch:
            return UNKNOWN
        if epoch == self.last_epoch:
            return EpochEnd(epoch, self.end)
        lower = [each for each, _ in self._begins if each <= epoch]
        end = next(begin for each, begin in self._begins if each > epoch)
        return EpochEnd(lower[-1] if lower else epoch, end)
