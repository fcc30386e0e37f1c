"""Every way to write to a link or read from one, for each flow kind, in terms of its places.

A credit link is the loop of tokens of FLOW (see ``spec/flow/credit.py``) with the two
hops of the channel folded: what is in flight counts as enqueued, and a granted permit as
received. Folding is exact for the properties checked here, because the order of the hops
can be chosen freely and an element in flight can wait as long as one in the queue; what
is lost is lost at the moment it is sent.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...notation.labels import counted
from ..reading.language import Flow
from . import lines, signals
from .places import LinkPlaces, free_threads
from .rows import FAILED, Effect, Invariant, Place, Row

__all__ = ["LinkMoves"]


class LinkMoves(LinkPlaces):
    """The effects on the places of one link."""

    def places(self) -> Iterator[Place]:
        """The places, as they are at the start."""
        if self.meets:
            return
        link, room = self.link, self.capacity
        # Fewer than a reader takes at once are no work that is left, nor are elements if their
        # readers have
        # all ceased to run, as all that may have in the end.
        left_over = room if self.abandoned else self.least_taken - 1
        limit = room - 1 if link.flow is Flow.UNBOUNDED and not self.unbounded.abstract else room
        yield Place(self.queue, "queue", link.name, link.initial, room, left_over, limit)
        if self.is_credit:
            yield Place(self.permits, "permits", link.name, room - link.initial, room, room, room)
            yield Place(self.freed, "freed", link.name, 0, room, room, room)
        if link.flow is Flow.STOP_GO:
            yield from signals.places(self)
        if link.in_line:
            yield from lines.places(self)
        if link.lossy:
            yield Place(self.budget, "budget", link.name, link.lossy, link.lossy,
                        link.lossy, link.lossy)

    def invariants(self) -> Iterator[Invariant]:
        """LINK-CONS: permits, elements, freed slots and losses add up to the capacity."""
        if self.is_credit:
            weights = {self.permits: 1, self.queue: 1, self.freed: 1}
            if self.link.lossy:
                weights[self.budget] = -1
            yield Invariant(weights, self.capacity - self.link.lossy)
        if self.link.flow is Flow.STOP_GO:
            yield signals.invariant(self)

    # --- reading ------------------------------------------------------------------------

    def read(self, taking: int | None = None) -> Iterator[Effect]:
        """Every way to take ``takes`` elements, or as many as ``taking`` says."""
        link, n = self.link, taking or self.link.takes
        words = (f"reads {_several(n)}from {link.name}",)
        if self.meets:
            yield Effect(words=words, meets=frozenset({(link.name, False)}))
            return
        change = {self.queue: -n}
        if self.is_credit:
            change[self.freed] = n
        if self.slots:
            change[self.slots] = n
        plain = Effect({self.queue: n}, {}, change, words)
        yield from lines.reads(self, plain) if link.in_line else [plain]
        if link.flow is Flow.UNBOUNDED and self.unbounded.abstract:
            full = self.capacity
            for fewer in range(n):
                yield Effect({self.queue: full}, {}, {self.queue: -fewer}, words, abstract=True)

    def is_empty(self) -> Effect:
        """Nothing can be read."""
        if self.meets:
            return Effect(unless=frozenset({self.link.name}))
        return Effect(at_most={self.queue: self.link.takes - 1})

    def refuses(self) -> Iterator[Effect]:
        """It cannot be read now: there is nothing, or something else stands before it."""
        yield from lines.refused(self) if self.link.in_line else [self.is_empty()]

    def is_full(self) -> Iterator[Effect]:
        """Nothing can be written; nothing where it always can."""
        n = self.link.gives
        if self.is_credit:
            yield Effect(at_most={self.permits: n - 1})
        elif self.slots:
            yield Effect(at_most={self.slots: n - 1})
        elif self.link.flow is Flow.STOP_GO:
            yield signals.is_stopped(self)
        elif self.link.flow is Flow.BLOCKING:
            yield Effect({self.queue: self.capacity - n + 1})

    # --- writing ------------------------------------------------------------------------

    def write(self, giving: int | None = None) -> Iterator[Effect]:
        """Every way to write ``gives`` elements, or as many as ``giving`` says; where the link is
        closed, that fails."""
        if not self.link.closes:
            yield from self._writes(giving)
            return
        place, name = free_threads(self.link.open), self.link.name
        for way in self._writes(giving):
            yield Effect({place: 1}).then(way)
        yield Effect({}, {place: 0}, {FAILED: 1}, (f"writes to {name}, which is closed",))

    def _writes(self, giving: int | None) -> Iterator[Effect]:
        """The effects of a write: it takes room of the link's flow, may be lost in a lossy channel,
        or meets a full queue."""
        link, n = self.link, giving or self.link.gives
        words = f"writes {_several(n)}to {link.name}"
        if self.meets:
            yield Effect(words=(words,), meets=frozenset({(link.name, True)}))
            return
        if link.flow is Flow.STOP_GO:
            yield from signals.writes(self)
            return
        if self.is_credit:
            room = Effect({self.permits: n}, {}, {self.permits: -n, self.queue: n}, (words,))
        elif self.slots:
            room = Effect({self.slots: n}, {}, {self.slots: -n, self.queue: n}, (words,))
        else:
            room = Effect({}, {self.queue: self.capacity - n}, {self.queue: n}, (words,))
        yield from lines.writes(self, room) if link.in_line else [room]
        if link.lossy:
            yield room.then(Effect(
                {self.budget: 1}, {}, {self.budget: -1, self.queue: -1},
                ("of which the channel loses one",), fair=False, loses=True,
            ))
        yield from self._overflow(n)

    def _overflow(self, n: int) -> Iterator[Effect]:
        """The effects of a write for which there is no room for all ``n``."""
        link, room, here = self.link, self.capacity, frozenset({self.queue})
        if link.flow is Flow.FAIL:
            words = (f"overflows {link.name}, which fails",)
            yield Effect({self.queue: room - n + 1}, {}, {FAILED: 1}, words, overflows=here)
        if link.flow not in (Flow.DROP_NEWEST, Flow.DROP_OLDEST, Flow.UNBOUNDED):
            return
        for beyond in range(1, n + 1):
            before = room - n + beyond
            if before < 0:
                continue
            exactly = {self.queue: before}
            change = {self.queue: n - beyond} if n > beyond else {}
            if link.flow in (Flow.DROP_NEWEST, Flow.DROP_OLDEST):
                words = (self._drop(n, beyond),)
                yield Effect(exactly, exactly, change, words, loses=True, overflows=here)
            elif self.unbounded.abstract:
                words = (f"writes {_several(n)}to {link.name}",)
                yield Effect(exactly, exactly, change, words, abstract=True, overflows=here)

    def _drop(self, n: int, beyond: int) -> str:
        """The words for the elements that are dropped when ``beyond`` of ``n`` do not fit."""
        name = self.link.name
        if self.link.flow is Flow.DROP_OLDEST:
            return f"writes {_several(n)}to {name}, which is full and drops its oldest {beyond}"
        dropped = "its element" if n == 1 else f"{beyond} of its {n} elements"
        return f"finds {name} full and drops {dropped}"

    def own_rows(self) -> Iterator[Row]:
        """The rows of the link itself: the reader's side announces freed slots, or calls go."""
        if self.link.flow is Flow.STOP_GO:
            yield from signals.own_rows(self)
        if not self.is_credit:
            return
        link, b = self.link, self.link.batch
        reader = link.readers[0]
        words = f"announces {counted(b, 'freed slot')} of {link.name}"
        yield Row(reader, Effect(
            {self.freed: b}, {}, {self.freed: -b, self.permits: b}, (words,)), own=False)
        if link.lossy >= b:
            yield Row(reader, Effect(
                {self.freed: b, self.budget: b}, {}, {self.freed: -b, self.budget: -b},
                (f"{words}, which is lost",), fair=False, loses=True,
            ), own=False)


def _several(n: int) -> str:
    return "" if n == 1 else f"{n} elements "
