"""The part of a large design that a deadlock is about: its tasks, and what is around them.

A *region* is a design of some of the tasks. What they read from others comes from a source, and
what they write for others goes to a sink, so that nothing outside holds them up. A change is looked
for there, where a question is cheap; then the whole design is asked about it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..reading.language import Design, Kind, Link, Task
from ..why.findings import Finding
from ..why.blocked import Blocked

__all__ = ["Blockage", "around", "region"]


@dataclass(frozen=True)
class Blockage:
    """The part of a deadlocked state that would have to be different: the ``tasks``, each of which
    waits only for others of them, and the ``places`` (links and pools) in which a number keeps them
    waiting; of the tasks those that are ``held`` up wait for more than data."""

    tasks: tuple[str, ...]
    places: tuple[str, ...]
    held: tuple[str, ...]

    @staticmethod
    def of(finding: Finding) -> Blockage:
        """The blocked tasks of a finding: the cycle, or those that wait for what no task gives, and
        the tasks that they wait for."""
        waits: dict[str, list[Blocked]] = {}
        for wait in (*finding.waits, *finding.cycle):
            waits.setdefault(wait.task, []).append(wait)
        alone = [wait.task for wait in finding.waits if not wait.on]
        start = [wait.task for wait in finding.cycle] or alone or list(waits)
        tasks = dict.fromkeys(start)
        waiting = list(tasks)
        while waiting:
            for wait in waits.get(waiting.pop(), ()):
                new = [other for other in wait.on if other not in tasks]
                tasks.update(dict.fromkeys(new))
                waiting += new
        told = [wait for task in tasks for wait in waits.get(task, ())]
        held = [wait for wait in told if wait.what != "data" or wait.never]
        return Blockage(tuple(tasks), tuple(dict.fromkeys(wait.where for wait in held)),
                     tuple(dict.fromkeys(wait.task for wait in held)))

    @property
    def names(self) -> frozenset[str]:
        """The tasks and the places."""
        return frozenset((*self.tasks, *self.places))


def around(design: Design, tasks: Iterable[str], radius: int) -> set[str]:
    """The tasks that are at most so many links away from these."""
    found = set(tasks)
    edge = set(found)
    for _ in range(radius):
        edge = {other for task in edge for link in _links(design, task)
                for other in (*link.writers, *link.readers)} - found
        found |= edge
    return found


def _links(design: Design, task: str) -> list[Link]:
    return [*design.inputs(task), *design.outputs(task)]


def region(design: Design, tasks: Collection[str]) -> Design:
    """The design of these tasks (and of those that share their links with kinds); their links to
    others end at sources and sinks."""
    inside = set(tasks)
    inside |= set(_sharing(design, inside))
    links: dict[str, Link] = {}
    ends: dict[str, Task] = {}
    for task in design.tasks:
        for link in _links(design, task) if task in inside else ():
            if link.name not in links:
                links[link.name] = _ended(link, inside, ends)
    used = {name for task in inside for name in _pools(design, task)}
    return replace(
        design, links=links,
        tasks={**{n: task for n, task in design.tasks.items() if n in inside}, **ends},
        pools={n: pool for n, pool in design.pools.items() if n in used})


def _ended(link: Link, inside: Collection[str], ends: dict[str, Task]) -> Link:
    """The link with a source, or a sink, in place of those who are outside."""
    def side(names: Sequence[str], kind: Kind) -> tuple[str, ...]:
        kept = tuple(name for name in names if name in inside)
        if len(kept) == len(names):
            return kept
        end = Task(f"{kind.value} outside, of {link.name}", kind)
        ends[end.name] = end
        return (*kept, end.name)

    return replace(link, writers=side(link.writers, Kind.SOURCE),
                   readers=side(link.readers, Kind.SINK))


def _sharing(design: Design, inside: Collection[str]) -> Iterator[str]:
    """The tasks that read or write a link that shares its slots with one of these tasks."""
    rooms = {link.room for task in inside for link in _links(design, task) if link.room}
    for link in design.links.values() if rooms else ():
        if link.room in rooms:
            yield from (*link.writers, *link.readers)


def _pools(design: Design, name: str) -> set[str]:
    return {*design.tasks[name].pools,
            *(link.room for link in _links(design, name) if link.room),
            *(link.open for link in _links(design, name) if link.closes)}
