"""Changes of numbers: of the configuration, of windows, and of what arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ...notation.labels import counted
from ..reading.language import Design, Flow, Kind, Link, Pool, Step, StepKind, Task
from ..why.findings import Edit
from .change import (
    MOST, Change, Family, Scope, above, below, changed_links, changed_pools, changed_tasks, number,
    shown, taken,
)

__all__ = [
    "at_once", "batch", "bound", "calls", "capacity", "count", "hand", "held_at_the_start", "mark",
    "more_at_the_start", "reliable", "threads", "window", "windows",
]

Counted = TypeVar("Counted", Link, Task)

WINDOWED = (StepKind.READ, StepKind.WRITE)
ABLE = (Kind.MAP, Kind.ZIP, Kind.BROADCAST, Kind.MERGE, Kind.FILTER, Kind.ROUTE)
"""The kinds of tasks that have a hand."""
MORE_IN_HAND = 4
MORE_AT_THE_START = 8
MET = ("it costs memory, and the writer no longer knows that its element was read: nothing was "
       "kept in it before")
MORE_ON_THE_WAY = "it costs memory, and more than one element is on its way at a time"
MOST_IN_A_BOUND = 1_000
"""The largest capacity that is tried for a link without one."""


# --- numbers of the configuration -----------------------------------------------------------

def capacity(scope: Scope) -> Iterator[Change]:
    """More room in a link; stop-and-wait becomes credit."""
    for family in scope.links:
        if family.first.flow is Flow.STOP_AND_WAIT:
            yield _credit_instead(family)
        elif family.first.capacity is not None:
            yield _room(scope, family, smaller=False)


def _room(scope: Scope, family: Family[Link], smaller: bool) -> Change:
    """The change of the capacity of a family of links, larger or smaller."""
    links = [scope.design.links[name] for name in family.members]
    old = [link.capacity or 0 for link in links]
    spare = min(room - max(1, link.initial, link.gives, link.takes, link.batch)
                for room, link in zip(old, links, strict=True))
    values = below(old[0], old[0] - spare) if smaller else above(old[0])

    def done(design: Design, by: int) -> Design:
        design = changed_pools(design, family.slots, lambda pool: replace(
            pool, threads=pool.threads + by))
        return changed_links(design, family, lambda link: replace(
            link, capacity=(link.capacity or 0) + by))

    return number(family, "capacity", old, values, lambda n: (
        f"give {family.told} a capacity of {n} (it has {old[0]})"), done,
        costs=None if old[0] else lambda _: MET,
        restricts=smaller and all(link.flow in (Flow.BLOCKING, Flow.CREDIT) for link in links))


def _credit_instead(family: Family[Link]) -> Change:
    def edits(n: int) -> tuple[Edit, ...]:
        return (Edit(of, "flow", family.first.spot, "stop-and-wait", "credit"),
                Edit(of, "capacity", family.first.spot, "", str(n)))

    of = shown(family)
    return Change(
        f"capacity of {of}", family.told, above(1),
        lambda n: f"make {family.told} a credit link with a capacity of {n} (`flow: credit`; it is "
        "stop-and-wait)",
        lambda design, n: changed_links(design, family, lambda link: replace(
            link, flow=Flow.CREDIT, capacity=n)), edits, family.names,
        costs=lambda _: MORE_ON_THE_WAY)


def hand(scope: Scope) -> Iterator[Change]:
    """More elements between reading and writing."""
    for family in scope.tasks:
        if family.first.kind in ABLE:
            first = family.first.hand
            yield _of_tasks(scope, family, "hand", range(
                first + 1, min(first + MORE_IN_HAND, MOST) + 1),
                "let {} hold {n} between reading and writing (`hand: {}`; it is {})", "element")


def _of_tasks(
    scope: Scope, family: Family[Task], key: str, values: range, says: str, unit: str
) -> Change:
    """A number of tasks; ``says`` has room for the task, the new number and the old one."""
    return _counted(family, key, scope.design.tasks, changed_tasks, values, says, unit)


def _of_links(
    scope: Scope, family: Family[Link], key: str, values: range, says: str, unit: str
) -> Change:
    """A number of links; ``says`` is as that of tasks."""
    return _counted(family, key, scope.design.links, changed_links, values, says, unit)


def _counted(
    family: Family[Counted], key: str, items: Mapping[str, Counted],
    changed: Callable[[Design, Family[Counted], Callable[[Counted], Counted]], Design],
    values: range, says: str, unit: str,
) -> Change:
    old = [getattr(items[name], key) for name in family.members]

    def done(design: Design, by: int) -> Design:
        return changed(design, family, lambda item: replace(
            item, **{key: getattr(item, key) + by}))

    return number(family, key, old, values, lambda n: says.format(
        family.told, n, old[0], n=counted(n, unit)), done)


def batch(scope: Scope) -> Iterator[Change]:
    """Fewer freed slots that are announced together."""
    for family in scope.links:
        if family.first.flow is Flow.CREDIT and family.first.batch > 1:
            yield _of_links(scope, family, "batch", below(family.first.batch, 1),
                            "let {} announce {n} at once (`batch: {}`; it is {})", "freed slot")


def threads(scope: Scope) -> Iterator[Change]:
    """A larger pool, but no second permit for a lock."""
    for family in scope.pools:
        if not is_lock(scope.design, family.first):
            yield _size(scope, family, above(family.first.threads))


def is_lock(design: Design, pool: Pool) -> bool:
    """True if a pool is one permit that scripts take: with two it would exclude no task."""
    return pool.threads == 1 and any(
        step.kind is StepKind.ACQUIRE and step.target == pool.name
        for task in design.tasks.values() for step in task.actions)


def _size(scope: Scope, family: Family[Pool], values: range) -> Change:
    """The change of the size of a family of pools, with what more threads or permits cost."""
    old = [scope.design.pools[name].threads for name in family.members]
    unit = scope.design.unit(family.first.name)

    def costs(n: int) -> str:
        more = f"it costs {counted(n - old[0], f'more {unit}')} of {family.told}"
        if unit == "permit":
            return f"{more}, and what each stands for (a connection, a slot, memory)"
        return f"{more}, and what took turns on its one runs at the same time" if 1 in old else more

    return number(
        family, "threads", old, values,
        lambda n: f"give the pool {family.told} {counted(n, unit)} (it has {old[0]})",
        lambda design, by: changed_pools(design, family.members, lambda pool: replace(
            pool, threads=pool.threads + by)), restricts=values.step < 0,
        costs=None if values.step < 0 else costs)


# --- windows ----------------------------------------------------------------------------------

def window(scope: Scope) -> Iterator[Change]:
    """Less that is done at the same time: by a script in one round, in a link, with permits."""
    for task in scope.tasks:
        sizes = {step.count for step in task.first.steps if step.kind is StepKind.WRITE}
        for size in sorted(sizes - {1}, reverse=True):
            if task.first.count is None and not task.first.chooses:
                yield _fewer_at_a_time(task, size)
    for link in scope.links:
        if link.first.capacity is not None and link.first.flow not in (
                Flow.STOP_AND_WAIT, Flow.STOP_GO):
            yield _room(scope, link, smaller=True)
    for pool in scope.pools:
        if pool.first.threads > 1 and any(
                pool.first.name in taken(task) for task in scope.design.tasks.values()):
            yield _size(scope, pool, below(pool.first.threads, 1))


def _fewer_at_a_time(family: Family[Task], size: int) -> Change:
    """All steps of a script that are repeated as often as its writes are: it does in several
    rounds what it did in one."""
    def steps(task: Task, n: int) -> tuple[Step, ...]:
        return tuple(
            replace(step, count=n) if step.count == size and step.kind in WINDOWED else step
            for step in task.steps)

    spots = dict.fromkeys(step.spot for step in family.first.steps
                          if step.count == size and step.kind in WINDOWED)
    return Change(
        f"count {size} of {shown(family)}", family.told, below(size, 1),
        lambda n: f"let {family.told} write and read {n} at a time (it does {size})",
        lambda design, n: changed_tasks(
            design, family, lambda task: replace(task, steps=steps(task, n))),
        lambda n: tuple(Edit(f"step of {family.name}", "count", spot, str(size), str(n))
                        for spot in spots), family.names, grows=False)


def mark(scope: Scope) -> Iterator[Change]:
    """A reader that calls stop earlier."""
    for family in scope.links:
        if all(scope.design.links[name].flow is Flow.STOP_GO for name in family.members):
            yield _earlier_stop([scope.design.links[name] for name in family.members], family)


def _earlier_stop(links: Sequence[Link], family: Family[Link]) -> Change:
    """An earlier stop; a link that calls go at its mark still does so."""
    old = [link.stop for link in links]
    spare = min(link.stop - max(1, link.initial, link.go if link.go < link.stop else 0)
                for link in links)

    def done(design: Design, by: int) -> Design:
        return changed_links(design, family, lambda link: replace(
            link, stop=link.stop + by, go=min(link.go, link.stop + by)))

    return number(family, "stop", old, below(old[0], old[0] - spare), lambda n: (
        f"let the reader of {family.told} call stop above {counted(n, 'element')} (`stop: {n}`; it "
        f"is {old[0]})"), done)


def calls(scope: Scope) -> Iterator[Change]:
    """Fewer nested calls at a time."""
    for family in scope.tasks:
        if family.first.roots > 1:
            yield _of_tasks(scope, family, "roots", below(family.first.roots, 1),
                            "let {n} of {} come at a time (`roots: {}`; it is {})", "call")


def bound(scope: Scope) -> Iterator[Change]:
    """A capacity for a link that has none, at which its writers wait."""
    for family in scope.links:
        if family.first.flow is Flow.UNBOUNDED and not family.first.of:
            yield _bounded(family)


def _bounded(family: Family[Link]) -> Change:
    of, first = shown(family), family.first
    least = max(1, first.initial, first.gives, first.takes)

    def edits(n: int) -> tuple[Edit, ...]:
        return (Edit(of, "flow", first.spot, "unbounded", "blocking"),
                Edit(of, "capacity", first.spot, "", str(n)))

    return Change(
        f"capacity of {of}", family.told, range(least, MOST_IN_A_BOUND + 1),
        lambda n: f"give {family.told} a capacity of {n}, at which its writers wait (`flow: "
        "blocking`; it is unbounded)",
        lambda design, n: changed_links(design, family, lambda link: replace(
            link, flow=Flow.BLOCKING, capacity=n)), edits, family.names)


# --- what changes what arrives ------------------------------------------------------------------

def held_at_the_start(scope: Scope) -> Iterator[Change]:
    """Fewer elements at the start."""
    for family in scope.links:
        if all(scope.design.links[name].initial for name in family.members):
            yield _of_links(scope, family, "initial", below(family.first.initial, 0),
                            "let {} start with {n} (`initial: {}`; it starts with {})", "element")


def more_at_the_start(scope: Scope) -> Iterator[Change]:
    """More elements at the start."""
    for family in scope.links:
        links = [scope.design.links[name] for name in family.members]
        first = family.first.initial
        room = [link.stop if link.flow is Flow.STOP_GO else link.capacity for link in links]
        more = min(MORE_AT_THE_START if most is None else most - link.initial
                   for most, link in zip(room, links, strict=True))
        if more > 0 and not family.first.kind:
            yield replace(_of_links(
                scope, family, "initial",
                range(first + 1, first + min(more, MORE_AT_THE_START) + 1),
                "let {} start with {n} (`initial: {}`; it starts with {})", "element"),
                costs=partial(_priming, family, first))


def _priming(family: Family[Link], first: int, n: int) -> str:
    readers = " or ".join(dict.fromkeys(family.first.readers))
    more = counted(n - first, "more element" if first else "element")
    return (f"no task writes them: the program must put {more} into {family.told} before the tasks "
            f"start (priming), and {readers} must take what no task sent")


def reliable(scope: Scope) -> Iterator[Change]:
    """A channel that may lose less."""
    for family in scope.links:
        if all(scope.design.links[name].lossy for name in family.members):
            yield _of_links(scope, family, "lossy", below(family.first.lossy, 0),
                            "let the channel of {} lose {n} (`lossy: {}`; it is {})", "element")


def at_once(scope: Scope) -> Iterator[Change]:
    """Fewer elements that are written or read at once."""
    for family in scope.links:
        first = family.first
        for key, does, who in (("takes", "reads", first.readers), ("gives", "writes",
                                                                   first.writers)):
            if getattr(first, key) > 1:
                yield _of_links(
                    scope, family, key, below(getattr(first, key), 1), "let {} pass on {n} each "
                    f"time {' or '.join(who)} {does} (`{key}: {{}}`; it is {{}})", "element")


def windows(scope: Scope) -> Iterator[Change]:
    """Fewer elements that a window gathers."""
    for family in scope.tasks:
        if family.first.kind is Kind.WINDOW and family.first.size > 1:
            yield _smaller_window(scope, family)


def _smaller_window(scope: Scope, family: Family[Task]) -> Change:
    """One that slides by all that it has still does so."""
    old = [scope.design.tasks[name].size for name in family.members]
    least = max((task.slide for task in map(scope.design.tasks.__getitem__, family.members)
                 if task.slide < task.size), default=1)

    def done(design: Design, by: int) -> Design:
        return changed_tasks(design, family, lambda task: replace(
            task, size=task.size + by, slide=min(task.slide, task.size + by)))

    return number(family, "size", old, below(old[0], least), lambda n: (
        f"let {family.told} gather {counted(n, 'element')} (`size: {n}`; it is {old[0]})"), done)


def count(scope: Scope) -> Iterator[Change]:
    """A smaller ``count`` of what is done that often."""
    for family in scope.tasks:
        if family.first.count is not None and family.first.count > 1:
            yield _of_tasks(scope, family, "count", below(family.first.count, 1),
                            "let {} run {n} (`count: {}`; it is {})", "time")
