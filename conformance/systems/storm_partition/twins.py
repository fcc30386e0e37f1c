"""Replayable sources with one seeded bug each: the reference manager with one decision changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from ....reference.storm.offsets import ClientPartition, OffsetManager
from ....reference.storm.spout import Fetch, PartitionManager
from ...suites.twin import CoreTwin
from .adapter import ReferenceClient, ReferencePartition

__all__ = ["TWINS"]

OFFSETS_BEHIND: Final = 1
"""STORM-399 had 100000; as many messages make no better test."""


# ---- what has left the log ------------------------------------------------------------------


class SeekingTheGone(PartitionManager):
    """A failed offset that the log no longer has is sought for ever."""

    def _let_go_of_missing(self, start: int, present: frozenset[int], reached: int) -> None:
        """Nothing is ever let go of."""


class StuckOutOfRange(PartitionManager):
    """Where the log begins later than what is asked for, the same is asked for again."""

    def fetched(self, records: Sequence[int], reached: int) -> bool:
        first = records[0] if records else reached
        if self._asked is not None and not self._failed and first > self._asked.offset:
            self._asked = None
            return False
        return super().fetched(records, reached)


class StartingOverWhenStale(PartitionManager):
    """One failed offset that has gone sets the position back to what was there after it."""

    def _let_go_of_missing(self, start: int, present: frozenset[int], reached: int) -> None:
        stale = self._failed & set(range(start, reached)) - present
        super()._let_go_of_missing(start, present, reached)
        if stale:
            self._emitted_to = min(stale) + 1


class KeepingTheGonePending(PartitionManager):
    """What has gone is no longer sought, and stays pending: the commit stands still."""

    def _let_go_of_missing(self, start: int, present: frozenset[int], reached: int) -> None:
        self._failed -= set(range(start, reached)) - present


class StoppingAtVoids(PartitionManager):
    """The commit goes from one acked offset to the next, and a void is not acked."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed, **settings)
        self._finished: set[int] = set()

    def _done(self, offset: int) -> None:
        super()._done(offset)
        self._finished.add(offset)

    def _completed(self) -> int:
        position = self._committed
        while position in self._finished:
            position += 1
        return position


# ---- what is pending ------------------------------------------------------------------------


class PendingAtEmit(PartitionManager):
    """An offset is pending from its emit on, as the notes' pseudo-code may be read (D13)."""

    def _take(self, offset: int) -> None:
        self._waiting.append(offset)
        self._failed.discard(offset)

    def next(self, tuples: int = 1) -> int | None:
        offset = super().next(tuples)
        if offset is not None:
            self._pending.add(offset)
        return offset


class FailedNotPending(PartitionManager):
    """A failed offset leaves pending until it is fetched again."""

    def _schedule(self, offset: int) -> None:
        super()._schedule(offset)
        self._pending.discard(offset)


class CommittingTheHighest(PartitionManager):
    """The commit is the highest acked offset plus one."""

    def ack(self, offset: int) -> bool:
        self._highest = max(getattr(self, "_highest", 0), offset + 1)
        return super().ack(offset)

    def _completed(self) -> int:
        return max(self._committed, getattr(self, "_highest", 0))


class CommittingZeroWhenIdle(PartitionManager):
    """With nothing pending the commit is that of an empty set: 0."""

    def _completed(self) -> int:
        return min(self._pending, default=0)


class CommittingTheLast(PartitionManager):
    """A commit says which offset was done last; the next start begins after it, not at it."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed and committed + 1, **settings)


class BehindIsLost(PartitionManager):
    """What is too far behind is neither replayed nor waited for."""

    def _schedule(self, offset: int) -> None:
        if offset >= self._emitted_to - OFFSETS_BEHIND:
            super()._schedule(offset)


class FirstAckCounts(PartitionManager):
    """A message is done with the first ack that has its id, whoever else has it."""

    def _are_siblings_left(self, offset: int) -> bool:
        return False


# ---- what is emitted again ------------------------------------------------------------------


class IgnoringFailed(PartitionManager):
    """Fetches always go on where the last one ended."""

    def _fetches_from(self) -> int:
        return self._emitted_to

    def _is_replay(self) -> bool:
        return False


class ReplayingAll(PartitionManager):
    """A replay emits all it has fetched, the acked and the pending too."""

    def _is_replayed(self, offset: int) -> bool:
        return True


class NewFirst(PartitionManager):
    """What failed is emitted again only when there is nothing new."""

    def _fetches_from(self) -> int:
        return super()._fetches_from() if self._is_replay() else self._emitted_to

    def _is_replay(self) -> bool:
        return super()._is_replay() and getattr(self, "_dry", False)

    def fetched(self, records: Sequence[int], reached: int) -> bool:
        self._dry, went_on = False, super().fetched(records, reached)
        self._dry = not went_on
        return went_on or super()._is_replay()


class RetryingAtOnce(PartitionManager):
    """The delay is computed, and not waited for."""

    def _due(self) -> frozenset[int]:
        return frozenset(self._failed)


class WaitingForOneDelay(PartitionManager):
    """Every retry waits as long as the first one."""

    def _schedule(self, offset: int) -> None:
        super()._schedule(offset)
        self._due_at[offset] = self._now + self.backoff.delay(1)


class HeldUpByARetry(PartitionManager):
    """While something waits for its retry nothing else is read."""

    def wants(self) -> Fetch | None:
        return None if self._failed and not self._due() else super().wants()


class RetryingForEver(PartitionManager):
    """The retry limit is read, and not looked at."""

    def _is_worth_a_retry(self, offset: int) -> bool:
        return True


class OneRetryMore(PartitionManager):
    """The first emit counts as a retry."""

    def _is_worth_a_retry(self, offset: int) -> bool:
        return self._failures[offset] == 1 or self.backoff.is_worth_a_retry(
            self._failures[offset] - 1)


class StartingFromEarliest(PartitionManager):
    """A start reads the log from its beginning, whatever was committed."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed, **settings)
        self._emitted_to = 0


class EmittingAtTheEnd(PartitionManager):
    """At the end of the log the next offset is emitted, though nobody has written it yet."""

    def next(self, tuples: int = 1) -> int | None:
        offset = super().next(tuples)
        if offset is not None or self._is_at_max():
            return offset
        return self._emitted_to


# ---- how many are outstanding ---------------------------------------------------------------


class OverTheMaximum(PartitionManager):
    """The test is whether the maximum is exceeded."""

    def _is_at_max(self) -> bool:
        return 0 < self.outstanding_max < self._outstanding()


class FailedStayOutstanding(PartitionManager):
    """What failed goes on counting: as many failures as the maximum stop all reading."""

    def _outstanding(self) -> int:
        return len(self._under_way | self._failed)


class CountingVoids(PartitionManager):
    """What is outstanding is counted by its first and its last offset, voids and all."""

    def _outstanding(self) -> int:
        return max(self._under_way) - min(self._under_way) + 1 if self._under_way else 0


class CountingFromTheCommit(PartitionManager):
    """All above the commit counts as outstanding, acked or not."""

    def _outstanding(self) -> int:
        return self._emitted_to - self._committed - len(self._failed)


# ---- the client's manager -------------------------------------------------------------------


class WaitingNotPurged(ClientPartition):
    """After a commit, what is below it and was read again goes on waiting to be emitted."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed, **settings)
        self._offsets = _Unwary(committed)

    def _purge(self, position: int) -> None:
        """What waits below the commit stays."""


class _Unwary(OffsetManager):
    def emit(self, offset: int) -> None:
        self.emitted.add(offset)


class VoidsNotSeen(ClientPartition):
    """The next offset to commit is the one after the last, and no other."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed, **settings)
        self._offsets = _Gapless(committed)


class _Gapless(OffsetManager):
    def _is_void(self, start: int, end: int) -> bool:
        return False


class JumpingOverAll(ClientPartition):
    """Every gap in the acked offsets is taken for a void."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed, **settings)
        self._offsets = _Jumping(committed)


class _Jumping(OffsetManager):
    def find_next_commit(self) -> int:
        return max(self.acked, default=self.committed - 1) + 1


class SeekingTheGoneInTheLog(ClientPartition):
    """A retry that compaction has taken out of the log is sought for ever."""

    def _let_go_of_missing(self, start: int, present: frozenset[int], reached: int) -> None:
        """Nothing is ever let go of."""


# ---- its end, and a successor ---------------------------------------------------------------


class SuccessorStartingAnew(PartitionManager):
    """The manager for the new leader knows nothing but the commit."""

    def _inherit(self, other: PartitionManager) -> None:
        """The successor takes nothing over."""


class AcksGoingAstray(PartitionManager):
    """After a change of the leader, acks are routed to the manager that was."""

    def _inherit(self, other: PartitionManager) -> None:
        super()._inherit(other)
        self._astray = set(other._under_way)

    def ack(self, offset: int) -> bool:
        return offset in getattr(self, "_astray", set()) or super().ack(offset)


class ClosingWithoutCommit(PartitionManager):
    """An orderly end records nothing."""

    def close(self) -> int:
        return self._committed


_twin = partial(CoreTwin, suite="storm.partition", of=ReferencePartition)
SAFE, GOES_ON, GONE = "STORM-K20", "STORM-K21", "STORM-K30"
REPEATED, REPLAYED, BOUNDED = "STORM-K24", "STORM-K27", "STORM-K28"
_client = partial(CoreTwin, suite="storm.partition", of=ReferenceClient)

_TWINS: Final = (
    _twin(name="storm-643-gone-sought-for-ever", rule=GONE, core=SeekingTheGone,
          bug="a failed offset that has left the log is sought for ever",
          history="STORM-643, 644, 646, 647, 1131"),
    _twin(name="storm-511-out-of-range", rule=GONE, core=StuckOutOfRange,
          bug="a position below the log's beginning is never corrected", history="STORM-511"),
    _twin(name="storm-1455-stale-starts-over", rule=REPEATED, core=StartingOverWhenStale,
          bug="one stale offset sets the position back", history="STORM-1455"),
    _twin(name="storm-399-behind-is-lost", rule=REPLAYED, core=BehindIsLost,
          bug="what failed too far behind is not emitted again",
          history="STORM-399: maxOffsetBehind"),
    _twin(name="storm-2608-gone-stays-pending", rule=GONE, core=KeepingTheGonePending,
          bug="what has left the log stays pending, and holds up the commit",
          history="STORM-2608"),
    _twin(name="storm-2546-void-stops-commit", rule=GONE, core=StoppingAtVoids,
          bug="a commit does not pass a void that compaction has left",
          history="STORM-2546, 2505, 2639"),
    _twin(name="storm-2296-successor-knows-nothing", rule=REPEATED, core=SuccessorStartingAnew,
          bug="a change of the leader has everything emitted again", history="STORM-2296"),
    _twin(name="storm-2361-acks-astray", rule=GOES_ON, core=AcksGoingAstray,
          bug="acks do not reach the manager after a change of the leader",
          history="STORM-2361"),
    _twin(name="storm-810-close-without-commit", rule=GOES_ON, core=ClosingWithoutCommit,
          bug="an orderly end records no position", history="STORM-810"),
    _twin(name="storm-2343-failures-stop-reading", rule=REPLAYED, core=FailedStayOutstanding,
          bug="failed messages count as outstanding, and so are never emitted again",
          history="STORM-2343: more failures than maxUncommittedOffsets"),
    _twin(name="storm-2549-acked-stop-reading", rule="STORM-K26", core=CountingFromTheCommit,
          bug="acked messages count as outstanding until they are committed",
          history="STORM-2549"),
    _twin(name="storm-2666-replays-the-acked", rule=REPEATED, core=ReplayingAll,
          bug="a replay emits what was acked meanwhile", history="STORM-2666, 3301"),
    _twin(name="storm-2844-starts-from-earliest", rule="STORM-K25", core=StartingFromEarliest,
          bug="a restart emits what is below the commit", history="STORM-2844, 2835"),
    _twin(name="storm-2413-retries-for-ever", rule=BOUNDED, core=RetryingForEver,
          bug="the retry limit is not respected", history="STORM-2413"),
    _twin(name="storm-2014-one-retry-more", rule=BOUNDED, core=OneRetryMore,
          bug="a message is emitted once more than the limit says", history="STORM-2014"),
    _twin(name="storm-2639-voids-counted", rule=GONE, core=CountingVoids,
          bug="voids count as outstanding", history="STORM-2639"),
    _client(name="storm-2505-voids-not-seen", rule=GONE, core=VoidsNotSeen,
            bug="an acked offset after a void is never committed", history="STORM-2505"),
    _client(name="storm-2546-gone-retry", rule=GONE, core=SeekingTheGoneInTheLog,
            bug="a retry that compaction has removed stops the rest", history="STORM-2546"),
    _client(name="storm-3301-waiting-not-purged", rule="STORM-K25", core=WaitingNotPurged,
            bug="what was read again is emitted although it was committed meanwhile",
            history="STORM-3301, 2835, 2666"),
    _client(name="client-jumps-over-all", rule=SAFE, core=JumpingOverAll,
            bug="what is still under way is taken for a void",
            history="OffsetManager.findNextCommitOffset without its look at emittedOffsets"),
    _twin(name="partition-first-ack-counts", rule=SAFE, core=FirstAckCounts,
          bug="of tuples that share an id the first ack counts",
          history="storm#partition-manager: a Scheme that makes several tuples of a message"),
    _twin(name="partition-retries-at-once", rule="STORM-K35", core=RetryingAtOnce,
          bug="the delay of a retry is not waited for",
          history="storm#partition-manager: shouldReEmitMsg"),
    _twin(name="partition-one-delay", rule="STORM-K35", core=WaitingForOneDelay,
          bug="the delay of a retry does not grow", history="storm#partition-manager: nextDelay"),
    _twin(name="partition-held-up-by-a-retry", rule="STORM-K26", core=HeldUpByARetry,
          bug="nothing new is read while something waits for its retry",
          history="storm#partition-manager: nextFailedMessageToRetry without a look at the time"),
    _twin(name="partition-pending-at-emit", rule=SAFE, core=PendingAtEmit,
          bug="an offset is pending only from its emit on",
          history="D13: the notes' pseudo-code"),
    _twin(name="partition-failed-not-pending", rule=SAFE, core=FailedNotPending,
          bug="a failed offset is not pending", history="fail takes the offset out of pending"),
    _twin(name="partition-commits-the-highest", rule=SAFE, core=CommittingTheHighest,
          bug="the commit is the highest acked offset plus one",
          history="max in the place of min"),
    _twin(name="partition-commits-zero", rule="STORM-K22", core=CommittingZeroWhenIdle,
          bug="with nothing pending the commit is 0", history="the default of an empty set"),
    _twin(name="partition-commit-names-the-last", rule="STORM-K23", core=CommittingTheLast,
          bug="a start begins one after the commit",
          history="the last offset done mixed up with the next to do"),
    _twin(name="partition-ignores-failed", rule=REPLAYED, core=IgnoringFailed,
          bug="what failed is never emitted again", history="fail left out"),
    _twin(name="partition-new-first", rule="STORM-K29", core=NewFirst,
          bug="what failed waits until there is nothing new", history="fill begins at emittedTo"),
    _twin(name="partition-over-the-maximum", rule="STORM-K31", core=OverTheMaximum,
          bug="one message more is outstanding than may be", history="> in the place of >="),
    _twin(name="partition-emits-at-the-end", rule="STORM-K32", core=EmittingAtTheEnd,
          bug="an offset is emitted that the log does not have", history="an index off by one"),
)

TWINS: Final[dict[str, CoreTwin]] = {twin.name: twin for twin in _TWINS}
"""The twins by name; ``zoo:NAME`` is the target."""
