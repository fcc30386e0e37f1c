"""Shrinking: a shorter program that still breaks the same rule.

Greedy and deterministic, and bounded by a number of runs and of acts; the clock ends it only where
the user gave a deadline. Leave out blocks of acts, halving their size, until no single act can go;
then pairs of acts; then replace what is left by what is simpler. Every candidate is run, so the
result has been seen to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeVar

from ...spec.verdicts.deadline import Deadline

__all__ = ["REQUESTS_MAX", "RUNS_MAX", "shrink"]

RUNS_MAX: Final = 300

REQUESTS_MAX: Final = 20_000
"""Acts of all the candidates that are run: what bounds the search in a long program."""

_TIMES: Final = 6
"""The same, in lengths of a program, for one that is longer still."""

_A = TypeVar("_A", bound=Hashable)
"""An element of a program: an act, as a rule."""

_Shorten = Callable[[tuple[_A, ...]], tuple[_A, ...] | None]
"""Runs a program: the part of it up to the breach that is looked for, or None without one."""

_Simpler = Callable[[_A], Iterable[_A]]
"""Simpler replacements of an act: see ``AnySuite.simpler``."""


def shrink(
    program: tuple[_A, ...], fails: _Shorten[_A], simpler: _Simpler[_A], runs_max: int = RUNS_MAX,
    deadline: Deadline | None = None,
) -> tuple[_A, ...]:
    """The shortest program found before the ``deadline``; ``program`` itself is known to fail."""
    runs, acts = runs_max, max(REQUESTS_MAX, _TIMES * len(program))
    in_vain: set[tuple[_A, ...]] = set()

    def attempt(candidate: tuple[_A, ...]) -> tuple[_A, ...] | None:
        nonlocal runs, acts
        if runs <= 0 or acts < len(candidate) or candidate in in_vain:
            return None
        if deadline is not None and deadline.passed():
            runs = 0
            return None
        runs, acts = runs - 1, acts - len(candidate)
        found = fails(candidate)
        if found is None:
            in_vain.add(candidate)
        return found

    def may_try(candidate: int) -> bool:
        return runs > 0 and acts >= candidate

    while True:
        before = program
        program = _without_blocks(program, attempt)
        program = _without_pairs(program, attempt, may_try)
        program = _simplified(program, attempt, simpler)
        if program == before or runs <= 0:
            return program


def _without_blocks(program: tuple[_A, ...], attempt: _Shorten[_A]) -> tuple[_A, ...]:
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


def _without_pairs(
    program: tuple[_A, ...], attempt: _Shorten[_A], may_try: Callable[[int], bool]
) -> tuple[_A, ...]:
    """Leave out pairs of acts that only go together, such as a wait and its cancellation, while a
    program of that length may be tried."""
    first = 0
    while first < len(program) and may_try(len(program) - 2):
        for second in range(first + 1, len(program)):
            rest = program[first + 1: second] + program[second + 1:]
            found = attempt(program[:first] + rest)
            if found is not None and len(found) < len(program):
                program = found
                break
        else:
            first += 1
    return program


def _simplified(
    program: tuple[_A, ...], attempt: _Shorten[_A], simpler: _Simpler[_A]
) -> tuple[_A, ...]:
    at = 0
    while at < len(program):
        for act in simpler(program[at]):
            found = attempt((*program[:at], act, *program[at + 1:]))
            if found is not None and len(found) <= len(program):
                program = found
                break
        at += 1
    return program
