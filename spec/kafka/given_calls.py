"""Threads, and the calls that they are given.

Theory. An executor gets work for its threads: each is to make some calls, one after the other. A
call that is never made completes nothing and runs nothing, and so it breaks no rule about what
calls do. It breaks a promise of its own: when all threads have finished, every call that they were
given has returned.

Source: kafka#purgatory (the threads of a broker that watch, check and advance).
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import MUST, Machine, action, array, const, integer, never_stuck, require, upto

__all__ = ["EXPECTATIONS", "GivenCalls", "ShutDown"]


class GivenCalls(Machine):
    """T threads, each with some calls to make."""

    T = const(2, at_least=1)
    B = const(2, at_least=1)      # calls per thread

    left = array(upto(T), integer(0, B, init=B))

    @action(fair=True, thread=upto(T))
    def call(self, thread: int) -> None:
        """A thread makes its next call, and the call returns."""
        require(self.left[thread] > 0)
        self.left[thread] -= 1

    @never_stuck(
        "KAFKA-P40", MUST,
        "When all threads have finished, every call that they were given has been made and has "
        "returned.",
        source="kafka#purgatory")
    def all_have_returned(self) -> bool:
        """No call is left."""
        return all(left == 0 for left in self.left)


class ShutDown(GivenCalls):
    """The last thread ends before its last call."""

    @action(fair=True, thread=upto(GivenCalls.T))
    def call(self, thread: int) -> None:
        """The last call of the last thread is dropped."""
        require(self.left[thread] > 0 and (thread + 1 < self.T or self.left[thread] > 1))
        self.left[thread] -= 1


EXPECTATIONS = (
    expect(GivenCalls, "KAFKA-P40", "holds", "every call is made", T=(1, 2, 3), B=(1, 2)),
    expect(ShutDown, "KAFKA-P40", "violated", "a thread ends before its last call", T=2, B=1),
)
