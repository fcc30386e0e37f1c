"""The reach of backpressure, as the observers of a cluster see it.

Theory. ``cascade`` has a chain of bolts behind a spout, and another spout with its own bolt. Two
observers each see one part of that: a *flag*, which is a spout's knowledge of its bolt and whether
a message for it is held back; and a *task*, which is a bolt's consumption and the length of its
pendingEmits. Within a worker, a full recvQ has the effect on its senders that a flag has elsewhere.

A spout that has something to send, and is not refused by its bolt, sends: if it is held back all
the same, that shows as soon as it is asked. No observer adds up the tuples between the last bolt
and the spout; that a refused bolt consumes nothing is what bounds them.

Source: ``cascade``, ``observed_topology``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from ..topologies.observed_topology import ObservedFlag, ObservedTask
from .cascade import AbsorbingBolts, Cascade, GlobalThrottle

__all__ = ["BoltSeen", "EXPECTATIONS", "OthersSeen", "SpoutsSeen"]


class SpoutsSeen(View[Cascade]):
    """The first spout's knowledge of its bolt; both spouts always have something to send."""

    def asked(self, machine: Cascade) -> Iterable[Sequence[Seen]]:
        """Show that the spout holds a tuple back, if it does not send."""
        yield from self.held_back("emit", machine.recvq[0] == machine.C)

    def held_back(self, action: str, is_full: bool) -> Iterable[Sequence[Seen]]:
        """The last status heard, and that a tuple is held back, if ``action`` is disabled."""
        if action not in self.enabled:
            yield see("hears", blocked=is_full), see("holds_back")


class OthersSeen(SpoutsSeen):
    """The other spout's knowledge of its bolt."""

    def asked(self, machine: Cascade) -> Iterable[Sequence[Seen]]:
        """Show that the other spout holds a tuple back, if it does not send."""
        yield from self.held_back("emit_other", machine.other == machine.C)


class BoltSeen(View[Cascade]):
    """The first bolt: its consumption, and the lengths of its queues."""

    @shown
    def process(self, before: Cascade, after: Cascade, bolt: int) -> list[Seen]:
        return [see("consumes"), self.stands(after)] if bolt == 0 else []

    @shown
    def retry(self, before: Cascade, after: Cascade, bolt: int) -> list[Seen]:
        return [self.stands(after)] if bolt == 0 else []

    @staticmethod
    def stands(machine: Cascade) -> Seen:
        """The number of outputs that the bolt holds."""
        return see("stands", spout=0, count=machine.held[0])

    def asked(self, machine: Cascade) -> Iterable[Seen]:
        """The length of the bolt's recvQ."""
        yield see("holds", recvq=machine.recvq[0], overflowq=0)


SPOUTS = refines(Cascade, ObservedFlag, "a spout sends while its own bolt has a free slot",
                 shows=SpoutsSeen, C=(1, 2), n=(2, 3))
OTHERS = refines(Cascade, ObservedFlag, "the other spout sends even if the chain is blocked",
                 shows=OthersSeen, C=(1, 2), n=(2, 3))
BOLT = refines(Cascade, ObservedTask, "a bolt that is refused consumes nothing", shows=BoltSeen,
               seen_by={"C": "C", "F": 1}, C=(1, 2), n=2)

EXPECTATIONS = (
    SPOUTS, OTHERS, BOLT,
    refused(GlobalThrottle, "STORM-C24", "a spout stops although its bolt is not full", like=SPOUTS,
            C=1, n=2, beside=("STORM-H3",)),
    refused(GlobalThrottle, "STORM-C24", "a spout of an independent chain stops",
            like=OTHERS, C=1, n=2, beside=("STORM-H2",)),
    refused(AbsorbingBolts, "STORM-C6", "a bolt consumes while it holds an output", like=BOLT, C=1),
)
