"""Runs to a deadlocked state that the equations leave open.

How often each transition is made on the way there is a linear program, the state equation (Murata
1989, section IV.B): so many transitions of each kind lead from the start to the state, if only
their order can be found. The order that is tried follows one element as far as the amounts let it
go, and repeats that path until a place on it is full, empty, or an amount is used up; then the path
is changed from there on. So queues of thousands are filled in one leg (see ``legs``), and a row of
stages from its far end.

The amounts are a guide and nothing more: whatever such a run comes to is a run of the design, and
where no transition is possible after it, it is deadlocked. Where no amounts lead there, weights
that say so make a clause (``lemmas.descent`` for nets of any size).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from ..net.counters import Counters
from .legs import Guarded, Leg, Path
from .lemmas import Clause, Inequality

__all__ = ["MAX_AMOUNT", "Pursued", "amounts", "falling", "pursue"]

MAX_AMOUNT = 2**53
"""Amounts up to here are exact in floating point."""
MAX_LEGS, MAX_TRANSITIONS = 1_000_000, 5_000_000
"""Limits of one pursuit."""
MAX_WHOLE = 100
"""Transitions of a net of which whole amounts are asked for, where the least ones are fractions."""
MAX_NODES = 1_000
"""Problems that are solved for whole amounts."""
RECENT = 3
"""Transitions at the end of a path; their followers are looked at when it is changed."""
DENOMINATORS = (1, 60, 10_000)

Watch = Callable[[], object]


# --- the state equation ------------------------------------------------------------------------

def amounts(
    net: Counters, state: Sequence[int], seconds: float | None = None
) -> list[int] | None:
    """Times that each transition is made on a run to the state, as few as possible in all; None if
    no amounts lead there, or none in whole numbers were found, or not in so many seconds."""
    import numpy as np
    from scipy.optimize import linprog, milp
    able = [n for n, transition in enumerate(net.transitions) if transition.change and
            not transition.fails]
    wanted = [here - counter.start for here, counter in zip(state, net.counters, strict=True)]
    if not able or max(map(abs, wanted), default=0) > MAX_AMOUNT:
        return None
    changes, ones = _changes(net, able), np.ones(len(able))
    for whole in (False, True) if len(able) <= MAX_WHOLE else (False,):
        solved = milp(ones, constraints=(changes, wanted, wanted), integrality=ones,
                      options={"node_limit": MAX_NODES, **_within(seconds)}) if whole else \
            linprog(ones, A_eq=changes, b_eq=np.array(wanted, float), method="highs",
                    options=_within(seconds))
        if solved.x is None or solved.x.max() > MAX_AMOUNT:
            return None
        found = [0] * len(net.transitions)
        for n, amount in zip(able, solved.x, strict=True):
            found[n] = round(float(amount))
        if _leads(net, found, wanted):
            return found
    return None


def _leads(net: Counters, amounts: Sequence[int], wanted: Sequence[int]) -> bool:
    """True if so many transitions of each kind change the counters as wanted."""
    left = list(wanted)
    for n, amount in enumerate(amounts):
        for place, by in net.transitions[n].change.items() if amount else ():
            left[place] -= amount * by
    return not any(left)


def _changes(net: Counters, able: Sequence[int]) -> Any:
    from scipy.sparse import csc_matrix
    entries = [(by, place, column) for column, n in enumerate(able)
               for place, by in net.transitions[n].change.items()]
    values, places, columns = zip(*entries, strict=True)
    return csc_matrix((values, (places, columns)), shape=(len(net.counters), len(able)),
                      dtype=float)


def _within(seconds: float | None) -> dict[str, float]:
    return {} if seconds is None else {"time_limit": max(0.01, seconds)}


def falling(
    net: Counters, state: Sequence[int], seconds: float | None = None
) -> Clause | None:
    """A sum that no transition raises and that is larger in the state than at the start, if the
    state equation has no solution; None where none is found, or not in so many seconds."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import hstack
    able = [n for n, transition in enumerate(net.transitions) if transition.change and
            not transition.fails]
    rise = np.array([here - c.start for here, c in zip(state, net.counters, strict=True)], float)
    if not able or np.abs(rise).max(initial=0) > MAX_AMOUNT:
        return None
    raised, size = _changes(net, able).T, len(net.counters)
    largest = max(1.0, float(np.abs(rise).max(initial=0)))
    solved = linprog(
        np.ones(2 * size), A_ub=hstack([raised, -raised]), b_ub=np.zeros(len(able)),
        A_eq=np.concatenate([rise, -rise])[None, :] / largest, b_eq=[1.0], method="highs",
        options=_within(seconds))
    if solved.x is None:
        return None
    weights = solved.x[:size] - solved.x[size:]
    weights = weights / max(1e-12, float(np.abs(weights).max()))
    found = (_fallen(net, state, [Fraction(float(w)).limit_denominator(d) for w in weights])
             for d in DENOMINATORS)
    return next((clause for clause in found if clause is not None), None)


def _fallen(
    net: Counters, state: Sequence[int], weights: Sequence[Fraction]
) -> Clause | None:
    """The clause of these weights, if they are exactly what is wanted."""
    scale = lcm(*(weight.denominator for weight in weights))
    whole = {n: int(weight * scale) for n, weight in enumerate(weights) if weight}
    start = sum(w * net.counters[n].start for n, w in whole.items())
    if sum(w * state[n] for n, w in whole.items()) <= start:
        return None
    if any(sum(whole.get(n, 0) * by for n, by in transition.change.items()) > 0
           for transition in net.lasting):
        return None
    return Clause("descent", (Inequality(whole, start),))


# --- the run ---------------------------------------------------------------------------------

@dataclass(frozen=True)
class Pursued:
    """The result of a pursuit: its run, whether it made all amounts, whether no transition is
    possible after it, and the counters then."""

    legs: tuple[Leg, ...]
    is_complete: bool
    nothing_moves: bool
    end: list[int]

    def is_deadlocked(self, net: Counters) -> bool:
        """True if the run has deadlocked."""
        return self.nothing_moves and net.is_work_left(self.end)


def pursue(net: Counters, found: Sequence[int], watch: Watch = lambda: None) -> Pursued:
    """A run of transitions, with these amounts of them at most, as far as it goes."""
    run = _Pursuit(net, found, watch)
    run.go_on()
    end = [run.path.marking[n] for n in range(len(net.counters))]
    return Pursued(tuple(run.legs), not run.left.any(), not run.ready, end)


class _Pursuit:
    """A run that continues: its path, what is left of the amounts, and its legs so far."""

    def __init__(self, net: Counters, found: Sequence[int], watch: Watch) -> None:
        import numpy as np
        self.watch = watch
        self.transitions = [
            Guarded.within(m.least, m.most, m.change, lambda n: net.counters[n].most)
            for m in net.transitions]
        self.left = np.array(found, dtype=np.int64)
        self.path = Path({n: counter.start for n, counter in enumerate(net.counters)})
        self.numbers: list[int] = []
        self.on_path: set[int] = set()
        self.legs: list[Leg] = []
        self.kept = self.made = 0
        self.takers: list[list[int]] = [[] for _ in net.counters]
        self.lookers: list[list[int]] = [[] for _ in net.counters]
        for n, transition in enumerate(self.transitions):
            for place in transition.at_least:
                self.takers[place].append(n)
            for place in {*transition.at_least, *transition.at_most}:
                self.lookers[place].append(n)
        self.ready = {n for n, transition in enumerate(self.transitions)
                      if self.path.allows(transition)}
        self.depth = self._depths()

    def _depths(self) -> list[int]:
        """The distance of each transition from the start, in moves, along what they add."""
        depth = [-1] * len(self.transitions)
        queue = sorted(self.ready)
        for n in queue:
            depth[n] = 0
        for n in queue:
            for other in self._followers(n):
                if depth[other] < 0:
                    depth[other] = depth[n] + 1
                    queue.append(other)
        return depth

    def _followers(self, number: int) -> Iterator[int]:
        """The transitions that need something of what a transition adds."""
        for place, by in self.transitions[number].change.items():
            if by > 0:
                yield from self.takers[place]

    def go_on(self) -> None:
        """Continue until nothing can move, or nothing that has an amount left."""
        while self.ready and len(self.legs) < MAX_LEGS and self.made < MAX_TRANSITIONS:
            self.watch()
            self._cut(self._usable())
            if not self._extended():
                return
            left = self.left[self.numbers]
            times = min(self.path.times(), int(left.min()))
            self.left[self.numbers] = left - times
            self._go(times)

    def _usable(self) -> int:
        """So many transitions of the path can be made, and have an amount left."""
        blocked = self.path.blocked()
        length = len(self.numbers) if blocked is None else blocked
        used_up = (self.left[self.numbers[:length]] < 1).nonzero()[0]
        return int(used_up[0]) if len(used_up) else length

    def _cut(self, length: int) -> None:
        self.path.cut(length)
        self.on_path.difference_update(self.numbers[length:])
        del self.numbers[length:]
        self.kept = min(self.kept, length)

    def _extended(self) -> bool:
        """Let the path continue from its end, or begin one; false where there is nothing to do."""
        near = [other for n in self.numbers[-RECENT:] for other in self._followers(n)]
        if not self.numbers:
            near = [n for n in self.ready if self.left[n] > 0]
            near = [max(near, key=lambda n: (self.depth[n], n))] if near else []
        stack = sorted(near, key=self.depth.__getitem__)
        while stack:
            n = stack.pop()
            if n in self.on_path or self.left[n] < 1 or not self.path.allows(self.transitions[n]):
                continue
            self.path.push(self.transitions[n])
            self.numbers.append(n)
            self.on_path.add(n)
            self.made += 1
            stack += sorted(self._followers(n), key=self.depth.__getitem__)
        return bool(self.numbers)

    def _go(self, times: int) -> None:
        """Make the path so many times."""
        changed = list(self.path.change)
        self.path.go(times)
        self.legs.append(Leg(self.kept, tuple(self.numbers[self.kept:]), times))
        self.kept = len(self.numbers)
        for n in {n for place in changed for n in self.lookers[place]}:
            transition = self.transitions[n]
            here = self.path.marking
            if all(here[p] >= k for p, k in transition.at_least.items()) and all(
                    here[p] <= k for p, k in transition.at_most.items()):
                self.ready.add(n)
            else:
                self.ready.discard(n)
