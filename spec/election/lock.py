"""A lock service with sessions, a queue of candidates, and a store that compares tokens.

Theory. The recipe of ZooKeeper. A candidate makes a node that is *ephemeral*, so that it goes with
its maker's session, and *sequential*, so that it has a number. The candidate with the lowest number
holds the lock; the next one watches it. The number, or the id of the transaction that made the
node, grows from each holder to the next: it is a fencing token.

A candidate may be stopped for any length of time (by a garbage collection, a debugger, a laptop's
lid), and the service may end a session of which it has heard nothing. So there are two views of
which candidate leads: the service's, and the candidate's own, which lags. Nothing that the service
does can close this gap, because a write travels between the look and the store: ELECT-11 is false
of every lock. The store closes the gap. It remembers the newest token that it has seen, and refuses
older ones.

The variants are faults of real systems: a store that does not compare, tokens that start over, a
resignation that deletes another candidate's node, a missed watch, a candidate that is forgotten
when its session ends, a node that outlives its session, a leader that is not notified of its loss.

Source: election#recipe, election#fencing, election#sessions, election#kafka-controller.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import (
    MUST, SHOULD, Machine, action, always, array, boolean, const, fifo, integer, leads_to, require,
    step, upto,
)

__all__ = [
    "EXPECTATIONS", "DeafLeader", "DeletingAnothers", "Forgetful", "GhostNode", "Lock",
    "MissedWatch", "StrictStore", "TokensBeginAgain", "Unfenced",
]


class Lock(Machine):
    """N candidates, the service's queue of nodes, and the store; at most K nodes are made."""

    N = const(2, at_least=2)            # candidates
    K = const(3, at_least=1)            # nodes that are made in all: tokens
    X = const(1)                        # sessions that the service ends

    # The service.
    line = fifo(integer(0, N), N)                # makers of the nodes, lowest number first
    token = array(upto(N), integer(0, K))       # of the node of each; 0: it has none
    made = integer(0, K)                        # nodes so far
    ended = integer(0, X)                       # sessions so far

    # The candidates.
    joined = array(upto(N), boolean(False))
    stopped = array(upto(N), boolean(False))
    lost = array(upto(N), boolean(False))       # its session has ended, and it has not heard
    believes = array(upto(N), integer(0, K))    # the token with which it leads, as far as it knows
    holds = array(upto(N), integer(0, K))       # the token that it will write with

    # The store.
    newest = integer(0, K)                      # token that it has seen
    last = integer(0, K)                        # token of the last write that it took

    # For the rules.
    granted = integer(0, K)                     # the greatest token that a leader has had

    # --- candidates ------------------------------------------------------------------------

    @action(candidate=upto(N))
    def join(self, candidate: int) -> None:
        """It makes a node."""
        require(not self.joined[candidate] and not self.stopped[candidate] and self.has_room())
        require(not self.lost[candidate] and candidate not in self.line)
        self.joined[candidate] = True
        self.make_node(candidate)

    @action(candidate=upto(N))
    def resign(self, candidate: int) -> None:
        """It deletes its node."""
        require(self.joined[candidate] and not self.stopped[candidate])
        require(not self.lost[candidate])
        self.joined[candidate] = False
        self.believes[candidate] = 0
        self.holds[candidate] = 0
        self.delete_node(candidate)

    @action(fair=True, candidate=upto(N))
    def hear_of_lead(self, candidate: int) -> None:
        """Its watch notifies it that its number is now the lowest."""
        require(self.will_hear(candidate))
        self.believes[candidate] = self.token[candidate]
        self.granted = max(self.granted, self.token[candidate])

    def will_hear(self, candidate: int) -> bool:
        """True if a watch of this candidate is about to fire."""
        return (len(self.line) > 0 and self.line[0] == candidate and not self.stopped[candidate]
                and not self.lost[candidate]
                and self.believes[candidate] != self.token[candidate])

    @action(candidate=upto(N))
    def ask(self, candidate: int) -> None:
        """It checks whether it leads, and keeps the token for its writes."""
        require(self.joined[candidate] and not self.stopped[candidate])
        self.holds[candidate] = self.believes[candidate]

    @action(candidate=upto(N))
    def write(self, candidate: int) -> None:
        """It writes with the token from its last check; the service is not asked."""
        require(self.holds[candidate] > 0 and not self.stopped[candidate])
        if self.takes(self.holds[candidate]):
            self.newest = max(self.newest, self.holds[candidate])
            self.last = self.holds[candidate]

    def takes(self, token: int) -> bool:
        """The store refuses a token older than the newest that it has seen."""
        return token >= self.newest

    # --- faults ----------------------------------------------------------------------------

    @action(candidate=upto(N))
    def stop(self, candidate: int) -> None:
        """Its process is halted."""
        require(self.joined[candidate] and not self.stopped[candidate])
        self.stopped[candidate] = True

    @action(fair=True, candidate=upto(N))
    def go(self, candidate: int) -> None:
        """It continues as if nothing had happened."""
        require(self.stopped[candidate])
        self.stopped[candidate] = False

    @action(candidate=upto(N))
    def end_session(self, candidate: int) -> None:
        """The service has not heard of it for too long: its node goes."""
        require(self.ended < self.X and candidate in self.line and not self.lost[candidate])
        require(self.has_room())
        self.ended += 1
        self.lost[candidate] = True
        self.delete_node(candidate)

    @action(fair=True, candidate=upto(N))
    def hear_of_loss(self, candidate: int) -> None:
        """It learns that its session has ended, and joins again with a new one."""
        require(self.lost[candidate] and not self.stopped[candidate])
        self.lost[candidate] = False
        self.believes[candidate] = 0
        self.make_node(candidate)

    # --- the service -----------------------------------------------------------------------

    def make_node(self, candidate: int) -> None:
        """Append a node, with a number greater than all before."""
        self.made += 1
        self.token[candidate] = self.made
        self.line.push(candidate)

    def delete_node(self, candidate: int) -> None:
        """The node of a candidate goes; the others keep their order."""
        self.token[candidate] = 0
        for _ in range(len(self.line)):
            other = self.line.pop()
            if other != candidate:
                self.line.push(other)

    def has_room(self) -> bool:
        """True if one more node can be made, besides those of candidates that will rejoin."""
        return self.made + sum(1 for lost in self.lost if lost) < self.K

    def is_quiet(self) -> bool:
        """True if no candidate is stopped and every notification has been received."""
        return not any(self.stopped[each] or self.lost[each] or self.will_hear(each)
                       for each in range(self.N))

    # --- rules -----------------------------------------------------------------------------

    @step("ELECT-10", MUST,
          "The token of an accepted write is at least that of the accepted write before it.",
          source="election#fencing")
    def writes_keep_their_order(self, after: Lock) -> bool:
        """The writes that the store took are the truth about leadership."""
        return after.last >= self.last

    @always("ELECT-11", SHOULD, "At most one candidate believes that it leads.",
            source="election#fencing: no lock can promise it; election#recipe")
    def one_believes(self) -> bool:
        """False of every lock service with clients that can be stopped."""
        return sum(1 for believed in self.believes if believed > 0) <= 1

    @step("ELECT-12", MUST,
          "A new leader's token is greater than the tokens of all earlier leaders.",
          source="election#recipe; election#zookeeper-numbers")
    def tokens_grow(self, after: Lock) -> bool:
        """A candidate that learns that it leads has a token that no leader has had."""
        return all(after.believes[each] in (0, self.believes[each])
                   or after.believes[each] > self.granted for each in range(self.N))

    @leads_to("ELECT-13", MUST,
              "Whenever there are candidates, eventually the first in the queue believes that "
              "it leads, some candidate is stopped, or no candidate is left.",
              source="election#recipe; election#sessions")
    def somebody_comes_to_lead(self) -> tuple[bool, bool]:
        """A candidate may be stopped again and again, and all may resign; otherwise one leads."""
        return any(self.joined), not any(self.joined) or any(self.stopped) or any(
            self.believes[each] > 0 and self.line[0] == each
            for each in range(self.N) if len(self.line) > 0)


# --- variants --------------------------------------------------------------------------------

class Unfenced(Lock):
    """The store takes every write: the lock is thought to be enough."""

    def takes(self, token: int) -> bool:
        """Take a write with any token."""
        return token > 0


class StrictStore(Lock):
    """The store wants a token greater than any it has seen: a leader can write once."""

    def takes(self, token: int) -> bool:
        """``>`` instead of ``>=``: the leader's own token is too old the second time."""
        return token > self.newest


class TokensBeginAgain(Lock):
    """The counter is lost with the last node, as in a service that keeps it in memory."""

    def delete_node(self, candidate: int) -> None:
        """When the queue becomes empty, counting starts over."""
        super().delete_node(candidate)
        if len(self.line) == 0:
            self.made = 0


class DeletingAnothers(Lock):
    """A resigning candidate deletes the leader's node, even if it is another candidate's."""

    @action(candidate=upto(Lock.N))
    def resign(self, candidate: int) -> None:
        """It does not check that the node is its own."""
        require(self.joined[candidate] and not self.stopped[candidate])
        require(not self.lost[candidate])
        self.joined[candidate] = False
        self.believes[candidate] = 0
        self.holds[candidate] = 0
        if len(self.line) > 0:
            head = self.line[0]
            self.delete_node(head)
        self.delete_node(candidate)


class MissedWatch(Lock):
    """A candidate checks its place when it joins, and is not notified of later changes."""

    first = array(upto(Lock.N), boolean(False))     # it was first when it joined

    def make_node(self, candidate: int) -> None:
        """The candidate checks once, as soon as its node exists."""
        super().make_node(candidate)
        self.first[candidate] = self.line[0] == candidate

    def will_hear(self, candidate: int) -> bool:
        """True only for a candidate that was first when it joined."""
        return super().will_hear(candidate) and self.first[candidate]


class Forgetful(Lock):
    """A candidate makes no new node after its session has ended."""

    def make_node(self, candidate: int) -> None:
        """A node is made only in the first session."""
        if self.ended == 0:
            super().make_node(candidate)


class GhostNode(Lock):
    """The node of an ended session stays in the queue: it was not ephemeral."""

    @action(candidate=upto(Lock.N))
    def end_session(self, candidate: int) -> None:
        """The node outlives its maker's session."""
        require(self.ended < self.X and candidate in self.line and not self.lost[candidate])
        self.ended += 1
        self.lost[candidate] = True

    @action(fair=True, candidate=upto(Lock.N))
    def hear_of_loss(self, candidate: int) -> None:
        """A new session has no claim to the old node, and waits behind it."""
        require(self.lost[candidate] and not self.stopped[candidate])
        self.believes[candidate] = 0

    def is_quiet(self) -> bool:
        """The candidate has learnt of the loss; that it cannot recover is the bug."""
        return not any(self.stopped[each] or self.will_hear(each)
                       or (self.lost[each] and self.believes[each] > 0)
                       for each in range(self.N))


class DeafLeader(Lock):
    """A leader is not notified that its session has ended; its client opens a new one silently."""

    @action(fair=True, candidate=upto(Lock.N))
    def hear_of_loss(self, candidate: int) -> None:
        """It joins again, and still believes that it leads."""
        require(self.lost[candidate] and not self.stopped[candidate])
        self.lost[candidate] = False
        self.make_node(candidate)


EXPECTATIONS = (
    expect(Lock, "ELECT-10", "holds", "the store orders the writes", N=2, K=4, X=(0, 1, 2)),
    expect(Lock, "ELECT-11", "holds", "no session ends: one believes", N=2, K=4, X=0),
    expect(Lock, "ELECT-11", "violated", "a session ends: two believe that they lead", N=2, K=3,
           X=1),
    expect(Lock, "ELECT-12", "holds", "tokens grow from leader to leader", N=2, K=4, X=1),
    expect(Lock, "ELECT-13", "holds", "a candidate leads eventually", N=2, K=4, X=1),
    expect(Unfenced, "ELECT-10", "violated", "a stopped leader writes last", N=2, K=3, X=1),
    expect(TokensBeginAgain, "ELECT-12", "violated", "two leaders have the same token", N=2, K=3,
           X=0),
    expect(MissedWatch, "ELECT-13", "violated", "no candidate hears that it leads", N=2, K=3, X=0),
    expect(GhostNode, "ELECT-13", "violated", "the node of an ended session holds the lock", N=2,
           K=3, X=1),
)

UNSEEN = {
    "ELECT-11": "Every lock allows two candidates to believe at the same time that they lead, and "
                "so does the observer; it judges their writes.",
}
