"""Shrinking: a shorter program that still breaks the same rule.

Greedy and deterministic, and bounded by a number of runs, not by the clock: leave out
blocks of acts, halving their size, until no single act can go; then pairs of acts; then
replace what is left by what is simpler. Every candidate is run, so the result has been seen
to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from .suite import Act, Program

__all__ = ["RUNS_MAX", "shrink"]

RUNS_MAX: Final = 300

Shorten = Callable[[Program], Program | None]
"""Runs a program: the part of it up to the breach that is looked for, or None without one."""

Simpler = Callable[[Act], Iterable[Act]]
"""What could stand in the place of an act: see ``AnySuite.simpler``."""


def shrink(
    program: Program, fails: Shorten, simpler: Simpler, runs_max: int = RUNS_MAX
) -> Program:
    """The shortest program found; ``program`` itself is known to fail."""
    budget = [runs_max]
    in_vain: set[Program] = set()

    def attempt(candidate: Program) -> Program | None:
        if budget[0] <= 0 or candidate in in_vain:
            return None
        budget[0] -= 1
        found = fails(candidate)
        if found is None:
            in_vain.add(candidate)
        return found

    while True:
        before = program
        program = _without_blocks(program, attempt)
        program = _without_pairs(program, attempt)
        program = _simplified(program, attempt, simpler)
        if program == before or budget[0] <= 0:
            return program


def _without_blocks(program: Program, attempt: Shorten) -> Program:
    size = max(1, len(program) // 2)
    while size:
        at = 0
        while at < len(program):
            found = attempt(program[:at] + program[at + size:])
            if found is not None and len(found) < len(program):
                program = found
            else:
                at += size
        size //= 2
    return program


def _without_pairs(program: Program, attempt: Shorten) -> Program:
    """Two acts often go only together, such as a wait and its cancellation."""
    first = 0
    while first < len(program):
        for second in range(first + 1, len(program)):
            rest = program[first + 1: second] + program[second + 1:]
            found = attempt(program[:first] + rest)
            if found is not None and len(found) < len(program):
                program = found
                break
        else:
            first += 1
    return program


def _simplified(program: Program, attempt: Shorten, simpler: Simpler) -> Program:
    at = 0
    while at < len(program):
        for act in simpler(program[at]):
            found = attempt((*program[:at], act, *program[at + 1:]))
            if found is not None and len(found) <= len(program):
                program = found
                break
        at += 1
    return program
