"""storm-kafka-client's method: offsets that were acked, and how far they reach without a gap.

``OffsetManager`` says which position may be committed; ``ClientPartition`` is a partition
manager that is built around it. It fits where ``spout.PartitionManager`` does, and keeps the
same promises by other means: an offset is known from its emit on, a commit goes only as far as
acked offsets do, and a retry reads the log again from the failed offset, including messages that
were acked meanwhile, which are skipped when they would be emitted.

Voids (offsets that compaction or a transaction has left without a message) are never emitted.
A gap in the acked offsets is one if nothing in it was emitted.
"""

from __future__ import annotations

import enum
from typing import Any, Final

from .spout import Fetch, PartitionManager, PartitionMisuse

__all__ = ["ClientPartition", "Guarantee", "OffsetManager"]


class OffsetManager:
    """The offsets of one partition from ``committed``, the next to be processed, on."""

    def __init__(self, committed: int = 0) -> None:
        self.committed = committed
        self.emitted: set[int] = set()
        self.acked: set[int] = set()

    def emit(self, offset: int) -> None:
        """An offset is emitted, perhaps again. Raises ``PartitionMisuse`` below the commit."""
        if offset < self.committed:
            raise PartitionMisuse(f"{offset} is below the commit, {self.committed}")
        self.emitted.add(offset)

    def ack(self, offset: int) -> None:
        """Mark an offset as done, whether or not it was emitted: it may have left the log."""
        if offset >= self.committed:
            self.emitted.add(offset)
            self.acked.add(offset)

    def find_next_commit(self) -> int:
        """The position up to which everything is done; the present one if there is no progress.

        Storm's own ends after an acked offset; this one also passes a void that follows.
        """
        position = self.committed
        for offset in sorted(self.emitted):
            if offset > position and self._is_void(position, offset):
                position = offset
            if offset != position or offset not in self.acked:
                break
            position += 1
        return position

    def _is_void(self, start: int, end: int) -> bool:
        """True if nothing from ``start`` up to ``end`` was emitted, while ``end`` was; offsets are
        emitted in their order, so nothing between will be."""
        return not any(start <= each < end for each in self.emitted)

    def commit(self, position: int) -> None:
        """A position was recorded. Raises ``PartitionMisuse`` if it goes back."""
        if position < self.committed:
            raise PartitionMisuse(f"a commit of {position} after one of {self.committed}")
        self.committed = position
        self.emitted = {each for each in self.emitted if each >= position}
        self.acked = {each for each in self.acked if each >= position}


class Guarantee(enum.Enum):
    """The delivery guarantee for each message."""

    AT_LEAST_ONCE = "commits messages that are done"
    AT_MOST_ONCE = "commits fetched messages, before any of them is emitted"
    NO_GUARANTEE = "commits fetched messages, from time to time"


class ClientPartition(PartitionManager):
    """A manager of one partition; see ``PartitionManager`` for the rest.

    ``uncommitted_max`` is how many offsets may have been emitted and not been committed
    before nothing more is read (0: any number), except retries. With a
    guarantee other than AT_LEAST_ONCE nothing is retried; with AT_MOST_ONCE the driver has to
    commit, and to record the position, between a fetch and the next emit.
    """

    def __init__(self, committed: int = 0, *, uncommitted_max: int = 0,
                 guarantee: Guarantee = Guarantee.AT_LEAST_ONCE, **settings: Any) -> None:
        super().__init__(committed, **settings)
        if type(uncommitted_max) is not int or uncommitted_max < 0:
            raise PartitionMisuse(f"a maximum is an integer from 0 up, not {uncommitted_max!r}")
        self.uncommitted_max: Final = uncommitted_max
        self.guarantee: Final = guarantee
        self._offsets = OffsetManager(committed)
        self._retrying: set[int] = set()        # waiting to be emitted again

    # -- reading ------------------------------------------------------------------------------

    def wants(self) -> Fetch | None:
        """See ``PartitionManager``; waiting messages that must not be emitted are skipped first."""
        self._pass_over()
        return super().wants() if self._due() or not self._is_full() else None

    def _is_to_be_emitted(self, offset: int) -> bool:
        return offset in self._retrying or offset not in self._offsets.emitted

    def _is_full(self) -> bool:
        """True if too much is uncommitted; retries are exempt, or it would never change."""
        return 0 < self.uncommitted_max <= len(self._offsets.emitted)

    def fetched(self, records: Any, reached: int) -> bool:
        """See ``PartitionManager``. A retry moves the reader back, and it continues from there."""
        replaying, asked = self._is_replay(), self._asked
        went_on = super().fetched(records, reached)
        if replaying and asked is not None:
            self._emitted_to = max(reached, asked.offset)
        return went_on

    def _is_replayed(self, offset: int) -> bool:
        return True

    def _take(self, offset: int) -> None:
        if offset in self._due():
            self._failed.discard(offset)
            self._retrying.add(offset)
        self._waiting.append(offset)

    def next(self, tuples: int = 1) -> int | None:
        if self.guarantee is Guarantee.AT_MOST_ONCE and self._waiting and (
                self._committed <= self._waiting[0]):
            raise PartitionMisuse("an emit before the fetch was committed")
        self._pass_over()
        offset = super().next(tuples)
        if offset is not None and self.guarantee is Guarantee.AT_LEAST_ONCE:
            self._offsets.emit(offset)
            self._retrying.discard(offset)
        return offset

    def _pass_over(self) -> None:
        while self._waiting and not self._is_to_be_emitted(self._waiting[0]):
            self._waiting.popleft()

    # -- acks and failures --------------------------------------------------------------------

    def _is_worth_a_retry(self, offset: int) -> bool:
        return self.guarantee is Guarantee.AT_LEAST_ONCE and super()._is_worth_a_retry(offset)

    def _done(self, offset: int) -> None:
        super()._done(offset)
        self._offsets.ack(offset)

    def _completed(self) -> int:
        if self.guarantee is not Guarantee.AT_LEAST_ONCE:
            return max(self._committed, self._emitted_to)
        return self._offsets.find_next_commit()

    def commit(self) -> int:
        """See ``PartitionManager``; nothing that waits is below the commit any more."""
        position = super().commit()
        self._offsets.commit(position)
        if self.guarantee is Guarantee.AT_LEAST_ONCE:
            self._purge(position)
        self._emitted_to = max(self._emitted_to, position)
        return position

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "uncommitted_max": self.uncommitted_max,
                "guarantee": self.guarantee}

    def _held(self) -> int:
        return len(self._offsets.emitted)

    def _purge(self, position: int) -> None:
        kept = [offset for offset in self._waiting if offset >= position]
        self._waiting.clear()
        self._waiting.extend(kept)

    def _inherit(self, other: PartitionManager) -> None:
        super()._inherit(other)
        assert isinstance(other, ClientPartition), "a successor is of the same kind"
        self._offsets.committed = other._offsets.committed
        self._offsets.emitted = set(other._offsets.emitted)
        self._offsets.acked = set(other._offsets.acked)
        self._retrying = set(other._retrying)
