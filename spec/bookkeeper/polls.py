"""Long polls: reads that wait until there is something to read.

Theory of operation
-------------------
A client may ask for the entry after the last one that is confirmed, and the server answers when
there is one, or after a time that the client chose. Such a *poll* is a read, and as merged it keeps
its permit while it waits.

So with K permits, K idle polls are enough to block all reads of entries that are there: such a read
has to wait for a writer, or for a poll's client to lose patience. If the clients wait forever, the
reads do, too (BK-41), exactly if there can be as many polls as permits.

A waiting poll needs no permit: it can give it back when it begins to wait, and ask for another when
it has something to send (``GivingBack``). Polls are then bounded by their own number, and reads
continue.

Source: bookkeeper#latent; 004#limit.
"""

from __future__ import annotations

from typing import Any

from ..expectations import expect, prove
from ..notation import MUST, Machine, action, always, boolean, const, integer, leads_to, require

__all__ = [
    "EXPECTATIONS", "ForgettingPolls", "GivingBack", "Impatient", "KeepingSome", "KeepingTheFirst",
    "KeepingWhileBusy", "Polls",
]

LATENT = "bookkeeper#latent"


class Polls(Machine):
    """Polls that keep their permits, with clients that wait forever."""

    K = const(2, at_least=1)            # reads in progress, at most: permits
    G = const(2, at_least=1)            # polls at a time, at most

    free = integer(0, K, init=K)
    polls = integer(0, G)               # that wait for an entry
    held = integer(0, K)                # permits that they have
    serving = integer(0, K)             # reads at the pool, each with a permit
    wanted = boolean()                  # a read of what is there waits for a permit
    leaving = integer(0, G)             # polls that have something to send, and no permit yet

    @action
    def poll(self) -> None:
        """A client asks for the next entry; a poll does not overtake a waiting read."""
        require(self.polls + self.leaving < self.G and self.free > 0 and not self.wanted)
        self.polls += 1
        self.hold()

    def hold(self) -> None:
        """The poll takes a permit like any read."""
        self.free -= 1
        self.held += 1

    @action
    def ask(self) -> None:
        """A client asks for an entry that is there."""
        require(not self.wanted)
        self.wanted = True

    @action(fair=True)
    def admit(self) -> None:
        """The waiting read gets a permit."""
        require(self.wanted and self.free > 0)
        self.wanted = False
        self.free -= 1
        self.serving += 1

    @action(fair=True)
    def serve(self) -> None:
        """The pool has answered a read."""
        require(self.serving > 0)
        self.serving -= 1
        self.free += 1

    @action
    def confirm(self) -> None:
        """A writer has added an entry: a poll is answered."""
        self.end_poll()

    def end_poll(self) -> None:
        """End a poll, and return its permit."""
        require(self.polls > 0)
        self.polls -= 1
        self.held -= 1
        self.free += 1

    @always("BK-40", MUST,
            "Every permit is free or held by a read or a poll; either every waiting poll holds a "
            "permit or no waiting poll does; and there are never more polls than are allowed at "
            "a time.",
            source="bookkeeper#admission, bookkeeper#latent")
    def permits_are_conserved(self) -> bool:
        """Count all K permits."""
        return (self.free + self.held + self.serving == self.K
                and (self.held == self.polls or self.held == 0)
                and self.polls + self.leaving <= self.G)

    @leads_to("BK-41", MUST,
              "A read of an existing entry is admitted eventually, even if all polls wait "
              "forever.",
              source=f"{LATENT}; 004#limit")
    def reads_go_on(self) -> tuple[bool, bool]:
        """No write is needed for that."""
        return self.wanted, not self.wanted


class Impatient(Polls):
    """Clients wait for a time that they choose, and no longer."""

    @action(fair=True)
    def lose_patience(self) -> None:
        """The poll is answered with nothing."""
        self.end_poll()


class GivingBack(Polls):
    """A poll that has no permit while it waits."""

    def hold(self) -> None:
        """Nothing: the poll returns its permit at once."""

    def end_poll(self) -> None:
        """End the wait of a poll, which needs a permit again."""
        require(self.polls > 0)
        self.polls -= 1
        self.leaving += 1

    @always("BK-42", MUST,
            "No poll holds a permit while it waits for an entry.",
            source=LATENT)
    def polls_hold_nothing(self) -> bool:
        """This covers any number of polls."""
        return self.held == 0

    @action(fair=True)
    def leave(self) -> None:
        """A poll that has something to send gets a permit, like any read."""
        require(self.leaving > 0 and self.free > 0 and not self.wanted)
        self.leaving -= 1
        self.free -= 1
        self.serving += 1


class KeepingSome(GivingBack):
    """A poll that is said to return its permit, and keeps it."""

    def hold(self) -> None:
        """The poll keeps its permit, as if it were answered at once."""
        self.free -= 1
        self.held += 1


class KeepingTheFirst(GivingBack):
    """Of all polls that wait the first one keeps its permit."""

    def hold(self) -> None:
        """If no other one has."""
        if self.held == 0:
            self.free -= 1
            self.held += 1


class KeepingWhileBusy(GivingBack):
    """A poll keeps its permit if other reads are in progress."""

    def hold(self) -> None:
        """Else it gives it back."""
        if self.serving > 0:
            self.free -= 1
            self.held += 1


class ForgettingPolls(Polls):
    """A poll that the pool rejects is dropped with its permit."""

    @action
    def forget(self) -> None:
        """The poll ends, and its permit is not returned."""
        require(self.polls > 0)
        self.polls -= 1


GRID: dict[str, Any] = {"K": (1, 2, 3, 4), "G": (1, 2, 3, 4)}

EXPECTATIONS = (
    expect(Polls, "BK-41", "violated", "bookkeeper#latent: reads wait for polls exactly if "
           "there can be as many polls as permits", where="G >= K", **GRID),
    expect(Impatient, "BK-41", "holds", "reads wait no longer than the clients of polls", **GRID),
    expect(GivingBack, "BK-41", "holds", "polls without permits block no read", **GRID),
    prove(Polls, "BK-40", "permits are conserved, for all limits", for_all=("K", "G")),
    expect(GivingBack, "BK-40", "holds", "permits that polls return are conserved", **GRID),
    prove(GivingBack, "BK-40", "permits that polls return are conserved, for all limits",
          for_all=("K", "G"), lemmas=("BK-42",)),
    prove(GivingBack, "BK-42", "polls hold no permit, for all limits", for_all=("K", "G"),
          lemmas=("BK-40",)),
    expect(KeepingSome, "BK-42", "violated", "a poll that keeps its permit although it waits"),
    expect(KeepingTheFirst, "BK-42", "violated", "one poll keeps its permit although it waits"),
    expect(KeepingWhileBusy, "BK-42", "violated", "a poll keeps its permit beside other reads"),
    expect(ForgettingPolls, "BK-40", "violated", "bookkeeper#latent: a poll that is rejected keeps "
           "its permit"),
)

UNSEEN = {
    "BK-41":
        "To the observer of a server a poll is in progress until it is answered, and a read may "
        "wait for as many as the limit; that it waits forever concerns infinite runs only.",
}
