"""A key's watcher list: how it leaves the map without taking a request with it.

Theory of operation
-------------------
A key's list is an object in a map. It is made when a request is watched for the key, and it has to
go when it is empty, or the map grows with every key there ever was (KAFKA-2160). A thread finds a
list empty some time before it gets the map's lock, so it repeats the test under the lock, and there
are two tests: *is this still the key's list*, and *is it still empty*.

    sweeper 1   gets list A . sweeps it . finds it empty .            lock, remove the key
    sweeper 2   gets list A . sweeps it . finds it empty . lock, remove the key
    requester                                                  watches: new list B

Without the first test sweeper 1 looks at its own list A, which is empty, and removes B: the request
on it will never be found by an event. Without the second a request that was added meanwhile is lost
with A. And a requester has to find the list and enter it under one lock, or its list may be removed
in between.

Lists are numbered, and there are more numbers than threads can refer to at a time.

Source: DelayedOperationPurgatory.removeKeyIfEmpty and watchForOperation of Kafka 0.9 to 3.9;
kafka#purgatory, kafka#mutants.
"""

from __future__ import annotations

from enum import IntEnum

from ..expectations import expect
from ..notation import (
    MUST, Machine, action, always, array, choice, const, integer, leads_to, require, upto,
)

__all__ = [
    "EXPECTATIONS", "KeepingEmptyLists", "WatcherLists", "WatchingWithoutLock",
    "WithoutEmptinessTest", "WithoutIdentityTest",
]

SOURCE = "kafka#purgatory (removeKeyIfEmpty)"


class Sweeping(IntEnum):
    """Next steps of a thread that completes or purges."""

    GET = 0
    SWEEP = 1
    REMOVE = 2


class WatcherLists(Machine):
    """One key, R requesters with requests that are watched and completed repeatedly, T sweepers."""

    R = const(2, at_least=1)            # requesters
    T = const(2, at_least=1)            # sweepers
    G = const(5, at_least=3)            # numbers of lists; more than R + T

    mapped = integer(0, G, init=G)      # the key's list; G: none
    latest = integer(0, G - 1)          # the list that was created last
    found = array(upto(R), integer(0, G, init=G))   # the list that a requester has found
    on = array(upto(R), integer(0, G, init=G))      # the list that its request is on; G: none
    sweeper = array(upto(T), choice(Sweeping))
    swept = array(upto(T), integer(0, G, init=G))   # the list that a sweeper has found

    @action(requester=upto(R))
    def watch(self, requester: int) -> None:
        """Under the map's lock: find the key's list, or make one, and enter it."""
        require(self.on[requester] == self.G)
        self.find_or_make()
        self.on[requester] = self.mapped

    def find_or_make(self) -> None:
        """getAndMaybePut: a key that is not in the map gets a new list."""
        if self.mapped == self.G:
            self.latest = (self.latest + 1) % self.G
            self.mapped = self.latest

    @action(thread=upto(T))
    def get(self, thread: int) -> None:
        """A sweeper gets the key's list."""
        require(self.sweeper[thread] == Sweeping.GET and self.mapped < self.G)
        self.swept[thread] = self.mapped
        self.sweeper[thread] = Sweeping.SWEEP

    @action(fair=True, thread=upto(T))
    def sweep(self, thread: int) -> None:
        """All requests on the list are completed and leave it, so that it is empty."""
        require(self.sweeper[thread] == Sweeping.SWEEP)
        for requester in range(self.R):
            if self.on[requester] == self.swept[thread]:
                self.on[requester] = self.G
        self.sweeper[thread] = Sweeping.REMOVE

    @action(fair=True, thread=upto(T))
    def remove(self, thread: int) -> None:
        """removeKeyIfEmpty, under the map's lock."""
        require(self.sweeper[thread] == Sweeping.REMOVE)
        if self.is_the_keys(self.swept[thread]) and self.is_empty(self.swept[thread]):
            self.mapped = self.G
        self.swept[thread] = self.G
        self.sweeper[thread] = Sweeping.GET

    def is_the_keys(self, watchers: int) -> bool:
        """True if the key still has this very list."""
        return self.mapped == watchers

    def is_empty(self, watchers: int) -> bool:
        """True if no request is on the list now."""
        return all(place != watchers for place in self.on)

    @always("KAFKA-P3I", MUST,
            "A request that is on a watcher list is on the list that the map holds for its key.",
            source=f"{SOURCE}; kafka#mutants (lost watcher)", requester=upto(R))
    def no_watcher_is_lost(self, requester: int) -> bool:
        """Otherwise no event would find it."""
        return self.on[requester] == self.G or self.on[requester] == self.mapped

    @leads_to("KAFKA-P7L", MUST,
              "When a thread that completes or purges requests has emptied a key's list, "
              "eventually the key leaves the map or a request enters its list.",
              source=f"{SOURCE}; KAFKA-2160")
    def empty_lists_go(self) -> tuple[bool, bool]:
        """Only after a sweeper has emptied the list."""
        empty = self.mapped < self.G and all(place == self.G for place in self.on)
        return empty and any(s == Sweeping.REMOVE for s in self.sweeper), not empty


class WithoutIdentityTest(WatcherLists):
    """The key is removed if the sweeper's list is empty."""

    def is_the_keys(self, watchers: int) -> bool:
        """Any list of the key counts as this one."""
        return True


class WithoutEmptinessTest(WatcherLists):
    """The key is removed since its list was empty a moment ago."""

    def is_empty(self, watchers: int) -> bool:
        """The list counts as empty without a test."""
        return True


class WatchingWithoutLock(WatcherLists):
    """The requester finds the list under the lock, and enters it later."""

    @action(requester=upto(WatcherLists.R))
    def find(self, requester: int) -> None:
        """The requester finds the key's list, and releases the lock."""
        require(self.on[requester] == self.G and self.found[requester] == self.G)
        self.find_or_make()
        self.found[requester] = self.mapped

    @action(fair=True, requester=upto(WatcherLists.R))
    def watch(self, requester: int) -> None:
        """The request enters the list that the requester found."""
        require(self.found[requester] < self.G)
        self.on[requester] = self.found[requester]
        self.found[requester] = self.G


class KeepingEmptyLists(WatcherLists):
    """An empty list stays in the map (KAFKA-2160)."""

    @action(fair=True, thread=upto(WatcherLists.T))
    def remove(self, thread: int) -> None:
        """The sweeper leaves the key in the map."""
        require(self.sweeper[thread] == Sweeping.REMOVE)
        self.swept[thread] = self.G
        self.sweeper[thread] = Sweeping.GET


LOST = "KAFKA-P3I"

EXPECTATIONS = (
    expect(WatcherLists, LOST, "holds", "no watcher is lost", R=(1, 2), T=2, G=5),
    expect(WatcherLists, "KAFKA-P7L", "holds", "empty lists go", R=(1, 2), T=2, G=5),
    expect(WithoutIdentityTest, LOST, "violated", "no identity test: another list is removed",
           R=1, T=2, G=5),
    expect(WithoutEmptinessTest, LOST, "violated", "emptiness is not tested under the lock",
           R=2, T=1, G=5),
    expect(WatchingWithoutLock, LOST, "violated", "the list is removed before it is entered",
           R=2, T=1, G=5),
    expect(KeepingEmptyLists, "KAFKA-P7L", "violated", "empty lists stay (KAFKA-2160)",
           R=1, T=1, G=5),
)
