"""Order and duplication: whether a receiver may read a later element of a sender before an earlier
one, or one element more than once.

Here every queue and every hand is the list of what is in it. Two elements of the sender are marked,
in every way; what a task takes is in all that it puts somewhere in the same transition, so a mark
is on every copy. A queue is first in, first out, and so is a hand, but for one with threads of a
pool: of its elements any may be the next. For duplication one element is marked; of several that
are put somewhere at once, one is that element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..design.reading.language import Design, Link
from .limits import allow, look
from .transitions import system_of
from .run import Refuted
from .system import Transition, NotCovered, System, can_move

__all__ = ["keeps_order", "loses_order"]

ORDERED = "ordered"

FIRST, SECOND = 1, 2
LOOK = 64
"""States between two looks at the clock, about."""
MAX_MARKED = 150_000
"""States with marks that are visited at most."""

Contents = tuple[tuple[int, ...], ...]
"""The contents of each queue and hand: for each element its marks."""


@dataclass(frozen=True)
class _State:
    """The counters, the contents, which of the two were sent, and whether the second came."""

    counters: tuple[int, ...]
    contents: Contents
    sent: int = 0
    came: bool = False


def loses_order(name: str, evidence: Mapping[str, Any], design: Design) -> str:
    """A run in which the receiver reads the second of two elements of the sender first, or (of
    duplication) one of them again."""
    sender, receiver = evidence["sender"], evidence["receiver"]
    if (sender, receiver) not in set(_pairs(design)):
        raise Refuted(f"nothing that {sender} sends is for {receiver}")
    marking = _Marking(design, system_of(design), sender, receiver, name == ORDERED)
    here, late = {marking.start}, False
    for number, step in enumerate(evidence["steps"], start=1):
        look("following a run with marked elements")
        after = [end for state in here for transition in marking.transitions
                 if transition.change == dict(step) for end in marking.after(state, transition)]
        if not after:
            raise Refuted(f"step {number} of the run is not possible")
        here, late = {state for state, _ in after}, any(is_late for _, is_late in after)
        if len(here) > MAX_MARKED:
            raise NotCovered(f"more than {MAX_MARKED:,} states of marked elements after one step")
    if not late:
        raise Refuted(f"{receiver} has read nothing {marking.wrong} at the end of the run")
    return (f"a run of {len(evidence['steps']):,} steps, in the last of which {receiver} reads an "
            f"element of {sender} {marking.wrong}")


def keeps_order(name: str, design: Design, marked: Sequence[Sequence[str]]) -> int:
    """The number of states that were visited to show order.

    From each sender to each receiver there is one path, or, for the pairs in ``marked``, no state
    with two marked elements where the second comes first.
    """
    told = {(sender, receiver) for sender, receiver in marked}
    states = 0
    for sender, receiver in _pairs(design):
        if (sender, receiver) in told:
            states += _visited(
                _Marking(design, system_of(design), sender, receiver, name == ORDERED))
        elif not _one_way(design, sender, receiver):
            raise Refuted(f"there are several ways from {sender} to {receiver}")
    return states


def _visited(marking: _Marking) -> int:
    """Visit all states with marked elements. Raises ``Refuted`` where a late element may be read.
    """
    known, waiting = {marking.start}, [marking.start]
    while waiting:
        state = waiting.pop()
        allow(len(known))
        if len(known) % LOOK == 0:
            look("visiting states with marked elements")
        for transition in marking.transitions:
            for after, is_late in marking.after(state, transition):
                if is_late:
                    raise Refuted(f"{marking.receiver} may read an element of {marking.sender} "
                                  f"{marking.wrong}")
                if after not in known:
                    if len(known) == MAX_MARKED:
                        raise NotCovered(f"more than {MAX_MARKED:,} states with two marks")
                    known.add(after)
                    waiting.append(after)
    return len(known)


class _Marking:
    """The transitions of a design as changes of lists."""

    def __init__(
        self, design: Design, system: System, sender: str, receiver: str, two: bool
    ) -> None:
        if any(link.capacity == 0 for link in design.links.values()):
            raise NotCovered("order at a link of capacity 0")
        self.design, self.sender, self.receiver, self.two = design, sender, receiver, two
        self.wrong = "after a later one" if two else "again"
        self.transitions = [transition for transition in system.steps if not transition.fails]
        self.names = list(system.counters)
        self.stores = list(dict.fromkeys(store for m in system.steps for store, _, _ in m.flow))
        self.mixed = set(filter(self._is_mixed, self.stores))
        starts = {name: counter.start for name, counter in system.counters.items()}
        self.start = _State(tuple(starts.values()),
                            tuple((0,) * starts[store] for store in self.stores))

    def _is_mixed(self, store: str) -> bool:
        name, _, hand = store.partition(": ")  # without a hand it is a queue, whatever it is called
        task = self.design.tasks.get(name) if hand else None
        return task is not None and bool(task.pool) and task.hand > 1

    def after(self, state: _State, transition: Transition) -> Iterator[tuple[_State, bool]]:
        """The states after a transition, if it is possible, and whether an element then came too
        late."""
        here = dict(zip(self.names, state.counters, strict=True))
        if not can_move(transition, here):
            return
        for name, by in transition.change.items():
            here[name] += by
        takes = any(n < 0 and not lost for _, n, lost in transition.flow)
        puts = any(n > 0 for _, n, _ in transition.flow)
        sends = transition.tasks == (self.sender,) and puts and not takes and self._is(
            self.sender, "source", "script")
        counters = tuple(here.values())
        lists = dict(zip(self.stores, state.contents, strict=True))
        for mark in self._marks(state.sent) if sends else (0,):
            for contents, carried in self._passed(transition.flow, lists, mark):
                came, late = state.came, False
                if self.receiver in transition.tasks and takes and not puts and self._is(
                        self.receiver, "sink", "script"):
                    late = carried == FIRST and came
                    came = came or carried == (SECOND if self.two else FIRST)
                yield _State(counters, tuple(contents[s] for s in self.stores),
                             state.sent | mark, came), late

    def _is(self, task: str, *kinds: str) -> bool:
        return self.design.tasks[task].kind.value in kinds

    def _marks(self, sent: int) -> Iterator[int]:
        yield 0
        if not sent:
            yield FIRST
        if sent == FIRST and self.two:
            yield SECOND

    def _passed(
        self, flow: Sequence[tuple[str, int, bool]], lists: Mapping[str, tuple[int, ...]],
        carried: int,
    ) -> Iterator[tuple[Mapping[str, tuple[int, ...]], int]]:
        """The lists after all this was taken and put, and the marks of what was carried."""
        if not flow:
            yield lists, carried
            return
        (store, number, lost), *later = flow
        if number >= 0:
            several = number - 1 if number and not self.two else 0
            new = (0,) * several + (carried,) * (number - several)
            more = {**lists, store: lists[store] + new}
            yield from self._passed(later, more, carried)
            return
        for taken, left in self._taken(store, lists[store], -number):
            marks = carried
            for each in taken if not lost else ():
                marks |= each
            yield from self._passed(later, {**lists, store: left}, marks)

    def _taken(
        self, store: str, content: tuple[int, ...], number: int
    ) -> Iterable[tuple[tuple[int, ...], tuple[int, ...]]]:
        if store not in self.mixed:
            return [(content[:number], content[number:])]
        return {((content[n],), content[:n] + content[n + 1:]) for n in range(len(content))}


# --- one way --------------------------------------------------------------------------------------

def _pairs(design: Design) -> Iterator[tuple[str, str]]:
    """The pairs of a sender and a receiver that may read its elements."""
    for sender, task in design.tasks.items():
        if task.kind.value in ("source", "script"):
            seen: set[str] = set()
            waiting = list(design.outputs(sender))
            while waiting:
                link = waiting.pop()
                for reader in link.readers if link.name not in seen else ():
                    if not _ends(design, reader):
                        waiting += design.outputs(reader)
                seen.add(link.name)
            for receiver in design.tasks:
                if _ends(design, receiver) and any(
                        link.name in seen for link in design.inputs(receiver)):
                    yield sender, receiver


def _ends(design: Design, task: str) -> bool:
    """True if what the task reads goes no further."""
    return design.tasks[task].kind.value in ("sink", "script")


def _one_way(design: Design, sender: str, receiver: str) -> bool:
    """True if exactly one row of links leads there, on which nothing overtakes anything."""
    before: dict[str, list[tuple[str, Link]]] = {}
    waiting, seen = [(sender, link) for link in design.outputs(sender)], set[str]()
    while waiting:
        writer, link = waiting.pop()
        for reader in link.readers:
            before.setdefault(reader, []).append((writer, link))
            if reader not in seen and not _ends(design, reader):
                waiting += [(reader, each) for each in design.outputs(reader)]
            seen.add(reader)
    here, passed = receiver, {receiver}
    while here != sender or len(passed) == 1:
        ways = {(writer, link.of if link.in_line else link.name)
                for writer, link in before.get(here, [])}
        if len(ways) != 1:
            return False
        (here, _), = ways
        if here == sender:
            return True
        task = design.tasks[here]
        decides = any(link.in_line for link in design.outputs(here))
        if here in passed or ((task.pool or decides) and task.hand > 1):
            return False
        passed.add(here)
    return True
