"""Oddities of the steps of a script: permits that no task gives back, a branch that is chosen
before it is known whether there is something to read on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .language import Design, Step, StepKind, Task
from .signs import is_sign
from .source import Spot

__all__ = ["odd_steps"]

Oddity = tuple[Spot, str, str]


def odd_steps(design: Design) -> Iterator[Oddity]:
    """The oddities of the steps of scripts, once for each step of the file."""
    told: set[tuple[Spot, str]] = set()
    scripts = [task for task in design.tasks.values() if task.steps]
    for each in (*_kept(scripts), *_blind(scripts)):
        spot, _, next_step = each
        if (spot, next_step) not in told:  # copies share their steps
            told.add((spot, next_step))
            yield each


# --- permits that are never given back ----------------------------------------------------------

def _kept(scripts: Sequence[Task]) -> Iterator[Oddity]:
    nets = {task.name: _nets(task.steps) for task in scripts}
    releasing = Counter(pool for net in nets.values() for pool, (low, _) in net.items() if low < 0)
    for task in scripts:
        for pool, (low, most) in nets[task.name].items():
            if is_sign(pool):
                continue
            others = releasing[pool] - (low < 0)
            if most > 0 and not others:
                yield _keeping(task, pool, most)


def _keeping(task: Task, pool: str, most: int) -> Oddity:
    acquire = next(step for step in task.actions
                   if step.kind is StepKind.ACQUIRE and step.target == pool)
    released = sum(step.count for step in task.actions
                   if step.kind is StepKind.RELEASE and step.target == pool)
    if not released:
        what = f"{task.name} acquires {pool!r}, and no task ever releases it"
    else:
        what = (f"{task.name} can go through its steps with {most} more acquired of {pool!r} than "
                "it releases, and no other task releases it")
    return acquire.spot, what, f"Add `release: {_plain(pool)}` where it is done with it."


def _plain(name: str) -> str:
    """A name without the number of its copy."""
    return name.partition("[")[0]


def _nets(steps: Sequence[Step]) -> Mapping[str, tuple[int, int]]:
    """By pool, how much more is acquired than released on a way through the steps: the least, and
    the most."""
    found: dict[str, tuple[int, int]] = {}
    for step in steps:
        for pool, (low, high) in _net(step).items():
            least, most = found.get(pool, (0, 0))
            found[pool] = least + low, most + high
    return found


def _net(step: Step) -> Mapping[str, tuple[int, int]]:
    if step.kind in (StepKind.ACQUIRE, StepKind.RELEASE):
        by = step.count if step.kind is StepKind.ACQUIRE else -step.count
        return {step.target: (by, by)}
    rounds = step.count if step.kind is StepKind.REPEAT else 1
    ways = [_nets(way * rounds) for way in (*step.branches, *(
        each for each in (step.timeout, step.otherwise) if each is not None))]
    pools = dict.fromkeys(pool for way in ways for pool in way)
    return {pool: (min(way.get(pool, (0, 0))[0] for way in ways),
                   max(way.get(pool, (0, 0))[1] for way in ways)) for pool in pools}


# --- ways that are chosen blindly -----------------------------------------------------------------

def _blind(scripts: Sequence[Task]) -> Iterator[Oddity]:
    for task in scripts:
        for step in _all_steps(task.steps):
            firsts = [_read_first(way) for way in step.branches]
            if step.kind is StepKind.BRANCH and len(firsts) > 1 and all(firsts) \
                    and len(set(firsts)) > 1:
                names = dict.fromkeys(name for first in firsts for name in sorted(first))
                yield (step.spot, f"{task.name} decides which of {', '.join(names)} to read before "
                       "it knows where there is something, and then waits there: all ways of this "
                       "`branch` begin with a read",
                       "Write `either` to read whatever comes first.")


def _read_first(way: Sequence[Step]) -> frozenset[str]:
    """The links of which one is read first on a way; none where it begins otherwise."""
    if not way:
        return frozenset()
    first = way[0]
    if first.kind is StepKind.READ:
        return frozenset((first.target,))
    waits = first.kind is StepKind.EITHER and first.timeout is None and first.otherwise is None
    inner = [_read_first(each) for each in first.branches] if waits else []
    return frozenset().union(*inner) if inner and all(inner) else frozenset()


def _all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        for way in step.ways:
            yield from _all_steps(way)
