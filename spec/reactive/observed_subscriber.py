"""A subscriber, as its publisher sees it.

Theory. The observer is the publisher: it hands over a subscription, signals what was requested, and
sees what the subscriber calls. It also drives the application behind the subscriber, which
processes one element each time that the observer asks it to, and may *stop*. So the observer can
distinguish the processing of an element from the signal that brings it (RS-2.2): the work is done
within its onNext, or afterwards.

A call of the subscription is *held* if the observer keeps it from returning; whatever the
subscriber calls meanwhile overlaps (RS-2.7). A quiescent subscriber does nothing more by itself: so
one that is not done, and has processed everything, must have requested more (RS-2.1).

A subscriber has a buffer of C elements. It may request as many as fit, by any strategy: all at
once, in batches, or one by one.

Source: ``specification``; reactive#specification; reactive#ours.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, boolean, choice, const, integer, require, upto,
)
from .rules import (
    BOUNDED, CALLS_ARE_SERIAL, CANCELS, KEEPS_ONE, NOT_IN_THE_END, NOT_IN_THE_SIGNAL, REQUESTS,
    SIGNAL_RETURNS, TAKES_COMPLETE, TAKES_ERROR, TAKES_LATE, VISIBLE, WITHOUT_END,
)

__all__ = ["EXPECTATIONS", "ObservedSubscriber", "Other", "Subscribing", "Within"]


class Within(IntEnum):
    """The signal that has not returned, if any."""

    NONE = 0
    SUBSCRIBE = 1
    NEXT = 2
    COMPLETE = 3
    ERROR = 4


class Other(IntEnum):
    """A second subscription that the subscriber is given."""

    NONE = 0
    GIVEN = 1
    CANCELLED = 2


class Subscribing(Machine):
    """The holder of a subscription, with a buffer of C elements."""

    C = const(2, at_least=1)            # slots of the subscriber's buffer

    on = boolean(False)                 # it has its subscription
    within = choice(Within, Within.NONE)
    asked = integer(0, C)               # requested, and not signalled
    W = integer(0, C)                   # elements that wait at the subscriber
    cancelled = boolean(False)          # by the subscriber
    stopped = boolean(False)            # its application needs no more
    completed = boolean(False)          # onComplete has come
    failed = boolean(False)             # onError has come
    told = boolean(False)               # the application knows of the end
    other = choice(Other, Other.NONE)
    held = boolean(False)               # a call of the subscription has not returned

    # --- signals ---------------------------------------------------------------------------

    @action
    def subscribe(self) -> None:
        """It receives its subscription."""
        require(not self.on)
        self.on = True
        self.within = Within.SUBSCRIBE

    @action
    def subscribe_again(self) -> None:
        """It receives a second subscription although it has one."""
        require(self.on and self.other == Other.NONE)
        self.other = Other.GIVEN
        self.within = Within.SUBSCRIBE

    @action
    def next(self) -> None:
        """An element that it has requested, perhaps one that was under way when it cancelled."""
        require(self.on and self.asked > 0 and not self.is_over())
        self.within = Within.NEXT
        self.asked -= 1
        if self.takes():
            self.W += 1

    @action
    def complete(self) -> None:
        """There are no more elements."""
        require(self.on and not self.is_over())
        self.within = Within.COMPLETE
        self.completed = True

    @action
    def error(self) -> None:
        """The publisher has failed."""
        require(self.on and not self.is_over())
        self.within = Within.ERROR
        self.failed = True

    @action
    def signal_returns(self) -> None:
        """The signal has returned normally."""
        self.within = Within.NONE

    @action
    def signal_raises(self) -> None:
        """The signal ends with an exception."""
        require(self.within != Within.NEXT or self.takes(), TAKES_LATE)
        require(self.within != Within.COMPLETE, TAKES_COMPLETE)
        require(self.within != Within.ERROR, TAKES_ERROR)
        late = self.within == Within.NEXT and not self.takes()
        require(late or self.within >= Within.COMPLETE, SIGNAL_RETURNS)

    @action
    def refuses_null(self) -> None:
        """A signal with null in it ends with an exception."""

    @action
    def takes_null(self) -> None:
        """A signal with null in it ends without an exception."""
        require(False, SIGNAL_RETURNS)

    @action
    def stop(self) -> None:
        """The application needs no more elements."""
        require(not self.stopped)
        self.stopped = True

    # --- calls of the subscriber -----------------------------------------------------------

    @action(n=upto(C + 2))
    def requests(self, n: int) -> None:
        """It requests n elements."""
        self.may_call()
        require(not self.is_over(), WITHOUT_END)
        require(n > 0, REQUESTS)
        require(self.cancelled or self.asked + self.W + n <= self.C, BOUNDED)
        if not self.cancelled:
            self.asked += n

    @action
    def cancels(self) -> None:
        """It cancels, perhaps again."""
        self.may_call()
        self.cancelled = True

    @action
    def requests_other(self) -> None:
        """It requests elements from the second subscription."""
        require(False, KEEPS_ONE)

    @action
    def cancels_other(self) -> None:
        """It cancels the second subscription."""
        require(self.within < Within.COMPLETE, NOT_IN_THE_END)
        require(self.other != Other.NONE)
        self.other = Other.CANCELLED

    @action
    def hold_call(self) -> None:
        """The call does not return for the time being."""
        self.held = True

    @action
    def release_call(self) -> None:
        """The call that is open returns."""
        self.held = False

    @action(rests=True)
    def comes_to_rest(self) -> None:
        """The subscriber is quiescent: it does nothing more by itself."""
        require(not self.held)
        require(self.other != Other.GIVEN, KEEPS_ONE)
        require(not self.completed or self.is_heard(), TAKES_COMPLETE)
        require(not self.failed or self.is_heard(), TAKES_ERROR)
        if self.on and not self.is_over():
            require(not self.stopped or self.cancelled, CANCELS)
            require(self.stopped or not self.wants() or not self.cancelled, REQUESTS)
            require(not self.is_idle() or self.asked > 0, REQUESTS)

    # --- derived values --------------------------------------------------------------------

    def may_call(self) -> None:
        """Check the rules that hold for every call of a subscription."""
        require(self.within < Within.COMPLETE, NOT_IN_THE_END)
        require(not self.held, CALLS_ARE_SERIAL)

    def is_over(self) -> bool:
        """True if the publisher has signalled its end."""
        return self.completed or self.failed

    def takes(self) -> bool:
        """True if the application still takes the elements that come."""
        return not (self.cancelled or self.stopped)

    def wants(self) -> bool:
        """True if the application wants elements."""
        return True

    def is_heard(self) -> bool:
        """True if the application knows of the end, need not know, or has elements to process
        first."""
        return self.told or self.W > 0 or self.stopped or not self.wants()

    def is_idle(self) -> bool:
        """True if it has processed everything, and is not done."""
        return self.wants() and self.takes() and self.W == 0

    @always("RS-0.8", MUST, "While a subscriber wants elements and has not cancelled, the "
            "elements that it has requested and not yet processed fit its buffer.",
            source="reactive#ours")
    def what_comes_fits(self) -> bool:
        """Elements that wait, plus elements that may still come, fit C slots."""
        return self.cancelled or self.stopped or self.asked + self.W <= self.C


class ObservedSubscriber(Subscribing):
    """A subscriber with an application, which processes the elements."""

    # --- the application -------------------------------------------------------------------

    @action
    def process(self) -> None:
        """The application is asked to process an element."""

    @action
    def consumes(self) -> None:
        """The oldest element that waits is processed."""
        require(self.within != Within.NEXT, NOT_IN_THE_SIGNAL)
        require(self.W > 0, VISIBLE)
        self.W -= 1

    @action(rests=True)
    def consumes_nothing(self) -> None:
        """There is nothing to process."""
        require(self.W == 0 or not self.takes() or self.failed, VISIBLE)

    @action
    def consumes_another(self) -> None:
        """It processes an element out of order, twice, or one that was not signalled."""
        require(False, VISIBLE)

    @action
    def finishes(self) -> None:
        """The application is notified of the normal end of the stream, by onComplete."""
        require(self.completed and self.W == 0, TAKES_COMPLETE)
        self.told = True

    @action
    def breaks_off(self) -> None:
        """The application is notified that the publisher has failed."""
        require(self.failed, TAKES_ERROR)
        self.told = True
        self.W = 0


EXPECTATIONS = (
    expect(ObservedSubscriber, "RS-0.8", "holds", "what was requested fits", C=(1, 2, 3)),
)
