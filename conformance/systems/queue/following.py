"""Following a queue through a log in which calls overlap, in one state of ``BoundedQueue``.

What cannot be seen is in which order overlapping puts came in, and when. Following all orders takes
a number of states that is exponential in the calls that overlap. But the takes show the order
later. So the decision is put off until then: the log is read ahead, each item is put behind those
that certainly came in before it, and otherwise in the order in which the takes end; and the
machine's hidden steps are taken as late as they can be, in that order. What the machine takes in this
way is explained: it has taken each step itself, guards and all, so nothing here needs to be
believed. Where it refuses, another order might do. Then the few items in question are judged by
themselves in all orders (``calls``), and if that proves nothing, all since the last instant at
which the queue's contents were certain.

How far it reads ahead is how many items are in the queue: memory does not grow with the log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from ....spec.engines.monitor import LostTrack
from ....spec.queues.bounded import BoundedQueue
from ...logs.live import Live
from ...logs.notes import Notes, shortest
from .calls import UNLIMITED, Item, LogCall, Refused, refusal

__all__ = ["Follower", "WINDOW"]

WINDOW: Final = 200_000
"""Events of a key that are read ahead at most."""

_WHOLE: Final = 2_000
"""Events since the contents were certain that are judged in all orders at most."""

_TRIED: Final = 12
"""Items of a suspected history that are judged in all orders at most."""


class _Later(Exception):
    """What comes later decides it."""


class _Stray(Exception):
    """The machine refuses this order: ``items``, and perhaps an answer, are to be looked at."""

    def __init__(self, items: Iterable[Item], call: LogCall | None = None) -> None:
        self.items = list(items)
        self.call = call


class Follower:
    """Follows one queue. ``over`` is called with each item whose calls have all been taken,
    ``broken`` with what no run explains, ``unsure`` with a reason to stop."""

    def __init__(
        self, capacity: int | None, notes: Notes, over: Callable[[Item], None],
        broken: Callable[[Refused, list[LogCall]], None], unsure: Callable[[str], None],
    ) -> None:
        self._capacity = UNLIMITED if capacity is None else capacity
        self._live = Live(BoundedQueue, C=self._capacity, K=UNLIMITED, T=8, W=UNLIMITED)
        self._notes, self._over, self._broken, self._unsure = notes, over, broken, unsure
        self.closed = False
        self._todo: deque[tuple[bool, LogCall]] = deque()
        self._came_in: deque[Item] = deque()    # by the end of their puts, not placed yet
        self._to_admit: deque[Item] = deque()   # placed, in their order, and not admitted
        self._queue: deque[Item] = deque()      # as the machine has them inside
        self._open_takes: dict[int, LogCall] = {}   # not ended in the log, as far as it is read
        self._lost_takes: list[LogCall] = []    # whose end is unknown: they may have an item
        self._free_items: list[int] = []
        self._free_tickets: list[int] = []
        self._items = self._tickets = 0
        self._steps = self._open = 0
        self._empty_at = self._full_at = 0
        self._recent: list[LogCall] | None = []
        self._inside_before: list[Item] = []
        self._final = False

    # --- reading ahead ---------------------------------------------------------------------

    def begins(self, call: LogCall) -> None:
        """A call begins."""
        if not call.puts:
            self._open_takes[id(call)] = call
        self._todo.append((False, call))
        self._replays()

    def ends(self, call: LogCall) -> None:
        """A call ends, and how is known."""
        if not call.puts:
            self._open_takes.pop(id(call))
            if call.result == "unknown":
                self._lost_takes.append(call)
            elif call.item is not None:
                self._place(call.item)
        elif call.result == "ok" and call.item is not None and not call.item.placed:
            self._came_in.append(call.item)
        self._todo.append((True, call))
        self._replays()

    def finishes(self) -> None:
        """The log is over: calls that have not ended never will."""
        self._lost_takes += self._open_takes.values()
        self._open_takes.clear()
        self._final = True
        self._replays()

    def _place(self, item: Item) -> None:
        """Give an item its place: behind all that certainly came in before it."""
        if item.placed:
            return
        came_in = self._came_in
        while came_in and (came_in[0].placed or came_in[0].put.ended < item.put.begun):
            before = came_in.popleft()
            if not before.placed:
                before.overtaken_by = item
                self._append(before)
        self._append(item)

    def _append(self, item: Item) -> None:
        item.placed = True
        if not item.admitted:
            self._to_admit.append(item)

    # --- taking the machine along ----------------------------------------------------------

    def _replays(self) -> None:
        todo = self._todo
        while todo and not self.closed:
            is_end, call = todo[0]
            try:
                (self._end if is_end else self._begin)(call)
            except _Later:
                if len(todo) > WINDOW:
                    self._close(f"more than {WINDOW:,} events would have to be read ahead")
                return
            except _Stray as stray:
                self._strays(stray, call)
                return
            todo.popleft()
            self._open -= is_end and call.result != "unknown"
            self._steps += 1
            self._looks()

    def _act(self, name: str, **args: int) -> None:
        if self._live.takes(name, **args) is not None:
            raise _Stray(self._queue)

    def _seen(self, name: str, **args: int) -> None:
        self._act(name, **args)
        self._notes.steps[BoundedQueue, name] += 1

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
        machine = self._live.machine
        call.started = self._steps
        self._open += 1
        if self._recent is not None:
            self._recent.append(call)
        if not call.puts:
            call.slot = self._ticket()
            machine.asked = call.slot
            self._seen("take_waits")
            return
        item = call.item
        assert item is not None
        item.slot = self._free_items.pop() if self._free_items else self._items
        self._items = max(self._items, item.slot + 1)
        machine.out.discard(item.slot)
        machine.named = item.slot
        self._seen("put_waits")

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
            self._seen("cancelled_take", ticket=call.slot)
            self._free_tickets.append(call.slot)

    def _end_put(self, call: LogCall) -> None:
        item = call.item
        assert item is not None
        if call.result == "ok":
            self._admits(item)
            self._seen("woken_put", item=item.slot)
            item.told = True
            self._may_be_over(item)
            return
        if call.result == "full":
            self._is_full(call)
        if item.admitted:
            raise _Stray([item])
        self._seen("cancelled_put", item=item.slot)
        self._free_items.append(item.slot)
        self._over(item)

    def _end_take(self, call: LogCall, item: Item) -> None:
        if item.slot < 0:
            raise _Stray([item])
        if item.overtaken_by is not None:
            first = item.overtaken_by.take
            if first is not None and first.ended < call.begun:
                raise _Stray([item, item.overtaken_by])
        self._admits(item)
        while not item.served:
            self._serves(call, [item])
        self._seen("woken_take", ticket=call.slot, item=item.slot)
        self._free_tickets.append(call.slot)
        item.out = True
        self._may_be_over(item)

    def _may_be_over(self, item: Item) -> None:
        if item.out and item.told:
            self._free_items.append(item.slot)
            self._over(item)

    # --- the hidden steps, as late as they can be -------------------------------------------

    def _admits(self, item: Item) -> None:
        """Let an item in, after those of which it is known that they came before it."""
        machine = self._live.machine
        if item.admitted:
            return
        if not item.placed:
            if len(machine.puts) == 1:
                item.certain = True     # no other put overlaps: its place is behind all
                self._lets_in(item)
                return
            if not self._final:
                raise _Later
            self._append(item)
        while not item.admitted:
            first = self._to_admit[0]
            if first.slot < 0:
                raise _Stray([first, item])
            if not first.admitted:
                self._lets_in(first)
            self._to_admit.popleft()

    def _lets_in(self, item: Item) -> None:
        machine = self._live.machine
        while len(machine.inside) >= self._capacity:
            self._serves(item.put, [*self._queue, item])
        self._act("admit", place=machine.puts.index(item.slot))
        item.admitted = True
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
            self._seen("poll_empty")
            return
        self._notes.steps[BoundedQueue, "poll_empty"] += 1

    def _is_full(self, call: LogCall) -> None:
        if self._full_at < call.started and len(self._live.machine.inside) < self._capacity:
            raise _Stray([], call)
        self._notes.steps[BoundedQueue, "offer_refused"] += 1

    # --- where the machine refuses ----------------------------------------------------------

    def _strays(self, stray: _Stray, at: LogCall) -> None:
        """Look for a few items that no order explains; else judge all that is remembered."""
        upto = max(at.ended, at.begun)
        things = list(dict.fromkeys(stray.items))[:self._capacity + 1]
        calls = [call for item in things for call in item.calls()]
        if stray.call is not None and stray.call.result == "empty":
            calls.append(stray.call)
        lost = [take for take in self._lost_takes if take.begun < upto]
        seen_takes = {id(call) for call in calls}
        lost += [take for take in self._open_takes.values()
                 if take.begun < upto and id(take) not in seen_takes]
        if calls and len(things) <= max(_TRIED, 2) and self._is_proved(calls, lost, upto):
            return
        self._judges_all(upto)

    def _is_proved(self, calls: list[LogCall], lost: list[LogCall], upto: int) -> bool:
        def breaks(some: Iterable[object]) -> bool:
            return self._refused([*_calls(some), *lost], upto) is not None

        try:
            if not breaks(calls):
                return False
            groups: dict[int, list[LogCall]] = {}
            for call in calls:
                groups.setdefault(id(call.item) if call.item else id(call), []).append(call)
            kept = shortest(list(groups.values()), lambda some: breaks(
                [call for group in some for call in _calls(group)]))  # type: ignore[call-overload]
            least = [call for group in kept for call in _calls(group)]  # type: ignore[call-overload]
            found = self._refused([*least, *lost], upto)
        except LostTrack:
            return False
        assert found is not None
        self.closed = True
        self._broken(found, least)
        return True

    def _refused(self, calls: Iterable[LogCall], upto: int) -> Refused | None:
        return refusal(BoundedQueue, self._capacity, calls, upto)

    def _judges_all(self, upto: int) -> None:
        """Judge all since the contents were certain, in all orders."""
        if self._recent is None:
            self._close(f"overlapping calls have another order than the takes show, and more than "
                        f"{_WHOLE:,} calls came since the contents were certain")
            return
        calls = [*self._recent]
        try:
            found = refusal(BoundedQueue, self._capacity, calls, upto, self._inside_before)
        except LostTrack:
            self._close("overlapping calls have too many orders")
            return
        if found is None:
            self._close("overlapping calls have another order than the takes show")
            return
        self.closed = True
        self._broken(found, [call for call in calls if call.begun <= upto][-8:])

    def _close(self, why: str) -> None:
        self.closed = True
        self._unsure(why)


def _calls(some: Iterable[object]) -> list[LogCall]:
    return [call for call in some if isinstance(call, LogCall)]
