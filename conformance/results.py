"""Rows: what one case of a suite found, in plain columns that any table can hold."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ERROR", "FLAKY", "PASSED", "REFUSED", "VIOLATED", "Case", "CaseRow"]

PASSED, VIOLATED, FLAKY, ERROR = "passed", "violated", "flaky", "error"
"""The verdicts of a case. ``passed`` is a sample's word: nothing was found, no more."""

REFUSED = "not applicable"
"""The verdict of a case whose settings the target does not support: nothing was tried."""


@dataclass(frozen=True)
class Case:
    """One seeded run of a suite: its number in the plan, and its own seed (53 bits)."""

    index: int
    seed: int


@dataclass(frozen=True)
class CaseRow:
    """What one case found. Every column is a text or a whole number below 2**63.

    The first five columns are the key. ``rule`` is the id of the rule that was broken, or
    empty; ``steps`` counts the requests that were made and judged before a failure, if any,
    was shrunk; ``message`` says in a sentence what was found; ``fixture`` is the JSON text of
    the shrunk failure, or empty. ``exercised`` is a JSON object: for each rule that applies
    to the target, how many steps could have broken it.
    """

    suite: str
    suite_version: str
    target: str
    case: int
    seed: int
    verdict: str
    rule: str
    steps: int
    message: str
    exercised: str
    fixture: str
