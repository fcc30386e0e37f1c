"""The operations that each rule needs, as ``make needs`` has found out (``benchmarks.needs``)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

from ...spec.notation.rules import Rule
from ..ports.base import ALWAYS

__all__ = ["TABLE", "Groups", "Needing", "lacking", "needs_of", "to_json"]

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


class Needing:
    """A suite's rules by what they need of a target, the same for all kinds of suites.

    ``needs`` has by hand the groups of a rule, in place of those that ``make needs`` has found out.
    """

    name: str
    needs: Mapping[str, Groups]

    def rules(self) -> tuple[Rule, ...]:
        """The suite's rules, each once, by number."""
        raise NotImplementedError

    def rule(self, rule_id: str) -> Rule | None:
        """The rule of that id, if it is one of the suite's."""
        return next((rule for rule in self.rules() if rule.id == rule_id), None)

    def applicable(self, can: Collection[str]) -> tuple[Rule, ...]:
        """The rules that can be tested on a target which offers these operations."""
        return tuple(rule for rule in self.rules() if not self.missing(rule, can))

    def missing(self, rule: Rule, can: Collection[str]) -> tuple[str, ...]:
        """The groups that a rule needs, and of which a target with these operations has none."""
        return lacking(self.groups(rule), can)

    def groups(self, rule: Rule) -> Groups:
        """The groups of operations that a rule needs."""
        by_hand = self.needs.get(rule.id)
        return needs_of(self.name).get(rule.id, ()) if by_hand is None else by_hand


def to_json(table: Mapping[str, Mapping[str, Groups]]) -> str:
    """The table as a text, with a rule a line."""
    suites = []
    for suite, rules in table.items():
        if rules:
            rows = [f"  {json.dumps(rule)}: {json.dumps(groups)}"
                    for rule, groups in rules.items()]
            suites.append(f"{json.dumps(suite)}: {{\n" + ",\n".join(rows) + "\n}")
    return "{\n" + ",\n".join(suites) + "\n}\n"
