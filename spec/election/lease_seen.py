"""A lock that expires by the clock, as the observer of an election sees it.

Theory. All clients of ``lease`` are candidates. A client that learns in time that it has the lock
reports that it leads; a client that gives up resigns, and becomes a candidate again. If a lease
expires before its client has given it up, that disturbs the client: it may have lost the lock
without knowing. The store's answers are shown as they are, and the observer judges their order,
because the clock can promise nothing about it.

Source: ``lease``, ``observed_election``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .lease import FencedLease, Lease
from .observed_election import ObservedElection, Token

__all__ = ["EXPECTATIONS", "LeaseSeen"]


class LeaseSeen(View[Lease]):
    """``history`` is the greatest token reported so far."""

    history: int = 0

    def begins(self, machine: Lease) -> Iterable[Seen]:
        """Every client is a candidate."""
        return [see("join", candidate=client) for client in range(machine.N)]

    @shown
    def answered(self, before: Lease, after: Lease, client: int) -> Seen | None:
        if after.counts[client] == 0:
            return None
        token, greatest = after.token[client], self.history
        self.history = max(greatest, token)
        return see("leads", candidate=client, token=Token.NEWER if token > greatest else Token.OLD)

    @shown
    def write(self, before: Lease, after: Lease, client: int) -> Seen:
        taken = before.takes(before.holds[client])
        return see("accepted" if taken else "refused", candidate=client)

    @shown
    def give_up(self, before: Lease, after: Lease, client: int) -> list[Seen]:
        return [see("resign", candidate=client), see("join", candidate=client)]

    @shown
    def tick(self, before: Lease, after: Lease) -> Iterable[Seen]:
        return self.ended(before, after)

    @shown
    def tick_of_service(self, before: Lease, after: Lease) -> Iterable[Seen]:
        return self.ended(before, after)

    @staticmethod
    def ended(before: Lease, after: Lease) -> list[Seen]:
        """The step that shows the expiry of a lease, if one expired."""
        has_ended = before.owner < before.N and after.owner == after.N
        return [see("shake", candidate=before.owner)] if has_ended else []


SEEN = refines(FencedLease, ObservedElection, "a store that compares tokens keeps the order of "
               "leases", shows=LeaseSeen, seen_by={"N": "N", "K": "K"}, T=2, K=2, D=(0, 1), P=1)

EXPECTATIONS = (
    SEEN,
    refused(Lease, "ELECT-2", "a stopped client writes with a lease that has expired", like=SEEN,
            D=0, P=1, beside=("ELECT-14",)),
)
