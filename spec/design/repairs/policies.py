"""Changes of policies: which task is served first, where elements go, and what a full link does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ...notation.labels import counted
from ..reading.language import (
    MAX_EARLY, Design, Flow, Kind, Link, Merging, Pool, Routing, Step, StepKind, Taking, Task,
)
from ..reading.properties import NO_LOSS
from ..reading.source import NOWHERE
from ..why.findings import Edit
from .change import (
    MOST, Change, Family, Scope, changed_links, changed_tasks, once, shown,
)

__all__ = [
    "dropping", "early", "fairness", "overtaking", "preference", "routing", "seats", "under_way",
    "waiting",
]

MAX_GIVES = 16
"""The most elements that a writer of a dropping link may write at once."""
LOSING = (Flow.DROP_NEWEST, Flow.DROP_OLDEST, Flow.FAIL)


def fairness(scope: Scope) -> Iterator[Change]:
    """A merge takes its inputs in turn."""
    for family in scope.tasks:
        first = family.first
        if first.kind is Kind.MERGE and first.merging is not Merging.FAIR:
            yield once(family, "policy", family.told, first.merging.value, "fair",
                       f"let {family.told} take its inputs in turn (`policy: fair`)",
                       lambda design, family=family: changed_tasks(  # type: ignore[misc]
                           design, family, lambda task: replace(
                               task, merging=Merging.FAIR, prefers="")),
                       also=[Edit(shown(family), "prefers", first.spot, first.prefers, "")]
                       if first.prefers else ())


def preference(scope: Scope) -> Iterator[Change]:
    """A merge prefers one of its inputs."""
    for family in scope.tasks:
        if family.first.kind is not Kind.MERGE:
            continue
        for place in range(min(len(scope.design.gates(name)) for name in family.members)):
            own = {name: scope.design.gates(name)[place][0].queue for name in family.members}
            if family.first.prefers != own[family.first.name]:
                yield _preferring(scope, family, own)


def _preferring(scope: Scope, family: Family[Task], own: dict[str, str]) -> Change:
    """The merge prefers the input that each of its copies has in this place."""
    inputs = set(own.values())
    name = next(link.name for link in scope.links if inputs & {*link.queues, *link.members})
    of, spot = shown(family), family.first.spot
    scope_of = family.name.rpartition(".")[0]
    written = name.removeprefix(f"{scope_of}.") if scope_of else name  # as the sub-design has it

    def prefer(task: Task) -> Task:
        return replace(task, merging=Merging.PREFERRED, prefers=own[task.name])

    return Change(
        f"policy of {of}", f"{name} at {family.told}", range(1),
        lambda _: f"let {family.told} take from {name} whenever that has something (`policy: "
        f"preferred, prefers: {name}`)",
        lambda design, _: changed_tasks(design, family, prefer),
        lambda _: (Edit(of, "policy", spot, family.first.merging.value, "preferred"),
                   Edit(of, "prefers", spot, family.first.prefers, written)),
        family.names, grows=False)


def routing(scope: Scope) -> Iterator[Change]:
    """A route writes where there is a free slot."""
    for family in scope.tasks:
        if family.first.kind is Kind.ROUTE and family.first.routing is Routing.CONTENT:
            yield once(family, "by", family.told, "content", "room",
                       f"let {family.told} write to any link that has a free slot (`by: room`)",
                       lambda design, family=family: changed_tasks(  # type: ignore[misc]
                           design, family, lambda task: replace(task, routing=Routing.ROOM)))


def early(scope: Scope) -> Iterator[Change]:
    """A window that may close with fewer elements than it gathers."""
    for family in scope.tasks:
        first = family.first
        if first.kind is Kind.WINDOW and not first.early and 1 < first.size <= MAX_EARLY:
            yield once(family, "early", family.told, "", "true",
                       f"let {family.told} close before it is full (`early: true`)",
                       lambda design, family=family: changed_tasks(  # type: ignore[misc]
                           design, family, lambda task: replace(task, early=True)))


def overtaking(scope: Scope) -> Iterator[Change]:
    """Readers take the kind that they want, wherever it stands in a queue."""
    for family in scope.links:
        if family.first.in_line:
            yield once(family, "take", family.told, "head", "any",
                       f"let the readers of {family.told} take any kind, wherever it stands "
                       "(`take: any`)",
                       lambda design, family=family: changed_links(  # type: ignore[misc]
                           design, family, lambda link: replace(link, taking=Taking.ANY)))


def waiting(scope: Scope) -> Iterator[Change]:
    """Writers wait where a full link drops or fails."""
    for family in scope.links:
        if family.first.flow in LOSING:
            yield _flow(family, Flow.BLOCKING, "make the writers of {} wait while it is full "
                        "(`flow: blocking`; it is {})")


def dropping(scope: Scope) -> Iterator[Change]:
    """A link drops its oldest element when it is full: one that leads back, to where all comes by
    another way, before one that all has to pass."""
    entered = _entered(scope.design)
    for family in sorted(scope.links, key=lambda family: scope.late() or entered != _entered(
            scope.design, family.members)):
        first = family.first
        able = first.flow in (Flow.BLOCKING, Flow.CREDIT, Flow.STOP_AND_WAIT) and not first.kind
        if able and first.capacity and not first.lossy and first.gives <= MAX_GIVES:
            said = scope.design.expect.get(NO_LOSS) == "violated"
            unasked = "" if said else ", though the design does not say that any may be lost"
            yield _flow(family, Flow.DROP_OLDEST, "let {} drop its oldest element when it is full "
                        "(`flow: drop-oldest`; it is {})",
                        f"it LOSES elements of {family.told}{unasked}")


def _entered(design: Design, without: Collection[str] = ()) -> frozenset[str]:
    """The tasks that something comes to from those who read nothing, if these links are not there.
    """
    found = {name for name in design.tasks if not design.inputs(name)}
    waiting = list(found)
    while waiting:
        for link in design.outputs(waiting.pop()):
            new = {*link.readers} - found if link.name not in without else ()
            found.update(new)
            waiting += new
    return frozenset(found)


def _flow(family: Family[Link], flow: Flow, says: str, costs: str = "") -> Change:
    first = family.first
    of, old = shown(family), first.flow.value
    also = [Edit(of, "batch", first.spot, str(first.batch), "")] if first.batch > 1 else []
    if first.flow is Flow.STOP_AND_WAIT:  # the file has no capacity of it
        also.append(Edit(of, "capacity", first.spot, "", str(first.capacity)))
    return once(family, "flow", family.told, old, flow.value, says.format(family.told, old),
                lambda design: changed_links(
                    design, family, lambda link: replace(link, flow=flow, batch=1)), costs, also)


# --- limits -------------------------------------------------------------------------------------

def under_way(scope: Scope) -> Iterator[Change]:
    """Permits that the sources take for each element, and the sinks give back."""
    design = scope.design
    sources = [task for task in design.tasks.values() if task.kind is Kind.SOURCE]
    sinks = [task for task in design.tasks.values() if task.kind is Kind.SINK]
    plain = all(
        task.count is None and not task.pool
        and len(design.inputs(task.name)) + len(design.outputs(task.name)) == 1
        for task in (*sources, *sinks))
    if not plain or not sources or not sinks:
        return
    room = sum(link.capacity or 0 for link in design.links.values()) + sum(
        task.hand for task in design.tasks.values())
    pool = _free_name(design, "under way")
    yield Change(
        "under way", ", ".join(_names(sources)), range(min(room, MOST), 0, -1),
        lambda n: f"let at most {counted(n, 'element')} be under way: a pool of "
        f"{counted(n, 'permit')}, of which {_all(sources)} takes one before each write and "
        f"{_all(sinks)} gives one back after each read",
        lambda design, n: _limited(design, [*sources, *sinks], Pool(pool, n)),
        lambda n: (Edit("the design", "pools", NOWHERE, "", f"{pool}: {{threads: {n}}}"), *(
            edit for task in (*sources, *sinks) for edit in _as_script(design, task, pool))),
        grows=False)


def _as_script(design: Design, task: Task, pool: str) -> Iterator[Edit]:
    """The edits that make a script of a source, or of a sink."""
    of, (link,) = f"task {task.name}", (*design.inputs(task.name), *design.outputs(task.name))
    steps = (f"acquire: {pool}", f"write: {link.name}") if task.kind is Kind.SOURCE else (
        f"read: {link.name}", f"release: {pool}")
    yield Edit(of, "kind", task.spot, task.kind.value, "script")
    yield Edit(of, "steps", task.spot, "", ", ".join(step.replace(":", "") for step in steps),
               parts=steps)


def _names(tasks: Sequence[Task]) -> list[str]:
    return [task.name for task in tasks]


def _all(tasks: Sequence[Task]) -> str:
    names = _names(tasks)
    return names[0] if len(names) == 1 else f"each of {', '.join(names)}"


def _free_name(design: Design, wanted: str) -> str:
    names = (wanted, *(f"{wanted} {n}" for n in range(2, 100)))
    return next(name for name in names if name not in design.pools)


def _limited(design: Design, ends: Sequence[Task], pool: Pool) -> Design:
    acquire, release = (Step(kind, pool.name) for kind in (StepKind.ACQUIRE, StepKind.RELEASE))
    scripts = []
    for task in ends:
        written, read = (links(task.name) for links in (design.outputs, design.inputs))
        steps = [acquire, *(Step(StepKind.WRITE, link.name) for link in written)] if written else [
            *(Step(StepKind.READ, link.name) for link in read), release]
        scripts.append(replace(task, kind=Kind.SCRIPT, steps=tuple(steps)))
    tasks = {**design.tasks, **{task.name: task for task in scripts}}
    return replace(design, tasks=tasks, pools={**design.pools, pool.name: pool})


def seats(scope: Scope) -> Iterator[Change]:
    """Copies of a script that takes locks: not all of them are at it at once."""
    for family in scope.tasks:
        first = family.first
        acquires = [step for step in first.actions if step.kind is StepKind.ACQUIRE]
        if len(family.members) > 2 and not first.pool and len(acquires) > 1:
            yield _seated(scope.design, family)


def _seated(design: Design, family: Family[Task]) -> Change:
    """Let fewer copies of a task be at it at once: a pool of permits around its steps."""
    pool, first = _free_name(design, f"{family.name} at once"), family.first
    acquire, release = (Step(kind, pool) for kind in (StepKind.ACQUIRE, StepKind.RELEASE))

    def done(design: Design, n: int) -> Design:
        design = changed_tasks(design, family, lambda task: replace(
            task, steps=(acquire, *task.steps, release)))
        return replace(design, pools={**design.pools, pool: Pool(pool, n)})

    return Change(
        f"at once of {shown(family)}", family.told, range(len(family.members) - 1, 0, -1),
        lambda n: f"let at most {n} of the {len(family.members)} copies of {family.name} be at it "
        f"at once: a pool of {counted(n, 'permit')}, of which each takes one first and gives it "
        "back last", done,
        lambda n: (Edit("the design", "pools", NOWHERE, "", f"{pool}: {{threads: {n}}}"),
                   Edit(shown(family), "steps", family.first.spot, "what is between these",
                        f"acquire {pool}, …, release {pool}", parts=(
                            f"acquire: {pool}", *dict.fromkeys(step.spot for step in first.steps),
                            f"release: {pool}"))),
        family.names, grows=False)
