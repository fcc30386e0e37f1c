"""The words for verdicts on properties: a fact, and its basis.

docs/glossary.md has the table; the words for each property are in ``spec/design``.
"""

from __future__ import annotations

from checkvalve.spec.design.reading.properties import FOUND, fact
from checkvalve.spec.design.why.findings import Finding
from checkvalve.spec.notation.labels import counted
from checkvalve.spec.verdicts.verdict import Outcome

__all__ = ["basis", "said", "verdict"]

def said(name: str, outcome: str) -> str:
    """A property and its verdict, as ``deadlock: none``."""
    return f"{fact(name)}: {FOUND[outcome]}"


def verdict(finding: Finding) -> str:
    """The verdict with its basis; one that is not expected says what is."""
    if finding.outcome is Outcome.UNKNOWN:
        visited = f" ({_visited(finding)})" if finding.states else ""
        return f"unknown: {finding.reason or finding.method}{visited}"
    told = FOUND[finding.outcome.value]
    if finding.outcome is Outcome.HOLDS:
        missed = "" if finding.as_expected else f" (expected: {FOUND['violated']})"
        return f"{told}{missed}, {basis(finding.method, finding)}"
    if finding.expected == "violated":
        told += ", as expected"
    steps = f", {counted(finding.length, 'step')}" if finding.length else " at the start"
    return f"{told}{steps}, {_way_it_was_found(finding)}"


def basis(method: str, finding: Finding | None = None) -> str:
    """The basis of a proof; with the number of states that were visited for a finding."""
    visited = _visited(finding) if finding is not None and finding.states else ""
    if method.startswith("exhaustive"):
        return _exhaustive(method, visited)
    argument = method.removeprefix("by construction: ")
    proved = "proved" if argument == "by construction" else "proved:"
    states = counted(finding.states, "state") if finding is not None and finding.states else ""
    return f"{proved} {argument}{f' ({states} visited)' if states else ''}"


def _exhaustive(method: str, visited: str) -> str:
    rest = method.removeprefix("exhaustive").removeprefix(", ")
    rest = f"under {rest}" if rest.startswith("weak fairness") else rest
    joint = f" {rest}" if rest.startswith("under") else f", {rest}" if rest else ""
    if not visited:
        return f"all states visited{joint}"
    states, _, transitions = visited.partition(" (")
    return f"all {states} visited ({transitions}{joint}"


def _way_it_was_found(finding: Finding) -> str:
    """The search that found a counterexample, and after how many states."""
    if finding.method.startswith("exhaustive"):
        return basis(finding.method, finding)
    after = f" after {_visited(finding)}" if finding.states else ""
    if finding.method.startswith("search"):
        return f"by search{after}"
    return finding.method.removeprefix("found ") + after


def _visited(finding: Finding) -> str:
    return f"{counted(finding.states, 'state')} ({counted(finding.transitions, 'transition')})"
