"""A design as a Promela model, to confirm a verdict with SPIN.

The model is printed from the same table of rows that the engines decide: one process that does any
row that is enabled, each in one step. It ends where the design may end; where it can neither end
nor take a step, SPIN finds an invalid end state, which is a deadlock. So its verdict checks the
engines, and not the translation of the design. Without partial order reduction, and without the
end, the states that it stores are those that the explorer counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ..net.rows import Effect, Table

__all__ = ["RUN", "promela"]

RUN: Final = "spin -a {0} && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan"
"""Command that verifies a model; ``pan: invalid end state`` is a deadlock."""

_TYPES: Final = ((1, "bit"), (255, "byte"), (2**15 - 1, "short"), (2**31 - 1, "int"))
"""The largest number of each type of Promela's."""


def promela(table: Table, name: str, file: str = "model.pml") -> str:
    """The model of one connected part of a design; ``name`` and ``file`` are for its comment."""
    number = {place.name: f"p{at}" for at, place in enumerate(table.places)}
    lines = [f"/* {_comment(name)}: {RUN.format(file)} */", ""]
    for place in table.places:
        kind = next(kind for most, kind in _TYPES if place.most <= most)
        lines.append(f"{kind} {number[place.name]} = {place.start};  "
                     f"/* {_comment(place.name)}, at most {place.most} */")
    lines += ["", "active proctype design() {", "  do"]
    for row in table.rows:
        lines.append(f"  /* {_comment(row.label)} */")
        steps = "; ".join([f"{_guard(row.effect, number)} -> {_first(row.effect, number)}",
                           *_changes(row.effect, number)[1:]])
        lines.append(f"  :: d_step {{ {steps} }}")
    lines += [*_rest(table, number), "  od", "}", ""]
    return "\n".join(lines)


def _guard(effect: Effect, number: Mapping[str, str]) -> str:
    needs = [f"{number[place]} >= {n}" for place, n in effect.at_least.items() if n > 0]
    needs += [f"{number[place]} <= {n}" for place, n in effect.at_most.items()]
    return f"({' && '.join(needs) or 'true'})"


def _first(effect: Effect, number: Mapping[str, str]) -> str:
    return next(iter(_changes(effect, number)), "skip")


def _changes(effect: Effect, number: Mapping[str, str]) -> list[str]:
    return [f"{number[place]} = {number[place]} {'+' if n > 0 else '-'} {abs(n)}"
            for place, n in effect.change.items()]


def _rest(table: Table, number: Mapping[str, str]) -> Iterator[str]:
    """The design may end where everything is done, or where it has failed as it says it does."""
    stopped = number[table.places[table.constants()["stopped"]].name]
    yield f"  :: ({stopped} > 0) -> break"
    if table.may_end:
        done = " && ".join(f"{number[place.name]} <= {place.rest}" for place in table.places
                           if place.rest < place.most)
        yield f"  :: ({done or 'true'}) -> break"


def _comment(text: str) -> str:
    """Text that cannot end the comment that it stands in."""
    return text.replace("*/", "* /").replace("\n", " ")[:200]
