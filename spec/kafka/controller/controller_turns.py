"""Who may do something in a controller at a time: beginning, callbacks, elections, resigning.

Theory of operation
-------------------
A controller begins in an order, each step of which needs those before it:

    1 raise the epoch     2 watch, and read all     3 start the replicas' states
    4 start the partitions' states, and elect       5 what operators have wished for

Meanwhile things change, and its watches *call back*. A callback looks at what the controller knows;
in the middle of a beginning that is half of it. So callbacks wait. Until 0.11 they waited for a
lock, since then they are events in one queue, of which the beginning is one, too. A controller that
resigns takes back its watches, else each of them calls as often as the controller has begun, and
forgets what it knows, else the next beginning finds states of the last.

``Turns`` has the beginning and the callbacks; ``Sessions`` has what happened with the lock when a
session ended: whoever handles that may wait for the queue only when it holds nothing that the queue
wants.

N bounds how often a broker is elected, E the events.

Source: kafka#controller-start; KAFKA-840, KAFKA-1134, KAFKA-1578, KAFKA-4229, KAFKA-5028,
KAFKA-6879."""

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
    """One broker's controller, its watches, and what they are told of."""

    N = const(2, at_least=1)                # terms
    E = const(2, at_least=1)                # events

    begun = integer(0, BEGUN)               # steps of the beginning that are done; 0: no controller
    terms = integer(0, N)
    watches = integer(0, N)                 # that are set, and call back
    states = boolean()                      # the states of partitions have been started
    wish = boolean(True)                    # an operator's, for a preferred leader
    led = boolean()                         # … and that one leads

    happened = integer(0, E)
    waiting = integer(0, E)                 # events that have not been seen to
    doubly = boolean()                      # one was seen to by more than one callback
    half = boolean()                        # … or by one that saw half of what there is
    stale = boolean()                       # a beginning has found states of another term
    usurped = boolean()                     # an event was seen to by who is no controller

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
        """After which step wishes are looked at."""
        return 4

    def carry_out(self) -> None:
        """The wish is gone; it has an effect if there are states to be changed."""
        if self.wish:
            self.led = self.states
        self.wish = False

    @action
    def happen(self) -> None:
        """Something changes that is watched."""
        require(self.watches > 0 and self.happened < self.E)
        self.happened += 1
        self.waiting += 1

    @action(fair=True)
    def call_back(self) -> None:
        """The controller sees to an event; whoever is none does nothing."""
        require(self.waiting > 0 and self.may_call_back())
        self.waiting -= 1
        self.half = self.half or 0 < self.begun < BEGUN
        self.doubly = self.doubly or (self.begun > 0 and self.watches > 1)
        self.usurped = self.usurped or (self.begun == 0 and self.acts_as_none())

    def acts_as_none(self) -> bool:
        """Whether who is no controller acts on an event."""
        return False

    def may_call_back(self) -> bool:
        """Not while it begins."""
        return self.begun == 0 or self.begun == BEGUN

    @action
    def resign(self) -> None:
        """Its session is over, or another one is the controller. What happened waits no more."""
        require(self.begun == BEGUN)
        self.begun = 0
        self.waiting = 0
        self.take_back()
        self.forget()

    def take_back(self) -> None:
        """Its watches call no more."""
        self.watches = 0

    def forget(self) -> None:
        """It knows no states."""
        self.states = False

    @always("KAFKA-C111", MUST, "No callback runs while a controller begins.",
            source=f"{START}; KAFKA-1134, KAFKA-5028")
    def it_begins_alone(self) -> bool:
        """It would see half of what there is, and act by that."""
        return not self.half

    @always("KAFKA-C112", MUST, "Wishes for preferred leaders are carried out when there are "
            "states to be changed.", source=f"{START}; KAFKA-840")
    def wishes_come_last(self) -> bool:
        """Else the wish is gone, and nothing has happened."""
        return self.wish or self.led

    @always("KAFKA-C113", SHOULD, "An event is seen to once, however often a broker was elected.",
            source=f"{START}; KAFKA-1578")
    def watches_are_taken_back(self) -> bool:
        """Whoever resigns takes back its watches."""
        return not self.doubly

    @always("KAFKA-C114", MUST, "A controller that begins knows nothing of the last term.",
            source=f"{START}; KAFKA-4229")
    def it_begins_anew(self) -> bool:
        """States that are there already cannot be started."""
        return not self.stale

    @always("KAFKA-C117", MUST, "Only who is the controller acts on what has happened.",
            source="001#states; kafka#controller-start")
    def only_the_controller_acts(self) -> bool:
        """Every broker has the state machines, and one of them runs."""
        return not self.usurped

    @leads_to("KAFKA-C115", MUST, "Whoever is elected has begun in the end, and sees to what has "
              "happened.", source=START)
    def it_begins(self) -> tuple[bool, bool]:
        """Or it has resigned."""
        return (self.begun > 0 and (self.begun < BEGUN or self.waiting > 0),
                self.begun in (0, BEGUN) and self.waiting == 0)


class CallingBackAtOnce(Turns):
    """Callbacks take no lock (KAFKA-1134)."""

    def may_call_back(self) -> bool:
        """Nothing holds it off."""
        return True


class WishesFirst(Turns):
    """Wishes are looked at before the states are there (KAFKA-840)."""

    def wishes_at(self) -> int:
        """As soon as all is read."""
        return 2


class KeepingTheWatches(Turns):
    """Who resigns leaves its watches where they are (KAFKA-1578)."""

    def take_back(self) -> None:
        """They will find that it is no controller."""
        return


class ForgettingNothing(Turns):
    """Who resigns leaves the states as they are (KAFKA-4229)."""

    def forget(self) -> None:
        """They are of no use, and do no harm, one thinks."""
        return


class ActingAsNone(KeepingTheWatches):
    """Who has resigned acts on what its watches call."""

    def acts_as_none(self) -> bool:
        """It does not ask whether it is the controller."""
        return True


class Holder(IntEnum):
    """Who has the lock of the client of the coordination service."""

    NOBODY = 0
    SESSIONS = 1        # who handles the end of a session
    QUEUE = 2           # an event that asks the service


class Sessions(Machine):
    """The thread that handles sessions, and the queue's: both use one client, with one lock."""

    E = const(2, at_least=1)                # events before that

    waiting = integer(0, E, init=E)         # events in the queue, each of which asks the service
    lock = choice(Holder)
    is_over = boolean()                     # the session is
    told = boolean()                        # the queue has an event that says so …
    handled = boolean()                     # … which has been seen to
    renewed = boolean()                     # there is another session

    @action(fair=True)
    def take(self) -> None:
        """The queue's thread begins with an event: it asks the service, under the lock."""
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
        """The session is over: the queue is told, behind all that is in it."""
        require(not self.is_over and self.may_tell())
        self.is_over = True
        self.told = True
        self.lock = self.while_waiting()

    def may_tell(self) -> bool:
        """Nothing is needed for that."""
        return True

    def while_waiting(self) -> Holder:
        """Who has the lock while the queue's answer is waited for: who had it."""
        return self.lock

    @action(fair=True)
    def see_to_it(self) -> None:
        """The queue gets there: the controller resigns."""
        require(self.told and not self.handled and self.waiting == 0)
        self.handled = True

    @action(fair=True)
    def renew(self) -> None:
        """Then there is another session."""
        require(self.handled and not self.renewed)
        require(self.lock == Holder.NOBODY or self.lock == Holder.SESSIONS)
        self.renewed = True
        self.lock = Holder.NOBODY

    @never_stuck("KAFKA-C116", MUST, "Whoever handles the end of a session holds nothing that the "
                 "queue waits for.", source=f"{START}; KAFKA-6879")
    def nobody_waits_for_ever(self) -> bool:
        """It may rest when everything is done."""
        return self.waiting == 0 and self.is_over == self.renewed


class WaitingWithTheLock(Sessions):
    """The end of a session is handled under the lock (KAFKA-6879)."""

    def may_tell(self) -> bool:
        """When nobody else has it."""
        return self.lock == Holder.NOBODY

    def while_waiting(self) -> Holder:
        """Whoever waits for the queue."""
        return Holder.SESSIONS


RULES = tuple(f"KAFKA-C{number}" for number in (*range(111, 116), 117))

EXPECTATIONS = (
    *(expect(Turns, rule, "holds", "one at a time", N=2, E=2) for rule in RULES),
    *(expect(variant, rule, "violated", about, N=2, E=2) for variant, rule, about in (
        (CallingBackAtOnce, "KAFKA-C111", "it sees half of what there is (KAFKA-1134)"),
        (WishesFirst, "KAFKA-C112", "the wish is gone (KAFKA-840)"),
        (KeepingTheWatches, "KAFKA-C113", "watches of two terms call (KAFKA-1578)"),
        (ActingAsNone, "KAFKA-C117", "who has resigned acts on an event"),
        (ForgettingNothing, "KAFKA-C114", "states of the last term are there (KAFKA-4229)"),
    )),
    expect(Sessions, "KAFKA-C116", "holds", "it waits with nothing in its hands", E=(1, 2)),
    expect(WaitingWithTheLock, "KAFKA-C116", "violated", "the queue wants the lock (KAFKA-6879)",
           E=(1, 2)),
)

UNSEEN = {
    "KAFKA-C111":
        "What a callback has seen is the controller's own affair; the port asks for one batch at a "
        "time.",
    "KAFKA-C113":
        "Watches are the controller's own affair, and an event that is seen to twice does nothing "
        "the second time, if the batch is legal.",
    "KAFKA-C114":
        "Each session of the port is of a controller that begins.",
}
