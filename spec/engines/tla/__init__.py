"""TLA+ export: a machine as a module that anyone can check with TLC.

The module says what the machine says: one variable for each variable of the machine (an
array is a function, a set a set, a queue a sequence with its head first), one definition
for each action, weak fairness for the fair ones, and one named formula for each rule. A
machine is only finite once its constants have values, which is what the ``.cfg`` is for.

Two differences of reading. TLA+ does not distinguish a step that changes nothing from no step at
all, so a rule about steps is not asked of those. And the faults of the machine appear as
violations of ``TypeOK`` or as an error of TLC in an expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...notation.bound import BoundMachine
from ...notation.errors import CheckvalveError, InputError
from ...notation.lower import lower
from ...notation.model import Model
from ...notation.types import ConstDecl
from .module import Module

__all__ = ["TlaExport", "export"]


@dataclass(frozen=True)
class TlaExport:
    """A module and its configuration; the file names must be ``name`` + .tla and .cfg."""

    name: str
    tla: str
    cfg: str


def export(
    machine: Model | BoundMachine, values: Mapping[str, int] | None = None,
    rules: Sequence[str] | None = None,
) -> TlaExport:
    """The module and the configuration for TLC.

    Of a BoundMachine the constants stay CONSTANTS of the module wherever the machine's
    form does not depend on them, and the configuration gives them its values. A Model is
    printed as it was lowered; ``values`` are for its symbolic constants. ``rules`` are the
    ids of the rules that TLC shall check (None: all); all of them are in the module.
    Raises InputError for a symbolic constant without a value, or an unknown rule.
    """
    theory = ""
    if isinstance(machine, BoundMachine):
        theory = machine.machine.__doc__ or ""
        values = {**machine.constants, **(values or {})}
        machine = _symbolic_model(machine)
    module = Module(machine, theory)
    values = values or {}
    missing = [name for name in module.constants if name not in values]
    if missing:
        raise InputError(f"{machine.name} has no value for {', '.join(missing)}",
                         next_step="Give one for each symbolic constant in `values`.")
    known = {lowered.rule.id for lowered in machine.rules}
    for rule_id in rules or ():
        if rule_id not in known:
            raise InputError(f"{machine.name} has no rule {rule_id}")
    text = module.text()
    return TlaExport(module.name, text, module.configuration(values, rules))


def _symbolic_model(bound: BoundMachine) -> Model:
    """The model with as many constants left symbolic as the machine's form allows.

    A constant that sizes an array or a domain has to be a number; lowering says so.
    """
    names = [name for name, declared in bound.machine.constants_declared.items()
             if isinstance(declared, ConstDecl)]
    chosen: frozenset[str] = frozenset()
    model = bound.model
    for wanted in (frozenset(names), *(frozenset({name}) for name in names)):
        try:
            model = lower(bound.machine, bound.constants, chosen | wanted)
        except (CheckvalveError, TypeError):
            continue
        chosen |= wanted
        if len(chosen) == len(names):
            break
    return model
