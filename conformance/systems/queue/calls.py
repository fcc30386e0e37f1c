"""The calls and items of one queue in a log, and short histories of them, judged exactly.

A history from which all calls about some items are left out is one of a queue as well, if there was
one with them: the others keep their order, and there is only more room. So a few items that no run
of the machine explains prove that none explains the whole log. (A refusal for want of a free slot
is left out too, unless the history is whole.)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from ....spec.engines.monitor import Failure
from ....spec.notation.interpreter import Step
from ....spec.notation.machine import Machine
from ....spec.queues.conserved import ConservingQueue
from ....spec.queues.queue import BoundedQueue
from ...logs.events import Event
from ...logs.exact import Exact
from ...logs.live import Live, bound
from ...suites.meanings import Meanings
from ...suites.says import ANY, WAITS
from .suite import QueueConversation

__all__ = [
    "DONE", "PUT", "TAKE", "TAKEN", "UNLIMITED", "Acts", "Item", "LogCall", "Refused", "refusal",
    "unbounded", "visible",
]


class Acts(NamedTuple):
    """The actions of a call: at its begin, at its end if it was done or undone, and at the instant
    at which it found the queue full, or empty."""

    waits: str
    woken: str
    cancelled: str
    in_vain: str


_SAYS: Final = Meanings(QueueConversation.says)
PUT: Final = Acts(_SAYS.answer("put", WAITS), _SAYS.end("put", True),
                  _SAYS.answer("cancel", True, where="put"), _SAYS.answer("offer", False))
TAKE: Final = Acts(_SAYS.answer("take", WAITS), _SAYS.end("take", ANY),
                   _SAYS.answer("cancel", True, where="take"), _SAYS.answer("poll", None))
DONE: Final = _SAYS.answer("put", True)
"""A put that is done at once: what was in before, without a call in the log."""

TAKEN: Final = _SAYS.answer("take", ANY)
"""A take that is done at once: the item alone is judged so, and has no take that waits."""

UNLIMITED: Final = 1 << 40
"""The capacity of a queue without one."""


class LogCall:
    """One call. ``begun`` and ``ended`` are places in the order of the key's events; ``ended`` is
    0 while it has not. ``slot`` is its ticket in the machine that follows the log; -1: none."""

    __slots__ = ("begin", "begun", "end", "ended", "item", "result", "slot", "started")

    def __init__(self, begin: Event, begun: int) -> None:
        self.begin = begin
        self.begun = begun
        self.end: Event | None = None
        self.ended = 0
        self.result = ""
        self.item: Item | None = None
        self.slot = -1
        self.started = 0

    @property
    def puts(self) -> bool:
        """True for a put, false for a take."""
        return self.begin.operation == "put"

    @property
    def acts(self) -> Acts:
        """The actions that it is."""
        return PUT if self.puts else TAKE

    def ends(self, event: Event, at: int) -> None:
        """Note the event of its end, with its place in the order."""
        self.end, self.ended, self.result = event, at, event.result

    def events(self) -> tuple[Event, ...]:
        """Its events in the log: one or two."""
        if self.end is None or self.end is self.begin:
            return (self.begin,)
        return self.begin, self.end


class Item:
    """One item: its calls, and how far the machine that follows the log has got with it."""

    __slots__ = ("admitted", "certain", "fate", "name", "out", "overtaken_by", "put", "served",
                 "slot", "take", "told")

    def __init__(self, name: Hashable, put: LogCall, fate: Any) -> None:
        self.name = name
        self.put = put
        self.take: LogCall | None = None
        self.fate = fate            # the candidates of the machine that judges it alone
        self.slot = -1
        self.admitted = self.served = self.told = self.out = False
        self.overtaken_by: LogCall | None = None    # a take of what certainly came in later
        self.certain = False        # no other put overlapped when it came in

    def progress(self) -> tuple[Any, ...]:
        """How far it has got, to be restored."""
        return self.slot, self.admitted, self.served, self.told, self.out, self.certain, self.take

    def begins_anew(self) -> None:
        """Be as if nothing of it had been replayed."""
        self.slot = -1
        self.admitted = self.served = self.told = self.out = self.certain = False
        if self.take is not None and self.take.item is not self:
            self.take = None    # it was only supposed to have it

    def restore(self, progress: tuple[Any, ...]) -> None:
        """Be as far as it was."""
        (self.slot, self.admitted, self.served, self.told, self.out, self.certain,
         self.take) = progress

    def calls(self) -> list[LogCall]:
        """Its put, and its take if it was taken."""
        return [self.put] if self.take is None else [self.put, self.take]


class Refused(NamedTuple):
    """An event that no run explains: why, and what could have been in its place."""

    failure: Failure
    event: Event
    allowed: tuple[str, ...]


def refusal(
    machine: type[Machine], capacity: int, calls: Iterable[LogCall], upto: int, states: int,
    inside: Sequence[Item] = (),
) -> Refused | None:
    """The first event up to a place at which no run of a machine explains some calls; None if one
    explains them all. ``inside`` are items that are in the queue at first.

    Raises ``LostTrack`` where more than ``states`` do at one time.
    """
    return _Replay(machine, capacity, list(calls), upto, states, inside).refused()


class _Replay:
    def __init__(self, machine: type[Machine], capacity: int, calls: list[LogCall], upto: int,
                 states: int, inside: Sequence[Item]) -> None:
        self._calls = sorted((call for call in dict.fromkeys(calls) if call.begun <= upto),
                             key=lambda call: call.begun)
        self._upto = upto
        puts = [call for call in self._calls if call.puts and call.result != "full"]
        takes = [call for call in self._calls if not call.puts and call.result != "empty"]
        self._tickets = {id(call): number for number, call in enumerate(takes)}
        self._items: dict[int, int] = {id(each): at for at, each in enumerate(inside)}
        for call in puts:
            self._items.setdefault(id(call.item), len(self._items))
        self._names = {self._items[id(each)]: each.name for each in inside} | {
            self._items[id(call.item)]: call.item.name for call in puts if call.item is not None}
        constants: dict[str, int] = {"K": len(self._items) + 1, "T": max(1, len(takes))}
        if issubclass(machine, BoundedQueue):
            constants |= {"C": min(capacity, len(self._items) + 1), "W": self._most_at_once()}
        self._exact = Exact(bound(machine, **constants), states)
        for _ in inside:
            self._exact.sees((DONE, ()))

    def _most_at_once(self) -> int:
        edges = sorted((at, step) for call in self._calls for at, step in (
            (call.begun, 1), (call.ended or self._upto + 1, -1)))
        now = most = 1
        for _, step in edges:
            now += step
            most = max(most, now)
        return most

    def refused(self) -> Refused | None:
        """The first event that is refused."""
        events = [(call.begun, 0, call) for call in self._calls] + [
            (call.ended, 1, call) for call in self._calls
            if call.ended and call.ended <= self._upto and call.result != "unknown"]
        for _, is_end, call in sorted(events, key=lambda each: each[:2]):
            event = call.end if is_end and call.end is not None else call.begin
            failure = (self._ends if is_end else self._begins)(call)
            if failure is not None:
                return Refused(failure, event, self._instead(call))
        return None

    def _begins(self, call: LogCall) -> Failure | None:
        if call.result in ("empty", "full"):
            self._exact.opens(id(call), (call.acts.in_vain, ()))
            return None
        return self._exact.sees((call.acts.waits, ()))

    def _ends(self, call: LogCall) -> Failure | None:
        if call.result in ("empty", "full"):
            return self._exact.closes(id(call))
        return self._exact.sees(self._step(call))

    def _step(self, call: LogCall) -> Step:
        if call.puts:
            return (PUT.woken if call.result == "ok" else PUT.cancelled,
                    (("item", self._items[id(call.item)]),))
        ticket = ("ticket", self._tickets[id(call)])
        if call.result != "ok" or id(call.item) not in self._items:
            return TAKE.cancelled, (ticket,)
        return TAKE.woken, (ticket, ("item", self._items[id(call.item)]))

    def _instead(self, call: LogCall) -> tuple[str, ...]:
        """Other events that there could have been in the place of a call's end, in words."""
        words = [f"the {call.begin.operation} has not ended"]
        if call.puts or self._exact.bound.machine is ConservingQueue:
            return tuple(words)
        if call.result != "ok":
            return (*words, *(f"another take has got {name!r} before"
                              for name in self._names.values()))
        ticket = ("ticket", self._tickets[id(call)])
        could = self._exact.could([
            (TAKE.woken, (ticket, ("item", number))) for number in self._names])
        return (*(f"the take gets {self._names[dict(args)['item']]!r}" for _, args in could),
                *words)


Confirm = Callable[[Iterable[LogCall], int], Refused | None]


def visible(is_end: bool, call: LogCall) -> tuple[str, ...]:
    """The steps that are seen of a beginning, or an end."""
    acts = call.acts
    if not is_end:
        return (acts.waits,)
    if call.result == "unknown":
        return ()
    if call.result == "ok" and call.item is not None:
        return (acts.woken,)
    vain = call.result == ("full" if call.puts else "empty")
    return (acts.in_vain, acts.cancelled) if vain else (acts.cancelled,)


def unbounded(capacity: int) -> Live:
    """The machine of a queue, with any number of items and waiting calls: one state needs no
    bound, and no guard but those on room for names depends on one."""
    live = Live(BoundedQueue, C=1, K=1, T=1, W=1)
    machine = live.machine
    machine.C, machine.K, machine.W = capacity, UNLIMITED, UNLIMITED
    machine.inside.capacity, machine.puts.capacity = capacity + 1, UNLIMITED
    machine.takes.capacity = UNLIMITED
    machine.holds[:] = [UNLIMITED]
    return live
