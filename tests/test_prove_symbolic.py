"""Proofs for every value of a constant, on the credit-controlled link and small machines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from checkvalve.spec.engines.prove import ProverVerdict, bounded, prove
from checkvalve.spec.flow.credit import Link, LinkAsWritten
from checkvalve.spec.notation import (
    MUST, Machine, action, always, bind, const, fifo, integer, leads_to, require,
)
from checkvalve.spec.notation.errors import ModelFault
from checkvalve.spec.notation.expr import ConstRef, Expr, le, lt, sub
from checkvalve.spec.notation.lower import lower
from checkvalve.spec.notation.model import LoweredRule, Model
from checkvalve.spec.verdicts.verdict import Budget, Outcome

C, B, L = ConstRef("C"), ConstRef("b"), ConstRef("L")


class Spender(Machine):
    """Spends more than it has, unless it has an even amount."""

    C = const(4, at_least=1)
    rest = integer(0, C, init=C)

    @action
    def spend(self) -> None:
        require(self.rest > 0)
        self.rest -= 2

    @always("S-1", MUST, "There is never more than at first.", source="here")
    def never_more(self) -> bool:
        return self.rest <= self.C


class Buffer(Machine):
    """A queue with a counter beside it that always agrees, and a hope."""

    C = const(2, at_least=1)
    queue = fifo(integer(0, 1), C)
    count = integer(0, C)

    @action
    def put(self) -> None:
        require(len(self.queue) < self.C)
        self.queue.push(1)
        self.count += 1

    @action(fair=True)
    def take(self) -> None:
        self.queue.pop()
        self.count -= 1

    @always("B-1", MUST, "The counter is the length.", source="here")
    def counted(self) -> bool:
        return self.count == len(self.queue)

    @leads_to("B-2", MUST, "It gets empty.", source="here")
    def empties(self) -> tuple[bool, bool]:
        return self.count > 0, self.count == 0


class Rounder(Machine):
    """A clock, rounded to a tick."""

    u = const(3, at_least=1)
    H = const(9)
    now = integer(0, H)
    clock = integer(0, H)

    @action
    def advance(self) -> None:
        require(self.now < self.H)
        self.now += 1
        self.clock = self.now - self.now % self.u

    @always("R-1", MUST, "The clock is a multiple of its tick.", source="here")
    def rounded(self) -> bool:
        return self.clock % self.u == 0

    @always("R-2", MUST, "The clock does not advance.", source="here")
    def still(self) -> bool:
        return self.clock == 0

    @always("R-3", MUST, "Twice the clock is a multiple as well.", source="here")
    def doubled(self) -> bool:
        return (self.clock + self.clock) % self.u == 0


def symbolic(machine: type[Machine], *names: str) -> Model:
    """The model with these constants left open."""
    return lower(machine, bind(machine).constants, frozenset(names))


def rule(model: Model, rule_id: str) -> LoweredRule:
    """The rule of a model with an id."""
    return next(one for one in model.rules if one.rule.id == rule_id)


def proved(machine: type[Machine], rule_id: str, *names: str,
           assuming: tuple[Expr, ...] = ()) -> ProverVerdict:
    """An attempt at a proof, under the default budget."""
    model = symbolic(machine, *names)
    return prove(model, rule(model, rule_id), assuming=assuming)


@pytest.mark.parametrize("rule_id", ["FLOW-1", "FLOW-2", "FLOW-4", "FLOW-5"])
def test_link_is_safe_for_every_capacity_batch_and_loss(rule_id: str) -> None:
    """Conservation and what follows from it are proved for all C, b and L."""
    verdict = proved(Link, rule_id, "C", "b", "L")
    assert (verdict.outcome, verdict.method) == (
        Outcome.HOLDS, "k-induction, k=1, for all C, b, L")


def test_link_is_never_stuck_for_every_capacity_that_outlasts_the_losses() -> None:
    """With C - L >= b there is always something to do, for all C, b and L."""
    verdict = proved(Link, "FLOW-3", "C", "b", "L", assuming=(le(B, sub(C, L)),))
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.method.endswith("for all C, b, L, where b <= C - L")


def test_violation_comes_with_the_smallest_constants_that_allow_so_short_a_run() -> None:
    """Without losses, one slot and batches of two deadlock in three steps."""
    model = symbolic(Link, "C", "b")
    verdict = bounded(model, rule(model, "FLOW-3"), 8, assuming=(lt(C, B),))
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.constants == {"C": 1, "b": 2}
    assert verdict.trace is not None
    assert [step.label for step in verdict.trace.steps] == ["send", "arrive", "free"]
    assert "C=1, b=2" in verdict.reason


@pytest.mark.parametrize(("rule_id", "length"), [("FLOW-E1", 2), ("FLOW-E2", 2), ("FLOW-E3", 1)])
def test_balances_of_the_text_are_violated_in_the_base_case(rule_id: str, length: int) -> None:
    """A false invariant is refuted by a shortest run, whatever is assumed in the induction."""
    verdict = proved(LinkAsWritten, rule_id, "C", "b", "L")
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert len(verdict.trace.steps) == length


def test_false_lemma_makes_nothing_hold() -> None:
    """A lemma that contradicts the machine is left out and does not prove its neighbour."""
    model = symbolic(LinkAsWritten, "C", "b", "L")
    false = [rule(model, "FLOW-E1"), rule(model, "FLOW-E2")]
    verdict = prove(model, rule(model, "FLOW-2"), lemmas=false, max_k=2)
    assert verdict.outcome is Outcome.UNKNOWN


def test_unprovable_rule_is_unknown_with_a_counterexample_to_the_induction() -> None:
    """Without the law of conservation nothing keeps the solver from an unreachable state."""
    model = symbolic(Link, "C", "b", "L")
    verdict = prove(model, rule(model, "FLOW-2"), lemmas=(), max_k=1)
    assert verdict.outcome is Outcome.UNKNOWN
    assert "counterexample to induction: with C=" in verdict.reason
    assert "leads to" in verdict.reason


def test_an_answer_does_not_depend_on_what_was_asked_before() -> None:
    """Z3 may find any counterexample; of one question it finds the same in any order of them."""
    def ask(rule_id: str, max_k: int) -> str:
        model = symbolic(Link, "C", "b", "L")
        return prove(model, rule(model, rule_id), lemmas=(), max_k=max_k, depth=2).reason

    questions = (("FLOW-2", 1), ("FLOW-1", 1), ("FLOW-2", 2))
    found = [{each: ask(*each) for each in order}
             for order in (questions, questions, questions[::-1])]
    assert found[0] == found[1] == found[2]
    assert found[0]["FLOW-2", 1] != found[0]["FLOW-2", 2]


def test_leaving_a_range_is_the_fault_of_the_machine_even_where_the_rule_is_true() -> None:
    """A machine that can overdraw proves nothing; the error names constants and steps."""
    with pytest.raises(ModelFault, match="C=1") as raised:
        proved(Spender, "S-1", "C")
    assert raised.value.steps == ()
    assert "test_prove_symbolic.py" in raised.value.where


def test_queue_of_known_capacity_is_proved_by_unrolling() -> None:
    """The counter beside a queue agrees with it."""
    assert proved(Buffer, "B-1").outcome is Outcome.HOLDS


@pytest.mark.parametrize(("rule_id", "names", "reason"), [
    ("B-1", ("C",), "a queue's capacity is symbolic (C)"),
    ("B-2", (), "leads to"),
])
def test_what_is_not_supported_is_unknown_with_the_reason(
    rule_id: str, names: tuple[str, ...], reason: str
) -> None:
    """Symbolic capacities of queues and liveness are for other engines."""
    verdict = proved(Buffer, rule_id, *names)
    assert verdict.outcome is Outcome.UNKNOWN
    assert reason in verdict.reason


@pytest.mark.parametrize("seed", range(3))
def test_rounding_to_an_unknown_tick_is_proved_whatever_the_luck_of_the_solver(seed: int) -> None:
    """The facts about remainders suffice, so that no product of unknowns is met."""
    code = ("import sys, z3; sys.path.insert(0, sys.argv[1]); import test_prove_symbolic as t;"
            "z3.set_param('smt.random_seed', int(sys.argv[2]));"
            "print(t.proved(t.Rounder, 'R-1', 'u', 'H').outcome.value)")
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent), str(seed)],
        check=True, capture_output=True, text=True, timeout=50)
    assert done.stdout.strip() == "holds"


def test_what_the_facts_about_remainders_leave_open_is_no_violation() -> None:
    """Then the definition decides, or nothing is said."""
    assert proved(Rounder, "R-2", "u").outcome is Outcome.VIOLATED
    model = symbolic(Rounder, "u")
    assert bounded(model, rule(model, "R-3"), 3).outcome is Outcome.UNKNOWN


def test_spent_time_is_unknown() -> None:
    """A budget of no time ends before anything is covered."""
    model = symbolic(Link, "C", "b")
    at_once = Budget(max_seconds=0.0)
    for verdict in (bounded(model, rule(model, "FLOW-1"), 3, at_once),
                    prove(model, rule(model, "FLOW-1"), budget=at_once)):
        assert verdict.outcome is Outcome.UNKNOWN
        assert "time budget" in verdict.reason


def test_bounded_search_that_finds_nothing_is_unknown() -> None:
    """A search of some depth never says holds."""
    model = symbolic(Link, "C", "b")
    verdict = bounded(model, rule(model, "FLOW-1"), 3)
    assert (verdict.outcome, verdict.depth) == (Outcome.UNKNOWN, 3)
    assert verdict.reason == "no violation within 3 steps"


def test_solver_is_loaded_only_when_it_is_used() -> None:
    """Importing the prover costs nothing."""
    code = "import sys, checkvalve.spec.engines.prove; sys.exit('z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
