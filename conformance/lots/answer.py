"""From the rows of a campaign to its answer: counts, and for each unit a verdict rule by rule.

Only counts and a few rows of each unit are held at a time. A verdict rests on the rows of the first
cases of a unit, which say how much each rule was exercised, and on all that are not *passed*, of
which the shortest failure of each kind is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..campaigns.summary import Summary, summarise
from ..suites.results import PASSED, CaseRow, sort_rows
from .config import Campaign, Unit
from .run import was_given_up
from .store import Store

__all__ = ["Answer", "answers", "summary_of"]

_FIRST: Final = 2_000
"""Cases of a unit with rows that say how much each rule was exercised: many times what is
enough."""


@dataclass(frozen=True)
class Answer:
    """The answer of a unit: its cases ``by_verdict``, and the ``summary`` of its rules.

    ``apart`` are the cases that ended their process, and how; ``missing`` is the number of cases
    that were not run, ``given_up`` says that the first all failed alike, and no more were run.
    """

    unit: Unit
    by_verdict: Mapping[str, int]
    summary: Summary
    apart: Mapping[str, str] = field(default_factory=dict)
    missing: int = 0
    given_up: bool = False

    @property
    def verdict(self) -> str:
        """As of a summary; *error* where a case was set apart, *unknown* where cases are missing.
        """
        found = self.summary.verdict
        if found == "violated":
            return found
        if self.apart:
            return "error"
        return "unknown" if self.missing and not self.given_up else found

    def to_json(self, saved: Mapping[str, str]) -> dict[str, Any]:
        """An entry of ``campaign --json``; ``saved`` has the path of each rule's fixture."""
        return {
            "suite": self.unit.suite, "target": self.unit.target, "seed": self.unit.seed,
            "capacity": self.unit.settings.capacity, "cases": self.unit.cases,
            "verdict": self.verdict, "by_verdict": dict(self.by_verdict), "missing": self.missing,
            "given_up": self.given_up, "error": self.summary.error, "apart": dict(self.apart),
            "results": [each.to_json(saved.get(each.rule.id)) for each in self.summary.results],
        }


def answers(campaign: Campaign, store: Store) -> Iterator[Answer]:
    """The answer of each unit, one after the other."""
    apart = store.apart()
    for unit in campaign.units:
        counts, summary = summary_of(unit, store)
        here = apart.get(unit.id, {})
        missing = unit.cases - sum(counts.values()) - len(here)
        yield Answer(unit, counts, summary, here, missing, was_given_up(unit, store))


def summary_of(unit: Unit, store: Store) -> tuple[Mapping[str, int], Summary]:
    """The number of rows by verdict, and the summary of the unit."""
    import pyarrow.compute as pc

    counts: Counter[str] = Counter()
    first: list[CaseRow] = []
    shortest: dict[tuple[str, str], CaseRow] = {}
    for batch in store.read(unit):
        for each in pc.value_counts(batch["verdict"]).to_pylist():
            counts[each["values"]] += each["counts"]
        telling = pc.or_(pc.less(batch["case"], _FIRST), pc.not_equal(batch["verdict"], PASSED))
        for line in batch.filter(telling).to_pylist():
            _keep(CaseRow(**line), first, shortest)
    kept = {(row.case, row.seed): row for row in (*first, *shortest.values())}
    rows = sort_rows(kept.values())
    summary = summarise(unit.suite, unit.target, rows, unit.known)
    return counts, replace(summary, cases=sum(counts.values()))


def _keep(
    row: CaseRow, first: list[CaseRow], shortest: dict[tuple[str, str], CaseRow]
) -> None:
    """Keep a row if it is one of the first, its failure only if it is the shortest of its kind."""
    kind = row.verdict, row.rule
    if row.verdict != PASSED:
        best = shortest.get(kind)
        if best is None or _size(row) < _size(best):
            shortest[kind] = row
    if row.case < _FIRST:
        first.append(replace(row, fixture="") if row.fixture else row)


def _size(row: CaseRow) -> tuple[int, int]:
    return len(row.fixture), row.case
