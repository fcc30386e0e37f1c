"""A replayable source with other policies: at most once, no guarantee, and retries that wait.

Theory of operation
-------------------
``source`` is at least once: a commit passes only offsets that are done, and a failed one comes
again at once. storm-kafka-client offers two weaker guarantees, and both kinds of KafkaSpout a retry
that waits. Each is the manager of ``source`` with a few decisions changed.

- *At most once*: the messages of a fetch are committed before any of them is emitted. Then a crash
  repeats nothing, and loses messages that were fetched and not yet processed. Nothing is replayed.
- *No guarantee*: the position of the reader is committed from time to time. Then a crash
  repeats messages after the last commit and loses those before it that were not processed.
- *Without ackers* nothing is tracked: ack() is called for a message as soon as it was emitted,
  a commit passes it, and only a crash repeats anything.
- *Back-off*: the n-th retry of a message waits for min(longest, first * 2 ** (n - 1)). The
  offset stays pending all the while, so no commit passes it; other messages continue to be
  fetched. So the bound of STORM-K10 does not hold: with a maximum of one root and fetches of
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
from .source import GivingUp, PartitionManager

__all__ = [
    "EXPECTATIONS", "AckedAtEmit", "BackingOff", "CommittingBeforeProcessing", "CommittingOnTimer",
    "CommittingWithNextFetch", "GivingUpAll", "GivingUpBelow", "RememberingAcked",
    "RememberingInside", "RememberingOdd", "RetryingAtOnce", "RetryingAllButLast",
    "RetryingTogether",
]


class CommittingBeforeProcessing(PartitionManager):
    """AT_MOST_ONCE: fetched messages are committed before they are emitted, and not replayed."""

    ever = subset(upto(PartitionManager.L))     # emitted at least once
    twice = boolean(False)                      # a message was emitted a second time

    @action(fair=True)
    def fill(self) -> None:
        """Fetch, and commit in the same step."""
        super().fill()
        self.committed = self.emitted_to

    @action(fair=True)
    def commit(self) -> None:
        """Never: ``fill`` is the only commit."""
        super().commit()
        require(False)

    @action(fair=True)
    def next(self) -> None:
        """Emit the first waiting message; ``ever`` survives crashes."""
        if self.waiting:
            self.twice = self.twice or self.waiting[0] in self.ever
            self.ever.add(self.waiting[0])
        super().next()

    def schedule(self, offset: int) -> None:
        """Drop a failed message: it is not replayed."""
        self.pending.discard(offset)

    @always("STORM-K15", MUST, "With at-most-once delivery, no message is emitted twice, in spite "
            "of failures and crashes.", source="storm#kafka-client (AT_MOST_ONCE)")
    def nothing_is_emitted_twice(self) -> bool:
        """It holds across restarts."""
        return not self.twice


class CommittingWithNextFetch(CommittingBeforeProcessing):
    """The messages of a fetch are committed when all of them are emitted, and the next fetch
    begins."""

    @action(fair=True)
    def fill(self) -> None:
        """Fetch, and commit the messages before this fetch."""
        emitted_to = self.emitted_to
        super().fill()
        self.committed = emitted_to


class CommittingOnTimer(PartitionManager):
    """NO_GUARANTEE: the position is recorded from time to time, whether or not the messages
    below it were processed; nothing is replayed."""

    def schedule(self, offset: int) -> None:
        """Drop a failed message: it is not replayed."""
        self.pending.discard(offset)

    def completed(self) -> int:
        """The position of the reader."""
        return self.emitted_to


class AckedAtEmit(PartitionManager):
    """Without ackers: nothing is tracked, and a message is acked as soon as it was emitted."""

    @action(fair=True)
    def next(self) -> None:
        """Emit the first waiting message; for the spout it is then done."""
        if self.waiting:
            self.pending.discard(self.waiting[0])
        super().next()

    @action(offset=upto(PartitionManager.L))
    def fail(self, offset: int) -> None:
        """Never: no failure reaches the spout."""
        super().fail(offset)
        require(False)


class BackingOff(PartitionManager):
    """A failed message waits before it is emitted again: the n-th time for
    min(longest, first * 2 ** (n - 1)) instants. Time passes for all of them at once."""

    first = const(1, at_least=1)        # instants before the first retry
    longest = const(2, at_least=1)      # instants before any retry

    wait = array(upto(PartitionManager.L), integer(0, longest))         # still to wait
    tries = array(upto(PartitionManager.L), integer(0, PartitionManager.X))
    early = boolean(False)              # a message was emitted again before its time

    def schedule(self, offset: int) -> None:
        """Plan a replay after a delay; the offset stays in pending."""
        super().schedule(offset)
        self.wait[offset] = self.delay(self.tries[offset])
        self.tries[offset] += 1

    def delay(self, tries: int) -> int:
        """Instants before the next retry, after ``tries`` earlier ones."""
        delay = self.first
        for _ in range(tries):
            delay = min(self.longest, 2 * delay)
        return min(self.longest, delay)

    @action(fair=True)
    def time_passes(self) -> None:
        """One instant passes; there are always more."""
        require(any(wait > 0 for wait in self.wait))
        for offset in range(self.L):
            self.wait[offset] = max(0, self.wait[offset] - 1)

    def fetches_from(self) -> int:
        """The first failed offset that is due again, or the first new one."""
        first = self.emitted_to
        for offset in self.failed:
            if self.is_due(offset):
                first = min(first, offset)
        return first

    def is_due(self, offset: int) -> bool:
        """True if the offset has waited long enough."""
        return self.wait[offset] == 0

    def is_replay(self) -> bool:
        """True if the fetch is for failed messages that are due again."""
        return any(self.is_due(offset) for offset in self.failed)

    def is_replayed(self, offset: int) -> bool:
        """True if the offset has failed and its delay is over."""
        return offset in self.failed and self.is_due(offset)

    def take(self, offset: int) -> None:
        """Note that a fetched message is to be emitted, and whether it comes too early."""
        self.early = self.early or (offset in self.failed and self.wait[offset] > 0)
        super().take(offset)

    @action
    def crash(self) -> None:
        """The failed messages are forgotten, and so is the number of their failures."""
        super().crash()
        for offset in range(self.L):
            self.wait[offset] = 0
            self.tries[offset] = 0

    @always("STORM-K16", MUST,
            "A failed message is not fetched to be emitted again before the delay that began "
            "with its failure is over.",
            source="storm#partition-manager (ExponentialBackoffMsgRetryManager); "
                   "storm#kafka-client")
    def retries_wait(self) -> bool:
        """Other messages may be fetched meanwhile."""
        return not self.early


    @always("STORM-K17", MUST,
            "With max.spout.pending = M and F offsets in a fetch, at most M + F offsets are "
            "kept, besides those that failed and are not fetched again yet.",
            source="001#oom; storm#D12: what STORM-K10 leaves of its bound")
    def other_offsets_are_bounded(self) -> bool:
        """They are under way or waiting. The number of failed ones has no bound here."""
        return self.M == 0 or len(self.pending) - len(self.failed) <= self.M + self.F


class RememberingAcked(BackingOff):
    """An offset stays pending until the commit passes it."""

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack(self, offset: int) -> None:
        """Settle the root, and keep its offset pending."""
        super().ack(offset)
        self.pending.add(offset)


class RememberingInside(BackingOff):
    """An offset that is acked while another is under way stays pending."""

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack(self, offset: int) -> None:
        """The last one alone leaves, and the others never."""
        super().ack(offset)
        if len(self.under_way) > 0:
            self.pending.add(offset)


class RememberingOdd(BackingOff):
    """Every second offset stays pending when it is acked."""

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack(self, offset: int) -> None:
        """Keep every second offset."""
        super().ack(offset)
        if offset % 2 == 0:
            self.pending.add(offset)


class RetryingAllButLast(BackingOff):
    """A retry does not wait if a later message was emitted."""

    def is_due(self, offset: int) -> bool:
        """True also if the offset is not the last one."""
        return self.wait[offset] == 0 or self.emitted_to > offset + 1


class RetryingTogether(BackingOff):
    """Where one retry is due, all failed messages are emitted again."""

    def is_replayed(self, offset: int) -> bool:
        """True if the offset has failed, due or not."""
        return offset in self.failed


class RetryingAtOnce(BackingOff):
    """The delay is computed, and not used."""

    def is_due(self, offset: int) -> bool:
        """True always: a retry is due without any delay."""
        return True


class GivingUpAll(GivingUp):
    """Where one message is given up, all that wait for a retry leave pending with it."""

    def schedule(self, offset: int) -> None:
        """After the last retry of one, forget the others."""
        super().schedule(offset)
        if offset in self.given_up:
            for other in range(self.L):
                if other in self.failed:
                    self.failed.discard(other)
                    self.pending.discard(other)


class GivingUpBelow(GivingUp):
    """Where one message is given up, the commit does not wait for older ones any more."""

    def schedule(self, offset: int) -> None:
        """After the last retry of one, forget what is pending below it."""
        super().schedule(offset)
        if offset in self.given_up:
            for other in range(self.L):
                if other < offset:
                    self.pending.discard(other)


SAFE, LOST = "STORM-K6", "STORM-K7"

EXPECTATIONS = (
    expect(CommittingBeforeProcessing, "STORM-K15", "holds", "AT_MOST_ONCE: nothing twice",
           X=1, Y=(0, 1)),
    expect(CommittingWithNextFetch, "STORM-K15", "violated",
           "AT_MOST_ONCE: messages that the next fetch commits may come twice", X=0,
           Y=1),
    expect(CommittingBeforeProcessing, SAFE, "violated",
           "AT_MOST_ONCE: a committed message may not be processed", X=0, Y=0),
    expect(CommittingBeforeProcessing, LOST, "violated",
           "AT_MOST_ONCE: a crash loses messages under way", X=0),
    expect(CommittingOnTimer, SAFE, "violated",
           "NO_GUARANTEE: a committed message may not be processed", X=0, Y=0),
    expect(CommittingOnTimer, LOST, "violated",
           "NO_GUARANTEE: a crash loses messages under way", X=0),
    expect(AckedAtEmit, SAFE, "violated", "without ackers a committed message may not be processed",
           Y=0),
    expect(AckedAtEmit, LOST, "violated", "without ackers a crash loses messages under way"),
    expect(AckedAtEmit, "STORM-K8", "holds", "without ackers only a crash repeats messages"),
    *(expect(BackingOff, rule, "holds", about, L=2, X=2, longest=(1, 2)) for rule, about in (
        ("STORM-K16", "a retry waits for its time"),
        (SAFE, "no commit passes an offset that waits for its retry"),
        (LOST, "an offset that waits for its retry is emitted eventually"),
    )),
    expect(BackingOff, "STORM-K10", "violated", "offsets that wait for a retry add up (D12)",
           L=(3, 5), F=1, M=1, X=2, Y=0),
    expect(BackingOff, "STORM-K17", "holds",
           "offsets that do not wait for a retry stay within M + F", L=5, F=1, M=1, X=2, Y=0),
    expect(RememberingAcked, "STORM-K17", "violated", "acked offsets stay", L=4, F=1, M=1, Y=0),
    expect(RememberingInside, "STORM-K17", "violated", "offsets that are acked among others stay",
           L=6, F=2, M=2, X=0, Y=0),
    expect(RememberingOdd, "STORM-K17", "violated", "every second offset stays", L=6, F=1, M=1, X=0,
           Y=0),
    expect(BackingOff, "STORM-K18", "holds",
           "bodies do not add up while offsets wait for their retries", L=5, F=1, M=1, X=2, Y=0),
    expect(GivingUpAll, "STORM-K12", "violated", "one that is given up takes others with it",
           L=2, F=2, X=3, Y=0, retries=1),
    expect(GivingUpBelow, "STORM-K12", "violated", "a commit passes what is older than a message "
           "that is given up", L=2, F=2, X=1, Y=0, retries=0),
    expect(RetryingAtOnce, "STORM-K16", "violated", "the delay is not used", L=2),
    expect(RetryingAllButLast, "STORM-K16", "violated", "a retry of all but the last", L=2),
    expect(RetryingTogether, "STORM-K16", "violated", "one retry takes all others along", L=2, X=2),
)

UNSEEN = {
    "STORM-K15":
        "No implementation under test claims to deliver at most once, and all other guarantees "
        "allow repetitions.",
}
