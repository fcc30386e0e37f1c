"""Shrinking: a shorter program that still breaks the same rule.

Greedy and deterministic, and bounded by a number of runs, not by the clock: leave out
blocks of acts, halving their size, until no single act can go; then pairs of acts; then
replace what is left by what is simpler. Every candidate is run, so the result has been seen
to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from .suite import Act, Program

__all__ = ["RUNS_MAX", "shrink"]

RUNS_MAX: Final = 300

Shorten = Callable[[Program], Program | None]
"""Runs a program: the part of it up to the breach that is looked for, or None without one."""

_SIMPLER: Final = {"put": "offer", "take": "poll"}


def shrink(program: Program, fails: Shorten, runs_max: int = RUNS_MAX) -> Program:
    """The shortest program found; ``program`` itself is known to fail."""
    budget = [runs_max]

    def attempt(candidate: Program) -> Program | None:
        if budget[0] <= 0:
            return None
        budget[0] -= 1
        return fails(candidate)

    while True:
        before = program
        program = _without_blocks(program, attempt)
        program = _without_pairs(program, attempt)
        program = _simplified(program, attempt)
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


def _simplified(program: Program, attempt: Shorten) -> Program:
    at = 0
    while at < len(program):
        for act in _simpler(program[at]):
            found = attempt((*program[:at], act, *program[at + 1:]))
            if found is not None and len(found) <= len(program):
                program = found
                break
        at += 1
    return program


def _simpler(act: Act) -> Iterator[Act]:
    """What could stand in the place of an act, the simplest first."""
    if act.do in _SIMPLER:
        yield Act(_SIMPLER[act.do])
    if act.pick:
        yield act._replace(pick=0)
