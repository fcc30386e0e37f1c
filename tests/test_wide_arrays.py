"""Long arrays are held in blocks, which nothing that works on one can see."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.lowering import Walk
from checkvalve.spec.engines.search import check_rules
from checkvalve.spec.notation import Machine, action, array, bind, const, integer, require, upto
from checkvalve.spec.notation.errors import ModelFault
from checkvalve.spec.notation.wide import WIDE, FifoCheck, WideArray, blocks_of, elements_of
from checkvalve.spec.verdicts.verdict import Budget

SIZE = WIDE + 7
indices = st.integers(-SIZE - 2, SIZE + 1)


@given(st.lists(st.tuples(indices, st.integers(0, 3)), max_size=12), indices)
def test_a_long_array_reads_and_writes_like_a_list(
    writes: list[tuple[int, int]], asked: int
) -> None:
    """By any index, in order, in comparisons; an index beyond its ends is the same error."""
    start = [place % 4 for place in range(SIZE)]
    wide, plain = WideArray(blocks_of(start)), list(start)
    for index, value in writes:
        assert outcome(wide.__setitem__, index, value) == outcome(plain.__setitem__, index, value)
    assert outcome(wide.__getitem__, asked) == outcome(plain.__getitem__, asked)
    assert list(wide) == plain and wide == plain and plain == wide and len(wide) == len(plain)
    assert (wide[3:5], 3 in wide, 4 in wide, wide.count(2), repr(wide)) == (
        plain[3:5], 3 in plain, 4 in plain, plain.count(2), repr(plain))
    assert list(elements_of(wide.frozen())) == plain


def outcome(ask: Any, *given: Any) -> Any:
    """The value that a call returns, or the error that it ends with."""
    try:
        return ask(*given)
    except IndexError as error:
        return str(error)


def test_states_share_what_no_step_wrote() -> None:
    """A step writes one block of two, so the state after it has the other one of before."""
    bound = bind(Walk, length=4 * WIDE)
    before = bound.interpreter.step(bound.interpreter.initial(), "begin")
    assert before is not None
    after = bound.interpreter.step(before, "walk", (("at", 0),))
    assert after is not None
    old, new = before[0], after[0]
    assert [one is other for one, other in zip(old, new, strict=True)] == [
        False, *[True] * (len(old) - 1)]


class Cells(Machine):
    """Many cells; their ranges are all but one the same."""

    n = const(10)
    cells = array(upto(n), integer(0, 2))

    @action(cell=upto(n))
    def fill(self, cell: int) -> None:
        """One more, for which there may be no room."""
        self.cells[cell] += 1

    @action
    def shrink(self) -> None:
        """No array any more."""
        require(self.cells[0] == 2)
        self.cells = self.cells[1:]


@pytest.mark.parametrize("n", [10, SIZE])
def test_what_leaves_its_range_is_told_of_long_arrays_as_of_short_ones(n: int) -> None:
    """Also in the last block, which is shorter; and that an array has lost an element."""
    oracle = bind(Cells, n=n).interpreter
    state: Any = oracle.initial()
    for _ in range(2):
        state = oracle.step(state, "fill", (("cell", n - 1),))
    with pytest.raises(ModelFault, match=r"cells becomes 3, outside 0\.\.2"):
        oracle.step(state, "fill", (("cell", n - 1),))
    for _ in range(2):
        state = oracle.step(state, "fill", (("cell", 0),))
    with pytest.raises(ModelFault, match="which is of another kind"):
        oracle.step(state, "shrink")


def test_slots_of_a_long_array_come_back_as_the_same_state() -> None:
    """One slot for each element, in order."""
    oracle = bind(Cells, n=SIZE).interpreter
    state = oracle.step(oracle.initial(), "fill", (("cell", SIZE - 1),))
    assert state is not None
    slots = oracle.slots(state)
    assert len(slots) == SIZE and slots[f"cells[{SIZE - 1}]"] == 1
    assert oracle.from_slots(slots) == state


def test_a_long_trace_of_wide_states_is_replayed_step_by_step() -> None:
    """As many steps as places, and the last state is the one that breaks the rule."""
    verdict, = check_rules(bind(Walk, length=2 * WIDE), budget=Budget(threads=1), engine="native")
    assert verdict.trace is not None and len(verdict.trace.steps) == 2 * WIDE + 1
    last = verdict.trace.steps[-1].state
    assert last[f"places[{2 * WIDE}]"] == 1 and sum(last.values()) == 2


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 5), max_size=6))
def test_the_check_of_a_queue_finds_what_is_wrong_whatever_was_there_before(
    before: list[int], after: list[int]
) -> None:
    """After a push, a pop, or any other change of a queue in which nothing was wrong."""
    def plain(value: Any) -> str:
        return next((f"becomes {each}" for each in value if each > 3), "")

    check = FifoCheck(plain)
    changed = (after, before + after, before[1:], before[1:] + after)
    assert [check.since(tuple(each), tuple(before)) for each in changed] == [
        check(tuple(each)) for each in changed]
