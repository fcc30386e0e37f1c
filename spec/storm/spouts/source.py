"""A spout over a log that can be read again: what it remembers, commits and replays.

Theory of operation
-------------------
A partition of the log holds messages at offsets 0, 1, 2, … The spout's partition manager
takes them to the topology and records how far it is, in one number: *committed*. After a
crash it starts there again, and everything else is gone. So a commit is a promise:

    every offset below the commit was processed

and with it nothing is lost, whatever fails: what is not processed is not below the commit,
and what is not below the commit is read again. The manager keeps

    waiting      fetched, with its body, not yet emitted (at most one fetch of F)
    pending      offsets that are fetched and not acked
    failed       offsets that are to be replayed, a part of pending
    emittedTo    where to fetch next

    fill    when nothing waits: fetch F from the first failed offset, or else from emittedTo.
            New offsets enter pending and waiting; when replaying, only failed ones do.
    next    emit what waits, one message at a time
    ack     the offset leaves pending
    fail    the offset enters failed, and stays in pending
    commit  the lowest pending offset, or emittedTo if none is pending

Each clause is needed. An offset must enter pending at fill: if it did so only at emit, as
the notes' pseudo-code may be read, a commit would pass what still waits (D13). A failed offset
must stay in pending, or the commit passes it. Replaying must skip what did not fail, or it is
emitted twice for nothing. Limits on retries or on how far back a replay may go are losses by
configuration. Messages that the log has dropped meanwhile must leave failed *and* pending, or
nothing new is ever read, or nothing is ever committed.

What is kept in memory: *bodies*, of what is fetched and not yet emitted, one fetch at most (what
was emitted is in the topology's queues, and after a failure it is read again); *offsets*, as many
as are pending. With a maximum of M roots outstanding these are at most M + F, failed ones
included, since nothing new is fetched while any failed. Both conditions count: without a maximum
there is no bound, and with retries that wait there is none either, since new messages are fetched
meanwhile (see ``guarantees``). So the notes' "OOM? No, only offsets are kept" is right of bodies,
and right of memory only under conditions that it does not name (D12).

The log has L messages; bolts fail, or roots time out, X times in all; the spout crashes Y
times; the log drops G messages. A tuple that was processed may still fail (time out) if its
ack is late. What a crashed spout had under way is given up.

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
    """The manager of 0.9.3, which also lets go of what the log has dropped."""

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
    committed = integer(0, L)           # all that survives a crash

    under_way = subset(upto(L))         # emitted, and neither acked nor failed
    finished = subset(upto(L))          # of these, processed: the ack is on its way
    processed = subset(upto(L))         # processed at least once, ever
    emitted = subset(upto(L))           # emitted since it failed and since the last start
    needless = boolean(False)           # something was emitted again without a reason
    dropped = subset(upto(L))           # no longer in the log
    failures = integer(0, X)
    crashes = integer(0, Y)

    # --- the manager -----------------------------------------------------------------

    @action(fair=True)
    def fill(self) -> None:
        """One fetch, when nothing waits."""
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
        """Failed offsets that the log no longer has are given up."""
        for offset in self.dropped:
            if offset in self.failed:
                self.failed.discard(offset)
                self.pending.discard(offset)

    def fetches_from(self) -> int:
        """The first failed offset, or else the first new one."""
        first = self.emitted_to
        for offset in self.failed:
            first = min(first, offset)
        return first

    def is_replay(self) -> bool:
        """Whether the fetch is for the failed ones."""
        return len(self.failed) > 0

    def is_replayed(self, offset: int) -> bool:
        """Of what is fetched for a replay, only the failed ones are emitted."""
        return offset in self.failed

    def take(self, offset: int) -> None:
        """A fetched message is to be emitted."""
        self.pending.add(offset)
        self.waiting.push(offset)
        self.failed.discard(offset)
        self.emitted_to = max(self.emitted_to, offset + 1)

    @action(fair=True)
    def next(self) -> None:
        """The first message that waits is emitted, as far as the maximum allows."""
        require(self.M == 0 or len(self.under_way) < self.M)
        offset = self.waiting.pop()
        self.needless = self.needless or offset in self.emitted
        self.emitted.add(offset)
        self.under_way.add(offset)

    @action(fair=True, offset=upto(L))
    def ack(self, offset: int) -> None:
        """The spout is told that the tree is complete."""
        require(self.is_complete(offset))
        self.settle(offset)
        self.pending.discard(offset)

    def is_complete(self, offset: int) -> bool:
        """All of its tree was processed, and the acker says so."""
        return offset in self.finished

    @action(offset=upto(L))
    def fail(self, offset: int) -> None:
        """The tree failed or timed out, perhaps with everything processed."""
        require(offset in self.under_way and self.failures < self.X)
        self.failures += 1
        self.settle(offset)
        self.emitted.discard(offset)
        self.schedule(offset)

    def settle(self, offset: int) -> None:
        """The root is no longer outstanding."""
        self.under_way.discard(offset)
        self.finished.discard(offset)

    def schedule(self, offset: int) -> None:
        """The offset is to be replayed; it stays in pending."""
        self.failed.add(offset)

    @action(fair=True)
    def commit(self) -> None:
        """The position is recorded where a crash does not reach it."""
        require(self.committed != self.completed())
        self.committed = self.completed()

    def completed(self) -> int:
        """The lowest pending offset, or emittedTo if nothing is pending."""
        lowest = self.emitted_to
        for offset in self.pending:
            lowest = min(lowest, offset)
        return lowest

    # --- the world around it -----------------------------------------------------------

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
        """Everything but the commit is forgotten."""
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
        """What has left the log nobody can process any more."""
        return all(
            offset >= self.committed or offset in self.processed or offset in self.dropped
            for offset in range(self.L)
        )

    @leads_to("STORM-K7", MUST,
              "Every message is processed, whatever fails or crashes, or leaves the log.",
              source=f"{FLOW}; 001#replay; storm#D13", offset=upto(L))
    def nothing_is_lost(self, offset: int) -> tuple[bool, bool]:
        """As long as failures and crashes come to an end."""
        return True, offset in self.processed or offset in self.dropped

    @always("STORM-K8", MUST,
            "A message is emitted again only after it failed or timed out, or after a restart.",
            source=f"{FLOW} (only failed offsets are re-emitted)")
    def nothing_is_repeated_without_reason(self) -> bool:
        """At-least-once is no licence to emit twice."""
        return not self.needless

    @leads_to("STORM-K9", MUST, "Every message is committed some day, or leaves the log.",
              source="storm#partition-manager; STORM-2608, STORM-643", offset=upto(L))
    def commits_go_on(self, offset: int) -> tuple[bool, bool]:
        """The commit passes every offset that the log has not dropped."""
        return True, self.committed > offset or offset in self.dropped

    @always("STORM-K10", MUST,
            "With a maximum of M, no more than M + F offsets are kept, failed ones included.",
            source="001#oom; storm#D12, storm#partition-manager")
    def offsets_are_bounded(self) -> bool:
        """On one condition: new ones are fetched only when nothing waits and nothing failed.
        A manager whose retries wait does not meet it (``guarantees``)."""
        return self.M == 0 or len(self.pending) <= self.M + self.F

    @always("STORM-K14", CLAIM, "The number of offsets kept is smaller than STORM-K10 allows.",
            source="storm#partition-manager; STORM-K10: expected to be violated, since that is "
                   "exact")
    def bound_is_not_attained(self) -> bool:
        """One offset less than STORM-K10 allows."""
        return self.M == 0 or len(self.pending) < self.M + self.F

    @always("STORM-K11", CLAIM,
            "Without a maximum too, no more offsets are kept than one fetch brings.",
            source="001#oom; storm#D12: not without max.spout.pending")
    def offsets_are_few(self) -> bool:
        """The notes' "OOM? No, only offsets are kept", made precise; unacked offsets add up."""
        return len(self.pending) <= self.F


    @always("STORM-K18", MUST, "No more bodies are kept than one fetch brings.",
            source="001#oom (what was emitted is not kept); storm#partition-manager")
    def bodies_are_few(self) -> bool:
        """Whatever the maximum, and however many offsets are kept."""
        return self.bodies() <= self.F

    def bodies(self) -> int:
        """Messages that are kept whole: those that wait. What is emitted is let go."""
        return len(self.waiting)

    @always("STORM-K19", MUST, "Nothing below the commit waits to be emitted, or is under way.",
            source="001#fetching; storm#partition-manager (restart resumes at the commit)")
    def commits_are_not_gone_back_on(self) -> bool:
        """So it is not emitted again, neither after a failure nor after a restart."""
        return all(offset >= self.committed for offset in self.waiting) and all(
            offset >= self.committed for offset in self.under_way)


class FetchingAhead(PartitionManager):
    """The next fetch does not wait until all of the last one is emitted."""

    @action(fair=True)
    def fill(self) -> None:
        """Whatever still waits; two fetches at the most."""
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
        """What is under way, too."""
        return len(self.waiting) + len(self.under_way)


class AddingAtEmit(PartitionManager):
    """An offset enters pending when it is emitted, as the notes' pseudo-code may be read (D13)."""

    def take(self, offset: int) -> None:
        """A fetched offset waits, and is not pending yet."""
        self.waiting.push(offset)
        self.failed.discard(offset)
        self.emitted_to = max(self.emitted_to, offset + 1)

    @action(fair=True)
    def next(self) -> None:
        """An offset is pending once it is emitted."""
        if self.waiting:
            self.pending.add(self.waiting[0])
        super().next()


class CommittingHighest(PartitionManager):
    """The commit is the highest acked offset plus one."""

    highest = integer(0, PartitionManager.L)

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack(self, offset: int) -> None:
        """Noted, whatever is pending below it."""
        super().ack(offset)
        self.highest = max(self.highest, offset + 1)

    def completed(self) -> int:
        """The highest so far."""
        return max(self.highest, self.committed)


class ForgettingFailed(PartitionManager):
    """A failed offset leaves pending until it is fetched again."""

    def schedule(self, offset: int) -> None:
        """A failed offset is no longer pending."""
        self.failed.add(offset)
        self.pending.discard(offset)


class IgnoringFailed(PartitionManager):
    """Fetches always go on from emittedTo; nothing is replayed."""

    def fetches_from(self) -> int:
        """The first new offset."""
        return self.emitted_to

    def is_replay(self) -> bool:
        """A fetch never begins at a failed offset."""
        return False


class ReplayingAll(PartitionManager):
    """A replay emits everything from the first failed offset on."""

    def is_replayed(self, offset: int) -> bool:
        """Whatever a replay fetches is emitted again."""
        return True


class GivingUp(PartitionManager):
    """After so many retries a failed message counts as acked: loss by configuration."""

    retries = const(0)                  # how often a message is replayed

    tries = array(upto(PartitionManager.L), integer(0, retries))
    given_up = subset(upto(PartitionManager.L))

    def schedule(self, offset: int) -> None:
        """A replay, or the end of it."""
        if self.tries[offset] < self.retries:
            self.tries[offset] += 1
            self.failed.add(offset)
        else:
            self.pending.discard(offset)
            self.given_up.add(offset)

    @action
    def crash(self) -> None:
        """Retries are counted in memory."""
        super().crash()
        for offset in range(self.L):
            self.tries[offset] = 0

    @always("STORM-K12", MUST, "Every offset below the commit was processed or given up.",
            source="storm#partition-manager (retry limit); STORM-2413, STORM-2014")
    def commits_are_safe_but_for_the_limit(self) -> bool:
        """What the limit leaves of STORM-K6."""
        return all(
            offset >= self.committed or offset in self.processed or offset in self.given_up
            for offset in range(self.L)
        )


class ForgettingRetries(GivingUp):
    """A retry takes the offset out of pending until it is fetched again."""

    def schedule(self, offset: int) -> None:
        """It is in the list of retries, and nowhere else."""
        super().schedule(offset)
        self.pending.discard(offset)


class GivingUpInSilence(GivingUp):
    """The same, and nobody is told what was given up."""

    def schedule(self, offset: int) -> None:
        """After the last retry the offset is gone."""
        if self.tries[offset] < self.retries:
            super().schedule(offset)
        else:
            self.pending.discard(offset)


class LookingBackOnly(PartitionManager):
    """maxOffsetBehind (STORM-399): what is further back is neither replayed nor waited for."""

    behind = const(1)

    def schedule(self, offset: int) -> None:
        """A replay only if it is not too far back."""
        if offset >= self.emitted_to - self.behind:
            self.failed.add(offset)

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack(self, offset: int) -> None:
        """What is pending too far below the acked offset is dropped."""
        super().ack(offset)
        for other in range(self.L):
            if other < offset - self.behind:
                self.pending.discard(other)


class KeepingDroppedFailed(PartitionManager):
    """0.9.3: a failed offset that the log has dropped is looked for for ever (STORM-643)."""

    def let_go_of_dropped(self) -> None:
        """What left the log stays in failed and pending."""


class KeepingDroppedPending(PartitionManager):
    """It leaves failed but stays in pending: the commit stands still (STORM-2608)."""

    def let_go_of_dropped(self) -> None:
        """What left the log leaves failed, and stays pending."""
        for offset in self.dropped:
            self.failed.discard(offset)


class SharingAnId(PartitionManager):
    """A scheme that makes two tuples of a message, with one id: the first ack counts."""

    half_done = subset(upto(PartitionManager.L))    # the first of the two is processed

    @action(fair=True, offset=upto(PartitionManager.L))
    def process_first(self, offset: int) -> None:
        """The first of the two tuples."""
        require(offset in self.under_way and offset not in self.half_done)
        self.half_done.add(offset)

    @action(fair=True, offset=upto(PartitionManager.L))
    def process(self, offset: int) -> None:
        """The second; now the message is processed."""
        require(offset in self.half_done)
        super().process(offset)

    def settle(self, offset: int) -> None:
        """Should it be emitted again, both of its tuples are new ones."""
        super().settle(offset)
        self.half_done.discard(offset)

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack_first(self, offset: int) -> None:
        """The ack of the first tuple: the offset leaves pending, and the second is ignored."""
        require(offset in self.half_done and offset in self.pending)
        self.pending.discard(offset)

    @action
    def crash(self) -> None:
        """Half-done work is gone as well."""
        super().crash()
        self.half_done.clear()


class CountingSiblings(SharingAnId):
    """The remedy: an id is acked when all of its tuples are."""

    @action(fair=True, offset=upto(PartitionManager.L))
    def ack_first(self, offset: int) -> None:
        """Counted, and nothing else; the chapter's ``ack`` is that of the last one."""
        super().ack_first(offset)
        require(False)


SAFE, LOST = "STORM-K6", "STORM-K7"

EXPECTATIONS = (
    *(expect(PartitionManager, rule, "holds", about, L=3, F=2, X=2, Y=1) for rule, about in (
        (SAFE, "what is committed was processed"),
        (LOST, "nothing is lost"),
        ("STORM-K8", "no needless duplicates"),
        ("STORM-K9", "commits go on"),
    )),
    *(expect(PartitionManager, rule, "holds", about, L=3, F=2, X=1, Y=1, G=1)
      for rule, about in (
        (SAFE, "what is committed was processed, or the log dropped it"),
        (LOST, "nothing else is lost"),
        ("STORM-K9", "commits go on"),
    )),
    expect(PartitionManager, "STORM-K10", "holds", "no more than M + F offsets", L=4, F=(1, 2),
           M=(1, 2), X=2, Y=0),
    expect(PartitionManager, "STORM-K14", "violated", "M + F offsets are attained", L=4, F=(1, 2),
           M=(1, 2), X=2, Y=0),
    expect(PartitionManager, "STORM-K11", "violated", "no bound without a maximum (D12)",
           L=4, F=1, M=0, X=0, Y=0),
    expect(PartitionManager, "STORM-K18", "holds", "bodies of one fetch, whatever the maximum",
           L=4, F=(1, 2), M=1, X=2, Y=0),
    expect(PartitionManager, "STORM-K18", "holds",
           "bodies of one fetch, also without a maximum", L=3, F=(1, 2), M=0,
           X=1, Y=1),
    expect(PartitionManager, "STORM-K19", "holds", "a restart goes on from the commit", X=1, Y=1),
    expect(FetchingAhead, "STORM-K18", "violated", "fetches while something waits", L=4, F=1, M=1,
           Y=0),
    expect(FetchingAhead, "STORM-K10", "violated",
           "fetching while something waits keeps more than M + F offsets", L=4, F=1, M=1, Y=0),
    expect(KeepingBodies, "STORM-K18", "violated", "keeps what it has emitted", L=4, M=(0, 1),
           Y=0),
    expect(AddingAtEmit, SAFE, "violated", "pending only from emit on (D13)"),
    expect(AddingAtEmit, LOST, "violated",
           "offsets pending only from their emit on: a crash loses what waited (D13)"),
    expect(AddingAtEmit, LOST, "holds",
           "offsets pending only from their emit on: nothing is lost if the spout never "
           "crashes", Y=0),
    expect(CommittingHighest, SAFE, "violated", "commit = max(acked) + 1"),
    expect(CommittingHighest, LOST, "violated",
           "commit = max(acked) + 1: a crash loses what is below"),
    expect(ForgettingFailed, SAFE, "violated", "FAIL takes the offset out of pending"),
    expect(ForgettingFailed, LOST, "violated",
           "a crash loses a failed offset that is no longer pending"),
    expect(IgnoringFailed, LOST, "violated", "failed offsets are not fetched again"),
    expect(IgnoringFailed, SAFE, "holds",
           "failed offsets that are not fetched again are never committed"),
    expect(ReplayingAll, "STORM-K8", "violated", "a replay emits what did not fail"),
    expect(GivingUp, SAFE, "violated", "a retry limit is loss by configuration", retries=(0, 1),
           X=2, Y=0),
    expect(GivingUp, "STORM-K12", "holds",
           "a retry limit loses what it gave up, and nothing else", retries=(0, 1), X=2),
    expect(ForgettingRetries, "STORM-K12", "violated",
           "a commit passes an offset that waits for its retry", retries=1, Y=0),
    expect(GivingUpInSilence, "STORM-K12", "violated",
           "a retry limit that tells nobody loses in silence",
           retries=(0, 1), X=2, Y=0),
    expect(LookingBackOnly, SAFE, "violated",
           "maxOffsetBehind commits past what it dropped (STORM-399)", Y=0),
    expect(LookingBackOnly, LOST, "violated",
           "maxOffsetBehind loses what it dropped (STORM-399)", Y=0),
    expect(KeepingDroppedFailed, LOST, "violated",
           "a dropped offset is sought for ever: no new data (STORM-643)", G=1, Y=0),
    expect(KeepingDroppedPending, "STORM-K9", "violated",
           "a dropped offset stays pending: no commits (STORM-2608)", G=1, Y=0),
    expect(SharingAnId, SAFE, "violated", "two tuples share an id: the first ack counts", X=0),
    expect(SharingAnId, LOST, "violated",
           "two tuples share an id, the first ack counts: a crash loses the other", X=0),
    expect(CountingSiblings, SAFE, "holds",
           "two tuples share an id, the last ack counts: a commit is safe", X=1),
    expect(CountingSiblings, LOST, "holds",
           "two tuples share an id, the last ack counts: nothing is lost", X=1),
    expect(CommittingHighest, "STORM-K19", "violated", "the commit passes what still waits"),
)

UNSEEN = {
    "STORM-K11":
        "It is false without a maximum, as offsets that wait for their acks add up, so no "
        "implementation is to keep it.",
    "STORM-K14":
        "It is one offset too strict, for the bound is attained, so no implementation is to "
        "keep it.",
}
