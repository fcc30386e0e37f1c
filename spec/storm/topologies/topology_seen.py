"""A topology of a spout, a bolt and an acker, as the observers of a cluster see it.

Theory. ``topology`` has three tasks with their recvQs and pendingEmits. Its observers each see one
thing: a *lane*, what one task emits to another and what that one processes; a *task*, how much
is in its recvQ and its pendingEmits, and when it consumes; a *root*, that is emitted, whose parts
reach the sink, and that is acked; and the *run*, that comes to rest or does not. The other steps
are hidden. A run that can go no further has come to rest if every root is acked, else it stalls.

A root has one part here, which reaches the sink when the bolt processes it. It is seen in the last
root of the run, since all are alike.

Source: ``topology``, ``observed_topology``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from .observed_topology import ObservedLane, ObservedRoot, ObservedRun, ObservedSource, ObservedTask
from .topology import (
    BlockingFlush, BoundedPending, GreedyBolt, Kind, LoopingBolts, LosingWithoutAckers,
    SpoutThatStopsConsuming, Task, Topology, TryingFlush, WithoutAckers,
)

__all__ = ["EXPECTATIONS", "BoltSeen", "LaneSeen", "LoopSeen", "RootSeen", "RunSeen"]


class LaneSeen(View[Topology]):
    """What the spout emits to the bolt: roots, by their numbers."""

    @shown
    def emit(self, before: Topology, after: Topology) -> Seen | None:
        message = before.upcoming()
        return see("emits", number=message.root) if message.kind == Kind.DATA else None

    @shown
    def bolt_consumes(self, before: Topology, after: Topology) -> Seen:
        return see("processes", number=before.recvq[Task.BOLT][0].root)

    def at_rest(self, machine: Topology) -> Iterable[Seen]:
        """No task can go on."""
        yield see("comes_to_rest")


class BoltSeen(View[Topology]):
    """The bolt: what it consumes, and how much stands in its queues after each of its steps."""

    @shown
    def bolt_consumes(self, before: Topology, after: Topology) -> list[Seen]:
        return [see("consumes"), self.stands(after)]

    @shown
    def retry(self, before: Topology, after: Topology, task: int) -> Seen | None:
        return self.stands(after) if task == Task.BOLT else None

    @staticmethod
    def stands(machine: Topology) -> Seen:
        """What it has not got rid of."""
        return see("stands", spout=0, count=min(len(machine.pending[Task.BOLT]), 2))

    def asked(self, machine: Topology) -> Iterable[Seen]:
        """The length of its recvQ; there is no overflowQ within a worker."""
        yield see("holds", recvq=len(machine.recvq[Task.BOLT]), overflowq=0)


class RootSeen(View[Topology]):
    """The last root of the run."""

    @shown
    def emit(self, before: Topology, after: Topology) -> Seen | None:
        message = before.upcoming()
        is_it = message.kind == Kind.DATA and message.root == before.N - 1
        return see("emits") if is_it else None

    @shown
    def bolt_consumes(self, before: Topology, after: Topology) -> Seen | None:
        is_it = before.recvq[Task.BOLT][0].root == before.N - 1
        return see("reaches", part=0) if is_it else None

    @shown
    def spout_consumes(self, before: Topology, after: Topology) -> Seen | None:
        is_it = before.recvq[Task.SPOUT][0].root == before.N - 1
        return see("acks") if is_it else None


class RunSeen(View[Topology]):
    """Whether the run comes to rest, or stalls."""

    def at_rest(self, machine: Topology) -> Iterable[Seen]:
        """With all roots acked, or not."""
        yield see("comes_to_rest") if machine.acked == machine.N else see("stalls")


class LoopSeen(View[LoopingBolts]):
    """Two bolts in a circle: their run has no end, unless they get stuck."""

    def at_rest(self, machine: LoopingBolts) -> Iterable[Seen]:
        """Each of the bolts waits for the other."""
        yield see("stalls")


ONCE = ("not self.rested",)

LANE = refines(Topology, ObservedLane, "a bolt processes what the spout emits, in order",
               shows=LaneSeen, seen_by={"K": "N"}, C=1, E=(1, 2), N=4)
BOLT = refines(Topology, ObservedTask, "a bolt stops while something is pending",
               shows=BoltSeen, seen_by={"C": "C", "F": 1}, C=1, E=(1, 2), N=4)
ROOT = refines(Topology, ObservedRoot, "a root is acked when it was processed",
               shows=RootSeen, seen_by={"n": 1}, C=1, E=(1, 2), N=4)
SOURCE = refines(Topology, ObservedSource, "a message is emitted once, and acked",
                 shows=RootSeen, seen_by={"n": 1}, C=1, E=(1, 2), N=4)
RUN = refines(Topology, ObservedRun, "the topology comes to rest", shows=RunSeen,
              room=ONCE, C=1, E=(1, 2), N=4)

EXPECTATIONS = (
    LANE, BOLT, ROOT, SOURCE, RUN,
    refines(WithoutAckers, ObservedLane, "without ackers, too, the order is kept", shows=LaneSeen,
            seen_by={"K": "N"}, C=1, E=2, N=4),
    refines(TryingFlush, ObservedRun, "a flush that only tries does no harm", shows=RunSeen,
            room=ONCE, C=1, E=2, N=4, B=2),
    refused(LosingWithoutAckers, "STORM-C3", "what is refused is gone", like=LANE, E=2),
    refused(GreedyBolt, "STORM-C6", "a bolt consumes all the same", like=BOLT, E=2, N=6),
    refused(SpoutThatStopsConsuming, "STORM-C13", "the spout stops consuming, too", like=RUN, E=2),
    refused(BlockingFlush, "STORM-C13", "a flush waits for room (D11)", like=RUN, E=2, N=6),
    refused(BoundedPending, "STORM-C13", "emit waits at a bound (STORM-292)", like=RUN, E=2, N=6),
    refused(LoopingBolts, "STORM-C13", "bolts that feed each other (STORM-3637)",
            like=replace(RUN, machine=LoopingBolts, shows=LoopSeen, grid=(("C", 1),))),
)
