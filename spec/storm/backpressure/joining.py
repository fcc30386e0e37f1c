"""A new connection in Storm: which status it receives, and when statuses are sent to it.

Theory of operation
-------------------
The statuses of ``storm.status`` go to the connections that are known. A connection that is
new gets a snapshot of its own, and is added to the known ones. N, the receiving thread, does
both, one after the other, while T may clear the flag and send a status to the known ones at any
moment:

    N:  read the flags  ->  send the snapshot  ->  add the connection       (as written)
    T:            clear the flag, send to those that are known

If T acts between N's reading and N's adding, the new connection hears the old snapshot and
misses the new status (D5). The flag is clear, so T has nothing to do any more, and U, which
keeps what it believed before the connection broke, stays blocked.

Adding first is not enough: then T's OFF may be sent before N's older snapshot. It takes
adding first *and* something that orders the two statuses: numbers (taken before the reading),
or the lock around N's three steps as well. Numbers without adding first do not help: a status
that is not sent to U has no number that U could compare. Repetition needs no order at all.

The snapshot can also be lost otherwise: U ignores it because the handshake is not finished
(STORM-3763); or the task's worker has been restarted, its numbers start over, and U takes them
for old ones unless it keeps one number for each incarnation.

The next connection repairs any lost status without a change of the protocol: U reconnects if it
is blocked and hears nothing.

A connection breaks at most E times; what is under way, in either direction, is gone then.

Source: "Backpressure model for Storm 2.0" (STORM-2306); 000#memory, its end; in
the code Server.channelActive, Server.authenticated, and StormClientHandler.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import action, boolean, choice, const, integer, require
from .status import (
    LockedSpill, NumberedStatus, RepeatedStatus, Status, StatusAsWritten, Step, Thread,
)

__all__ = [
    "EXPECTATIONS", "AddingFirst", "AddingFirstByNumber", "AddingFirstUnlocked",
    "HandshakeIgnored", "Joining", "JoiningAsWritten", "JoiningByNumber", "JoiningLocked",
    "JoiningRepeated", "Link", "NumbersOfOneWorker", "NumbersPerIncarnation",
    "ReconnectingWhenSilent",
]


class Link(IntEnum):
    """U's connection to the task's worker."""

    UP = 0          # accepted, and its snapshot was sent
    DOWN = 1        # broken
    JOINING = 2     # accepted, N is dealing with it


class Joining(StatusAsWritten):
    """Connections that break and come back, on top of any protocol for statuses."""

    E = const(1)                        # how often the connection may break

    link = choice(Link)
    known = boolean(True)               # statuses are sent to U
    broken = integer(0, E)

    @action
    def emit(self) -> None:
        """U sends only over a connection."""
        require(self.link != Link.DOWN)
        super().emit()

    def tell(self, status: Status) -> None:
        """Statuses are sent only over known connections."""
        if self.known:
            super().tell(status)

    @action
    def disconnect(self) -> None:
        """The connection breaks; U keeps its flag."""
        require(self.link == Link.UP and self.broken < self.E)
        self.broken += 1
        self.cut()

    def cut(self) -> None:
        """Everything on its way is lost, and U's connection is not known any more."""
        self.link = Link.DOWN
        self.known = False
        self.channel.clear()
        self.pipe = 0
        self.late = 0

    # --- N deals with the new connection -------------------------------------------------------

    @action(fair=True)
    def accept(self) -> None:
        """N accepts the connection."""
        require(self.link == Link.DOWN and self.at[Thread.N] == Step.REST)
        self.link = Link.JOINING
        self.at[Thread.N] = self.telling_begins()

    @action(fair=True, thread=Thread)
    def send(self, thread: Thread) -> None:
        """Send the snapshot to the new connection alone, or to all known ones."""
        if thread == Thread.N and self.link == Link.JOINING:
            require(self.at[thread] == Step.SEND and len(self.channel) < self.D)
            self.channel.push(Status(self.number[thread], self.snapshot[thread]))
            self.snapshot[thread] = False
            self.number[thread] = 0
            self.snapshot_is_sent()
        else:
            super().send(thread)

    def snapshot_is_sent(self) -> None:
        """The thread adds the connection next."""
        self.at[Thread.N] = Step.ADD

    @action(fair=True)
    def add(self) -> None:
        """Statuses are sent to the new connection from now on."""
        require(self.at[Thread.N] == Step.ADD)
        self.known = True
        self.link = Link.UP
        self.at[Thread.N] = Step.REST


class AddingFirst(Joining):
    """The connection is added before the snapshot is taken."""

    @action(fair=True)
    def accept(self) -> None:
        """N accepts the connection; adding comes next."""
        super().accept()
        self.at[Thread.N] = Step.ADD

    @action(fair=True)
    def add(self) -> None:
        """Statuses are sent to it from now on; the snapshot comes next."""
        super().add()
        self.link = Link.JOINING
        self.at[Thread.N] = self.telling_begins()

    def snapshot_is_sent(self) -> None:
        """Finish: the connection was added before."""
        self.link = Link.UP
        self.at[Thread.N] = Step.REST


# --- on top of the lock: everything else about statuses is correct -------------------------------

class JoiningAsWritten(Joining, LockedSpill):
    """Snapshot, send, add: outside the lock (D5)."""


class AddingFirstUnlocked(AddingFirst, LockedSpill):
    """Add, snapshot, send: outside the lock."""


class JoiningLocked(Joining, LockedSpill):
    """The same lock around {snapshot, send, add}."""

    @action(fair=True)
    def accept(self) -> None:
        """N accepts the connection, under the lock."""
        require(self.link == Link.DOWN and self.at[Thread.N] == Step.REST)
        self.link = Link.UP
        self.known = True
        self.tell(Status(0, self.backlogged))


class HandshakeIgnored(JoiningLocked):
    """STORM-3763: U ignores what it hears before the handshake is finished, and the snapshot
    is sent before that."""

    shaking_hands = boolean()

    @action(fair=True)
    def accept(self) -> None:
        """The handshake begins with the connection."""
        super().accept()
        self.shaking_hands = True

    @action(fair=True)
    def finish_handshake(self) -> None:
        """U knows its peer, and believes statuses from now on."""
        require(self.shaking_hands)
        self.shaking_hands = False

    def believe(self, status: Status) -> None:
        """U believes a status only after the handshake."""
        if not self.shaking_hands:
            super().believe(status)


class ReconnectingWhenSilent(JoiningLocked):
    """U gives up a connection over which it is blocked and hears nothing."""

    @action(fair=True)
    def give_up(self) -> None:
        """U closes the connection, and connects again."""
        require(self.link == Link.UP and self.blocked and not self.channel)
        self.cut()


# --- on top of numbers, and of repetition --------------------------------------------------------

class JoiningByNumber(Joining, NumberedStatus):
    """Numbers, but snapshot, send, add: a status that was not sent has no number to compare."""

    K = const(12, at_least=4)


class AddingFirstByNumber(AddingFirst, NumberedStatus):
    """Numbers, and add, number, snapshot, send."""

    K = const(12, at_least=4)


class JoiningRepeated(Joining, RepeatedStatus):
    """Repetition, and the joining as it is written."""


class NumbersPerIncarnation(AddingFirstByNumber):
    """The task's worker may also be restarted; U keeps one number for each incarnation."""

    behind = boolean()                  # new numbers are below those that U has heard

    @action
    def restart(self) -> None:
        """The task's worker loses everything, and its numbers start over."""
        require(self.link == Link.UP and self.broken < self.E)
        self.broken += 1
        self.cut()
        self.recvq = 0
        self.overflowq = 0
        self.told_at = 0
        self.backlogged = False
        for thread in Thread:
            self.at[thread] = Step.REST
            self.snapshot[thread] = False
            self.number[thread] = 0
        self.begin_numbering()

    def begin_numbering(self) -> None:
        """Start at 1: U knows a new incarnation by its name, and has heard nothing of it."""
        self.upcoming = 1


class NumbersOfOneWorker(NumbersPerIncarnation):
    """U compares numbers of different incarnations. The old worker took so many that those of the
    new one stay below them for as long as it matters."""

    def begin_numbering(self) -> None:
        """Every number of the new incarnation is old to U."""
        self.behind = True

    @action(fair=True, thread=Thread)
    def take_number(self, thread: Thread) -> None:
        """A number below what U has heard counts as 0."""
        before = self.upcoming
        super().take_number(thread)
        if self.behind:
            self.number[thread] = 0
            self.upcoming = before


NOT_STALLED, CONVERGES = "STORM-S3", "STORM-S2"

EXPECTATIONS = (
    expect(JoiningAsWritten, NOT_STALLED, "violated", "snapshot, send, add (D5)", H=0),
    expect(AddingFirstUnlocked, NOT_STALLED, "violated", "add, snapshot, send (D5)", H=0),
    expect(JoiningLocked, NOT_STALLED, "holds",
           "joining and the snapshot under the lock stall no sender", E=(1, 2)),
    expect(JoiningLocked, CONVERGES, "holds",
           "joining and the snapshot under the lock leave no difference", E=(1, 2)),
    expect(HandshakeIgnored, NOT_STALLED, "violated",
           "the snapshot is ignored during the handshake (STORM-3763)", H=0),
    expect(JoiningLocked, NOT_STALLED, "violated", "a lost OFF (D6)", L=1, E=0),
    expect(ReconnectingWhenSilent, NOT_STALLED, "holds",
           "the next connection repairs a lost OFF (D6)", L=1, E=0),
    expect(JoiningByNumber, NOT_STALLED, "violated",
           "numbers, but the connection is added last (D5)", H=0, M=4),
    expect(AddingFirstByNumber, NOT_STALLED, "holds", "numbers, the connection is added first",
           H=0, M=4),
    expect(AddingFirstByNumber, CONVERGES, "holds", "numbers, the connection is added first",
           H=0, M=4),
    expect(JoiningRepeated, NOT_STALLED, "holds", "repetition, joining as written", H=0, M=4),
    expect(NumbersOfOneWorker, NOT_STALLED, "violated",
           "after a restart the numbers start over", H=0, M=4),
    expect(NumbersPerIncarnation, NOT_STALLED, "holds",
           "numbers that are counted for each incarnation survive a restart",
           H=0, M=4),
)
