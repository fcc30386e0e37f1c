"""ISR changes that are under way, and the replicas that a leader must wait for meanwhile.

Theory of operation
-------------------
Since 2.7 a leader does not write the quorum's ISR itself: it *asks* the controller, which accepts
or not, and learns of it later. Both may change the ISR at the same time: the leader asks for a
member more or less, and the controller removes a failed replica. Each change that the controller
makes has a
new *version*; a request is accepted if it was made for the version that the controller is at.

Between its request and the answer the leader does not know the ISR. It may consider a record
committed only if all replicas have it that *may* be in sync: the members of the ISR that it knows,
and those that it has asked for. Together they are the *maximal ISR*. With the known ISR alone, a
replica that has joined without the leader's knowledge may lack what the leader considers committed,
and be elected.

Replica 0 leads and is in every ISR; there are F followers. A set of followers is a number, the sum
of their weights 1, 2, 4, so there are S of them. ``offset`` is the end of each log.

Source: kafka#replication (AsyncIsr); KAFKA-8966.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, assume, boolean, const, integer, require, subset, table,
    upto,
)

__all__ = ["EXPECTATIONS", "IsrChanges", "WaitingForKnown"]


class IsrChanges(Machine):
    """A leader, its controller, and the changes that both make."""

    F = const(2, at_least=1, at_most=3)     # followers
    S = const(4, at_least=2)                # sets of followers
    O = const(2, at_least=1)                # noqa: E741  records that the leader writes
    V = const(3, at_least=1)                # versions of the ISR after the first

    weight = table((1, 2, 4))

    written = integer(0, O)                     # the end of the leader's log
    offset = array(upto(F), integer(0, O))      # the end of each follower's log

    known = integer(0, S - 1, init=S - 1)       # the followers in the ISR that the leader knows …
    version = integer(0, V)                     # … and the version of that ISR
    pending = array(upto(F), boolean())         # followers in an ISR that it has requested since
    asked = integer(0, V + 1)                   # version of its open request plus 1; 0: none
    requests = subset(upto(S * (V + 1)))        # version * S + followers: all requests so far

    agreed = integer(0, S - 1, init=S - 1)      # the followers in the controller's ISR …
    latest = integer(0, V)                      # … and the version of that ISR
    updates = array(upto(V), integer(0, S - 1))     # the ISR of each version

    @assume
    def all_sets_are_counted(self) -> bool:
        return self.S == (2 if self.F == 1 else 4 if self.F == 2 else 8)

    def has(self, followers: int, one: int) -> bool:
        """True if the follower is in the set."""
        return int(followers // self.weight[one] % 2) == 1

    # --- the controller ------------------------------------------------------------------

    @action(follower=upto(F))
    def take_out(self, follower: int) -> None:
        """A follower has failed, and leaves the ISR."""
        require(self.has(self.agreed, follower))
        self.change(self.agreed - self.weight[follower])

    @action(request=upto(S * (V + 1)))
    def accept(self, request: int) -> None:
        """The controller accepts a request if the ISR has not changed since it was made."""
        require(request in self.requests and request // self.S == self.latest)
        self.change(request % self.S)

    def change(self, followers: int) -> None:
        """The controller makes a new ISR with a new version; the leader will hear of it."""
        require(self.latest < self.V)
        self.updates[self.latest] = followers
        self.agreed = followers
        self.latest += 1

    # --- the leader ------------------------------------------------------------------------

    @action(follower=upto(F))
    def ask_without(self, follower: int) -> None:
        """It asks for an ISR without a follower that lags."""
        require(self.has(self.known, follower))
        self.ask(self.known - self.weight[follower])

    @action(follower=upto(F))
    def ask_with(self, follower: int) -> None:
        """It asks for an ISR with a follower that has caught up."""
        require(not self.has(self.known, follower))
        require(self.offset[follower] >= self.hw())
        self.ask(self.known + self.weight[follower])

    def ask(self, followers: int) -> None:
        """Send a request for the known version; it counts until the next answer."""
        self.requests.add(self.version * self.S + followers)
        self.asked = self.version + 1
        for each in range(self.F):
            if self.has(followers, each):
                self.pending[each] = True

    @action(told=upto(V))
    def hear(self, told: int) -> None:
        """The leader learns a newer version; its open request is accepted or refused."""
        require(told < self.latest and told + 1 > self.version)
        self.known = self.updates[told]
        self.version = told + 1
        self.asked = 0
        for each in range(self.F):
            self.pending[each] = False

    @action
    def write(self) -> None:
        """A producer's record is appended to the leader's log."""
        require(self.written < self.O)
        self.written += 1

    @action(follower=upto(F))
    def fetch(self, follower: int) -> None:
        """A follower fetches a record."""
        require(self.offset[follower] < self.written)
        self.offset[follower] += 1

    def may_be_in_sync(self, follower: int) -> bool:
        """True if the follower is in the maximal ISR."""
        return self.has(self.known, follower) or self.pending[follower]

    def hw(self) -> int:
        """The high watermark: the smallest log end over the maximal ISR."""
        return min(self.written, min(
            self.offset[each] if self.may_be_in_sync(each) else self.O
            for each in range(self.F)))

    @always("KAFKA-R6", MUST,
            "Every member of the ISR that the controller has decided last has all records below "
            "the leader's high watermark.",
            source="kafka#replication (ValidHighWatermark)", follower=upto(F))
    def the_isr_has_all(self, follower: int) -> bool:
        """Each member may be elected."""
        return not self.has(self.agreed, follower) or self.offset[follower] >= self.hw()


class WaitingForKnown(IsrChanges):
    """The leader waits for the ISR that it knows, without its requests."""

    def may_be_in_sync(self, follower: int) -> bool:
        """True if the follower is in the ISR that the leader knows."""
        return self.has(self.known, follower)


EXPECTATIONS = (
    expect(IsrChanges, "KAFKA-R6", "holds", "a leader that waits for the maximal ISR",
           F=2, O=2, V=3),
    expect(WaitingForKnown, "KAFKA-R6", "violated", "a follower joins without the leader's "
           "knowledge, and lacks what it considers committed", F=2, O=2, V=3),
)
