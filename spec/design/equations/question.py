"""Counters with ranges, sums of them, and choices of bounds: is there a state of all that?

Ranges answer it (``trials``) in time that grows with its size.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..net.invariants import Equation
from .lemmas import Bound

__all__ = ["FAR", "Question"]

FAR = 10**30
"""Stands for no end."""


@dataclass
class Question:
    """A counter is from 0 to ``most`` (None: no end), and differs from its ``start`` by a multiple
    of its ``stride``: with 0, not at all. Each sum is within its least and largest total, and of
    each choice one bound is true."""

    start: list[int] = field(default_factory=list)
    most: list[int | None] = field(default_factory=list)
    stride: list[int] = field(default_factory=list)
    sums: list[tuple[Equation, int, int]] = field(default_factory=list)
    choices: list[tuple[Bound, ...]] = field(default_factory=list)

    def counter(self, most: int | None = 1, start: int = 0, stride: int = 1) -> int:
        """One more counter: its number."""
        self.start.append(start)
        self.most.append(most)
        self.stride.append(stride)
        return len(self.start) - 1

    def choose(self, *bounds: Bound) -> None:
        """One of these bounds is true."""
        self.choices.append(bounds)
