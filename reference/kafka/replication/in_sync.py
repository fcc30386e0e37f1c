"""The ISR of a leader: what the quorum knows, what is being changed, and what to do about failure.

A leader changes the ISR by a write to the quorum that is conditional on the version that it
knows. Until it hears how that ended, it waits for all that *may* be in sync: the *maximal ISR*.
A write may have been done although its reply was lost. So whoever hears of a wrong version, or
nothing at all, reads what is there, and compares: if it is what it wanted to write, that was
done (KAFKA-1382). If somebody else wrote, it is the controller, and this leader will be told; it
changes nothing until then.

Source: Kafka's ``Partition.updateIsr``, ``ReplicationUtils.checkLeaderAndIsrZkData``; KAFKA-8966.
"""

from __future__ import annotations

from enum import Enum

from .messages import PartitionState

__all__ = ["InSync", "Outcome"]


class Outcome(Enum):
    """How a change of the ISR ended, as far as this leader can tell."""

    CHANGED = "it was made"
    NOT_MADE = "it was not made, and may be tried again"
    DEPOSED = "somebody else has written: nothing can be changed until a request tells more"


class InSync:
    """One leader's ISR, in one epoch. ``version`` is that of the quorum's word that it knows."""

    def __init__(self, state: PartitionState, version: int) -> None:
        self.state, self.version = state, version
        self.wanted: PartitionState | None = None       # what is being written
        self.is_deposed = False

    @property
    def members(self) -> frozenset[int]:
        """The ISR that the leader knows."""
        return frozenset(self.state.isr)

    @property
    def maximal(self) -> frozenset[int]:
        """All that may be in sync."""
        return self.members | frozenset(self.wanted.isr if self.wanted else ())

    @property
    def may_change(self) -> bool:
        """Whether nothing is under way."""
        return self.wanted is None and not self.is_deposed

    def want(self, isr: frozenset[int]) -> PartitionState:
        """A change is asked for: what to write to the quorum."""
        self.wanted = self.state._replace(isr=tuple(sorted(isr)))
        return self.wanted

    def written(self, version: int) -> Outcome:
        """The quorum has accepted it, with this version."""
        assert self.wanted is not None
        self.state, self.version, self.wanted = self.wanted, version, None
        return Outcome.CHANGED

    def read_again(self, found: PartitionState, version: int) -> Outcome:
        """What the quorum has, read after a write that failed, or of which nothing was heard."""
        if found == self.wanted:
            return self.written(version)
        if version == self.version:
            self.wanted = None
            return Outcome.NOT_MADE
        self.is_deposed = True
        return Outcome.DEPOSED
