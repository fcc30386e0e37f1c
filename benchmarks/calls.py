"""Services in a ring, each of which calls the next while it holds a thread of its own.

A request that waits at a service holds one of its t threads. In a nested call it holds that one
and one of the next service; when that has answered, only its own again. When all threads of all
services wait, each for one of the next, nothing moves any more: k t steps lead there.
"""

from __future__ import annotations

from checkvalve.spec.notation import (
    MUST, BoundMachine, Machine, action, array, bind, const, integer, never_stuck, require, upto,
)

__all__ = ["Calls", "calls"]


class Calls(Machine):
    """A ring of services with as many threads each."""

    k = const(3, at_least=2)            # services
    t = const(2, at_least=1)            # threads of each

    waiting = array(upto(k), integer(0, t))     # requests that have not called yet
    calling = array(upto(k), integer(0, t))     # those in a nested call
    returned = array(upto(k), integer(0, t))    # those with an answered call

    def has_thread(self, service: int) -> bool:
        """Whether a thread is free there: nested calls hold one at either end."""
        before = (service + self.k - 1) % self.k
        return (self.waiting[service] + self.calling[service] + self.returned[service]
                + self.calling[before] < self.t)

    @action(service=upto(k))
    def enter(self, service: int) -> None:
        """A request comes from outside, and takes a thread."""
        require(self.has_thread(service))
        self.waiting[service] += 1

    @action(service=upto(k))
    def call(self, service: int) -> None:
        """A request calls the next service, where it needs a thread as well."""
        require(self.waiting[service] > 0 and self.has_thread((service + 1) % self.k))
        self.waiting[service] -= 1
        self.calling[service] += 1

    @action(service=upto(k))
    def answer(self, service: int) -> None:
        """The next service answers, and its thread is free."""
        require(self.calling[service] > 0)
        self.calling[service] -= 1
        self.returned[service] += 1

    @action(service=upto(k))
    def done(self, service: int) -> None:
        """A request is done, and its thread is free."""
        require(self.returned[service] > 0)
        self.returned[service] -= 1

    @never_stuck("BENCH-4", MUST, "The services never all wait for each other.",
                 source="the benchmark")
    def never_at_rest(self) -> bool:
        return False


def calls(services: int, threads: int) -> BoundMachine:
    """So many services with so many threads each."""
    return bind(Calls, k=services, t=threads)
