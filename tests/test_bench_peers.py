"""The models that are searched side by side are the same for every program."""

from __future__ import annotations

import shutil

import pytest

from benchmarks.calls import calls
from benchmarks.overflow import overflow
from benchmarks.peers import promela
from benchmarks.peers.models import MODELS, SearchModel
from benchmarks.peers.plain import PLAIN
from benchmarks.peers.programs import PEERS, Spin
from benchmarks.ring import ring
from checkvalve.spec.engines.native import explore
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.notation import BoundMachine
from checkvalve.spec.verdicts.verdict import Budget

SMALL = [("ring", (3, 2, 3), ring), ("calls", (4, 2), calls), ("overflow", (3,), overflow)]


def states_of(plain: str, numbers: tuple[int, ...]) -> int:
    """The number of states that the plain functions reach."""
    start, steps = PLAIN[plain](*numbers)
    seen, left = {start}, [start]
    while left:
        for _, after in steps(left.pop()):
            if after not in seen:
                seen.add(after)
                left.append(after)
    return len(seen)


@pytest.mark.parametrize(("plain", "numbers", "machine"), SMALL)
def test_the_machine_and_the_plain_functions_reach_as_many_states(
    plain: str, numbers: tuple[int, ...], machine: object
) -> None:
    """Two texts of one model, by two programs."""
    assert callable(machine)
    bound: BoundMachine = machine(*numbers)
    assert explore(bound.model, (), Budget(threads=1)).states == states_of(plain, numbers)


@pytest.mark.skipif(shutil.which("spin") is None, reason="SPIN is not installed")
@pytest.mark.parametrize(("plain", "numbers"), [each[:2] for each in SMALL])
def test_spin_reaches_as_many(plain: str, numbers: tuple[int, ...]) -> None:
    """On the third text of the model; its runner refuses another number of states."""
    model = SearchModel(plain, plain, numbers, states_of(plain, numbers), lambda: ring(1, 1, 1),
                        getattr(promela, plain)(*numbers))
    with Spin(model) as spin:
        assert spin.run().seconds >= 0


@pytest.mark.parametrize(("bound", "rule", "steps"), [
    (calls(3, 2), "BENCH-4", 6),
    (calls(3, 3), "BENCH-4", 9),
    (overflow(3), "BENCH-5", None),
    (overflow(3, alternating=True), "BENCH-5", 8),
], ids=["two threads", "three threads", "draining", "alternating"])
def test_the_models_have_the_verdicts_that_are_known(
    bound: BoundMachine, rule: str, steps: int | None
) -> None:
    """Calls deadlock after k t steps; draining the recvQ first keeps the order, and alternating
    breaks it in eight.
    """
    (found,) = check_rules(bound, list(instances(bound, rule)), Budget())
    assert (len(found.trace.steps) if found.trace else None) == steps


def test_a_program_in_c_is_asked_about_what_it_knows_alone() -> None:
    """And minicheck about what it can search in good time."""
    asked = {peer.name: sum(peer.knows(model) for model in MODELS) for peer in PEERS}
    assert asked == {"SPIN, breadth first": 6, "SPIN, depth first": 6, "C by hand, 1 thread": 2,
                     "minicheck": 3}
