"""A lock that expires by the clock: which clock counts the time, and what a pause does.

Theory. ``SET key value NX PX time`` in Redis, and every other lease: the service grants the lock
for T ticks, and takes it back when T ticks have passed by its own clock. The holder cannot wait for
a notification, so it counts, too: it starts before it sends the request, and stops believing when T
ticks have passed by its own clock. While both clocks run at the same rate, two clients never
*believe* at the same time that they lead: the holder stops before the service does. That is all
that is promised, and it is not enough.

Between the look at the clock and the arrival of the write there is time, in which the process may
be stopped (and no lock can see that, because no lock is asked). So a lease keeps the writes in
their order only with a token, like any other lock (``lock``). Clocks add a second way to fail: if a
client's clock is slow, or is set back, two clients can believe at the same moment that they lead.

The variants are these readings: a store without tokens, a client's clock that drifts, a holder that
counts from the answer instead of the request, a client that deletes a lock that is no longer its
own, and the fix, a store that compares tokens.

Source: election#redis-lock, election#fencing, election#redlock.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, SHOULD, Machine, action, always, array, boolean, const, integer, require, step, upto,
)

__all__ = [
    "EXPECTATIONS", "CountingFromTheAnswer", "DeletingBlindly", "FencedLease", "Lease", "UNSEEN",
]


class Lease(Machine):
    """N clients of one key that lives T ticks, and a store that takes every write."""

    N = const(2, at_least=2)            # candidates
    T = const(2, at_least=1)            # ticks that a lease lasts
    K = const(2, at_least=1)            # leases that are granted: tokens
    D = const(0)                        # ticks by which a client's clock may stay behind
    P = const(1)                        # whether a client may be stopped between look and write

    # The service.
    owner = integer(0, N, init=N)               # of the key; N: it is not there
    left = integer(0, T)                        # ticks until it goes
    granted = integer(0, K)                     # leases so far

    # The clients.
    asking = array(upto(N), boolean(False))     # its request was granted, and it has no answer yet
    waited = array(upto(N), integer(0, T))      # ticks on its clock since it asked
    token = array(upto(N), integer(0, K))       # of its last lease
    counts = array(upto(N), integer(0, T))      # ticks for which it believes that it leads
    holds = array(upto(N), integer(0, K))       # it has looked, and will write with this; 0: no
    behind = integer(0, D)                      # ticks that clients' clocks have missed

    # The store.
    last = integer(0, K)                        # token of the last write that it took

    @action(client=upto(N))
    def ask(self, client: int) -> None:
        """SET NX: the key is not there, and this client gets it."""
        require(self.owner == self.N and self.granted < self.K)
        require(not self.asking[client] and self.counts[client] == 0)
        self.owner = client
        self.left = self.T
        self.granted += 1
        self.asking[client] = True
        self.waited[client] = 0
        self.token[client] = self.granted

    @action(client=upto(N))
    def answered(self, client: int) -> None:
        """It learns that it has the lock, and for how long."""
        require(self.asking[client])
        self.asking[client] = False
        self.counts[client] = self.time_left(client)

    def time_left(self, client: int) -> int:
        """It counts from the moment at which it asked."""
        return max(0, self.T - self.waited[client])

    @action(client=upto(N))
    def look(self, client: int) -> None:
        """It looks at its clock: it leads, and begins to write."""
        require(self.counts[client] > 0 and self.holds[client] == 0)
        self.holds[client] = self.token[client]

    @action(client=upto(N))
    def write(self, client: int) -> None:
        """The write reaches the store, however late."""
        require(self.holds[client] > 0)
        if self.takes(self.holds[client]):
            self.last = self.holds[client]
        self.holds[client] = 0

    def takes(self, token: int) -> bool:
        """The store has no tokens to compare."""
        return token > 0

    @action
    def tick(self) -> None:
        """All clocks advance by one tick.

        Without pauses (P = 0), a write arrives before the next tick.
        """
        require(self.P > 0 or not any(held > 0 for held in self.holds))
        self.pass_at_service()
        for client in range(self.N):
            self.pass_at(client)

    @action
    def tick_of_service(self) -> None:
        """The clients' clocks miss a tick."""
        require(self.behind < self.D)
        require(self.P > 0 or not any(held > 0 for held in self.holds))
        self.behind += 1
        self.pass_at_service()

    def pass_at_service(self) -> None:
        """The key goes when its time is over."""
        self.left = max(0, self.left - 1)
        if self.left == 0:
            self.owner = self.N

    def pass_at(self, client: int) -> None:
        """A client's own clock."""
        self.counts[client] = max(0, self.counts[client] - 1)
        self.waited[client] = min(self.T, self.waited[client] + 1)

    @action(client=upto(N))
    def give_up(self, client: int) -> None:
        """It deletes the key, if it is its own."""
        require(self.counts[client] > 0 and self.holds[client] == 0)
        self.counts[client] = 0
        if self.may_delete(client):
            self.owner = self.N
            self.left = 0

    def may_delete(self, client: int) -> bool:
        """Each lease has a value of its own, which is compared."""
        return self.owner == client

    @always("ELECT-14", SHOULD,
            "At any time at most one client believes, by its own clock, that it holds the "
            "lease.",
            source="election#redis-lock (mutual exclusion); election#redlock (bounded drift)")
    def one_counts(self) -> bool:
        """While clocks run at the same rate, a client that counts is the owner."""
        return sum(1 for left in self.counts if left > 0) <= 1

    @step("ELECT-15", MUST,
          "No accepted write belongs to an older lease than the accepted write before it.",
          source="election#fencing; election#redlock; ELECT-10")
    def writes_keep_their_order(self, after: Lease) -> bool:
        """No clock can promise this order."""
        return after.last >= self.last


class CountingFromTheAnswer(Lease):
    """The time that the answer took is not counted."""

    def time_left(self, client: int) -> int:
        """As if the answer had come at once."""
        return self.T


class DeletingBlindly(Lease):
    """A client that gives up deletes the key without comparing its value: a blind ``DEL``."""

    @action(client=upto(Lease.N))
    def give_up(self, client: int) -> None:
        """It deletes the key even if its own lease expired long ago."""
        require(self.token[client] > 0 and self.holds[client] == 0)
        require(not self.asking[client])
        self.token[client] = 0
        self.counts[client] = 0
        self.owner = self.N
        self.left = 0


class FencedLease(Lease):
    """The store compares tokens, and refuses older ones."""

    def takes(self, token: int) -> bool:
        """Refuse a token older than the last one."""
        return token >= self.last


EXPECTATIONS = (
    expect(Lease, "ELECT-14", "holds", "clocks at one rate: one believes", T=(1, 2, 3), K=3, P=1),
    expect(Lease, "ELECT-14", "violated", "a client's clock stays behind", T=2, K=2, D=1),
    expect(CountingFromTheAnswer, "ELECT-14", "violated", "it counts from the answer", T=2, K=2),
    expect(DeletingBlindly, "ELECT-14", "violated", "it deletes another's lock", T=2, K=3),
    expect(Lease, "ELECT-15", "holds", "no pauses, clocks at one rate", T=2, K=3, P=0),
    expect(Lease, "ELECT-15", "violated", "stopped between look and write", T=2, K=2, P=1),
    expect(Lease, "ELECT-15", "violated", "a clock stays behind, no pauses",
           T=2, K=2, D=1, P=0),
    expect(FencedLease, "ELECT-15", "holds", "with tokens, in spite of pauses and drift", T=2, K=3,
           D=1, P=1),
)

UNSEEN = {
    "ELECT-14": "Clients that count at the same time all report that they lead, which the observer "
                "allows to a disturbed candidate; it judges their writes.",
}
