"""A topology of a spout, a bolt and an acker, as the observers of a cluster see it.

Theory. ``topology`` has three tasks with their recvQs and pendingEmits. Its observers each see one
thing: a *lane*, the tuples that one task emits to another and those that the other processes; a
*task*, the lengths of its recvQ and its pendingEmits, and when it consumes; a *root*, which is
emitted, has parts that reach the sink, and is acked; and the *run*, which becomes quiescent or
does not. The other steps are hidden. A run that can take no step is quiescent if every root is
acked, otherwise it stalls.

A root has one part here, which reaches the sink when the bolt processes it. The last root of the
run is shown, because all are alike.

Source: ``topology``, ``observed_topology``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from .observed_topology import ObservedLane, ObservedRoot, ObservedRun, ObservedSource, ObservedTask
from .topology import (
    BlockingFlush, BoundedPending, EchoingBolts, GreedyBolt, Kind, LoopingBolts,
    LosingWithoutAckers,
    SpoutThatStopsConsuming, Task, Topology, TryingFlush, WithoutAckers, WaitingToTake,
)

__all__ = ["EXPECTATIONS", "BoltSeen", "LaneSeen", "LoopSeen", "RootSeen", "RunSeen"]


class LaneSeen(View[Topology]):
    """The roots that the spout emits to the bolt, by their numbers."""

    @shown
    def emit(self, before: Topology, after: Topology) -> Seen | None:
        message = before.upcoming()
        return see("emits", number=message.root) if message.kind == Kind.DATA else None

    @shown
    def bolt_consumes(self, before: Topology, after: Topology) -> Seen:
        return see("processes", number=before.recvq[Task.BOLT][0].root)

    def at_rest(self, machine: Topology) -> Iterable[Seen]:
        """The quiescence, because no task can take a step."""
        yield see("comes_to_rest")


class BoltSeen(View[Topology]):
    """The bolt: its consumption, and the lengths of its queues after each of its steps."""

    @shown
    def bolt_consumes(self, before: Topology, after: Topology) -> list[Seen]:
        return [see("consumes"), self.stands(after)]

    @shown
    def retry(self, before: Topology, after: Topology, task: int) -> Seen | None:
        return self.stands(after) if task == Task.BOLT else None

    @staticmethod
    def stands(machine: Topology) -> Seen:
        """The number of messages in the bolt's pendingEmits."""
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
    """The end of the run: quiescence or a stall."""

    def at_rest(self, machine: Topology) -> Iterable[Seen]:
        """The quiescence, if all roots are acked; otherwise the stall."""
        yield see("comes_to_rest") if machine.acked == machine.N else see("stalls")


class LoopSeen(View[LoopingBolts]):
    """Two bolts in a cycle: their run has no end, unless they deadlock."""

    def at_rest(self, machine: LoopingBolts) -> Iterable[Seen]:
        """Show that the run stalls: each bolt waits for the other."""
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
RUN = refines(Topology, ObservedRun, "the topology becomes quiescent", shows=RunSeen,
              room=ONCE, C=1, E=(1, 2), N=4)

EXPECTATIONS = (
    LANE, BOLT, ROOT, SOURCE, RUN,
    refines(WithoutAckers, ObservedLane, "without ackers, too, the order is kept", shows=LaneSeen,
            seen_by={"K": "N"}, C=1, E=2, N=4),
    refines(TryingFlush, ObservedRun, "a flush that does not wait causes no stall", shows=RunSeen,
            room=ONCE, C=1, E=2, N=4, B=2),
    refused(LosingWithoutAckers, "STORM-C3", "a refused tuple is lost", like=LANE, E=2),
    refused(GreedyBolt, "STORM-C6", "a bolt consumes with pending messages", like=BOLT, E=2, N=6),
    refused(SpoutThatStopsConsuming, "STORM-C13", "the spout stops consuming, too", like=RUN, E=2),
    refused(BlockingFlush, "STORM-C13", "a flush waits for a free slot (D11)", like=RUN, E=2, N=6),
    refused(BoundedPending, "STORM-C13", "emit waits at a bound (STORM-292)", like=RUN, E=2, N=6),
    *(refused(variant, "STORM-C13", about,
              like=replace(RUN, machine=LoopingBolts, shows=LoopSeen, grid=(("C", 1),)))
      for variant, about in (
        (LoopingBolts, "bolts that feed each other (STORM-3637)"),
        (EchoingBolts, "bolts that feed each other, and nothing else"),
        (WaitingToTake, "bolts that wait for each other's room"),
    )),
)
