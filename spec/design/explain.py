"""A trace, and the cycles of the wait-for graph, in the words of the design."""

from __future__ import annotations

from collections.abc import Mapping

from ..engines.verdict import Trace
from .language import Design, Kind, Step, StepKind, Task
from .rows import Place, Table
from .stuck import Blocked
from .translate import own_place, position_of, program
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


def _told(design: Design, task: str, place: Place, few: bool) -> Blocked:
    """The wait for one place, in whatever state it is."""
    if place.role == "pool" and few:
        return Blocked(task, "a thread", place.of, tuple(
            user.name for user in design.tasks.values()
            if _can_give_back(user, place.of, None)
        ))
    if place.role == "pool":  # it gives back what it has not taken
        return Blocked(task, "an acquire", place.of, tuple(
            user.name for user in design.tasks.values()
            if place.of in user.pool or any(_taken(step, place.of) > 0 for step in user.steps)
        ))
    link = design.links[place.of]
    if place.role == "queue" and few:
        return Blocked(task, "data", link.name, link.writers)
    return Blocked(task, "room", link.name, link.readers)


def _can_give_back(task: Task, pool: str, marking: Mapping[str, int] | None) -> bool:
    """Whether a task holds threads of a pool (or, without a marking, ever does)."""
    if task.kind is Kind.SCRIPT:
        steps = program(task)
        done = len(steps) if marking is None else len(steps) - marking[position_of(task)]
        held = sum(_taken(step, pool) for step in steps[:done])
        gives = any(_taken(step, pool) < 0 for step in steps)
        return gives and (marking is None or held > 0 or _only_gives(task, pool))
    if pool not in task.pool or task.kind is Kind.SINK:
        return False
    holding = tuple(own_place(task, what) for what in ("elements", "running", "blocked"))
    return marking is None or any(
        marking[place] > 0 for place in marking if place.startswith(holding)
    )


def helping(design: Design, table: Table) -> Helps:
    """Who can end a wait for a thread: only who holds one where it waits itself, or gives
    back what others have taken. Without this, each two tasks that use a lock would seem to
    wait for each other, and each task for itself.
    """
    places = {place.name: place for place in table.places}
    signalled = {
        pool for pool in design.pools for task in design.tasks.values()
        if task.kind is Kind.SCRIPT and _only_gives(task, pool)
    }

    def helps(wait: Wait, failure: Failure, other: Wait) -> bool:
        place = places[failure.place]
        if place.role != "pool":
            return True
        if not failure.few:  # who gives back what it holds always can
            return place.of in signalled
        return _may_give_back(design.tasks[other.agent], place.of, other)

    return helps


def _may_give_back(task: Task, pool: str, wait: Wait) -> bool:
    """Whether a task that waits like this may hold threads of a pool, or gives them anyway."""
    at = {place: (low, high) for place, low, high in wait.own}
    if task.kind is Kind.SCRIPT:
        return _can_give_back(task, pool, {position_of(task): at[position_of(task)][0]})
    in_hand = own_place(task, "elements")
    hands_known = [high for place, (_, high) in at.items() if place.startswith(in_hand)]
    return _can_give_back(task, pool, None) and (not hands_known or any(hands_known))


def _only_gives(task: Task, pool: str) -> bool:
    taken = [_taken(step, pool) for step in program(task)]
    return all(n <= 0 for n in taken) and any(n < 0 for n in taken)


def _taken(step: Step, pool: str) -> int:
    """How many threads of a pool a step takes (negative: gives back)."""
    if step.target != pool or step.kind not in (StepKind.ACQUIRE, StepKind.RELEASE):
        return 0
    return step.count if step.kind is StepKind.ACQUIRE else -step.count


def told_waits(design: Design, table: Table, cycle: Cycle) -> tuple[Blocked, ...]:
    """A cycle of the wait-for graph as waits of tasks, beginning with the first by name.

    What a credit link itself waits for is left out: its reader is named by the writer's wait.
    """
    places = {place.name: place for place in table.places}
    found = [
        _told(design, wait.agent, places[failure.place], failure.few)
        for wait, failure in zip(cycle.waits, cycle.followed, strict=True)
        if not wait.announces
    ]
    if not found:
        return ()
    start = min(range(len(found)), key=lambda i: (found[i].task, found[i].where, found[i].what))
    return tuple(found[start:] + found[:start])
