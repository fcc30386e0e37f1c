"""A ring of credit links, in which a fixed number of elements goes round.

Each link's C tokens are spread over four counters: permits at the sender, permits on their
way back to it, elements in flight, elements waiting at the receiver. An element that goes on
frees its slot, and takes a permit of the next link.
"""

from __future__ import annotations

from checkvalve.spec.notation import (
    MUST, BoundMachine, Machine, action, always, array, bind, const, each, integer, one_of,
    require, table,
)

__all__ = ["Ring", "ring", "states_of_ring"]


class Ring(Machine):
    """A ring of links: how many elements wait at the end of each at first, and permits."""

    C = const(3, at_least=1)  # slots at each receiver
    start = table((3, 3, 3, 0, 0, 0))
    free = table((0, 0, 0, 3, 3, 3))

    permits = array(one_of(start), integer(0, C, init=each(free)))
    freed = array(one_of(start), integer(0, C))
    flying = array(one_of(start), integer(0, C))
    waiting = array(one_of(start), integer(0, C, init=each(start)))

    @action(fair=True, link=one_of(start))
    def move(self, link: int) -> None:
        """An element goes from one link to the next, and frees its slot."""
        following = (link + 1) % len(self.start)
        require(self.waiting[link] > 0 and self.permits[following] > 0)
        self.waiting[link] -= 1
        self.freed[link] += 1
        self.permits[following] -= 1
        self.flying[following] += 1

    @action(fair=True, link=one_of(start))
    def deliver(self, link: int) -> None:
        """An element arrives at the end of a link."""
        require(self.flying[link] > 0)
        self.flying[link] -= 1
        self.waiting[link] += 1

    @action(fair=True, link=one_of(start))
    def permit(self, link: int) -> None:
        """A permit arrives at the sender's end of a link."""
        require(self.freed[link] > 0)
        self.freed[link] -= 1
        self.permits[link] += 1

    @always("BENCH-3", MUST, "No link creates or loses a token.", source="the benchmark")
    def tokens_are_conserved(self) -> bool:
        return all(
            self.permits[link] + self.freed[link] + self.flying[link] + self.waiting[link]
            == self.C for link in range(len(self.start)))


def ring(links: int, capacity: int, elements: int) -> BoundMachine:
    """A ring in which so many elements wait at the ends of the first links."""
    start = tuple(min(capacity, max(0, elements - link * capacity)) for link in range(links))
    return bind(Ring, C=capacity, start=start, free=tuple(capacity - here for here in start))


def states_of_ring(links: int, capacity: int, elements: int) -> int:
    """How many states a ring has: a link with k elements has (k + 1)(capacity - k + 1)."""
    ways = [1]
    for _ in range(links):
        longer = [0] * (len(ways) + capacity)
        for before, count in enumerate(ways):
            for here in range(capacity + 1):
                longer[before + here] += count * (here + 1) * (capacity - here + 1)
        ways = longer
    return ways[elements]
