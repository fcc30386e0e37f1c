"""A proof that members which are declared alike are alike.

For each renaming p of a few that make up all, and each action a of the model: wherever the state s
is in its declared ranges, a can be taken in s exactly if p(a) can be in p(s), is at fault exactly
if that is, and then leads to states that p maps to each other. Z3 decides each for all states at
once; the constants have values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

from ...notation.errors import InputError
from ...notation.expr import Expr, or_
from ...notation.labels import brief
from ...notation.machine import Machine
from ...notation.model import LoweredAction, Model
from ...notation.renaming import Renaming
from ...notation.source import place_of_member
from ...verdicts.deadline import Deadline
from ...verdicts.solver import z3_context
from .terms import Remainders, Translation, equal, fresh, within_range

__all__ = ["Alikeness", "Undecided"]

PROVING = "proving that alike members are alike"


class Undecided(Exception):
    """The prover found neither a proof nor a state in which two members differ."""


class Alikeness:
    """The predicates that are the same before and after one renaming of a model's members."""

    def __init__(self, model: Model, renaming: Renaming, deadline: Deadline) -> None:
        self.model = model
        self.renaming = renaming
        self.deadline = deadline
        self.context = z3_context()
        self.remainders = Remainders(self.context)
        before = {slot.name: fresh(slot.name, slot.type, self.context) for slot in model.slots}
        after = {
            slot.name: fresh(f"{slot.name}'", slot.type, self.context) for slot in model.slots}
        self.plain = Translation(before, {}, self.remainders, after)
        self.renamed = Translation(
            self._moved(before), {}, self.remainders, self._moved(after))
        self.solver = z3.Solver(ctx=self.context)
        for values in (before, after):
            for slot in model.slots:
                self.solver.add(within_range(slot.type, values[slot.name], self.plain))

    def _moved(self, values: dict[str, Any]) -> dict[str, Any]:
        return {move.slot: _images(values[old], move.values)
                for old, move in self.renaming.moves.items()}

    def check_model(self) -> None:
        """Raise InputError where the renaming makes a difference to the machine; Undecided,
        OutOfTime or Unsupported where that is not known."""
        machine, slots = self.renaming.machine, self.model.slot_by_name
        for old, move in self.renaming.moves.items():
            first, second = slots[old], slots[move.slot]
            start = _images(self.plain(first.init), move.values)
            if first.type != second.type or self._differ(equal(start, self.plain(second.init))):
                raise _differs(machine, f"{old} and {move.slot} are not declared alike, or do not "
                               "start alike", old.partition("[")[0].partition("{")[0])
        by_args = {(action.name, action.args): action for action in self.model.actions}
        for action in self.model.actions:
            over = machine.actions_declared[action.name].over
            other = by_args[action.name, self.renaming.args(over, action.args)]
            if self._differ(self._same_step(action, other)):
                raise _differs(
                    machine, f"{action.label} and {other.label} do different things",
                    action.name)

    def _same_step(self, action: LoweredAction, other: LoweredAction) -> Any:
        plain, renamed = self.plain, self.renamed
        enabled = plain(action.guard)
        effects = []
        for old, move in self.renaming.moves.items():
            if old in action.updates or move.slot in other.updates:
                value = (plain(action.updates[old]) if old in action.updates
                         else plain.before[old])
                new = (renamed(other.updates[move.slot]) if move.slot in other.updates
                       else renamed.before[move.slot])
                effects.append(equal(_images(value, move.values), new))
        return z3.And(
            enabled == renamed(other.guard),
            plain(_any_fault(action)) == renamed(_any_fault(other)),
            z3.Or(z3.Not(enabled), plain(_any_fault(action)), z3.And(*effects, self.context)))

    def keeps(self, predicate: Expr) -> bool:
        """True if a predicate, of a state or of a step, is the same after the renaming."""
        return not self._differ(self.plain(predicate) == self.renamed(predicate))

    def _differ(self, same: Any) -> bool:
        self.deadline.check(PROVING)
        left = self.deadline.left()
        if left < float("inf"):
            self.solver.set("timeout", max(1, int(1000 * left)))
        self.solver.push()
        self.solver.add(self.remainders.definitions)
        self.solver.add(z3.Not(same))
        found = self.solver.check()
        self.solver.pop()
        if found == z3.unknown:
            self.deadline.check(PROVING)
            raise Undecided(self.solver.reason_unknown())
        return bool(found == z3.sat)


def _any_fault(action: LoweredAction) -> Expr:
    return or_(*(fault.condition for fault in action.faults))


def _images(value: Any, images: Sequence[tuple[int, ...] | None]) -> Any:
    """A value after the renaming."""
    if all(image is None for image in images):
        return value
    if isinstance(value, tuple):
        return tuple(_images(part, (image,)) for part, image in zip(value, images, strict=True))
    (image,) = images
    assert image is not None
    result = value
    for old, new in enumerate(image):
        if old != new:
            result = z3.If(value == old, new, result)
    return result


def _differs(machine: type[Machine], what: str, member: str) -> InputError:
    return InputError(
        f"members that {machine.__name__} declares to be alike are not: {brief(what, 300)}",
        place_of_member(machine, member),
        "Declare the set by upto(…) instead of alike(…), or remove the difference.")
