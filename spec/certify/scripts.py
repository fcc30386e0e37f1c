"""The places of a script: how many its text has, and in which of them it may stay forever."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..design.reading.language import Step, StepKind, Task

__all__ = ["finals", "may_be_done", "positions", "singly"]


def may_be_done(task: Task) -> bool:
    """True if a task may have nothing to do any more."""
    return task.count is not None or bool(task.may.value) or any(finals(task.steps))


def finals(steps: Sequence[Step]) -> Iterator[bool]:
    """For each position of these steps, from the first on, whether a script may stay there."""
    for step in steps:
        yield step.final
        for branch in step.branches:
            yield from finals(singly(branch)[1:] if step.kind is StepKind.EITHER else branch)
        yield from finals(step.timeout or ())
        yield from finals(step.otherwise or ())


def singly(branch: Sequence[Step]) -> list[Step]:
    """A branch of which the first step is done once, and what is left of it afterwards."""
    first, *rest = branch
    if first.up_to and first.branches:
        return [replace(first, branches=()), Step(
            StepKind.REPEAT, count=first.up_to, branches=first.branches), *rest]
    if first.kind in (StepKind.READ, StepKind.WRITE) and first.count > 1:
        return [replace(first, count=1), replace(first, count=first.count - 1), *rest]
    return [first, *rest]


def positions(steps: Sequence[Step]) -> int:
    """In how many places a script can be that does these steps: one for each, but the beginning of
    a branch of ``either`` is where that stands itself."""
    count = 0
    for step in steps:
        count += 1 + positions(step.timeout or ()) + positions(step.otherwise or ())
        for branch in step.branches:
            count += positions(singly(branch)[1:] if step.kind is StepKind.EITHER else branch)
    return count
