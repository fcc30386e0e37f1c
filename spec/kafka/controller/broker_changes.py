"""A controller's reaction to brokers that start, stop, or ask to shut down.

Theory of operation
-------------------
The controller reads the registered brokers, and compares them with the known ones. From the
difference it makes *jobs*, each of which is finished before the next begins:

    brokers came    1 inform them of their partitions   2 elect, where there is no leader
    brokers went    1 elect, where they led           2 take them out of the ISR
    a broker wants  1 let others lead its partitions   2 take it out of the ISR
    to go           3 answer what it still leads; if that is nothing, it may go

A replica is *live* if its broker is known and is not shutting down. A partition without a live
in-sync replica has no leader, and waits for one of them to come. That is why brokers that come are
a reason to elect. The last member of an ISR stays in it, gone or not: it may be the only one with
all records.

A leader lets followers join the ISR as soon as they follow in its epoch. A broker that is shutting
down has left the ISR by then, and continues to follow until it is gone; so the leader must not let
it in again.

There is one partition, with the list 0, 1, 2. Requests arrive at once; their transport is specified
in ``controller_requests``. A broker does not come back before the controller has noticed its
absence; ``controller_start`` specifies what follows if it does. D bounds the number of events of
brokers.

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
    """Next jobs of the controller."""

    NONE = 0
    TELL = 1            # brokers that came
    ELECT = 2           # because some came
    REPLACE = 3         # elect, because some brokers went
    TAKE_OUT = 4        # brokers that went
    MOVE = 5            # leaders on a broker that wants to go
    LEAVE = 6           # that broker leaves the ISR
    ANSWER = 7          # whether that broker may go


class BrokerChanges(Machine):
    """Brokers, their controller, and the node of a partition that has a replica on each."""

    D = const(2, at_least=1)                # events of brokers

    up = integer(0, ALL, init=ALL)          # registered brokers
    known = integer(0, ALL, init=ALL)       # … as far as the controller knows
    leaving = integer(0, ALL)               # brokers that are shutting down …
    released = integer(0, ALL)              # … and those that may go
    happened = integer(0, D)

    leader = integer(0, NOBODY)             # the node; broker 0 leads at first
    isr = integer(0, ALL, init=ALL)
    epoch = integer(1, 3 * D + 1)

    heard = array(upto(BROKERS), integer(0, 3 * D + 1, init=1))    # newest epoch received; 0: none
    leads = array(upto(BROKERS), boolean())     # considers itself the leader

    job = choice(Job)
    about = integer(0, ALL)                 # the brokers that the job is about

    # --- brokers -------------------------------------------------------------------------------

    def happen(self) -> None:
        """Count one more event of brokers."""
        require(self.happened < self.D)
        self.happened += 1

    @action(broker=upto(BROKERS))
    def stop(self, broker: int) -> None:
        """A broker stops, and loses its state."""
        require(has(self.up, broker))
        self.happen()
        self.up -= only(broker)
        self.released = without(self.released, only(broker))
        self.heard[broker] = 0
        self.leads[broker] = False

    @action(broker=upto(BROKERS))
    def start(self, broker: int) -> None:
        """A broker registers, after the controller has noticed its absence."""
        require(not has(self.up, broker) and not has(self.known, broker))
        require(self.job == Job.NONE)
        self.up += only(broker)

    @action(fair=True, broker=upto(BROKERS))
    def let_join(self, broker: int) -> None:
        """A follower in the leader's epoch joins the ISR."""
        require(self.leader != NOBODY and broker != self.leader and has(self.up, self.leader))
        require(self.heard[min(self.leader, BROKERS - 1)] == self.epoch)
        require(self.heard[broker] == self.epoch and not has(self.isr, broker))
        require(self.may_join(broker))
        self.isr += only(broker)

    def may_join(self, broker: int) -> bool:
        """True unless the broker is shutting down."""
        return not has(self.leaving, broker)

    # --- jobs ----------------------------------------------------------------------------------

    def live(self) -> int:
        """Brokers that are known and not shutting down."""
        return without(self.known, self.leaving)

    @action(fair=True)
    def look(self) -> None:
        """Read the registered brokers: first those that came, then those that went."""
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
        """New brokers learn the leader that they are to follow."""
        require(self.job == Job.TELL)
        self.send(self.told_at_first())
        self.job = Job.ELECT

    def told_at_first(self) -> int:
        """The brokers that get this request: all new ones."""
        return self.about

    @action(fair=True)
    def elect(self) -> None:
        """New brokers came: a partition may have waited for one of them."""
        require(self.job == Job.ELECT)
        if self.elects_for_who_came() and not has(self.known, self.leader):
            self.write(offline(LIST, self.isr, self.live(), False))
        self.end()

    def elects_for_who_came(self) -> bool:
        """True if new brokers are a reason to elect."""
        return True

    @action(fair=True)
    def replace(self) -> None:
        """A broker has gone: if it led, another one becomes leader."""
        require(self.job == Job.REPLACE)
        if not has(self.known, self.leader):
            self.write(offline(LIST, self.isr, self.live(), False))
        self.job = Job.TAKE_OUT

    @action(fair=True)
    def take_out(self) -> None:
        """Brokers that went leave the ISR, except the last member; if one of them still led, there
        is no leader.
        """
        require(self.job == Job.TAKE_OUT)
        self.leave_isr(self.gone())
        self.end()

    def gone(self) -> int:
        """In-sync brokers that went."""
        return both(self.isr, self.about)

    @action(fair=True)
    def move(self) -> None:
        """Other brokers take over the leadership."""
        require(self.job == Job.MOVE)
        if has(self.about, self.leader):
            found = controlled_shutdown(LIST, self.isr, self.live(), self.leaving)
            self.write(Choice(found.leader, found.isr, self.told_of_moves(found.told)))
        self.job = Job.LEAVE

    def told_of_moves(self, brokers: int) -> int:
        """The receivers also include the broker that goes: it no longer leads."""
        return brokers

    @action(fair=True)
    def leave(self) -> None:
        """The broker leaves the ISR, unless it still leads."""
        require(self.job == Job.LEAVE)
        if not has(self.about, self.leader):
            self.leave_isr(both(self.isr, self.about))
        self.job = Job.ANSWER

    @action(fair=True)
    def answer(self) -> None:
        """The broker may go, if it no longer leads."""
        require(self.job == Job.ANSWER)
        if self.may_go():
            self.released += both(self.about, self.up)
        self.end()

    def may_go(self) -> bool:
        """True if another broker leads."""
        return not has(self.about, self.leader)

    # --- writes, and requests ------------------------------------------------------------------

    def end(self) -> None:
        """The job is done."""
        self.job = Job.NONE
        self.about = 0

    def write(self, found: Choice) -> None:
        """A selector's choice is written to the node, in a new epoch."""
        if found.leader != NOBODY:
            self.leader = found.leader
            self.isr = found.isr
            self.epoch += 1
            self.send(found.told)

    def leave_isr(self, brokers: int) -> None:
        """The brokers leave the ISR one by one.

        The last member stays in it, though it no longer leads.
        """
        if brokers > 0:
            for each in range(BROKERS):
                if has(brokers, each) and self.isr != only(each):
                    self.isr -= only(each)
            if has(brokers, self.leader):
                self.leader = NOBODY
            self.epoch += 1
            self.send(self.live())

    def send(self, brokers: int) -> None:
        """LeaderAndIsr: live receivers learn the leader and the epoch."""
        for each in range(BROKERS):
            if has(both(brokers, self.up), each):
                self.heard[each] = self.epoch
                self.leads[each] = self.leader == each

    # --- rules ---------------------------------------------------------------------------------

    @leads_to("KAFKA-C81", MUST,
              "If a partition has no registered leader, but a registered in-sync replica that "
              "is not shutting down, eventually it has a registered leader or no such replica.",
              source=CHANGES)
    def it_gets_a_leader(self) -> tuple[bool, bool]:
        """Whichever brokers went or came; a broker that wants to go may continue to lead if no
        other can.
        """
        needed = without(both(self.isr, self.up), self.leaving) > 0
        return needed and not has(self.up, self.leader), has(self.up, self.leader) or not needed

    @leads_to("KAFKA-C82", MUST,
              "A broker that starts eventually receives a LeaderAndIsr request about its "
              "partition, unless it stops first.",
              source=f"{CHANGES}; KAFKA-831", broker=upto(BROKERS))
    def who_comes_is_told(self, broker: int) -> tuple[bool, bool]:
        """Otherwise it serves no partition and follows no leader."""
        return (has(self.up, broker) and self.heard[broker] == 0,
                not has(self.up, broker) or self.heard[broker] > 0)

    @leads_to("KAFKA-C83", MUST,
              "A broker that is gone eventually leaves the ISR, unless it returns or is the "
              "last member.",
              source=f"{CHANGES}; KAFKA-3143", broker=upto(BROKERS))
    def who_goes_leaves(self, broker: int) -> tuple[bool, bool]:
        """Otherwise the leader waits for it, and acknowledges nothing."""
        is_missed = has(self.isr, broker) and not has(self.up, broker) and self.isr != only(broker)
        return is_missed, not is_missed

    @step("KAFKA-C84", SHOULD,
          "A broker that the controller knows to be shutting down does not join the ISR.",
          source=f"{CHANGES}; KAFKA-14140", broker=upto(BROKERS))
    def who_leaves_stays_out(self, after: BrokerChanges, broker: int) -> bool:
        """Otherwise the leader waits for it again when it is gone."""
        return (not has(both(self.leaving, after.leaving), broker) or has(self.isr, broker)
                or not has(after.isr, broker))

    @always("KAFKA-C85", MUST,
            "From the controller's permission to shut down until the broker stops, no "
            "partition's node names that broker as its leader.",
            source=CHANGES)
    def who_may_go_leads_nothing(self) -> bool:
        """Clients would find no leader until its session ends."""
        return not has(self.released, self.leader)

    @always("KAFKA-C86", MUST,
            "From the controller's permission to shut down until it stops, a broker does not "
            "consider itself the leader of the partition.",
            source=f"{CHANGES}; KAFKA-7482",
            broker=upto(BROKERS))
    def who_may_go_knows(self, broker: int) -> bool:
        """Otherwise it takes writes that no replica follows."""
        return not has(self.released, broker) or not self.leads[broker]


# ---- broken ones ----------------------------------------------------------------------------


class NotTellingWhoCame(BrokerChanges):
    """A broker that starts is not sent its partitions (KAFKA-831)."""

    def told_at_first(self) -> int:
        """No broker gets this request."""
        return 0


class NotElectingForWhoCame(BrokerChanges):
    """Only a broker that goes is a reason to elect."""

    def elects_for_who_came(self) -> bool:
        """The controller does not know that a partition has waited."""
        return False


class KeepingTheGone(BrokerChanges):
    """A broker that goes stays in the ISR (KAFKA-3143)."""

    def gone(self) -> int:
        """No broker counts as gone."""
        return 0


class LettingItRejoin(BrokerChanges):
    """The leader lets every follower join (KAFKA-14140)."""

    def may_join(self, broker: int) -> bool:
        """The leader does not know which brokers are shutting down."""
        return True


class AnsweringEarly(BrokerChanges):
    """A broker may go as soon as its replacement was attempted."""

    def may_go(self) -> bool:
        """The success of the attempt is not tested."""
        return True


class NotTellingWhoGoes(BrokerChanges):
    """Only the brokers that stay learn the new leader (KAFKA-7482)."""

    def told_of_moves(self, brokers: int) -> int:
        """The broker that goes is left out."""
        return without(brokers, self.leaving)


RULES = tuple(f"KAFKA-C{number}" for number in range(81, 87))

EXPECTATIONS = (
    *(expect(BrokerChanges, rule, "holds", "brokers come and go", D=(2, 3)) for rule in RULES),
    *(expect(variant, rule, "violated", about, D=3) for variant, rule, about in (
        (NotElectingForWhoCame, "KAFKA-C81", "the broker that the partition waits for has come, "
         "and there is no election"),
        (NotTellingWhoCame, "KAFKA-C82", "a broker that starts gets no request (KAFKA-831)"),
        (KeepingTheGone, "KAFKA-C83", "stopped brokers stay in sync (KAFKA-3143)"),
        (LettingItRejoin, "KAFKA-C84", "a broker that shuts down joins again (KAFKA-14140)"),
        (AnsweringEarly, "KAFKA-C85", "the broker goes, and there is no leader"),
        (NotTellingWhoGoes, "KAFKA-C86", "the broker does not learn that another one leads "
         "(KAFKA-7482)"),
    )),
)

UNSEEN = {
    "KAFKA-C86":
        "A broker that may go stops at once, with what it knew. The port of the controller shows "
        "the receivers (KAFKA-C14).",
}
