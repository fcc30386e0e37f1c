"""Verdicts: the three answers an engine may give, with what each rests on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from ..notation.labels import show_step
from ..notation.model import Value
from .deadline import Clock, Deadline

__all__ = ["Budget", "Outcome", "Trace", "TraceStep", "Verdict", "mark"]


class Outcome(Enum):
    """The three answers. Nothing that was only sampled is ever HOLDS."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


def mark(outcome: Outcome, as_expected: bool) -> str:
    """Four characters before a line of a report: as expected, not so, or not known."""
    if as_expected:
        return "ok  "
    return "?   " if outcome is Outcome.UNKNOWN else "FAIL"


@dataclass(frozen=True)
class TraceStep:
    """One step of a trace: the action, its arguments, and the state it leads to; and where an
    observer looks on, what it shows to it."""

    action: str
    args: tuple[tuple[str, int], ...]
    state: Mapping[str, Value]
    shows: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The step in words: ``name(arg=value, …)``."""
        return show_step(self.action, self.args)


@dataclass(frozen=True)
class Trace:
    """A run from the initial state. ``loop`` is None for a finite run; for a lasso it is the number
    of steps before the cycle, and the last step leads back to that state (a lasso with a cycle that
    is empty stays in its last state forever)."""

    initial: Mapping[str, Value]
    steps: tuple[TraceStep, ...]
    loop: int | None = None


@dataclass(frozen=True)
class Budget:
    """The limits of an engine. A spent budget ends in UNKNOWN, never in a killed process.

    ``max_memory`` is in bytes, ``max_seconds`` in seconds of ``clock``, ``max_states``
    counts distinct states; None means no limit (for memory: most of what is free). A budget
    that was started has a ``deadline``; an engine that gets one that was not, starts it. Without
    ``renaming``, states that differ only by the names of alike members are searched one by one.
    """

    max_memory: int | None = None
    max_seconds: float | None = None
    max_states: int | None = None
    threads: int | None = None
    clock: Clock = time.monotonic
    running: Deadline | None = None
    renaming: bool = True

    @property
    def deadline(self) -> Deadline:
        """When the seconds end; without an end in a budget that was not started."""
        return Deadline() if self.running is None else self.running

    def start(self) -> Budget:
        """The budget with its seconds running from now on, unless they run already."""
        if self.running is not None:
            return self
        return replace(self, running=Deadline(self.max_seconds, self.clock))

    def share(self, parts: float) -> Budget:
        """The budget with one of so many equal parts of the time that is left."""
        return replace(self, running=self.start().deadline.share(parts))


@dataclass(frozen=True)
class Verdict:
    """An engine's answer on one rule.

    ``method`` says how the answer was reached (``exhaustive``, ``search, incomplete`` where a
    budget ended it, ``k-induction, k=1, for all C, b``, ``wait-for graph``…); ``reason``
    says, for UNKNOWN, why and what was covered, and for VIOLATED which conjunct failed, if
    that is known. ``states``, ``transitions`` and ``depth`` count what was searched;
    ``seconds`` is wall clock. ``shown`` says, where an observer looked on, how often each of its
    steps was shown to it.
    """

    outcome: Outcome
    method: str
    states: int = 0
    transitions: int = 0
    depth: int = 0
    seconds: float = 0.0
    trace: Trace | None = None
    reason: str = ""
    shown: tuple[tuple[str, int], ...] = ()
