"""The checkpoint of high watermarks: what a broker knows of them when it starts again.

Theory of operation
-------------------
A high watermark is kept in memory. Every few seconds, and when it goes in order, a broker writes
those of all its partitions into one file, the *checkpoint*; when it starts it reads them. Before
leader epochs (KIP-101) a follower cut its log at its own high watermark, and fetched the rest from
its leader. So a mark that is too low costs nothing as long as a leader has the rest, and one that
is lost costs the whole log, if the same happens to all replicas at a time, as it does when a
cluster is started again.

    start -> read the file -> hear, partition by partition, who leads -> write the file now and then

A partition of which the broker has not heard yet is not in memory. What the file says of it has to
stay there: writing the file anew from memory alone loses it.

There are P partitions, each with a log of O records, all of them committed. R bounds how often the
broker starts again.

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
    """One broker, its file, and its followers of partitions; others have led, and lead."""

    P = const(2, at_least=1)                # partitions
    O = const(2, at_least=1)                # noqa: E741  records of each log
    R = const(2, at_least=1)                # starts

    file = array(upto(P), integer(0, O))    # high watermarks on the disk …
    log = array(upto(P), integer(0, O, init=O))     # … and how far the log goes
    runs = boolean()
    starts = integer(0, R)
    heard = array(upto(P), boolean())       # a request has said who leads: it is in memory
    mark = array(upto(P), integer(0, O))    # its high watermark, in memory
    known = array(upto(P), integer(0, O))   # the highest that ever stood in the file

    @action
    def start(self) -> None:
        """The broker starts; nothing is in memory."""
        require(not self.runs and self.starts < self.R)
        self.runs = True
        self.starts += 1

    @action
    def crash(self) -> None:
        """It is gone, without a last word."""
        require(self.runs)
        self.runs = False
        for each in range(self.P):
            self.heard[each] = False
            self.mark[each] = 0

    @action(partition=upto(P))
    def hear(self, partition: int) -> None:
        """A request says who leads: the mark is read, and the log is cut there, if it follows."""
        require(self.runs and not self.heard[partition])
        self.heard[partition] = True
        self.mark[partition] = min(self.mark_of(partition), self.log[partition])
        self.log[partition] = self.mark[partition]

    def mark_of(self, partition: int) -> int:
        """As the file says."""
        return self.file[partition]

    @action(partition=upto(P))
    def fetch(self, partition: int) -> None:
        """The leader sends what is missing, and says that it is committed."""
        require(self.heard[partition] and self.mark[partition] < self.O)
        self.log[partition] = self.O
        self.mark[partition] = self.O

    @action(partition=upto(P))
    def be_out_of_range(self, partition: int) -> None:
        """A leader that was not in sync has less: there the log is cut, not before."""
        require(self.heard[partition] and self.log[partition] == self.O)
        self.log[partition] = self.cut_to(self.O - 1)
        self.mark[partition] = min(self.mark[partition], self.log[partition])
        self.known[partition] = min(self.known[partition], self.O - 1)

    def cut_to(self, end: int) -> int:
        """Where the leader's log ends."""
        return end

    @action
    def write(self) -> None:
        """The file is written: what is in memory, and what it said of all else."""
        require(self.runs)
        for each in range(self.P):
            if self.heard[each]:
                self.file[each] = self.mark[each]
                self.known[each] = max(self.known[each], self.mark[each])
            else:
                self.file[each] = self.of_unheard(each)

    def of_unheard(self, partition: int) -> int:
        """What it says now."""
        return self.file[partition]

    @action
    def shut_down(self) -> None:
        """The broker goes in order: partitions are stopped, and the file is written."""
        require(self.runs)
        for each in range(self.P):
            if self.heard[each]:
                self.file[each] = self.at_the_end(each)
                self.known[each] = max(self.known[each], self.file[each])
            self.heard[each] = False
            self.mark[each] = 0
        self.runs = False

    def at_the_end(self, partition: int) -> int:
        """The mark that it had."""
        return self.mark[partition]

    @step("KAFKA-R8", MUST, "A checkpoint does not fall, unless its log was cut there.",
          source=f"{CHECKPOINTS}; KAFKA-769, KAFKA-858, KAFKA-1647", partition=upto(P))
    def the_file_keeps_marks(self, after: Checkpoints, partition: int) -> bool:
        """Whatever the broker has in memory."""
        return (after.file[partition] >= self.file[partition]
                or after.file[partition] >= self.log[partition])

    @always("KAFKA-R9", MUST, "No log is cut below what its broker ever knew to be committed, or "
            "what its leader has.", source=f"{CHECKPOINTS}; KAFKA-851, KAFKA-2143",
            partition=upto(P))
    def what_is_committed_stays(self, partition: int) -> bool:
        """All replicas may be cut at a time."""
        return self.log[partition] >= self.known[partition]


class WritingWhatIsKnown(Checkpoints):
    """The file has what is in memory, and nothing else (KAFKA-769, KAFKA-1647)."""

    def of_unheard(self, partition: int) -> int:
        """Nobody has heard of it, so it is not there."""
        return 0


class BeginningAtZero(Checkpoints):
    """A request makes the partition anew, and does not look into the file (KAFKA-851)."""

    def mark_of(self, partition: int) -> int:
        """That of a new partition."""
        return 0


class ForgettingWhatStops(Checkpoints):
    """The last file is written when the partitions have been stopped (KAFKA-858)."""

    def at_the_end(self, partition: int) -> int:
        """It is in memory no more."""
        return 0


class CuttingToNothing(Checkpoints):
    """Who is ahead of its leader fetches everything anew (KAFKA-2143)."""

    def cut_to(self, end: int) -> int:
        """The log is of no use, one thinks."""
        return 0


EXPECTATIONS = (
    *(expect(Checkpoints, rule, "holds", "the file keeps what is not known", P=2, O=2, R=2)
      for rule in ("KAFKA-R8", "KAFKA-R9")),
    *(expect(variant, rule, "violated", about, P=2, O=2, R=2) for variant, rule, about in (
        (WritingWhatIsKnown, "KAFKA-R8", "it is written before all is heard (KAFKA-769)"),
        (WritingWhatIsKnown, "KAFKA-R9", "a log is cut to nothing (KAFKA-1647)"),
        (ForgettingWhatStops, "KAFKA-R8", "the last file has nothing (KAFKA-858)"),
        (BeginningAtZero, "KAFKA-R9", "the file is not looked at (KAFKA-851)"),
        (CuttingToNothing, "KAFKA-R9", "everything is cut (KAFKA-2143)"),
    )),
)

UNSEEN = {
    "KAFKA-R8":
        "The file is on a broker's disk, and no port reads it.",
    "KAFKA-R9":
        "Since KIP-101 no follower cuts by its high watermark, and the port's cluster has leader "
        "epochs; what is left of the harm is a mark that rises anew.",
}
