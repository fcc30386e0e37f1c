"""The credit-controlled link, as the network that carries its messages sees it.

Theory. In ``credit`` A always has data: to its observer an application offers a new element
whenever one was sent. Credits arrive one by one there, and several may be in one message here. An
end of the link may be asked whether it is idle at any moment at which it can do nothing more.

The network of this observer loses nothing (L = 0).

Source: ``credit``, ``observed_link``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ..notation.machine import Machine
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .credit import (
    FilteringLink, GrantingAtArrival, HoardingLink, Link, MintingLink, OverdrawingLink,
    TricklingLink,
)
from .observed_link import ObservedLink

__all__ = ["EXPECTATIONS", "Carrying", "LinkSeen"]

M = TypeVar("M", bound=Machine)

OFFER = see("offer", count=1)


class Carrying(View[M]):
    """A view of an observer that carries the messages of a link, and so counts what has arrived.

    It asks B for the oldest element that has arrived; B cannot answer that it has none. The history
    is the number of elements that have arrived and are not processed.
    """

    history: int = 0

    def arrived(self) -> Seen:
        """An element is delivered to B."""
        self.history += 1
        return see("data")

    def processed(self) -> Seen:
        """B has processed an element."""
        self.history = max(0, self.history - 1)
        return see("processes")

    def missing(self, action: str) -> list[Seen]:
        """Report B at fault if it is asked for an element that has arrived, and cannot take one."""
        return [see("processes_another")] if self.history > 0 and action not in self.enabled else []


class LinkSeen(Carrying[Link]):
    """All messages, when they are sent and when they are delivered."""

    around = ("D",)

    def begins(self, machine: Link) -> Iterable[Seen]:
        """There is always one element to send."""
        return [OFFER]

    @shown
    def send(self, before: Link, after: Link) -> Iterable[Seen]:
        return see("sends"), OFFER

    @shown
    def arrive(self, before: Link, after: Link) -> Iterable[Seen]:
        return self.arrived(), *granted(before, after)

    @shown
    def free(self, before: Link, after: Link) -> Seen:
        return self.processed()

    @shown
    def grant(self, before: Link, after: Link) -> Iterable[Seen]:
        return granted(before, after)

    @shown
    def receive(self, before: Link, after: Link) -> Seen:
        return see("permit", count=1)

    def asked(self, machine: Link) -> Iterable[Seen | Sequence[Seen]]:
        """Report each end as idle that can do nothing more."""
        if "send" not in self.enabled:
            yield see("sender_rests")
        if "grant" not in self.enabled:
            yield see("receiver_rests")
        yield from self.missing("free")


def granted(before: Link, after: Link) -> list[Seen]:
    """The message with the credits that a step granted; empty if none."""
    count = after.Q - before.Q
    return [see("grants", count=count)] if count else []


SEEN = refines(Link, ObservedLink, "each end keeps to its share", shows=LinkSeen,
               seen_by={"C": "C", "b": "b", "K": 1}, C=(1, 2, 3, 4),
               b=lambda C: range(1, C + 1))

EXPECTATIONS = (
    SEEN,
    refused(OverdrawingLink, "FLOW-6", "an element without a credit", like=SEEN, C=(1, 2), b=1),
    refused(MintingLink, "FLOW-7", "a slot that is announced twice", like=SEEN, C=(1, 2), b=1),
    refused(GrantingAtArrival, "FLOW-7", "a slot that is announced while it is taken", like=SEEN,
            C=(1, 2), b=1),
    refused(TricklingLink, "FLOW-5", "slots announced one by one", like=SEEN, C=(2, 3), b=2),
    refused(FilteringLink, "FLOW-8", "a credit that is spent on nothing", like=SEEN, C=(1, 2),
            b=1),
    refused(HoardingLink, "FLOW-9", "a batch that is not announced", like=SEEN, C=(2, 3), b=1),
    refused(HoardingLink, "FLOW-3", "all slots are free, and A does not know", like=SEEN, C=1,
            b=1),
)
