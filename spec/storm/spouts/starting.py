"""Two settings of a replayable source: where a deployment begins, and how much a fetch brings.

Theory of operation
-------------------
*Where it begins.* A crash is no new deployment: the same topology starts again at its commit
(``source``). A topology that is deployed anew finds a commit that an earlier one left. With
forceFromStart = false, the default, it continues from there. With true it ignores the commit, and
begins where startOffsetTime says: at the earliest message that the log has, or after the latest.

    false             nothing is lost, nothing that was committed is emitted again
    true, earliest    nothing is lost, everything is emitted again
    true, latest      messages that were not processed by then are lost

*How much it fetches.* A fetch brings whole messages from its offset on, as many as fit into
fetchSizeBytes. A message that is larger does not fit, however often it is requested: the fetch is
empty, and so is every one after it. So fetchSizeBytes must be at least the size of the largest
message; later brokers send the first message of a fetch whatever its size, which is the fix.
fetchMaxWait, how long a broker may wait for more before it answers, is a time and changes none of
this: an answer that is late is still an answer.

Source: the notes on Storm's acker and KafkaSpout ("KafkaSpout config"); the code is
storm.kafka.PartitionManager (its constructor) and KafkaUtils.fetchMessages of 0.9.
"""

from __future__ import annotations

from ...expectations import expect
from ...notation import action, const, integer, require
from .source import PartitionManager

__all__ = ["EXPECTATIONS", "FetchingAtLeastOne", "FetchingBytes", "Redeployed"]


class Redeployed(PartitionManager):
    """A manager of a topology that is deployed anew, up to Z times."""

    Z = const(1)                        # deployments
    force = const(0, at_most=1)         # forceFromStart: 1: the commit is ignored
    latest = const(0, at_most=1)        # startOffsetTime: 1: after the latest message, 0: earliest

    deployments = integer(0, Z)

    @action
    def deploy(self) -> None:
        """Everything is forgotten, as in a crash, and perhaps the commit, too."""
        require(self.deployments < self.Z)
        self.deployments += 1
        self.start_at(self.first_offset())

    def first_offset(self) -> int:
        """The offset at which the new deployment begins to fetch."""
        if self.force == 0:
            return self.committed
        return self.L if self.latest == 1 else 0


class FetchingBytes(PartitionManager):
    """A fetch brings F bytes. The message at offset 1 has S of them, every other has one."""

    S = const(2, at_least=1)

    @action(fair=True)
    def fill(self) -> None:
        """Fetch whole messages, as long as they fit."""
        require(not self.waiting and self.fetches_from() < self.L)
        first = self.fetches_from()
        replaying = self.is_replay()
        room = self.F
        for offset in range(self.L):
            if offset >= first:
                if self.fits(self.size(offset), room):
                    room = max(0, room - self.size(offset))
                    if not replaying or self.is_replayed(offset):
                        self.take(offset)
                else:
                    room = 0

    def size(self, offset: int) -> int:
        """Number of bytes of the message at ``offset``."""
        return self.S if offset == 1 else 1

    def fits(self, size: int, room: int) -> bool:
        """True if the message fits the rest of the fetch."""
        return size <= room


class FetchingAtLeastOne(FetchingBytes):
    """The first message of a fetch comes whatever its size."""

    def fits(self, size: int, room: int) -> bool:
        """True if the fetch is still empty, or there is space."""
        return room == self.F or super().fits(size, room)


SAFE, LOST, AGAIN = "STORM-K6", "STORM-K7", "STORM-K19"

EXPECTATIONS = (
    expect(Redeployed, AGAIN, "violated", "everything again, if the start is forced to the "
           "earliest message", where="force == 1 and latest == 0", X=1, Y=0, force=(0, 1),
           latest=(0, 1)),
    expect(Redeployed, LOST, "violated", "lost, if the start is forced to the latest",
           where="force == 1 and latest == 1", X=1, Y=0, force=(0, 1), latest=(0, 1)),
    expect(Redeployed, SAFE, "violated",
           "after a start that is forced to the latest the next commit hides the loss",
           where="force == 1 and latest == 1", X=1, Y=0, force=(0, 1), latest=(0, 1)),
    expect(FetchingBytes, LOST, "violated", "blocked exactly at a message larger than a fetch",
           where="S > F", F=(1, 2), S=(1, 2, 3), X=1, Y=0),
    expect(FetchingBytes, SAFE, "holds",
           "no commit passes a message that is larger than a fetch", F=(1, 2), S=(1, 2, 3), X=1,
           Y=0),
    expect(FetchingAtLeastOne, LOST, "holds", "a fetch that brings at least one message",
           F=1, S=(1, 2, 3), X=1, Y=0),
)
