"""The acker of the chapters, as its observer sees it.

Theory. ``acker`` has the tree, the messages under way, and the spout; ``rotating`` has the ticks.
Of both, ``observed_acker`` sees what reaches the acker and what the acker answers: four
kinds of messages, each with the edges that it carries and the answer that it causes, and ticks.
What the topology does before a message arrives, and how the spout reacts to an answer, is hidden.

``acker`` knows no time. It lets an entry expire when the spout no longer waits for it; that is
shown as the ticks that make an entry of any age expire. When they come is shown of ``rotating``,
with a root as key of which a bolt has failed a tuple, again and again, so that it is renewed.

Source: ``acker``, ``rotating``, ``observed_acker``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from .acker import Acker, Answer, Spout
from .acker_mutants import (
    AckerWithoutTicks, AckingAtZeroWithoutInit, AckingInSilence, FailFirst, FailingAtTheEnd,
    FailingInSilence, ForgettingEarlyFail, IgnoringMarkAtInit, OringInit,
)
from .observed_acker import ObservedAcker, Told
from .rotating import AckerMemory, CopyingMap, MemoryWithoutTicks, RotatingMap, SpareMap, Timeouts

__all__ = ["EXPECTATIONS", "AckerSeen", "ForgettingSeen", "MapSeen", "MemorySeen"]

TICK = see("tick", tells=Told.NOTHING)


class AckerSeen(View[Acker]):
    """Messages about the one root, in the order in which they reach the acker. The topology
    chooses the tuples that bolts anchor, and those that they fail."""

    around = ("fail", "emit_unanchored", "process_loose", "has_work", "loose")

    @shown
    def receive_init(self, before: Acker, after: Acker) -> Seen:
        edges = before.init
        return see("init", root=0, a=0 in edges, b=1 in edges, tells=told(before, after))

    @shown
    def receive_ack(self, before: Acker, after: Acker, edge: int) -> Seen:
        edges = [each for each in range(before.E) if each == edge or before.parent[each] == edge]
        return see("ack", root=0, a=0 in edges, b=1 in edges, tells=told(before, after))

    @shown
    def receive_fail(self, before: Acker, after: Acker, edge: int) -> Seen:
        return see("fail", root=0, tells=told(before, after))

    @shown
    def receive_reset(self, before: Acker, after: Acker) -> Seen:
        passed_on = after.entry and after.known
        return see("reset_timeout", root=0, tells=Told.RESET if passed_on else told(before, after))

    @shown
    def expire(self, before: Acker, after: Acker) -> Iterable[Seen]:
        return [TICK] * TICKS

    def asked(self, machine: Acker) -> Iterable[Seen]:
        """The number of entries of the acker."""
        yield see("sized", count=machine.entry)

    def at_rest(self, machine: Acker) -> Iterable[Sequence[Seen]]:
        """An entry that is still there, although its ticks have come and no spout waits."""
        if machine.entry and machine.spout != Spout.WAITING:
            yield *[TICK] * TICKS, see("sized", count=1)


TICKS = 2
"""Ticks after which an entry of any age has expired; the acker has as many buckets."""


def told(before: Acker, after: Acker) -> Told:
    """The answer that a message caused, if any."""
    if Answer.ACK in after.answers and Answer.ACK not in before.answers:
        return Told.ACK
    is_failed = Answer.FAIL in after.answers and Answer.FAIL not in before.answers
    return Told.FAIL if is_failed else Told.NOTHING


class MapSeen(View[RotatingMap]):
    """A root that a bolt has failed, and that the spout has not named."""

    @shown
    def put(self, before: RotatingMap, after: RotatingMap) -> Seen:
        return see("fail", root=0, tells=Told.NOTHING)

    @shown
    def elapse(self, before: RotatingMap, after: RotatingMap) -> Seen | None:
        return TICK if after.clock == 0 else None

    def asked(self, machine: RotatingMap) -> Iterable[Seen]:
        """The number of entries: one for each bucket that holds the key."""
        yield see("sized", count=len(machine.held_in))


class MemorySeen(View[AckerMemory]):
    """Orphans. The observer gives them names; a name is reused when its entry has long expired."""

    history: int = 0

    @shown
    def make(self, before: AckerMemory, after: AckerMemory) -> Seen:
        name = self.history
        self.history = (name + 1) % (before.N * before.r)
        return see("ack", root=name, a=True, b=False, tells=Told.NOTHING)

    @shown
    def tick(self, before: AckerMemory, after: AckerMemory) -> Seen:
        return TICK

    def asked(self, machine: AckerMemory) -> Iterable[Seen]:
        """The number of entries in all buckets."""
        yield see("sized", count=sum(machine.bucket))


class ForgettingSeen(View[Timeouts]):
    """An entry that the first message makes, and that is not renewed. The spout has a map of its
    own, and the ticks come from outside."""

    around = ("place", "emit", "at_spout", "spout_clock", "acker_clock", "tick_spout")

    @shown
    def arrive(self, before: Timeouts, after: Timeouts) -> Seen:
        return see("ack", root=0, a=True, b=False, tells=Told.NOTHING)

    @shown
    def elapse(self, before: Timeouts, after: Timeouts) -> Seen | None:
        return TICK if before.acker_clock == before.P - 1 else None

    def asked(self, machine: Timeouts) -> Iterable[Seen]:
        """The number of entries: 1 while the acker has the entry."""
        yield see("sized", count=0 < machine.at_acker <= machine.NA)


SEEN = refines(Acker, ObservedAcker, "the acker answers each message by the rules", shows=AckerSeen,
               seen_by={"N": TICKS, "R": 1}, E=2, W=2, T=(0, 1))
IN_TIME = refines(RotatingMap, ObservedAcker, "an entry expires with the N-th tick, not before",
                  shows=MapSeen, seen_by={"N": "N", "R": 1}, N=(2, 3), P=(1, 2))
MEMORY = refines(AckerMemory, ObservedAcker, "any number of entries expire in this way",
                 shows=MemorySeen,
                 seen_by={"N": "N", "R": "N * r"}, N=3, r=1)
FORGETTING = refines(Timeouts, ObservedAcker, "an entry outlives the spout's own", P=(1, 2),
                     shows=ForgettingSeen, seen_by={"N": "NA", "R": 1}, NS=2, NA=3)

EXPECTATIONS = (
    SEEN,
    IN_TIME,
    MEMORY, FORGETTING,
    refused(OringInit, "STORM-A22", "INIT or-ed, not xored", like=SEEN, T=0),
    refused(AckingAtZeroWithoutInit, "STORM-A20", "complete without INIT", like=SEEN, T=0),
    refused(FailFirst, "STORM-A26", "fail before zero", like=SEEN, T=0),
    refused(ForgettingEarlyFail, "STORM-A24", "FAIL before INIT is thrown away", like=SEEN, T=0),
    refused(IgnoringMarkAtInit, "STORM-A24", "FAIL before INIT is not answered at INIT", like=SEEN,
            T=0),
    refused(FailingInSilence, "STORM-A24", "a failed entry is removed silently", like=SEEN, T=0),
    refused(FailingAtTheEnd, "STORM-A24", "a failure waits for the other tuples", like=SEEN, T=0),
    refused(AckingInSilence, "STORM-A22", "a complete entry is removed silently", like=SEEN, T=0),
    refused(AckerWithoutTicks, "STORM-A29", "no ticks: an orphan stays (STORM-2786)", like=SEEN,
            T=1),
    refused(Timeouts, "STORM-A28", "two buckets at the acker, too (STORM-1245)", like=FORGETTING,
            NA=2, seen_by={"N": 3}),
    refused(CopyingMap, "STORM-A29", "a put leaves old copies", like=IN_TIME, N=3, P=1),
    refused(SpareMap, "STORM-A29", "one bucket too many", like=IN_TIME, N=3, P=1),
    refused(MemoryWithoutTicks, "STORM-A29", "no ticks: orphans stay", like=MEMORY),
)
