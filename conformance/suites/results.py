"""Rows: what one case of a suite found, in plain columns that any table can hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "ERROR", "FLAKY", "KEY", "NOT_OFFERED", "NOT_SHOWN", "NO_OCCASION", "PASSED", "REASONS",
    "REFUSED", "TARGET_FAILED", "TECHNIQUE", "TOO_FEW", "UNKNOWN", "VIOLATED", "Case", "CaseRow",
    "sort_rows",
]

KEY = ("suite", "suite_version", "target", "case", "seed")
"""The columns that name a row; no two rows of a run agree in all of them."""

PASSED, VIOLATED, FLAKY, ERROR, UNKNOWN = "passed", "violated", "flaky", "error", "unknown"
"""The verdicts of a case. ``passed`` is a sample's word: nothing was found, no more. ``unknown``:
nothing was found, and some of what the target did could not be judged."""

NOT_SHOWN = "not shown"
"""The verdict on a rule of which a run says nothing, or of which it says only a part."""

NOT_OFFERED = "not offered"
TECHNIQUE = "technique"
NO_OCCASION = "no occasion"
TOO_FEW = "too few cases"
TARGET_FAILED = "target failed"
REASONS = (NOT_OFFERED, TECHNIQUE, NO_OCCASION, TOO_FEW, TARGET_FAILED)
"""Why a rule was not shown: the target lacks what its test takes, or a part of it; the adapter's
technique hides it; nothing that the target does could break it; too few cases exercised it; or the
target failed."""

REFUSED = NOT_SHOWN
"""The verdict of a case with settings that the target does not support: nothing was tried."""


@dataclass(frozen=True)
class Case:
    """One seeded run of a suite: its number in the plan, and its own seed (53 bits).

    ``draft`` is what a run of it left as it was seen, if that is to be made a failure now.
    """

    index: int
    seed: int
    draft: str = ""


@dataclass(frozen=True, slots=True)
class CaseRow:
    """The result of one case. Every column is a text or a whole number below 2**63.

    The first five columns are the key. ``rule`` is the id of the rule that was broken, or
    empty; ``steps`` counts the requests that were made and judged before a failure, if any,
    was shrunk; ``message`` says in a sentence what was found; ``fixture`` is the JSON text of
    the shrunk failure, or empty where there is none, or others of its kind were shrunk.
    ``exercised`` is a JSON object: for each rule that applies to the target, 0 if no step could
    have broken it, and more if one could have. ``unjudged`` is another: for each rule with a
    machine that lost track, in how many programs. ``can`` is a JSON list of the operations
    that the target says it can do. ``follows`` is a JSON object: for the rule in focus, if it
    was only seen to break after another one in the same run, the id of that one, which is
    then ``rule``. ``measured`` is a JSON object, too: for the capacity of the case, the largest
    that each measure of the suite was. ``capacity`` is that of the case, and ``longest`` is the
    number of requests of its longest program.
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
    unjudged: str = "{}"
    can: str = "[]"
    follows: str = "{}"
    measured: str = "{}"
    capacity: int = 0
    longest: int = 0


def sort_rows(rows: Iterable[CaseRow]) -> list[CaseRow]:
    """``rows`` in the order of their key."""
    return sorted(rows, key=lambda row: tuple(getattr(row, name) for name in KEY))
