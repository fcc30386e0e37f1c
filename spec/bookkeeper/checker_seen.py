"""A checker's semaphore, as the observer of semaphores sees it.

Theory. Each task of ``checker`` is a call that acquires a permit, at once or after waiting, and a
read's callback releases it. The observer of the semaphore sees the calls in the order in which
tasks begin, and sees that tasks are woken in the order in which they began to wait. The semaphore
is quiescent if no task waits beside a free permit.

So an implementation that loses a permit is found (``LosingPermits``), and the suite for semaphores
finds it. A checker that hangs as in BookKeeper #3070 is another matter: every permit is held by a
call that will return it as soon as a thread runs its callback, and no thread is free. That the
waiting calls are what occupies the threads cannot be seen from the semaphore alone.

Source: ``checker``, ``queues.permits``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..expectations import expect
from ..notation import action, require
from ..notation.views import Seen, View, see, shown
from ..queues.locks.permits import Permits
from ..refinements import refines, refused
from .checker import CallbacksApart, Checker

__all__ = ["EXPECTATIONS", "CheckerSeen", "LosingPermits"]


class Calls(NamedTuple):
    """The numbers of the tasks that began, of those that wait, and of those with a permit."""

    named: int = 0
    waiting: tuple[int, ...] = ()
    held: tuple[int, ...] = ()


class CheckerSeen(View[Checker]):
    """Tasks are numbered as they begin. Their steps between two calls of the semaphore are not
    shown."""

    around = ("tasks", "reads", "callbacks", "done")

    history: Calls = Calls()

    @shown
    def begin(self, before: Checker, after: Checker) -> Seen:
        """It gets a permit at once, or waits."""
        call = self.history.named
        self.history = self.history._replace(named=call + 1)
        if after.blocked > before.blocked:
            self.history = self.history._replace(waiting=(*self.history.waiting, call))
            return see("acquire_waits")
        self.history = self.history._replace(held=(*self.history.held, call))
        return see("acquire_done")

    @shown
    def unblock(self, before: Checker, after: Checker) -> Seen:
        """The first waiter gets a permit."""
        call, *rest = self.history.waiting
        self.history = self.history._replace(
            waiting=tuple(rest), held=(*self.history.held, call))
        return see("woken", call=call)

    @shown
    def call_back(self, before: Checker, after: Checker) -> Seen:
        """The oldest holder returns its permit."""
        call, *rest = self.history.held
        self.history = self.history._replace(held=tuple(rest))
        return see("released", call=call)

    def asked(self, machine: Checker) -> Iterable[Seen]:
        """Show whether a permit can be had at once; and the quiescence, if no task can be woken."""
        taken = machine.free == 0 or machine.blocked > 0
        yield see("seen_locked" if taken else "seen_free")
        if machine.blocked == 0 or machine.free == 0:
            yield see("settled")


class LosingPermits(Checker):
    """A callback that fails returns no permit."""

    @action(fair=True)
    def call_back(self) -> None:
        """A thread runs a callback, which returns no permit."""
        require(self.callbacks > 0 and self.has_a_thread())
        self.callbacks -= 1
        self.done += 1


SEEN = refines(
    Checker, Permits, "tasks and callbacks use the semaphore by its rules", shows=CheckerSeen,
    seen_by={"C": "S", "K": "T", "W": "P"}, P=(1, 2), S=(1, 2), T=(2, 3))

EXPECTATIONS = (
    SEEN,
    refines(CallbacksApart, Permits,
            "with a thread for callbacks, too, permits are given by the rules",
            shows=CheckerSeen, seen_by={"C": "S", "K": "T", "W": "P"}, P=(1, 2), S=1, T=3),
    expect(LosingPermits, "BK-17", "violated", "a callback that fails keeps its permit",
           P=1, S=1, T=2),
    refused(LosingPermits, "PERMIT-2", "a callback that fails keeps its permit", like=SEEN, P=1,
            S=1, T=2),
)
