"""A replayable source with other policies: at most once, no guarantee, and retries that wait.

Theory of operation
-------------------
``source`` is at least once: a commit passes only what is done, what failed comes again at
once. storm-kafka-client offers two weaker guarantees, and both kinds of KafkaSpout a retry
that waits. Each is the manager of ``source`` with a few decisions changed.

- *At most once*: what a fetch brings is committed before any of it is emitted. Then a crash
  repeats nothing, and loses what was fetched and not yet processed. Nothing is replayed.
- *No guarantee*: the position of the reader is committed from time to time. Then a crash
  repeats what came after the last commit and loses what came before it and was not processed.
- *Without ackers* nothing is tracked: ack() is called for a message as soon as it was emitted,
  a commit passes it, and nothing is ever replayed but what a crash repeats.
- *Back-off*: the n-th retry of a message waits for min(longest, first * 2 ** (n - 1)). The
  offset stays pending all the while, so no commit passes it; whatever else there is goes on
  being fetched. So the bound of STORM-K10 does not hold: with a maximum of one root and fetches of
  one message, offsets that wait for their retry add up, and only the log's end or a limit of its
  own, as storm-kafka-client has (maxUncommittedOffsets), stops that. A crash forgets how often a
  message has failed.

Source: storm#partition-manager (ExponentialBackoffMsgRetryManager), storm#kafka-client
(KafkaSpoutConfig.ProcessingGuarantee).
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, action, always, array, boolean, const, integer, require, subset, upto,
)
from .source import PartitionManager

__all__ = [
    "EXPECTATIONS", "AckedAtEmit", "BackingOff", "CommittingBeforeProcessing", "CommittingOnTimer",
    "CommittingWithNextFetch", "RememberingAcked", "RetryingAtOnce",
]


class CommittingBeforeProcessing(PartitionManager):
    """AT_MOST_ONCE: what is fetched is committed before it is emitted, and not replayed."""

    ever = subset(upto(PartitionManager.L))     # emitted at least once
    twice = boolean(False)                      # something was emitted a second time

    @action(fair=True)
    def fill(self) -> None:
        """The fetch, and with it the commit."""
        super().fill()
        self.committed = self.emitted_to

    @action(fair=True)
    def commit(self) -> None:
        """There is no other."""
        super().commit()
        require(False)

    @action(fair=True)
    def next(self) -> None:
        """Noted, over crashes too."""
        if self.waiting:
            self.twice = self.twice or self.waiting[0] in self.ever
            self.ever.add(self.waiting[0])
        super().next()

    def schedule(self, offset: int) -> None:
        """What failed is done with."""
        self.pending.discard(offset)

    @always("STORM-K15", MUST, "Where messages are delivered at most once, none is emitted twice, "
            "whatever fails or crashes.", source="storm#kafka-client (AT_MOST_ONCE)")
    def nothing_is_emitted_twice(self) -> bool:
        """Not even after a restart."""
        return not self.twice


class CommittingWithNextFetch(CommittingBeforeProcessing):
    """What a fetch brought is committed when all of it is emitted, and the next one begins."""

    @action(fair=True)
    def fill(self) -> None:
        """What came before this fetch."""
        emitted_to = self.emitted_to
        super().fill()
        self.committed = emitted_to


class CommittingOnTimer(PartitionManager):
    """NO_GUARANTEE: the position is recorded from time to time, whatever became of what is
    below it; nothing is replayed."""

    def schedule(self, offset: int) -> None:
        """What failed is done with."""
        self.pending.discard(offset)

    def completed(self) -> int:
        """The position of the reader."""
        return self.emitted_to


class AckedAtEmit(PartitionManager):
    """Without ackers: nothing is tracked, and a message is acked as soon as it was emitted."""

    @action(fair=True)
    def next(self) -> None:
        """Emitted, and done with as far as the spout knows."""
        if self.waiting:
            self.pending.discard(self.waiting[0])
        super().next()

    @action(offset=upto(PartitionManager.L))
    def fail(self, offset: int) -> None:
        """No failure ever reaches the spout."""
        super().fail(offset)
        require(False)


class BackingOff(PartitionManager):
    """A failed message waits before it is emitted again: the n-th time for
    min(longest, first * 2 ** (n - 1)) instants. Time passes for all of them at once."""

    first = const(1, at_least=1)        # instants before the first retry
    longest = const(2, at_least=1)      # instants before any retry

    wait = array(upto(PartitionManager.L), integer(0, longest))         # still to wait
    tries = array(upto(PartitionManager.L), integer(0, PartitionManager.X))
    early = boolean(False)              # something was emitted again before its time

    def schedule(self, offset: int) -> None:
        """Later; it stays in pending."""
        super().schedule(offset)
        self.wait[offset] = self.delay(self.tries[offset])
        self.tries[offset] += 1

    def delay(self, tries: int) -> int:
        """Instants before the next retry, after so many before it."""
        delay = self.first
        for _ in range(tries):
            delay = min(self.longest, 2 * delay)
        return min(self.longest, delay)

    @action(fair=True)
    def time_passes(self) -> None:
        """An instant, of which there is no end."""
        require(any(wait > 0 for wait in self.wait))
        for offset in range(self.L):
            self.wait[offset] = max(0, self.wait[offset] - 1)

    def fetches_from(self) -> int:
        """The first failed offset whose time has come, or else the first new one."""
        first = self.emitted_to
        for offset in self.failed:
            if self.is_due(offset):
                first = min(first, offset)
        return first

    def is_due(self, offset: int) -> bool:
        """It has waited long enough."""
        return self.wait[offset] == 0

    def is_replay(self) -> bool:
        """Whether the fetch is for failed ones whose time has come."""
        return any(self.is_due(offset) for offset in self.failed)

    def is_replayed(self, offset: int) -> bool:
        """Those, and no others."""
        return offset in self.failed and self.is_due(offset)

    def take(self, offset: int) -> None:
        """A fetched message; noted if it comes too early."""
        self.early = self.early or (offset in self.failed and self.wait[offset] > 0)
        super().take(offset)

    @action
    def crash(self) -> None:
        """What failed before is forgotten, and so is how often."""
        super().crash()
        for offset in range(self.L):
            self.wait[offset] = 0
            self.tries[offset] = 0

    @always("STORM-K16", MUST, "A failed message is not emitted again before its delay is over.",
            source="storm#partition-manager (ExponentialBackoffMsgRetryManager); "
                   "storm#kafka-client")
    def retries_wait(self) -> bool:
        """Whatever else is fetched."""
        return not self.early


    @always("STORM-K17", MUST, "With a maximum of M, no more than M + F offsets are kept besides "
            "those that failed and are not fetched again yet.",
            source="001#oom; storm#D12: what STORM-K10 leaves of its bound")
    def other_offsets_are_bounded(self) -> bool:
        """Under way or waiting. Nothing here bounds how many have failed."""
        return self.M == 0 or len(self.pending) - len(self.failed) <= self.M + self.F


class RememberingAcked(BackingOff):
    """An offset stays pending until the commit passes it."""

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack(self, offset: int) -> None:
        """Settled, and still pending."""
        super().ack(offset)
        self.pending.add(offset)


class RetryingAtOnce(BackingOff):
    """The delay is computed, and nobody looks at it."""

    def is_due(self, offset: int) -> bool:
        """A retry is due without any delay."""
        return True


SAFE, LOST = "STORM-K6", "STORM-K7"

EXPECTATIONS = (
    expect(CommittingBeforeProcessing, "STORM-K15", "holds", "AT_MOST_ONCE: nothing twice",
           X=1, Y=(0, 1)),
    expect(CommittingWithNextFetch, "STORM-K15", "violated",
           "AT_MOST_ONCE: what is committed with the next fetch only may come twice", X=0,
           Y=1),
    expect(CommittingBeforeProcessing, SAFE, "violated",
           "AT_MOST_ONCE: what is committed may not be processed", X=0, Y=0),
    expect(CommittingBeforeProcessing, LOST, "violated",
           "AT_MOST_ONCE: a crash loses what was under way", X=0),
    expect(CommittingOnTimer, SAFE, "violated",
           "NO_GUARANTEE: what is committed may not be processed", X=0, Y=0),
    expect(CommittingOnTimer, LOST, "violated",
           "NO_GUARANTEE: a crash loses what was under way", X=0),
    expect(AckedAtEmit, SAFE, "violated", "without ackers a commit says little", Y=0),
    expect(AckedAtEmit, LOST, "violated", "without ackers a crash loses what was under way"),
    expect(AckedAtEmit, "STORM-K8", "holds", "without ackers nothing is repeated but by a crash"),
    *(expect(BackingOff, rule, "holds", about, L=2, X=2, longest=(1, 2)) for rule, about in (
        ("STORM-K16", "a retry waits for its time"),
        (SAFE, "no commit passes an offset that waits for its retry"),
        (LOST, "an offset that waits for its retry comes in the end"),
    )),
    expect(BackingOff, "STORM-K10", "violated", "offsets that wait for a retry add up (D12)",
           L=(3, 5), F=1, M=1, X=2, Y=0),
    expect(BackingOff, "STORM-K17", "holds",
           "offsets that do not wait for a retry stay within M + F", L=5, F=1, M=1, X=2, Y=0),
    expect(RememberingAcked, "STORM-K17", "violated", "acked offsets stay", L=4, F=1, M=1, Y=0),
    expect(BackingOff, "STORM-K18", "holds",
           "bodies do not add up while offsets wait for their retries", L=5, F=1, M=1, X=2, Y=0),
    expect(RetryingAtOnce, "STORM-K16", "violated", "the delay is not looked at", L=2),
)

UNSEEN = {
    "STORM-K15":
        "No implementation under test claims to deliver at most once, and one that repeats is "
        "right by all other guarantees.",
}
