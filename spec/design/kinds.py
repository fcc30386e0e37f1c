"""Queues whose elements are of several kinds, written out as links and permits.

A link with ``kinds`` is, for each kind, a link of the elements of that kind, and for all of them
together a pool of permits: its free slots. To write an element is to take a slot and then to write
it, which can then always be done; to read one is to take it and then to give its slot back. So what
follows knows ordinary links and pools only. A script that reads an element of whatever kind may
give the kind a name, and write others of the same one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .language import Flow, Kind, Link, Pool, Step, StepKind, Task

__all__ = ["Misfit", "Parts", "is_one_kind", "is_slots", "sorted_out"]

MOST_STEPS = 1_000
"""Steps of one script that are written out; a design may have fewer, as its reader tells."""


class Misfit(Exception):
    """What has to do with kinds and does not fit: the link, the task or the step, what is wrong,
    and what to do about it."""

    def __init__(self, at: Link | Task | Step, what: str, next_step: str) -> None:
        super().__init__(what)
        self.spot, self.what, self.next_step = at.spot, what, next_step


@dataclass(frozen=True)
class Parts:
    """The tasks, links and pools of a design."""

    tasks: Mapping[str, Task]
    links: Mapping[str, Link]
    pools: Mapping[str, Pool]


def sorted_out(parts: Parts) -> Parts:
    """The same without kinds. Raises Misfit for the first thing that cannot be written out."""
    mixed = {name: link for name, link in parts.links.items() if link.kinds}
    for link in mixed.values():
        _check(link)
    tasks = {}
    for name, task in parts.tasks.items():
        own = {n: link for n, link in mixed.items() if name in (*link.writers, *link.readers)}
        script = _script(task, own, parts.links) if own else task
        writer = _Writer(own)
        tasks[name] = replace(script, steps=tuple(writer.steps(script.steps, {})))
    links: dict[str, Link] = {}
    pools = dict(parts.pools)
    for name, link in parts.links.items():
        if name not in mixed:
            links[name] = link
            continue
        for kind in link.kinds:
            links[_of(name, kind)] = _one_kind(link, kind, tasks)
        if link.capacity is not None:
            pools[_slots(name)] = Pool(_slots(name), link.capacity, link.spot)
    return Parts(tasks, links, pools)


def _of(link: str, kind: str) -> str:
    """The link of one kind; no name in a design has brackets of this sort."""
    return f"{link} ({kind})"


def is_one_kind(link: str) -> bool:
    """Whether a link is what was written out for one kind of another."""
    return link.endswith(")")


def _slots(link: str) -> str:
    return f"{link} (slots)"


def is_slots(pool: str) -> bool:
    """Whether a pool is what was written out for the free slots of a link with kinds."""
    return pool.endswith(" (slots)")


def _one_kind(link: Link, kind: str, tasks: Mapping[str, Task]) -> Link:
    name = _of(link.name, kind)
    used = {(action.kind, task.name) for task in tasks.values() for action in task.actions
            if action.target == name}
    return replace(
        link, name=name, kinds=(),
        writers=tuple(each for each in link.writers if (StepKind.WRITE, each) in used),
        readers=tuple(each for each in link.readers if (StepKind.READ, each) in used))


def _check(link: Link) -> None:
    plain = replace(link, kinds=(), flow=Flow.BLOCKING, capacity=1)
    if link.flow not in (Flow.BLOCKING, Flow.UNBOUNDED) or link.capacity == 0 or plain != Link(
            link.name, link.writers, link.readers, link.spot):
        raise Misfit(link, f"link {link.name!r} has kinds, so it must be a blocking or unbounded "
                     "one with room, that is empty at the start and moves single elements",
                     "Remove its other keys.")
    if not (link.writers and link.readers):
        raise Misfit(link, f"link {link.name!r} has kinds, so it needs somebody at both ends",
                     "Name a task in `from` and in `to`.")


def _script(task: Task, own: Mapping[str, Link], links: Mapping[str, Link]) -> Task:
    """The task as a script, if it has the same steps each time."""
    reads = [name for name, link in links.items() if task.name in link.readers]
    writes = [name for name, link in links.items() if task.name in link.writers]
    if task.kind is Kind.SCRIPT:
        return task
    if task.kind is Kind.SOURCE and len(writes) == 1:
        steps = [Step(StepKind.WRITE, writes[0], spot=task.spot)]
    elif task.kind is Kind.SINK and not task.pool:
        steps = [Step(StepKind.EITHER, spot=task.spot, branches=tuple(
            (Step(StepKind.READ, name, spot=task.spot),) for name in reads))]
    else:
        raise Misfit(task, f"the {task.kind.value} {task.name!r} is tied to {next(iter(own))!r}, "
                     "which has kinds", "Make it a script: that says which kind it reads and "
                     "writes. (A source with one link may be tied to it, and a sink without a "
                     "pool.)")
    return replace(task, kind=Kind.SCRIPT, steps=tuple(steps))


Names = Mapping[str, str]
"""The kinds that a script has given a name to."""


class _Writer:
    """Writes out the steps of one task, which has these links with kinds."""

    def __init__(self, links: Mapping[str, Link]) -> None:
        self.links = links
        self.written = 0

    def steps(self, steps: Sequence[Step], known: Names) -> Iterator[Step]:
        """The same steps; behind a read that names the kind, once for each kind."""
        for number, step in enumerate(steps):
            self._count(step)
            if not step.named:
                yield from self._step(step, known)
                continue
            link = self._link(step)
            after = steps[number + 1:]
            yield Step(StepKind.EITHER, spot=step.spot, final=step.final, branches=tuple(
                (*self._read(step, link, kind),
                 *self.steps(after, {**known, step.named: kind})) for kind in link.kinds))
            return

    def _count(self, step: Step) -> None:
        self.written += 1
        if self.written > MOST_STEPS:
            raise Misfit(step, f"for each of its kinds the script has more than {MOST_STEPS} steps "
                         "in all", "Use fewer kinds, or fewer steps behind the one that names "
                         "them.")

    def _link(self, step: Step) -> Link:
        if step.target not in self.links:
            raise Misfit(step, f"{step.target!r} has no kinds", "Remove `of` and `as`, or give the "
                         "link `kinds:`.")
        return self.links[step.target]

    def _step(self, step: Step, known: Names) -> Iterator[Step]:
        if step.kind in (StepKind.EITHER, StepKind.BRANCH):
            branches = [way for branch in step.branches for way in self._branch(
                branch, known, step.kind is StepKind.EITHER)]
            yield replace(
                step, branches=tuple(branches),
                timeout=None if step.timeout is None else tuple(self.steps(step.timeout, known)),
                otherwise=None if step.otherwise is None else tuple(
                    self.steps(step.otherwise, known)))
        elif step.target in self.links or step.of:
            link = self._link(step)
            for _ in range(step.count):
                self._count(step)
                yield from self._once(step, link, self._kinds(step, link, known))
        else:
            yield step

    def _branch(
        self, branch: Sequence[Step], known: Names, selects: bool
    ) -> Iterator[tuple[Step, ...]]:
        """A branch; one that waits for an element of several kinds is one for each."""
        found = tuple(self.steps(branch, known))
        first = found[0] if found else None
        own = branch[0].kind not in (StepKind.EITHER, StepKind.BRANCH) if branch else False
        if selects and own and first is not None and first.kind is StepKind.EITHER:
            yield from ((*way, *found[1:]) for way in first.branches)
        else:
            yield found

    def _once(self, step: Step, link: Link, kinds: Sequence[str]) -> Iterator[Step]:
        if step.kind is StepKind.READ:
            ways = tuple(tuple(self._read(step, link, kind)) for kind in kinds)
            yield from ways[0] if len(ways) == 1 else [
                Step(StepKind.EITHER, branches=ways, spot=step.spot, final=step.final)]
            return
        if link.capacity is not None:
            yield Step(StepKind.ACQUIRE, _slots(link.name), spot=step.spot, final=step.final)
        ways = tuple((replace(step, target=_of(link.name, kind), count=1, of="", final=False),)
                     for kind in kinds)
        yield ways[0][0] if len(ways) == 1 else Step(
            StepKind.BRANCH, branches=ways, spot=step.spot)

    def _read(self, step: Step, link: Link, kind: str) -> Iterator[Step]:
        yield replace(step, target=_of(link.name, kind), count=1, of="", named="")
        if link.capacity is not None:
            yield Step(StepKind.RELEASE, _slots(link.name), spot=step.spot)

    def _kinds(self, step: Step, link: Link, known: Names) -> Sequence[str]:
        """The kinds that a step may be about."""
        if not step.of:
            return link.kinds
        kind = known.get(step.of, step.of)
        if kind not in link.kinds:
            raise Misfit(step, f"{link.name!r} has no elements of kind {kind!r}",
                         f"Its kinds are: {', '.join(link.kinds)}.")
        return (kind,)
