"""Queues of any policy, as the observers that know the policy see them.

Theory. ``policies`` has a queue with a policy that is to be found out. A suite knows it, and judges
by ``dropping`` if the queue states what it drops, and by ``conserved`` in any case. The policy is
reported when the queue turns out to be of a policy that the observer knows, with the capacity N;
all other runs are left out.

Source: ``policies``, ``dropping``, ``conserved``.
"""

from __future__ import annotations

from ..notation.views import LEFT_OUT, Seen, View, see, shown
from ..refinements import refines, refused
from .conserved import ConservingQueue
from .dropping import DroppingQueue, Policy
from .policies import EvictingTheHead, ForgettingToDrop, TakingOneMore, UnknownQueue

__all__ = ["DropsSeen", "EXPECTATIONS", "RefusalsSeen"]

DROPS = (Policy.DROP_NEWEST, Policy.DROP_OLDEST, Policy.DROP_YOUNGEST, Policy.CLEAR)


class DropsSeen(View[UnknownQueue]):
    """A queue that drops, and says so."""

    same = ("offer_accepted", "put_done", "poll_item", "poll_empty")
    around = ("turns_out",)             # which queue this is

    @shown
    def turns_out(
        self, before: UnknownQueue, after: UnknownQueue, policy: Policy, capacity: int
    ) -> Seen | str:
        is_known = policy in DROPS and capacity == before.N
        return see("promised", promise=policy) if is_known else LEFT_OUT


class RefusalsSeen(View[UnknownQueue]):
    """A queue that refuses what it has no room for."""

    same = ("offer_accepted", "offer_refused", "put_done", "poll_item", "poll_empty")
    around = ("turns_out",)             # which queue this is

    def follows(self, machine: UnknownQueue, action: str) -> bool:
        """A put that is refused is none of the observer's calls."""
        return action != "put_refused"

    @shown
    def turns_out(
        self, before: UnknownQueue, after: UnknownQueue, policy: Policy, capacity: int
    ) -> str | None:
        return None if policy == Policy.REJECT and capacity == before.N else LEFT_OUT


DROPPED = refines(UnknownQueue, DroppingQueue, "it drops what its policy says", shows=DropsSeen,
                  seen_by={"C": "N", "K": "K"}, N=(2, 3), K=4, E=1, P=0, S=0)
REFUSED = refines(UnknownQueue, ConservingQueue, "what it refuses stays out", shows=RefusalsSeen,
                  seen_by={"K": "K", "T": 1}, N=(1, 2), K=4, E=1, P=0, S=0)

EXPECTATIONS = (
    DROPPED, REFUSED,
    refused(ForgettingToDrop, "QUEUE-17", "what it says to drop stays inside", like=DROPPED, N=2),
    refused(EvictingTheHead, "QUEUE-17", "its head goes where it promised its tail", like=DROPPED,
            N=2),
    refused(TakingOneMore, "QUEUE-5", "what was refused comes out", like=REFUSED, N=2),
)
