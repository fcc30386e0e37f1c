"""A spout's rounds and its pending roots, as their observer sees them.

Theory. ``spout`` only counts the pending roots, some of which will never be answered. Its observer
(``observed_spout``) sees which: a round emits ids, the acker answers for one, a tick passes and
some time out. The view gives an id to each root, the lowest that is free, and remembers which of
them are lost. A round is shown when it ends, with all that it emitted; one that finds the maximum
reached holds back, whenever it is asked to emit.

The chapter's timeouts come in any order. When one comes, the other roots are kept alive: each gets
a RESET_TIMEOUT before either of the two ticks that end the lost one. The time at which an entry
expires is shown of ``rotating``: one root in the spout's own map.

Source: ``spout``, ``rotating``, ``observed_spout``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...notation.views import Seen, View, see, shown
from ...refinements import refines, refused
from ..acking.rotating import CopyingMap, RotatingMap, SpareMap
from .observed_spout import Due, ObservedSpout
from .spout import (
    MaxPending, PendingLookedAtTooLate, PendingOfOneTask, PendingOverMax, PendingWithoutTimeouts,
)

__all__ = ["EXPECTATIONS", "RootSeen", "RoundsSeen", "TasksSeen"]

Ids = tuple[int, ...]


class RoundsSeen(View[MaxPending]):
    """``history``: the ids that will be answered, those that are lost, those of this round."""

    history: tuple[Ids, Ids, Ids] = ((), (), ())

    @shown
    def emit(self, before: MaxPending, after: MaxPending) -> Seen | None:
        live, lost, new = self.history
        root = lowest(live + lost)
        self.history = (*live, root), lost, (*new, root)
        return self.end_round() if after.left == 0 else None

    @shown
    def pass_up(self, before: MaxPending, after: MaxPending) -> Seen | None:
        return self.end_round()

    def end_round(self) -> Seen | None:
        """All ids that the round emitted, if any."""
        live, lost, new = self.history
        self.history = live, lost, ()
        return see("emits", first=new[0], second=new[-1]) if new else None

    @shown
    def answer(self, before: MaxPending, after: MaxPending) -> Seen:
        live, lost, _ = self.history
        self.history = live[1:], lost, ()
        return see("ack", root=live[0], calls=Due.ACK)

    @shown
    def lose(self, before: MaxPending, after: MaxPending) -> None:
        live, lost, new = self.history
        self.history = live[1:], tuple(sorted((*lost, live[0]))), new

    @shown
    def time_out(self, before: MaxPending, after: MaxPending) -> list[Seen]:
        live, lost, _ = self.history
        self.history = live, lost[1:], ()
        others = [see("reset_timeout", root=root) for root in live + lost[1:]]
        return [see("reset_timeout", root=lost[0]), *others, see("ticks"), *others,
                see("times_out", root=lost[0]), see("ticks")]

    def asked(self, machine: MaxPending) -> Iterable[Seen]:
        """Show that it holds back at the maximum; and an answer that is ignored between rounds."""
        if machine.left == 0 and machine.has_reached_max():
            yield see("holds_back")
        if machine.left == 0 and self.history[0] and "answer" not in self.enabled:
            yield see("ack", root=self.history[0][0], calls=Due.NOTHING)

    def at_rest(self, machine: MaxPending) -> Iterable[Sequence[Seen]]:
        """Two ticks, with which a lost root must time out."""
        yield see("ticks"), see("ticks")


def lowest(taken: Ids) -> int:
    """The lowest number that is free."""
    return next(number for number in range(len(taken) + 1) if number not in taken)


class TasksSeen(View[PendingOfOneTask]):
    """An executor of two tasks. ``history``: the pending ids of each task, and this round's."""

    history: tuple[tuple[Ids, ...], Ids] = ((), ())

    def begins(self, machine: PendingOfOneTask) -> Iterable[Seen]:
        """No task has an id yet."""
        self.history = ((),) * machine.k, ()
        return ()

    @shown
    def emit(self, before: PendingOfOneTask, after: PendingOfOneTask) -> Seen | None:
        tasks, new = self.history
        root = lowest(sum(tasks, ()))
        mine = (*tasks[before.turn], root)
        self.history = (*tasks[:before.turn], mine, *tasks[before.turn + 1:]), (*new, root)
        return self.end_round(after)

    @shown
    def pass_up(self, before: PendingOfOneTask, after: PendingOfOneTask) -> Seen | None:
        return self.end_round(after)

    def end_round(self, after: PendingOfOneTask) -> Seen | None:
        """All ids that the round emitted, after the last task's turn."""
        tasks, new = self.history
        if after.turn < after.k or not new:
            return None
        self.history = tasks, ()
        return see("emits", first=new[0], second=new[-1])

    @shown
    def answer(self, before: PendingOfOneTask, after: PendingOfOneTask, task: int) -> Seen:
        tasks, new = self.history
        root = tasks[task][0]
        self.history = (*tasks[:task], tasks[task][1:], *tasks[task + 1:]), new
        return see("ack", root=root, calls=Due.ACK)

    def asked(self, machine: PendingOfOneTask) -> Iterable[Seen]:
        """Show that it holds back, if the tasks together have reached the maximum."""
        if machine.turn == machine.k and sum(machine.pending) >= machine.M * machine.k:
            yield see("holds_back")


class RootSeen(View[RotatingMap]):
    """One root in the spout's map: put by an emit, put again by a RESET_TIMEOUT."""

    @shown
    def put(self, before: RotatingMap, after: RotatingMap) -> Seen:
        return see("reset_timeout", root=0) if before.held_in else see("emits", first=0, second=0)

    @shown
    def elapse(self, before: RotatingMap, after: RotatingMap) -> list[Seen]:
        dropped = [see("times_out", root=0)] if after.age == 0 and before.held_in else []
        return [*dropped, see("ticks")] if after.clock == 0 else []


SEEN = refines(MaxPending, ObservedSpout, "rounds and pending roots follow the rules",
               shows=RoundsSeen, seen_by={"M": "M * k", "R": "M * k + k * E + 1"},
               M=(1, 2), k=1, E=(1, 2))
TASKS = refines(PendingOfOneTask, ObservedSpout, "two tasks share their maximum",
                shows=TasksSeen, seen_by={"M": "M * k", "R": "M * k + k + 1"}, M=(1, 2), k=(1, 2))
IN_TIME = refines(RotatingMap, ObservedSpout, "a root times out with the second tick",
                  shows=RootSeen, seen_by={"M": 0, "R": 1, "N": 2}, N=2, P=(1, 2))

EXPECTATIONS = (
    SEEN, TASKS, IN_TIME,
    refused(PendingOverMax, "STORM-K40", "> instead of >=", like=SEEN, M=1, E=1),
    refused(PendingWithoutTimeouts, "STORM-K46", "lost roots stay pending (STORM-3514)", like=SEEN,
            M=1, E=1),
    refused(PendingLookedAtTooLate, "STORM-K40", "> instead of >= with two tasks", like=TASKS, M=1),
    refused(SpareMap, "STORM-K46", "one bucket too many", like=IN_TIME, P=1),
    refused(CopyingMap, "STORM-K45", "a RESET_TIMEOUT leaves the old copy", like=IN_TIME, P=1),
)
