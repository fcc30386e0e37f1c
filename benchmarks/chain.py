"""The benchmark's machine: credit-controlled links in a row.

The source always has data and the sink is always ready. Each link's C tokens are spread
over four counters in any way, so with n links there are binomial(C + 3, 3) ^ n states.
"""

from __future__ import annotations

from math import comb

from checkvalve.spec.notation import (
    MUST, Array, Machine, action, always, array, const, integer, never_stuck, require, upto,
)

__all__ = ["Chain", "states_of_chain"]


class Chain(Machine):
    """A row of links; each passes on an element only against a permit of the next."""

    links = const(4, at_least=1)
    C = const(4, at_least=1)  # slots at each receiver
    widest = const(0)  # counters may be declared wider than they need, for more bits

    permits: Array[int] = array(upto(links), integer(0, C + widest, init=C))
    granted: Array[int] = array(upto(links), integer(0, C + widest))
    flying: Array[int] = array(upto(links), integer(0, C + widest))
    waiting: Array[int] = array(upto(links), integer(0, C + widest))

    @action(fair=True)
    def send(self) -> None:
        """The source sends an element over the first link."""
        require(self.permits[0] > 0)
        self.permits[0] -= 1
        self.flying[0] += 1

    @action(fair=True, link=upto(links))
    def arrive(self, link: int) -> None:
        """An element arrives at the end of a link."""
        require(self.flying[link] > 0)
        self.flying[link] -= 1
        self.waiting[link] += 1

    @action(fair=True, link=upto(links))
    def grant(self, link: int) -> None:
        """A permit arrives at the sender's end of a link."""
        require(self.granted[link] > 0)
        self.granted[link] -= 1
        self.permits[link] += 1

    @action(fair=True, link=upto(links - 1))
    def forward(self, link: int) -> None:
        """An element goes from one link to the next, and frees its slot."""
        require(self.waiting[link] > 0 and self.permits[link + 1] > 0)
        self.waiting[link] -= 1
        self.granted[link] += 1
        self.permits[link + 1] -= 1
        self.flying[link + 1] += 1

    @action(fair=True)
    def drain(self) -> None:
        """The sink takes an element from the last link."""
        require(self.waiting[self.links - 1] > 0)
        self.waiting[self.links - 1] -= 1
        self.granted[self.links - 1] += 1

    @always("BENCH-1", MUST, "No link creates or loses a token.", source="the benchmark")
    def tokens_are_conserved(self) -> bool:
        return all(
            self.permits[link] + self.granted[link] + self.flying[link] + self.waiting[link]
            == self.C for link in range(self.links))

    @never_stuck("BENCH-2", MUST, "The chain never stops.", source="the benchmark")
    def never_at_rest(self) -> bool:
        return False


def states_of_chain(links: int, capacity: int) -> int:
    """How many states the chain has."""
    return int(comb(capacity + 3, 3) ** links)
