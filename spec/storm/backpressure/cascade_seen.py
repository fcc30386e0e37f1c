"""How far backpressure goes, as the observers of a cluster see it.

Theory. ``cascade`` has a chain of bolts behind a spout, and another spout with its own bolt. Of
that two observers each see one thing: a *flag*, what a spout knows of its bolt and if a message
for it is held back; and a *task*, what a bolt consumes and what stands in its pendingEmits. A full
recvQ within a worker is to its senders what a flag is elsewhere.

A spout that has something to send, and is not refused by its bolt, sends: that it is held back all
the same shows as soon as it is asked. No observer adds up what stands between the last bolt and
the spout; that a bolt which is refused consumes nothing is what bounds it.

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
    """What a spout knows of the bolt that it sends to, the first of the chain; both spouts always
    have something to send."""

    def asked(self, machine: Cascade) -> Iterable[Sequence[Seen]]:
        """Where it does not send."""
        yield from self.held_back("emit", machine.recvq[0] == machine.C)

    def held_back(self, action: str, is_full: bool) -> Iterable[Sequence[Seen]]:
        """What was heard last, and that a tuple is held back."""
        if action not in self.enabled:
            yield see("hears", blocked=is_full), see("holds_back")


class OthersSeen(SpoutsSeen):
    """The same of the other spout and its bolt."""

    def asked(self, machine: Cascade) -> Iterable[Sequence[Seen]]:
        """Where it does not send."""
        yield from self.held_back("emit_other", machine.other == machine.C)


class BoltSeen(View[Cascade]):
    """The first bolt: what it consumes, and how much stands in its queues."""

    @shown
    def process(self, before: Cascade, after: Cascade, bolt: int) -> list[Seen]:
        return [see("consumes"), self.stands(after)] if bolt == 0 else []

    @shown
    def retry(self, before: Cascade, after: Cascade, bolt: int) -> list[Seen]:
        return [self.stands(after)] if bolt == 0 else []

    @staticmethod
    def stands(machine: Cascade) -> Seen:
        """What the bolt holds."""
        return see("stands", spout=0, count=machine.held[0])

    def asked(self, machine: Cascade) -> Iterable[Seen]:
        """The length of its recvQ."""
        yield see("holds", recvq=machine.recvq[0], overflowq=0)


SPOUTS = refines(Cascade, ObservedFlag, "a spout sends while its own bolt has room",
                 shows=SpoutsSeen, C=(1, 2), n=(2, 3))
OTHERS = refines(Cascade, ObservedFlag, "the other spout sends whoever is stuck",
                 shows=OthersSeen, C=(1, 2), n=(2, 3))
BOLT = refines(Cascade, ObservedTask, "a bolt that is refused consumes nothing", shows=BoltSeen,
               seen_by={"C": "C", "F": 1}, C=(1, 2), n=2)

EXPECTATIONS = (
    SPOUTS, OTHERS, BOLT,
    refused(GlobalThrottle, "STORM-C24", "a spout stops although its bolt has room", like=SPOUTS,
            C=1, n=2, beside=("STORM-H3",)),
    refused(GlobalThrottle, "STORM-C24", "a spout stops that has nothing to do with it",
            like=OTHERS, C=1, n=2, beside=("STORM-H2",)),
    refused(AbsorbingBolts, "STORM-C6", "a bolt consumes while something stands", like=BOLT, C=1),
)
