"""Certificates: what a verdict on a design rests on, for a checker that shares no code with us.

The evidence of *holds* are sums and clauses (``structure``), of *violated* the changes of each
step, of *bounded* sums that no step raises. Names of counters are those of ``counters``; the form
is that of ``checkvalve/spec/certify/schema.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..verdicts.deadline import Deadline
from ..verdicts.verdict import Outcome
from .bounds import bounds
from .counters import Counters
from .findings import DesignReport, Finding, ToldLeg
from .language import Design, Flow
from .lemmas import Inequality
from .parts import parts
from .structure import decide
from .ways import told_legs

__all__ = ["certificate"]

VERSION = 1
MAX_STATES = 60_000
"""States that the checker visits at most."""


def certificate(
    report: DesignReport, finding: Finding, deadline: Deadline | None = None
) -> dict[str, Any] | None:
    """The certificate of a finding, as one JSON document; None where there is none: of what is
    unknown, of what can be read off the design, and of what needs more states than are visited.
    """
    evidence: dict[str, Any] | None = None
    if finding.outcome is Outcome.VIOLATED:
        evidence = _run(finding)
    elif finding.name == "deadlock" and finding.outcome is Outcome.HOLDS:
        evidence = _proofs(report.design, finding.states, deadline or Deadline())
    elif finding.name == "bounded" and finding.outcome is Outcome.HOLDS:
        evidence = _sums_of_bounds(report.design)
    if evidence is None:
        return None
    return {"certificate": VERSION, "design": report.design.name, "property": finding.name,
            "verdict": finding.outcome.value, "evidence": evidence}


def _run(finding: Finding) -> dict[str, Any] | None:
    """A run into a violation, and what can be repeated for ever at its end."""
    steps = [dict(step) for step in finding.changes]
    if finding.name == "deadlock":
        return {"legs": _in_json(finding.legs)} if finding.legs else {"steps": steps}
    if finding.name in ("loss", "failure"):
        return {"steps": steps}
    if finding.name.startswith("starvation: "):
        return {"steps": steps, "loop": finding.loop}
    if finding.meanwhile is not None:
        at = len(finding.steps)
        return {"steps": steps, "at": at, "loop": at + finding.meanwhile.loop,
                "stuck": list(finding.meanwhile.tasks)}
    return None


def _proofs(design: Design, states: int, deadline: Deadline) -> dict[str, Any] | None:
    """A proof for each connected part, or that all its states are to be visited; None if one has
    neither."""
    proofs: list[dict[str, Any]] = []
    for part in parts(design):
        answer = decide(part, deadline)
        if not answer.never_stuck:
            if not 0 < states <= MAX_STATES:
                return None
            proofs.append({"task": next(iter(part.tasks)), "states": states})
            continue
        if answer.only is not None:
            told = told_legs(answer.table, answer.net, answer.only.legs)
            proofs.append({"task": next(iter(part.tasks)), "legs": _in_json(told)})
            continue
        proofs.append({
            "task": next(iter(part.tasks)),
            "sums": [{"weights": _named(answer.net, weights), "total": total}
                     for weights, total in answer.sums],
            "clauses": [[_option(answer.net, option) for option in clause.options]
                        for clause in answer.clauses],
        })
    return {"parts": proofs}


def _sums_of_bounds(design: Design) -> dict[str, Any] | None:
    grows = [link for link in design.links.values() if link.flow is Flow.UNBOUNDED]
    net, found = bounds(design, grows)
    if len(found) < len(grows):
        return None
    return {"bounds": [{"link": name, "most": each.most, "weights": _named(net, each.sum.weights)}
                       for name, each in found.items()]}


def _in_json(legs: Sequence[ToldLeg]) -> list[dict[str, Any]]:
    return [{"keep": leg.keep, "then": [dict(step) for step in leg.changes], "times": leg.times}
            for leg in legs]


def _option(net: Counters, option: Inequality) -> dict[str, Any]:
    return {"weights": _named(net, option.weights), "at_most": option.total}


def _named(net: Counters, weights: Mapping[int, int]) -> dict[str, int]:
    return {net.counters[n].name: weight for n, weight in weights.items()}
