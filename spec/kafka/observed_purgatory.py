"""The purgatory as its callers see it: each call, and the callbacks that it causes.

Theory. The state and the effects of calls are those of ``purgatory``; here each call comes with the
observed behaviour of an implementation, and the rules judge that. Callbacks are judged at the call
in which they come: a request is completed by the request for it, by an event of one of its keys, by
force, or by its timeout, and in a sequential run these can be distinguished. The counts of the
lists and of the timer are judged when they are read.

A callback may raise. A try that raises has completed nothing; a request is, when its onComplete
raises, completed nevertheless. The exception ends neither the event nor the round in which it was
raised: the other requests are tried, expired and purged as usual, and then the caller gets the
error. For a timeout it is not specified where the error goes: the timer's thread has no caller.

Two designs are judged. The new one has an estimate, so that its purges follow from the calls; the
contents of its lists are known exactly. For the old one only bounds are known: all pending requests
are watched, and after a round of the reaper few other requests are.

A timeout of 0 has passed when it begins. The call that creates the request may let it expire at
once, and the next round has to.

Sets of requests are numbers: request r stands for 2 ** r. Times are ms, and the timer's tick is 1.

Source: "Apache Kafka, Purgatory, and Hierarchical Timing Wheels"; kafka#purgatory, kafka#P1.
"""

from __future__ import annotations

from enum import IntEnum

from ..notation import (
    MUST, SHOULD, action, array, boolean, const, guard_rule, integer, one_of, require, subset,
    table, upto,
)
from ..notation.rules import seen_from_outside
from .purgatory import Purgatory, PurgatoryCalls, Request
from .purgatory_answers import AnsweringPurgatory
from .purgatory_races import Race

__all__ = ["PERIODS", "TIMEOUTS", "Callback", "ObservedPurgatory"]

CODE = "kafka#purgatory"

_STATED = (*Purgatory.rules_declared, *Race.rules_declared, *AnsweringPurgatory.rules_declared)
ONCE = seen_from_outside(_STATED, "KAFKA-P1")
EXPIRY = seen_from_outside(_STATED, "KAFKA-P1ER")
IN_TIME = seen_from_outside(_STATED, "KAFKA-P2L")
TRIGGERED = seen_from_outside(_STATED, "KAFKA-P3")
WATCHED = seen_from_outside(_STATED, "KAFKA-P3W")
OUT_OF_TIMER = seen_from_outside(_STATED, "KAFKA-P4")
IN_TIMER = seen_from_outside(_STATED, "KAFKA-P4N")
NOT_LOW = seen_from_outside(_STATED, "KAFKA-P5")
NOT_HIGH = seen_from_outside(_STATED, "KAFKA-P5U")
FEW_DEAD = seen_from_outside(_STATED, "KAFKA-P6")
REASON = seen_from_outside(_STATED, "KAFKA-P6E")
NO_EMPTY_KEYS = seen_from_outside(_STATED, "KAFKA-P7")
COUNTED = seen_from_outside(_STATED, "KAFKA-P8")
TWO_TRIES = seen_from_outside(_STATED, "KAFKA-P10")

FOUNDED = guard_rule(
    "KAFKA-P20", MUST,
    "A call completes a request only by a try that finds it ready, by force, or, in a round of "
    "the reaper, because its timeout has passed.",
    source=f"002#requests ('criteria'); {CODE}")
TOLD = guard_rule(
    "KAFKA-P21", MUST,
    "If a request is completed by its timeout, the same round of the reaper also calls its "
    "expiry callback, unless its completion callback raised.",
    source=f"{CODE}; kafka#P1 ('iff')")
AT_ONCE = guard_rule(
    "KAFKA-P22", MUST,
    "A request that is ready when it is created is completed by the call that creates it.",
    source=f"{CODE} (first try)")
FORCED = guard_rule(
    "KAFKA-P23", MUST, "Forcing a request that is not completed completes it.",
    source=f"{CODE} (forceComplete)")
RETURNED = guard_rule(
    "KAFKA-P24", MUST,
    "A call that creates or forces a request returns true exactly if this call completed the "
    "request.",
    source=f"{CODE} (tryCompleteElseWatch, forceComplete)")
LEAVING = guard_rule(
    "KAFKA-P25", MUST,
    "The total length of all watcher lists counts no entry that an earlier event, purge or "
    "cancellation of a key had to remove.",
    source=f"{CODE} (tryCompleteWatched, purgeCompleted); KAFKA-664")
ABANDONED = guard_rule(
    "KAFKA-P26", MUST, "The cancellation of a key completes no request.",
    source=f"{CODE} (cancelForKey)")
TIMEOUTS_GO_ON = guard_rule(
    "KAFKA-P27", MUST,
    "If callbacks raise in a round of the reaper, every pending request with a timeout that "
    "passes in this round is completed nevertheless.",
    source=f"{CODE} (an executor runs timeouts); docs/decisions/callbacks-that-raise.md")
EVENTS_GO_ON = guard_rule(
    "KAFKA-P28", SHOULD,
    "If a callback raises during an event of a key, the event still completes every ready "
    "request on the key's list, except one that raised in its own try.",
    source="KAFKA-17234, KAFKA-17240; docs/decisions/callbacks-that-raise.md")
ERRORS_ARRIVE = guard_rule(
    "KAFKA-P29", MUST,
    "If a callback raises during a call that creates or forces a request or reports an event, "
    "this call raises an exception to its caller.",
    source=f"{CODE}; docs/decisions/callbacks-that-raise.md")
MOVED = guard_rule(
    "KAFKA-P30", MUST,
    "A round of the reaper returns true if the timeout of a request that is pending or entered "
    "the timer since the previous round passes in it, false if all timeouts had passed before.",
    source="kafka#system-timer (true if a bucket expired)")


TIMEOUTS = (2, 5, 45, 8, 390, 420, 0, 2 ** 16 + 3, 2 ** 31 + 3)
"""Timeouts of requests in ms; 45 is beyond the lowest of Kafka's wheels of 20 buckets, 420 beyond
the second one. The last two are 3 ms in a number of 16 or 31 bits.
"""

PERIODS = (1, 3, 42, 8, 392, 2 ** 16, 2 ** 31 + 7)
"""Time between two rounds of the reaper, in ms."""


class Callback(IntEnum):
    """The user's callbacks, each of which may raise."""

    TRY = 0
    COMPLETE = 1
    EXPIRE = 2


class ObservedPurgatory(PurgatoryCalls):
    """Requests 0 .. K - 1, keys 0 .. J - 1, and the observed behaviour of each call."""

    S = const(8, at_least=2)        # sets of requests: 2 ** K
    ones = table(tuple(1 << request for request in range(60)))
    timeouts = table(TIMEOUTS)
    periods = table(PERIODS)

    left = array(upto(PurgatoryCalls.K), integer(0, max(TIMEOUTS)))
    rested = boolean(True)          # no request was completed since the reaper's round
    raised = boolean(False)         # a callback raised in the call that is judged next
    erred = boolean(False)          # … or in the last call
    refused = subset(upto(PurgatoryCalls.K))    # requests with a try that raised in the call
    muted = subset(upto(PurgatoryCalls.K))      # … with an onComplete that raised in the call
    fresh = subset(upto(PurgatoryCalls.K))      # requests put into the timer since the last round
    moved = integer(0, 2, init=2)   # required answer of the last round; 2: either

    def has(self, those: int, request: int) -> bool:
        """True if the request is in the set."""
        one: int = self.ones[request]
        return those // one % 2 == 1

    # --- calls about one request -----------------------------------------------------------

    @action(request=upto(PurgatoryCalls.K), keys=upto(PurgatoryCalls.J + 1),
            timeout=one_of(timeouts), meanwhile=upto(2), tries=upto(5), completed=upto(2),
            expired=upto(2), answer=upto(2), rests=(AT_ONCE, TRIGGERED))
    def made(
        self, request: int, keys: int, timeout: int, meanwhile: int, tries: int,
        completed: int, expired: int, answer: int,
    ) -> None:
        """try_complete_else_watch; ``meanwhile``: it becomes ready after its first try."""
        ready = request in self.ready
        self.make(request, keys, meanwhile)
        self.left[request] = self.timeouts[timeout]
        pending = self.phase[request] == Request.PENDING
        over = pending and self.left[request] == 0 and completed == 1     # by its timeout of 0
        require(completed == 0 or ready or meanwhile == 1 or over, FOUNDED)
        require(expired == 0 or over, EXPIRY)
        require(expired == 1 or not over or request in self.muted, TOLD)
        require(completed == 1 or not ready, AT_ONCE)
        require(completed == 1 or meanwhile == 0, TRIGGERED)
        require(answer == completed or over, RETURNED)
        require(tries <= 2, TWO_TRIES)
        self.rested = self.rested and completed == 0
        if over:
            self.expire(request)
            self.raised = False     # where the error of a timeout goes is not specified
        elif pending:
            self.fresh.add(request)
        self.forget_errors()

    @action(request=upto(PurgatoryCalls.K), completed=upto(2), expired=upto(2),
            answer=upto(2), rests=(FORCED,))
    def forced(self, request: int, completed: int, expired: int, answer: int) -> None:
        """force_complete, and its answer: whether it completed the request."""
        require(self.phase[request] != Request.NEW)
        require(completed == 0 or self.is_open(request), ONCE)
        require(expired == 0, EXPIRY)
        require(completed == 1 or not self.is_open(request), FORCED)
        require(answer == completed, RETURNED)
        self.complete(request)
        self.rested = self.rested and completed == 0
        self.forget_errors()

    @action(request=upto(PurgatoryCalls.K))
    def again(self, request: int) -> None:
        """A request is completed for the second time in one call."""
        require(False, ONCE)

    @action(request=upto(PurgatoryCalls.K))
    def disordered(self, request: int) -> None:
        """The expiry callback comes before completion, or twice, or in a call that is not about
        the request's timeout."""
        require(False, EXPIRY)

    @action(request=upto(PurgatoryCalls.K))
    def stray(self, request: int) -> None:
        """A request is completed by a call about another one."""
        require(not self.is_over(request), ONCE)
        require(False, FOUNDED)

    def is_over(self, request: int) -> bool:
        """True if the request is completed."""
        return self.phase[request] == Request.COMPLETED

    # --- errors ----------------------------------------------------------------------------

    @action(request=upto(PurgatoryCalls.K), callback=Callback)
    def raises(self, request: int, callback: Callback) -> None:
        """A callback of a request raises, in the call that is judged next."""
        self.raised = True
        if callback == Callback.TRY:
            self.refused.add(request)
        if callback == Callback.COMPLETE:
            self.muted.add(request)

    def forget_errors(self) -> None:
        """End of the call."""
        self.erred = self.raised
        self.raised = False
        for request in range(self.K):
            self.refused.discard(request)
            self.muted.discard(request)

    def complete_found(self, request: int) -> None:
        """A request is completed unless its try raised."""
        if request not in self.refused:
            self.complete(request)

    @action(arrived=upto(2))
    def told_of_error(self, arrived: int) -> None:
        """A callback raised in the last call; `arrived`: the caller got the error."""
        require(arrived == 1 or not self.erred, ERRORS_ARRIVE)

    # --- events, time ----------------------------------------------------------------------

    @action(key=upto(PurgatoryCalls.J), those=upto(S), count=upto(PurgatoryCalls.K + 2),
            rests=(TRIGGERED, EVENTS_GO_ON))
    def checked(self, key: int, those: int, count: int) -> None:
        """check_and_complete, which completed the requests `those` and returned `count`."""
        for request in range(self.K):
            hit = self.has(those, request)
            due = self.is_due(request, key)
            require(not hit or not self.is_over(request), ONCE)
            require(hit or not due or not self.raised, EVENTS_GO_ON)
            require(hit or not due, TRIGGERED)
            require(not hit or due, FOUNDED)
        hits = sum(self.has(those, request) for request in range(self.K))
        require(count == hits, COUNTED)
        if key in self.keys:
            self.check_and_complete(key)
        self.rested = self.rested and hits == 0
        self.forget_errors()

    def is_due(self, request: int, key: int) -> bool:
        """True if an event of the key has to complete the request."""
        return (self.is_open(request) and request in self.ready and request not in self.refused
                and key * self.K + request in self.watched)

    @action(by=one_of(periods), those=upto(S), expired=upto(S),
            rests=(IN_TIME, TIMEOUTS_GO_ON, TOLD))
    def advanced(self, by: int, those: int, expired: int) -> None:
        """Time passes; the requests `those` are completed, and `expired` got their expiry callback.
        """
        self.expect_answer(self.periods[by])
        for request in range(self.K):
            hit = self.has(those, request)
            due = self.phase[request] == Request.PENDING and self.left[request] <= self.periods[by]
            require(not hit or not self.is_over(request), ONCE)
            require(hit or not self.has(expired, request), EXPIRY)
            told = self.has(expired, request) or request in self.muted
            require(told or not hit, TOLD)
            require(hit or not due or not self.raised, TIMEOUTS_GO_ON)
            require(hit or not due, IN_TIME)
            require(not hit or due, FOUNDED)
            self.left[request] = max(0, self.left[request] - self.periods[by])
            if due:
                self.expire(request)
        self.rested = True
        self.forget_errors()

    def expect_answer(self, period: int) -> None:
        """Compute the required answer of a round.

        The later history of a request says nothing of its bucket, or of the bucket's place in a
        queue.
        """
        self.moved = 2
        if all(self.left[request] == 0 and request not in self.fresh for request in range(self.K)):
            self.moved = 0
        if any(
            self.left[request] <= period
            and (request in self.fresh
                 or 0 < self.left[request] and self.phase[request] == Request.PENDING)
            for request in range(self.K)
        ):
            self.moved = 1
        for request in range(self.K):
            self.fresh.discard(request)

    @action(answer=upto(2))
    def told_of_round(self, answer: int) -> None:
        """The answer of the last round: whether anything was due."""
        require(self.moved == 2 or answer == self.moved, MOVED)

    @action
    def reaped(self) -> None:
        """The round of a reaper that uses the estimate."""
        if self.has_to_purge():
            self.start_purge()
            for key in range(self.J):
                if key in self.to_purge:
                    self.purge(key)

    @action(key=upto(PurgatoryCalls.J), those=upto(S))
    def cancelled(self, key: int, those: int) -> None:
        """cancel_for_key, which completed the requests `those`."""
        require(those == 0, ABANDONED)
        if key in self.keys:
            self.abandon(key)

    # --- counts ----------------------------------------------------------------------------

    @action(count=upto(PurgatoryCalls.J * PurgatoryCalls.K + 2))
    def listed(self, count: int) -> None:
        """``watched``: the total length of all lists, for both designs."""
        pending = sum(
            self.phase[request] == Request.PENDING and key * self.K + request in self.wanted
            for request in range(self.K) for key in range(self.J))
        require(count >= pending, WATCHED)
        abandoned = any(phase == Request.ABANDONED for phase in self.phase)
        require(count <= pending + self.J * self.Q or not self.rested or abandoned, FEW_DEAD)
        require(count <= len(self.watched), LEAVING)

    @action(count=upto(PurgatoryCalls.J * PurgatoryCalls.K + 2))
    def listed_exactly(self, count: int) -> None:
        """``watched`` of a purgatory with an estimate."""
        require(count >= len(self.watched), REASON)

    @action(count=upto(PurgatoryCalls.K + 2))
    def delayed(self, count: int) -> None:
        """The size of the timer."""
        require(count <= len(self.timer), OUT_OF_TIMER)
        require(count >= len(self.timer), IN_TIMER)

    @action(count=upto(PurgatoryCalls.J * PurgatoryCalls.K + 2))
    def estimated(self, count: int) -> None:
        """The estimate. It is meaningless after the cancellation of a key."""
        usual = all(phase != Request.ABANDONED for phase in self.phase)
        require(count >= self.distinct() or not usual, NOT_LOW)
        require(count <= len(self.timer) + self.done or not usual, NOT_HIGH)

    @action(count=upto(PurgatoryCalls.J + 2))
    def keyed(self, count: int) -> None:
        """The number of keys with a list."""
        pending = sum(any(
            self.phase[request] == Request.PENDING and key * self.K + request in self.wanted
            for request in range(self.K)) for key in range(self.J))
        require(count >= pending, WATCHED)
        require(count <= len(self.keys), NO_EMPTY_KEYS)


EXPECTATIONS = ()
"""By itself it promises nothing: what is tied to it is in the chapters ``…_seen``."""
