"""What a controller does when brokers come, go, or say that they will go.

Theory of operation
-------------------
The controller reads who is registered, and compares that with whom it knows. Of the difference it
makes *jobs*, each of which is done to its end before the next begins:

    brokers came    1 tell them of their partitions   2 elect, where nobody leads
    brokers went    1 elect, where they led           2 take them out of the ISR
    a broker wants  1 let others lead what it leads   2 take it out of the ISR
    to go           3 answer what it leads still; if that is nothing, it may go

A replica is *live* if its broker is known and does not want to go. A partition that cannot have a
leader, since nobody in sync is live, waits: for one of them to come. That is why brokers that come
are a reason to elect. The last of an ISR stays in it, gone or not: it has what nobody else has.

A leader lets followers join the ISR, as soon as they follow in its epoch. Whoever wants to go has
left the ISR by then, and follows on until it is gone; so the leader must not let it in again.

There is one partition, with the list 0, 1, 2. Requests arrive at once; how they travel is told in
``controller_requests``. A broker does not come back before the controller has seen it go; what
follows if it does is told in ``controller_start``. D bounds what happens to brokers.

Source: kafka#broker-changes; KAFKA-831, KAFKA-3143, KAFKA-7482, KAFKA-14140.
"""

from __future__ import annotations

from enum import IntEnum

from ...expectations import expect
from ...notation import (
    MUST, SHOULD, Machine, action, always, array, boolean, choice, const, integer, leads_to,
    require, step, upto,
)
from .selectors import (
    ALL, BROKERS, NOBODY, Choice, both, controlled_shutdown, has, offline, only, without,
)

__all__ = [
    "EXPECTATIONS", "AnsweringEarly", "BrokerChanges", "Job", "KeepingTheGone", "LettingItRejoin",
    "NotElectingForWhoCame", "NotTellingWhoCame", "NotTellingWhoGoes",
]

CHANGES = "kafka#broker-changes"
LIST = (0, 1, 2)


class Job(IntEnum):
    """What the controller does next."""

    NONE = 0
    TELL = 1            # who came
    ELECT = 2           # because some came
    REPLACE = 3         # elect, because some went
    TAKE_OUT = 4        # who went
    MOVE = 5            # what a broker leads that wants to go
    LEAVE = 6           # it leaves the ISR
    ANSWER = 7          # whether it may go


class BrokerChanges(Machine):
    """Brokers, their controller, and the node of a partition that has a replica on each."""

    D = const(2, at_least=1)                # what happens to brokers

    up = integer(0, ALL, init=ALL)          # who is registered
    known = integer(0, ALL, init=ALL)       # … as far as the controller knows
    leaving = integer(0, ALL)               # who wants to go
    released = integer(0, ALL)              # … and may
    happened = integer(0, D)

    leader = integer(0, NOBODY)             # the node; broker 0 leads at first
    isr = integer(0, ALL, init=ALL)
    epoch = integer(1, 3 * D + 1)

    heard = array(upto(BROKERS), integer(0, 3 * D + 1, init=1))    # of this epoch; 0: of none
    leads = array(upto(BROKERS), boolean())     # takes itself for the leader, since it took over

    job = choice(Job)
    about = integer(0, ALL)                 # the brokers that the job is about

    # --- brokers -------------------------------------------------------------------------------

    def happen(self) -> None:
        """There is room for so much."""
        require(self.happened < self.D)
        self.happened += 1

    @action(broker=upto(BROKERS))
    def stop(self, broker: int) -> None:
        """A broker is gone, and all that it knew."""
        require(has(self.up, broker))
        self.happen()
        self.up -= only(broker)
        self.released = without(self.released, only(broker))
        self.heard[broker] = 0
        self.leads[broker] = False

    @action(broker=upto(BROKERS))
    def start(self, broker: int) -> None:
        """It registers, when the controller has seen it go."""
        require(not has(self.up, broker) and not has(self.known, broker))
        require(self.job == Job.NONE)
        self.up += only(broker)

    @action(fair=True, broker=upto(BROKERS))
    def let_join(self, broker: int) -> None:
        """The leader lets a follower join the ISR that follows it in its epoch."""
        require(self.leader != NOBODY and broker != self.leader and has(self.up, self.leader))
        require(self.heard[min(self.leader, BROKERS - 1)] == self.epoch)
        require(self.heard[broker] == self.epoch and not has(self.isr, broker))
        require(self.may_join(broker))
        self.isr += only(broker)

    def may_join(self, broker: int) -> bool:
        """Whoever wants to go may not."""
        return not has(self.leaving, broker)

    # --- jobs ----------------------------------------------------------------------------------

    def live(self) -> int:
        """Known, and not about to go."""
        return without(self.known, self.leaving)

    @action(fair=True)
    def look(self) -> None:
        """Read who is registered: first those that came, then those that went."""
        require(self.job == Job.NONE and self.known != self.up)
        came = without(self.up, self.known)
        if came > 0:
            self.known += came
            self.about = came
            self.job = Job.TELL
        else:
            self.about = without(self.known, self.up)
            self.known -= self.about
            self.leaving = without(self.leaving, self.about)
            self.job = Job.REPLACE

    @action(broker=upto(BROKERS))
    def wants_to_go(self, broker: int) -> None:
        """A broker asks whether it may shut down."""
        require(self.job == Job.NONE and has(self.live(), broker) and has(self.up, broker))
        self.happen()
        self.leaving += only(broker)
        self.about = only(broker)
        self.job = Job.MOVE

    @action(fair=True)
    def tell(self) -> None:
        """Who came is told who leads, and that it is to follow."""
        require(self.job == Job.TELL)
        self.send(self.told_at_first())
        self.job = Job.ELECT

    def told_at_first(self) -> int:
        """Every one of them."""
        return self.about

    @action(fair=True)
    def elect(self) -> None:
        """Somebody has come: perhaps whom a partition has waited for."""
        require(self.job == Job.ELECT)
        if self.elects_for_who_came() and not has(self.known, self.leader):
            self.write(offline(LIST, self.isr, self.live(), False))
        self.end()

    def elects_for_who_came(self) -> bool:
        """Whether this is a reason to elect."""
        return True

    @action(fair=True)
    def replace(self) -> None:
        """Somebody has gone: if it led, another one does."""
        require(self.job == Job.REPLACE)
        if not has(self.known, self.leader):
            self.write(offline(LIST, self.isr, self.live(), False))
        self.job = Job.TAKE_OUT

    @action(fair=True)
    def take_out(self) -> None:
        """Who went leaves the ISR, but for the last; if it led still, nobody leads."""
        require(self.job == Job.TAKE_OUT)
        self.leave_isr(self.gone())
        self.end()

    def gone(self) -> int:
        """Of those in sync, who went."""
        return both(self.isr, self.about)

    @action(fair=True)
    def move(self) -> None:
        """Others lead what it leads."""
        require(self.job == Job.MOVE)
        if has(self.about, self.leader):
            found = controlled_shutdown(LIST, self.isr, self.live(), self.leaving)
            self.write(Choice(found.leader, found.isr, self.told_of_moves(found.told)))
        self.job = Job.LEAVE

    def told_of_moves(self, brokers: int) -> int:
        """Also who goes: it leads no more."""
        return brokers

    @action(fair=True)
    def leave(self) -> None:
        """It leaves the ISR, unless it leads still."""
        require(self.job == Job.LEAVE)
        if not has(self.about, self.leader):
            self.leave_isr(both(self.isr, self.about))
        self.job = Job.ANSWER

    @action(fair=True)
    def answer(self) -> None:
        """It may go, if it leads nothing any more."""
        require(self.job == Job.ANSWER)
        if self.may_go():
            self.released += both(self.about, self.up)
        self.end()

    def may_go(self) -> bool:
        """Whether another one leads."""
        return not has(self.about, self.leader)

    # --- writing, and telling ------------------------------------------------------------------

    def end(self) -> None:
        """The job is done."""
        self.job = Job.NONE
        self.about = 0

    def write(self, found: Choice) -> None:
        """What a selector found stands in the node from now on, in another epoch."""
        if found.leader != NOBODY:
            self.leader = found.leader
            self.isr = found.isr
            self.epoch += 1
            self.send(found.told)

    def leave_isr(self, brokers: int) -> None:
        """They leave the ISR, one by one. The last stays in it, though it leads no more."""
        if brokers > 0:
            for each in range(BROKERS):
                if has(brokers, each) and self.isr != only(each):
                    self.isr -= only(each)
            if has(brokers, self.leader):
                self.leader = NOBODY
            self.epoch += 1
            self.send(self.live())

    def send(self, brokers: int) -> None:
        """LeaderAndIsr: whoever is up hears who leads, and in which epoch."""
        for each in range(BROKERS):
            if has(both(brokers, self.up), each):
                self.heard[each] = self.epoch
                self.leads[each] = self.leader == each

    # --- rules ---------------------------------------------------------------------------------

    @leads_to("KAFKA-C81", MUST, "A partition gets a leader that is there, as soon as somebody who "
              "is in sync is live.", source=CHANGES)
    def it_gets_a_leader(self) -> tuple[bool, bool]:
        """Whoever went or came; one that wants to go may lead on, if nobody else can."""
        needed = without(both(self.isr, self.up), self.leaving) > 0
        return needed and not has(self.up, self.leader), has(self.up, self.leader) or not needed

    @leads_to("KAFKA-C82", MUST, "A broker that comes is told of its partitions.",
              source=f"{CHANGES}; KAFKA-831", broker=upto(BROKERS))
    def who_comes_is_told(self, broker: int) -> tuple[bool, bool]:
        """Else it serves and follows nobody."""
        return (has(self.up, broker) and self.heard[broker] == 0,
                not has(self.up, broker) or self.heard[broker] > 0)

    @leads_to("KAFKA-C83", MUST, "A broker that is gone leaves the ISR, if it is not the last in "
              "it.", source=f"{CHANGES}; KAFKA-3143", broker=upto(BROKERS))
    def who_goes_leaves(self, broker: int) -> tuple[bool, bool]:
        """Else the leader waits for it, and acknowledges nothing."""
        is_missed = has(self.isr, broker) and not has(self.up, broker) and self.isr != only(broker)
        return is_missed, not is_missed

    @step("KAFKA-C84", SHOULD, "Who wants to go and has left the ISR does not join it again.",
          source=f"{CHANGES}; KAFKA-14140", broker=upto(BROKERS))
    def who_leaves_stays_out(self, after: BrokerChanges, broker: int) -> bool:
        """Else the leader waits for it once more when it is gone."""
        return (not has(both(self.leaving, after.leaving), broker) or has(self.isr, broker)
                or not has(after.isr, broker))

    @always("KAFKA-C85", MUST, "Who may go leads nothing.", source=CHANGES)
    def who_may_go_leads_nothing(self) -> bool:
        """Clients would find nobody until its session is over."""
        return not has(self.released, self.leader)

    @always("KAFKA-C86", MUST, "Who may go knows that it leads nothing.",
            source=f"{CHANGES}; KAFKA-7482", broker=upto(BROKERS))
    def who_may_go_knows(self, broker: int) -> bool:
        """Else it takes writes that nobody follows."""
        return not has(self.released, broker) or not self.leads[broker]


# ---- broken ones ----------------------------------------------------------------------------


class NotTellingWhoCame(BrokerChanges):
    """A broker that comes is not sent its partitions (KAFKA-831)."""

    def told_at_first(self) -> int:
        """Nobody is told anything."""
        return 0


class NotElectingForWhoCame(BrokerChanges):
    """Only a broker that goes is a reason to elect."""

    def elects_for_who_came(self) -> bool:
        """Nobody knows that a partition has waited."""
        return False


class KeepingTheGone(BrokerChanges):
    """Who goes stays in the ISR (KAFKA-3143)."""

    def gone(self) -> int:
        """As if it were nobody."""
        return 0


class LettingItRejoin(BrokerChanges):
    """The leader lets everybody join who follows (KAFKA-14140)."""

    def may_join(self, broker: int) -> bool:
        """It does not know who wants to go."""
        return True


class AnsweringEarly(BrokerChanges):
    """A broker may go as soon as somebody has tried to replace it."""

    def may_go(self) -> bool:
        """Whether that has succeeded is not asked."""
        return True


class NotTellingWhoGoes(BrokerChanges):
    """Only who stays is told who leads (KAFKA-7482)."""

    def told_of_moves(self, brokers: int) -> int:
        """Who goes will be gone anyway."""
        return without(brokers, self.leaving)


RULES = tuple(f"KAFKA-C{number}" for number in range(81, 87))

EXPECTATIONS = (
    *(expect(BrokerChanges, rule, "holds", "brokers come and go", D=(2, 3)) for rule in RULES),
    *(expect(variant, rule, "violated", about, D=3) for variant, rule, about in (
        (NotElectingForWhoCame, "KAFKA-C81", "who was waited for has come, and nobody elects"),
        (NotTellingWhoCame, "KAFKA-C82", "who comes hears nothing (KAFKA-831)"),
        (KeepingTheGone, "KAFKA-C83", "the dead stay in sync (KAFKA-3143)"),
        (LettingItRejoin, "KAFKA-C84", "who shuts down joins again (KAFKA-14140)"),
        (AnsweringEarly, "KAFKA-C85", "it goes, and nobody leads"),
        (NotTellingWhoGoes, "KAFKA-C86", "it does not hear that another one leads (KAFKA-7482)"),
    )),
)

UNSEEN = {
    "KAFKA-C86":
        "Whoever may go is gone at once, and what it took itself for goes with it. The port of the "
        "controller shows who is told (KAFKA-C14).",
}
