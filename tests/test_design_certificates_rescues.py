"""Certificates with runs that free each task of a supposed local deadlock, where the states are too
many.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import product
from random import Random
from typing import Any

import pytest

from benchmarks.random_designs.designs import random_design
from benchmarks.random_designs.plain_local import PlainGraph, plain_local
from benchmarks.tampered import tampered
from checkvalve.conformance.designs.certificates import problem_of
from checkvalve.spec.certify.checker import check_certificate
from checkvalve.spec.certify.transitions import system_of
from checkvalve.spec.design.equations.structure import decide
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Design, Flow
from checkvalve.spec.design.verdicts.certificates import of_rescues, of_structure
from checkvalve.spec.design.why.parts import parts
from checkvalve.spec.notation.errors import InputError

RETRIES = """
checkvalve: 2
name: retries
tasks:
  source: {kind: source}
  entry: {kind: merge, policy: fair}
  work: {kind: map, hand: 1, pool: workers}
  end: {kind: route}
  out: {kind: sink}
links:
  - {from: source, to: entry, capacity: 300}
  - {from: entry, to: work, capacity: 300}
  - {from: work, to: end, capacity: 200}
  - {from: end, to: out, capacity: 200}
  - {from: end, to: entry, capacity: 200}
pools:
  workers: {threads: 2}
"""


@cache
def _proof() -> tuple[Design, dict[str, Any]]:
    design = load(RETRIES)
    found = of_rescues(design)
    assert found is not None
    return design, found


def _certificate(design: Design, proof: Mapping[str, Any]) -> dict[str, Any]:
    document = {"certificate": 1, "design": design.name, "property": "no-local-deadlock",
                "verdict": "holds",
                "evidence": {"parts": [{"task": next(iter(design.tasks)), **proof}]}}
    assert not problem_of(document)
    return document


def test_runs_certify_what_no_sums_and_no_search_can() -> None:
    """The whole can deadlock, its states are beyond counting, and there is never a local deadlock.
    """
    design, proof = _proof()
    assert of_structure(decide(design)) is None
    told = check_certificate(_certificate(design, proof), design)
    assert told.confirmed and "runs that free a task" in told.why


def test_runs_that_were_tampered_with_are_refuted() -> None:
    """As every certificate is in `make certificates`."""
    design, proof = _proof()
    kinds = set()
    for kind, document in tampered(_certificate(design, proof), design):
        assert problem_of(document) or not check_certificate(document, design).confirmed, kind
        kinds.add(kind)
    assert {"a run that is none", "a step that is not reported"} <= kinds


@pytest.mark.parametrize("change", [
    {"moment": []}, {"runs": []}, {"moment": [0]}], ids=["never", "no runs", "another moment"])
def test_runs_show_nothing_without_all_that_they_need(change: dict[str, Any]) -> None:
    """One of the moves of the moment must be made again and again, and everybody be freed."""
    design, proof = _proof()
    spoilt = {**proof, "rescues": {**proof["rescues"], **change}}
    assert check_certificate(_certificate(design, spoilt), design).confirmed is False


def test_no_runs_whatever_show_what_is_not_so() -> None:
    """Of random designs in which the plainest walk finds a local deadlock, all runs of two steps
    are claimed, and all transitions as the moment.
    """
    claimed = 0
    for seed in range(60):
        for part in parts(random_design(Random(seed))):
            if not _is_stuck_alone(part):
                continue
            steps = [dict(each) for each in
                     {tuple(transition.change.items()): None
                      for transition in system_of(part).transitions}]
            every = range(len(steps))
            runs = [[n] for n in every] + [list(run) for run in product(every, every)]
            told = check_certificate(_certificate(part, {
                "sums": [], "clauses": [],
                "rescues": {"steps": steps, "moment": list(every), "runs": runs}}), part)
            assert not told.confirmed, seed
            claimed += told.confirmed is False
    assert claimed > 1


def _is_stuck_alone(part: Design) -> bool:
    if any(link.flow in (Flow.UNBOUNDED, Flow.FAIL) for link in part.links.values()):
        return False
    try:
        graph = PlainGraph(part, 200)
    except InputError:
        return False
    return graph.whole and plain_local(graph) is not None
