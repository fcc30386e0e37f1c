"""A server of BookKeeper as its network, its storage and its clock see it.

Theory. The observer delivers the requests, does the work of storage, and takes the responses away;
so it knows where each request is, although the server has threads and semaphores inside:

    read --start--> at storage --done--> being answered --write or drop--> ended
      |                                       ^
      +--------------reject-------------------+

A request is in progress from its start, or its rejection, until its response is written or dropped.
Adds and reads have a limit each, and none if it is 0. A request that was read and not started waits
at its channel, from which nothing more is read meanwhile. A server that loses a permit, on whatever
path, shows it by letting a request wait although fewer are in progress than the limit; one that
gives back too many, by starting one more.

A response waits while its channel is not writable, t ticks at most. One that has waited in vain is
dropped, and the channel is listed for t ticks: until then, a response that cannot be written is
dropped at once. With c = 1 the channel is closed as well. A closed channel needs no response.

The pool has Q places and W threads for each kind. How soon a thread takes a request from its place
is the pool's affair: between Q and Q + W requests at storage it may take another or reject it.

Requests are numbered in the order in which they are read. The server's reaction to one event is
over when it is *quiescent*.

Source: ``admission``, ``response``; 004#limit, 004#autoread, 004#responses.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, boolean, choice, const, guard_rule, integer, pairs,
    require, subset, upto,
)
from ..notation.rules import seen_from_outside
from .admission import Admission

__all__ = ["EXPECTATIONS", "Kind", "ObservedBookkeeper", "Place"]

LIMIT = seen_from_outside(Admission.rules_declared, "BK-2")
COUNTED = seen_from_outside(Admission.rules_declared, "BK-3")

ONCE = guard_rule(
    "BK-50", MUST,
    "Only requests that wait are started or rejected, each at most once; only finished or "
    "rejected requests have a response written or dropped, each at most once.",
    source="bookkeeper#B3")
STARTS = guard_rule(
    "BK-51", MUST,
    "When the server is quiescent, the first waiting request of a channel finds as many "
    "requests of its kind (add or read) in progress as the limit allows.",
    source="004#limit; bookkeeper#B1, bookkeeper#B5")
IN_ORDER = guard_rule(
    "BK-52", MUST,
    "The requests of a channel are started or rejected in the order in which they were read.",
    source="bookkeeper#decoded")
FAIR = guard_rule(
    "BK-53", MUST,
    "No request is started or rejected while the first waiting request of another channel, "
    "waiting since an earlier quiescence, is of the same kind (add or read).",
    source="bookkeeper#fair")
REJECTS = guard_rule(
    "BK-54", MUST,
    "A request is rejected only if at least Q requests of its kind are at storage, and started "
    "only if fewer than Q + W are: Q queue places, W threads.",
    source="bookkeeper#admission")
PAUSES = guard_rule(
    "BK-55", MUST,
    "When the server is quiescent, it reads from no channel of which a decoded request waits "
    "for a permit.",
    source="004#autoread")
READS = guard_rule(
    "BK-56", MUST,
    "When the server is quiescent, it reads from every open channel of which no decoded request "
    "waits for a permit.",
    source="bookkeeper#B5")
SENDS = guard_rule(
    "BK-57", MUST,
    "No response to an open, writable channel is dropped, or still unwritten when the server is "
    "quiescent.",
    source="004#responses; bookkeeper#responses")
RESPECTS = guard_rule(
    "BK-58", MUST, "No response is written to a channel that is not writable.",
    source="004#responses")
PATIENT = guard_rule(
    "BK-59", MUST,
    "A response to an open channel is dropped only after it has waited t ticks, its time limit, "
    "or while the channel is listed after an earlier such wait.",
    source="004#responses; bookkeeper#responses")
DROPS = guard_rule(
    "BK-60", MUST,
    "When the server is quiescent, no response is left for a closed channel, nor for an "
    "unwritable one that is listed or for which it has waited t ticks, the limit.",
    source="004#responses; bookkeeper#B8")
CLOSES = guard_rule(
    "BK-61", MUST,
    "If closing is configured, the server has closed, when quiescent, each channel to which a "
    "response was dropped after a full wait; otherwise it closes none.",
    source="004#responses ('close the channel')")


class Kind(IntEnum):
    """The kind of a request."""

    ADD = 0
    READ = 1


class Place(IntEnum):
    """The place of a request on its path through the server."""

    UNREAD = 0
    WAITING = 1         # read, and not started
    STORAGE = 2
    ANSWERING = 3
    ENDED = 4


class ObservedBookkeeper(Machine):
    """N channels, and requests of both kinds."""

    N = const(1, at_least=1)            # channels
    K = const(1)                        # adds in progress, at most; 0: there is no limit
    J = const(1)                        # reads in progress, at most; 0: there is no limit
    Q = const(1, at_least=1)            # places in the pool's queue
    W = const(1, at_least=1)            # threads of the pool
    t = const(1)                        # ticks that a response waits, at most
    c = const(0, at_most=1)             # 1: a channel is closed when a response waited in vain
    R = const(3, at_least=1)            # requests that a run may name

    named = integer(0, R)               # requests that were read: the next has this number
    place = array(upto(R), choice(Place, Place.UNREAD))
    kind = array(upto(R), choice(Kind, Kind.ADD))
    channel = array(upto(R), integer(0, N - 1))
    since = array(upto(R), integer(0, t))       # ticks that a response has waited
    reading = array(upto(N), boolean(True))
    writable = array(upto(N), boolean(True))
    open = array(upto(N), boolean(True))
    failed = array(upto(N), boolean())          # a response has waited in vain
    listed = array(upto(N), integer(0, t))      # ticks that a channel is still listed
    lined = array(upto(N), boolean())           # it waited at the last quiescence
    ahead = subset(pairs(upto(N), upto(N)))     # a * N + b: a waited when b began to

    # --- steps of the environment ------------------------------------------------------------

    @action(channel=upto(N), kind=Kind)
    def receive(self, channel: int, kind: Kind) -> None:
        """A request is read from a channel."""
        require(self.named < self.R)
        require(self.open[channel])
        self.place[self.named] = Place.WAITING
        self.kind[self.named] = kind
        self.channel[self.named] = channel
        self.named += 1

    @action(request=upto(R))
    def done(self, request: int) -> None:
        """Storage has finished a request."""
        require(self.place[request] == Place.STORAGE)
        self.place[request] = Place.ANSWERING

    @action(channel=upto(N))
    def turns(self, channel: int) -> None:
        """A channel becomes writable, or stops being so."""
        self.writable[channel] = not self.writable[channel]

    @action(channel=upto(N))
    def hangs_up(self, channel: int) -> None:
        """A client closes its channel."""
        require(self.open[channel])
        self.forget(channel)

    @action
    def ticks(self) -> None:
        """One tick of the clock, for all waiting responses and listed channels."""
        for request in range(self.R):
            if self.place[request] == Place.ANSWERING:
                self.since[request] = min(self.t, self.since[request] + 1)
        for channel in range(self.N):
            self.listed[channel] = max(0, self.listed[channel] - 1)

    # --- steps of the server -----------------------------------------------------------------

    @action(request=upto(R))
    def starts(self, request: int) -> None:
        """A request goes to storage."""
        self.admit(request)
        require(self.at_storage(request) < self.Q + self.W, REJECTS)
        self.place[request] = Place.STORAGE

    @action(request=upto(R))
    def rejects(self, request: int) -> None:
        """The pool does not take a request: its response is an error."""
        self.admit(request)
        require(self.at_storage(request) >= self.Q, REJECTS)
        self.place[request] = Place.ANSWERING

    def admit(self, request: int) -> None:
        """Check that a request may be in progress, and serve its channel."""
        channel = self.channel[request]
        require(self.place[request] == Place.WAITING, ONCE)
        require(not any(
            self.place[other] == Place.WAITING and self.channel[other] == channel
            for other in range(request)), IN_ORDER)
        require(self.has_permit(self.kind[request]), LIMIT)
        require(not any(
            self.lined[other] and self.waits_for(other, self.kind[request])
            and (not self.lined[channel] or other * self.N + channel in self.ahead)
            for other in range(self.N)), FAIR)
        self.leave_line(channel)

    @action(request=upto(R))
    def writes(self, request: int) -> None:
        """A response is written."""
        require(self.place[request] == Place.ANSWERING, ONCE)
        require(self.writable[self.channel[request]], RESPECTS)
        self.listed[self.channel[request]] = 0
        self.end(request)

    @action(request=upto(R))
    def drops(self, request: int) -> None:
        """A response is dropped."""
        channel = self.channel[request]
        require(self.place[request] == Place.ANSWERING, ONCE)
        if self.open[channel]:
            require(not self.writable[channel], SENDS)
            require(self.listed[channel] > 0 or self.since[request] >= self.t, PATIENT)
            if self.listed[channel] == 0:
                self.failed[channel] = True
                self.listed[channel] = self.t
        self.end(request)

    @action
    def invents(self) -> None:
        """A request that does not exist is started or answered."""
        require(False, ONCE)

    @action(channel=upto(N))
    def pauses(self, channel: int) -> None:
        """Autoread is turned off."""
        self.reading[channel] = False

    @action(channel=upto(N))
    def resumes(self, channel: int) -> None:
        """Autoread is turned on."""
        self.reading[channel] = True

    @action(channel=upto(N))
    def closes(self, channel: int) -> None:
        """The server closes a channel."""
        require(self.open[channel] and self.c == 1 and self.failed[channel], CLOSES)
        self.forget(channel)

    @action(kind=Kind, count=upto(R + 1))
    def gauged(self, kind: Kind, count: int) -> None:
        """The server reports how many requests are in progress."""
        require(count == self.in_progress(kind), COUNTED)

    @action(rests=(STARTS, READS, CLOSES, DROPS, SENDS))
    def rests(self) -> None:
        """The server is quiescent: it does nothing more until the next event."""
        for channel in range(self.N):
            waits = self.is_waiting(channel)
            require(not self.may_go_on(channel), STARTS)
            require(not (self.reading[channel] and waits), PAUSES)
            require(self.reading[channel] or waits or not self.open[channel], READS)
            require(not (self.open[channel] and self.failed[channel] and self.c == 1), CLOSES)
        for request in range(self.R):
            if self.place[request] == Place.ANSWERING:
                self.check_answer(request)
        self.line_up()

    # --- derived values ----------------------------------------------------------------------

    def forget(self, channel: int) -> None:
        """Close a channel: its waiting requests are not started any more."""
        self.open[channel] = False
        for request in range(self.R):
            if self.channel[request] == channel and self.place[request] == Place.WAITING:
                self.end(request)
        self.leave_line(channel)

    def end(self, request: int) -> None:
        """The request has ended, and is forgotten."""
        self.place[request] = Place.ENDED
        self.since[request] = 0

    def limit(self, kind: Kind) -> int:
        """Largest number of requests of a kind in progress; 0: no limit."""
        return self.K if kind == Kind.ADD else self.J

    def has_permit(self, kind: Kind) -> bool:
        """True if another request of this kind may be in progress."""
        return self.limit(kind) == 0 or self.in_progress(kind) < self.limit(kind)

    def in_progress(self, kind: Kind) -> int:
        """Number of requests of a kind that are at storage or being answered."""
        return sum(
            self.kind[each] == kind
            and (self.place[each] == Place.STORAGE or self.place[each] == Place.ANSWERING)
            for each in range(self.R))

    def at_storage(self, request: int) -> int:
        """Number of requests of the same kind that are at storage."""
        return sum(self.kind[each] == self.kind[request] and self.place[each] == Place.STORAGE
                   for each in range(self.R))

    def is_waiting(self, channel: int) -> bool:
        """True if a request of the channel waits."""
        return any(self.place[each] == Place.WAITING and self.channel[each] == channel
                   for each in range(self.R))

    def waits_for(self, channel: int, kind: Kind) -> bool:
        """True if the channel's first waiting request is of this kind."""
        return any(
            self.place[each] == Place.WAITING and self.channel[each] == channel
            and self.kind[each] == kind and not any(
                self.place[other] == Place.WAITING and self.channel[other] == channel
                for other in range(each))
            for each in range(self.R))

    def may_go_on(self, channel: int) -> bool:
        """True if the limit allows the channel's first waiting request to start."""
        return (self.waits_for(channel, Kind.ADD) and self.has_permit(Kind.ADD)) or (
            self.waits_for(channel, Kind.READ) and self.has_permit(Kind.READ))

    def check_answer(self, request: int) -> None:
        """Check that a response may be neither written nor dropped yet."""
        channel = self.channel[request]
        require(self.open[channel], DROPS)
        require(not self.writable[channel], SENDS)
        require(self.listed[channel] == 0 and self.since[request] < self.t, DROPS)

    def line_up(self) -> None:
        """Put channels that have begun to wait behind those that waited before."""
        for late in range(self.N):
            if self.is_waiting(late) and not self.lined[late]:
                for early in range(self.N):
                    if self.lined[early]:
                        self.ahead.add(early * self.N + late)
        for channel in range(self.N):
            self.lined[channel] = self.is_waiting(channel)

    def leave_line(self, channel: int) -> None:
        """Take a channel out of the wait queue; its next request begins to wait only now."""
        self.lined[channel] = False
        for other in range(self.N):
            self.ahead.discard(other * self.N + channel)
            self.ahead.discard(channel * self.N + other)

    @always("BK-62", MUST,
            "At most as many adds and reads are in progress as their limits allow (0: any "
            "number), and of two channels at most one precedes the other in the wait order.",
            source="004#limit; bookkeeper#fair")
    def books_agree(self) -> bool:
        """Check each kind, and each pair of channels."""
        return ((self.K == 0 or self.in_progress(Kind.ADD) <= self.K)
                and (self.J == 0 or self.in_progress(Kind.READ) <= self.J)
                and not any(
                    one * self.N + other in self.ahead and other * self.N + one in self.ahead
                    for one in range(self.N) for other in range(self.N)))


EXPECTATIONS = (
    expect(ObservedBookkeeper, "BK-62", "holds", "the accounts add up",
           N=(1, 2), R=2, t=(0, 1), c=(0, 1)),
    expect(ObservedBookkeeper, "BK-62", "holds", "the accounts add up without limits",
           N=1, K=0, J=0, R=2, t=1, c=1),
)

BOOKKEEPING = {
    "BK-62":
        "The harness finishes only what it has in its storage, and the observer notes which "
        "channel "
        "is ahead of which; a server that exceeds a limit is refused by BK-2 before.",
}
