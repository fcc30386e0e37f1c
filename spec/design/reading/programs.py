"""A script as transitions from one position to the next.

The position of a script counts the steps that are left in its text, with those in branches counted
in the order in which they stand: the first step has the largest number, and 0 is behind the last.
(Steps at which it may wait forever come last in that order, wherever they stand.) An ``either``
stands at one position, from which the first step of each branch leads on; what the first step
leaves to do has positions of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .language import Step, StepKind, Task

__all__ = ["Positions", "ScriptTransition", "length", "program"]


@dataclass(frozen=True)
class ScriptTransition:
    """From position ``at`` to ``to`` (0: the end of the round), by doing ``step``, or silently, in
    ``words``. It is possible only where none of the steps ``unless`` is. A script may stay at
    ``at`` forever if that is ``final``; ``number`` is that of the step there in the text, from 1.
    """

    at: int
    to: int
    step: Step | None = None
    words: str = ""
    unless: tuple[Step, ...] = ()
    final: bool = False
    number: int = 0


def program(task: Task) -> tuple[Step, ...]:
    """A script's steps with those that take its thread and give it back."""
    if not task.pool:
        return task.steps
    (pool,) = task.pool
    return Step(StepKind.ACQUIRE, pool), *task.steps, Step(StepKind.RELEASE, pool)


def length(steps: Sequence[Step]) -> int:
    """Number of positions that these steps have."""
    return sum(map(_length, steps))


@dataclass(frozen=True)
class Positions:
    """A script with its positions: it begins at ``start`` and may stay forever in those up to
    ``rest``, of which 0 is its end.
    """

    transitions: tuple[ScriptTransition, ...]
    start: int
    total: int
    rest: int

    @staticmethod
    def of(task: Task) -> Positions:
        """Every transition of a script, in the order of its text. Final positions get the smallest
        numbers, so that "the script may end here" is a comparison with one number.
        """
        steps = program(task)
        total = length(steps)
        found = list(_transitions(steps, total, 0))
        finals = {transition.at for transition in found if transition.final}
        ranked = sorted(range(1, total + 1), key=lambda at: (at not in finals, at))
        new = {0: 0, **{at: rank for rank, at in enumerate(ranked, start=1)}}
        return Positions(tuple(
            replace(transition, at=new[transition.at], to=new[transition.to],
                    number=total - transition.at + 1)
            for transition in found), new[total], total, len(finals))


def _length(step: Step) -> int:
    return 1 + sum(map(length, _inner(step)))


def _inner(step: Step) -> Iterator[tuple[Step, ...]]:
    """The steps that have positions of their own, branch by branch."""
    if step.kind is StepKind.EITHER:
        yield from (_parted(branch)[1] for branch in step.branches)
    else:
        yield from step.branches
    yield step.timeout or ()
    yield step.otherwise or ()


def _parted(branch: Sequence[Step]) -> tuple[Step, tuple[Step, ...]]:
    """The step that is done first and at once, and the steps that are left then: of a step that is
    repeated, the other times are.
    """
    first, *rest = branch
    if first.count > 1 and first.kind in (StepKind.READ, StepKind.WRITE):
        return replace(first, count=1), (replace(first, count=first.count - 1), *rest)
    return first, tuple(rest)


def _transitions(steps: Sequence[Step], at: int, after: int) -> Iterator[ScriptTransition]:
    """The transitions of steps of which the first stands at ``at``, and behind which is ``after``.

    """
    for number, step in enumerate(steps):
        following = after if number == len(steps) - 1 else at - _length(step)
        yield from _of(step, at, following)
        at -= _length(step)


def _of(step: Step, at: int, following: int) -> Iterator[ScriptTransition]:
    if step.kind not in (StepKind.EITHER, StepKind.BRANCH):
        yield ScriptTransition(at, following, step, final=step.final)
        return
    inner = at - 1
    selects = step.kind is StepKind.EITHER
    for number, branch in enumerate(step.branches, start=1):
        rest = _parted(branch)[1] if selects else branch
        to = inner if rest else following
        if selects:
            yield ScriptTransition(at, to, _parted(branch)[0], final=step.final)
        else:
            yield ScriptTransition(at, to, words=_decision(branch, number))
        yield from _transitions(rest, inner, following)
        inner -= length(rest)
    firsts = tuple(_parted(branch)[0] for branch in step.branches) if selects else ()
    for words, then, unless in (("times out", step.timeout, ()),
                                ("does not wait", step.otherwise, firsts)):
        if then is not None:
            yield ScriptTransition(at, inner if then else following, words=words, unless=unless)
            yield from _transitions(then, inner, following)
            inner -= length(then)


def _decision(branch: Sequence[Step], number: int) -> str:
    if not branch:
        return f"takes branch {number}: nothing to do"
    first = branch[0]
    line = f" (line {first.spot.line})" if first.spot.line else ""
    what = f": {_VERBS[first.kind]} {first.target}" if first.target else ""
    return f"takes branch {number}{line}{what}"


_VERBS = {StepKind.WRITE: "write to", StepKind.READ: "read from", StepKind.ACQUIRE: "acquire",
          StepKind.RELEASE: "release"}
