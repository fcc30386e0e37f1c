"""RotatingMap: how long an entry is remembered, at the spout and at the acker.

Theory of operation
-------------------
A RotatingMap has N buckets. A put goes to the front bucket (and out of the others); each
tick drops the last bucket and puts an empty one in front. An entry that is put after a tick
goes with the N-th tick after it. If ticks are P apart, the first of these is still between 0
(excluded) and P (included) away, the others add (N - 1) P:

    lifetime without another put  is in  ((N - 1) P, N P]

Both ends matter: the lower one is how long a tuple tree may take without being timed out,
the upper one how long a lost tuple blocks its place. Time below is in whole units. A tick
comes first at its instant, so the shortest lifetime is (N - 1) P + 1, and both ends are
attained.

The **spout** keeps pending roots in N = 2 buckets and calls fail() when an entry is dropped: a
timeout T = P becomes (T, 2T], so the notes' "after 30 s" is after more than 30 and up to 60 (D15).
The **acker** keeps its entries in N = 3, and forgets silently: (2T, 3T]. With two buckets it could
forget before the spout has timed out, and a tree that completes in between could no longer be acked
(STORM-1245). With three it cannot, *provided* that its entry is made or renewed no earlier than the
spout's, and that the spout's ticks are on time. Both provisos are needed: an ACK may reach the
acker before the spout has put the root into its own map (its data is sent first); a RESET_TIMEOUT
renews the acker's entry first, and the spout's only when the answer gets there; and ticks wait in
the recvQ like everything else (D14). A delay D of the first two kinds opens a window as long as
itself (of D - 1 whole units, since the shortest lifetime is 2T + 1). A fourth bucket keeps it shut
for the first kind up to a delay of P, and for the second always, since a later answer finds the
root timed out. Late ticks have no bound that buckets could make up for.

The acker holds the entries of N periods, if ticks come. If none do, it leaks
(STORM-2786).

Source: the notes on Storm's acker ("RotatingMap"); the code is RotatingMap, Acker
(TIMEOUT_BUCKET_NUM = 3) and SpoutExecutor.
"""

from __future__ import annotations

from ...expectations import expect, prove
from ...notation import (
    CLAIM, MUST, Machine, action, always, array, boolean, const, integer, require, subset, upto,
)

__all__ = [
    "EXPECTATIONS", "AckFirst", "AckerMemory", "CopyingMap", "HastyMap", "LateTicks",
    "MemoryWithoutTicks", "ResettingTimeouts", "RotatingMap", "SpareMap", "TimeoutAsWritten",
    "Timeouts",
]

ROTATION = "001#rotating; storm#rotating"


class RotatingMap(Machine):
    """One key in a map of N buckets. Bucket 0 is the front."""

    N = const(2, at_least=2)            # buckets
    P = const(3, at_least=1)            # time between two ticks

    clock = integer(0, P - 1)           # time since the last tick
    held_in = subset(upto(N))           # buckets that hold the key
    age = integer(0, N * P)             # time since the last put
    lifetime = integer(0, N * P)        # the age at which it was last dropped; 0 for never

    @action
    def put(self) -> None:
        """Put the key into the front bucket, and take it out of the others."""
        self.held_in.clear()
        self.held_in.add(0)
        self.age = 0

    @action(fair=True)
    def elapse(self) -> None:
        """A unit of time passes; a tick comes before anything else at its instant."""
        if self.held_in:
            self.age += 1
        if self.clock == self.P - 1:
            self.clock = 0
            self.tick()
        else:
            self.clock += 1

    def tick(self) -> None:
        """Drop the last bucket, and shift the others by one."""
        if self.N - 1 in self.held_in:
            self.held_in.discard(self.N - 1)
            self.lifetime = self.age
            self.age = 0
        for back in range(1, self.N):
            if self.N - 1 - back in self.held_in:
                self.held_in.discard(self.N - 1 - back)
                self.held_in.add(self.N - back)

    @always("STORM-R1", MUST,
            "A map of N buckets that rotates every P drops an entry only when more than (N - 1) "
            "P has passed since its last put.",
            source=f"{ROTATION}: ((N-1)P, N·P], open below")
    def nothing_goes_early(self) -> bool:
        """The lifetime is strictly more than (N - 1) P."""
        return self.lifetime == 0 or self.lifetime > (self.N - 1) * self.P

    @always("STORM-R2", MUST,
            "A map of N buckets that rotates every P holds an entry only while less than N P "
            "has passed since its last put.",
            source=f"{ROTATION}: ((N-1)P, N·P], closed above")
    def nothing_stays_long(self) -> bool:
        """At N P the entry has been dropped."""
        return not self.held_in or self.age < self.N * self.P

    @always("STORM-R7", MUST,
            "An entry is in at most one bucket, and in bucket i (0 is the front) only if "
            "exactly i ticks have come since its last put.",
            source=f"{ROTATION}; STORM-R1, STORM-R2: the induction behind them")
    def buckets_tell_the_age(self) -> bool:
        """It is in one bucket: in bucket i after i ticks, the first of which came within P."""
        return len(self.held_in) <= 1 and all(
            self.age <= bucket * self.P + self.clock
            and (bucket == 0 or self.age > (bucket - 1) * self.P + self.clock)
            for bucket in self.held_in
        )


class HastyMap(RotatingMap):
    """The same map under bounds that are one unit too strict: both ends are attained."""

    @always("STORM-R5", CLAIM,
            "In a map of N buckets that rotates every P, no entry has the lifetime (N - 1) P + "
            "1, the shortest in whole units that STORM-R1 allows.",
            source=f"{ROTATION}: expected to be violated, put just before a tick")
    def shortest_is_not_attained(self) -> bool:
        """The lifetime would be more than (N - 1) P + 1."""
        return self.lifetime == 0 or self.lifetime > (self.N - 1) * self.P + 1

    @always("STORM-R6", CLAIM,
            "In a map of N buckets that rotates every P, no entry has the lifetime N P, the "
            "longest that STORM-R2 allows.",
            source=f"{ROTATION}: expected to be violated, put just after a tick")
    def longest_is_not_attained(self) -> bool:
        """The lifetime would be less than N P."""
        return self.lifetime < self.N * self.P


class TimeoutAsWritten(RotatingMap):
    """The spout's map under the message timeout T = P as the notes state it (D15)."""

    @always("STORM-R8", CLAIM,
            "A root stays in the spout's map only while less than T, the message timeout, has "
            "passed since its last put.",
            source="001#bolt-ack (30 s); storm#rotating: (T, 2T]")
    def timeout_is_kept(self) -> bool:
        """The notes say that it is then emitted again; the map only drops it."""
        return not self.held_in or self.age < self.P


class CopyingMap(RotatingMap):
    """A put that leaves the key in the other buckets: it is dropped with the oldest of them."""

    @action
    def put(self) -> None:
        """Put the key into the front bucket only."""
        self.held_in.add(0)
        self.age = 0


class SpareMap(RotatingMap):
    """A map of one bucket more than N, as if the front did not count."""

    held_in = subset(upto(RotatingMap.N + 1))
    age = integer(0, (RotatingMap.N + 1) * RotatingMap.P)
    lifetime = integer(0, (RotatingMap.N + 1) * RotatingMap.P)

    def tick(self) -> None:
        """Drop the bucket after the N-th."""
        if self.N in self.held_in:
            self.held_in.discard(self.N)
            self.lifetime = self.age
            self.age = 0
        for back in range(self.N):
            if self.N - 1 - back in self.held_in:
                self.held_in.discard(self.N - 1 - back)
                self.held_in.add(self.N - back)


# --- two maps that time one tree -------------------------------------------------------------

class Timeouts(Machine):
    """A root at the spout and at the acker, each with its own map and its own ticks, P apart.

    A map's variable is the number of ticks since the put plus one; 0 before the put.
    """

    P = const(3, at_least=1)            # the message timeout T, at both
    NS = const(2, at_least=2)           # buckets at the spout
    NA = const(3, at_least=2)           # buckets at the acker

    placed = boolean(False)             # the ticks' phases are chosen
    spout_clock = integer(0, P - 1)
    acker_clock = integer(0, P - 1)
    at_spout = integer(0, NS + 1)       # NS + 1: timed out
    at_acker = integer(0, NA + 1)       # NA + 1: forgotten

    @action(fair=True, phase=upto(P))
    def place(self, phase: int) -> None:
        """Choose the phase of the acker's ticks relative to the spout's."""
        require(not self.placed)
        self.acker_clock = phase
        self.placed = True

    @action
    def emit(self) -> None:
        """The spout puts the root into its map, and sends INIT."""
        require(self.placed and self.at_spout == 0)
        self.at_spout = 1

    @action
    def arrive(self) -> None:
        """The root's first message reaches the acker, some time after the spout's put.
        Later ones do not renew the entry."""
        require(self.at_spout > 0 and self.at_acker == 0)
        self.at_acker = 1

    @action(fair=True)
    def elapse(self) -> None:
        """A unit of time passes at both."""
        require(self.placed)
        self.tick_spout()
        if self.acker_clock == self.P - 1:
            self.at_acker = rotated(self.at_acker, self.NA)
        self.acker_clock = (self.acker_clock + 1) % self.P

    def tick_spout(self) -> None:
        """Advance the spout's clock, with a tick every P."""
        if self.spout_clock == self.P - 1:
            self.at_spout = rotated(self.at_spout, self.NS)
        self.spout_clock = (self.spout_clock + 1) % self.P

    @always("STORM-R3", MUST,
            "While a root is pending at the spout, the acker's entry for it, once made, has not "
            "expired.",
            source=f"{ROTATION}; STORM-1245")
    def spout_times_out_first(self) -> bool:
        """Otherwise a tree that completes now could not be acked."""
        return self.at_acker <= self.NA or not 0 < self.at_spout <= self.NS


def rotated(age: int, buckets: int) -> int:
    """The age of an entry after a tick: one bucket more, until it is dropped."""
    return min(age + 1, buckets + 1) if age > 0 else 0


class AckFirst(Timeouts):
    """An ACK that makes the acker's entry before the spout has put the root: the spout sends
    the data first, and INIT does not renew an entry."""

    D = const(1)                        # longest delay of the spout between the two

    held_up = integer(0, D)

    @action
    def arrive(self) -> None:
        """The first message may reach the acker even before the spout's put."""
        require(self.placed and self.at_acker == 0)
        self.at_acker = 1

    @action(fair=True)
    def elapse(self) -> None:
        """Let a unit of time pass; the spout is delayed by at most D."""
        if self.at_acker > 0 and self.at_spout == 0:
            require(self.held_up < self.D)
            self.held_up += 1
        super().elapse()


class ResettingTimeouts(Timeouts):
    """RESET_TIMEOUT renews the acker's entry at once and the spout's when the answer arrives."""

    D = const(1)                        # longest time that the answer may take

    under_way = boolean(False)
    delay = integer(0, D)

    @action
    def reset(self) -> None:
        """A bolt asks for more time; the acker renews its entry and passes the request to the
        spout."""
        require(0 < self.at_acker <= self.NA and not self.under_way)
        self.at_acker = 1
        self.under_way = True

    @action
    def renew(self) -> None:
        """The answer reaches the spout, which renews the root if it is still pending."""
        require(self.under_way)
        self.under_way = False
        self.delay = 0
        if self.at_spout <= self.NS:
            self.at_spout = 1

    @action(fair=True)
    def elapse(self) -> None:
        """Let a unit of time pass; the answer takes at most D."""
        if self.under_way:
            require(self.delay < self.D)
            self.delay += 1
        super().elapse()


class LateTicks(Timeouts):
    """The spout's ticks wait in its recvQ, like every other tuple (D14)."""

    late = integer(0, Timeouts.NS + 1)  # ticks that are waiting

    def tick_spout(self) -> None:
        """Advance the spout's clock; its tick only joins the recvQ."""
        if self.spout_clock == self.P - 1:
            self.late = min(self.late + 1, self.NS + 1)
        self.spout_clock = (self.spout_clock + 1) % self.P

    @action(fair=True)
    def consume_tick(self) -> None:
        """The spout processes a tick that waited."""
        require(self.late > 0)
        self.late -= 1
        self.at_spout = rotated(self.at_spout, self.NS)


# --- memory ----------------------------------------------------------------------------------

class AckerMemory(Machine):
    """The number of orphan entries that the acker holds, if up to r are made between two ticks."""

    N = const(3, at_least=1)
    r = const(2, at_least=1)

    bucket = array(upto(N), integer(0, N * r + 1))
    made = integer(0, r)                # since the last tick

    @action
    def make(self) -> None:
        """A late message makes an entry that nothing will ever complete."""
        require(self.made < self.r)
        self.made += 1
        self.bucket[0] += 1

    @action(fair=True)
    def tick(self) -> None:
        """Drop the last bucket, and shift the others."""
        for back in range(1, self.N):
            self.bucket[self.N - back] = self.bucket[self.N - 1 - back]
        self.bucket[0] = 0
        self.made = 0

    @always("STORM-R4", MUST,
            "If at most r orphans (entries that nothing will complete) are made in each period "
            "of length P, an acker of N buckets holds at most N r of them.",
            source="001#rotating ('won't blow up'); storm#D12; STORM-2786")
    def memory_is_bounded(self) -> bool:
        """N buckets hold at most r each."""
        return sum(self.bucket) <= self.N * self.r


class MemoryWithoutTicks(AckerMemory):
    """No tick reaches the acker (STORM-2786): time passes, and no entry expires."""

    @action(fair=True)
    def tick(self) -> None:
        """A period ends, without a rotation; the guard only keeps the machine finite."""
        require(self.bucket[0] <= (self.N - 1) * self.r + 1)
        self.made = 0


SIZES = range(2, 6)

EXPECTATIONS = (
    expect(RotatingMap, "STORM-R1", "holds", "lifetime > (N - 1) P", N=(2, 3), P=(1, 3)),
    expect(RotatingMap, "STORM-R2", "holds", "lifetime <= N P", N=(2, 3), P=(1, 3)),
    prove(RotatingMap, "STORM-R7", "bucket and age agree, for all P", for_all=("P",), N=SIZES),
    prove(RotatingMap, "STORM-R1", "lifetime > (N - 1) P, for all P", for_all=("P",), N=SIZES,
          lemmas=("STORM-R7",)),
    prove(RotatingMap, "STORM-R2", "lifetime <= N P, for all P", for_all=("P",), N=SIZES,
          lemmas=("STORM-R7",)),
    expect(HastyMap, "STORM-R5", "violated", "the lower end is attained", N=(2, 3), P=(1, 3)),
    expect(HastyMap, "STORM-R6", "violated", "the upper end is attained", N=(2, 3), P=(1, 3)),
    expect(TimeoutAsWritten, "STORM-R8", "violated", "30 s are up to 60 s (D15)", N=2, P=(1, 3)),
    expect(CopyingMap, "STORM-R1", "violated", "put leaves old copies", N=(2, 3), P=3),
    expect(CopyingMap, "STORM-R7", "violated",
           "old copies that stay make bucket and age disagree", N=(2, 3), P=3),
    expect(SpareMap, "STORM-R2", "violated", "one bucket too many", N=(2, 3), P=(1, 3)),
    expect(Timeouts, "STORM-R3", "holds", "three buckets at the acker, two at the spout",
           P=(1, 2, 3, 5), NS=2, NA=3),
    expect(Timeouts, "STORM-R3", "violated", "two buckets at both (STORM-1245)",
           P=(2, 3), NS=2, NA=2),
    expect(AckFirst, "STORM-R3", "violated",
           "an ACK before the spout's own put: three buckets leave a window",
           where="D > 1", P=(2, 3), D=range(4)),
    expect(AckFirst, "STORM-R3", "violated",
           "an ACK before the spout's own put: with four buckets the window opens a period later",
           where="D > P + 1", P=(2, 3), NA=4, D=range(6)),
    expect(ResettingTimeouts, "STORM-R3", "violated",
           "RESET_TIMEOUT is answered late: three buckets leave a window",
           where="D > 1", P=(2, 3), D=range(4)),
    expect(ResettingTimeouts, "STORM-R3", "holds",
           "RESET_TIMEOUT is answered late: four buckets leave no window, however late",
           P=(2, 3), NA=4, D=(3, 7)),
    expect(LateTicks, "STORM-R3", "violated",
           "the spout's ticks are late (D14): no number of buckets is enough",
           P=(2, 3), NA=(3, 4, 5)),
    expect(AckerMemory, "STORM-R4", "holds", "ticks bound the memory", N=3, r=(1, 2, 3)),
    expect(MemoryWithoutTicks, "STORM-R4", "violated", "no ticks (STORM-2786)", N=3, r=(1, 2)),
)

UNSEEN = {
    "STORM-R8":
        "It is what the notes say of the timeout, and false of a correct spout, so it is not "
        "required of implementations.",
    "STORM-R5":
        "It is one unit too strict, as its expectation shows, so it is not required of "
        "implementations.",
    "STORM-R6": "It is one unit too strict at the other end, so it is not required, either.",
}
