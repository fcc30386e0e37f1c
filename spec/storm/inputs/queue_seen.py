"""A task's input, as its observer sees it.

Theory. ``queue`` has the two queues and the task that drains them, ``limit`` an overflowQ with a
limit. ``observed_input`` sees a tuple that arrives and is kept or dropped, one that is published,
one that is processed, and may ask for the lengths. The queue to which a tuple goes, the moments at
which the task looks at each, and interruptions are hidden.

The observer numbers tuples as it meets them, and follows K of them; a run ends before the next.
The chapters number the tuples of each sender. ``history`` maps one numbering to the other.

A receiving thread of ``limit`` that has looked at the limit has not yet added its tuple. With one
such thread the two cases cannot be distinguished, so lengths are asked for after it has.

Source: ``queue``, ``limit``, ``observed_input``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from .limit import (
    DroppingAbove, DroppingEarly, DroppingSilently, DroppingTheHead, IntoRecvqAnyway, LimitedInput,
)
from .observed_input import ObservedInput
from .queue import (
    AlternatingInput, DrainingInput, DrainThenSizeInput, ForgetfulInput, IntoRecvqInput,
    LocalBehindInput, LocalOverflowInput, OverflowFirstInput, OverfullInput, RecvqSizeFirstInput,
    TaskInput,
)

__all__ = ["EXPECTATIONS", "InputSeen", "LimitedSeen"]

Name = tuple[int, int]
"""The chapter's name of a tuple: its sender, and its number."""
Known = tuple[int, tuple[tuple[Name, int], ...]]
"""The number of tuples that the observer has numbered; and each tuple inside, with that number."""


def named(known: Known, tuple: Name) -> Known:
    """``known`` with a number for one more tuple."""
    count, inside = known
    return count + 1, (*inside, (tuple, count))


def taken(known: Known, tuple: Name) -> tuple[Known, int]:
    """``known`` without a tuple, and the number of that tuple."""
    count, inside = known
    number = next(number for each, number in inside if each == tuple)
    return (count, (*(each for each in inside if each[1] != number),)), number


class InputSeen(View[TaskInput]):
    """Tuples of remote and of local senders."""

    history: Known = (0, ())
    around = ("emitted", "interrupt")   # the senders' numbers, and what others do to the task

    @shown
    def arrive(self, before: TaskInput, after: TaskInput, sender: int) -> Seen:
        self.history = named(self.history, (sender, before.emitted[sender]))
        return see("kept", sender=sender)

    @shown
    def publish(self, before: TaskInput, after: TaskInput, sender: int) -> Seen:
        local = before.R + sender
        self.history = named(self.history, (local, before.emitted[local]))
        return see("published", sender=sender)

    @shown
    def take_from_recvq(self, before: TaskInput, after: TaskInput) -> Seen:
        self.history, number = taken(self.history, before.recvq[0])
        return see("processed", tuple=number)

    @shown
    def take_from_overflowq(self, before: TaskInput, after: TaskInput) -> Seen:
        self.history, number = taken(self.history, before.overflowq[0])
        return see("processed", tuple=number)

    def asked(self, machine: TaskInput) -> Iterable[Seen]:
        """The lengths; and that the task has run out, if both queues are empty."""
        yield see("recvq_sized", count=len(machine.recvq))
        yield see("overflowq_sized", count=len(machine.overflowq))
        if not machine.recvq and not machine.overflowq:
            yield see("ran_out")

    def at_rest(self, machine: TaskInput) -> Iterable[Seen]:
        """Show that the task has run out: an observer concludes it if nothing is processed."""
        yield see("ran_out")


class LimitedSeen(View[LimitedInput]):
    """Tuples of remote senders alone, and drops."""

    history: Known = (0, ())
    around = ("sent",)

    @shown
    def arrive(self, before: LimitedInput, after: LimitedInput, thread: int) -> Seen:
        self.history = named(self.history, (thread, after.sent[thread]))
        is_kept = len(after.recvq) > len(before.recvq) or after.adding[thread]
        return see("kept" if is_kept else "dropped_on_arrival", sender=thread)

    @shown
    def process(self, before: LimitedInput, after: LimitedInput) -> Seen:
        self.history, number = taken(self.history, before.recvq[0])
        return see("processed", tuple=number)

    @shown
    def process_overflow(self, before: LimitedInput, after: LimitedInput) -> Seen:
        self.history, number = taken(self.history, before.overflowq[0])
        return see("processed", tuple=number)

    def asked(self, machine: LimitedInput) -> Iterable[Seen]:
        """The lengths, if no thread is about to add; and the count of drops."""
        yield see("drops_counted", count=sum(machine.dropped))
        if not any(machine.adding):
            yield see("recvq_sized", count=len(machine.recvq))
            yield see("overflowq_sized", count=len(machine.overflowq))
            if not {"process", "process_overflow"} & self.enabled:
                yield see("ran_out")


ROOM = ("self.named < self.K",)

SEEN = refines(TaskInput, ObservedInput, "order, bounds and alternation follow the rules",
               shows=InputSeen, seen_by={"C": "C", "R": "R", "S": "S", "K": 4}, room=ROOM,
               C=(1, 2), M=2)
LIMITED = refines(LimitedInput, ObservedInput, "it drops at the limit, and counts",
                  shows=LimitedSeen, seen_by={"C": "C", "X": "X", "R": "k", "S": 0, "K": "K"},
                  room=ROOM, C=(1, 2), X=(0, 1, 2), K=5, k=1)

EXPECTATIONS = (
    SEEN, LIMITED,
    *(refused(variant, rule, about, like=SEEN, seen_by={"K": 6}, C=1)
      for variant, rule, about in (
        (AlternatingInput, "STORM-Q1", "item-wise alternation (D1)"),
        (DrainThenSizeInput, "STORM-Q1", "the overflow size after recvQ is drained (D2)"),
        (RecvqSizeFirstInput, "STORM-Q1", "the two sizes in the other order"),
        (IntoRecvqInput, "STORM-Q1", "into recvQ whenever it is not full (D9)"),
        (OverflowFirstInput, "STORM-Q1", "the overflowQ comes first"),
        (OverfullInput, "STORM-I2", "local senders do not check for a free slot"),
        (LocalOverflowInput, "STORM-I2", "local senders spill too"),
        (LocalBehindInput, "STORM-I8", "local tuples behind remote ones"),
        (DrainingInput, "STORM-I10", "recvQ is drained without a bound (D3)"),
        (ForgetfulInput, "STORM-I10", "interrupted rounds start over (D3)"),
    )),
    *(refused(variant, rule, about, like=LIMITED, C=1, X=1) for variant, rule, about in (
        (DroppingTheHead, "STORM-I4", "drops from the head"),
        (DroppingAbove, "STORM-I4", "> instead of >="),
        (DroppingEarly, "STORM-I5", "drops below the limit"),
        (DroppingSilently, "STORM-I9", "dropped tuples are not counted"),
    )),
    refused(IntoRecvqAnyway, "STORM-Q1", "into recvQ whenever it is not full (D9)", like=LIMITED,
            C=1, X=0),
)
