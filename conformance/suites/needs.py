"""The operations that each rule needs, as ``make needs`` has found out (``benchmarks.needs``)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

from ..ports.base import ALWAYS

__all__ = ["TABLE", "Groups", "lacking", "needs_of", "to_json"]

TABLE: Final = "needs.json"

Groups = tuple[tuple[str, ...], ...]
"""Groups of operations, of each of which one is needed."""


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Mapping[str, Groups]]:
    text = (files(__package__ or "") / TABLE).read_text(encoding="utf-8")
    return {suite: {rule: tuple(map(tuple, groups)) for rule, groups in rules.items()}
            for suite, rules in json.loads(text).items()}


def needs_of(suite: str) -> Mapping[str, Groups]:
    """By rule of a suite, the groups that it needs; empty for a suite that is not in the table."""
    return _table().get(suite, {})


def lacking(groups: Groups, can: Collection[str]) -> tuple[str, ...]:
    """The groups of which a target that can do this much has nothing, as ``put or offer``.

    What every adapter has is never lacking, whether or not it is listed."""
    return tuple(" or ".join(group) for group in groups
                 if not any(name in can or name in ALWAYS for name in group))


def to_json(table: Mapping[str, Mapping[str, Groups]]) -> str:
    """The table as a text, with a rule a line."""
    suites = []
    for suite, rules in table.items():
        if rules:
            rows = [f"  {json.dumps(rule)}: {json.dumps(groups)}"
                    for rule, groups in rules.items()]
            suites.append(f"{json.dumps(suite)}: {{\n" + ",\n".join(rows) + "\n}")
    return "{\n" + ",\n".join(suites) + "\n}\n"
