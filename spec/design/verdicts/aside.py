"""Local deadlocks on the run into a deadlock of the whole, in designs of any size.

Long before the last task stops, some of them are blocked forever (``alone.Dead``). The first such
moment of a run in legs is found by halving: of its legs, of how often one is made, of its
transitions. From there a task is looked for that goes round forever: an element is followed from
transition to transition until all is as it was, as it is where work fails and is tried again. If no
task does, such a round is looked for from the start, and begun before the run is made.

A round has a few transitions, so this takes time in the size of the design. What is found is a
violation; that nothing is found says nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..equations.legs import Guarded, Leg, Path
from ..net.counters import Counters
from ..net.rows import Table
from ..why.findings import Finding
from .alone import Dead, Finished

__all__ = ["Aside", "Round"]

MAX_LOOKS = 60_000
"""Transitions that are looked at for a round."""
MAX_ROUNDS = 12
"""Rounds that are begun before the way is gone."""

Amounts = Mapping[int, int]


@dataclass(frozen=True)
class Round:
    """``legs`` of transitions to where ``tasks`` are blocked forever, and transitions ``on`` from
    there, of which those from ``loop`` on can be repeated forever; ``end`` is what the counters are
    at the end of the legs."""

    legs: tuple[Leg, ...]
    tasks: tuple[str, ...]
    on: tuple[int, ...]
    loop: int
    end: tuple[int, ...]


@dataclass(frozen=True)
class _Step:
    """A transition of an element that is followed, with what has changed since it began."""

    transition: int
    moved: Amounts
    before: _Step | None = None

    def back(self) -> Iterator[_Step]:
        """This step, and those before it."""
        here: _Step | None = self
        while here is not None:
            yield here
            here = here.before


class Aside:
    """Looks for tasks that go round while others are blocked; ``watch`` is called all along."""

    def __init__(
        self, table: Table, net: Counters, finished: Finished, watch: Callable[[], None]
    ) -> None:
        self._table, self._net, self._watch = table, net, watch
        self._dead = Dead(table, finished)
        self._places = [place.name for place in table.places]
        self._transitions = [
            Guarded.within(each.least, each.most, each.change, lambda n: net.counters[n].most)
            for each in net.transitions]
        self._fair = [n for n, each in enumerate(net.transitions)
                      if each.change and not each.fails and table.rows[each.row].effect.fair]
        self._takers: dict[int, list[int]] = {}
        for n in self._fair:
            for counter in self._transitions[n].at_least:
                self._takers.setdefault(counter, []).append(n)

    def on_the_way(self, deadlock: Finding) -> Round | None:
        """A local deadlock on the way of this finding; None if none is found."""
        legs = self._legs(deadlock)
        found = None if legs is None else self._first(legs)
        end = None if found is None else self._after(found)
        if found is None or end is None:
            return None
        tasks = self._blocked(end)
        for steps in self._rounds(end, {*tasks}):
            return Round(found, tasks, *steps, tuple(end))
        return self._begun_before(found)

    def _begun_before(self, found: tuple[Leg, ...]) -> Round | None:
        """The same run, continued until a task that began to go round still can at its end."""
        tried: set[frozenset[int]] = set()
        for on, loop in self._rounds(self._start(), set()):
            again = frozenset(on[loop:])
            if again in tried:
                continue
            tried.add(again)
            begun = (Leg(0, on[:loop], 1), *found) if loop else found
            end = self._after(begun)
            tasks = self._blocked(end) if end is not None else ()
            if end is not None and tasks and self._goes_round(end, on[loop:]):
                return Round(begun, tasks, on[loop:], 0, tuple(end))
            if len(tried) >= MAX_ROUNDS:
                break
        return None

    # --- the way ----------------------------------------------------------------------------

    def _legs(self, deadlock: Finding) -> tuple[Leg, ...] | None:
        """The run in transitions of the net; None where it is of another part."""
        named = [counter.name for counter in self._net.counters]
        known = {(self._table.rows[transition.row].label,
                  frozenset((named[c], by) for c, by in transition.change.items())): n
                 for n, transition in enumerate(self._net.transitions)}

        def transition(label: str, changes: Mapping[str, int]) -> int:
            return known.get((label, frozenset(changes.items())), -1)

        legs = tuple(Leg(leg.keep, tuple(map(transition, leg.steps, leg.changes)), leg.times)
                     for leg in deadlock.legs) or tuple(
            Leg(0, (transition(*step),), 1)
            for step in zip(deadlock.steps, deadlock.changes, strict=False))
        return None if not legs or any(n < 0 for leg in legs for n in leg.then) else legs

    def _start(self) -> list[int]:
        return [counter.start for counter in self._net.counters]

    def _blocked(self, values: Sequence[int]) -> tuple[str, ...]:
        """The tasks that are blocked forever where the counters are this."""
        self._watch()
        marking = self._net.marking(values)
        return self._dead.tasks_in([marking[name] for name in self._places])

    def _after(self, legs: Sequence[Leg]) -> list[int] | None:
        """The counters after a run; None where it is not possible."""
        path = Path(dict(enumerate(self._start())))
        for leg in legs:
            self._watch()
            path.cut(leg.keep)
            for n in leg.then:
                path.push(self._transitions[n])
            if path.blocked() is not None or leg.times > path.times():
                return None
            path.go(leg.times)
        return [path.marking[n] for n in range(len(self._net.counters))]

    def _first(self, legs: tuple[Leg, ...]) -> tuple[Leg, ...] | None:
        """The run to the first moment in which a task is blocked forever; None if none ever is."""
        rounds = list(self._once(legs))

        def after(number: int) -> list[int]:
            values = self._start()
            for leg, change in zip(legs[:number], rounds, strict=False):
                for n, by in change.items():
                    values[n] += leg.times * by
            return values

        number = _least(len(legs), lambda n: bool(self._blocked(after(n))))
        if not number:
            return None if number is None else ()
        leg, change, path = legs[number - 1], rounds[number - 1], list[int]()
        for each in legs[:number]:
            path[each.keep:] = each.then
        here = after(number - 1)
        times = _least(leg.times, lambda n: bool(self._blocked(_sum(here, change, n)))) or 1
        here = _sum(here, change, times - 1)
        length = _least(len(path), lambda n: bool(self._blocked(
            _sum(here, self._changed(path[:n]), 1)))) or 1
        most = legs[:number - 1]
        if times > 1:
            return (*most, Leg(leg.keep, leg.then, times - 1), Leg(length, (), 1))
        keep = min(leg.keep, length)
        return (*most, Leg(keep, leg.then[:length - keep], 1))

    def _once(self, legs: Sequence[Leg]) -> Iterator[Amounts]:
        """The sum of the transitions of each leg, made once."""
        path: list[int] = []
        change: Amounts = {}
        for leg in legs:
            self._watch()
            for n in path[leg.keep:]:
                change = _added(change, self._net.transitions[n].change, -1)
            path[leg.keep:] = leg.then
            for n in leg.then:
                change = _added(change, self._net.transitions[n].change)
            yield change

    def _changed(self, path: Sequence[int]) -> Amounts:
        """The sum of the changes of transitions."""
        return next(self._once([Leg(0, tuple(path), 1)]))

    # --- a round ----------------------------------------------------------------------------

    def _rounds(
        self, values: Sequence[int], without: set[str]
    ) -> Iterator[tuple[tuple[int, ...], int]]:
        """Runs of transitions in which none of these takes part, and from which of them on each
        comes back to where it was."""
        looks = 0
        for first in self._fair:
            if not self._possible(first, values, {}):
                continue
            begun = _Step(first, self._net.transitions[first].change)
            queue, seen = deque([begun]), {(first, frozenset(begun.moved.items()))}
            while queue:
                here = queue.popleft()
                for transition in self._next(here.transition):
                    looks += 1
                    if looks > MAX_LOOKS:
                        return
                    if looks % 256 == 0:
                        self._watch()
                    if not self._possible(transition, values, here.moved):
                        continue
                    step = _Step(transition,
                                 _added(here.moved, self._net.transitions[transition].change), here)
                    found = _round(step)
                    if found is not None:
                        if without.isdisjoint(self._tasks(found[0][found[1]:])):
                            yield found
                        continue
                    key = transition, frozenset(step.moved.items())
                    if key not in seen:
                        seen.add(key)
                        queue.append(step)

    def _next(self, transition: int) -> Iterator[int]:
        """The transitions that take something of what a transition adds."""
        for counter, by in self._net.transitions[transition].change.items():
            if by > 0:
                yield from self._takers.get(counter, ())

    def _possible(self, transition: int, values: Sequence[int], moved: Amounts) -> bool:
        guarded = self._transitions[transition]
        return all(values[n] + moved.get(n, 0) >= k for n, k in guarded.at_least.items()) and all(
            values[n] + moved.get(n, 0) <= k for n, k in guarded.at_most.items())

    def _goes_round(self, values: Sequence[int], transitions: Sequence[int]) -> bool:
        """True if these transitions can be made one after another, and come back."""
        moved: Amounts = {}
        for transition in transitions:
            if not self._possible(transition, values, moved):
                return False
            moved = _added(moved, self._net.transitions[transition].change)
        return bool(transitions) and not moved

    def _tasks(self, transitions: Sequence[int]) -> set[str]:
        return {task for n in transitions
                for task in self._table.rows[self._net.transitions[n].row].tasks}


def _round(last: _Step) -> tuple[tuple[int, ...], int] | None:
    """The transitions to this step, and after how many of them all was as it is now; None where it
    never was."""
    steps = [*last.back()][::-1]
    if not last.moved:
        return tuple(step.transition for step in steps), 0
    for place, step in enumerate(steps[:-1], start=1):
        if step.moved == last.moved:
            return tuple(each.transition for each in steps), place
    return None


def _added(moved: Amounts, change: Amounts, times: int = 1) -> Amounts:
    found = dict(moved)
    for n, by in change.items():
        now = found.pop(n, 0) + times * by
        if now:
            found[n] = now
    return found


def _sum(values: Sequence[int], change: Amounts, times: int) -> list[int]:
    found = list(values)
    for n, by in change.items():
        found[n] += times * by
    return found


def _least(most: int, is_so: Callable[[int], bool]) -> int | None:
    """The least number up to ``most`` of which it is so, where it is so of all larger ones; None
    where it is so of none."""
    if not is_so(most):
        return None
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if is_so(middle):
            high = middle
        else:
            low = middle + 1
    return low
