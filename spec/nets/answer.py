"""The answer of an engine about a net, and what it may use."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..verdicts.deadline import Deadline
from ..verdicts.verdict import Outcome

__all__ = ["Answer", "Limits"]


@dataclass(frozen=True)
class Limits:
    """The time, and the number of markings and bytes, that may be used; None means the default."""

    deadline: Deadline = field(default_factory=Deadline)
    markings: int | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Answer:
    """The answer on one property of a net.

    ``run`` is a counterexample in transitions of the net, replayed by its firing rule: the
    shortest, if it ``is_shortest``; with ``loop`` set, the steps from that index on can be repeated
    forever. ``states`` and ``transitions`` count the markings that were visited and the steps
    between them. ``bounds`` has the tokens that places never exceed, by place.
    """

    outcome: Outcome
    method: str
    reason: str = ""
    run: tuple[int, ...] = ()
    loop: int | None = None
    is_shortest: bool = False
    states: int = 0
    transitions: int = 0
    depth: int = 0
    bounds: tuple[tuple[int, int], ...] = ()
    blocked: tuple[int, ...] = ()
    """Transitions that can never fire again at the end of the run."""
