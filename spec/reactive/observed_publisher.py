"""A publisher, as its subscribers see it.

Theory. A publisher and its subscribers call each other. A subscriber sees its own calls (subscribe,
request, cancel) and the signals that the publisher sends it, and it sees both the beginning and the
end of each: a signal that has not returned is *open*. A signal that begins within an open one, on
the same thread, is one level deeper, which RS-3.3 bounds. A signal is *held* if the observer keeps
it open and calls the publisher from elsewhere: whatever is signalled meanwhile overlaps (RS-1.3).

What the specification demands "eventually" is demanded here of a *quiescent* publisher: its work is
done until it is called again. Time does not come into it. A cancelled subscription may be followed
by L signals that were under way, and by none once the publisher was quiescent.

Demand is kept as the number of elements that the subscriber may have received so far, ``allowed``.
Demand beyond the elements of the source makes no difference, except that it requests the end as
well. So no number is large, whatever was requested.

A second subscriber may be refused with an onError (the specification's 1.11). The failure of a
source may be noticed before its elements have come.

Source: ``specification``; reactive#specification.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, boolean, choice, const, integer, require, upto,
)
from .rules import (
    ADDS_UP, BAD_ARGUMENT, CANCELLED_TWICE, CANCEL_IS_QUICK, CANCEL_RETURNS, COMPLETES, DEPTH,
    ENDED_IS_CANCELLED, FAILS, IN_ORDER, LETS_GO, NO_MORE_THAN_ASKED, NO_SIGNAL_AFTER, ONCE,
    REENTRANT, REQUEST_AFTER, REQUEST_IS_QUICK, REQUEST_RETURNS, SERIAL, STOPS, SUBSCRIBES,
    UNBOUNDED,
)

__all__ = ["EXPECTATIONS", "Cause", "Late", "ObservedPublisher", "Phase"]


class Phase(IntEnum):
    """State of a subscriber's subscription."""

    NEW = 0             # subscribe was not called
    CALLED = 1          # subscribe was called, onSubscribe was not
    ON = 2              # it has its subscription
    ENDED = 3           # onComplete or onError has come


class Cause(IntEnum):
    """Reason that an onError gives."""

    FAILURE = 0         # the source has failed
    ARGUMENT = 1        # a request was for less than one
    OTHER = 2           # anything else


class Late(IntEnum):
    """The call made on a subscription after it was cancelled and the publisher was quiescent."""

    NOTHING = 0
    REQUEST = 1
    CANCEL = 2


class ObservedPublisher(Machine):
    """S independent subscribers; a source with N elements, which then ends or fails."""

    S = const(2, at_least=1)            # subscribers
    N = const(3, at_least=1)            # elements of the source
    X = const(0, at_most=1)             # 1: after these the source fails
    D = const(4, at_least=1)            # elements of one subscriber that may be open at a time
    L = const(1)                        # signals that may come after a cancel, until quiescence

    phase = array(upto(S), choice(Phase, Phase.NEW))
    allowed = array(upto(S), integer(0, N + 1))     # requested so far, the end as one more
    sent = array(upto(S), integer(0, N))            # elements signalled so far
    held = array(upto(S), boolean(False))           # a signal to it is kept open
    cancelled = array(upto(S), boolean(False))
    rested = array(upto(S), boolean(False))         # quiescent since its cancel or its end
    behind = array(upto(S), integer(0, L))          # signals since it was cancelled
    late = array(upto(S), choice(Late, Late.NOTHING))
    wrong = array(upto(S), boolean(False))          # it has requested less than one
    within = array(upto(S), boolean(False))         # what is owed was requested in a signal
    vast = array(upto(S), boolean(False))           # it has requested 2^63 - 1

    # --- calls of the subscriber -------------------------------------------------------------

    @action(s=upto(S))
    def subscriber(self, s: int) -> None:
        """The publisher is asked to signal to it."""
        require(self.phase[s] == Phase.NEW)
        self.phase[s] = Phase.CALLED

    @action(s=upto(S), n=upto(N + 2))
    def asks(self, s: int, n: int) -> None:
        """It requests n elements, from outside of its signals."""
        require(self.phase[s] >= Phase.ON)
        self.note_request(s, n)

    @action(s=upto(S), n=upto(N + 2))
    def asks_within(self, s: int, n: int) -> None:
        """It requests n elements from within a signal."""
        require(self.phase[s] >= Phase.ON)
        self.note_request(s, n)
        self.within[s] = self.owes(s)

    @action(s=upto(S))
    def asks_for_all(self, s: int) -> None:
        """It requests 2^63 - 1."""
        require(self.phase[s] >= Phase.ON)
        self.note_request(s, self.N + 1)
        self.vast[s] = True

    @action(s=upto(S))
    def cancel(self, s: int) -> None:
        """It cancels, perhaps again."""
        require(self.phase[s] >= Phase.ON)
        if self.cancelled[s] and self.rested[s]:
            self.late[s] = Late.CANCEL
        self.cancelled[s] = True

    @action(s=upto(S))
    def hold(self, s: int) -> None:
        """The signal that is open does not return for the time being."""
        self.held[s] = True

    @action(s=upto(S))
    def release(self, s: int) -> None:
        """The signal that is open returns."""
        self.held[s] = False

    # --- steps of the publisher --------------------------------------------------------------

    @action(s=upto(S))
    def on_subscribe(self, s: int) -> None:
        """The subscriber gets its subscription."""
        require(self.phase[s] != Phase.NEW)
        require(self.phase[s] == Phase.CALLED, ONCE)
        require(not self.held[s], SERIAL)
        self.phase[s] = Phase.ON

    @action(s=upto(S), deep=upto(D + 1))
    def on_next(self, s: int, deep: int) -> None:
        """The next element of the source, within ``deep`` onNext calls that have not returned."""
        self.note_element(s, deep)

    def note_element(self, s: int, deep: int) -> None:
        """Check an element against the rules, and count it."""
        self.may_signal(s)
        require(self.sent[s] < self.there(), IN_ORDER)
        require(self.sent[s] < self.allowed[s], NO_MORE_THAN_ASKED)
        require(deep < self.D, DEPTH)
        self.note_signal(s)
        self.sent[s] += 1
        self.within[s] = self.within[s] and self.owes(s)

    @action(s=upto(S))
    def on_next_other(self, s: int) -> None:
        """An element out of order, a duplicate, or one that the source does not have."""
        self.may_signal(s)
        require(self.sent[s] < self.allowed[s], NO_MORE_THAN_ASKED)
        require(False, IN_ORDER)

    @action(s=upto(S))
    def on_complete(self, s: int) -> None:
        """All elements are signalled, and the source has ended."""
        self.may_signal(s)
        require(not self.fails(), FAILS)
        require(self.is_over() and self.sent[s] == self.there(), IN_ORDER)
        self.note_signal(s)
        self.phase[s] = Phase.ENDED

    @action(s=upto(S), cause=Cause)
    def on_error(self, s: int, cause: int) -> None:
        """The source has failed, or the subscriber made an illegal request or is one too many."""
        self.may_signal(s)
        # Even if the publisher was not quiescent since the cancel: no earlier call explains it.
        require(not self.cancelled[s] or self.wrong[s] or cause != Cause.ARGUMENT, REQUEST_AFTER)
        require(not self.wrong[s] or cause == Cause.ARGUMENT or self.fails(), BAD_ARGUMENT)
        require(self.has_cause(s, cause), COMPLETES)
        self.note_signal(s)
        self.phase[s] = Phase.ENDED

    @action(s=upto(S))
    def call_returns(self, s: int) -> None:
        """A call from outside of signals returns normally."""

    @action(s=upto(S))
    def subscribe_raises(self, s: int) -> None:
        """The call of subscribe raises an exception."""
        require(False, SUBSCRIBES)

    @action
    def refuses_nobody(self) -> None:
        """A subscriber that is null is refused by an exception."""

    @action
    def takes_nobody(self) -> None:
        """A subscriber that is null is subscribed without an exception."""
        require(False, SUBSCRIBES)

    @action(s=upto(S))
    def request_raises(self, s: int) -> None:
        """A request from outside of signals ends with an exception."""
        require(False, REQUEST_RETURNS)

    @action(s=upto(S))
    def request_within_raises(self, s: int) -> None:
        """A request from within a signal ends with an exception."""
        require(False, REENTRANT)

    @action(s=upto(S), rests=True)
    def request_waits(self, s: int) -> None:
        """A request does not return while a signal is held."""
        require(False, REQUEST_IS_QUICK)

    @action(s=upto(S))
    def cancel_raises(self, s: int) -> None:
        """A cancel ends with an exception."""
        require(False, CANCEL_RETURNS)

    @action(s=upto(S), rests=True)
    def cancel_waits(self, s: int) -> None:
        """A cancel does not return while a signal is held."""
        require(False, CANCEL_IS_QUICK)

    @action(s=upto(S))
    def refers(self, s: int) -> None:
        """The publisher still refers to a subscriber."""
        require(not (self.cancelled[s] and self.rested[s]), LETS_GO)
        require(not (self.phase[s] == Phase.ENDED and self.rested[s]), ENDED_IS_CANCELLED)

    @action(s=upto(S), rests=True)
    def rests(self, s: int) -> None:
        """The publisher is quiescent: no signal comes for a subscriber until it is called again."""
        self.note_rest(s)

    def note_rest(self, s: int) -> None:
        """Check what a quiescent publisher must have done, and record the quiescence."""
        require(not self.held[s])
        require(self.phase[s] != Phase.CALLED, SUBSCRIBES)
        if self.is_on(s):
            require(not self.wrong[s], BAD_ARGUMENT)
            require(not (self.owes(s) and self.vast[s]), UNBOUNDED)
            require(not (self.owes(s) and self.within[s]) or self.vast[s], REENTRANT)
            require(not self.owes(s) or self.vast[s] or self.within[s], ADDS_UP)
            require(not (self.end_is_due(s) and self.fails()), FAILS)
            require(not self.end_is_due(s), COMPLETES)
        self.rested[s] = self.cancelled[s] or self.phase[s] == Phase.ENDED
        self.late[s] = Late.NOTHING

    # --- derived values ----------------------------------------------------------------------

    def may_signal(self, s: int) -> None:
        """Check the rules that hold for every signal but onSubscribe."""
        require(self.phase[s] != Phase.NEW)
        require(self.phase[s] != Phase.CALLED, SUBSCRIBES)
        require(self.phase[s] != Phase.ENDED, NO_SIGNAL_AFTER)
        require(self.late[s] != Late.REQUEST, REQUEST_AFTER)
        require(self.late[s] != Late.CANCEL, CANCELLED_TWICE)
        require(not self.is_silent(s) or self.late[s] != Late.NOTHING, STOPS)
        require(not self.held[s], SERIAL)

    def note_signal(self, s: int) -> None:
        """Count a signal that comes after a cancel."""
        if self.cancelled[s] and self.behind[s] < self.L:
            self.behind[s] += 1

    def note_request(self, s: int, n: int) -> None:
        """Count a request, unless the subscription is over."""
        if self.cancelled[s] or self.phase[s] == Phase.ENDED:
            if self.cancelled[s] and self.rested[s]:
                self.late[s] = Late.REQUEST
        elif n == 0:
            self.wrong[s] = True
        else:
            self.allowed[s] = min(self.N + 1, self.allowed[s] + n)

    def is_silent(self, s: int) -> bool:
        """True if it has cancelled, and no signal can be under way any more."""
        return self.cancelled[s] and (self.rested[s] or self.behind[s] >= self.L)

    def is_on(self, s: int) -> bool:
        """True if it has its subscription, and has neither cancelled nor ended."""
        return self.phase[s] == Phase.ON and not self.cancelled[s]

    def owes(self, s: int) -> bool:
        """True if an element was requested, exists, and was not signalled."""
        return self.sent[s] < self.allowed[s] and self.sent[s] < self.there()

    def there(self) -> int:
        """Number of elements that the source has produced so far."""
        return self.N

    def is_over(self) -> bool:
        """True if the source produces no more elements."""
        return True

    def fails(self) -> bool:
        """True if the source has failed, or will fail after its elements."""
        return self.X == 1

    def end_is_due(self, s: int) -> bool:
        """True if all elements were signalled, and more was requested than there is."""
        return self.allowed[s] > self.N and self.sent[s] == self.N

    def has_cause(self, s: int, cause: int) -> bool:
        """True if the reason that an onError gives is true."""
        if cause == Cause.FAILURE:
            return self.fails()
        if cause == Cause.ARGUMENT:
            return self.wrong[s]
        return any(self.phase[other] >= Phase.ON for other in upto(self.S) if other != s)

    @always("RS-0.3", MUST, "No subscriber receives more elements than it has requested.",
            source="reactive#R1-1", s=upto(S))
    def sent_is_allowed(self, s: int) -> bool:
        """Compare the elements sent with all that was ever requested."""
        return self.sent[s] <= self.allowed[s]


EXPECTATIONS = (
    expect(ObservedPublisher, "RS-0.3", "holds", "every accepted element was requested",
           S=1, N=(1, 2), X=(0, 1), D=2),
)
