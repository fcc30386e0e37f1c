"""The checkpoint of high watermarks, which a broker reads when it restarts.

Theory of operation
-------------------
A high watermark is kept in memory. Every few seconds, and in a controlled shutdown, a broker writes
those of all its partitions into one file, the *checkpoint*; when it restarts it reads them. Before
leader epochs (KIP-101) a follower cut its log at its own high watermark, and fetched the rest from
its leader. So a mark that is too low costs nothing as long as a leader has the rest, and one that
is lost costs the whole log, if the same happens to all replicas at a time, as it does when a
cluster is started again.

    start -> read the file -> learn the leader of each partition -> write the file now and then

A partition for which the broker has no LeaderAndIsr request yet is not in memory. Its entry in the
file must be kept: a file that is rewritten from memory alone loses it.

There are P partitions, each with a log of O records, all of them committed. R bounds the number of
restarts.

Source: kafka#checkpoints; KAFKA-769, KAFKA-851, KAFKA-858, KAFKA-1647, KAFKA-2143.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, boolean, const, integer, require, step, upto,
)

__all__ = [
    "EXPECTATIONS", "BeginningAtZero", "Checkpoints", "CuttingToNothing", "ForgettingWhatStops",
    "WritingWhatIsKnown",
]

CHECKPOINTS = "kafka#checkpoints"


class Checkpoints(Machine):
    """One broker, its file, and its followers of partitions that other brokers lead."""

    P = const(2, at_least=1)                # partitions
    O = const(2, at_least=1)                # noqa: E741  records of each log
    R = const(2, at_least=1)                # starts of the broker

    file = array(upto(P), integer(0, O))    # high watermarks on disk …
    log = array(upto(P), integer(0, O, init=O))     # … and the end of each log
    runs = boolean()
    starts = integer(0, R)
    heard = array(upto(P), boolean())       # the leader is known: the partition is in memory
    mark = array(upto(P), integer(0, O))    # its high watermark in memory
    known = array(upto(P), integer(0, O))   # the highest mark ever in the file

    @action
    def start(self) -> None:
        """The broker starts with nothing in memory."""
        require(not self.runs and self.starts < self.R)
        self.runs = True
        self.starts += 1

    @action
    def crash(self) -> None:
        """The broker crashes and writes nothing."""
        require(self.runs)
        self.runs = False
        for each in range(self.P):
            self.heard[each] = False
            self.mark[each] = 0

    @action(partition=upto(P))
    def hear(self, partition: int) -> None:
        """A request names the leader: the broker reads the mark, and a follower cuts its log there.
        """
        require(self.runs and not self.heard[partition])
        self.heard[partition] = True
        self.mark[partition] = min(self.mark_of(partition), self.log[partition])
        self.log[partition] = self.mark[partition]

    def mark_of(self, partition: int) -> int:
        """The high watermark in the file."""
        return self.file[partition]

    @action(partition=upto(P))
    def fetch(self, partition: int) -> None:
        """The leader sends the missing records and reports them committed."""
        require(self.heard[partition] and self.mark[partition] < self.O)
        self.log[partition] = self.O
        self.mark[partition] = self.O

    @action(partition=upto(P))
    def be_out_of_range(self, partition: int) -> None:
        """The leader was not in sync and has a shorter log: the follower cuts there, not earlier.
        """
        require(self.heard[partition] and self.log[partition] == self.O)
        self.log[partition] = self.cut_to(self.O - 1)
        self.mark[partition] = min(self.mark[partition], self.log[partition])
        self.known[partition] = min(self.known[partition], self.O - 1)

    def cut_to(self, end: int) -> int:
        """The end of the leader's log."""
        return end

    @action
    def write(self) -> None:
        """Write the file: marks in memory, and the old entries of all other partitions."""
        require(self.runs)
        for each in range(self.P):
            if self.heard[each]:
                self.file[each] = self.mark[each]
                self.known[each] = max(self.known[each], self.mark[each])
            else:
                self.file[each] = self.of_unheard(each)

    def of_unheard(self, partition: int) -> int:
        """The entry that is in the file now."""
        return self.file[partition]

    @action
    def shut_down(self) -> None:
        """Controlled shutdown: the broker stops its partitions and writes the file."""
        require(self.runs)
        for each in range(self.P):
            if self.heard[each]:
                self.file[each] = self.at_the_end(each)
                self.known[each] = max(self.known[each], self.file[each])
            self.heard[each] = False
            self.mark[each] = 0
        self.runs = False

    def at_the_end(self, partition: int) -> int:
        """The mark of the partition before it was stopped."""
        return self.mark[partition]

    @step("KAFKA-R8", MUST,
          "A partition's high watermark in the checkpoint file does not decrease, except to a "
          "value at or above the end of the partition's log at that moment.",
          source=f"{CHECKPOINTS}; KAFKA-769, KAFKA-858, KAFKA-1647", partition=upto(P))
    def the_file_keeps_marks(self, after: Checkpoints, partition: int) -> bool:
        """Holds whatever the broker has in memory."""
        return (after.file[partition] >= self.file[partition]
                or after.file[partition] >= self.log[partition])

    @always("KAFKA-R9", MUST,
            "A log ends at or above the highest high watermark ever checkpointed for it; only a "
            "cut to the end of a shorter leader's log lowers this bound, to that end.",
            source=f"{CHECKPOINTS}; KAFKA-851, KAFKA-2143", partition=upto(P))
    def what_is_committed_stays(self, partition: int) -> bool:
        """All replicas may be cut at the same time."""
        return self.log[partition] >= self.known[partition]


class WritingWhatIsKnown(Checkpoints):
    """The file gets what is in memory, and nothing else (KAFKA-769, KAFKA-1647)."""

    def of_unheard(self, partition: int) -> int:
        """The partition is not in memory, so its mark is lost."""
        return 0


class BeginningAtZero(Checkpoints):
    """A request creates the partition anew without reading the file (KAFKA-851)."""

    def mark_of(self, partition: int) -> int:
        """The mark of a new partition."""
        return 0


class ForgettingWhatStops(Checkpoints):
    """The last file is written after the partitions have been stopped (KAFKA-858)."""

    def at_the_end(self, partition: int) -> int:
        """The partition is no longer in memory."""
        return 0


class CuttingToNothing(Checkpoints):
    """A follower ahead of its leader discards its whole log and fetches it anew (KAFKA-2143)."""

    def cut_to(self, end: int) -> int:
        """Nothing of the log is kept."""
        return 0


EXPECTATIONS = (
    *(expect(Checkpoints, rule, "holds", "the file keeps the marks of partitions that are not in "
             "memory", P=2, O=2, R=2)
      for rule in ("KAFKA-R8", "KAFKA-R9")),
    *(expect(variant, rule, "violated", about, P=2, O=2, R=2) for variant, rule, about in (
        (WritingWhatIsKnown, "KAFKA-R8", "the file is written before all leaders are known "
         "(KAFKA-769)"),
        (WritingWhatIsKnown, "KAFKA-R9", "a log is cut to nothing (KAFKA-1647)"),
        (ForgettingWhatStops, "KAFKA-R8", "the last file is empty (KAFKA-858)"),
        (BeginningAtZero, "KAFKA-R9", "the file is not read (KAFKA-851)"),
        (CuttingToNothing, "KAFKA-R9", "the whole log is cut (KAFKA-2143)"),
    )),
)

UNSEEN = {
    "KAFKA-R8":
        "The file is on a broker's disk, and no port reads it.",
    "KAFKA-R9":
        "Since KIP-101 no follower cuts its log at its high watermark, and the port's cluster has "
        "leader epochs; what remains is a high watermark that rises again from a lower value.",
}
