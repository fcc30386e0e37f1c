"""Changes of the order in which scripts do their steps.

What one step of the file stands for is moved as one: what is repeated, or is of several kinds, may
be several steps, and what follows a read that names a kind is written out once for each kind. So a
step is known by its spot, and two steps change places wherever one stands before the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..reading.language import CHOICES, Design, Step, StepKind, Task
from ..reading.programs import program
from ..reading.signs import sign_of
from ..reading.source import NOWHERE, Spot
from ..why.findings import Edit
from .change import Change, Family, Scope, changed_tasks, shown

__all__ = ["lock_order", "step_order"]

LOCKS = (StepKind.ACQUIRE, StepKind.RELEASE)

Key = Spot | tuple[str, int]
"""Key of a step: its spot in the file; in a design without a file, its place."""


@dataclass(frozen=True)
class _Unit:
    """A step of the file in one of the places where it stands."""

    key: Key
    steps: tuple[Step, ...]

    @property
    def main(self) -> Step:
        """The step that the file has."""
        return self.steps[-1]

    @property
    def joins(self) -> bool:
        """True if it only waits for the end of a task."""
        return self.main.kind is StepKind.EITHER and not self.main.branches

    @property
    def lock(self) -> Step | None:
        """The acquire or release that it is, if it is one."""
        return self.main if self.main.kind in LOCKS else None

    @property
    def told(self) -> str:
        """The words for what the step does."""
        step = self.main
        if self.joins:
            return f"join {sign_of(step.besides[0].target)}"
        return f"{step.kind.value} {step.target}" + (f" x {step.count}" if step.count > 1 else "")


def lock_order(scope: Scope) -> Iterator[Change]:
    """Two acquires in the other order, or an acquire before the release that is its own; none
    of the two is released in between. A script's own thread is one of its locks."""
    for family in scope.tasks:
        for units in _sequences(family.first):
            for first, one in enumerate(units):
                for second in range(first + 1, len(units)):
                    if _out_of_order(units[first:second + 1]):
                        yield _swap(family, units, one, units[second])


def _out_of_order(units: Sequence[_Unit]) -> bool:
    one, other = units[0].lock, units[-1].lock
    if one is None or other is None or other.kind is not StepKind.ACQUIRE:
        return False
    between = {unit.lock.target for unit in units[1:-1]
               if unit.lock is not None and unit.lock.kind is StepKind.RELEASE}
    wanted = StepKind.RELEASE if one.target == other.target else StepKind.ACQUIRE
    return one.kind is wanted and not {one.target, other.target} & between


def step_order(scope: Scope) -> Iterator[Change]:
    """Two neighbouring steps in the other order."""
    for family in scope.tasks:
        for units in _sequences(family.first):
            for one, other in zip(units, units[1:], strict=False):
                own = bool(family.first.pool) and NOWHERE in (one.steps[0].spot,
                                                              other.steps[0].spot)
                plain = all(unit.main.kind not in CHOICES or unit.joins for unit in (one, other))
                if plain and not own and not (one.lock and other.lock) \
                        and one.steps != other.steps:
                    yield replace(_swap(family, units, one, other),
                                  costs=partial(_only_if, one, other))


def _only_if(one: _Unit, other: _Unit, _: int) -> str:
    """The condition that two neighbouring steps in the other order put on the program."""
    reads, writes = one.main.kind is StepKind.READ, other.main.kind is StepKind.WRITE
    if reads and writes:
        return (f"right only where what it writes to {other.main.target} does not depend on what "
                f"it reads from {one.main.target}")
    if one.lock and one.lock.kind is StepKind.ACQUIRE:
        return f"right only where it may {other.told} without {one.lock.target}"
    if other.lock and other.lock.kind is StepKind.RELEASE:
        return f"right only where it may {one.told} without {other.lock.target}"
    return "it costs nothing, if the program allows that order"


def _sequences(task: Task) -> list[list[_Unit]]:
    """Steps that follow each other: those of the script, and those of each branch, without what a
    branch of an ``either`` waits for. What stands in several places is listed once."""
    found: dict[tuple[Key, ...], list[_Unit]] = {}

    def visit(steps: Sequence[Step], path: str, guarded: bool) -> None:
        units = [unit for unit in _units(steps, path) if not unit.main.words]
        found.setdefault(tuple(unit.key for unit in units), units[guarded:])
        for place, step in enumerate(steps):
            for number, branch in enumerate(_branches(step)):
                visit(branch, f"{path}.{place}.{number}",
                      step.kind is StepKind.EITHER and number < len(step.branches))

    if task.steps:
        visit(task.steps if task.chooses else program(task), "", False)
    return list(found.values())


def _branches(step: Step) -> list[tuple[Step, ...]]:
    return [*step.branches, *(each for each in (step.timeout, step.otherwise) if each is not None)]


def _units(steps: Sequence[Step], path: str) -> list[_Unit]:
    """The steps, those of one spot together."""
    found: list[_Unit] = []
    for place, step in enumerate(steps):
        key: Key = (path, place) if step.spot == NOWHERE else step.spot
        if found and found[-1].key == key:
            found[-1] = _Unit(key, (*found[-1].steps, step))
        else:
            found.append(_Unit(key, (step,)))
    return found


# --- changing places ------------------------------------------------------------------------

def _swap(family: Family[Task], units: Sequence[_Unit], one: _Unit, other: _Unit) -> Change:
    """The change that lets tasks of a family do two units of their steps in the other order; a
    pool that a task declares becomes steps then."""
    after = [other if unit is one else one if unit is other else unit for unit in units]
    own = bool(family.first.pool) and NOWHERE in (one.steps[0].spot, other.steps[0].spot)
    name, steps = family.told, ", ".join(unit.told for unit in after)
    of = shown(family)

    def change(task: Task) -> Task:
        if not own:
            return replace(task, steps=_swapped(task.steps, "", one.key, other.key))
        steps = _swapped(program(task), "", one.key, other.key)
        return replace(task, steps=steps, pool=())

    def done(design: Design, _: int) -> Design:
        return changed_tasks(design, family, change)

    def edits(_: int) -> tuple[Edit, ...]:
        if own:
            return (Edit(of, "steps", family.first.spot, ", ".join(u.told for u in units), steps,
                         parts=tuple(_part(unit) for unit in after)),
                    Edit(of, "pool", family.first.spot, family.first.pool[0], ""))
        return tuple(Edit(of, "step", here.steps[0].spot, here.told, there.told)
                     for here, there in ((one, other), (other, one)))

    return Change(
        f"order of {one.told} and {other.told} of {of} at {one.key}",
        f"{other.told} and {one.told} of {name}", range(1),
        lambda _: f"let {name} {other.told} before it does {one.told} (steps: {steps})",
        done, edits, family.names, grows=False)


def _part(unit: _Unit) -> Spot | str:
    """A step by its spot; one that the file does not have, as it would say it."""
    spot = unit.steps[0].spot
    return f"{unit.main.kind.value}: {unit.main.target}" if spot == NOWHERE else spot


def _swapped(steps: Sequence[Step], path: str, one: Key, other: Key) -> tuple[Step, ...]:
    """The steps with two units in each other's place, wherever both stand in one sequence."""
    units = [replace(unit, steps=tuple(
        _inside(step, f"{path}.{_place(steps, step)}", one, other) for step in unit.steps))
        for unit in _units(steps, path)]
    at = {unit.key: place for place, unit in enumerate(units)}
    if one in at and other in at:
        first, second = at[one], at[other]
        units[first], units[second] = units[second], units[first]
    return tuple(step for unit in units for step in unit.steps)


def _place(steps: Sequence[Step], step: Step) -> int:
    return next(place for place, each in enumerate(steps) if each is step)


def _inside(step: Step, path: str, one: Key, other: Key) -> Step:
    if step.kind not in CHOICES:
        return step
    ways = [_swapped(branch, f"{path}.{number}", one, other)
            for number, branch in enumerate(_branches(step))]
    rest = iter(ways[len(step.branches):])
    return replace(step, branches=tuple(ways[:len(step.branches)]),
                   timeout=None if step.timeout is None else next(rest),
                   otherwise=None if step.otherwise is None else next(rest))
