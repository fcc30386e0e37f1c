"""The ISR of a leader: the quorum's state, the change under way, and the handling of failures.

A leader changes the ISR by a write to the quorum that is conditional on the version that it knows.
Until it gets the answer, it waits for all replicas that *may* be in sync: the *maximal ISR*. A
write may have taken effect although its reply was lost. So a leader that gets a wrong version, or
no answer at all, reads the present state, and compares: if it is what it wanted to write, the write
took effect (KAFKA-1382). Otherwise the controller wrote it, and this leader will get a request; it
changes nothing until then.

Source: Kafka's ``Partition.updateIsr``, ``ReplicationUtils.checkLeaderAndIsrZkData``; KAFKA-8966.
"""

from __future__ import annotations

from enum import Enum

from .messages import PartitionState

__all__ = ["InSync", "Outcome"]


class Outcome(Enum):
    """Result of a change of the ISR, as far as this leader knows."""

    CHANGED = "it was made"
    NOT_MADE = "it was not made, and may be tried again"
    DEPOSED = "the state was written by another: nothing can be changed until a request comes"


class InSync:
    """One leader's ISR, in one epoch. ``version`` is that of the quorum's state that it knows."""

    def __init__(self, state: PartitionState, version: int) -> None:
        self.state, self.version = state, version
        self.wanted: PartitionState | None = None       # the change under way
        self.is_deposed = False

    @property
    def members(self) -> frozenset[int]:
        """The ISR that the leader knows."""
        return frozenset(self.state.isr)

    @property
    def maximal(self) -> frozenset[int]:
        """All replicas that may be in sync."""
        return self.members | frozenset(self.wanted.isr if self.wanted else ())

    @property
    def may_change(self) -> bool:
        """True if no change is under way."""
        return self.wanted is None and not self.is_deposed

    def want(self, isr: frozenset[int]) -> PartitionState:
        """A change is requested; return the state to write to the quorum."""
        self.wanted = self.state._replace(isr=tuple(sorted(isr)))
        return self.wanted

    def written(self, version: int) -> Outcome:
        """The quorum has accepted the change, with this version."""
        assert self.wanted is not None
        self.state, self.version, self.wanted = self.wanted, version, None
        return Outcome.CHANGED

    def read_again(self, found: PartitionState, version: int) -> Outcome:
        """The quorum's state, read after a write that failed, or that got no answer."""
        if found == self.wanted:
            return self.written(version)
        if version == self.version:
            self.wanted = None
            return Outcome.NOT_MADE
        self.is_deposed = True
        return Outcome.DEPOSED
