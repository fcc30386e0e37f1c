"""A script as transitions from one position to the next.

The position of a script counts the steps that are left in its text, with those in branches counted
in the order in which they stand: the first step has the largest number, and 0 is behind the last.
(Steps at which it may wait forever come last in that order, wherever they stand.) An ``either``
stands at one position, from which the first step of each branch leads on; what the first step
leaves to do has positions of its own. A ``repeat`` stands at one position too, from which its
first step follows; what ends a round leads back to that step, or on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .language import CHOICES, Step, StepKind, Task

__all__ = ["Positions", "Round", "ScriptTransition", "Unclear", "held_at", "length", "program"]


@dataclass(frozen=True)
class Round:
    """A change of the rounds that a ``repeat`` has done, which is step ``loop`` in the text, of
    ``times`` rounds: it begins with ``done`` of them, or one more is done, after which it continues
    (``last``) or round again."""

    loop: int
    times: int
    done: int | None = None
    last: bool = False


@dataclass(frozen=True)
class ScriptTransition:
    """From position ``at`` to ``to`` (0: the end of the round), by doing ``step``, or silently, in
    ``words``. It is possible only where none of the steps ``unless`` is. A script may stay at
    ``at`` forever if that is ``final``; ``number`` is that of the step there in the text, from 1.
    ``rounds`` are changes of the rounds that are done, ``freed`` what it gives back to each pool.
    """

    at: int
    to: int
    step: Step | None = None
    words: str = ""
    unless: tuple[Step, ...] = ()
    final: bool = False
    number: int = 0
    rounds: tuple[Round, ...] = ()
    freed: tuple[tuple[str, int], ...] = ()


Exits = tuple[tuple[int, tuple[Round, ...]], ...]
"""The positions behind some steps, each with the rounds that are done on the way there."""


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
        found = list(_Text(total).transitions(steps, total, ((0, ()),)))
        if task.cancelled_by:
            found += _cancellations(task, total)
        finals = {transition.at for transition in found if transition.final}
        ranked = sorted(range(1, total + 1), key=lambda at: (at not in finals, at))
        new = {0: 0, **{at: rank for rank, at in enumerate(ranked, start=1)}}
        return Positions(tuple(
            replace(transition, at=new[transition.at], to=new[transition.to],
                    number=total - transition.at + 1)
            for transition in found), new[total], total, len(finals))


def _cancellations(task: Task, total: int) -> Iterator[ScriptTransition]:
    """From each position but the last to the last, once it is cancelled."""
    wanted = Step(StepKind.ACQUIRE, task.cancelled_by)
    for at, held in held_at(task.steps, total).items():
        if at > 1:
            yield ScriptTransition(at, 1, words="is cancelled", unless=(wanted,),
                                   freed=tuple((pool, n) for pool, n in held.items() if n))


Held = Mapping[str, int]
"""By pool, what a script has acquired of it and not yet released."""


class Unclear(Exception):
    """The permits that a script holds behind a ``step`` depend on the way that it has taken."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step


def held_at(steps: Sequence[Step], total: int) -> dict[int, Held]:
    """The permits that a script holds at each of its positions. Raises Unclear where these are not
    always the same."""
    found: dict[int, Held] = {}
    _hold(steps, total, {}, found)
    return found


def _hold(steps: Sequence[Step], at: int, held: Held, found: dict[int, Held]) -> Held:
    """Note what is held at the positions of these steps, and return what is held behind them."""
    for step in steps:
        found[at] = held
        if step.kind in (StepKind.ACQUIRE, StepKind.RELEASE):
            held = _after(step, held)
        inner, behind = at - 1, []
        for branch in step.branches:
            first = _parted(branch) if step.kind is StepKind.EITHER else None
            rest = first[1] if first else branch
            before = _after(first[0], held) if first else held
            behind.append(_hold(rest, inner, before, found))
            inner -= length(rest)
        for way in (step.timeout, step.otherwise):
            if way is not None:
                behind.append(_hold(way, inner, held, found))
                inner -= length(way)
        if step.kind is StepKind.REPEAT or step.loops:
            behind.append(held)  # else it would hold more with every round
        if any(_whole(each) != _whole(behind[0]) for each in behind):
            raise Unclear(step)
        held = behind[0] if behind else held
        at -= _length(step)
    return held


def _after(step: Step, held: Held) -> Held:
    if step.kind not in (StepKind.ACQUIRE, StepKind.RELEASE):
        return held
    by = step.count if step.kind is StepKind.ACQUIRE else -step.count
    return {**held, step.target: held.get(step.target, 0) + by}


def _whole(held: Held) -> Held:
    return {pool: n for pool, n in held.items() if n}


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
    repeated, the other times are; of a read of several at once, its rounds.
    """
    first, *rest = branch
    if first.up_to and first.branches:
        return replace(first, branches=()), (
            Step(StepKind.REPEAT, count=first.up_to, branches=first.branches, spot=first.spot),
            *rest)
    if first.count > 1 and first.kind in (StepKind.READ, StepKind.WRITE):
        return replace(first, count=1), (replace(first, count=first.count - 1), *rest)
    return first, tuple(rest)


class _Text:
    """The text of a script, of so many positions."""

    def __init__(self, total: int) -> None:
        self.total = total

    def transitions(self, steps: Sequence[Step], at: int, after: Exits
                    ) -> Iterator[ScriptTransition]:
        """The transitions of steps of which the first stands at ``at``, and behind which are
        ``after``."""
        for number, step in enumerate(steps):
            last = number == len(steps) - 1
            yield from self._of(step, at, after if last else ((at - _length(step), ()),))
            at -= _length(step)

    def _of(self, step: Step, at: int, following: Exits) -> Iterator[ScriptTransition]:
        if step.kind is StepKind.REPEAT:
            yield from self._repeat(step, at, following)
        elif step.kind in CHOICES:
            yield from self._choice(step, at, following)
        else:
            yield from _each(ScriptTransition(at, 0, step, final=step.final), following)

    def _choice(self, step: Step, at: int, following: Exits) -> Iterator[ScriptTransition]:
        """The transitions of a choice: into each branch, by its first step or by chance, and of its
        timeout or otherwise."""
        inner = at - 1
        selects = step.kind is StepKind.EITHER
        for number, branch in enumerate(step.branches, start=1):
            rest = _parted(branch)[1] if selects else branch
            behind: Exits = ((at, ()),) if step.loops else following
            here: Exits = ((inner, ()),) if rest else behind
            if selects:
                for first, to in self._firsts(branch, inner, here):
                    yield from _each(ScriptTransition(at, 0, first, final=step.final), to)
            else:
                yield from _each(ScriptTransition(at, 0, words=_decision(branch, number)), here)
            yield from self.transitions(rest, inner, behind)
            inner -= length(rest)
        firsts = tuple(_parted(branch)[0] for branch in step.branches) if selects else ()
        for words, then, unless in (("times out", step.timeout, ()),
                                    (_otherwise(step), step.otherwise, (*firsts, *step.besides))):
            if then is not None:
                yield from _each(ScriptTransition(at, 0, words=words, unless=unless),
                                 ((inner, ()),) if then else following)
                yield from self.transitions(then, inner, following)
                inner -= length(then)

    def _firsts(self, branch: Sequence[Step], inner: int, here: Exits
                ) -> Iterator[tuple[Step, Exits]]:
        """The ways to begin a branch, and where each leads: a read of up to so many elements is one
        for each number of them, and leaves as many rounds to do."""
        first, _ = _parted(branch)
        if not first.up_to:
            yield first, here
            return
        for number in range(1, first.up_to + 1):
            begun = Round(self._number(inner), first.up_to, done=first.up_to - number)
            once = replace(first, up_to=0, at_once=number)
            yield once, ((inner - 1, (begun,) if first.up_to > 1 else ()),) if (
                branch[0].branches) else here

    def _repeat(self, step: Step, at: int, following: Exits) -> Iterator[ScriptTransition]:
        (body,), loop = step.branches, self._number(at)
        begun = (Round(loop, step.count, done=0),) if step.count > 1 else ()
        yield ScriptTransition(at, at - 1, words="begins to repeat", rounds=begun)
        again: Exits = ((at - 1, (Round(loop, step.count),) if step.count else ()),)
        last = tuple((to, (Round(loop, step.count, last=True), *rounds))
                     for to, rounds in following)
        after = again if not step.count else following if step.count == 1 else (*again, *last)
        yield from self.transitions(body, at - 1, after)

    def _number(self, at: int) -> int:
        return self.total - at + 1


def _each(transition: ScriptTransition, to: Exits) -> Iterator[ScriptTransition]:
    for position, rounds in to:
        yield replace(transition, to=position, rounds=rounds)


def _otherwise(step: Step) -> str:
    """The words for the way on where no branch of an ``either`` can begin."""
    joins = not step.branches and step.besides
    return "continues" if joins else "finds it closed" if step.besides else "does not wait"


def _decision(branch: Sequence[Step], number: int) -> str:
    if not branch:
        return f"takes branch {number}: nothing to do"
    first = branch[0]
    line = f" (line {first.spot.line})" if first.spot.line else ""
    what = f": {_VERBS[first.kind]} {first.target}" if first.target else ""
    return f"takes branch {number}{line}{what}"


_VERBS = {StepKind.WRITE: "write to", StepKind.READ: "read from", StepKind.ACQUIRE: "acquire",
          StepKind.RELEASE: "release"}
