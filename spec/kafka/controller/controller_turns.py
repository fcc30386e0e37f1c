"""Mutual exclusion in a controller: beginning, callbacks, elections, resignation.

Theory of operation
-------------------
A controller begins in steps, each of which needs the earlier ones:

    1 raise the epoch     2 watch, and read all     3 start the replicas' states
    4 start the partitions' states, and elect       5 operators' requests

Meanwhile things change, and its watches *call back*. A callback reads the controller's knowledge;
in the middle of a beginning that is incomplete. So callbacks wait. Until 0.11 they waited for a
lock; since then they are events in one queue, and the beginning is one of these events. A
controller that resigns removes its watches, otherwise each of them calls as often as the controller
has begun, and clears its knowledge, otherwise the next beginning finds states of the last.

``Turns`` has the beginning and the callbacks; ``Sessions`` has the lock at the end of a session:
the thread that handles that may wait for the queue only if it holds nothing that the queue waits
for.

N bounds how often a broker is elected, E the events.

Source: kafka#controller-start; KAFKA-840, KAFKA-1134, KAFKA-1578, KAFKA-4229, KAFKA-5028,
KAFKA-6879.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, SHOULD, Machine, action, always, boolean, choice, const, integer, leads_to,
    never_stuck, require,
)

__all__ = [
    "EXPECTATIONS", "ActingAsNone", "CallingBackAtOnce", "ForgettingNothing", "Holder",
    "KeepingTheWatches", "Sessions", "Turns", "WaitingWithTheLock", "WishesFirst",
]

START = "kafka#controller-start"
BEGUN = 5


class Turns(Machine):
    """One broker's controller, its watches, and their events."""

    N = const(2, at_least=1)                # terms
    E = const(2, at_least=1)                # events

    begun = integer(0, BEGUN)               # finished steps of the beginning; 0: no controller
    terms = integer(0, N)
    watches = integer(0, N)                 # watches that are set
    states = boolean()                      # the states of partitions have been started
    wish = boolean(True)                    # an operator requests a preferred leader
    led = boolean()                         # … and the preferred replica leads

    happened = integer(0, E)
    waiting = integer(0, E)                 # unhandled events
    doubly = boolean()                      # an event was handled by more than one callback
    half = boolean()                        # … or by one with incomplete knowledge
    stale = boolean()                       # a beginning has found states of another term
    usurped = boolean()                     # an event was handled without being the controller

    @action
    def be_elected(self) -> None:
        """The broker is the controller: it raises the epoch."""
        require(self.begun == 0 and self.terms < self.N)
        self.terms += 1
        self.begun = 1

    @action(fair=True)
    def begin(self) -> None:
        """The next step of the beginning."""
        require(0 < self.begun < BEGUN)
        if self.begun == self.wishes_at():
            self.carry_out()
        if self.begun == 1:
            self.watches += 1
        elif self.begun == 3:
            self.stale = self.stale or self.states
            self.states = True
        self.begun += 1

    def wishes_at(self) -> int:
        """The step after which operators' requests are read."""
        return 4

    def carry_out(self) -> None:
        """The request is removed; it has an effect if there are states to change."""
        if self.wish:
            self.led = self.states
        self.wish = False

    @action
    def happen(self) -> None:
        """Something that is watched changes."""
        require(self.watches > 0 and self.happened < self.E)
        self.happened += 1
        self.waiting += 1

    @action(fair=True)
    def call_back(self) -> None:
        """The controller handles an event; a broker that is not the controller ignores it."""
        require(self.waiting > 0 and self.may_call_back())
        self.waiting -= 1
        self.half = self.half or 0 < self.begun < BEGUN
        self.doubly = self.doubly or (self.begun > 0 and self.watches > 1)
        self.usurped = self.usurped or (self.begun == 0 and self.acts_as_none())

    def acts_as_none(self) -> bool:
        """True if a broker that is not the controller acts on an event."""
        return False

    def may_call_back(self) -> bool:
        """False while the controller begins."""
        return self.begun == 0 or self.begun == BEGUN

    @action
    def resign(self) -> None:
        """Its session is over, or there is another controller. Waiting events are dropped."""
        require(self.begun == BEGUN)
        self.begun = 0
        self.waiting = 0
        self.take_back()
        self.forget()

    def take_back(self) -> None:
        """Its watches are removed."""
        self.watches = 0

    def forget(self) -> None:
        """Its states are cleared."""
        self.states = False

    @always("KAFKA-C111", MUST,
            "Between a broker's election as controller and the last step of its beginning, no "
            "callback of its watches runs.",
            source=f"{START}; KAFKA-1134, KAFKA-5028")
    def it_begins_alone(self) -> bool:
        """It would act on incomplete knowledge."""
        return not self.half

    @always("KAFKA-C112", MUST,
            "A request for a preferred leader is removed only after the election that it asks "
            "for was tried.",
            source=f"{START}; KAFKA-840")
    def wishes_come_last(self) -> bool:
        """Otherwise the request is gone without an effect."""
        return self.wish or self.led

    @always("KAFKA-C113", SHOULD,
            "A controller handles each event of its watches only once, however often its broker "
            "was elected before.",
            source=f"{START}; KAFKA-1578")
    def watches_are_taken_back(self) -> bool:
        """A controller that resigns removes its watches."""
        return not self.doubly

    @always("KAFKA-C114", MUST,
            "When a broker begins as controller, it holds no partition or replica states of an "
            "earlier term.",
            source=f"{START}; KAFKA-4229")
    def it_begins_anew(self) -> bool:
        """States that exist already cannot be started."""
        return not self.stale

    @always("KAFKA-C117", MUST,
            "A broker that is not the controller acts on no event of its watches.",
            source="001#states; kafka#controller-start")
    def only_the_controller_acts(self) -> bool:
        """Every broker has the state machines, and only the controller's run."""
        return not self.usurped

    @leads_to("KAFKA-C115", MUST,
              "A controller that is beginning or has waiting events eventually has finished its "
              "beginning or resigned, with no event waiting.",
              source=START)
    def it_begins(self) -> tuple[bool, bool]:
        """Resignation ends the obligation."""
        return (self.begun > 0 and (self.begun < BEGUN or self.waiting > 0),
                self.begun in (0, BEGUN) and self.waiting == 0)


class CallingBackAtOnce(Turns):
    """Callbacks take no lock (KAFKA-1134)."""

    def may_call_back(self) -> bool:
        """Callbacks need not wait."""
        return True


class WishesFirst(Turns):
    """Requests are read before there are states (KAFKA-840)."""

    def wishes_at(self) -> int:
        """After everything has been read."""
        return 2


class KeepingTheWatches(Turns):
    """A controller that resigns does not remove its watches (KAFKA-1578)."""

    def take_back(self) -> None:
        """The watches remain set."""
        return


class ForgettingNothing(Turns):
    """A controller that resigns keeps its states (KAFKA-4229)."""

    def forget(self) -> None:
        """The states remain after the resignation."""
        return


class ActingAsNone(KeepingTheWatches):
    """A controller that has resigned acts on the events of its watches."""

    def acts_as_none(self) -> bool:
        """It does not test whether it is the controller."""
        return True


class Holder(IntEnum):
    """Holders of the lock of the coordination service's client."""

    NOBODY = 0
    SESSIONS = 1        # the thread that handles the end of a session
    QUEUE = 2           # an event that queries the service


class Sessions(Machine):
    """The thread that handles sessions, and the queue's: both use one client, with one lock."""

    E = const(2, at_least=1)                # events before the end of the session

    waiting = integer(0, E, init=E)         # events in the queue, each of which queries the service
    lock = choice(Holder)
    is_over = boolean()                     # the session is
    told = boolean()                        # the queue has an event for that …
    handled = boolean()                     # … which has been handled
    renewed = boolean()                     # there is another session

    @action(fair=True)
    def take(self) -> None:
        """The queue's thread begins with an event: it queries the service, under the lock."""
        require(self.lock == Holder.NOBODY and self.waiting > 0)
        self.lock = Holder.QUEUE

    @action(fair=True)
    def answer(self) -> None:
        """The event is done."""
        require(self.lock == Holder.QUEUE)
        self.waiting -= 1
        self.lock = Holder.NOBODY

    @action
    def end(self) -> None:
        """The session ends: an event for that enters the queue."""
        require(not self.is_over and self.may_tell())
        self.is_over = True
        self.told = True
        self.lock = self.while_waiting()

    def may_tell(self) -> bool:
        """True: nothing is needed for that."""
        return True

    def while_waiting(self) -> Holder:
        """The holder of the lock while the thread waits for the queue: unchanged."""
        return self.lock

    @action(fair=True)
    def see_to_it(self) -> None:
        """The queue reaches the event: the controller resigns."""
        require(self.told and not self.handled and self.waiting == 0)
        self.handled = True

    @action(fair=True)
    def renew(self) -> None:
        """Then a new session begins."""
        require(self.handled and not self.renewed)
        require(self.lock == Holder.NOBODY or self.lock == Holder.SESSIONS)
        self.renewed = True
        self.lock = Holder.NOBODY

    @never_stuck("KAFKA-C116", MUST,
                 "Handling the end of a session never deadlocks: when no thread can continue, "
                 "the controller's event queue is empty, and a session that has ended was "
                 "followed by another.",
                 source=f"{START}; KAFKA-6879")
    def nobody_waits_for_ever(self) -> bool:
        """Quiescent only when everything is done."""
        return self.waiting == 0 and self.is_over == self.renewed


class WaitingWithTheLock(Sessions):
    """The end of a session is handled under the lock (KAFKA-6879)."""

    def may_tell(self) -> bool:
        """True when the lock is free."""
        return self.lock == Holder.NOBODY

    def while_waiting(self) -> Holder:
        """The thread that waits for the queue."""
        return Holder.SESSIONS


RULES = tuple(f"KAFKA-C{number}" for number in (*range(111, 116), 117))

EXPECTATIONS = (
    *(expect(Turns, rule, "holds", "one task at a time", N=2, E=2) for rule in RULES),
    *(expect(variant, rule, "violated", about, N=2, E=2) for variant, rule, about in (
        (CallingBackAtOnce, "KAFKA-C111", "a callback with incomplete knowledge (KAFKA-1134)"),
        (WishesFirst, "KAFKA-C112", "the request is gone (KAFKA-840)"),
        (KeepingTheWatches, "KAFKA-C113", "watches of two terms call (KAFKA-1578)"),
        (ActingAsNone, "KAFKA-C117", "a controller that has resigned acts on an event"),
        (ForgettingNothing, "KAFKA-C114", "states of the last term exist (KAFKA-4229)"),
    )),
    expect(Sessions, "KAFKA-C116", "holds", "it waits without a lock", E=(1, 2)),
    expect(WaitingWithTheLock, "KAFKA-C116", "violated", "the queue waits for the lock "
           "(KAFKA-6879)",
           E=(1, 2)),
)

UNSEEN = {
    "KAFKA-C111":
        "A callback's knowledge is internal to the controller; the port sends one batch at a time.",
    "KAFKA-C113":
        "Watches are internal to the controller, and an event that is handled twice has no effect "
        "the second time, if the batch is legal.",
    "KAFKA-C114":
        "Each session of the port is of a controller that begins.",
}
