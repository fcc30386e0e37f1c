"""Permits in a log: locks, semaphores, connections of a pool.

A call of acquire that has begun waits, and its end is its wake-up. A permit that is given back may
be free from the instant at which that begins, and the machine frees it then: more that is free is
never worse for what can be judged here. A waiter is granted its permit as late as can be, when it
learns of it. So the machine is always in one state; what it refuses is judged once more by itself,
with the calls that hold the permits, in all orders.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Any, Final

from ....spec.engines.monitor import Failure, LostTrack
from ....spec.queues.locks.permits import ENDS_ONCE, NO_MORE, Permits
from ...logs.events import Event
from ...logs.exact import Exact
from ...logs.kinds import Asks, Call, Logs, Terms
from ...logs.live import Live, bound
from ...logs.notes import AROUND, Finding, Notes
from .acts import CANCELLED, GIVES, RELEASED, WAITS, WOKEN

__all__ = ["LOGS", "PermitsJudge"]

_MANY: Final = 1 << 20
_TRIED: Final = 10


class _Hold:
    """A call of acquire, and the release of what it got."""

    __slots__ = ("acquires", "holder", "releases", "slot")

    def __init__(self, holder: Hashable, slot: int) -> None:
        self.holder, self.slot = holder, slot
        self.acquires: list[tuple[int, Event]] = []
        self.releases: list[tuple[int, Event]] = []


class PermitsJudge:
    """Judges the permits of one key; see ``KeyJudge``. A permit's holder is the item of its acquire
    and release, or else the process."""

    def __init__(self, key: str, terms: Terms, notes: Notes, common: Any) -> None:
        self._key, self._terms, self._notes = key, terms, notes
        self._permits = terms.settings["permits"]
        self._live = Live(Permits, C=self._permits, K=1, W=1)
        machine = self._live.machine    # one state needs no bound on the calls at a time
        machine.K = machine.W = machine.line.capacity = _MANY
        self._now = 0
        self._free: list[int] = []
        self._slots = 0
        self._calls: dict[int, _Hold] = {}      # open calls of acquire and of release
        self._held: dict[Hashable, list[_Hold]] = {}
        self._recent: deque[Event] = deque(maxlen=AROUND)
        self._closed = False

    def has_seen(self, events: Iterable[Event]) -> None:
        """Events that were the last ones, judged elsewhere: they are only shown."""
        self._recent.clear()
        self._recent.extend(events)

    def take(self, event: Event) -> None:
        """Take the next event."""
        self._now += 1
        if not self._closed:
            acquires = event.operation == "acquire"
            begins, ends = ((self._begins, self._ends) if acquires else
                            (self._gives, self._gave))
            if event.phase != "end":
                begins(event)
            if event.phase != "begin" and not self._closed:
                ends(event)
        self._recent.append(event)

    def end(self) -> None:
        """The log is over; what still waits is not judged."""

    @property
    def is_over(self) -> bool:
        """True if an event was refused."""
        return self._closed

    # --- acquire ---------------------------------------------------------------------------

    def _begins(self, event: Event) -> None:
        slot = self._free.pop() if self._free else self._slots
        self._slots = max(self._slots, slot + 1)
        hold = _Hold(event.process if event.item is None else event.item, slot)
        hold.acquires.append((self._now, event))
        self._calls[event.call] = hold
        self._live.machine.asked = slot
        self._step(WAITS, event, hold)

    def _ends(self, event: Event) -> None:
        """An acquire ends: its permit was granted at the latest now, or its cancellation is
        known."""
        hold = self._calls.pop(event.call, None)
        if hold is None:
            self._is_foreign(f"an {event.operation} ends that has not begun", event)
            return
        if event.result == "unknown":
            return      # it may have a permit, at some time: it waits on, and is granted none
        if event.item is not None:
            hold.holder = event.item
        hold.acquires.append((self._now, event))
        if event.result != "ok":
            self._step(CANCELLED, event, hold, call=hold.slot)
            self._free.append(hold.slot)
            return
        machine = self._live.machine
        if machine.free > 0:
            self._live.takes("grant", place=machine.line.index(hold.slot))
        if self._step(WOKEN, event, hold, call=hold.slot):
            self._held.setdefault(hold.holder, []).append(hold)

    # --- release ---------------------------------------------------------------------------

    def _gives(self, event: Event) -> None:
        """A release begins, of the last permit that its holder got."""
        holder = event.process if event.item is None else event.item
        held = self._held.get(holder)
        if not held:
            if self._terms.from_start:
                self._is_foreign(f"{holder!r} gives back a permit that it does not hold", event)
                self._closed = True
            return
        hold = held.pop()
        if not held:
            del self._held[holder]
        hold.releases.append((self._now, event))
        self._calls[event.call] = hold
        self._step(GIVES, event, hold, call=hold.slot)
        self._live.takes("becomes_free", call=hold.slot)

    def _gave(self, event: Event) -> None:
        hold = self._calls.pop(event.call, None)
        if hold is None:
            if self._terms.from_start and event.call < 0:
                self._is_foreign("a release ends that has not begun", event)
            return
        if event.result == "unknown":
            return
        self._step(RELEASED, event, hold, call=hold.slot)
        self._free.append(hold.slot)

    # --- the machine -----------------------------------------------------------------------

    def _step(self, name: str, event: Event, hold: _Hold, **args: int) -> bool:
        """Take a step; a refusal counts only if no order of the overlapping calls explains them."""
        failure = self._live.takes(name, **args)
        if failure is None:
            self._notes.steps[Permits, name] += 1
            return True
        self._closed = True
        if failure.rule is None:
            self._is_foreign(f"{failure.observation}: {failure.conjunct}", event)
            return False
        holders = [each for held in self._held.values() for each in held]
        found = self._refused([*holders, hold]) if len(holders) <= _TRIED else None
        if found is None or found.rule is None:
            self._notes.unsure([NO_MORE.id], self._key, "overlapping calls have another order than "
                               "the one that was tried", event)
            return False
        places = {at: each for one in (*holders, hold) for at, each in one.acquires}
        who = ", ".join(repr(each.holder) for each in holders)
        self._notes.violated(Finding(
            found.rule.id, self._key, event, found,
            f"the {event.operation} has not ended: of {self._permits} permits none is free; "
            f"held by {who or 'no call'}",
            tuple(places[at] for at in sorted(places)), tuple(self._recent)))
        return False

    def _refused(self, holds: list[_Hold]) -> Failure | None:
        """Why no order of some calls explains them; None if one does."""
        exact = Exact(bound(Permits, C=self._permits, K=len(holds), W=len(holds)),
                      self._terms.states)
        events = sorted((at, is_end, index) for index, hold in enumerate(holds)
                        for is_end, (at, _) in enumerate(hold.acquires))
        numbers: dict[int, int] = {}
        try:
            for _, is_end, index in events:
                if is_end:
                    failure = exact.sees((WOKEN, (("call", numbers[index]),)))
                else:
                    numbers[index] = len(numbers)
                    failure = exact.sees((WAITS, ()))
                if failure is not None:
                    return failure
        except LostTrack:
            pass
        return None

    def _is_foreign(self, why: str, event: Event) -> None:
        self._notes.is_foreign(self._key, why, event)


def _whole(terms: Terms, notes: Notes, names: Any, common: Any) -> Any:
    from .whole import WholePermits, room_for

    fits = room_for(terms.settings["permits"])
    return WholePermits(terms, notes, names, lambda key: PermitsJudge(
        key, terms, notes, common)) if fits else None


LOGS: Final = Logs(
    machines=(Permits,),
    operations={
        "acquire": Call("a permit is asked for, and given at the end of the call. \"failed\", "
                        "\"empty\": it was not"),
        "release": Call("a permit is given back, by the process that has it, or for the item that "
                        "the acquire named"),
    },
    settings={"permits": "permits that there are; of a lock: 1"},
    required=("permits",),
    rules=(NO_MORE, ENDS_ONCE),
    judge=PermitsJudge,
    whole=_whole,
    capacity="permits",
    asks={**{("acquire", result): Asks(("acquire",), item="by", process="by", new=("by",))
             for result in ("ok", "failed", "empty", "unknown")},
          ("release", "ok"): Asks(("release",), item="by", process="by")},
)
