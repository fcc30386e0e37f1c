"""Kafka's request purgatory: completion of requests, references to completed ones, and purges.

Theory of operation
-------------------
A request that cannot be answered yet waits in two places: on the *watcher list* of each of its
keys, so that an event of that key finds it, and in the *timer*. It is completed once, by the first
of these: an event of one of its keys (check_and_complete), its timeout, or a call that forces it.
The winner takes it out of the timer, which is O(1), and calls onComplete; if the winner is the
timer, onExpiration follows. The other watcher lists keep a dead reference, since finding it
would cost a scan. These are purged, and the point of the new design is *when*:

    E            requests that were watched, counted once each, whatever their keys
    |timer|      requests that are pending
    E - |timer|  requests that were completed since, and may still be on lists

A purge starts when E - |timer| > Q. First E := |timer|, then every list drops its completed
requests. E is never too low (KAFKA-P5), so at most Q dead requests are on lists while the reaper is
idle (KAFKA-P6); and it exceeds the timer only by requests completed since (KAFKA-P5U), so no purge
starts before Q requests have been completed. The old purgatory purged by the *length* of the lists,
which may be long because many requests are pending, and left completed requests in its timer.

The text's statements about E are approximations, as it says itself in part: ``purgatory_text`` has
them as rules that are expected to be violated, ``purgatory_old`` the old design. The rules about E
hold "as long as nothing is cancelled for a key": cancel_for_key takes a request out of the timer
without completing it; the lists of its other keys keep it, nothing counts it, and only an event of
such a key ends it.

Granularity: one call of the purgatory is one step, and a purge is one step for E and one for each
key, with other calls between. Requests are used once. The steps within calls are in
``purgatory_races``. That a request may become ready between its two tries is a choice of
``request`` here: it is then completed, although it is on the lists, and counted.

Source: "Apache Kafka, Purgatory, and Hierarchical Timing Wheels"; DelayedOperation and
DelayedOperationPurgatory of Kafka 0.9 to 3.9; kafka#purgatory, kafka#P1.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ..expectations import expect
from ..notation import (
    CLAIM, MUST, Machine, action, always, array, boolean, choice, const, integer, leads_to,
    require, step, subset, upto,
)

__all__ = [
    "EXPECTATIONS", "HOLDING", "TWO", "CancellingPurgatory", "ImpatientPurge", "KeepingEmptyKeys",
    "KeepingInTimer", "LosingEarlierTimeouts", "LosingLaterTimeouts", "LosingTimeouts",
    "NeverPurging", "PerKeyEstimate", "Purgatory", "PurgatoryCalls", "PurgingPending",
    "ReopeningPurgatory", "Request", "StaleEstimate", "UntimedPurgatory",
]

OLD = "002#old"
PURGING = "002#purging"


class Request(IntEnum):
    """Phases of a request."""

    NEW = 0         # not created yet
    PENDING = 1
    COMPLETED = 2   # by an event, a force or its timeout
    ABANDONED = 3   # cancelled for a key; neither completed nor timed


class PurgatoryCalls(Machine):
    """Effects of calls and callbacks, without rules.

    Requests 0 .. K - 1, keys 0 .. J - 1. A set of places has j * K + request for key j.
    """

    K = const(3, at_least=1)            # requests
    J = const(2, at_least=1)            # keys
    Q = const(1)                        # the purge interval

    phase = array(upto(K), choice(Request))
    ready = subset(upto(K))             # requests with a condition that has become true
    wanted = subset(upto(J * K))        # j * K + request: keys that a request was created for
    watched = subset(upto(J * K))       # j * K + request: lists that it is on
    keys = subset(upto(J))              # keys that have a list
    timer = subset(upto(K))
    completions = array(upto(K), integer(0, 2))     # calls of onComplete
    expirations = array(upto(K), integer(0, 2))     # calls of onExpiration

    estimate = integer(0, J * K)        # E
    to_purge = subset(upto(J))          # keys with lists that are still to be purged
    done = integer(0, 2 * K)            # watched requests completed since E was set
    added = boolean(False)              # a request was added since E was set
    needless = boolean(False)           # a purge started without a reason

    # --- requests --------------------------------------------------------------------

    @action(request=upto(K))
    def become_ready(self, request: int) -> None:
        """The request's condition becomes true; that alone notifies no one."""
        require(request not in self.ready)
        self.ready.add(request)

    @action(request=upto(K), keys=upto(J + 1), meanwhile=upto(2))
    def make(self, request: int, keys: int, meanwhile: int) -> None:
        """try_complete_else_watch for one key (or all, if ``keys`` is J): try, watch, try again,
        else add to the timer. ``meanwhile`` is 1 if the request becomes ready between the tries.
        """
        require(self.phase[request] == Request.NEW)
        if request in self.ready:
            self.phase[request] = Request.COMPLETED
            self.completions[request] += 1
        else:
            require(self.watches_all())
            self.phase[request] = Request.PENDING
            for key in range(self.J):
                if keys == key or keys == self.J:
                    self.watch(request, key)
            self.estimate += self.weight(keys)
            self.added = True
            self.enter_timer(request)
            if meanwhile == 1:
                self.ready.add(request)
                self.complete(request)

    def watches_all(self) -> bool:
        """True if the model's range of E has room for another request."""
        return self.estimate + self.J <= self.J * self.K

    def weight(self, keys: int) -> int:
        """A request counts once, whatever its keys."""
        return 1

    def watch(self, request: int, key: int) -> None:
        """Put the request on the key's list, which is created if there is none."""
        self.wanted.add(key * self.K + request)
        self.watched.add(key * self.K + request)
        self.keys.add(key)

    def enter_timer(self, request: int) -> None:
        """timer.add; if the second try completes the request, this step is invisible."""
        self.timer.add(request)

    def is_open(self, request: int) -> bool:
        """True if the request can still be completed; an event may complete a request that was
        cancelled for another key.
        """
        return (self.phase[request] == Request.PENDING
                or self.phase[request] == Request.ABANDONED)

    def complete(self, request: int) -> None:
        """forceComplete; only the first call has an effect."""
        if self.is_open(request):
            self.phase[request] = Request.COMPLETED
            self.completions[request] += 1
            self.done += 1
            self.leave_timer(request)

    def leave_timer(self, request: int) -> None:
        """The winner cancels the timer entry."""
        self.timer.discard(request)

    @action(request=upto(K))
    def force(self, request: int) -> None:
        """A caller forces completion; the lists do not notice."""
        require(self.phase[request] == Request.PENDING)
        self.complete(request)

    @action(key=upto(J))
    def check_and_complete(self, key: int) -> None:
        """An event of a key: its listed requests are tried, and completed ones leave the list."""
        require(key in self.keys)
        for request in range(self.K):
            if key * self.K + request in self.watched:
                if request in self.ready:
                    self.complete_found(request)
                if self.phase[request] == Request.COMPLETED:
                    self.strike(request, key)
        self.tidy(key)

    def complete_found(self, request: int) -> None:
        """An event completes a request that it found on its list."""
        self.complete(request)

    def strike(self, request: int, key: int) -> None:
        """A completed request leaves a list."""
        self.watched.discard(key * self.K + request)

    def tidy(self, key: int) -> None:
        """removeKeyIfEmpty: a key with an empty list leaves the map."""
        if all(key * self.K + request not in self.watched for request in range(self.K)):
            self.keys.discard(key)

    @action(fair=True, request=upto(K))
    def expire(self, request: int) -> None:
        """The timeout: the timer runs the request, which expires if the timer completes it."""
        require(request in self.timer)
        self.timer.discard(request)
        if self.phase[request] == Request.PENDING:
            self.complete(request)
            self.expirations[request] += 1

    # --- the reaper ------------------------------------------------------------------

    @action(fair=True)
    def start_purge(self) -> None:
        """Start a purge: E restarts from the number of pending requests."""
        require(not self.to_purge and self.has_to_purge())
        self.needless = self.needless or self.done <= self.Q
        self.restart_estimate()
        self.done = 0
        self.added = False
        for key in range(self.J):
            if key in self.keys:
                self.to_purge.add(key)

    def has_to_purge(self) -> bool:
        """True if the estimate exceeds the timer's size by more than Q."""
        return self.estimate - len(self.timer) > self.Q

    def restart_estimate(self) -> None:
        """E becomes the timer's size."""
        self.estimate = len(self.timer)

    @action(fair=True, key=upto(J))
    def purge(self, key: int) -> None:
        """purgeCompleted on one list."""
        require(key in self.to_purge)
        self.to_purge.discard(key)
        for request in range(self.K):
            if self.is_purged(request):
                self.watched.discard(key * self.K + request)
        self.tidy(key)

    def is_purged(self, request: int) -> bool:
        """True if the request is completed."""
        return self.phase[request] == Request.COMPLETED

    # --- counting --------------------------------------------------------------------

    def rests(self) -> bool:
        """True if the reaper is idle: it has nothing to purge."""
        return len(self.to_purge) == 0 and not self.has_to_purge()

    def is_watched(self, request: int) -> bool:
        """True if the request is on any list."""
        return any(key * self.K + request in self.watched for key in range(self.J))

    def distinct(self) -> int:
        """The number of requests on any list, each counted once."""
        return sum(self.is_watched(request) for request in range(self.K))

    def dead(self) -> int:
        """The number of completed requests on any list."""
        return sum(
            self.is_watched(request) and self.phase[request] == Request.COMPLETED
            for request in range(self.K)
        )

    def abandon(self, key: int) -> None:
        """cancel_for_key for all requests of a key; other keys' lists keep them."""
        for request in range(self.K):
            if key * self.K + request in self.watched:
                if self.phase[request] == Request.PENDING:
                    self.phase[request] = Request.ABANDONED
                    self.timer.discard(request)
                self.watched.discard(key * self.K + request)
        self.keys.discard(key)


class Purgatory(PurgatoryCalls):
    """The purgatory's calls, with their rules."""

    @always("KAFKA-P1", MUST, "A request is completed at most once.",
            source="002#requests; kafka#P1; KAFKA-385",
            request=upto(PurgatoryCalls.K))
    def completed_once(self, request: int) -> bool:
        """One call of onComplete."""
        return self.completions[request] <= 1

    @step("KAFKA-P1E", MUST,
          "A request's expiry callback is called only if the request was still pending (neither "
          "completed nor cancelled with a key) when its timeout came.",
          source="kafka#P1, kafka#old-purgatory; KAFKA-1989",
          request=upto(PurgatoryCalls.K))
    def expiry_is_the_winners(self, after: Purgatory, request: int) -> bool:
        """Never for a request that was completed before."""
        return (after.expirations[request] == self.expirations[request]
                or self.phase[request] == Request.PENDING)

    @step("KAFKA-P2", MUST, "A completed request stays completed.",
          source="kafka#P2", request=upto(PurgatoryCalls.K))
    def completion_is_final(self, after: Purgatory, request: int) -> bool:
        """No step undoes a completion."""
        return (self.phase[request] != Request.COMPLETED
                or after.phase[request] == Request.COMPLETED)

    @leads_to("KAFKA-P2L", MUST,
              "If nothing is cancelled for a key, a pending request is eventually completed, by "
              "its timeout if by nothing else.",
              source="002#requests ('some timeout occurs')",
              request=upto(PurgatoryCalls.K))
    def requests_end(self, request: int) -> tuple[bool, bool]:
        """No key needs another event.

        A request that is removed without an answer is not completed.
        """
        return (self.phase[request] == Request.PENDING,
                self.phase[request] == Request.COMPLETED)

    @always("KAFKA-P3W", MUST,
            "Between calls, a pending request is on the watcher list of each of its keys.",
            source="002#purging; kafka#P3",
            request=upto(PurgatoryCalls.K))
    def pending_is_watched(self, request: int) -> bool:
        """Otherwise an event of that key would not find it."""
        return self.phase[request] != Request.PENDING or all(
            key * self.K + request not in self.wanted or key * self.K + request in self.watched
            for key in range(self.J)
        )

    @always("KAFKA-P4", MUST, "Between calls, a completed request is not in the timer.",
            source=f"{PURGING} ('removed from the timer queue immediately'); kafka#P4; "
                   "KAFKA-1989", request=upto(PurgatoryCalls.K))
    def completed_is_not_timed(self, request: int) -> bool:
        """So the timer's size is the number of pending requests."""
        return self.phase[request] != Request.COMPLETED or request not in self.timer

    @always("KAFKA-P4N", MUST,
            "Between calls, and if nothing is cancelled for a key, the timer's size is the "
            "number of pending requests.",
            source=f"{PURGING} ('exactly at any time'); kafka#P4; KAFKA-1616")
    def timer_counts_the_pending(self) -> bool:
        """Between two calls, and if nothing is cancelled for a key."""
        return len(self.timer) == sum(
            self.phase[request] == Request.PENDING for request in range(self.K))

    @always("KAFKA-P5", MUST,
            "Between calls and outside purges, if nothing was cancelled for a key, the estimate "
            "E is at least the number of requests on watcher lists, each counted once.",
            source=f"{PURGING} ('an overestimation'); kafka#P5")
    def estimate_is_not_low(self) -> bool:
        """Between purges E counts at least the requests on lists."""
        return len(self.to_purge) > 0 or self.distinct() <= self.estimate

    @always("KAFKA-P5U", MUST,
            "Between calls, if nothing was cancelled for a key, the estimate E exceeds the "
            "timer's size by at most the number of watched requests completed since the last "
            "purge began.",
            source=f"{PURGING} ('we can avoid unnecessary purge operations'); kafka#purgatory")
    def estimate_is_not_high(self) -> bool:
        """A request counts once, not once for each key."""
        return self.estimate - len(self.timer) <= self.done

    @always("KAFKA-P6", MUST,
            "If nothing was cancelled for a key, at most Q (the purge threshold) completed "
            "requests are on watcher lists while no purge is in progress or due.",
            source=f"{PURGING}; kafka#P6")
    def the_dead_are_few(self) -> bool:
        """The number of requests that it need not purge is small."""
        return not self.rests() or self.dead() <= self.Q

    @always("KAFKA-P6M", MUST,
            "If nothing was cancelled for a key, at most Q (the purge threshold) completed "
            "requests are on watcher lists or in the timer while no purge is in progress or due.",
            source=f"{OLD} ('exhaust JVM heap', 'virtually avoid the memory problem')")
    def memory_is_bounded(self) -> bool:
        """Every reference keeps a request in memory."""
        return not self.rests() or sum(
            self.phase[request] == Request.COMPLETED
            and (self.is_watched(request) or request in self.timer)
            for request in range(self.K)
        ) <= self.Q

    @leads_to("KAFKA-P6L", MUST,
              "If nothing is cancelled for a key, whenever more than Q (the purge threshold) "
              "completed requests are on watcher lists, eventually at most Q are.",
              source=f"{PURGING}; kafka#P6; KAFKA-664")
    def the_dead_go(self) -> tuple[bool, bool]:
        """The reaper runs again and again."""
        return self.dead() > self.Q, self.dead() <= self.Q

    @always("KAFKA-P6E", MUST,
            "If nothing was cancelled for a key, a purge starts only if more than Q (the purge "
            "threshold) watched requests were completed since the last purge began, if any.",
            source=f"{PURGING} ('the purge operation should be triggered by the number of "
                   "completed requests'); kafka#purgatory (strict)")
    def purges_have_a_reason(self) -> bool:
        """The count begins with the previous purge."""
        return not self.needless

    @always("KAFKA-P7", MUST,
            "Between calls, the map of watcher lists holds no key with an empty list.",
            source="kafka#P7; KAFKA-2160")
    def empty_keys_go(self) -> bool:
        """Between two calls no key has an empty list."""
        return all(
            key not in self.keys
            or any(key * self.K + request in self.watched for request in range(self.K))
            for key in range(self.J)
        )


class CancellingPurgatory(Purgatory):
    """A purgatory with cancel_for_key, which takes requests out of the timer without completion."""

    @action(key=upto(Purgatory.J))
    def cancel_for_key(self, key: int) -> None:
        """Cancel a key that has a list."""
        require(key in self.keys)
        self.abandon(key)

    @leads_to("KAFKA-P2C", MUST,
              "A pending request is eventually completed, or cancelled together with one of its "
              "keys.",
              source="002#requests ('some timeout occurs'); kafka#purgatory (cancelForKey)",
              request=upto(Purgatory.K))
    def requests_end_or_are_cancelled(self, request: int) -> tuple[bool, bool]:
        """The purgatory may never answer a cancelled request: its owner has to."""
        return (self.phase[request] == Request.PENDING,
                self.phase[request] == Request.COMPLETED
                or self.phase[request] == Request.ABANDONED)

    @always("KAFKA-PE1", CLAIM,
            "Between calls, the timer's size is the number of requests that are on watcher "
            "lists and not completed.",
            source=f"{PURGING} ('exactly at any time'); 002#PE1: not of those cancelled "
                   "for a key")
    def timer_counts_the_incomplete(self) -> bool:
        """Abandoned requests are watched and incomplete, and are not in the timer."""
        return len(self.timer) == sum(
            self.is_watched(request) and self.phase[request] != Request.COMPLETED
            for request in range(self.K))


# --- one thing wrong -------------------------------------------------------------------------

class KeepingInTimer(Purgatory):
    """forceComplete does not cancel the timer entry."""

    def leave_timer(self, request: int) -> None:
        """The entry stays until its timeout."""


class ReopeningPurgatory(Purgatory):
    """A request counts as not completed after its callback has raised."""

    @action(request=upto(Purgatory.K))
    def reopen(self, request: int) -> None:
        """Once for each request, so that the model stays finite."""
        require(self.phase[request] == Request.COMPLETED and self.completions[request] == 1)
        self.phase[request] = Request.PENDING


class UntimedPurgatory(Purgatory):
    """A purgatory without a timer (timerEnabled = false), which purges by the same estimate."""

    def enter_timer(self, request: int) -> None:
        """Only events complete the request."""


class LosingTimeouts(CancellingPurgatory):
    """A purgatory without a timer; its keys may be cancelled."""

    def enter_timer(self, request: int) -> None:
        """Only events complete the request."""


class LosingLaterTimeouts(CancellingPurgatory):
    """A timer with one place, which a later request does not get."""

    def enter_timer(self, request: int) -> None:
        """Only the first request has a timeout."""
        if request == 0:
            self.timer.add(request)


class LosingEarlierTimeouts(CancellingPurgatory):
    """A timer with one place, which a later request takes from an earlier one."""

    def enter_timer(self, request: int) -> None:
        """The timeouts of all others are forgotten."""
        self.timer.clear()
        self.timer.add(request)


class PerKeyEstimate(Purgatory):
    """E counts a request once for each of its keys."""

    def weight(self, keys: int) -> int:
        """All keys, or one."""
        return self.J if keys == self.J else 1


class ImpatientPurge(Purgatory):
    """A purge begins with Q completed requests, not with more than Q."""

    def has_to_purge(self) -> bool:
        """The test of the threshold, without its strictness."""
        return self.estimate - len(self.timer) >= max(self.Q, 1)


class StaleEstimate(Purgatory):
    """A purge does not reset E: the next one follows at once."""

    def restart_estimate(self) -> None:
        """E stays what it was."""


class PurgingPending(Purgatory):
    """A purge that does not test whether a request is completed."""

    def is_purged(self, request: int) -> bool:
        """Every request on the list is purged."""
        return True


class KeepingEmptyKeys(Purgatory):
    """An empty list stays in the map (KAFKA-2160)."""

    def tidy(self, key: int) -> None:
        """An empty list stays in the map."""


class NeverPurging(Purgatory):
    """Nothing takes completed requests out of the lists (KAFKA-664)."""

    def strike(self, request: int, key: int) -> None:
        """An event leaves completed requests on the list."""

    def has_to_purge(self) -> bool:
        """There is no reaper."""
        return False


HOLDING = (
    ("KAFKA-P1", "a request is completed once"),
    ("KAFKA-P1E", "expiry for the winner only"),
    ("KAFKA-P2", "completion is final"),
    ("KAFKA-P2L", "timeouts end every wait"),
    ("KAFKA-P3W", "on all of its lists"),
    ("KAFKA-P4", "out of the timer"),
    ("KAFKA-P4N", "timer = pending"),
    ("KAFKA-P5", "E is never low"),
    ("KAFKA-P5U", "E is high by the number of completions only"),
    ("KAFKA-P6", "at most Q dead requests while idle"),
    ("KAFKA-P6M", "at most Q dead requests are kept alive"),
    ("KAFKA-P6L", "the dead go"),
    ("KAFKA-P6E", "no purge without a reason"),
    ("KAFKA-P7", "no empty keys"),
)
TWO: dict[str, Any] = {"K": 2, "J": 2, "Q": 0}

EXPECTATIONS = (
    *(expect(Purgatory, rule, "holds", about, K=3, J=2, Q=1) for rule, about in HOLDING),
    *(expect(Purgatory, rule, "holds", f"{about}; Q = 0", **TWO) for rule, about in HOLDING),
    *(expect(CancellingPurgatory, rule, "holds", f"{about}; with cancel_for_key", **TWO)
      for rule, about in HOLDING if rule in (
          "KAFKA-P1", "KAFKA-P1E", "KAFKA-P4", "KAFKA-P4N", "KAFKA-P7")),
    expect(CancellingPurgatory, "KAFKA-P2C", "holds", "completed or cancelled", **TWO),
    expect(CancellingPurgatory, "KAFKA-P2L", "violated", "a cancelled request need not be "
           "completed", **TWO),
    expect(LosingTimeouts, "KAFKA-P2C", "violated", "no timer: the request waits forever", **TWO),
    expect(LosingLaterTimeouts, "KAFKA-P2C", "violated", "one place: the second waits "
           "forever", **TWO),
    expect(LosingEarlierTimeouts, "KAFKA-P2C", "violated", "one place: the first waits "
           "forever", **TWO),
    expect(CancellingPurgatory, "KAFKA-PE1", "violated", "cancelled for a key, still watched",
           **TWO),
    expect(CancellingPurgatory, "KAFKA-P5", "violated",
           "cancelled for one of two keys: on the other's list, and not counted", **TWO),
    expect(CancellingPurgatory, "KAFKA-P5U", "violated",
           "cancelled requests count as if they were completed", **TWO),
    expect(ReopeningPurgatory, "KAFKA-P2", "violated", "a completion is undone", K=1, J=1),
    expect(UntimedPurgatory, "KAFKA-P2L", "violated", "no timer: the request waits forever", **TWO),
    expect(UntimedPurgatory, "KAFKA-P4N", "violated", "no timer: its size is always 0", **TWO),
    expect(UntimedPurgatory, "KAFKA-P6E", "violated",
           "without a timer all pending requests look completed, and cause purges",
           **TWO),
    expect(KeepingInTimer, "KAFKA-P1E", "holds", "no cancel in forceComplete: a completed request "
           "in the timer does not expire", **TWO),
    expect(KeepingInTimer, "KAFKA-P4", "violated", "no cancel in forceComplete", **TWO),
    expect(KeepingInTimer, "KAFKA-P4N", "violated",
           "without a cancel in forceComplete the timer's size is wrong (KAFKA-1616)", **TWO),
    expect(KeepingInTimer, "KAFKA-P6M", "violated",
           "without a cancel in forceComplete the timer keeps the memory", **TWO),
    expect(PerKeyEstimate, "KAFKA-P5U", "violated", "counted once for each key", **TWO),
    expect(PerKeyEstimate, "KAFKA-P6E", "violated", "counting keys, it purges needlessly", **TWO),
    expect(ImpatientPurge, "KAFKA-P6E", "violated", ">= for >", K=3, J=2, Q=1),
    expect(StaleEstimate, "KAFKA-P5U", "violated", "E is not reset", **TWO),
    expect(StaleEstimate, "KAFKA-P6E", "violated",
           "an estimate that is never reset causes purges without end", **TWO),
    expect(PurgingPending, "KAFKA-P3W", "violated", "pending requests are purged", **TWO),
    expect(KeepingEmptyKeys, "KAFKA-P7", "violated", "empty lists stay (KAFKA-2160)", **TWO),
    expect(NeverPurging, "KAFKA-P6L", "violated", "lists grow without bound (KAFKA-664)", **TWO),
    expect(NeverPurging, "KAFKA-P6M", "violated",
           "lists that are never purged keep their requests in memory", **TWO),
)

UNSEEN = {
    "KAFKA-PE1": "It is false after the cancellation of a key, so no implementation has to satisfy "
                 "it; KAFKA-P4N holds instead.",
}
