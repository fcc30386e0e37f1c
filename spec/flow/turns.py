"""Push and pull: which end sends the first message, and how many credits there are before it.

Theory of operation
-------------------
In *stop-and-wait* there is one token, C = 1. A pushed link begins with data, a pulled one with a
request, and from then on both do the same: credit and data alternate. So they are one automaton
with two initial markings. The same is true of any C: a pushed link begins with C credits at A, a
pulled one with C credits on their way to it, and every rule of ``credit`` holds of either, with the
same exact condition for a deadlock.

What the mail leaves out (003#E9) is where a pushing sender's first credits come from. It says that
A does not know how large B's buffer is, and lets A send four elements before B has said anything.
If A begins with G credits by its own guess, B is overrun exactly if G > C. So the first marking
is part of the protocol: a constant of both ends, or a first message of B, which is what pulling is.

Source: the mail "back pressure"; 003#push-pull, 003#E9.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..expectations import expect, prove
from ..notation import SHOULD, Machine, action, boolean, const, guard_rule, integer, require
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .credit import BATCHES, CAPACITIES, Link, losses

__all__ = ["EXPECTATIONS", "Guessing", "Pulled", "PulledSeen", "PushedSeen", "Turns"]

PUSH_PULL = "003#push-pull"

TAKE_TURNS = guard_rule(
    "FLOW-63", SHOULD,
    "On a link with a single token, messages with data and with credits are sent by turns: a "
    "pushed link begins with data, a pulled one with a credit.",
    source=f"{PUSH_PULL}: the repeating pattern is always the same")


class Pulled(Link):
    """A link with a receiver that speaks first: its credits are on their way."""

    P = integer(0, Link.C)
    Q = integer(0, Link.C, init=Link.C)


class Guessing(Link):
    """A link with a sender that begins with G credits, whatever free slots there are."""

    G = const(4, at_least=1)

    P = integer(0, G, init=G)
    Q = integer(0, G)
    D = integer(0, G)
    N = integer(0, G)
    F = integer(0, G)


class Turns(Machine):
    """The messages of a link with one token: credit, data, credit, data, …"""

    first = const(0, at_most=1)         # 1: a credit comes first

    permit_was_last = boolean(False)
    begun = boolean(False)

    @action
    def permit(self) -> None:
        """B sends its credit."""
        require(self.is_turn_of_permit(), TAKE_TURNS)
        self.begun = True
        self.permit_was_last = True

    @action
    def data(self) -> None:
        """A sends an element."""
        require(not self.is_turn_of_permit(), TAKE_TURNS)
        self.begun = True
        self.permit_was_last = False

    def is_turn_of_permit(self) -> bool:
        """True after data, and at first if the link is pulled."""
        return not self.permit_was_last if self.begun else self.first == 1


class PushedSeen(View[Link]):
    """Each message when it is sent."""

    @shown
    def send(self, before: Link, after: Link) -> Seen:
        return see("data")

    @shown
    def grant(self, before: Link, after: Link) -> Seen:
        return see("permit")


class PulledSeen(PushedSeen):
    """The same; the first credit was sent before all else."""

    def begins(self, machine: Link) -> Iterable[Seen]:
        """B has asked already, by its credit."""
        return [see("permit")]


PUSHED = refines(Link, Turns, "pushed: data first, then by turns", shows=PushedSeen,
                 seen_by={"first": 0}, C=1, b=1)
PULLED = refines(Pulled, Turns, "pulled: a credit first, then by turns", shows=PulledSeen,
                 seen_by={"first": 1}, C=1, b=1)

EXPECTATIONS = (
    PUSHED,
    PULLED,
    refused(Link, "FLOW-63", "with two tokens two elements go in a row", like=PUSHED, C=2,
            b=(1, 2)),
    expect(Pulled, "FLOW-3", "violated", "a pulled link deadlocks exactly where a pushed one does",
           where="C - L < b", C=CAPACITIES, b=BATCHES, L=losses),
    prove(Pulled, "FLOW-1", "a pulled link conserves its tokens", for_all=("C", "b", "L")),
    prove(Pulled, "FLOW-2", "a pulled link is bounded", for_all=("C", "b", "L"),
          lemmas=("FLOW-1",)),
    expect(Guessing, "FLOW-2", "violated",
           "003#E9: a sender that guesses its first credits overruns B exactly where G > C",
           where="G > C", C=(1, 2, 3), G=(1, 2, 3, 4)),
)

UNSEEN = {
    "FLOW-63":
        "With one credit it follows from what the link's observer asks of each end, FLOW-6 and "
        "FLOW-7; no suite judges it by itself.",
}
