"""A spout over a log that can be read again: what it remembers, commits and replays.

Theory of operation
-------------------
A partition of the log holds messages at offsets 0, 1, 2, … The spout's partition manager
hands them to the topology and records its progress in one number: *committed*. After a
crash it starts there again, and everything else is gone. So a commit is a promise:

    every offset below the commit was processed

and with it nothing is lost, whatever fails: an offset that is not processed is not below the
commit, and one that is not below the commit is read again. The manager keeps

    waiting      fetched, with its body, not yet emitted (at most one fetch of F)
    pending      offsets that are fetched and not acked
    failed       offsets that are to be replayed, a part of pending
    emittedTo    where to fetch next

    fill    if nothing waits: fetch F from the first failed offset, or otherwise from emittedTo.
            New offsets enter pending and waiting; when replaying, only failed ones do.
    next    emit the waiting messages, one at a time
    ack     the offset leaves pending
    fail    the offset enters failed, and stays in pending
    commit  the lowest pending offset, or emittedTo if none is pending

Each clause is needed. An offset must enter pending at fill: if it did so only at emit, as
the notes' pseudo-code may be read, a commit would pass waiting offsets (D13). A failed offset
must stay in pending, or the commit passes it. A replay must skip offsets that did not fail, or
they are emitted twice for nothing. Limits on retries, or on how far back a replay may go, are
losses by configuration. Messages that the log has dropped meanwhile must leave failed *and*
pending, or nothing new is ever read, or nothing is ever committed.

Two things are kept in memory: *bodies* of messages that are fetched and not yet emitted, one fetch
at most (emitted ones are in the topology's queues, and after a failure they are read again);
*offsets*, as many as are pending. With a maximum of M roots outstanding these are at most M + F,
failed ones included, since nothing new is fetched while any failed. Both conditions count: without
a maximum there is no bound, and with retries that wait there is none either, since new messages are
fetched meanwhile (see ``guarantees``). So the notes' "OOM? No, only offsets are kept" is right of
bodies, and right of memory only under conditions that it does not name (D12).

The log has L messages; bolts fail, or roots time out, X times in all; the spout crashes Y
times; the log drops G messages. A tuple that was processed may still fail (time out) if its
ack is late. The messages that a crashed spout had under way are given up.

Source: the notes on Storm's acker and KafkaSpout (001#flow, 001#oom); the code is
storm.kafka.PartitionManager of 0.9.3; storm#D12, storm#D13, storm#partition-manager.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    CLAIM, MUST, Machine, action, always, array, boolean, const, fifo, integer, leads_to,
    require, subset, upto,
)

__all__ = [
    "EXPECTATIONS", "AddingAtEmit", "CommittingHighest", "CountingSiblings", "FetchingAhead",
    "ForgettingFailed", "ForgettingRetries", "GivingUp", "GivingUpInSilence", "IgnoringFailed",
    "KeepingBodies", "KeepingDroppedFailed", "KeepingDroppedPending", "LookingBackOnly",
    "PartitionManager", "ReplayingAll", "SharingAnId",
]

FLOW = "001#flow; storm#partition-manager"


class PartitionManager(Machine):
    """The manager of 0.9.3, which also gives up offsets that the log has dropped."""

    L = const(3, at_least=1)            # messages in the log
    F = const(2, at_least=1)            # messages of one fetch
    M = const(0)                        # max.spout.pending; 0 is unlimited
    X = const(1)                        # failures and timeouts, in all
    Y = const(1)                        # crashes, in all
    G = const(0)                        # messages that the log drops, in all

    pending = subset(upto(L))
    failed = subset(upto(L))
    waiting = fifo(integer(0, L - 1), L)
    emitted_to = integer(0, L)
    committed = integer(0, L)           # the only state that survives a crash

    under_way = subset(upto(L))         # emitted, and neither acked nor failed
    finished = subset(upto(L))          # of these, processed: the ack is on its way
    processed = subset(upto(L))         # processed at least once, ever
    emitted = subset(upto(L))           # emitted since it failed and since the last start
    needless = boolean(False)           # a message was emitted again without a reason
    dropped = subset(upto(L))           # no longer in the log
    failures = integer(0, X)
    crashes = integer(0, Y)

    # --- the manager -----------------------------------------------------------------

    @action(fair=True)
    def fill(self) -> None:
        """Fetch up to F messages, when nothing waits."""
        require(not self.waiting and self.fetches_from() < self.L)
        self.let_go_of_dropped()
        first = self.fetches_from()
        replaying = self.is_replay()
        taken = 0
        for offset in range(self.L):
            if offset >= first and offset not in self.dropped and taken < self.F:
                taken += 1
                if not replaying or self.is_replayed(offset):
                    self.take(offset)

    def let_go_of_dropped(self) -> None:
        """Give up failed offsets that the log no longer has."""
        for offset in self.dropped:
            if offset in self.failed:
                self.failed.discard(offset)
                self.pending.discard(offset)

    def fetches_from(self) -> int:
        """The first failed offset, or the first new one if none has failed."""
        first = self.emitted_to
        for offset in self.failed:
            first = min(first, offset)
        return first

    def is_replay(self) -> bool:
        """True if the fetch is for failed offsets."""
        return len(self.failed) > 0

    def is_replayed(self, offset: int) -> bool:
        """True if a replay emits this offset: it has failed."""
        return offset in self.failed

    def take(self, offset: int) -> None:
        """Note that a fetched message is to be emitted."""
        self.pending.add(offset)
        self.waiting.push(offset)
        self.failed.discard(offset)
        self.emitted_to = max(self.emitted_to, offset + 1)

    @action(fair=True)
    def next(self) -> None:
        """Emit the first waiting message, if the maximum allows it."""
        require(self.M == 0 or len(self.under_way) < self.M)
        offset = self.waiting.pop()
        self.needless = self.needless or offset in self.emitted
        self.emitted.add(offset)
        self.under_way.add(offset)

    @action(fair=True, offset=upto(L))
    def ack(self, offset: int) -> None:
        """The spout is notified that the tree is complete."""
        require(self.is_complete(offset))
        self.settle(offset)
        self.pending.discard(offset)

    def is_complete(self, offset: int) -> bool:
        """True if all of its tree was processed."""
        return offset in self.finished

    @action(offset=upto(L))
    def fail(self, offset: int) -> None:
        """The tree failed or timed out, perhaps although everything was processed."""
        require(self.may_fail(offset))
        self.failures += 1
        self.settle(offset)
        self.emitted.discard(offset)
        self.schedule(offset)

    def may_fail(self, offset: int) -> bool:
        """True if it is outstanding: the topology gives up nothing else."""
        return offset in self.under_way and self.failures < self.X

    def settle(self, offset: int) -> None:
        """The root is no longer outstanding."""
        self.under_way.discard(offset)
        self.finished.discard(offset)

    def schedule(self, offset: int) -> None:
        """Plan a replay of the offset; it stays in pending."""
        self.failed.add(offset)

    @action(fair=True)
    def commit(self) -> None:
        """Record the position so that it survives a crash."""
        require(self.committed != self.completed())
        self.committed = self.completed()

    def completed(self) -> int:
        """The lowest pending offset, or emittedTo if nothing is pending."""
        lowest = self.emitted_to
        for offset in self.pending:
            lowest = min(lowest, offset)
        return lowest

    # --- the environment ---------------------------------------------------------------

    @action(fair=True, offset=upto(L))
    def process(self, offset: int) -> None:
        """The bolts have processed the message."""
        require(offset in self.under_way and offset not in self.finished)
        self.finished.add(offset)
        self.processed.add(offset)

    @action
    def crash(self) -> None:
        """The spout starts again from the commit."""
        require(self.crashes < self.Y)
        self.crashes += 1
        self.start_at(self.committed)

    def start_at(self, offset: int) -> None:
        """Start to fetch at ``offset``; everything but the commit is forgotten."""
        self.pending.clear()
        self.failed.clear()
        self.waiting.clear()
        self.under_way.clear()
        self.finished.clear()
        self.emitted.clear()
        self.emitted_to = offset

    @action(offset=upto(L))
    def drop(self, offset: int) -> None:
        """Retention or compaction takes a message out of the log."""
        require(len(self.dropped) < self.G and offset not in self.dropped)
        self.dropped.add(offset)

    # --- rules -----------------------------------------------------------------------

    @always("STORM-K6", MUST, "Every offset below the commit was processed, or has left the log.",
            source=f"{FLOW}; storm#commit-safe")
    def commits_are_safe(self) -> bool:
        """A message that has left the log can never be processed."""
        return all(
            offset >= self.committed or offset in self.processed or offset in self.dropped
            for offset in range(self.L)
        )

    @leads_to("STORM-K7", MUST,
              "If failures and crashes end, a message is processed eventually, or leaves the log.",
              source=f"{FLOW}; 001#replay; storm#D13", offset=upto(L))
    def nothing_is_lost(self, offset: int) -> tuple[bool, bool]:
        """It assumes that failures and crashes end."""
        return True, offset in self.processed or offset in self.dropped

    @always("STORM-K8", MUST,
            "A message is emitted again only after its last attempt failed or timed out, or "
            "after a restart.",
            source=f"{FLOW} (only failed offsets are re-emitted)")
    def nothing_is_repeated_without_reason(self) -> bool:
        """At-least-once does not permit needless duplicates."""
        return not self.needless

    @leads_to("STORM-K9", MUST,
              "If failures and crashes end, the commit passes every message eventually, unless "
              "the message leaves the log.",
              source="storm#partition-manager; STORM-2608, STORM-643", offset=upto(L))
    def commits_go_on(self, offset: int) -> tuple[bool, bool]:
        """The commit passes every offset that the log has not dropped."""
        return True, self.committed > offset or offset in self.dropped

    @always("STORM-K10", MUST,
            "If at most M roots may be outstanding, at most M + F offsets are pending (fetched, "
            "not acked), failed ones included, F being what one fetch brings.",
            source="001#oom; storm#D12, storm#partition-manager")
    def offsets_are_bounded(self) -> bool:
        """It needs one condition: new ones are fetched only if nothing waits and nothing failed.
        A manager with retries that wait does not meet it (``guarantees``)."""
        return self.M == 0 or len(self.pending) <= self.M + self.F

    @always("STORM-K14", CLAIM,
            "If at most M roots may be outstanding, fewer than M + F offsets are pending "
            "(fetched and not acked), F being what one fetch brings.",
            source="storm#partition-manager; STORM-K10: expected to be violated, since that is "
                   "exact")
    def bound_is_not_attained(self) -> bool:
        """One offset less than STORM-K10 allows."""
        return self.M == 0 or len(self.pending) < self.M + self.F

    @always("STORM-K11", CLAIM,
            "With or without a maximum of outstanding roots, no more offsets are pending "
            "(fetched and not acked) than one fetch brings.",
            source="001#oom; storm#D12: not without max.spout.pending")
    def offsets_are_few(self) -> bool:
        """The notes' "OOM? No, only offsets are kept", made precise; unacked offsets add up."""
        return len(self.pending) <= self.F

    @always("STORM-K18", MUST,
            "The spout keeps at most as many message bodies in memory as one fetch brings.",
            source="001#oom (emitted messages are not kept); storm#partition-manager")
    def bodies_are_few(self) -> bool:
        """The bound does not depend on the maximum, nor on the number of offsets."""
        return self.bodies() <= self.F

    def bodies(self) -> int:
        """Number of whole messages that are kept: those that wait. Emitted ones are not kept."""
        return len(self.waiting)

    @always("STORM-K19", MUST,
            "No offset below the commit waits to be emitted, or is emitted and not answered.",
            source="001#fetching; storm#partition-manager (restart resumes at the commit)")
    def commits_are_not_gone_back_on(self) -> bool:
        """So none is emitted again, neither after a failure nor after a restart."""
        return all(offset >= self.committed for offset in self.waiting) and all(
            offset >= self.committed for offset in self.under_way)


class FetchingAhead(PartitionManager):
    """The next fetch does not wait until all messages of the last one are emitted."""

    @action(fair=True)
    def fill(self) -> None:
        """Fetch while messages still wait, up to two fetches."""
        require(len(self.waiting) <= self.F and self.fetches_from() < self.L)
        first = self.fetches_from()
        replaying = self.is_replay()
        taken = 0
        for offset in range(self.L):
            if offset >= first and taken < self.F:
                taken += 1
                if not replaying or self.is_replayed(offset):
                    self.take(offset)


class KeepingBodies(PartitionManager):
    """A message is kept until it is acked, so that a replay need not read it again."""

    def bodies(self) -> int:
        """Number of whole messages that are kept: those that wait or are under way."""
        return len(self.waiting) + len(self.under_way)


class AddingAtEmit(PartitionManager):
    """An offset enters pending when it is emitted, as the notes' pseudo-code may be read (D13)."""

    def take(self, offset: int) -> None:
        """Note that a fetched offset waits; it is not pending yet."""
        self.waiting.push(offset)
        self.failed.discard(offset)
        self.emitted_to = max(self.emitted_to, offset + 1)

    @action(fair=True)
    def next(self) -> None:
        """Emit the first waiting message; its offset is pending from now on."""
        if self.waiting:
            self.pending.add(self.waiting[0])
        super().next()


class CommittingHighest(PartitionManager):
    """The commit is the highest acked offset plus one."""

    highest = integer(0, PartitionManager.L)

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack(self, offset: int) -> None:
        """Remember the highest acked offset, whatever is pending below it."""
        super().ack(offset)
        self.highest = max(self.highest, offset + 1)

    def completed(self) -> int:
        """One more than the highest acked offset."""
        return max(self.highest, self.committed)


class ForgettingFailed(PartitionManager):
    """A failed offset leaves pending until it is fetched again."""

    def schedule(self, offset: int) -> None:
        """Plan a replay, and take the offset out of pending."""
        self.failed.add(offset)
        self.pending.discard(offset)


class IgnoringFailed(PartitionManager):
    """Fetches always continue from emittedTo; nothing is replayed."""

    def fetches_from(self) -> int:
        """The first new offset."""
        return self.emitted_to

    def is_replay(self) -> bool:
        """Never: a fetch does not begin at a failed offset."""
        return False


class ReplayingAll(PartitionManager):
    """A replay emits everything from the first failed offset on."""

    def is_replayed(self, offset: int) -> bool:
        """True for every offset that a replay fetches."""
        return True


class GivingUp(PartitionManager):
    """After ``retries`` retries a failed message counts as acked: loss by configuration."""

    retries = const(0)                  # how often a message is replayed

    tries = array(upto(PartitionManager.L), integer(0, retries))
    given_up = subset(upto(PartitionManager.L))

    def schedule(self, offset: int) -> None:
        """Plan a replay, or give the message up."""
        if self.tries[offset] < self.retries:
            self.tries[offset] += 1
            self.failed.add(offset)
        else:
            self.pending.discard(offset)
            self.given_up.add(offset)

    @action
    def crash(self) -> None:
        """The counts of retries are in memory, and are lost."""
        super().crash()
        for offset in range(self.L):
            self.tries[offset] = 0

    @always("STORM-K12", MUST,
            "Every offset below the commit was processed, or its retries were used up.",
            source="storm#partition-manager (retry limit); STORM-2413, STORM-2014")
    def commits_are_safe_but_for_the_limit(self) -> bool:
        """The part of STORM-K6 that a retry limit keeps."""
        return all(
            offset >= self.committed or offset in self.processed or offset in self.given_up
            for offset in range(self.L)
        )


class ForgettingRetries(GivingUp):
    """A retry takes the offset out of pending until it is fetched again."""

    def schedule(self, offset: int) -> None:
        """Put the offset into the list of retries only."""
        super().schedule(offset)
        self.pending.discard(offset)


class GivingUpInSilence(GivingUp):
    """The same, without a record of the messages given up."""

    def schedule(self, offset: int) -> None:
        """Plan a replay; after the last retry the offset only leaves pending."""
        if self.tries[offset] < self.retries:
            super().schedule(offset)
        else:
            self.pending.discard(offset)


class LookingBackOnly(PartitionManager):
    """maxOffsetBehind (STORM-399): older offsets are neither replayed nor waited for."""

    behind = const(1)

    def schedule(self, offset: int) -> None:
        """Plan a replay only if the offset is not too far back."""
        if offset >= self.emitted_to - self.behind:
            self.failed.add(offset)

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack(self, offset: int) -> None:
        """Drop pending offsets that are too far below the acked one."""
        super().ack(offset)
        for other in range(self.L):
            if other < offset - self.behind:
                self.pending.discard(other)


class KeepingDroppedFailed(PartitionManager):
    """0.9.3: a failed offset that the log has dropped is looked for forever (STORM-643)."""

    def let_go_of_dropped(self) -> None:
        """Nothing: offsets that left the log stay in failed and pending."""


class KeepingDroppedPending(PartitionManager):
    """It leaves failed but stays in pending: the commit does not advance any more (STORM-2608)."""

    def let_go_of_dropped(self) -> None:
        """Take offsets that left the log out of failed, but not out of pending."""
        for offset in self.dropped:
            self.failed.discard(offset)


class SharingAnId(PartitionManager):
    """A scheme that makes two tuples of a message, with one id: the first ack counts."""

    half_done = subset(upto(PartitionManager.L))    # the first of the two is processed

    @action(fair=True, offset=upto(PartitionManager.L))
    def process_first(self, offset: int) -> None:
        """The first of the two tuples is processed."""
        require(offset in self.under_way and offset not in self.half_done)
        self.half_done.add(offset)

    @action(fair=True, offset=upto(PartitionManager.L))
    def process(self, offset: int) -> None:
        """The second tuple is processed, and with it the message."""
        require(offset in self.half_done)
        super().process(offset)

    def settle(self, offset: int) -> None:
        """The root is no longer outstanding; a replay has two new tuples."""
        super().settle(offset)
        self.half_done.discard(offset)

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack_first(self, offset: int) -> None:
        """The ack of the first tuple: the offset leaves pending, and the second is ignored."""
        require(offset in self.half_done and offset in self.pending)
        self.pending.discard(offset)

    @action
    def crash(self) -> None:
        """The spout starts again; half-done messages are forgotten as well."""
        super().crash()
        self.half_done.clear()


class CountingSiblings(SharingAnId):
    """The fix: an id is acked when all of its tuples are."""

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack_first(self, offset: int) -> None:
        """Never: the first ack is only counted; ``ack`` is that of the last tuple."""
        super().ack_first(offset)
        require(False)


SAFE, LOST = "STORM-K6", "STORM-K7"

EXPECTATIONS = (
    *(expect(PartitionManager, rule, "holds", about, L=3, F=2, X=2, Y=1) for rule, about in (
        (SAFE, "committed messages were processed"),
        (LOST, "nothing is lost"),
        ("STORM-K8", "no needless duplicates"),
        ("STORM-K9", "the commit position advances"),
    )),
    *(expect(PartitionManager, rule, "holds", about, L=3, F=2, X=1, Y=1, G=1)
      for rule, about in (
        (SAFE, "committed messages were processed, or the log dropped them"),
        (LOST, "nothing else is lost"),
        ("STORM-K9", "the commit position advances"),
    )),
    expect(PartitionManager, "STORM-K10", "holds", "no more than M + F offsets", L=4, F=(1, 2),
           M=(1, 2), X=2, Y=0),
    expect(PartitionManager, "STORM-K14", "violated", "M + F offsets are attained", L=4, F=(1, 2),
           M=(1, 2), X=2, Y=0),
    expect(PartitionManager, "STORM-K11", "violated", "no bound without a maximum (D12)",
           L=4, F=1, M=0, X=0, Y=0),
    expect(PartitionManager, "STORM-K18", "holds", "bodies of one fetch, with any maximum",
           L=4, F=(1, 2), M=1, X=2, Y=0),
    expect(PartitionManager, "STORM-K18", "holds",
           "bodies of one fetch, even without a maximum", L=3, F=(1, 2), M=0, X=1, Y=1),
    expect(PartitionManager, "STORM-K19", "holds", "a restart continues from the commit", X=1, Y=1),
    expect(FetchingAhead, "STORM-K18", "violated", "fetches too early", L=4, F=1, M=1, Y=0),
    expect(FetchingAhead, "STORM-K10", "violated",
           "fetching while messages wait keeps more than M + F offsets", L=4, F=1, M=1, Y=0),
    expect(KeepingBodies, "STORM-K18", "violated", "keeps emitted messages", L=4, M=(0, 1), Y=0),
    expect(AddingAtEmit, SAFE, "violated", "pending only from emit on (D13)"),
    expect(AddingAtEmit, LOST, "violated",
           "offsets pending only from their emit on: a crash loses waiting ones (D13)"),
    expect(AddingAtEmit, LOST, "holds",
           "offsets pending only from their emit on: without crashes nothing is lost", Y=0),
    expect(CommittingHighest, SAFE, "violated", "commit = max(acked) + 1"),
    expect(CommittingHighest, LOST, "violated",
           "commit = max(acked) + 1: a crash loses offsets below"),
    expect(ForgettingFailed, SAFE, "violated", "FAIL takes the offset out of pending"),
    expect(ForgettingFailed, LOST, "violated", "a crash loses a failed offset that is not pending"),
    expect(IgnoringFailed, LOST, "violated", "failed offsets are not fetched again"),
    expect(IgnoringFailed, SAFE, "holds", "failed offsets not fetched again are never committed"),
    expect(ReplayingAll, "STORM-K8", "violated", "a replay emits messages that did not fail"),
    expect(GivingUp, SAFE, "violated", "a retry limit is loss by configuration", retries=(0, 1),
           X=2, Y=0),
    expect(GivingUp, "STORM-K12", "holds",
           "a retry limit loses the messages given up, and no others", retries=(0, 1), X=2),
    expect(ForgettingRetries, "STORM-K12", "violated",
           "a commit passes an offset that waits for its retry", retries=1, Y=0),
    expect(GivingUpInSilence, "STORM-K12", "violated",
           "a retry limit without a record loses silently", retries=(0, 1), X=2, Y=0),
    expect(LookingBackOnly, SAFE, "violated",
           "maxOffsetBehind commits past dropped offsets (STORM-399)", Y=0),
    expect(LookingBackOnly, LOST, "violated",
           "maxOffsetBehind loses dropped offsets (STORM-399)", Y=0),
    expect(KeepingDroppedFailed, LOST, "violated",
           "a dropped offset is sought forever: no new data (STORM-643)", G=1, Y=0),
    expect(KeepingDroppedPending, "STORM-K9", "violated",
           "a dropped offset stays pending: no commits (STORM-2608)", G=1, Y=0),
    expect(SharingAnId, SAFE, "violated", "two tuples share an id: the first ack counts", X=0),
    expect(SharingAnId, LOST, "violated",
           "two tuples share an id, the first ack counts: a crash loses the other", X=0),
    expect(CountingSiblings, SAFE, "holds",
           "two tuples share an id, the last ack counts: a commit is safe", X=1),
    expect(CountingSiblings, LOST, "holds",
           "two tuples share an id, the last ack counts: nothing is lost", X=1),
    expect(CommittingHighest, "STORM-K19", "violated", "the commit passes waiting offsets"),
)

UNSEEN = {
    "STORM-K11":
        "It is false without a maximum: offsets that wait add up; so it is not required.",
    "STORM-K14":
        "It is one offset too strict, as the bound is attained; so it is not required.",
}
