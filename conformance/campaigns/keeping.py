"""The rows that are kept of a run from which only a summary is made.

A run of many cases may find the same failure in thousands of them, and the text of each is some
kilobytes. A summary shows one failure of each rule, the shortest, and looks in the others for
what kinds of replies broke the rule, and what else would explain it. So of failures that agree in
both, the shortest is kept; of all other rows the counts are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields, replace
from sys import intern
from typing import Any

from ..suites.results import CaseRow
from ..suites.fixture import Fixture
from .causes import kinds_of
from .drafts import is_draft

__all__ = ["thinned"]

_TEXTS = tuple(each.name for each in fields(CaseRow) if each.type == "str")


def thinned(rows: Iterable[CaseRow]) -> list[CaseRow]:
    """The rows, in their order; failures of which a summary shows no more are without their text.
    """
    kept: list[CaseRow] = []
    shortest: dict[object, tuple[int, int]] = {}
    for row in rows:
        if row.fixture and not is_draft(row):
            fixture = Fixture(json.loads(row.fixture))
            kind = row.verdict, row.rule, kinds_of(fixture)
            length, at = shortest.get(kind, (fixture.length + 1, -1))
            if fixture.length >= length:
                row = replace(row, fixture="")
            else:
                shortest[kind] = fixture.length, len(kept)
                if at >= 0:
                    kept[at] = replace(kept[at], fixture="")
        kept.append(_shared(row))
    return kept


def _shared(row: CaseRow) -> CaseRow:
    """The row, its texts each one object with those of other rows that are equal."""
    texts: dict[str, Any] = {name: intern(getattr(row, name)) for name in _TEXTS}
    return replace(row, **texts)
