"""The kind of an implementation as it was identified, and the evidence.

A system with implementations of several kinds, such as queues with their policies, has a
module ``identity`` that finds out which one a target is. Its result has this form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...spec.notation.interpreter import Step
from ..ports.base import Target

__all__ = ["Asked", "Clue", "Identify", "Identity", "Kind"]

Kind = tuple[str, int]
"""The name of a policy, and the capacity; 0 where the policy has none."""


@dataclass(frozen=True)
class Asked:
    """A question (with its ``item``, if it had one), the answer in words, the steps it showed."""

    question: str
    item: str
    answer: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Clue:
    """One question of the evidence, and the kinds that its answer ruled out."""

    asked: Asked
    excluded: tuple[Kind, ...]


@dataclass
class Identity:
    """The result for a target that was asked for a ``capacity``.

    Capacities up to ``limit`` were looked for. ``kinds`` fit all that was seen. ``says`` is the
    policy in the target's own words, and ``promised`` its name here, if it was looked for;
    ``meaning`` says in a sentence what the identified policy does. ``evidence`` are runs of a fresh
    instance each. ``asked`` counts the questions, ``runs`` the instances. ``unseen`` are policies
    that were not looked for, each with the operation that it would take. ``why`` says why nothing
    was identified, and is empty otherwise; ``advice`` what to do then. ``failed``: the target
    failed to answer.
    """

    target: str
    capacity: int
    limit: int
    says: str = ""
    promised: str = ""
    meaning: str = ""
    kinds: tuple[Kind, ...] = ()
    evidence: list[tuple[Clue, ...]] = field(default_factory=list)
    asked: int = 0
    runs: int = 0
    unseen: dict[str, str] = field(default_factory=dict)
    why: str = ""
    advice: str = ""
    failed: bool = False

    @property
    def policies(self) -> tuple[str, ...]:
        """The names of the policies that fit, each once."""
        return tuple(dict.fromkeys(name for name, _ in self.kinds))

    @property
    def identified(self) -> bool:
        """True if one policy is left, and nothing contradicts it."""
        return len(self.policies) == 1 and not self.why

    @property
    def keeps_its_word(self) -> bool:
        """True if the target has the policy that it says it has, as far as that was looked for."""
        return not self.identified or not self.promised or self.promised in self.policies


Identify = Callable[[Target, int, int, float, int], Identity]
"""Finds out the policy of a target: the capacity to ask for, the greatest to look for, seconds, and
the states in which each kind may be."""
