"""The rules of progress of a suite: those that ask a target to do something, in the end.

What makes a rule one of these is said in the book (``spec/notation/progress``).
"""

from __future__ import annotations

from ...spec.notation.progress import rules_of_progress
from .suite import AnySuite

__all__ = ["ids_of_progress"]


def ids_of_progress(suite: AnySuite) -> frozenset[str]:
    """The ids of the rules of a suite that ask for something to happen."""
    return frozenset(
        rule.id for rule in suite.rules() for machine in suite.machines(rule)
        if any(rule.id == each.id for each in rules_of_progress(machine)))
