"""Ends: queues that are closed, tasks that are joined or cancelled, and loops, written out.

Each end is a *sign*: a pool with one permit, which is taken when it comes and never given back. A
queue is closed once nobody can take the permit of `queue (open)`, a task has ended once that of
`task (running)` is taken, and is to be cancelled once that of `task (wanted)` is. To wait for an
end, or to ask for it, is an ``either`` without branches of its own; its ``otherwise`` is possible
only where the permit cannot be taken. So what follows knows permits only; that a write to a closed
queue fails is known to links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .kinds import Misfit, Parts, as_script
from .language import CHOICES, Kind, Mortality, Pool, Step, StepKind, Task
from .programs import Unclear, held_at, length, program
from .schema import suggest
from .signs import running, wanted
from .source import Spot

__all__ = ["has_ends", "with_ends"]

ENDS = (StepKind.CLOSE, StepKind.JOIN, StepKind.CANCEL)
MOST_AT_ONCE = 1_000
"""The most elements that a script takes at once: each number of them is a way to continue."""


def has_ends(tasks: Iterable[Task]) -> bool:
    """True if anything has to be written out here."""
    return any(step.kind in ENDS or step.closed is not None or step.up_to or step.loops
               or (step.branches and step.kind not in CHOICES)
               for task in tasks for step in _all(task.steps))


def with_ends(parts: Parts, watch: Callable[[], object] = lambda: None) -> Parts:
    """The same without ends. Raises Misfit for the first thing that cannot be written out.
    ``watch`` is called for each task, and may raise."""
    found = _Ends(parts)
    for task in parts.tasks.values():
        watch()
        for step in _all(task.steps):
            found.note(task, step)
    links = {name: replace(link, closes=name in found.closed)
             for name, link in parts.links.items()}
    tasks = {name: found.task(replace(task, steps=found.steps(task.steps)))
             for name, task in parts.tasks.items()}
    signs = [*(Pool(links[name].open, 1, spot) for name, spot in found.closed.items()),
             *(Pool(running(name), 1, parts.tasks[name].spot) for name in found.ended),
             *(Pool(wanted(name), 1, parts.tasks[name].spot) for name in found.cancelled)]
    return Parts(tasks, links, {**parts.pools, **{pool.name: pool for pool in signs}})


def _all(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        for way in step.ways:
            yield from _all(way)


@dataclass
class _Ends:
    """The queues that are closed, and the tasks that are joined or cancelled, of a design."""

    parts: Parts
    closed: dict[str, Spot] = field(default_factory=dict)
    ended: dict[str, Step] = field(default_factory=dict)
    cancelled: dict[str, Step] = field(default_factory=dict)

    def note(self, task: Task, step: Step) -> None:
        """Note what a step of a task closes, joins or cancels, or asks about."""
        if step.kind is StepKind.CLOSE or step.closed is not None or step.loops:
            self._known(step, self.parts.links, "link")
            self.closed.setdefault(step.target, self.parts.links[step.target].spot)
        elif step.kind in ENDS:
            self._known(step, self.parts.tasks, "task")
            if step.target == task.name:
                raise Misfit(step, f"{task.name} would {step.kind.value} itself",
                             "Name another task.")
            self.ended.setdefault(step.target, step)
            if step.kind is StepKind.CANCEL:
                self.cancelled.setdefault(step.target, step)

    def _known(self, step: Step, of: Mapping[str, object], what: str) -> None:
        if step.target not in of:
            raise Misfit(step, f"there is no {what} called {step.target!r}",
                         suggest(step.target, of) or (
                             f"The {what}s are: {', '.join(of)}." if of else f"Add the {what}."))

    # --- steps ------------------------------------------------------------------------------

    def steps(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The same steps, with permits for ends."""
        return tuple(self._step(step) for step in steps)

    def _step(self, step: Step) -> Step:
        """The same step without close, cancel, join and up-to: as choices, and acquires of hidden
        pools."""
        if step.kind is StepKind.CLOSE:
            return _once(step, self._open(step.target).target, f"closes {step.target}")
        if step.kind is StepKind.CANCEL:
            return _once(step, wanted(step.target), f"cancels {step.target}")
        if step.kind is StepKind.JOIN:
            return Step(StepKind.EITHER, otherwise=(), spot=step.spot, final=step.final,
                        besides=(Step(StepKind.ACQUIRE, running(step.target)),))
        if step.kind in CHOICES:
            return self._choice(step)
        if step.closed is None and not step.up_to and not step.loops:
            if step.branches:
                raise Misfit(step, "`each` says what is done for each of several elements, but "
                             "this reads one", "Add `up-to: NUMBER` or `until: closed`, or write "
                             "what is done as the next steps.")
            return step
        first = self._first(step)
        branch = (first,) if step.up_to else (first, *self.steps(
            step.branches[0] if step.branches else ()))
        if step.closed is None and not step.loops:
            return Step(StepKind.EITHER, branches=(branch,), spot=step.spot, final=step.final)
        return Step(StepKind.EITHER, branches=(branch,), otherwise=self.steps(step.closed or ()),
                    besides=(self._open(step.target),), loops=step.loops, spot=step.spot,
                    final=step.final)

    def _first(self, step: Step) -> Step:
        """The read itself, which may be of several at once."""
        link = self.parts.links.get(step.target)
        if step.up_to > MOST_AT_ONCE:
            raise Misfit(step, f"it reads up to {step.up_to} elements at once, more than "
                         f"{MOST_AT_ONCE}", "A few elements show the same.")
        if step.up_to and link is not None and (
                link.takes != 1 or link.kinds or link.capacity == 0):
            raise Misfit(step, f"{link.name!r} has kinds, capacity 0, or a number of elements that "
                         "is always taken at once, so it cannot be read up to so many at once",
                         "Read one element at a time.")
        inner = tuple(map(self.steps, step.branches)) if step.up_to else ()
        return replace(step, branches=inner if inner and inner[0] else (), closed=None,
                       loops=False, final=False)

    def _choice(self, step: Step) -> Step:
        """The same choice with its branches rewritten; one of ``either`` keeps its first read."""
        branches = []
        for branch in step.branches:
            first = branch[0] if branch and step.kind is StepKind.EITHER else None
            if first is not None and (first.kind in (*ENDS, StepKind.REPEAT)
                                      or first.closed is not None or first.loops):
                raise Misfit(first, "a branch of `either` begins with a step that is not one read, "
                             "so it cannot be waited for beside others", "Begin it with a read, a "
                             "write to one link, an acquire or a release.")
            polls = first is not None and first.up_to
            branches.append((self._first(first), *self.steps(branch[1:]))
                            if first is not None and polls else self.steps(branch))
        return replace(
            step, branches=tuple(branches),
            timeout=None if step.timeout is None else self.steps(step.timeout),
            otherwise=None if step.otherwise is None else self.steps(step.otherwise))

    def _open(self, link: str) -> Step:
        return Step(StepKind.ACQUIRE, self.parts.links[link].open)

    # --- tasks ------------------------------------------------------------------------------

    def task(self, task: Task) -> Task:
        """A task that is joined or cancelled as a script that runs once, and then has ended."""
        asked = self.ended.get(task.name)
        if asked is None:
            return task
        script = as_script(task, self.parts.links)
        if script.kind is not Kind.SCRIPT:
            raise Misfit(asked, f"the {task.kind.value} {task.name!r} cannot be joined or "
                         "cancelled", "Write it as a script.")
        if task.may is not Mortality.GOES_ON:
            raise Misfit(asked, f"{task.name!r} may {task.may.value}, so its end cannot be waited "
                         "for", "Remove `may:`.")
        cancelled = task.name in self.cancelled
        if script.count is None and not cancelled:
            raise Misfit(asked, f"{task.name!r} never ends, so it cannot be joined",
                         "Give it a `count`, or cancel it.")
        whole = program(script)
        # Cancelled, it continues with its last step, which must stand behind all others.
        round_ = whole if script.count == 1 and not cancelled else (
            Step(StepKind.REPEAT, count=script.count or 0, branches=(whole,), spot=task.spot),)
        end = Step(StepKind.ACQUIRE, running(task.name), words="ends", spot=task.spot)
        found = replace(script, steps=(*round_, end), count=1, pool=(),
                        cancelled_by=wanted(task.name) if cancelled else "")
        if cancelled:
            self._can_be_released(found)
        return found

    def _can_be_released(self, task: Task) -> None:
        try:
            held_at(task.steps, length(task.steps))
        except Unclear as unclear:
            raise Misfit(
                unclear.step, f"what {task.name!r} holds behind this step depends on the way that "
                "it has taken, so it is not known what it gives back when it is cancelled",
                "Release in each branch what was acquired in it.") from None


def _once(step: Step, sign: str, words: str) -> Step:
    """Take a sign, unless it has been taken."""
    return Step(StepKind.EITHER, otherwise=(), spot=step.spot, branches=(
        (Step(StepKind.ACQUIRE, sign, words=words, spot=step.spot),),))
