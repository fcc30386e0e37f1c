"""A breach of a rule, as a judge reports it."""

from __future__ import annotations

from dataclasses import dataclass

from ...spec.notation.rules import Rule
from .exchange import Answer

__all__ = ["Breach"]


@dataclass(frozen=True)
class Breach:
    """A rule that was broken: at which step of the run (from 0), and why.

    ``conjunct`` is the condition that was false, ``where`` its file (from the project's
    root) and line. ``alternatives`` are the answers that every machine would have taken at
    this point: after ``position`` steps of the machines that the same reply had shown. Where
    a reply shows several, ``refused`` has the words of the one that broke the rule, and
    ``detail`` says it where there are no such words.

    ``is_added``: by a machine that adds its rule to another one. That one explains the run
    as well as before, so nothing follows from this breach. ``is_apart``: by a machine that
    allows what others forbid, so this does not follow from their breaches either.
    """

    rule: Rule
    step: int
    observation: str
    conjunct: str
    where: str
    alternatives: tuple[Answer, ...] = ()
    position: int = 0
    refused: str = ""
    detail: str = ""
    is_added: bool = False
    is_apart: bool = False

    @property
    def leaves_nothing(self) -> bool:
        """True if nothing explains the run after it, so that other breaches may follow from it."""
        return not (self.is_added or self.is_apart)

    @property
    def allowed(self) -> tuple[str, ...]:
        """The answers that the target could have given instead, in words."""
        return tuple(dict.fromkeys(answer.words for answer in self.alternatives))

    def allowed_in_words(self) -> str:
        """The line that says so; empty if there is nothing to say."""
        if not self.alternatives:
            return ""
        instead = f' instead of "{self.refused}"' if self.refused else ""
        return f"Allowed in step {self.step + 1}{instead}: {', or '.join(self.allowed)}."

    def in_words(self, step: str) -> str:
        """The words of the step that broke the rule, with the detail."""
        return f"{step}: {self.detail}" if self.detail else step
