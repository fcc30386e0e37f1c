"""Machines of a thousand actions or places: what they cost grows with their size, no faster."""

from __future__ import annotations

import sys
from pathlib import Path

import llvmlite.ir as ir
import pytest

from benchmarks.lowering import Walk
from checkvalve.conformance.chapters.file import load_chapter
from checkvalve.spec.design.net.net import Net
from checkvalve.spec.engines.native.layout import Layout
from checkvalve.spec.engines.native.rows import RowCode
from checkvalve.spec.engines.native.successors import (
    Checks, emit_inspect, emit_successors_by_rows,
)
from checkvalve.spec.engines.search import check_rules, instances
from checkvalve.spec.notation import InputError, NotationError, bind
from checkvalve.spec.notation.bound import BoundMachine
from checkvalve.spec.verdicts.verdict import Budget, Outcome, Verdict
from checkvalve.spec.verify import verify

PLACES = 2_400


def calls_to_lower(length: int) -> int:
    """The number of functions called to read a walk of so many actions."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    bound = bind(Walk, length=length)
    sys.setprofile(count)
    try:
        bound.model  # noqa: B018 (lowered on access)
    finally:
        sys.setprofile(None)
    return calls


def test_reading_a_machine_costs_the_same_for_each_action() -> None:
    """Four times the actions take four times the calls, not sixteen times."""
    calls_to_lower(10)
    assert calls_to_lower(800) < 4.4 * calls_to_lower(200)


def compiled_text(length: int) -> int:
    """The length of a walk's code as LLVM gets it, with the checks of its rules."""
    model = bind(Walk, length=length).model
    checks = Checks.of(model, model.rules)
    module = ir.Module()
    code = RowCode(module, Layout(model))
    emit_successors_by_rows(code, checks)
    emit_inspect(code, checks)
    return len(str(module))


def test_actions_of_one_shape_are_compiled_once() -> None:
    """The code of 2,200 actions is no longer than that of 1,100, but for numbers."""
    assert compiled_text(2_200) < 1.02 * compiled_text(1_100)


def test_a_walk_of_a_thousand_steps_is_decided_with_its_trace() -> None:
    """The violation is found, retraced and replayed to its last step."""
    verdict, = check_rules(bind(Walk, length=1_000), budget=Budget(threads=1), engine="native")
    assert verdict.outcome is Outcome.VIOLATED and verdict.states == 1_002
    assert verdict.trace is not None and len(verdict.trace.steps) == 1_001
    assert verdict.trace.steps[-1].state["places[1000]"] == 1


def ring(places: int, rows: int, tokens: int, most: int = 1) -> BoundMachine:
    """Tokens that go round the first ``rows`` of many places, one in a place at most; with one
    place left out of the round, they deadlock.
    """
    targets = [(place + 1) % places for place in range(rows)]
    return bind(
        Net, at_least=tuple(((place, 1),) for place in range(rows)),
        at_most=tuple(((target, 0),) for target in targets),
        change=tuple(((place, -1), (target, 1)) for place, target in enumerate(targets)),
        fair_rows=rows, chance_rows=0, start=(1,) * tokens + (0,) * (places + 1 - tokens),
        most=(most,) * (places + 1), limit=(most,) * (places + 1), rest=(0,) * (places + 1),
        stopped=places)


def on(bound: BoundMachine, engine: str) -> Verdict:
    """The verdict on deadlock."""
    verdict, = check_rules(bound, instances(bound, "DESIGN-1"), Budget(threads=1),
                           engine)  # type: ignore[arg-type]
    return verdict


def test_a_net_of_many_places_is_decided_by_native_code() -> None:
    """A token goes round 2,400 places forever; without the last step it is deadlocked there."""
    round_and_round = on(ring(PLACES, PLACES, 1), "native")
    assert (round_and_round.outcome, round_and_round.states) == (Outcome.HOLDS, PLACES)
    stuck = on(ring(PLACES, PLACES - 1, 1), "native")
    assert (stuck.outcome, stuck.states) == (Outcome.VIOLATED, PLACES)
    assert stuck.trace is not None and len(stuck.trace.steps) == PLACES - 1


def test_both_engines_agree_on_a_net_of_many_places() -> None:
    """States, steps and the trace are the same, where few of the places are used."""
    found = [on(ring(PLACES, 9, 3), engine) for engine in ("native", "interpreter")]
    assert found[0].outcome is Outcome.VIOLATED
    assert len({(v.outcome, v.states, v.transitions, v.depth) for v in found}) == 1
    assert found[0].trace == found[1].trace


def test_a_state_may_have_64_thousand_bits() -> None:
    """A net of 8,200 places of a byte each is searched by native code, to its end."""
    verdict = on(ring(8_200, 4, 2, most=255), "native")
    assert (verdict.outcome, verdict.states) == (Outcome.VIOLATED, 10)


# --- chapters whose expressions are deep --------------------------------------------------

HEAD = "from checkvalve.spec.notation import *\nclass A(Machine):\n"
RULE = "    @always('A-1', MUST, 'x', source='y')\n    def r(self):\n        return self.x != -1\n"


def outcomes(folder: Path, text: str) -> list[Outcome]:
    """The outcomes of ``verify`` for a chapter of this text."""
    file = folder / "chapter.py"
    file.write_text(HEAD + text)
    return [row.verdict.outcome for row in verify([load_chapter(file)])]


def test_a_long_row_of_branches_is_read(tmp_path: Path) -> None:
    """A thousand ``elif`` need no recursion."""
    rows = "".join(f"        elif self.x == {n}:\n            self.x = {(7 * n + 1) % 1000}\n"
                   for n in range(1000))
    text = ("    x = integer(0, 999)\n    @action\n    def f(self):\n        if self.x == 999:\n"
            f"            self.x = 0\n{rows}{RULE}")
    assert outcomes(tmp_path, text) == [Outcome.HOLDS]


def test_a_long_table_is_read(tmp_path: Path) -> None:
    """An index that is known only at run time becomes a choice among all entries."""
    text = ("    T = table(tuple(range(1500)))\n    x = integer(0, 1499)\n    @action\n"
            f"    def f(self):\n        self.x = self.T[(self.x * 7 + 1) % 1500]\n{RULE}")
    assert outcomes(tmp_path, text) == [Outcome.HOLDS]


def test_what_is_nested_too_deeply_is_refused_with_its_place(tmp_path: Path) -> None:
    """Python's own stack is not the reader's concern, but the file and the line are."""
    text = ("    x = integer(0, 1)\n    @action\n    def f(self):\n"
            f"        self.x = 0{' + self.x * 0' * 900}\n{RULE}")
    with pytest.raises(NotationError, match="nested too deeply") as found:
        outcomes(tmp_path, text)
    assert found.value.where.endswith("chapter.py:5")


def test_a_rule_over_nothing_says_so(tmp_path: Path) -> None:
    """Not that there is no such rule."""
    text = ("    N = const(0)\n    x = integer(0, 1)\n    @action\n    def f(self):\n"
            "        self.x = 1 - self.x\n    @always('A-1', MUST, 'x', source='y', i=upto(N))\n"
            "    def r(self, i):\n        return True\n")
    with pytest.raises(InputError, match="speaks of nothing: .* no value for i"):
        outcomes(tmp_path, text)


def test_a_constant_outside_of_the_class_is_refused(tmp_path: Path) -> None:
    """It has no name there, and no value."""
    text = ("    x = integer(0, const(3))\n    @action\n    def f(self):\n"
            f"        self.x = 0\n{RULE}")
    with pytest.raises(InputError, match="declared outside the class"):
        outcomes(tmp_path, text)
