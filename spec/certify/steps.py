"""The transitions of a script, for checking certificates.

Where a script is, is a counter for each number of steps left. A *way on* says, of a transition that
has done a step at one place, where it leads: to the next place, round again, or to the end; it may
be several, as the last step of a loop has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from ..design.reading.language import (
    CHOICES, Design, Flow, Link, Mortality, Step, StepKind, Task,
)
from .lines import not_in_front
from .scripts import finals, positions, singly
from .signals import stopped
from .system import System, Transition, Ways, each

__all__ = ["Program", "Reader"]

Onward = Callable[[int, Transition], Iterator[Transition]]
"""A way on: from a place, with what is done there, all that may follow at once."""


class Reader(Protocol):
    """The parts of the reading of a design that a script needs."""

    design: Design
    found: System

    def counter(self, name: str, start: int, most: int | None, rest: int | None = None) -> str:
        """Add one more number to the system."""

    def thread(self, pool: str, ways: Ways, by: int) -> list[Transition]:
        """The same, and then threads are taken (fewer than none) or given back."""

    def reading(self, link: Link, ways: Ways, amount: int = 0) -> Iterator[Transition]:
        """The same, and then the link is read."""

    def writing(self, link: Link, ways: Ways, amount: int = 0) -> Iterator[Transition]:
        """The same, and then the link is written."""

    def empty(self, link: Link, ways: Ways) -> Iterator[Transition]:
        """The same, where the link has less than is read at once."""


class Program:
    """One script of a design."""

    def __init__(self, reader: Reader, task: Task) -> None:
        self.reader, self.task, self.design = reader, task, reader.design
        self.steps = list(task.steps)
        if task.pool:
            self.steps = [Step(StepKind.ACQUIRE, task.pool[0]), *self.steps,
                          Step(StepKind.RELEASE, task.pool[0])]
        self.total = positions(self.steps)
        self.at: list[str] = []

    def read(self) -> None:
        """Put down its counters and transitions."""
        task, total = self.task, self.total
        final = {total - n for n, ends in enumerate(finals(self.steps)) if ends}
        order = [0, *sorted(final), *(n for n in range(1, total + 1) if n not in final)]
        self.at = [self.reader.counter(
            f"{task.name}: steps left = {order.index(left)}", int(left == total), 1,
            1 if left == 0 or left in final else 0) for left in range(total + 1)]
        if task.count is not None and task.count > 1:
            self.reader.counter(f"{task.name}: rounds left", task.count, task.count,
                                None if final or task.may.value else 1)
        if task.may.value:
            stopping = self.at[1:] if task.may is Mortality.CRASH else self.at[-1:]
            self._add(Transition(chance=True).goes(here, self.at[0]) for here in stopping)
        self._walk(self.steps, total, self._end)
        if task.cancelled_by:
            self._cancelled()

    def _add(self, transitions: Iterable[Transition]) -> None:
        self.reader.found.transitions += transitions

    # --- ways on ------------------------------------------------------------------------------

    def _to(self, there: int) -> Onward:
        def onward(here: int, way: Transition) -> Iterator[Transition]:
            yield way.copy().goes(self.at[here], self.at[there])

        return onward

    def _end(self, here: int, way: Transition) -> Iterator[Transition]:
        """After the last step to the first, or to the end."""
        count, rounds = self.task.count, f"{self.task.name}: rounds left"
        start, end = self.at[-1], self.at[0]
        if count is None or count > 1:
            again = way.copy().goes(self.at[here], start)
            yield again if count is None else again.has(rounds, 2).put(rounds, -1)
        if count is not None:
            done = way.copy().goes(self.at[here], end)
            yield done if count == 1 else done.fits(rounds, 1)

    def _round(self, done: str, times: int, first: int, after: Onward) -> Onward:
        """After a round of a loop to its first step, or, after so many, on."""
        def onward(here: int, way: Transition) -> Iterator[Transition]:
            again = way.copy()
            if times > 1:
                again.fits(done, times - 2).put(done, 1)
            if times != 1:
                yield again.goes(self.at[here], self.at[first])
            if times > 1:
                yield from after(here, way.copy().take(done, times - 1))
            elif times == 1:
                yield from after(here, way)

        return onward

    # --- steps --------------------------------------------------------------------------------

    def _walk(self, steps: Sequence[Step], here: int, after: Onward) -> int:
        """Steps that begin at one place and lead on; what is left behind them."""
        last = here - positions(steps)
        for step in steps:
            behind = here - positions([step])
            on = after if behind == last else self._to(behind)
            if step.kind is StepKind.REPEAT:
                self._loop(step, here, on)
            elif step.kind in CHOICES:
                self._choice(step, here, on)
            else:
                self._step(step, here, on)
            here = behind
        return here

    def _loop(self, step: Step, here: int, on: Onward) -> None:
        """A loop has a place of its own before its first step."""
        done, times = self._rounds(here), step.count
        begin = Transition().goes(self.at[here], self.at[here - 1])
        if times > 1:
            self.reader.counter(done, 0, times - 1)
            begin.fits(done, 0)
        self._add([begin])
        self._walk(step.branches[0], here - 1, self._round(done, times, here - 1, on))

    def _rounds(self, here: int) -> str:
        return f"{self.task.name}: rounds of step {self.total - here + 1}"

    def _choice(self, step: Step, here: int, on: Onward) -> None:
        """Either a branch that can begin, or its timeout, or, where none can, its else; or any
        branch, as the script decides. Where nothing comes of a silent transition, it waits."""
        left = here - 1
        behind = self._to(here) if step.loops else on
        for branch in step.branches:
            if step.kind is StepKind.EITHER:
                self._begin(branch, here, left, behind)
                left = self._walk(singly(branch)[1:], left, behind)
            else:
                self._silent([Transition()], here, self._to(left) if branch else behind)
                left = self._walk(branch, left, behind)
        refused = [Transition()]
        for asked in () if step.otherwise is None else (
                *(branch[0] for branch in step.branches), *step.besides):
            refused = self._refused(asked, refused)
        for ways, then in (([Transition()], step.timeout), (refused, step.otherwise)):
            if then is not None:
                self._silent(ways, here, self._to(left) if then else on)
                left = self._walk(then, left, on)

    def _begin(self, branch: Sequence[Step], here: int, left: int, behind: Onward) -> None:
        """The first step of a branch. A read of up to so many leaves as many rounds to do of the
        loop that stands behind it; it passes over the loop's own place."""
        first, *rest = singly(branch)
        on = self._to(left) if rest else behind
        if not first.up_to:
            self._step(first, here, on)
            return
        link, done = self.design.links[first.target], self._rounds(left)
        for number in range(1, first.up_to + 1):
            ways = list(on(here, Transition()))
            if branch[0].branches:
                ways = [Transition().goes(self.at[here], self.at[left - 1])]
            if branch[0].branches and first.up_to > 1:
                ways[0].fits(done, 0).put(done, first.up_to - number)
            self._add(self.reader.reading(link, ways, number))

    def _silent(self, ways: list[Transition], here: int, on: Onward) -> None:
        for way in ways:
            self._add(each for each in on(here, way) if each.change)

    def _refused(self, step: Step, ways: list[Transition]) -> list[Transition]:
        """The same, where a step cannot be done."""
        if step.kind is StepKind.READ:
            link = self.design.links[step.target]
            return list(not_in_front(link, ways) if link.in_line
                        else self.reader.empty(link, ways))
        free, pool = f"free threads of {step.target}", self.design.pools.get(step.target)
        if pool is not None:
            taking = step.kind is StepKind.ACQUIRE
            return [m.fits(free, step.count - 1) if taking
                    else m.has(free, pool.threads - step.count + 1) for m in each(ways)]
        link = self.design.links[step.target]
        if link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT):
            return [m.fits(f"permits for {link.name}", link.gives - 1) for m in each(ways)]
        if link.room:
            return [m.fits(f"free threads of {link.room}", link.gives - 1) for m in each(ways)]
        if link.flow is Flow.STOP_GO:
            return [stopped(link, m) for m in each(ways)]
        if link.flow is Flow.BLOCKING and link.capacity:
            return [m.has(f"elements in {link.name}", link.capacity - link.gives + 1)
                    for m in each(ways)]
        return []  # it is never refused

    def _step(self, step: Step, here: int, on: Onward) -> None:
        onward = list(on(here, Transition()))
        if step.kind in (StepKind.ACQUIRE, StepKind.RELEASE):
            by = -step.count if step.kind is StepKind.ACQUIRE else step.count
            self._add(self.reader.thread(step.target, onward, by))
            return
        link = self.design.links[step.target]
        act = self.reader.reading if step.kind is StepKind.READ else self.reader.writing
        if step.count > 1:
            done = self.reader.counter(
                f"{self.task.name}: repetitions of step {self.total - here + 1}", 0, step.count - 1)
            more = Transition().goes(self.at[here], self.at[here])
            self._add(act(link, [more.fits(done, step.count - 2).put(done, 1)]))
            onward = [transition.take(done, step.count - 1) for transition in onward]
        self._add(act(link, onward))

    # --- cancellation ---------------------------------------------------------------------------

    def _cancelled(self) -> None:
        """Once it is cancelled, it may continue with its last step from wherever it is, and gives
        back what it holds there."""
        held: dict[int, Counter[str]] = {}
        self._holds(self.steps, self.total, Counter(), held)
        for here, pools in held.items():
            if here == 1:
                continue
            ways = [Transition().goes(self.at[here], self.at[1]).fits(
                f"free threads of {self.task.cancelled_by}", 0)]
            for pool, number in pools.items():
                ways = self.reader.thread(pool, ways, number) if number else ways
            self._add(ways)

    def _holds(self, steps: Sequence[Step], here: int, now: Counter[str],
               held: dict[int, Counter[str]]) -> Counter[str]:
        """Note what it holds before each of these steps, and return what it holds behind them; all
        ways through a step leave the same."""
        for step in steps:
            held[here] = now
            after, left = _having(step, now), here - 1
            for branch in step.branches:
                rest, before = list(branch), now
                if step.kind is StepKind.EITHER:
                    first, *rest = singly(branch)
                    before = _having(first, now)
                after = self._holds(rest, left, before, held)
                left -= positions(rest)
            for then in (step.timeout, step.otherwise):
                if then is not None:
                    after = self._holds(then, left, now, held)
                    left -= positions(then)
            now = after
            here -= positions([step])
        return now


def _having(step: Step, now: Counter[str]) -> Counter[str]:
    found = now.copy()
    if step.kind in (StepKind.ACQUIRE, StepKind.RELEASE):
        found[step.target] += step.count if step.kind is StepKind.ACQUIRE else -step.count
    return found
