"""A trace, and the cycles of the wait-for graph, in the words of the design."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate

from ...verdicts.verdict import Trace
from ..net.lines import front
from ..net.rows import Place, Table
from ..net.builder import own_place
from ..reading.language import Design, Kind, Link, StepKind, Task
from ..reading.programs import program
from ..reading.signs import sign_of
from .ahead import Ahead
from .blocked import ENDS, FRONT, Blocked
from .waits import Cycle, Failure, Helps, Wait

__all__ = ["end_marking", "helping", "marking_of", "steps_of", "told_waits"]


def steps_of(table: Table, trace: Trace) -> list[str]:
    """The labels of a trace's steps."""
    return [table.row_of(step.action, step.args[0][1]).label for step in trace.steps]


def end_marking(table: Table, trace: Trace) -> dict[str, int]:
    """The number of tokens in each place after the last step."""
    last = trace.steps[-1].state if trace.steps else trace.initial
    return marking_of(table, last)


def marking_of(table: Table, state: Mapping[str, object]) -> dict[str, int]:
    """The number of tokens in each place of a state that an engine gave."""
    found = {}
    for index, place in enumerate(table.places):
        value = state[f"marking[{index}]"]
        assert isinstance(value, int)
        found[place.name] = value
    return found


def helping(design: Design, table: Table) -> Helps:
    """The predicate for tasks that can end a wait for threads: only a task that may hold one where
    it waits itself, or that gives back more than it takes. Without this, each two tasks that use a
    lock would seem to wait for each other, and each task for itself. To end a wait for an acquire,
    another task must take more than it gives."""
    places = {place.name: place for place in table.places}
    start = {place.name: place.start for place in table.places}
    overdrawn = {
        pool for pool in design.pools for task in design.tasks.values()
        if task.kind is Kind.SCRIPT and _gives_first(task, pool)
    }

    fronts = {place.name for place in table.places if place.name == front(place.of, _slot(place))}
    selective = set(_selective(design))

    def helps(wait: Wait, failure: Failure, other: Wait) -> bool:
        place, task = places[failure.place], design.tasks[other.agent]
        if place.role in ("line", "slot"):  # a task that takes the front of a queue moves it on
            return place.name in fronts and (wait.agent, place.of) in selective
        if place.role != "pool":
            return True
        if not failure.few and (wait.agent == other.agent or place.of not in overdrawn):
            return False
        if task.kind is Kind.CALL:
            return failure.few and _caller_holds(task, place.of, other)
        if task.kind is Kind.SCRIPT:
            there = {**start, **{own: low for own, low, _ in other.own}}
            return Ahead(table, there).gains(task.name, place.name, 1 if failure.few else -1)
        return not failure.few or _may_hold(task, place.of, other)

    return helps


def _slot(place: Place) -> int:
    return int(place.name.rpartition(" ")[2]) if place.role == "line" else 0


def _selective(design: Design) -> Iterator[tuple[str, str]]:
    """The tasks that read some kinds of a queue at its head and not all: another kind may stand
    there.
    """
    kinds: dict[str, list[Link]] = {}
    for link in design.links.values():
        if link.in_line and link.writers:
            kinds.setdefault(link.of, []).append(link)
    for queue, links in kinds.items():
        for task in dict.fromkeys(task for link in links for task in link.readers):
            if design.tasks[task].kind is Kind.SCRIPT or any(
                    task not in link.readers for link in links):
                yield task, queue


def _may_hold(task: Task, pool: str, wait: Wait) -> bool:
    """True if a task that waits like this may hold threads of a pool."""
    in_hand = own_place(task, "elements")
    hands = [high for place, _, high in wait.own if place.startswith(in_hand)]
    return pool in task.pool and task.kind is not Kind.SINK and (not hands or any(hands))


def _caller_holds(task: Task, pool: str, wait: Wait) -> bool:
    """True if a call that waits like this has callers that keep a thread of a pool meanwhile."""
    queued = {own_place(task, f"queued calls at level {level}"): level
              for level in range(1, task.depth + 1)}
    level = max((queued.get(place, 0) for place, _, _ in wait.own), default=0)
    return pool in task.pool[:max(0, level - 1)]


def _gives_first(task: Task, pool: str) -> bool:
    """True if a script gives back threads that it has not taken in the same round."""
    if task.chooses:
        return any(step.kind is StepKind.RELEASE and step.target == pool for step in task.actions)
    signs = {StepKind.ACQUIRE: 1, StepKind.RELEASE: -1}
    taken = (signs.get(step.kind, 0) * step.count for step in program(task) if step.target == pool)
    return min(accumulate(taken), default=0) < 0


def told_waits(design: Design, table: Table, cycle: Cycle) -> tuple[Blocked, ...]:
    """A cycle of the wait-for graph as waits of tasks, beginning with the first by name.

    What a credit link itself waits for is left out: its reader is named by the writer's wait.
    """
    places = {place.name: place for place in table.places}
    members = zip(cycle.waits, cycle.followed, (*cycle.waits[1:], *cycle.waits[:1]), strict=True)
    found = [
        _told(design, wait.agent, places[failure.place], failure.few, following.agent)
        for wait, failure, following in members if not wait.announces
    ]
    if not found:
        return ()
    start = min(range(len(found)), key=lambda i: (found[i].task, found[i].where, found[i].what))
    return tuple(found[start:] + found[:start])


def _told(design: Design, task: str, place: Place, few: bool, on: str) -> Blocked:
    """A wait of a cycle, which names only the next one of it."""
    if place.role == "pool":
        return Blocked(task, f"a {design.unit(place.of)}" if few else "an acquire", place.of, (on,))
    if place.role == "sign":
        end = ENDS.get(place.of.removeprefix(sign_of(place.of)), "an end")
        return Blocked(task, end, sign_of(place.of), (on,))
    if place.role in ("line", "slot"):
        return Blocked(task, FRONT, place.of, (on,))
    is_data = place.role == "queue" and few
    return Blocked(task, "data" if is_data else "room", place.of, (on,))
