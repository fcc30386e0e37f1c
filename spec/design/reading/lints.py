"""Oddities of a design that can be seen without a search.

A lint is no verdict: the design is checked all the same, and may be meant so. Each names the spot
of what is odd. Rates balance (Lee and Messerschmitt 1987) if every task can be given a number of
runs with which each link of two fixed-rate tasks gets as many elements as are taken from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import lcm
from typing import Final

from ...notation.labels import counted
from .kinds import is_slots
from .language import Design, Flow, Kind, Link, Pool, Step, StepKind, Task
from .programs import program
from .script_lints import odd_steps
from .signs import is_sign
from .source import Spot

__all__ = ["Lint", "lints"]

_FIXED: Final = {Kind.SOURCE, Kind.MAP, Kind.ZIP, Kind.BROADCAST, Kind.SCRIPT, Kind.TRANSITION}
"""Kinds that read and write the same numbers each time."""
MOST_LOOPS: Final = 100
"""Loops with rates that do not balance that are reported one by one; in a large design as many
loops as there are links may be as long as the design."""
MOST_NAMED: Final = 20
"""Tasks of a loop that are all named."""
_KEEPING: Final = {Flow.BLOCKING, Flow.CREDIT, Flow.STOP_AND_WAIT, Flow.UNBOUNDED}


@dataclass(frozen=True)
class Lint:
    """An oddity: what it is, where (``file:line:column``), and what may be done about it."""

    what: str
    where: str
    next_step: str

    def to_json(self) -> dict[str, str]:
        """The lint as an entry of the report."""
        return {"what": self.what, "where": self.where, "next_step": self.next_step}


def lints(design: Design) -> tuple[Lint, ...]:
    """All that is odd about a design, in the order of its file."""
    users: dict[str, list[Task]] = {}
    for task in design.tasks.values():
        for name in dict.fromkeys(task.pools):
            users.setdefault(name, []).append(task)
    found = [
        *(each for link in design.links.values() for each in _of_link(design, link)),
        *(each for pool in design.pools.values() for each in _of_pool(
            pool, users.get(pool.name, ()))),
        *_unbalanced(design),
        *odd_steps(design),
    ]
    return tuple(Lint(what, f"{design.file}:{spot}", next_step)
                 for spot, what, next_step in sorted(found))


_Found = tuple[Spot, str, str]


# --- links -----------------------------------------------------------------------------------

def _of_link(design: Design, link: Link) -> Iterator[_Found]:
    """Warnings about a link: numbers that never fit, and ends that no task uses."""
    room, takes = link.capacity, max(design.taken(link), default=0)
    if room and takes > room:
        yield (link.spot, f"{' or '.join(link.readers)} takes {takes} elements of {link.name!r} "
               f"at once, but only {room} fit, so it never does",
               "Raise `capacity` or lower `takes`.")
    gives = max(design.given(link), default=0)
    if room and gives > room and link.flow in _KEEPING:
        yield (link.spot, f"{' or '.join(link.writers)} writes {gives} elements to {link.name!r} "
               f"at once, but only {room} fit, so it never does",
               "Raise `capacity` or lower `gives`.")
    if room and link.flow is Flow.CREDIT and link.batch > room:
        yield (link.spot, f"{link.name!r} announces {link.batch} freed slots together, but has "
               f"only {room}, so it never does", "Lower `batch`.")
    tasks = design.tasks
    if not any(_runs(tasks[name], StepKind.READ, link.name) for name in link.readers) \
            and not all(tasks[name].kind is Kind.TRANSITION for name in link.writers):
        yield (link.spot, f"no task ever reads {link.name!r}",
               "Let a task read it, or remove it.")
    if not any(_runs(tasks[name], StepKind.WRITE, link.name) for name in link.writers) \
            and link.writers and not link.initial:
        yield (link.spot, f"no task ever writes to {link.name!r}",
               "Let a task write to it, or remove it.")


def _runs(task: Task, kind: StepKind, link: str) -> int:
    """Times that a task reads, or writes, a link of its own in one run."""
    if task.kind is not Kind.SCRIPT:
        return 1
    return _runs_in(task.steps, kind, link)


def _runs_in(steps: Iterable[Step], kind: StepKind, link: str) -> int:
    """Times that steps read, or write, a link, where they are all done; a loop without a known
    number of rounds counts once."""
    return sum(
        step.count if step.kind is kind and step.target == link
        else (step.count or 1 if step.kind is StepKind.REPEAT else 1) * sum(
            _runs_in(way, kind, link) for way in step.ways)
        for step in steps)


# --- pools -----------------------------------------------------------------------------------

def _of_pool(pool: Pool, users: Sequence[Task]) -> Iterator[_Found]:
    """Warnings about a pool that these tasks use: more is acquired than there is, nobody uses it,
    or it limits nothing."""
    if is_slots(pool.name) or is_sign(pool.name):
        return  # the file has no such pool
    held = 0
    used = False
    for task in users:
        asked = [step.count for step in task.actions
                 if step.kind is StepKind.ACQUIRE and step.target == pool.name]
        if max(asked, default=0) > pool.threads:
            yield (task.spot, f"{task.name} acquires {max(asked)} of {pool.name!r} at once, which "
                   f"has {pool.threads}, so it never gets them",
                   "Raise `threads` or acquire fewer.")
        most = _holds(task, pool)
        used = used or most != 0
        held = held + most if most >= 0 and held >= 0 else -1
    if not used:
        yield pool.spot, f"no task uses the pool {pool.name!r}", "Remove it, or name it in a task."
    elif 0 <= held < pool.threads:
        yield (pool.spot, f"the pool {pool.name!r} has {counted(pool.threads, 'thread')}, and "
               f"those who use it hold at most {held} at a time, so it limits nothing",
               f"Lower `threads` below {held}, or remove the pool." if held > 1 else
               "Remove the pool, or let more at a time use it (`hand`, `copies`).")


def _holds(task: Task, pool: Pool) -> int:
    """The most of a pool that a task holds at a time; -1 for any number."""
    if task.kind is Kind.CALL:
        return task.roots * task.pool.count(pool.name)
    if task.kind is not Kind.SCRIPT:
        return max(task.hand, 1) if pool.name in task.pool else 0
    if task.chooses:
        used = pool.name in task.pool or any(step.target == pool.name for step in task.actions)
        return -1 if used else 0
    now = most = 0
    signs = {StepKind.ACQUIRE: 1, StepKind.RELEASE: -1}
    for step in program(task):
        if step.target == pool.name and step.kind in signs:
            now += signs[step.kind] * step.count
            most = max(most, now)
    released = any(step.kind is StepKind.RELEASE and step.target == pool.name
                   for step in task.steps)
    if now > 0 and task.count != 1:
        return -1
    return max(most, int(released))


# --- rates -----------------------------------------------------------------------------------

def _unbalanced(design: Design) -> Iterator[_Found]:
    """The links that close a loop, of whatever directions, with rates that do not balance."""
    runs: dict[str, Fraction] = {}
    parents: dict[str, str] = {}
    rated = [(link, *rates) for link in design.links.values() if (rates := _rates(design, link))]
    around: dict[str, list[tuple[Link, str, Fraction]]] = {}
    for link, writes, reads in rated:
        start, end = link.writers[0], link.readers[0]
        around.setdefault(start, []).append((link, end, Fraction(writes, reads)))
        around.setdefault(end, []).append((link, start, Fraction(reads, writes)))
    told: dict[str, Link] = {}
    for first in around:
        if first in runs:
            continue
        runs[first], todo = Fraction(1), [first]
        while todo:
            here = todo.pop()
            for link, other, factor in around[here]:
                if other not in runs:
                    runs[other], parents[other] = runs[here] * factor, here
                    todo.append(other)
                elif runs[other] != runs[here] * factor and link.name not in told:
                    told[link.name] = link
                    if len(told) <= MOST_LOOPS:
                        yield _imbalance(link, here, other, runs, factor, parents)
    if len(told) > MOST_LOOPS:
        yield (next(islice(told.values(), MOST_LOOPS, None)).spot,
               f"the rates around {counted(len(told) - MOST_LOOPS, 'more loop')} do not balance "
               "either", "Look at the first ones.")


def _imbalance(
    link: Link, here: str, other: str, runs: Mapping[str, Fraction], factor: Fraction,
    parents: Mapping[str, str],
) -> _Found:
    way = _way(here, other, parents)
    if len(way) > MOST_NAMED:
        way = [*way[:3], "…", *way[-3:]]
    loop = " - ".join([*way, here])
    other_way = runs[other] / runs[here]
    base = lcm(factor.denominator, other_way.denominator)
    one, two = _times(factor * base), _times(other_way * base)
    return (link.spot, f"the rates around {loop} do not balance: for {counted(base, 'run')} of "
            f"{here}, {other} runs {one} by {link.name!r}, and {two} by the other way, so a link "
            "fills up or runs empty", "Change `gives`, `takes` or the steps.")


def _times(number: Fraction) -> str:
    return "once" if number == 1 else f"{number} times"


def _way(here: str, other: str, parents: Mapping[str, str]) -> list[str]:
    """The tasks between two, by those from which each was reached."""
    def up(name: str) -> list[str]:
        found = [name]
        while name in parents:
            name = parents[name]
            found.append(name)
        return found

    one, two = up(here), up(other)
    above = {*two}
    shared = next(name for name in one if name in above)
    return [*one[:one.index(shared)], shared, *reversed(two[:two.index(shared)])]


def _rates(design: Design, link: Link) -> tuple[int, int] | None:
    """Number of elements that a link gets in a run of its writer, and loses in one of its reader;
    None where that is not always the same."""
    if len(link.writers) != 1 or len(link.readers) != 1 or link.lossy or link.group \
            or link.flow not in _KEEPING:
        return None
    writer, reader = design.tasks[link.writers[0]], design.tasks[link.readers[0]]
    if {writer.kind, reader.kind} - _FIXED or any(
            task.count is not None or task.chooses for task in (writer, reader)):
        return None
    writes = design.given(link)[0] * _runs(writer, StepKind.WRITE, link.name)
    reads = design.taken(link)[0] * _runs(reader, StepKind.READ, link.name)
    return (writes, reads) if writes and reads else None
