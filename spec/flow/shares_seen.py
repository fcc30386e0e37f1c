"""Several senders and one buffer, as the network sees it: one of the links, and all together.

Theory. In ``fan_in`` each sender has a link of c slots of its own to the receiver, and in its
buffer all elements wait. An observer that carries the messages of *one* link sees that its credits
come back for its own elements alone, whatever the others do. In ``sums`` all links are taken
together: to an observer that carries the messages of all of them, they are one link of n c slots.

Source: ``fan_in``, ``sums``, ``observed_link``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..notation.views import Seen, see, shown
from ..refinements import refines, refused
from .fan_in import FanIn, Keeping
from .link_seen import Carrying
from .observed_link import ObservedLink
from .sums import Forgetting, Shares, Unknown

__all__ = ["EXPECTATIONS", "AllLinks", "FirstLink"]

OFFER = see("offer", count=1)
SENT = (see("sends"), OFFER)


class FirstLink(Carrying[FanIn]):
    """The link of the first sender."""

    def begins(self, machine: FanIn) -> Iterable[Seen]:
        """There is always one element to send."""
        return [OFFER]

    @shown
    def send(self, before: FanIn, after: FanIn, sender: int) -> Iterable[Seen]:
        return (*SENT, self.arrived()) if sender == 0 else ()

    @shown
    def free(self, before: FanIn, after: FanIn, sender: int) -> Iterable[Seen]:
        processed = [self.processed()] if sender == 0 else []
        return *processed, *given(after.P[0] - before.P[0])

    def asked(self, machine: FanIn) -> Iterable[Seen | Sequence[Seen]]:
        """The receiver never keeps a credit back, and a sender with one uses it. If more elements
        wait than there are slots, one is lost, and the one behind it is processed in its place.
        """
        if sum(machine.N) > machine.C and machine.N[0] > 0:
            yield see("processes_another")
        yield see("receiver_rests")
        if "send" not in self.enabled:
            yield see("sender_rests")
        yield from self.missing("free")


class AllLinks(Carrying[Shares]):
    """The links of all senders, as if they were one."""

    def begins(self, machine: Shares) -> Iterable[Seen]:
        """There is always one element to send."""
        return [OFFER]

    @shown
    def send(self, before: Shares, after: Shares) -> Iterable[Seen]:
        return *SENT, self.arrived()

    @shown
    def free(self, before: Shares, after: Shares) -> Iterable[Seen]:
        return self.processed(), *given(after.P - before.P)

    def asked(self, machine: Shares) -> Iterable[Seen | Sequence[Seen]]:
        """The receiver never keeps a credit back, and a sender with one uses it."""
        yield see("receiver_rests")
        if "send" not in self.enabled:
            yield see("sender_rests")
        yield from self.missing("free")


def given(permits: int) -> list[Seen]:
    """The message with ``permits`` credits and its arrival; empty if there are none."""
    return [see("grants", count=permits), see("permit", count=permits)] if permits > 0 else []


ONE = refines(FanIn, ObservedLink, "each link keeps its credits", shows=FirstLink,
              seen_by={"C": "c", "b": 1, "K": 1}, n=(1, 2), c=(1, 2),
              C=lambda n, c: (n * c,))
ALL = refines(Shares, ObservedLink, "all links together are a link", shows=AllLinks,
              seen_by={"C": "C", "b": 1, "K": 1}, n=(1, 2, 3), c=(1, 2), C=lambda n, c: (n * c,))

EXPECTATIONS = (
    ONE,
    ALL,
    refused(Keeping, "FLOW-7", "a credit for what another sender has sent", like=ONE, n=2, c=1,
            C=2),
    refused(Forgetting, "FLOW-9", "a credit that is not given back", like=ALL, n=2, c=1, C=2),
    refused(Unknown, "FLOW-6", "an element of a sender that the receiver does not know", like=ALL,
            n=(1, 2), c=1, C=lambda n, c: (n * c,)),
)
