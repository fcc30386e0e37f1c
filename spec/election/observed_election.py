"""An election as its observer sees it: what candidates report, and which writes are accepted.

Theory. Candidates ask a lock service to make one of them the leader. The leader writes to a store
that every candidate can reach, and there the trouble lies: between the moment at which a candidate
checks that it leads, and the moment at which its write arrives, anything may happen. It may be
paused, its session with the service may end, another may be elected and write. No lock service can
prevent that, because it is not asked again. The remedy is a *fencing token*: a number that grows
with each term of leadership, that comes with every write, and that the store compares. A write with
a token older than one that the store has seen is refused.

The observer sees calls and answers. ``leads`` and ``leads_not`` are what a candidate reports when
it is asked; ``accepted`` and ``refused`` are the store's answers to a write, which a candidate
makes with what it learnt last, without asking again. The observer also sees the faults, because it
injects them itself: a candidate is stopped, cut off from the service, its session ended, its
process killed; the service is killed and restarted. The holder of the lock is hidden. An
undisturbed holder keeps it; one that was disturbed (*shaken*) may have lost it without knowing,
until the system is quiescent again.

Not every system has tokens. One that has none is marked by ``Token.NONE``; the terms of its leaders
are then those that its answers allow.

Source: election#fencing, election#recipe, election#redlock.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, boolean, const, guard_rule, integer, require, upto,
)

__all__ = ["EXPECTATIONS", "ObservedElection", "Token"]

ONE_LEADER = guard_rule(
    "ELECT-1", MUST,
    "While an undisturbed candidate holds the lock, another one reports that it leads only if "
    "itself disturbed since the last quiescence, without a newer token, and never leads at a "
    "quiescence.",
    source="election#recipe (one holds the lowest number); election#etcd; election#postgresql",
)
NEWER_WROTE = guard_rule(
    "ELECT-2", MUST,
    "Once the store has accepted a write of one term of leadership, it accepts no write of an "
    "earlier term.",
    source="election#fencing: a paused client writes with a lock that it no longer has",
)
TOKENS_GROW = guard_rule(
    "ELECT-3", MUST,
    "If there are tokens, the holder's first report of a term has a token greater than all "
    "given before, and its later reports the same or a greater one.",
    source="election#fencing; election#zookeeper-numbers; election#kafka-controller",
)
LEADER_WRITES = guard_rule(
    "ELECT-4", MUST,
    "A leader that has reported that it leads, and was not disturbed since all was quiescent for "
    "the last time, does not report that it does not lead, and no write of it is refused.",
    source="election#fencing (only older tokens are refused)",
)
SOMEBODY_LEADS = guard_rule(
    "ELECT-5", MUST,
    "When the system is quiescent after all faults, some candidate leads if at least one was "
    "not disturbed since it joined.",
    source="election#recipe (the next number is watched); election#sessions",
)
HANDS_OVER = guard_rule(
    "ELECT-6", MUST,
    "A candidate that resigned does not report that it leads; after a leader's resignation, one "
    "leads at the next quiescence if any was undisturbed since it joined.",
    source="election#recipe (the holder deletes its node)",
)
NONE_FORGOTTEN = guard_rule(
    "ELECT-7", MUST,
    "When the system is quiescent after all faults, some candidate leads if any is left, even "
    "if its session ended or the lock service was restarted.",
    source="election#curator (reconnected: a new node); election#kazoo")
DEPOSED_KNOWS = guard_rule(
    "ELECT-8", MUST,
    "A former leader that did not lead at a quiescence does not report that it leads until it "
    "holds the lock again.",
    source="election#curator; election#kazoo (both: assume that it is lost when suspended)",
)


class Token(IntEnum):
    """A token that a candidate receives, compared with all those that were given out before."""

    NONE = 0      # there is none: the system has no tokens
    NEWER = 1     # greater than all of them
    SAME = 2      # this candidate's own, as before
    OLD = 3       # anything else: another's, or smaller


class ObservedElection(Machine):
    """N candidates, which in all become leader at most K times."""

    N = const(2, at_least=2)            # candidates
    K = const(4, at_least=1)            # terms (tokens) that can be distinguished

    joined = array(upto(N), boolean(False))
    told = array(upto(N), boolean(False))       # that it leads, since it joined
    shaken = array(upto(N), boolean(False))     # it may have lost the lock without knowing
    wavering = array(upto(N), boolean(False))   # it was shaken since it joined
    deposed = array(upto(N), boolean(False))    # another led at the last quiescence
    term = array(upto(N), integer(0, 2 * K))    # the last in which it led; 0: none yet
    holder = integer(0, N, init=N)              # of the lock; N: no candidate
    known = boolean(False)                      # the holder knows that it leads
    terms = integer(0, K)
    written = integer(0, 2 * K)                 # the latest term of which a write was accepted
    resigning = boolean(False)                  # the last leader resigned, none followed yet

    # --- hidden steps ----------------------------------------------------------------------

    @action(internal=True, candidate=upto(N))
    def elect(self, candidate: int) -> None:
        """The lock is free, and a candidate gets it."""
        require(self.holder == self.N and self.joined[candidate])
        self.holder = candidate
        self.known = False

    @action(internal=True)
    def lapse(self) -> None:
        """The service drops a holder from which it may not have heard."""
        require(any(self.holder == each and self.shaken[each] for each in range(self.N)))
        self.holder = self.N
        self.known = False

    # --- what candidates do and report -----------------------------------------------------

    @action(candidate=upto(N))
    def join(self, candidate: int) -> None:
        """It wants to lead."""
        require(not self.joined[candidate])
        self.joined[candidate] = True
        self.wavering[candidate] = self.shaken[candidate]

    @action(candidate=upto(N))
    def resign(self, candidate: int) -> None:
        """It no longer wants to, whether it leads or not."""
        require(self.joined[candidate])
        if self.holder == candidate:
            self.holder = self.N
            self.known = False
        self.resigning = self.resigning or self.told[candidate]
        self.forget(candidate)

    @action(candidate=upto(N), token=Token)
    def leads(self, candidate: int, token: Token) -> None:
        """It learns that it leads; a disturbed candidate may report this wrongly."""
        require(self.joined[candidate], HANDS_OVER)
        is_holder = self.holder == candidate
        require(is_holder or not self.deposed[candidate], DEPOSED_KNOWS)
        require(is_holder or (self.shaken[candidate] and token != Token.NEWER), ONE_LEADER)
        require(token != Token.OLD or not is_holder, TOKENS_GROW)
        require(token != Token.SAME or (self.told[candidate] and (self.known or not is_holder)),
                TOKENS_GROW)
        if is_holder and not self.known:
            self.begin_term(candidate)
        elif not is_holder and (token == Token.OLD or not self.told[candidate]):
            self.term[candidate] = max(0, 2 * self.terms - 1)
        self.told[candidate] = True
        self.deposed[candidate] = False
        self.resigning = False

    def begin_term(self, candidate: int) -> None:
        """The holder learns for the first time that it leads. A term gets an even number, so that
        a term of which its leader learns too late, when it is over, has its place before the
        latest."""
        require(self.terms < self.K)
        self.terms += 1
        self.term[candidate] = 2 * self.terms
        self.known = True

    @action(candidate=upto(N), rests=True)
    def leads_not(self, candidate: int) -> None:
        """It reports that it does not lead."""
        require(not self.leads_firmly(candidate), LEADER_WRITES)

    @action(candidate=upto(N))
    def accepted(self, candidate: int) -> None:
        """The store takes its write."""
        require(self.term[candidate] >= self.written, NEWER_WROTE)
        self.written = self.term[candidate]

    @action(candidate=upto(N), rests=True)
    def refused(self, candidate: int) -> None:
        """The store does not take its write."""
        require(not self.leads_firmly(candidate), LEADER_WRITES)

    def leads_firmly(self, candidate: int) -> bool:
        """True if it has learnt that it leads and nothing has disturbed it since."""
        return (self.holder == candidate and self.known and self.told[candidate]
                and not self.shaken[candidate])

    def forget(self, candidate: int) -> None:
        """It is not a candidate any longer."""
        self.joined[candidate] = False
        self.told[candidate] = False
        self.deposed[candidate] = False

    # --- faults ----------------------------------------------------------------------------

    @action(candidate=upto(N))
    def shake(self, candidate: int) -> None:
        """It is stopped or cut off, or its session is ended."""
        self.unsettle(candidate)

    @action(candidate=upto(N))
    def crash(self, candidate: int) -> None:
        """Its process is killed: it cannot resign."""
        self.unsettle(candidate)
        self.forget(candidate)

    @action
    def restart(self) -> None:
        """The service is killed and started again."""
        for candidate in range(self.N):
            self.unsettle(candidate)

    def unsettle(self, candidate: int) -> None:
        """From now on it may lose the lock, or its place in the queue."""
        self.shaken[candidate] = True
        self.wavering[candidate] = True

    # --- quiescence ------------------------------------------------------------------------

    @action(candidate=upto(N))
    def quiet(self, candidate: int) -> None:
        """All faults are over, the system is quiescent, and this candidate leads."""
        require(self.joined[candidate], HANDS_OVER)
        require(self.holder == self.N or self.holder == candidate or any(
            self.holder == each and self.shaken[each] for each in range(self.N)), ONE_LEADER)
        if self.holder != candidate:
            self.holder = candidate
            self.known = False
        self.settle()

    @action(rests=True)
    def quiet_without(self) -> None:
        """All faults are over, the system is quiescent, and no candidate leads."""
        firm = any(self.joined[each] and not self.wavering[each] for each in range(self.N))
        require(not (firm and self.resigning), HANDS_OVER)
        require(not firm, SOMEBODY_LEADS)
        require(not any(self.joined), NONE_FORGOTTEN)
        self.holder = self.N
        self.known = False
        self.settle()

    def settle(self) -> None:
        """The service hears from every candidate again, and a candidate that lost the lock knows
        it."""
        for each in range(self.N):
            self.shaken[each] = False
            self.deposed[each] = self.told[each] and self.holder != each
            self.told[each] = self.told[each] and self.holder == each
        self.resigning = False

    @always("ELECT-9", MUST,
            "No candidate and no accepted write has a term later than the latest that a leader "
            "has reported.",
            source="election#fencing; ELECT-2")
    def writes_have_terms(self) -> bool:
        """Every written term has a leader."""
        return self.written <= 2 * self.terms and all(
            term <= 2 * self.terms for term in self.term)


EXPECTATIONS = (
    expect(ObservedElection, "ELECT-9", "holds", "writes come of terms", N=2, K=2),
)

BOOKKEEPING = {
    "ELECT-9":
        "The observer numbers the terms, and gives each write the number of its writer's term, "
        "which cannot be larger.",
}
