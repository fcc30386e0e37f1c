"""A lock on several servers with clocks of their own: Redlock.

Theory. A client asks S servers that know nothing of each other for the key, one after the other,
and has the lock if more than half gave it, for as long as was left of T ticks when the last one
answered. No server is a single point of failure, and two clients cannot both have a majority of
servers at one moment. But each server takes its key back by its own clock. If one clock jumps ahead
by a tick, or one server loses its keys in a crash, a key is free before its time; then a second
client finds a majority while the first still counts. A pause does the same harm as to every lease
(``lease``). And no number grows from lease to lease, so a store has nothing that it could compare.

Source: election#redlock, election#fencing.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    SHOULD, Machine, action, always, array, const, integer, require, upto,
)

__all__ = ["EXPECTATIONS", "UNSEEN", "Quorum"]


class Quorum(Machine):
    """Two clients, S servers, keys that live T ticks."""

    S = const(3, at_least=1)            # servers
    T = const(2, at_least=1)            # ticks that a lease lasts
    J = const(0)                        # ticks that servers' clocks may jump ahead
    R = const(0)                        # servers that may crash and come back empty

    owner = array(upto(S), integer(0, 2, init=2))   # of the key at each server; 2: it is not there
    left = array(upto(S), integer(0, T))            # ticks until it goes there
    given = array(upto(2), integer(0, S))           # servers that gave their key in this round
    spent = array(upto(2), integer(0, T))           # ticks since the round began
    counts = array(upto(2), integer(0, T))          # ticks for which a client counts its lock
    jumped = integer(0, J)
    emptied = integer(0, R)

    @action(client=upto(2), server=upto(S))
    def ask(self, client: int, server: int) -> None:
        """A server that does not have the key gives it."""
        require(self.owner[server] == 2 and self.counts[client] == 0)
        if self.given[client] == 0:
            self.spent[client] = 0
        self.owner[server] = client
        self.left[server] = self.T
        self.given[client] = min(self.S, self.given[client] + 1)

    @action(client=upto(2))
    def has_majority(self, client: int) -> None:
        """More than half: it counts what is left of the time since the round began."""
        require(2 * self.given[client] > self.S and self.spent[client] < self.T)
        self.counts[client] = self.T - self.spent[client]
        self.given[client] = 0

    @action(client=upto(2))
    def give_back(self, client: int) -> None:
        """After a failed round, or when the lock is not needed any more, its keys are deleted."""
        require(self.given[client] > 0 or self.counts[client] > 0)
        self.given[client] = 0
        self.counts[client] = 0
        for server in range(self.S):
            if self.owner[server] == client:
                self.owner[server] = 2
                self.left[server] = 0

    @action
    def tick(self) -> None:
        """All clocks advance by one tick."""
        for server in range(self.S):
            self.pass_at(server)
        for client in range(2):
            self.counts[client] = max(0, self.counts[client] - 1)
            self.spent[client] = min(self.T, self.spent[client] + 1)

    @action(server=upto(S))
    def jump(self, server: int) -> None:
        """One server's clock advances alone."""
        require(self.jumped < self.J and self.left[server] > 0)
        self.jumped += 1
        self.pass_at(server)

    @action(server=upto(S))
    def crash(self, server: int) -> None:
        """A server comes back at once, and has forgotten its keys."""
        require(self.emptied < self.R and self.owner[server] < 2)
        self.emptied += 1
        self.owner[server] = 2
        self.left[server] = 0

    def pass_at(self, server: int) -> None:
        """The key goes there when its time is over."""
        self.left[server] = max(0, self.left[server] - 1)
        if self.left[server] == 0:
            self.owner[server] = 2

    @always("ELECT-16", SHOULD,
            "At any time at most one client believes that its lock from a majority of servers "
            "is still valid.",
            source="election#redlock (mutual exclusion, clocks, crashes)")
    def one_counts(self) -> bool:
        """It holds while all clocks run at one rate and no server forgets a key."""
        return self.counts[0] == 0 or self.counts[1] == 0


EXPECTATIONS = (
    expect(Quorum, "ELECT-16", "holds", "clocks at one rate, no server forgets", S=(1, 3), T=(1,
           2)),
    expect(Quorum, "ELECT-16", "violated", "one clock jumps", S=3, T=2, J=2),
    expect(Quorum, "ELECT-16", "violated", "one server comes back empty", S=3, T=2, R=1),
)

UNSEEN = {
    "ELECT-16": "An observer does not see which servers gave their keys; a lock that was given "
                "twice is seen like any other, by ELECT-1.",
}
