"""Literal readings of the texts about the purgatory's estimate, deletion and lists.

Theory of operation
-------------------
The machine is that of ``purgatory`` with other rules. Each rule is a sentence of the text, and each
is expected to be violated: the counterexample shows what the sentence leaves out.

The text calls E an estimate. It never says that E is exact, but it says when E is *not* exact: if
requests are added during a purge, and some of them are completed and leave the lists before it is
over. There is a more common case. An event that completes a request takes it off the list on which
it was found, and nothing takes it out of E; so E is high whenever events complete requests, until
the next purge. That is the purpose of E, since it counts the requests to be purged, but so E is the
number of requests in the purgatory only right after a purge.

The comment of Kafka's own code says that a request which is completed while it is put on its lists
is put on no further ones. That is so in 0.9 and after 3.9; from 2.7 to 3.9 it is put on all of them
(``WatchingOn``). No promise depends on it: a purge finds it there like any other completed request.

Source: "Apache Kafka, Purgatory, and Hierarchical Timing Wheels", 'Purging Watcher Lists'; 002#PE1
and what follows it.
"""

from __future__ import annotations

from ..expectations import expect
from ..notation import CLAIM, action, always, boolean, require, step, upto
from .purgatory import HOLDING, PURGING, TWO, Purgatory, Request

__all__ = [
    "EXPECTATIONS", "CountingWhatEnters", "LeavingWithEvents", "PurgatoryByTheText",
    "StoppingToWatch", "WatchingOn",
]

NEW = "002#new"


class PurgatoryByTheText(Purgatory):
    """The same purgatory, judged by the text's sentences about E and deletion."""

    interrupted = boolean(False)        # a request was made during a purge

    @action(request=upto(Purgatory.K), keys=upto(Purgatory.J + 1), meanwhile=upto(2))
    def make(self, request: int, keys: int, meanwhile: int) -> None:
        """A request that is made during a purge interrupts it."""
        self.interrupted = self.interrupted or len(self.to_purge) > 0
        super().make(request, keys, meanwhile)

    @always("KAFKA-PE2", CLAIM,
            "Outside purges, the estimate E exceeds the number of requests on watcher lists "
            "only if a request was created during an earlier purge.",
            source=f"{PURGING} (3: 'This may be an overestimation because'); 002#PE2: "
                   "also after every event that completes a request")
    def estimate_is_rarely_high(self) -> bool:
        """Requests in the purgatory are pending, or completed and still watched."""
        return (self.interrupted or len(self.to_purge) > 0
                or self.estimate <= self.distinct())

    @step("KAFKA-PE3", CLAIM,
          "If no request is put on lists during a purge, the estimate E is the number of "
          "requests on watcher lists when the purge ends.",
          source=f"{PURGING} (2); 002#PE3: nor may any be completed meanwhile")
    def estimate_is_right_after_purge(self, after: PurgatoryByTheText) -> bool:
        """Checked in the step that ends the purge."""
        return not self.to_purge or len(after.to_purge) > 0 or self.added or (
            after.estimate == sum(
                any(key * self.K + request in after.watched for key in range(self.J))
                for request in range(self.K)))

    @always("KAFKA-PE4", CLAIM,
            "Between calls, no completed request is on a watcher list: completion takes it off "
            "all of them at once.",
            source=f"{NEW} ('allow immediate deletion of a completed request'); 002#PE4: "
                   "from the timer only", request=upto(Purgatory.K))
    def deletion_is_immediate(self, request: int) -> bool:
        """True if no list holds the completed request."""
        return self.phase[request] != Request.COMPLETED or not self.is_watched(request)

    @step("KAFKA-PE5", CLAIM,
          "Whenever E grows, the timer grows by as many requests.",
          source=f"{PURGING} (1 and 2: 'the current number of pending requests'); "
                 "002#PE5: what its second try completes is counted and never pending")
    def only_the_pending_are_counted(self, after: PurgatoryByTheText) -> bool:
        """E and the timer grow together."""
        return (after.estimate <= self.estimate
                or after.estimate - self.estimate == len(after.timer) - len(self.timer))


class LeavingWithEvents(PurgatoryByTheText):
    """Completion takes a request off all of its lists, and out of E; this costs a scan of the
    lists, which the text avoids.
    """

    def complete(self, request: int) -> None:
        """A completed request leaves timer, lists and E."""
        if self.is_open(request):
            self.phase[request] = Request.COMPLETED
            self.completions[request] += 1
            self.leave_timer(request)
            self.estimate -= 1
            for key in range(self.J):
                self.watched.discard(key * self.K + request)
                self.tidy(key)


class CountingWhatEnters(PurgatoryByTheText):
    """E counts the requests that enter the timer, after the second try."""

    @action(request=upto(Purgatory.K), keys=upto(Purgatory.J + 1), meanwhile=upto(2))
    def make(self, request: int, keys: int, meanwhile: int) -> None:
        """A request that its second try completes is not counted."""
        super().make(request, keys, meanwhile)
        if self.phase[request] == Request.COMPLETED and self.is_watched(request):
            self.estimate -= 1


class WatchingOn(Purgatory):
    """A request of several keys is completed by an event of the first, while it is put on the lists
    of the others; it is put there nevertheless (2.7 to 3.9).
    """

    late = boolean()                    # a completed request was put on a list

    @action(request=upto(Purgatory.K))
    def make_slowly(self, request: int) -> None:
        """try_complete_else_watch for all keys, with an event of the first one in between."""
        require(self.phase[request] == Request.NEW and request not in self.ready)
        require(self.watches_all())
        self.phase[request] = Request.PENDING
        self.watch(request, 0)
        self.ready.add(request)
        self.complete(request)
        if self.goes_on():
            for key in range(1, self.J):
                self.watch(request, key)
            self.late = True
        self.estimate += 1
        self.added = True

    def goes_on(self) -> bool:
        """The requester does not test whether the request is completed."""
        return True

    @always("KAFKA-PE7", CLAIM,
            "A request that is completed while it is being put on the lists of its keys is put "
            "on no further list.",
            source="kafka#purgatory ('In 0.9 the operation is put on no further "
            "lists once it is completed')")
    def the_dead_are_not_added(self) -> bool:
        """The comment in the code claims it for all releases."""
        return not self.late


class StoppingToWatch(WatchingOn):
    """The same as in 0.9, and after 3.9."""

    def goes_on(self) -> bool:
        """A completed request needs no list."""
        return False


EXPECTATIONS = (
    expect(WatchingOn, "KAFKA-PE7", "violated", "from 2.7 to 3.9 a completed request is put on its "
           "other lists", **TWO),
    expect(StoppingToWatch, "KAFKA-PE7", "holds", "in 0.9 a completed request is put on no more "
           "lists", **TWO),
    *(expect(release, rule, "holds", f"{about}; whether a completed request is put on lists or not",
             **TWO) for release in (WatchingOn, StoppingToWatch) for rule, about in HOLDING
      if rule in ("KAFKA-P1", "KAFKA-P5", "KAFKA-P5U", "KAFKA-P6", "KAFKA-P6M")),
    expect(PurgatoryByTheText, "KAFKA-PE2", "violated", "an event leaves E high", **TWO),
    expect(PurgatoryByTheText, "KAFKA-PE3", "violated", "completed during the purge", **TWO),
    expect(PurgatoryByTheText, "KAFKA-PE4", "violated", "lists keep it until they are purged",
           **TWO),
    expect(PurgatoryByTheText, "KAFKA-PE5", "violated", "counted, and completed by its second try",
           **TWO),
    expect(LeavingWithEvents, "KAFKA-PE2", "holds",
           "E would be exact after events if completion scanned the lists", **TWO),
    expect(LeavingWithEvents, "KAFKA-PE4", "holds",
           "deletion would be immediate if completion scanned the lists", **TWO),
    expect(CountingWhatEnters, "KAFKA-PE5", "holds",
           "E would count pending requests only if it counted after the second try", **TWO),
    expect(CountingWhatEnters, "KAFKA-P5", "violated",
           "E would be too low if it counted after the second try", **TWO),
)

UNSEEN = {
    "KAFKA-PE7":
        "Calls of the port are not interrupted, and releases differ in it without violating any "
        "rule, so no implementation has to satisfy it.",
    "KAFKA-PE2":
        "The text claims it of E, and it is false of a correct purgatory, so no implementation has "
        "to satisfy it.",
    "KAFKA-PE3":
        "It is false if requests are completed during a purge, so no implementation has to satisfy "
        "it.",
    "KAFKA-PE4":
        "It is false of a request on a second list, so no implementation has to satisfy it; "
        "KAFKA-P6 holds instead.",
    "KAFKA-PE5":
        "It is false of a correct purgatory, which counts a request that its second try completes, "
        "so no implementation has to satisfy it.",
}
