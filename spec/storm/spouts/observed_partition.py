"""A replayable source as the topology sees it: which messages are emitted, and which are committed.

Theory. ``source`` explains why a partition manager keeps its lists. From outside, two
promises can be seen. *A commit is safe*: every offset below it was processed, was given up
by the retry policy, or has left the log; so a restart at the commit loses nothing. And *there is
progress*: new and failed messages are emitted, done ones are committed, and those that have
left the log delay neither.

Nothing is emitted twice without a reason, which is a failure, a timeout (a failure too), or a
restart. After a restart everything from the commit on may come again, and nothing before it.
New messages come in the order of the log and none is skipped. A failed message comes again
before anything newer is fetched: at most the rest of one fetch comes first.

How an implementation fetches is its own affair. The observer only relies on ``nothing`` being
reported after a look at the log.

Source: the notes on Storm's acker and KafkaSpout (001#flow); storm.kafka's PartitionManager
and storm-kafka-client's OffsetManager; storm#partition-manager, storm#kafka-client.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import (
    MUST, Machine, action, always, array, const, guard_rule, integer, require, subset, upto,
)

__all__ = ["EXPECTATIONS", "ObservedPartition"]

FLOW = "001#flow; storm#partition-manager"

COMMIT_SAFE = guard_rule(
    "STORM-K20", MUST,
    "A position is committed only if every message below it was processed, was given up by the "
    "retry policy, or has left the log.",
    source=f"{FLOW}; storm#commit-safe; storm#D13",
)
COMMIT_GOES_ON = guard_rule(
    "STORM-K21", MUST,
    "A commit is at or above the lowest offset that is under way or failed; if there is none, "
    "it is above all offsets emitted since the last start.",
    source=f"{FLOW}: commit = lowest pending; STORM-2361, STORM-810")
COMMIT_STAYS = guard_rule(
    "STORM-K22", MUST,
    "A commit never goes back.",
    source="storm#kafka-client; STORM-2835",
)
NOT_SKIPPED = guard_rule(
    "STORM-K23", MUST,
    "After each start, new messages are emitted in the order of the log from the commit on, and "
    "none that is still in the log is skipped.",
    source=f"{FLOW}; 001#replay",
)
NOT_REPEATED = guard_rule(
    "STORM-K24", MUST,
    "A message is emitted again only after its last attempt failed or timed out, or after a "
    "restart.",
    source=f"{FLOW}: only failed offsets are re-emitted; STORM-2296, STORM-1455, STORM-2666",
)
NOT_BELOW = guard_rule(
    "STORM-K25", MUST,
    "A message below the commit is never emitted.",
    source="storm#kafka-client; STORM-2844, STORM-3301",
)
NEW_EMITTED = guard_rule(
    "STORM-K26", MUST,
    "While the maximum allows another message, the manager reports after a look at the log that "
    "nothing is to be emitted only if there is no new message.",
    source=f"{FLOW}; STORM-2343, STORM-2549",
)
REPLAYED = guard_rule(
    "STORM-K27", MUST,
    "While the maximum allows another message, the manager reports that nothing is to be "
    "emitted only if no failed message with a retry left is due.",
    source=f"{FLOW}: fail; STORM-399",
)
RETRIES_BOUNDED = guard_rule(
    "STORM-K28", MUST,
    "Since the last start, no message is emitted again more often than the retry policy allows.",
    source="storm#partition-manager (retry limit); STORM-2413, STORM-2014",
)
REPLAYED_FIRST = guard_rule(
    "STORM-K29", MUST,
    "While a failed message that is still in the log is due, at most F - 1 new messages are "
    "emitted before a failed one is, F being what one fetch brings.",
    source=f"{FLOW}: fill begins at the first failed offset")
GONE_BLOCKS_NOTHING = guard_rule(
    "STORM-K30", MUST,
    "After messages have left the log, the manager still emits as STORM-K26 and STORM-K27 "
    "require, and commits as STORM-K21 requires.",
    source="storm#partition-manager; STORM-643, STORM-511, STORM-2608, STORM-2546",
)
MAXIMUM_KEPT = guard_rule(
    "STORM-K31", MUST,
    "If there is a maximum M, a message is emitted only while fewer than M are outstanding, "
    "that is emitted and neither acked nor failed.",
    source="001#max-pending; storm#kafka-client (maxUncommittedOffsets)",
)
RETRIES_WAIT = guard_rule(
    "STORM-K35", MUST,
    "After its n-th failure since the last start, a message is emitted again no earlier than "
    "after the smaller of first * 2 ** (n - 1), first being the initial delay, and the longest "
    "delay.",
    source="storm#partition-manager (ExponentialBackoffMsgRetryManager, with the multiplier 2); "
    "storm#kafka-client",
)
NOT_INVENTED = guard_rule(
    "STORM-K32", MUST,
    "Only messages that were in the log are emitted.",
    source=FLOW,
)


class ObservedPartition(Machine):
    """A log of up to L messages, and the manager that reads it."""

    L = const(3, at_least=1)            # offsets of the log
    F = const(1, at_least=1)            # messages of one fetch
    M = const(0)                        # messages that may be outstanding; 0 is unlimited
    retries = const(1)                  # how often a message is emitted again
    first = const(0)                    # milliseconds before a message is emitted again
    longest = const(0)                  # milliseconds before any retry, at most

    end = integer(0, L)                 # the log has had the offsets below
    dropped = subset(upto(L))           # those that have left it
    committed = integer(0, L)

    top = integer(0, L)                 # above all that was emitted since the last start
    under_way = subset(upto(L))         # emitted, and neither acked nor failed
    failed = subset(upto(L))            # to be emitted again
    tries = array(upto(L), integer(0, retries + 1))  # failures since the last start
    wait = array(upto(L), integer(0, longest))  # failed ones: until they may be emitted again
    twofold = subset(upto(L))           # under way, with two tuples of which none is acked
    late = integer(0, F)                # new ones that were emitted while one waits for replay
    done = subset(upto(L))              # processed at least once, ever
    given_up = subset(upto(L))          # by the retry policy, or because it had left the log

    # --- the log ---------------------------------------------------------------------------

    @action(count=upto(4))
    def appended(self, count: int) -> None:
        """Some more messages enter the log."""
        require(self.end + count <= self.L)
        self.end += count

    @action(offset=upto(L))
    def truncated(self, offset: int) -> None:
        """Retention takes everything up to an offset out of the log."""
        require(offset < self.end)
        for other in range(self.L):
            if other <= offset:
                self.dropped.add(other)

    @action(offset=upto(L))
    def compacted(self, offset: int) -> None:
        """Compaction takes one message out of the log."""
        require(offset < self.end)
        self.dropped.add(offset)

    # --- emissions -------------------------------------------------------------------------

    @action(offset=upto(L))
    def emitted(self, offset: int) -> None:
        """The manager emits a message."""
        require(offset < self.end, NOT_INVENTED)
        require(self.tries[offset] <= self.retries, RETRIES_BOUNDED)
        require(offset >= self.committed, NOT_BELOW)
        require(offset not in self.under_way, NOT_REPEATED)
        if offset in self.failed:
            require(self.wait[offset] == 0, RETRIES_WAIT)
            self.failed.discard(offset)
            self.late = 0
        else:
            self.is_new(offset)
        require(self.M == 0 or len(self.under_way) < self.M, MAXIMUM_KEPT)
        self.under_way.add(offset)

    def is_new(self, offset: int) -> None:
        """Check that it is the next of the log, and that no replay is due first."""
        require(offset >= self.top, NOT_REPEATED)
        require(not any(
            self.top <= other and other < offset and other not in self.dropped
            for other in range(self.L)), NOT_SKIPPED)
        if self.is_replay_due():
            require(self.late + 1 < self.F, REPLAYED_FIRST)
            self.late += 1
        else:
            self.late = 0
        self.top = offset + 1

    def is_replay_due(self) -> bool:
        """True if a failed message is in the log, and has waited long enough."""
        return any(
            other not in self.dropped and self.wait[other] == 0 for other in self.failed)

    @action(offset=upto(L))
    def split(self, offset: int) -> None:
        """A message is emitted as two tuples that share its id."""
        self.emitted(offset)
        self.twofold.add(offset)

    @action(rests=True)
    def nothing(self) -> None:
        """There is nothing to emit; the manager has looked at the log."""
        if self.M == 0 or len(self.under_way) < self.M:
            replay = self.is_replay_due()
            fresh = any(
                self.top <= other and other < self.end and other not in self.dropped
                for other in range(self.L))
            require(not replay or len(self.dropped) > 0, REPLAYED)
            require(not fresh or len(self.dropped) > 0, NEW_EMITTED)
            require(not replay and not fresh, GONE_BLOCKS_NOTHING)
            for offset in range(self.L):
                if offset in self.failed and self.wait[offset] == 0:
                    self.failed.discard(offset)
                    self.given_up.add(offset)

    @action
    def stray(self) -> None:
        """A message is emitted that cannot be in any log."""
        require(False, NOT_INVENTED)

    # --- acks, failures and commits --------------------------------------------------------

    @action(offset=upto(L))
    def ack(self, offset: int) -> None:
        """A message under way was processed, or the first of its two tuples."""
        require(offset in self.under_way)
        if offset in self.twofold:
            self.twofold.discard(offset)
        else:
            self.under_way.discard(offset)
            self.done.add(offset)

    @action(offset=upto(L))
    def fail(self, offset: int) -> None:
        """A message under way failed or timed out; one of two tuples is enough."""
        require(offset in self.under_way)
        self.under_way.discard(offset)
        self.twofold.discard(offset)
        self.tries[offset] += 1
        if self.tries[offset] > self.retries:
            self.given_up.add(offset)
        else:
            if len(self.failed) == 0:
                self.late = 0
            self.failed.add(offset)
            self.wait[offset] = self.delay(self.tries[offset])

    def delay(self, failures: int) -> int:
        """Milliseconds before the message is emitted again."""
        delay = min(self.first, self.longest)
        for _ in range(failures - 1):
            delay = min(2 * delay, self.longest)
        return delay

    @action(milliseconds=upto(4))
    def waits(self, milliseconds: int) -> None:
        """``milliseconds`` of time pass."""
        for offset in range(self.L):
            self.wait[offset] = max(0, self.wait[offset] - milliseconds)

    @action(position=upto(L + 1), rests=(COMMIT_GOES_ON, GONE_BLOCKS_NOTHING))
    def committed_at(self, position: int) -> None:
        """The manager commits a position."""
        require(all(
            offset >= position or offset in self.done or offset in self.given_up
            or offset in self.dropped for offset in range(self.L)), COMMIT_SAFE)
        require(position >= self.committed, COMMIT_STAYS)
        lowest = self.top
        for offset in range(self.L):
            if offset in self.under_way or offset in self.failed:
                lowest = min(lowest, offset)
        require(position >= lowest or len(self.dropped) > 0, COMMIT_GOES_ON)
        require(position >= lowest, GONE_BLOCKS_NOTHING)
        self.committed = position

    # --- starting again --------------------------------------------------------------------

    @action
    def restarted(self) -> None:
        """A crash: everything but the commit is forgotten."""
        self.under_way.clear()
        self.failed.clear()
        self.twofold.clear()
        for offset in range(self.L):
            self.tries[offset] = 0
            self.wait[offset] = 0
        self.late = 0
        self.top = self.committed

    @action(position=upto(L + 1))
    def closed_at(self, position: int) -> None:
        """An orderly restart: a last commit, and a new start from it."""
        self.committed_at(position)
        self.restarted()

    @action
    def reassigned(self) -> None:
        """The partition's leader changes; all promises remain."""

    # --- rules -----------------------------------------------------------------------------

    @always("STORM-K33", MUST,
            "At any time, every message below the last commit was processed, was given up, or "
            "has left the log, so that a restart there loses nothing.",
            source=f"{FLOW}; storm#commit-safe; storm#D13: the state that the guard rules leave")
    def restarts_lose_nothing(self) -> bool:
        """These are the messages below the commit."""
        return all(
            offset >= self.committed or offset in self.done or offset in self.given_up
            or offset in self.dropped for offset in range(self.L))

    @always("STORM-K34", MUST,
            "If there is a maximum M, at any time at most M messages are outstanding, that is "
            "emitted since the last start and neither acked nor failed.",
            source="001#max-pending")
    def the_maximum_is_kept(self) -> bool:
        """A failed message no longer counts as outstanding."""
        return self.M == 0 or len(self.under_way) <= self.M


EXPECTATIONS = (
    expect(ObservedPartition, "STORM-K33", "holds", "a restart loses nothing", L=2, F=(1, 2),
           retries=1),
    expect(ObservedPartition, "STORM-K34", "holds", "the maximum is kept", L=2, F=2, M=1,
           retries=1),
)
