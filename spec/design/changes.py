"""Changes that may make a stuck design live: a table of kinds, ordered by what they give up.

Each kind finds its places in a design, and each place has values to try, each of which changes
more than the one before. Nothing is decided here: :mod:`repair` asks the engines.

What is only a number of the configuration comes first (memory, threads), then what may make some
tasks slower or rarer (policies, windows), then what changes a program (the order of its steps),
and last what changes what arrives: other amounts, other ways, elements that nobody sent, and
elements that are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..notation.labels import counted
from .kinds import is_one_kind, is_slots
from .language import Design, Flow, Kind, Link, Merging, Pool, Routing, Step, StepKind, Task
from .programs import program
from .stuck import Blocked

__all__ = ["KINDS", "Change", "KindOfChange", "Scope"]

MOST = 1_000_000
"""The largest number in a design file."""
MAX_GIVES = 16
"""The most elements that a writer of a dropping link may write at once."""
WINDOWED = (StepKind.READ, StepKind.WRITE)


@dataclass(frozen=True)
class Change:
    """Something to try in one ``place``: ``says`` and ``done`` take one of ``values``.

    A later value changes more. ``grows`` says that it also makes more states.
    """

    place: str
    values: Sequence[int]
    says: Callable[[int], str]
    done: Callable[[int], Design]
    grows: bool = True

    def tried(self, value: int) -> str:
        """How far this change was tried."""
        if self.values == range(1):
            return self.place
        return f"{self.place} {'up' if self.grows else 'down'} to {value}"


@dataclass(frozen=True)
class KindOfChange:
    """A row of the table: its name, what it gives up, and where a design offers it."""

    name: str
    gives_up: str
    find: Callable[[Scope], Iterator[Change]]


class Scope:
    """A connected part of a design, with what is nearest to the circle of waits first."""

    def __init__(self, design: Design, waits: Iterable[Blocked]) -> None:
        told = list(waits)
        self.design = design
        self.near = {wait.task: None for wait in told}
        where = list(dict.fromkeys(wait.where for wait in told))
        tasks = list(self.near)

        def distance(link: Link) -> int:
            if link.name in where:
                return where.index(link.name)
            touches = {*link.writers, *link.readers} & set(tasks)
            return len(where) + (not touches)

        # What was written out for a link with kinds is no link or pool that a file could change.
        self.links = sorted((link for link in design.links.values()
                             if not is_one_kind(link.name)), key=distance)
        self.tasks = sorted(design.tasks.values(), key=lambda task: (
            tasks.index(task.name) if task.name in tasks else len(tasks)))
        used = {name for task in self.tasks for name in (*task.pool, *_taken(task))}
        own = (p for p in design.pools.values() if p.name in used and not is_slots(p.name))
        self.pools = sorted(own, key=lambda p: (
            where.index(p.name) if p.name in where else len(where)))

    def with_link(self, link: Link) -> Design:
        """The part with another link of that name."""
        return replace(self.design, links={**self.design.links, link.name: link})

    def with_tasks(self, *tasks: Task) -> Design:
        """The part with other tasks of those names."""
        changed = {task.name: task for task in tasks}
        return replace(self.design, tasks={**self.design.tasks, **changed})

    def with_threads(self, pool: Pool, threads: int) -> Design:
        """The part with another number of threads in a pool."""
        return replace(self.design, pools={
            **self.design.pools, pool.name: replace(pool, threads=threads)})


def _taken(task: Task) -> list[str]:
    """The pools that a script's steps name."""
    return [step.target for step in task.actions if step.kind not in WINDOWED]


def _above(old: int) -> range:
    return range(old + 1, min(MOST, old + max(8, 2 * old)) + 1)


def _below(old: int, least: int) -> range:
    return range(old - 1, least - 1, -1)


# --- numbers of the configuration -----------------------------------------------------------

def _capacity(scope: Scope) -> Iterator[Change]:
    for link in scope.links:
        if link.flow is Flow.STOP_AND_WAIT:
            yield _credit_instead(scope, link)
        elif link.capacity is not None:
            yield _room(scope, link, link.capacity, _above(link.capacity))


def _room(scope: Scope, link: Link, old: int, values: range) -> Change:
    return Change(
        link.name, values, lambda n: f"give {link.name} a capacity of {n} (it has {old})",
        lambda n: scope.with_link(replace(link, capacity=n)), grows=values.step > 0)


def _credit_instead(scope: Scope, link: Link) -> Change:
    return Change(
        link.name, _above(1), lambda n: f"make {link.name} a credit link with a capacity of {n} "
        f"(`flow: credit`; it is stop-and-wait)",
        lambda n: scope.with_link(replace(link, flow=Flow.CREDIT, capacity=n)))


def _hand(scope: Scope) -> Iterator[Change]:
    able = (Kind.MAP, Kind.ZIP, Kind.BROADCAST, Kind.MERGE, Kind.FILTER, Kind.ROUTE)
    for task in scope.tasks:
        if task.kind in able:
            yield _more_in_hand(scope, task)


def _more_in_hand(scope: Scope, task: Task) -> Change:
    return Change(
        task.name, range(task.hand + 1, min(task.hand + 4, MOST) + 1),
        lambda n: f"let {task.name} hold {counted(n, 'element')} between reading and writing "
        f"(`hand: {n}`; it is {task.hand})",
        lambda n: scope.with_tasks(replace(task, hand=n)))


def _batch(scope: Scope) -> Iterator[Change]:
    for link in scope.links:
        if link.flow is Flow.CREDIT and link.batch > 1:
            yield _smaller_batch(scope, link)


def _smaller_batch(scope: Scope, link: Link) -> Change:
    return Change(
        link.name, _below(link.batch, 1), lambda n: f"let {link.name} announce "
        f"{counted(n, 'freed slot')} at once (`batch: {n}`; it is {link.batch})",
        lambda n: scope.with_link(replace(link, batch=n)), grows=False)


def _threads(scope: Scope) -> Iterator[Change]:
    for pool in scope.pools:
        if not _is_lock(scope.design, pool):
            yield _size(scope, pool, _above(pool.threads))


def _is_lock(design: Design, pool: Pool) -> bool:
    """Whether a pool is one permit that scripts take: with two it would exclude nobody."""
    return pool.threads == 1 and any(
        step.kind is StepKind.ACQUIRE and step.target == pool.name
        for task in design.tasks.values() for step in task.actions
    )


def _size(scope: Scope, pool: Pool, values: range) -> Change:
    return Change(
        pool.name, values,
        lambda n: f"give the pool {pool.name} {counted(n, 'thread')} (it has {pool.threads})",
        lambda n: scope.with_threads(pool, n), grows=values.step > 0)


# --- policies and windows ---------------------------------------------------------------------

def _fairness(scope: Scope) -> Iterator[Change]:
    for task in scope.tasks:
        if task.kind is Kind.MERGE and task.merging is not Merging.FAIR:
            yield _one(task.name, f"let {task.name} take its inputs in turn (`policy: fair`)",
                       scope.with_tasks(replace(task, merging=Merging.FAIR, prefers="")))


def _preference(scope: Scope) -> Iterator[Change]:
    for task in scope.tasks:
        inputs = [link for link in scope.links if task.name in link.readers]
        for link in inputs if task.kind is Kind.MERGE else []:
            if task.prefers != link.name:
                yield _one(
                    f"{link.name} at {task.name}",
                    f"let {task.name} take from {link.name} whenever that has something "
                    f"(`policy: preferred, prefers: {link.name}`)",
                    scope.with_tasks(replace(
                        task, merging=Merging.PREFERRED, prefers=link.name)))


def _one(place: str, says: str, done: Design) -> Change:
    """A change that is made or not made."""
    return Change(place, range(1), lambda _: says, lambda _: done)


def _window(scope: Scope) -> Iterator[Change]:
    for task in scope.tasks:
        sizes = {step.count for step in task.steps if step.kind is StepKind.WRITE}
        for size in sorted(sizes - {1}, reverse=True):
            if task.count is None and not task.chooses:
                yield _fewer_at_a_time(scope, task, size)
    for link in scope.links:
        least = max(1, link.initial, link.gives, link.takes, link.batch)
        if link.capacity is not None and link.capacity > least:
            yield _room(scope, link, link.capacity, _below(link.capacity, least))
    for pool in scope.pools:
        if pool.threads > 1 and any(pool.name in _taken(task) for task in scope.tasks):
            yield _size(scope, pool, _below(pool.threads, 1))


def _fewer_at_a_time(scope: Scope, task: Task, size: int) -> Change:
    """All steps of a script that are repeated as often as its writes are: it does in several
    rounds what it did in one."""
    def steps(n: int) -> tuple[Step, ...]:
        return tuple(
            replace(step, count=n) if step.count == size and step.kind in WINDOWED else step
            for step in task.steps)

    return Change(
        task.name, _below(size, 1),
        lambda n: f"let {task.name} write and read {n} at a time (it does {size})",
        lambda n: scope.with_tasks(replace(task, steps=steps(n))), grows=False)


# --- the order of steps, and limits -----------------------------------------------------------

def _lock_order(scope: Scope) -> Iterator[Change]:
    """Two acquires in the other order, or an acquire before the release that is its own; none
    of the two is released in between. A script's own thread is one of its locks."""
    for task in scope.tasks:
        steps = program(task) if task.steps and not _is_fixed(task) else ()
        for first, one in enumerate(steps):
            for second in range(first + 1, len(steps)):
                other = steps[second]
                between = {s.target for s in steps[first + 1:second] if s.kind is StepKind.RELEASE}
                if _out_of_order(one, other) and not {one.target, other.target} & between:
                    yield _swap(scope, task, steps, first, second)


def _is_fixed(task: Task) -> bool:
    """Whether the order of a script's steps is not to be changed: in a choice it is not one order.
    """
    return task.chooses


def _out_of_order(one: Step, other: Step) -> bool:
    if other.kind is not StepKind.ACQUIRE:
        return False
    wanted = StepKind.RELEASE if one.target == other.target else StepKind.ACQUIRE
    return one.kind is wanted


def _step_order(scope: Scope) -> Iterator[Change]:
    for task in scope.tasks:
        for first in range(0 if _is_fixed(task) else len(task.steps) - 1):
            one, other = task.steps[first:first + 2]
            if not {one.kind, other.kind} <= {StepKind.ACQUIRE, StepKind.RELEASE} and one != other:
                yield _swap(scope, task, task.steps, first, first + 1)


def _swap(scope: Scope, task: Task, before: Sequence[Step], first: int, second: int) -> Change:
    steps = list(before)
    steps[first], steps[second] = steps[second], steps[first]
    now, then = (f"{s.kind.value} {s.target}" for s in (steps[first], steps[second]))
    own = bool(task.pool) and len(before) > len(task.steps)
    return _one(
        f"{now} and {then} of {task.name}",
        f"let {task.name} {now} before it does {then} (steps: {_listed(steps)})",
        scope.with_tasks(replace(task, steps=tuple(steps), pool=() if own else task.pool)))


def _listed(steps: Sequence[Step]) -> str:
    return ", ".join(f"{s.kind.value} {s.target}" + (f" x {s.count}" if s.count > 1 else "")
                     for s in steps)


def _calls(scope: Scope) -> Iterator[Change]:
    for task in scope.tasks:
        if task.roots > 1:
            yield _fewer_calls(scope, task)


def _fewer_calls(scope: Scope, task: Task) -> Change:
    return Change(
        task.name, _below(task.roots, 1),
        lambda n: f"let {counted(n, 'call')} of {task.name} come at a time (`roots: {n}`; it is "
        f"{task.roots})",
        lambda n: scope.with_tasks(replace(task, roots=n)), grows=False)


def _under_way(scope: Scope) -> Iterator[Change]:
    """Permits that the sources take for each element, and the sinks give back."""
    sources = [task for task in scope.tasks if task.kind is Kind.SOURCE]
    sinks = [task for task in scope.tasks if task.kind is Kind.SINK]
    design = scope.design
    plain = all(
        task.count is None and not task.pool
        and len(design.inputs(task.name)) + len(design.outputs(task.name)) == 1
        for task in (*sources, *sinks))
    if not plain or not sources or not sinks:
        return
    room = sum(link.capacity or 0 for link in scope.links) + sum(t.hand for t in scope.tasks)
    pool = next(name for name in ("under way", *(f"under way {i}" for i in range(2, 100)))
                if name not in design.pools)
    yield Change(
        ", ".join(task.name for task in sources), range(min(room, MOST), 0, -1),
        lambda n: f"let at most {counted(n, 'element')} be under way: a pool of "
        f"{counted(n, 'permit')}, of which {_all(sources)} takes one before each write and "
        f"{_all(sinks)} gives one back after each read",
        lambda n: _limited(scope, [*sources, *sinks], Pool(pool, n)), grows=False)


def _all(tasks: Sequence[Task]) -> str:
    names = [task.name for task in tasks]
    return names[0] if len(names) == 1 else f"each of {', '.join(names)}"


def _limited(scope: Scope, ends: Sequence[Task], pool: Pool) -> Design:
    acquire, release = (Step(kind, pool.name) for kind in (StepKind.ACQUIRE, StepKind.RELEASE))
    scripts = []
    for task in ends:
        written, read = (links(task.name) for links in (scope.design.outputs, scope.design.inputs))
        steps = [acquire, *(Step(StepKind.WRITE, link.name) for link in written)] if written else [
            *(Step(StepKind.READ, link.name) for link in read), release]
        scripts.append(Task(task.name, Kind.SCRIPT, spot=task.spot, steps=tuple(steps)))
    design = scope.with_tasks(*scripts)
    return replace(design, pools={**design.pools, pool.name: pool})


def _held_at_the_start(scope: Scope) -> Iterator[Change]:
    for link in scope.links:
        if link.initial:
            yield _at_the_start(scope, link, _below(link.initial, 0))


def _at_the_start(scope: Scope, link: Link, values: range) -> Change:
    return Change(
        link.name, values, lambda n: f"let {link.name} start with {counted(n, 'element')} "
        f"(it starts with {link.initial})",
        lambda n: scope.with_link(replace(link, initial=n)), grows=values.step > 0)


# --- what changes what arrives ----------------------------------------------------------------

def _reliable(scope: Scope) -> Iterator[Change]:
    for link in scope.links:
        if link.lossy:
            yield _fewer_losses(scope, link)


def _fewer_losses(scope: Scope, link: Link) -> Change:
    return Change(
        link.name, _below(link.lossy, 0), lambda n: f"let the channel of {link.name} lose "
        f"{n or 'nothing'} (`lossy: {n}`; it is {link.lossy})",
        lambda n: scope.with_link(replace(link, lossy=n)), grows=False)


def _at_once(scope: Scope) -> Iterator[Change]:
    for link in scope.links:
        if link.takes > 1:
            yield _fewer_at_once(scope, link, reading=True)
        if link.gives > 1:
            yield _fewer_at_once(scope, link, reading=False)


def _fewer_at_once(scope: Scope, link: Link, reading: bool) -> Change:
    key, does, old = ("takes", "reads", link.takes) if reading else ("gives", "writes", link.gives)
    who = " or ".join(link.readers if reading else link.writers)
    return Change(
        f"`{key}` of {link.name}", _below(old, 1),
        lambda n: f"let {link.name} pass on {counted(n, 'element')} each time {who} {does} "
        f"(`{key}: {n}`; it is {old})",
        lambda n: scope.with_link(replace(link, takes=n) if reading else replace(link, gives=n)),
        grows=False)


def _count(scope: Scope) -> Iterator[Change]:
    for task in scope.tasks:
        if task.count is not None and task.count > 1:
            yield _fewer_runs(scope, task, task.count)


def _fewer_runs(scope: Scope, task: Task, old: int) -> Change:
    return Change(
        task.name, _below(old, 1),
        lambda n: f"let {task.name} run {counted(n, 'time')} (`count: {n}`; it is {old})",
        lambda n: scope.with_tasks(replace(task, count=n)), grows=False)


def _routing(scope: Scope) -> Iterator[Change]:
    for task in scope.tasks:
        if task.kind is Kind.ROUTE and task.routing is Routing.CONTENT:
            yield _one(task.name, f"let {task.name} write to any link that has room (`by: room`)",
                       scope.with_tasks(replace(task, routing=Routing.ROOM)))


def _more_at_the_start(scope: Scope) -> Iterator[Change]:
    for link in scope.links:
        most = link.initial + 8 if link.capacity is None else link.capacity
        if link.initial < most:
            values = range(link.initial + 1, min(most, link.initial + 8) + 1)
            yield _at_the_start(scope, link, values)


def _dropping(scope: Scope) -> Iterator[Change]:
    for link in scope.links:
        able = link.flow in (Flow.BLOCKING, Flow.CREDIT, Flow.STOP_AND_WAIT)
        if able and link.capacity and not link.lossy and link.gives <= MAX_GIVES:
            yield _one(link.name, f"let {link.name} drop its oldest element when it is full "
                       "(`flow: drop-oldest`)",
                       scope.with_link(replace(link, flow=Flow.DROP_OLDEST, batch=1)))


BUSY = "less is done at the same time"
ORDER = "it costs nothing, if the program allows that order"

KINDS = (
    KindOfChange("capacity", "it costs nothing but memory", _capacity),
    KindOfChange("hand", "it costs nothing but memory", _hand),
    KindOfChange("batch", "it costs more announcements", _batch),
    KindOfChange("threads", "it costs nothing but threads", _threads),
    KindOfChange("fairness", "an input that has much to give waits for its turn", _fairness),
    KindOfChange("preference", "the other inputs may wait for ever meanwhile", _preference),
    KindOfChange("window", BUSY, _window),
    KindOfChange("order of locks", ORDER, _lock_order),
    KindOfChange("calls at a time", BUSY, _calls),
    KindOfChange("limit on what is under way", BUSY, _under_way),
    KindOfChange("order of steps", ORDER, _step_order),
    KindOfChange("fewer at the start", "those elements are not there", _held_at_the_start),
    KindOfChange("losses", "it needs a channel that loses less", _reliable),
    KindOfChange("elements at once", "other amounts than now are written or read", _at_once),
    KindOfChange("fewer runs", "the work of the other runs is not done", _count),
    KindOfChange("routing", "elements no longer decide where they go", _routing),
    KindOfChange("more at the start", "elements are there that nobody wrote", _more_at_the_start),
    KindOfChange("dropping", "elements may be lost", _dropping),
)
"""The kinds, what gives up least first."""
