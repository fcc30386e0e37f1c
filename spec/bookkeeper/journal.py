"""The journal: adds that wait for each other, and what that has to do with the limit.

Theory of operation
-------------------
An add goes to the ledger's storage first, and then to the journal. It is finished when the journal
has been forced to disk (fsync). Forcing is slow, so the journal's thread collects a *group* of adds
and forces them together; another thread forces, and answers, while the next group is collected.

    start --> storage --> group of g --full, or after a while--> forced --> answered
    permit                one thread                          another     permit back

So adds wait for other adds, which need permits themselves. With K permits and a group of g that is
closed only when it is full, nothing can continue once all K adds are in the group: a deadlock
exactly if K < g. A timer saves the journal (Z = 1, journalMaxGroupWaitMSec), at the price of its
wait for each group; that is the *misconfigured delay* of which the text speaks. The limits that the
text proposes, from twice the threads and one group up, are never below g: they keep the journal
free of deadlocks, although the text does not mention it. A limit that is chosen by experiment need
not.

The text defines requests in progress as those at a thread and those that wait for one. An add that
waits for its group is neither, and has its permit all the same, because its response has not been
sent. The text's own lifetime, from reading to the response, is the right definition (BK-84).

The observer plays storage and disk, and says that an add is done when both have finished it. A
server that answers before that is refused, and so is one that waits for a group that can never be
filled: nothing is left to be done then, and the responses are owed.

Source: BookKeeper pull request 1410; 004#order, 004#limit, bookkeeper#journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..expectations import expect, prove
from ..notation import (
    CLAIM, MUST, Machine, action, always, assume, const, integer, never_stuck, require,
)
from ..notation.views import Seen, View, see, shown
from ..refinements import refines, refused
from .observed_bookkeeper import Kind, ObservedBookkeeper

__all__ = [
    "AnsweringAtOnce", "AnsweringBeforeForcing", "ByTheFormula", "EXPECTATIONS", "Filled",
    "Journal", "JournalFirst", "JournalSeen",
]

ORDER = "004#order"
LIMIT = "004#limit"
CODE = "bookkeeper#journal"


class Journal(Machine):
    """Adds, counted by place; there is always another one to start."""

    K = const(2, at_least=1)            # adds in progress, at most
    g = const(2, at_least=1)            # adds of a full group
    Z = const(0, at_most=1)             # 1: a group is closed after a while, full or not

    free = integer(0, K, init=K)        # permits
    at_storage = integer(0, K)          # at a thread, or waiting for one
    group = integer(0, g)               # written to the journal's file, and not forced
    forcing = integer(0, K)             # their group is closed
    forced = integer(0, K)              # on disk, and not yet answered
    late_storage = integer(0, K)        # answered, and not in storage yet
    late_force = integer(0, K)          # answered, and not on disk yet

    @action(fair=True)
    def start(self) -> None:
        """An add gets a permit, and goes to storage."""
        require(self.free > 0)
        self.free -= 1
        self.at_storage += 1

    @action(fair=True)
    def log(self) -> None:
        """Storage has it; the journal's thread puts it into the group."""
        require(self.at_storage > 0 and self.group < self.g)
        self.at_storage -= 1
        self.group += 1

    @action(fair=True)
    def close(self) -> None:
        """The group is full, or has waited long enough."""
        require(self.group == self.g or (self.Z == 1 and self.group > 0))
        self.forcing += self.group
        self.group = 0

    @action(fair=True)
    def force(self) -> None:
        """The closed groups are forced to disk."""
        require(self.forcing > 0)
        self.forced += self.forcing
        self.forcing = 0

    @action(fair=True)
    def answer(self) -> None:
        """The response of an add is sent, and its permit is returned."""
        require(self.forced > 0)
        self.forced -= 1
        self.free += 1

    # --- rules -------------------------------------------------------------------------------

    @always("BK-80", MUST, "Every permit for adds is free, or held by an add in progress.",
            source=f"{LIMIT}; {CODE}")
    def permits_are_conserved(self) -> bool:
        """Adds hold them at storage, in the group, in a closed group, or on disk."""
        return (self.free + self.at_storage + self.group + self.forcing + self.forced
                + self.late_force + self.late_storage == self.K)

    @never_stuck("BK-81", MUST,
                 "Adds and journal are never deadlocked: some add can always get a permit, "
                 "enter a group, be forced to disk or be answered, or a group can be closed.",
                 source=f"{ORDER} ('batching delay (mis)configuration'); {CODE}")
    def somebody_goes_on(self) -> bool:
        """Work is always left: there is always another add."""
        return False

    @always("BK-82", MUST,
            "An add is answered only after its journal entry has been forced to disk.",
            source=f"{ORDER} ('finished when journal's write is fsynced')")
    def what_is_answered_is_on_disk(self) -> bool:
        """Otherwise a power failure loses entries that were confirmed."""
        return self.late_force == 0

    @always("BK-83", MUST, "An add is answered only after its entry has been put into storage.",
            source=ORDER)
    def what_is_answered_is_in_storage(self) -> bool:
        """A client that receives the answer can read the entry."""
        return self.late_storage == 0

    @always("BK-84", CLAIM,
            "Exactly the requests at a thread of the pool, and those that wait for such a "
            "thread, hold a permit.",
            source=f"{LIMIT} ('requests being processed by threads in threadpool + "
            "requests waiting for the next thread')")
    def they_are_at_threads(self) -> bool:
        """Requests in progress are those with a permit."""
        return self.K - self.free == self.at_storage


class Filled(Journal):
    """The permits suffice to fill a group, or its thread has a timer: no deadlock."""

    @assume
    def a_group_can_be_filled(self) -> bool:
        """The K adds in progress can fill a group, or a timer closes it."""
        return self.g <= self.K or self.Z == 1


class ByTheFormula(Journal):
    """The limit is what the text proposes: twice the threads, and a group."""

    T = const(1, at_least=1)            # threads

    @assume
    def it_is_the_formula(self) -> bool:
        """The first of the text's three formulas."""
        return self.K == 2 * self.T + self.g


class AnsweringBeforeForcing(Journal):
    """An add is answered when it has been written to the journal's file."""

    @action(fair=True)
    def log(self) -> None:
        """Answer when the operating system has it, and the disk does not."""
        require(self.at_storage > 0)
        self.at_storage -= 1
        self.late_force += 1

    @action(fair=True)
    def force(self) -> None:
        """The disk gets it later, in the background."""
        require(self.late_force > 0)
        self.free += self.late_force
        self.late_force = 0


class AnsweringAtOnce(Journal):
    """The permit is returned when an add has been put into the group (BookKeeper #3837)."""

    @action(fair=True)
    def log(self) -> None:
        """Return the permit early, so that another add may start; K bounds the model."""
        require(self.at_storage > 0 and self.group < self.g)
        require(self.group + self.forcing + self.forced < self.K)
        self.at_storage -= 1
        self.group += 1
        self.free += 1

    @action(fair=True)
    def answer(self) -> None:
        """There is no permit to give back."""
        require(self.forced > 0)
        self.forced -= 1


class JournalFirst(Journal):
    """An add goes to the journal first, and to storage later."""

    @action(fair=True)
    def answer(self) -> None:
        """It is on disk, and cannot be read yet."""
        require(self.forced > 0)
        self.forced -= 1
        self.late_storage += 1

    @action(fair=True)
    def store(self) -> None:
        """Storage catches up on an add that was answered."""
        require(self.late_storage > 0)
        self.late_storage -= 1
        self.free += 1


class Adds(NamedTuple):
    """The numbers of the adds."""

    named: int = 0
    started: tuple[int, ...] = ()       # and not answered, the oldest first


class JournalSeen(View[Journal]):
    """Adds are numbered as they are read, all from one channel. The oldest is answered first,
    because they are alike."""

    history: Adds = Adds()

    @shown
    def start(self, before: Journal, after: Journal) -> Iterable[Seen]:
        add = self.history.named
        self.history = Adds(add + 1, (*self.history.started, add))
        return [see("receive", channel=0, kind=Kind.ADD), see("starts", request=add)]

    @shown
    def log(self, before: Journal, after: Journal) -> Iterable[Seen]:
        return self.answered() if after.late_force > before.late_force else []

    @shown
    def answer(self, before: Journal, after: Journal) -> Iterable[Seen]:
        return self.answered("done" if after.late_storage == before.late_storage else "")

    def answered(self, *before: str) -> list[Seen]:
        """The answer of the oldest add, after the steps ``before``."""
        if not self.history.started:
            return [see("invents")]
        add, *started = self.history.started
        self.history = self.history._replace(started=tuple(started))
        return [see(each, request=add) for each in (*before, "writes") if each]

    def asked(self, machine: Journal) -> Iterable[Seen]:
        """The quiescence, if every add that is on disk was answered."""
        if "answer" not in self.enabled:
            yield see("rests")

    def at_rest(self, machine: Journal) -> Iterable[Sequence[Seen]]:
        """In a deadlock, that storage and disk have finished; and that the next add has to wait."""
        if self.history.started:
            yield see("done", request=self.history.started[0]), see("rests")
        yield see("receive", channel=0, kind=Kind.ADD), see("pauses", channel=0), see("rests")


def _groups(K: int, Z: int) -> range:
    """Sizes of groups that K permits fill, and with a timer also one that they do not."""
    return range(1, K + 1 + Z)


SEEN = refines(
    Journal, ObservedBookkeeper, "adds in the journal are answered by the rules", shows=JournalSeen,
    seen_by={"N": 1, "K": "K", "Q": "K", "R": "K + 2"}, room=("self.named < self.R",),
    K=(1, 2), Z=(0, 1), g=_groups)

GRID: dict[str, Any] = {"K": range(1, 9), "g": range(1, 9), "Z": (0, 1)}
BOOKS = ("BK-80", "BK-82", "BK-83")
FEW: dict[str, Any] = {"K": (1, 2, 3), "g": (1, 2, 3), "Z": (0, 1)}

EXPECTATIONS = (
    expect(Journal, "BK-81", "violated",
           "004: deadlocked exactly if all permits do not fill a group "
           "that has no timer", where="K < g and Z == 0", **GRID),
    prove(Filled, "BK-81", "never deadlocked if K >= g, or with a timer, for all sizes",
          for_all=("K", "g"), lemmas=BOOKS, Z=(0, 1)),
    prove(ByTheFormula, "BK-81",
          "004: limits by the text's formula exclude the deadlock, for all sizes",
          for_all=("K", "g", "T"), lemmas=BOOKS, Z=(0, 1)),
    *(prove(Journal, rule, f"{says}, for all sizes", for_all=("K", "g"), lemmas=lemmas, Z=(0, 1))
      for rule, says, lemmas in (
        ("BK-80", "permits are conserved", ()),
        ("BK-82", "answered adds are on disk", ("BK-80",)),
        ("BK-83", "answered adds can be read", ("BK-80",)))),
    *(expect(Journal, rule, "holds", says, **FEW) for rule, says in (
        ("BK-80", "permits are conserved"),
        ("BK-82", "answered adds are on disk"),
        ("BK-83", "answered adds can be read"))),
    expect(Journal, "BK-84", "violated", "004: an add that waits for its group is at no thread, "
           "and is in progress", **FEW),
    expect(AnsweringAtOnce, "BK-80", "violated", "BookKeeper #3837: more adds are in progress "
           "than there are permits", K=(1, 2), g=(1, 2)),
    expect(AnsweringBeforeForcing, "BK-82", "violated", "an answered add is lost at a power "
           "failure", K=1, g=1),
    expect(JournalFirst, "BK-83", "violated", "an answered add cannot be read yet", K=1,
           g=1),
    SEEN,
    refused(Journal, "BK-57", "004: adds wait for a group that can never be filled", like=SEEN,
            K=1, Z=0, g=2),
    refused(AnsweringAtOnce, "BK-2", "BookKeeper #3837: an add too many is in progress", like=SEEN,
            K=1, Z=0, g=1),
    refused(AnsweringBeforeForcing, "BK-50", "an add is answered before the disk has done",
            like=SEEN, K=1, Z=0, g=1),
    refused(JournalFirst, "BK-50", "an add is answered before storage has done", like=SEEN, K=1,
            Z=0, g=1),
)

UNSEEN = {
    "BK-84":
        "It is false of every server with adds that wait for a journal, so it is not required of "
        "implementations.",
}
