"""Following a queue through a log in which calls overlap, in one state of ``BoundedQueue``.

What cannot be seen is in which order overlapping puts came in, and when. Following all orders takes
a number of states that is exponential in the calls that overlap. But the takes show the order
later. So the decision is put off until then: the log is read ahead, and the machine's hidden steps
are taken as late as they can be. An item comes in when its put ends, after only those waiting ones
that have takes which ended before its own take began; it leaves when its take ends, or when its
room is needed. What the machine takes in this way is explained: it has taken each step itself,
guards and all, so nothing here needs to be believed. Where it refuses, another order might do. Then
the few items in question are judged by themselves in all orders (``calls``). If that proves
nothing, an order is searched for in what was read ahead (``ahead``), from here on; then others are
tried from some events before (``_Mark``), and last, all orders since the last instant at which the
queue's contents were certain.

How far it reads ahead is how many items are in the queue: memory does not grow with the log.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from copy import copy
from random import Random
from typing import Final

from ....spec.engines.monitor import LostTrack
from ....spec.notation.labels import counted
from ....spec.queues.queue import BoundedQueue
from ...logs.notes import Notes, shortest
from .ahead import Ahead, View
from .calls import (
    PUT, TAKE, UNLIMITED, Item, LogCall, Refused, refusal, unbounded, visible,
)

__all__ = ["Follower", "WINDOW"]

WINDOW: Final = 200_000
"""Events of a key that are read ahead at most."""

_WHOLE: Final = 400
"""Events since the contents were certain that are judged in all orders at most."""

_REST: Final = 200
"""Calls up to the end of a log that are judged in all orders at most."""

_TRIED: Final = 12
"""Items of a suspected history that are judged in all orders at most."""


_AHEAD: Final = 4_096
"""Events that are read ahead at most for a better choice, where any would do."""

_EVERY: Final = 64
"""Events after which the state is kept, to try other orders from there; four of them are kept."""

_ATTEMPTS: Final = 96
"""Other orders that are tried, from ever further back."""


class _Mark:
    """Where the machine was, with what has been replayed since then."""

    def __init__(self, follower: Follower) -> None:
        self.live = follower._live.saved()
        self.own = {name: copy(getattr(follower, name)) for name in _KEPT}
        self.items = [(item, item.progress()) for item in follower._alive.values()]
        self.slots = [(call, call.slot, call.started) for call in follower._calls.values()]
        self.replayed: list[tuple[bool, LogCall]] = []
        self.over: list[Item] = []
        self.seen = Counter[str]()

    def restores(self, follower: Follower) -> None:
        """Let a follower be as it was here. What has begun since then begins anew."""
        follower._live.restore(self.live)
        follower._live.machine.T = len(follower._live.machine.holds)
        for name in _KEPT:
            setattr(follower, name, copy(self.own[name]))
        for item, progress in self.items:
            take = item.take
            item.restore(progress)
            if take is not None and take.item is item:
                item.take = take    # known meanwhile, and not only supposed
        for call, slot, started in self.slots:
            call.slot, call.started = slot, started


_KEPT: Final = (
    "_alive", "_calls", "_empty_at", "_free_items", "_free_tickets", "_full_at", "_inside_before",
    "_items", "_open", "_pending", "_putting", "_queue", "_recent", "_steps", "_tickets")


class _Later(Exception):
    """Later events decide it."""


class _Stray(Exception):
    """The machine refuses this order: ``items``, and perhaps an answer, are to be looked at."""

    def __init__(self, items: Iterable[Item], call: LogCall | None = None) -> None:
        self.items = list(items)
        self.call = call


class Follower:
    """Follows one queue. ``over`` is called with each item whose calls have all been taken,
    ``broken`` with what no run explains, ``unsure`` with a reason to stop. Where all orders are
    tried, a machine may be in so many ``states`` at one time."""

    def __init__(
        self, capacity: int | None, notes: Notes, over: Callable[[Item], None],
        broken: Callable[[Refused, list[LogCall]], None], unsure: Callable[[str], None],
        states: int,
    ) -> None:
        self._states = states
        self._capacity = UNLIMITED if capacity is None else capacity
        self._live = unbounded(self._capacity)
        self._notes, self._over, self._broken, self._unsure = notes, over, broken, unsure
        self.closed = False
        self._todo: deque[tuple[bool, LogCall]] = deque()
        self._putting: dict[Item, Item] = {}     # with puts that have begun and not ended
        self._pending: dict[Item, Item] = {}     # those that are not inside yet
        self._queue: deque[Item] = deque()      # as the machine has them inside
        self._open_takes: dict[LogCall, LogCall] = {}   # not ended in the log, as far as it is read
        self._lost_takes: list[LogCall] = []    # with an unknown end: they may have an item
        self._free_items: list[int] = []
        self._free_tickets: list[int] = []
        self._items = self._tickets = 0
        self._steps = self._open = 0
        self._empty_at = self._full_at = 0
        self._recent: list[LogCall] | None = []
        self._inside_before: list[Item] = []
        self._final = False
        self._rest: list[LogCall] | None = None     # where only all orders are left to try
        self._uncounted: list[tuple[bool, LogCall]] = []    # that are taken so, if at all
        self._alive: dict[Item, Item] = {}       # items that have begun and are not over
        self._calls: dict[LogCall, LogCall] = {}    # calls that have begun and not ended
        self._chance: Random | None = None      # another order is being tried
        self._attempt = 0
        self._goal = 0                          # steps after which the attempt has succeeded
        self._ahead: Ahead | None = None        # the order is searched for, as a guess was wrong
        self._marks: deque[_Mark] = deque([_Mark(self)])

    # --- reading ahead ---------------------------------------------------------------------

    def begins(self, call: LogCall) -> None:
        """Take the beginning of the next call of the log."""
        if not call.puts:
            self._open_takes[call] = call
        if self._rest is not None:
            self._rest.append(call)
            self._uncounted.append((False, call))
            if len(self._rest) > _REST:
                self._close("overlapping calls have another order than the takes show")
            return
        self._todo.append((False, call))
        self._replays()

    def ends(self, call: LogCall) -> None:
        """A call ends, and how is known."""
        if self._rest is not None:
            self._uncounted.append((True, call))
            return
        if not call.puts:
            self._open_takes.pop(call)
            if call.result == "unknown":
                self._lost_takes.append(call)
        self._todo.append((True, call))
        self._replays()

    def finishes(self) -> None:
        """The log is over: calls that have not ended never will."""
        self._lost_takes += self._open_takes.values()
        self._open_takes.clear()
        self._final = True
        self._replays()
        if self._rest is not None:
            self._judges_rest()
        elif self._todo and not self.closed:
            self._close("what the last calls did is not in the log")
        while self._marks:
            self._settle(self._marks.popleft())

    # --- taking the machine along ----------------------------------------------------------

    def _replays(self) -> None:
        """Take the events that were read ahead, as far as it is known what comes out; a wrong guess
        goes back to a mark."""
        todo = self._todo
        while todo and not self.closed:
            is_end, call = todo[0]
            if self._ahead is not None and self._chance is None and not self._is_known(
                    self._ahead, call.ended if is_end else call.begun):
                return
            try:
                (self._end if is_end else self._begin)(call)
            except _Later:
                if len(todo) > WINDOW:
                    self._close(f"more than {WINDOW:,} events would have to be read ahead")
                return
            except _Stray as stray:
                if not self._tries_again(stray, call):
                    return
                continue
            mark = self._marks[-1]
            mark.replayed.append(todo.popleft())
            if is_end and call.result != "unknown":
                self._open -= 1
                del self._calls[call]
            self._steps += 1
            self._looks()
            if len(mark.replayed) >= _EVERY:
                self._keeps()

    def _keeps(self) -> None:
        """Keep where the machine is; what was replayed before the oldest mark is final."""
        if self._chance is not None and self._steps > self._goal:
            self._chance, self._attempt = None, 0
        self._marks.append(_Mark(self))
        if len(self._marks) > 4:
            self._settle(self._marks.popleft())

    def _settle(self, mark: _Mark) -> None:
        for item in mark.over:
            self._over(item)
        for name, times in mark.seen.items():
            self._notes.steps[BoundedQueue, name] += times

    def _tries_again(self, stray: _Stray, at: LogCall) -> bool:
        """Try another order from some events before; False if it is known that none does, or if too
        many were tried."""
        if self._attempt == 0:
            self._goal = self._steps + 1
            if self._is_proved(stray, at):
                return False
        self._attempt += 1
        if self._attempt > _ATTEMPTS:
            self._judges_all(max(at.ended, at.begun))
            return False
        if self._attempt == 1:
            self._ahead = self._ahead or Ahead(self._capacity)
            back = len(self._marks)
        else:
            self._chance = Random(self._attempt)
            back = min(len(self._marks), 1 + self._attempt * 4 // _ATTEMPTS)
        assert self._ahead is not None
        self._ahead.begins_anew()
        for _ in range(back):
            mark = self._marks.pop()
            self._todo.extendleft(reversed(mark.replayed))
            for _, call in mark.replayed:
                call.slot = -1
                if call.puts and call.item is not None:
                    call.item.begins_anew()
            mark.replayed, mark.over, mark.seen = [], [], Counter()
        mark.restores(self)
        self._marks.append(mark)
        return True

    def _is_known(self, ahead: Ahead, at: int) -> bool:
        """True if the order up to a place is known, or cannot be; false if more has to be read."""
        todo = self._todo
        if at < ahead.known:
            return True
        if not ahead.has(len(todo), self._final):
            return False
        is_end, last = todo[-1]
        coming = [*self._pending, *(call.item for is_end, call in todo
                                    if not is_end and call.item is not None and call.puts)]
        waiting = self._live.machine.takes
        lost = [take for take in self._lost_takes if take.slot < 0 or take.slot in waiting]
        return ahead.searches(at, len(todo), View(
            self._queue, coming, self._open_takes, lost,
            last.ended if is_end else last.begun, self._final))

    def _act(self, name: str, **args: int) -> None:
        if self._live.takes(name, **args) is not None:
            raise _Stray(self._queue)

    def _seen(self, name: str, **args: int) -> None:
        self._act(name, **args)
        self._marks[-1].seen[name] += 1

    def _looks(self) -> None:
        """Remember when the queue could be said to be empty, or full; and when it was certain."""
        machine = self._live.machine
        if not machine.inside:
            self._empty_at = self._steps
        if len(machine.inside) >= self._capacity:
            self._full_at = self._steps
        if self._recent is not None and len(self._recent) > _WHOLE:
            self._recent = None
        if self._open == 0 and (self._recent is None or len(self._recent) > 16) and (
                all(item.certain for item in self._queue)):
            self._recent, self._inside_before = [], list(self._queue)

    def _begin(self, call: LogCall) -> None:
        """A call begins: its item or ticket gets a free number of the machine."""
        machine = self._live.machine
        call.started = self._steps
        self._open += 1
        self._calls[call] = call
        if self._recent is not None:
            self._recent.append(call)
        if not call.puts:
            call.slot = self._ticket()
            machine.asked = call.slot
            self._seen(TAKE.waits)
            return
        item = call.item
        assert item is not None
        item.slot = self._free_items.pop() if self._free_items else self._items
        self._items = max(self._items, item.slot + 1)
        machine.out.discard(item.slot)
        machine.named = item.slot
        self._seen(PUT.waits)
        self._alive[item] = item
        item.certain = not self._putting
        for other in self._putting.values():
            other.certain = False
        self._putting[item] = self._pending[item] = item

    def _ticket(self) -> int:
        """A ticket that no call has; the machine has as many as are needed at a time."""
        if self._free_tickets:
            return self._free_tickets.pop()
        machine = self._live.machine
        if self._tickets == machine.T:
            machine.holds.extend([machine.K] * machine.T)
            machine.T *= 2
        self._tickets += 1
        return self._tickets - 1

    def _end(self, call: LogCall) -> None:
        if call.result == "unknown":
            return
        if call.puts:
            self._end_put(call)
        elif call.result == "ok" and call.item is not None:
            self._end_take(call, call.item)
        else:
            if call.result == "empty":
                self._is_empty(call)
            self._seen(TAKE.cancelled, ticket=call.slot)
            self._free_tickets.append(call.slot)

    def _end_put(self, call: LogCall) -> None:
        """A put ends: its item was admitted at the latest now, or never was."""
        item = call.item
        assert item is not None
        if call.result == "ok":
            self._admits(item)
            self._seen(PUT.woken, item=item.slot)
            del self._putting[item]
            item.told = True
            self._may_be_over(item)
            return
        if call.result == "full":
            self._is_full(call)
        if item.admitted:
            raise _Stray([item])
        self._seen(PUT.cancelled, item=item.slot)
        del self._putting[item], self._pending[item]
        self._leaves(item)

    def _end_take(self, call: LogCall, item: Item) -> None:
        if item.slot < 0:
            raise _Stray([item])
        self._admits(item)
        while not item.served:
            self._serves(call, [item])
        self._seen(TAKE.woken, ticket=call.slot, item=item.slot)
        self._free_tickets.append(call.slot)
        item.out = True
        self._may_be_over(item)

    def _may_be_over(self, item: Item) -> None:
        if item.out and item.told:
            self._leaves(item)

    def _leaves(self, item: Item) -> None:
        """An item is over: its slot is free again."""
        self._free_items.append(item.slot)
        del self._alive[item]
        self._marks[-1].over.append(item)

    # --- the hidden steps, as late as they can be -------------------------------------------

    def _admits(self, item: Item, freely: bool = True) -> None:
        """Let an item in, in the order that was found; or after those waiting ones that certainly
        came before it, and, ``freely``, after those that may as well."""
        if item.admitted:
            return
        ranks = self._ahead.ranks if self._ahead is not None else {}
        if item in ranks:
            for other in sorted((other for other in self._pending if other in ranks),
                                key=ranks.__getitem__):
                if ranks[other] <= ranks[item]:
                    self._lets_in(other)
            return
        before = [other for other in self._pending.values()
                  if other is not item and (self._is_before(other, item)
                                            or freely and self._may_as_well(other, item))]
        for other in sorted(before, key=_taken):
            self._admits(other, freely=False)
        if not item.admitted:
            self._lets_in(item)

    def _is_before(self, one: Item, other: Item) -> bool:
        """True if the take of one ended before that of the other began: so it came in before."""
        first, second = one.take, other.take
        if first is None:
            if second is None and not self._final:
                raise _Later
            return False
        if second is not None:
            return first.ended < second.begun
        oldest = next(iter(self._open_takes.values()), None)
        if oldest is not None and oldest.begun < first.ended:
            raise _Later    # that may be the take of the other
        return True

    def _may_as_well(self, one: Item, other: Item) -> bool:
        """True if one that need not come in before the other does so: its take began first, so it
        can free a slot first, and there is room for both. Any choice is right, if the machine takes
        it; this is one that rarely has to be taken back."""
        first, second, now = one.take, other.take, other.put.ended
        if second is None or not now or self._capacity == UNLIMITED:
            return False
        if first is None:
            oldest = next(iter(self._open_takes.values()), None)
            if oldest is not None and oldest.begun < second.begun and len(self._todo) < _AHEAD:
                raise _Later    # that may be its take
            return False
        room = self._capacity - len(self._queue)
        for item in self._queue:
            if item.take is None or item.take.begun > now:
                break
            room += 1
        needed = 2 + sum(each.take is not None and each.take.begun < first.begun
                         for each in self._pending.values() if each is not other)
        choice = first.begun < second.begun and room >= needed
        if self._chance is not None and self._chance.random() < 0.25:
            choice = not choice and not self._is_before(other, one)
        return choice

    def _lets_in(self, item: Item) -> None:
        machine = self._live.machine
        while len(machine.inside) >= self._capacity:
            self._serves(item.put, [*self._queue, item])
        self._act("admit", place=machine.puts.index(item.slot))
        item.admitted = True
        del self._pending[item]
        self._queue.append(item)

    def _serves(self, call: LogCall, suspects: list[Item]) -> None:
        """Give the head to its take, by the end of a call; ``suspects`` are to be looked at if no
        take can have it."""
        if not self._queue:
            raise _Stray(suspects)
        head = self._queue[0]
        if head.take is None:
            head.take = self._holder(call, [head, *suspects])
        machine = self._live.machine
        if head.take.slot not in machine.takes:     # it has not begun
            raise _Stray([head, *suspects])
        self._act("serve", place=machine.takes.index(head.take.slot))
        head.served = True
        self._queue.popleft()

    def _holder(self, call: LogCall, suspects: list[Item]) -> LogCall:
        """A take of an unknown end that may have got an item by the end of a call."""
        if any(take.begun < call.ended for take in self._open_takes.values()):
            raise _Later
        machine = self._live.machine
        for take in self._lost_takes:
            if take.slot in machine.takes:
                return take
        raise _Stray(suspects)

    # --- answers that are true at one instant -----------------------------------------------

    def _is_empty(self, call: LogCall) -> None:
        if self._empty_at < call.started:
            while self._live.machine.inside:
                try:
                    self._serves(call, [self._queue[0]])
                except _Stray as stray:
                    raise _Stray(stray.items, call) from None
            self._seen(TAKE.in_vain)
            return
        self._marks[-1].seen[TAKE.in_vain] += 1

    def _is_full(self, call: LogCall) -> None:
        if self._full_at < call.started:
            ranks = self._ahead.ranks if self._ahead is not None else {}
            machine = self._live.machine
            for item in sorted((item for item in self._pending if item.take is not None),
                               key=lambda item: (ranks.get(item, UNLIMITED), _taken(item))):
                if len(machine.inside) < self._capacity:
                    self._lets_in(item)
            if len(machine.inside) < self._capacity:
                raise _Stray([], call)
        self._marks[-1].seen[PUT.in_vain] += 1

    # --- where the machine refuses ----------------------------------------------------------

    def _is_proved(self, stray: _Stray, at: LogCall) -> bool:
        """Look for a few items that no order explains; True if there are such."""
        upto = max(at.ended, at.begun)
        things = list(dict.fromkeys(stray.items))[:self._capacity + 1]
        groups = [item.calls() for item in things]
        if stray.call is not None and stray.call.result == "empty":
            groups.append([stray.call])
        if not groups or len(things) > _TRIED:
            return False
        named = {call for calls in groups for call in calls}
        lost = [take for take in (*self._lost_takes, *self._open_takes.values())
                if take.begun < upto and take not in named]

        def refused(some: Iterable[list[LogCall]]) -> Refused | None:
            calls = [call for calls in some for call in calls]
            return refusal(BoundedQueue, self._capacity, [*calls, *lost], upto, self._states)

        try:
            if refused(groups) is None:
                return False
            least = shortest(groups, lambda some: refused(some) is not None)
            found = refused(least)
        except LostTrack:
            return False
        assert found is not None
        self.stops()
        self._broken(found, [call for calls in least for call in calls])
        return True

    def _judges_all(self, upto: int) -> None:
        """Judge all since the contents were certain, in all orders."""
        if self._recent is None:
            self._close(f"overlapping calls have another order than the takes show, and more than "
                        f"{_WHOLE:,} calls came since the contents were certain")
            return
        calls = [*self._recent]
        try:
            found = refusal(BoundedQueue, self._capacity, calls, upto, self._states,
                            self._inside_before)
        except LostTrack:
            self._loses_track()
            return
        if found is None:
            self._rest = [*calls, *(call for is_end, call in self._todo if not is_end)]
            self._uncounted = list(self._todo)
            self._todo.clear()
            return
        self.stops()
        self._broken(found, [call for call in calls if call.begun <= upto][-8:])

    def _loses_track(self) -> None:
        self._close("overlapping calls have too many orders: more than "
                    f"{counted(self._states, 'state')} at one time (--max-states)")

    def _judges_rest(self) -> None:
        """Judge the end of a log, which no order that was tried explains, in all orders."""
        calls = self._rest or []
        upto = max([max(call.begun, call.ended) for call in calls], default=0)
        try:
            found = refusal(BoundedQueue, self._capacity, calls, upto, self._states,
                            self._inside_before)
        except LostTrack:
            self._loses_track()
            return
        self.stops()
        if found is not None:
            self._broken(found, [call for call in calls if call.begun <= upto][-8:])
            return
        for is_end, call in self._uncounted:
            for name in visible(is_end, call):
                self._notes.steps[BoundedQueue, name] += 1

    def _close(self, why: str) -> None:
        self.stops()
        self._unsure(why)

    def stops(self) -> None:
        """Follow the queue no more."""
        self.closed = True
        while self._marks:
            self._settle(self._marks.popleft())
        self._todo.clear()


def _taken(item: Item) -> int:
    return item.take.ended if item.take is not None else 0
