"""Parts that empty themselves in an order are certified by that order, at any size."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from benchmarks.designs import calls, loops
from benchmarks.random_designs.designs import random_design
from benchmarks.tampered import tampered
from checkvalve.conformance.designs.certificates import problem_of
from checkvalve.spec.certify.checker import check_certificate
from checkvalve.spec.certify.emptying import _Left
from checkvalve.spec.certify.transitions import system_of
from checkvalve.spec.certify.run import Refuted
from checkvalve.spec.certify.system import NotCovered, System
from checkvalve.spec.certify.visited import never_locked_in, never_deadlocked_in
from checkvalve.spec.design.equations.emptying import returning
from checkvalve.spec.design.equations.equations import sums
from checkvalve.spec.design.net.counters import AIM, Counters
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.verdicts.certificates import certificate
from checkvalve.spec.design.why.findings import DesignReport, Finding
from checkvalve.spec.design.why.parts import parts
from checkvalve.spec.verdicts.verdict import Outcome


def _document(design: Design, name: str) -> dict[str, Any]:
    """The certificate of a verdict that is known to be *holds*."""
    report = DesignReport(design, (Finding(name, Outcome.HOLDS, "known", states=1),))
    document = certificate(report, report.finding(name))
    assert document is not None and not problem_of(document)
    told: dict[str, Any] = json.loads(json.dumps(document))
    return told


@pytest.mark.parametrize("name", ["deadlock-free", "no-local-deadlock"])
@pytest.mark.parametrize("design", [loops(400, 1_000, 3), calls(40, 9, 3)], ids=["loops", "calls"])
def test_an_order_certifies_what_is_large(design: Design, name: str) -> None:
    """Hundreds of queues under windows, and calls over many pools, without a solver."""
    document = _document(design, name)
    orders = [proof for proof in document["evidence"]["parts"] if "order" in proof]
    assert orders and all(("run" in proof) == (name == "no-local-deadlock") for proof in orders)
    assert check_certificate(document, design).confirmed
    for told, forged in tampered(document, design):
        assert problem_of(forged) or not check_certificate(forged, design).confirmed, told


@pytest.mark.parametrize("spoil", ["missing", "turned round", "without sums"])
def test_an_order_with_a_gap_shows_nothing(spoil: str) -> None:
    """Each counter rests on those before it."""
    design = loops(80, 1_000, 3)
    document = _document(design, "deadlock-free")
    assert check_certificate(document, design).confirmed
    proof = document["evidence"]["parts"][0]
    if spoil == "missing":
        del proof["order"][:len(proof["order"]) // 2]
    elif spoil == "turned round":
        proof["order"].reverse()
    else:
        proof["sums"].clear()
    assert check_certificate(document, design).confirmed is False


@pytest.mark.parametrize(("planted", "task"), [
    (loops(40, 9, 1, planted=True), "source"), (calls(9, 3, 1, planted=True), "left to right")],
    ids=["loops", "calls"])
def test_no_order_shows_what_is_not_so(planted: Design, task: str) -> None:
    """Not even the longest one, with all that can be shown in it, and all sums."""
    _refuses_the_longest(next(part for part in parts(planted) if task in part.tasks))


def test_no_order_shows_of_random_designs_what_is_not_so() -> None:
    """Random designs that deadlock, each with the longest order."""
    stuck = 0
    for seed in range(60):
        for part in parts(random_design(Random(seed))):
            if _gets_stuck(part):
                _refuses_the_longest(part)
                stuck += 1
    assert stuck > 10


def test_no_order_is_found_where_somebody_is_stuck_alone() -> None:
    """Nor where a part may deadlock as a whole."""
    alone = found = 0
    for seed in range(60):
        for part in parts(random_design(Random(seed))):
            table = translate(part, AIM)
            order = returning(Counters.of(table), table)
            stuck = _gets_stuck(part) or _gets_stuck_alone(part)
            assert not (stuck and order), part
            alone, found = alone + stuck, found + (order is not None)
    assert alone > 10 and found > 2


def _gets_stuck(part: Design) -> bool:
    return _refuted(part, lambda system: never_deadlocked_in(system, 3_000))


def _gets_stuck_alone(part: Design) -> bool:
    return _refuted(part, lambda system: never_locked_in(system, part, 3_000))


def _refuted(part: Design, check: Callable[[System], int]) -> bool:
    """True if all states were visited, and one was wrong."""
    try:
        check(system_of(part))
    except Refuted as wrong:
        return "more than" not in str(wrong)
    except NotCovered:
        pass
    return False


def _refuses_the_longest(part: Design) -> None:
    """The order of all that can be shown is refused."""
    system = system_of(part)
    net = Counters.of(translate(part, AIM))
    kept = [{"weights": {net.counters[n].name: by for n, by in weights.items()}, "total": total}
            for weights, total in sums(net)]
    left, order = _Left(system, kept, system.transitions), list[list[Any]]()
    for _ in range(3):
        for name in system.counters:
            for most in (0, 1):
                if left.high[name] > most and left.has_no_more(name, most):
                    order.append([name, most])
    document = {
        "certificate": 1, "design": part.name, "property": "deadlock-free", "verdict": "holds",
        "evidence": {"parts": [{"task": next(iter(part.tasks)), "sums": kept, "order": order}]}}
    if part.parameters:
        document["parameters"] = dict(part.parameters)
    assert check_certificate(document, part).confirmed is False
