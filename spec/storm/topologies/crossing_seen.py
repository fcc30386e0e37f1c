"""Two paths that cross two workers, as the observer of a run sees them.

Theory. ``crossing`` has two workers and the tuples on the links between them. The observer of a run
(``observed_topology``) sees what a worker writes to a connection, and that the run becomes
quiescent or stalls. A correct pair of workers does neither, because their spouts always have data.
A pair that can take no step is not quiescent but stalled: everything is pending forever.

The observer of a task's input (``observed_input``) sees of a receiving thread whether it waits.

A task that keeps a refused tuple although its receiver has a free slot, and does not try again
(``waiting``), stalls the run as well: the tuple is pending, and no wake-up reaches the task.

Source: ``crossing``, ``waiting``, ``observed_topology``, ``observed_input``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from ..inputs.observed_input import ObservedInput
from ..inputs.waiting import Retrying, WaitingForWakeUp
from .crossing import (
    CrossingPaths, DeafSpouts, DroppingAtTheLimit, RefusingReceiver, RefusingTheHead,
    SendingRegardless, WaitingAtTheLimit, WithoutTransferThread,
)
from .observed_topology import ObservedOverflow, ObservedRun

__all__ = ["EXPECTATIONS", "LengthsSeen", "PathsSeen", "RetriesSeen", "ThreadSeen"]


class PathsSeen(View[CrossingPaths]):
    """The tuples that are written to the links."""

    @shown
    def emit(self, before: CrossingPaths, after: CrossingPaths, worker: int) -> Seen:
        return see("writes", standing=len(before.link[worker]))

    @shown
    def forward(self, before: CrossingPaths, after: CrossingPaths, worker: int) -> Seen:
        return see("writes", standing=len(before.link[worker]))

    def at_rest(self, machine: CrossingPaths) -> Iterable[Seen]:
        """Show that the run stalls, because no task can take a step."""
        yield see("stalls")


class ThreadSeen(View[CrossingPaths]):
    """The receiving thread of worker 0, as the observer of an input sees it."""

    def asked(self, machine: CrossingPaths) -> Iterable[Seen]:
        """Show that the thread waits with the next tuple, if it does."""
        if machine.link[1] and not machine.can_place(0):
            yield see("held_up", sender=0)


class LengthsSeen(View[CrossingPaths]):
    """The lengths of the overflowQs of middle and last bolts; no status is lost."""

    def asked(self, machine: CrossingPaths) -> Iterable[Seen]:
        """The number of tuples beyond the capacity of recvQ, for each bolt."""
        for length in (*machine.middle, *machine.last):
            yield see("holds", overflowq=max(0, length - machine.C))


class RetriesSeen(View[Retrying]):
    """The writes of a task that was refused, and whether its run stalls.

    ``history`` counts the failed attempts in a row while the receiver had a free slot; more than
    one for each turn of the strategy means forever.
    """

    history: int = 0
    around = ("fill_up", "drain", "room")

    @shown
    def attempt(self, before: Retrying, after: Retrying) -> Seen | None:
        in_vain = before.room and after.refused
        self.history = min(self.history + 1, after.l1 + after.l2 + 2) if in_vain else 0
        return None if after.refused else see("writes", standing=0)

    @shown
    def fill_up(self, before: Retrying, after: Retrying) -> None:
        self.history = 0

    def asked(self, machine: Retrying) -> Iterable[Seen]:
        """Show that the run stalls: the task tries in vain, or not at all."""
        if machine.refused and machine.room and (
                self.history > machine.l1 + machine.l2 + 1
                or not self.enabled & {"attempt", "wake"}):
            yield see("stalls")


PATHS = refines(CrossingPaths, ObservedRun, "two paths that cross continue", shows=PathsSeen,
                seen_by={"W": "W"}, W=1, H=0)
THREAD = refines(CrossingPaths, ObservedInput, "a receiving thread never waits", shows=ThreadSeen,
                 seen_by={"C": "C", "R": 1, "S": 0, "K": 1}, W=1, H=0)

LENGTHS = refines(CrossingPaths, ObservedOverflow, "an overflowQ keeps its bound",
                  shows=LengthsSeen, seen_by={"W": "W", "H": "H"}, W=1, H=(0, 1))

RETRIES = refines(Retrying, ObservedRun, "a task that is refused tries again", shows=RetriesSeen,
                  l1=(0, 1), l2=(0, 1))

EXPECTATIONS = (
    PATHS, THREAD, LENGTHS, RETRIES,
    refused(WaitingForWakeUp, "STORM-C13", "a task is not woken although its receiver is not full",
            like=RETRIES),
    refines(DroppingAtTheLimit, ObservedRun, "dropping at the limit stops no task",
            shows=PathsSeen, seen_by={"W": "W"}, W=1, H=1, X=0),
    refines(RefusingReceiver, ObservedRun, "a receiver that refuses stops no task",
            shows=PathsSeen, seen_by={"W": "W"}, W=1),
    refused(WaitingAtTheLimit, "STORM-C13", "a receiving thread waits at the limit (D7)",
            like=PATHS, X=0),
    refused(WaitingAtTheLimit, "STORM-I11", "the next tuple has no slot (D7)", like=THREAD, X=0),
    refused(WithoutTransferThread, "STORM-C13", "nothing leaves the worker (STORM-2983)",
            like=PATHS),
    refused(RefusingTheHead, "STORM-C13", "a refused tuple is tried again before the next one",
            like=PATHS),
    *(refused(variant, "STORM-C19", about, like=LENGTHS, W=2, H=0) for variant, about in (
        (SendingRegardless, "middles ignore the statuses of the last bolts"),
        (DeafSpouts, "spouts ignore the statuses of the middles"))),
)
