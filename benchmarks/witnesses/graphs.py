"""Whether two changed machines are one: by what they can do, not by their text.

Two texts may say the same, as ``a < 3`` and ``a <= 2`` do. So machines that break a rule are told
apart by their reachable graphs, at the constants at which mutants are tried: states without what
is none of an implementation's, and the steps between them. A graph is searched up to a number of
states; machines that differ beyond count as one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from checkvalve.spec.engines.graph import explore_with_interpreter
from checkvalve.spec.notation.bound import bind
from checkvalve.spec.notation.interpreter import Interpreter
from checkvalve.spec.notation.labels import show_step
from checkvalve.spec.notation.machine import Machine
from checkvalve.spec.verdicts.verdict import Budget

__all__ = ["digest"]

DIGITS = 12


def digest(
    machine: type[Machine], points: Iterable[Mapping[str, Any]], without: frozenset[str],
    budget: Budget,
) -> str:
    """A few hexadecimal digits, the same for machines that do the same at these constants, but
    for variables of these names, within the declared ranges; empty if it is no machine at all."""
    drawn = [_drawn(machine, point, without, budget) for point in points]
    if not any(drawn):
        return ""
    return hashlib.sha256("\n\n".join(drawn).encode()).hexdigest()[:DIGITS]


def _drawn(
    machine: type[Machine], point: Mapping[str, Any], without: frozenset[str], budget: Budget
) -> str:
    """The steps of its graph, as text; empty if it is no machine with these constants."""
    try:
        bound = bind(machine, **point)
        graph = explore_with_interpreter(bound.interpreter, budget, learning=True, within=True)
    except Exception:  # noqa: BLE001 - a mutant may do anything; then it is no machine
        return ""
    names = _told(bound.interpreter, without)
    states = [repr([_plain(state[place]) for place in names]) for state in graph.states]
    steps = [show_step(*step) for step in bound.interpreter.steps()]
    lines = {states[0]}
    for here in range(len(graph.first) - 1):
        for edge in range(graph.first[here], graph.first[here + 1]):
            lines.add(f"{states[here]} {steps[graph.via[edge]]} {states[graph.target[edge]]}")
    return "\n".join(sorted(lines))


def _told(interpreter: Interpreter, without: frozenset[str]) -> list[int]:
    return [place for place, name in enumerate(interpreter.layout.names) if name not in without]


def _plain(value: Any) -> Any:
    """A value as something with a text that does not depend on how a set was filled."""
    if isinstance(value, frozenset | set):
        return sorted(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else value
