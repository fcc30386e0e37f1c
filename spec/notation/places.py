"""Places of a machine in which one thing is after the other.

A log names things without end, and a machine has so many places for them. A machine with an action
``leaves_its_place`` says which places may be left, and what is taken away with that; a ``Reuse``
says how its steps name places. That nothing else of a thing is needed is proved
(``engines.prove.places``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .machine import Machine, values_of
from .types import ArrayDecl, SetDecl

__all__ = ["LEAVES", "Reuse", "of_places"]

LEAVES: Final = "leaves_its_place"
"""The action by which a thing leaves its place, which is its one parameter."""


@dataclass(frozen=True)
class Reuse:
    """The places of a ``machine`` with an action ``leaves_its_place``; there are ``size`` of them,
    by the name of that constant, and others of its ``constants`` have these values in the proof.

    ``places``: the parameters that name a place. ``holds``: the variables with one in them, or in
    their elements; the size stands for none. ``counts``: the variables and parameters that say how
    many places lie before something. ``given``: variables that are set before each step that reads
    them. ``next``: variables with the place of what comes next.

    ``ordered``: things stay in the order in which they came, and a new one comes after all others;
    else they get any free place. ``front``: it is the first place that is left, and the next one
    stands for all that were before it. ``back``: it is the last place, which nothing is in yet, and
    no step is asked about that uses it. ``kept``: variables of which a judge remembers what a thing
    had when it left; another thing that has left in the same way stands for it then. ``comes``:
    actions by which a thing comes again, of which nothing is remembered. ``skipped``: actions that
    are not judged of what has left. ``unused``: actions that no log has. ``apart``: actions
    that depend on nothing in other places, so that each thing may be judged by itself.
    """

    machine: type[Machine]
    size: str
    places: tuple[str, ...]
    constants: Mapping[str, int] = field(default_factory=dict)
    holds: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    ordered: bool = False
    front: bool = False
    back: bool = False
    kept: tuple[str, ...] = ()
    comes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()


def of_places(reuse: Reuse, constants: Mapping[str, Any]) -> dict[str, int]:
    """The arrays and sets of a machine that have something for each place, by name: how many
    elements there are for one."""
    found = {}
    smaller = {**constants, reuse.size: constants[reuse.size] - 1}
    for name, decl in reuse.machine.variables_declared.items():
        if isinstance(decl, ArrayDecl | SetDecl):
            many, less = (len(values_of(decl.domain, each)) for each in (constants, smaller))
            if many > less:
                found[name] = many - less
    return found
