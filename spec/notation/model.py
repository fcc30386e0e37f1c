"""A machine with known constants, for compiling: slots, lowered actions and rules.

This is the one input of every compiling engine (explorer, prover, TLA+ printer). It is
made by :func:`checkvalve.spec.notation.lower.lower` and never written by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .expr import Expr, Read, SlotType
from .labels import show_step
from .rules import Rule

__all__ = ["Fault", "LoweredAction", "LoweredRule", "Model", "OpenAction", "Slot", "Value"]

Value = int | tuple["Value", ...]
"""A slot's value: an int (booleans as 0 and 1), a record as the tuple of its fields, or a
queue as the tuple of its elements, head first."""


@dataclass(frozen=True)
class Slot:
    """One piece of state. An array of n elements becomes n slots, ``name[0]`` and so on;
    a set becomes one boolean slot per possible member, ``name{0}`` and so on. ``title`` is the
    name for readers: where the domain is an enumeration it has the members' names."""

    name: str
    type: SlotType
    init: Expr
    title: str = ""


@dataclass(frozen=True)
class Fault:
    """A state in which taking an action would be a mistake of the machine's author:
    a value outside its declared range, a push to a full queue, an index out of range.
    ``condition`` is over the state before the step."""

    condition: Expr
    message: str
    file: str
    line: int


@dataclass(frozen=True)
class LoweredAction:
    """One action for one choice of its parameters.

    ``guard`` true: the action can be taken, and each slot in ``updates`` gets the value
    of its expression over the state before the step; all other slots keep theirs.
    ``faults`` are checked whenever the guards before them hold, so an engine that finds a
    fault's condition true in a reachable state stops there and reports it.
    """

    name: str
    args: tuple[tuple[str, int], ...]
    fair: bool
    internal: bool
    guard: Expr
    updates: Mapping[str, Expr]
    faults: tuple[Fault, ...]
    required: tuple[tuple[Expr, str], ...] = field(default=(), compare=False, repr=False)
    """The parts of the guard in the order in which they are asked, each with the id of the rule
    that it cites: the first one that fails is the one that is blamed."""

    @property
    def label(self) -> str:
        """``name(arg=value, …)``, the way traces name the step."""
        return show_step(self.name, self.args)


@dataclass(frozen=True)
class OpenAction:
    """One action; its parameters get their values when it is taken.

    Each of its ``parameters`` is read like a slot, of which no state has one of that name; the rest
    is as in ``LoweredAction``. So there is one of it however many values a parameter may have.
    """

    name: str
    parameters: Mapping[str, Read]
    guard: Expr
    updates: Mapping[str, Expr]
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class LoweredRule:
    """One rule for one choice of its parameters.

    ``exprs`` by kind: *always* and *step*: one predicate (a *step* reads the state after
    through ReadAfter); ``never stuck``: the predicate of states that may be final; *leads
    to*: premise and conclusion; *eventually always*: the predicate.
    """

    rule: Rule
    args: tuple[tuple[str, int], ...]
    exprs: tuple[Expr, ...]


@dataclass(frozen=True)
class Model:
    """A machine with its constants. ``constants`` holds an int for each constant that has
    a value and an expression (a ConstRef) for each that was left symbolic; ``assumptions``
    are what the machine demands of its constants."""

    name: str
    constants: Mapping[str, int | Expr]
    assumptions: tuple[Expr, ...]
    slots: tuple[Slot, ...]
    actions: tuple[LoweredAction, ...]
    rules: tuple[LoweredRule, ...]
    slot_by_name: Mapping[str, Slot] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "slot_by_name", {slot.name: slot for slot in self.slots})
