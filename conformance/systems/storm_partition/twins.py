"""Replayable sources with one seeded bug each: the reference manager with one decision changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ....reference.storm.offsets import ClientPartition, OffsetManager
from ....reference.storm.spout import Fetch, PartitionManager
from ...suites.twin import Twins
from .adapter import ReferenceClient, ReferencePartition

__all__ = ["TWINS"]

OFFSETS_BEHIND: Final = 1
"""STORM-399 had 100000; so many messages would not make a better test."""


TWINS: Final = Twins(
    "storm.partition", ReferencePartition, ("reference.storm.partition", "reference.storm.client"))


# ---- messages that have left the log --------------------------------------------------------


@TWINS.twin(
    "storm-643-gone-sought-for-ever", "STORM-K30",
    "a failed offset that has left the log is sought forever", "STORM-643, 644, 646, 647, 1131")
class SeekingTheGone(PartitionManager):
    """A failed offset that the log no longer has is sought forever."""

    def _let_go_of_missing(self, start: int, present: frozenset[int], reached: int) -> None:
        """Do nothing: no missing offset is given up."""


@TWINS.twin(
    "storm-511-out-of-range", "STORM-K30",
    "a position below the log's beginning is never corrected", "STORM-511")
class StuckOutOfRange(PartitionManager):
    """If the log begins after the requested offset, the same offset is requested again."""

    def fetched(self, records: Sequence[int], reached: int) -> bool:
        first = records[0] if records else reached
        if self._asked is not None and not self._failed and first > self._asked.offset:
            self._asked = None
            return False
        return super().fetched(records, reached)


@TWINS.twin(
    "storm-1455-stale-starts-over", "STORM-K24", "one stale offset resets the position",
    "STORM-1455")
class StartingOverWhenStale(PartitionManager):
    """One failed offset that has left the log resets the position to the one after it."""

    def _let_go_of_missing(self, start: int, present: frozenset[int], reached: int) -> None:
        stale = self._failed & set(range(start, reached)) - present
        super()._let_go_of_missing(start, present, reached)
        if stale:
            self._emitted_to = min(stale) + 1


@TWINS.twin(
    "storm-2608-gone-stays-pending", "STORM-K30",
    "an offset that has left the log stays pending, and delays the commit", "STORM-2608")
class KeepingTheGonePending(PartitionManager):
    """An offset that has left the log is no longer sought, and stays pending: the commit stops
    there."""

    def _let_go_of_missing(self, start: int, present: frozenset[int], reached: int) -> None:
        self._failed -= set(range(start, reached)) - present


@TWINS.twin(
    "storm-2546-void-stops-commit", "STORM-K30",
    "a commit does not pass a void that compaction has left", "STORM-2546, 2505, 2639")
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


# ---- pending offsets ------------------------------------------------------------------------


@TWINS.twin(
    "partition-pending-at-emit", "STORM-K20", "an offset is pending only from its emit on",
    "D13: the notes' pseudo-code")
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


@TWINS.twin(
    "partition-failed-not-pending", "STORM-K20", "a failed offset is not pending",
    "fail takes the offset out of pending")
class FailedNotPending(PartitionManager):
    """A failed offset leaves pending until it is fetched again."""

    def _schedule(self, offset: int) -> None:
        super()._schedule(offset)
        self._pending.discard(offset)


@TWINS.twin(
    "partition-commits-the-highest", "STORM-K20",
    "the commit is the highest acked offset plus one", "max instead of min")
class CommittingTheHighest(PartitionManager):
    """The commit is the highest acked offset plus one."""

    def ack(self, offset: int) -> bool:
        self._highest = max(getattr(self, "_highest", 0), offset + 1)
        return super().ack(offset)

    def _completed(self) -> int:
        return max(self._committed, getattr(self, "_highest", 0))


@TWINS.twin(
    "partition-commits-zero", "STORM-K22", "with nothing pending the commit is 0",
    "the default of an empty set")
class CommittingZeroWhenIdle(PartitionManager):
    """With nothing pending the commit is that of an empty set: 0."""

    def _completed(self) -> int:
        return min(self._pending, default=0)


@TWINS.twin(
    "partition-commit-names-the-last", "STORM-K23", "a start begins one after the commit",
    "the last offset done mixed up with the next to do")
class CommittingTheLast(PartitionManager):
    """The commit is the offset that was done last; the next start begins after it, not at it."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed and committed + 1, **settings)


@TWINS.twin(
    "storm-399-behind-is-lost", "STORM-K27", "failed messages too far behind are not emitted again",
    "STORM-399: maxOffsetBehind")
class BehindIsLost(PartitionManager):
    """Messages too far behind are neither replayed nor waited for."""

    def _schedule(self, offset: int) -> None:
        if offset >= self._emitted_to - OFFSETS_BEHIND:
            super()._schedule(offset)


@TWINS.twin(
    "partition-first-ack-counts", "STORM-K20", "if tuples share an id, the first ack counts",
    "storm#partition-manager: a Scheme that makes several tuples of a message")
class FirstAckCounts(PartitionManager):
    """A message is done with the first ack that has its id, even if another tuple has it too."""

    def _are_siblings_left(self, offset: int) -> bool:
        return False


# ---- replays --------------------------------------------------------------------------------


@TWINS.twin(
    "partition-ignores-failed", "STORM-K27", "a failed message is never emitted again",
    "fail left out")
class IgnoringFailed(PartitionManager):
    """Fetches always continue where the last one ended."""

    def _fetches_from(self) -> int:
        return self._emitted_to

    def _is_replay(self) -> bool:
        return False


@TWINS.twin(
    "storm-2666-replays-the-acked", "STORM-K24",
    "a replay emits messages that were acked meanwhile",
    "STORM-2666, 3301")
class ReplayingAll(PartitionManager):
    """A replay emits all that it has fetched, including acked and pending messages."""

    def _is_replayed(self, offset: int) -> bool:
        return True


@TWINS.twin(
    "partition-new-first", "STORM-K29", "a failed message waits until there is no new one",
    "fill begins at emittedTo")
class NewFirst(PartitionManager):
    """A failed message is emitted again only when there is no new one."""

    def _fetches_from(self) -> int:
        return super()._fetches_from() if self._is_replay() else self._emitted_to

    def _is_replay(self) -> bool:
        return super()._is_replay() and getattr(self, "_dry", False)

    def fetched(self, records: Sequence[int], reached: int) -> bool:
        self._dry, went_on = False, super().fetched(records, reached)
        self._dry = not went_on
        return went_on or super()._is_replay()


@TWINS.twin(
    "partition-retries-at-once", "STORM-K35", "the delay of a retry is not waited for",
    "storm#partition-manager: shouldReEmitMsg")
class RetryingAtOnce(PartitionManager):
    """The delay is computed, and not waited for."""

    def _due(self) -> frozenset[int]:
        return frozenset(self._failed)


@TWINS.twin(
    "partition-one-delay", "STORM-K35", "the delay of a retry does not grow",
    "storm#partition-manager: nextDelay")
class WaitingForOneDelay(PartitionManager):
    """Every retry waits as long as the first one."""

    def _schedule(self, offset: int) -> None:
        super()._schedule(offset)
        self._due_at[offset] = self._now + self.backoff.delay(1)


@TWINS.twin(
    "partition-waits-in-32-bits", "STORM-K29", "after a pause of 2^32 ms no time has passed",
    "GetTickCount: 49.7 days are no time at all")
class WaitingIn32Bits(PartitionManager):
    """The clock keeps the last 32 bits, and a retry that is due does not come."""

    def tell_time(self, now: int) -> None:
        super().tell_time(now % 2**32)


@TWINS.twin(
    "partition-held-up-by-a-retry", "STORM-K26",
    "nothing new is read while a message waits for its retry",
    "storm#partition-manager: nextFailedMessageToRetry without a check of the time")
class HeldUpByARetry(PartitionManager):
    """While a message waits for its retry nothing else is read."""

    def wants(self) -> Fetch | None:
        return None if self._failed and not self._due() else super().wants()


@TWINS.twin(
    "storm-2413-retries-for-ever", "STORM-K28", "the retry limit is not respected", "STORM-2413")
class RetryingForEver(PartitionManager):
    """The retry limit is read, and not applied."""

    def _is_worth_a_retry(self, offset: int) -> bool:
        return True


@TWINS.twin(
    "storm-2014-one-retry-more", "STORM-K28",
    "a message is emitted once more than the limit allows",
    "STORM-2014")
class OneRetryMore(PartitionManager):
    """The first emit counts as a retry."""

    def _is_worth_a_retry(self, offset: int) -> bool:
        return self._failures[offset] == 1 or self.backoff.is_worth_a_retry(
            self._failures[offset] - 1)


@TWINS.twin(
    "storm-2844-starts-from-earliest", "STORM-K25", "a restart emits messages below the commit",
    "STORM-2844, 2835")
class StartingFromEarliest(PartitionManager):
    """A start reads the log from its beginning, whatever was committed."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed, **settings)
        self._emitted_to = 0


@TWINS.twin(
    "partition-emits-at-the-end", "STORM-K32", "an offset is emitted that the log does not have",
    "an index off by one")
class EmittingAtTheEnd(PartitionManager):
    """At the end of the log the next offset is emitted, although it was not written yet."""

    def next(self, tuples: int = 1) -> int | None:
        offset = super().next(tuples)
        if offset is not None or self._is_at_max():
            return offset
        return self._emitted_to


# ---- outstanding messages -------------------------------------------------------------------


@TWINS.twin(
    "partition-over-the-maximum", "STORM-K31", "one message more is outstanding than allowed",
    "> instead of >=")
class OverTheMaximum(PartitionManager):
    """Reading stops only if the maximum is exceeded."""

    def _is_at_max(self) -> bool:
        return 0 < self.outstanding_max < self._outstanding()


@TWINS.twin(
    "storm-2343-failures-stop-reading", "STORM-K27",
    "failed messages count as outstanding, and so are never emitted again",
    "STORM-2343: more failures than maxUncommittedOffsets")
class FailedStayOutstanding(PartitionManager):
    """A failed message still counts: as many failures as the maximum stop all reading."""

    def _outstanding(self) -> int:
        return len(self._under_way | self._failed)


@TWINS.twin("storm-2639-voids-counted", "STORM-K30", "voids count as outstanding", "STORM-2639")
class CountingVoids(PartitionManager):
    """Outstanding messages are counted by the first and the last offset, voids included."""

    def _outstanding(self) -> int:
        return max(self._under_way) - min(self._under_way) + 1 if self._under_way else 0


@TWINS.twin(
    "storm-2549-acked-stop-reading", "STORM-K26",
    "acked messages count as outstanding until they are committed", "STORM-2549")
class CountingFromTheCommit(PartitionManager):
    """All above the commit counts as outstanding, acked or not."""

    def _outstanding(self) -> int:
        return self._emitted_to - self._committed - len(self._failed)


# ---- the client's manager -------------------------------------------------------------------


@TWINS.twin(
    "storm-3301-waiting-not-purged", "STORM-K25",
    "messages read again are emitted although they were committed meanwhile",
    "STORM-3301, 2835, 2666",
    of=ReferenceClient)
class WaitingNotPurged(ClientPartition):
    """After a commit, messages below it that were read again still wait to be emitted."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed, **settings)
        self._offsets = _Unwary(committed)

    def _purge(self, position: int) -> None:
        """Do nothing: messages that wait below the commit stay."""


class _Unwary(OffsetManager):
    def emit(self, offset: int) -> None:
        self.emitted.add(offset)


@TWINS.twin(
    "storm-2505-voids-not-seen", "STORM-K30", "an acked offset after a void is never committed",
    "STORM-2505", of=ReferenceClient)
class VoidsNotSeen(ClientPartition):
    """Only the offset right after the last one can be committed next."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed, **settings)
        self._offsets = _Gapless(committed)


class _Gapless(OffsetManager):
    def _is_void(self, start: int, end: int) -> bool:
        return False


@TWINS.twin(
    "client-jumps-over-all", "STORM-K20", "a message under way is taken for a void",
    "OffsetManager.findNextCommitOffset without its check of emittedOffsets", of=ReferenceClient)
class JumpingOverAll(ClientPartition):
    """Every gap in the acked offsets is taken for a void."""

    def __init__(self, committed: int = 0, **settings: Any) -> None:
        super().__init__(committed, **settings)
        self._offsets = _Jumping(committed)


class _Jumping(OffsetManager):
    def find_next_commit(self) -> int:
        return max(self.acked, default=self.committed - 1) + 1


@TWINS.twin(
    "storm-2546-gone-retry", "STORM-K30", "a retry that compaction has removed stops the rest",
    "STORM-2546", of=ReferenceClient)
class SeekingTheGoneInTheLog(ClientPartition):
    """A retry that compaction has taken out of the log is sought forever."""

    def _let_go_of_missing(self, start: int, present: frozenset[int], reached: int) -> None:
        """Do nothing: no missing offset is given up."""


# ---- its end, and a successor ---------------------------------------------------------------


@TWINS.twin(
    "storm-2296-successor-knows-nothing", "STORM-K24",
    "after a change of the leader everything is emitted again", "STORM-2296")
class SuccessorStartingAnew(PartitionManager):
    """The manager for the new leader knows nothing but the commit."""

    def _inherit(self, other: PartitionManager) -> None:
        """The successor takes nothing over."""


@TWINS.twin(
    "storm-2361-acks-astray", "STORM-K21",
    "acks do not reach the manager after a change of the leader", "STORM-2361")
class AcksGoingAstray(PartitionManager):
    """After a change of the leader, acks are routed to the old manager."""

    def _inherit(self, other: PartitionManager) -> None:
        super()._inherit(other)
        self._astray = set(other._under_way)

    def ack(self, offset: int) -> bool:
        return offset in getattr(self, "_astray", set()) or super().ack(offset)


@TWINS.twin(
    "storm-810-close-without-commit", "STORM-K21", "an orderly end records no position",
    "STORM-810")
class ClosingWithoutCommit(PartitionManager):
    """An orderly end records nothing."""

    def close(self) -> int:
        return self._committed


# ---- bugs that show late ------------------------------------------------------------------------

TWINS.late("storm-643-gone-sought-for-ever", 40, 300)


# ---- bugs that show in large fetches ------------------------------------------------------------

TWINS.stacks("partition-", "STORM-K23", "messages of a fetch", PartitionManager, "next",
             lambda self: self._waiting)


# ---- bugs in offsets -----------------------------------------------------------------------------

class _Narrow(PartitionManager):
    """Keeps the position in a number of a few bits."""

    bits = 31

    def commit(self) -> int:
        position: int = super().commit() % 2**self.bits
        return position


@TWINS.twin(
    "partition-commits-31-bits", "STORM-K21", "a position of 2^31 is recorded as 0",
    "an offset, a long, in an int")
class Commits31Bits(_Narrow):
    """Positions start over at 0 after 31 bits."""


@TWINS.twin(
    "partition-commits-32-bits", "STORM-K21", "a position of 2^32 is recorded as 0",
    "an offset, a long, in an unsigned int")
class Commits32Bits(_Narrow):
    """Positions start over at 0 after 32 bits."""

    bits = 32


@TWINS.twin(
    "partition-keeps-singles", "STORM-K21", "positions are kept as numbers with 52 bits",
    "an offset in a double, divided by two on the way")
class KeepsSingles(PartitionManager):
    """Only every other one of the largest numbers is kept."""

    def commit(self) -> int:
        position = super().commit()
        return position if position < 2**52 else position // 2 * 2
