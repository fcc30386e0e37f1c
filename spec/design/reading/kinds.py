"""Queues with elements of several kinds, written out as links that share their slots.

A link with ``kinds`` is, for each kind, a link of the elements of that kind, and for all of them
together a pool: its free slots, of which a write takes one and a read gives one back, in the same
move. A script says which kinds it reads and writes, and may give a kind that it has read a name.
Any other task passes an element on as what it is (see ``translate``): here it is only asked whether
it can. So what follows knows links of one kind only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .language import CHOICES, Flow, Kind, Link, Pool, Step, StepKind, Taking, Task
from .schema import suggest

__all__ = ["Misfit", "Parts", "as_script", "is_one_kind", "is_slots", "slots_of", "sorted_out"]

MOST_STEPS = 1_000
"""Steps of one script that are written out; a design may have fewer, which its reader checks."""


class Misfit(Exception):
    """An error about kinds: the link, the task or the step, what is wrong, and what to do about it.

    """

    def __init__(self, at: Link | Task | Step, what: str, next_step: str) -> None:
        super().__init__(what)
        self.spot, self.what, self.next_step = at.spot, what, next_step


@dataclass(frozen=True)
class Parts:
    """The tasks, links and pools of a design."""

    tasks: Mapping[str, Task]
    links: Mapping[str, Link]
    pools: Mapping[str, Pool]


Used = set[tuple[StepKind, str, str]]
"""Tasks that read or write the link of one kind, as (step, task, link)."""


def sorted_out(parts: Parts, watch: Callable[[], object] = lambda: None) -> Parts:
    """The same without kinds. Raises Misfit for the first thing that cannot be written out.
    ``watch`` is called for each task and link, and may raise."""
    mixed = {name: link for name, link in parts.links.items() if link.kinds}
    at: dict[str, dict[str, Link]] = {}     # by task, those of its links that have kinds
    for link_name, link in mixed.items():
        watch()
        _check(link)
        for end in (*link.writers, *link.readers):
            at.setdefault(end, {})[link_name] = link
    tasks: dict[str, Task] = {}
    used: Used = set()
    for name, task in parts.tasks.items():
        watch()
        own = at.get(name, {})
        script = _script(task, own, parts.links) if own else task
        if own and script.kind is not Kind.SCRIPT:
            tasks[name] = task
            used.update(_Passing(task, own, parts.links).used())
            continue
        writer = _Writer(own)
        tasks[name] = replace(script, steps=tuple(writer.steps(script.steps, {})))
        used.update((action.kind, name, action.target) for action in tasks[name].actions)
    links: dict[str, Link] = {}
    pools = dict(parts.pools)
    for name, link in parts.links.items():
        watch()
        if name not in mixed:
            links[name] = link
            continue
        for kind in link.kinds:
            links[_of(link, kind)] = _one_kind(link, kind, used)
        if _is_shared(link):
            pools[_slots(name)] = Pool(_slots(name), link.capacity or 0, link.spot)
    return Parts(tasks, links, pools)


def _of(link: Link, kind: str) -> str:
    """The link of one kind; no name in a design has brackets of this sort."""
    return f"{link.name} ({kind})" if len(link.kinds) > 1 else link.name


def is_one_kind(link: str) -> bool:
    """True if a link is what was written out for one kind of another."""
    return link.endswith(")")


def _is_shared(link: Link) -> bool:
    """True if elements of several kinds share the slots of a link."""
    return len(link.kinds) > 1 and link.capacity is not None


def _slots(link: str) -> str:
    return f"{link} (slots)"


def is_slots(pool: str) -> bool:
    """True if a pool is what was written out for the free slots of a link with kinds."""
    return pool.endswith(" (slots)")


def slots_of(pool: str) -> str:
    """The link of which a pool is the free slots."""
    return pool.removesuffix(" (slots)")


def _one_kind(link: Link, kind: str, used: Used) -> Link:
    name = _of(link, kind)
    return replace(
        link, name=name, kinds=(), kind=kind, of="" if name == link.name else link.name,
        room=_slots(link.name) if _is_shared(link) else "",
        writers=tuple(each for each in link.writers if (StepKind.WRITE, each, name) in used),
        readers=tuple(each for each in link.readers if (StepKind.READ, each, name) in used))


def _check(link: Link) -> None:
    """Raise ``Misfit`` for a link of several kinds that is not a plain one."""
    if not (link.writers and link.readers):
        raise Misfit(link, f"link {link.name!r} has kinds, so it needs a task at both ends",
                     "Name a task in `from` and in `to`.")
    twice = next((each for n, each in enumerate(link.kinds) if each in link.kinds[:n]), None)
    if twice is not None:
        raise Misfit(link, f"link {link.name!r} names the kind {twice!r} twice", "Name it once.")
    if len(link.kinds) == 1:
        return  # it is a link like any other
    if link.flow is Flow.BLOCKING and link.capacity == 0:
        raise Misfit(link, f"link {link.name!r} has several kinds and capacity 0",
                     "Give it a capacity of 1 or more.")
    plain = replace(link, kinds=(), flow=Flow.BLOCKING, capacity=1, group="", taking=Taking.ANY)
    if link.flow not in (Flow.BLOCKING, Flow.UNBOUNDED) or plain != Link(
            link.name, link.writers, link.readers, link.spot):
        raise Misfit(link, f"link {link.name!r} has several kinds, so it must be a blocking or "
                     "unbounded one with room, that is empty at the start and moves single "
                     "elements", "Remove its other keys.")
    if link.taking is Taking.HEAD and link.capacity is None:
        raise Misfit(link, f"link {link.name!r} has no bound, so an element has no known place "
                     "in it", "Give it a capacity, or remove `take`.")


def _script(task: Task, own: Mapping[str, Link], links: Mapping[str, Link]) -> Task:
    """A source with one link, or a sink, as a script; any other task as it is."""
    if task.kind in (Kind.TRANSITION, Kind.CALL):
        raise Misfit(task, f"the {task.kind.value} {task.name!r} is tied to {next(iter(own))!r}, "
                     "which has kinds", "Make it a script: that says which kind it reads and "
                     "writes.")
    return as_script(task, links)


def as_script(task: Task, links: Mapping[str, Link]) -> Task:
    """A source with one link, or a sink, as a script; any other task as it is."""
    reads = [name for name, link in links.items() if task.name in link.readers]
    writes = [name for name, link in links.items() if task.name in link.writers]
    if task.kind is Kind.SOURCE and len(writes) == 1 and not task.pool:
        steps = [Step(StepKind.WRITE, writes[0], spot=task.spot)]
    elif task.kind is Kind.SINK and not task.pool:
        steps = [Step(StepKind.EITHER, spot=task.spot, branches=tuple(
            (Step(StepKind.READ, name, spot=task.spot),) for name in reads))]
    else:
        return task
    return replace(task, kind=Kind.SCRIPT, steps=tuple(steps))


# --- tasks that pass elements on ----------------------------------------------------------------

@dataclass(frozen=True)
class _Passing:
    """A task that is no script, and its links with kinds: an element continues as what it is."""

    task: Task
    own: Mapping[str, Link]
    links: Mapping[str, Link]

    def used(self) -> Iterator[tuple[StepKind, str, str]]:
        """The links of one kind that it reads and writes. Raises Misfit where an element of some
        kind cannot continue.
        """
        task = self.task
        reads = [link for link in self.links.values() if task.name in link.readers]
        writes = [link for link in self.links.values() if task.name in link.writers]
        kinds = {kind: None for link in reads for kind in link.kinds or ("",)} or {"": None}
        for link in reads:
            yield from ((StepKind.READ, task.name, _of(link, kind)) for kind in link.kinds)
        if task.kind is Kind.ZIP:  # it makes one of several, of whatever kind
            kinds = {"": None}
        for kind in kinds:
            able = [link for link in writes if _carries(link, kind)]
            self._goes_on(kind, writes, able)
            for link in able:
                yield from ((StepKind.WRITE, task.name, _of(link, each)) for each in link.kinds
                            if kind in ("", each))

    def _goes_on(self, kind: str, writes: Sequence[Link], able: Iterable[Link]) -> None:
        """A route sends an element to one of the links that have its kind, another task to all."""
        task, one_is_enough = self.task, self.task.kind in (Kind.ROUTE, Kind.SINK)
        found = list(able)
        grouped = {link.group for link in found if link.group}
        lacking = [link for link in writes if link not in found and link.group not in grouped]
        if not lacking or (one_is_enough and found):
            return
        raise Misfit(task, f"the {task.kind.value} {task.name!r} reads elements of kind {kind!r}, "
                     f"which {' and '.join(repr(link.name) for link in lacking)} cannot carry",
                     "Add the kind to the link's `kinds`, or make it a route, which sends each "
                     "element to a link that has its kind.")


def _carries(link: Link, kind: str) -> bool:
    return not link.kinds or not kind or kind in link.kinds


# --- scripts ------------------------------------------------------------------------------------

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
                (self._single(step, link, kind),
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
        """The steps in place of one: a read or write of several kinds once for each element."""
        if step.kind in CHOICES:
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
                yield self._once(step, link, self._kinds(step, link, known))
        else:
            yield step

    def _branch(
        self, branch: Sequence[Step], known: Names, selects: bool
    ) -> Iterator[tuple[Step, ...]]:
        """A branch; one that waits for an element of several kinds is one for each."""
        found = tuple(self.steps(branch, known))
        first = found[0] if found else None
        own = branch[0].kind not in CHOICES if branch else False
        if selects and own and first is not None and first.kind is StepKind.EITHER:
            yield from ((*way, *found[1:]) for way in first.branches)
        else:
            yield found

    def _once(self, step: Step, link: Link, kinds: Sequence[str]) -> Step:
        """One read, or one write, of an element of one of these kinds: there is room for an element
        of each kind, or of none, so the kind that is written may be decided when there is."""
        ways = tuple((self._single(step, link, kind),) for kind in kinds)
        return ways[0][0] if len(ways) == 1 else Step(
            StepKind.EITHER, branches=ways, spot=step.spot, final=step.final)

    def _single(self, step: Step, link: Link, kind: str) -> Step:
        return replace(step, target=_of(link, kind), count=1, of="", named="")

    def _kinds(self, step: Step, link: Link, known: Names) -> Sequence[str]:
        """The kinds that a step may be about."""
        if not step.of:
            return link.kinds
        kind = known.get(step.of, step.of)
        if kind not in link.kinds:
            raise Misfit(step, f"{link.name!r} has no elements of kind {kind!r}",
                         suggest(kind, link.kinds) or f"Its kinds are: {', '.join(link.kinds)}.")
        return (kind,)
