"""The text of an expression and its value: both are Python's."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.spec.notation import expr as e
from checkvalve.spec.notation.errors import ModelFault
from checkvalve.spec.notation.evaluate import apply, evaluate
from checkvalve.spec.notation.model import Value
from checkvalve.spec.notation.model import LoweredAction
from checkvalve.spec.notation.show import show

RECORD = e.Record("Message", (("sender", e.Int(e.Lit(0), e.Lit(2))), ("number", e.INT)))
QUEUE = e.Queue(RECORD, e.Lit(3))
A, B = e.Read("a", e.INT), e.Read("b", e.INT)
UP, DOWN = e.Read("up", e.BOOL), e.Read("down", e.BOOL)
Q, M = e.Read("q", QUEUE), e.Read("m", RECORD)
Message = namedtuple("Message", ["sender", "number"])

FIRST_NUMBER = e.ite(e.lt(e.Lit(0), e.length(Q)), e.field(e.at(Q, e.Lit(0)), 1), e.Lit(-7))
ARITHMETIC = (e.add, e.sub, e.mul, e.floordiv, e.mod, e.min_, e.max_)
COMPARISONS = (e.eq, e.ne, e.lt, e.le)

integers = st.deferred(lambda: st.one_of(
    st.sampled_from([A, B, e.field(M, 0), e.length(Q), FIRST_NUMBER, e.length(e.push(Q, M))]),
    st.integers(-4, 4).map(e.Lit),
    st.builds(lambda op, x, y: op(x, y), st.sampled_from(ARITHMETIC), integers, integers),
    st.builds(e.neg, integers),
    st.builds(e.ite, truths, integers, integers),
))
truths = st.deferred(lambda: st.one_of(
    st.sampled_from([UP, DOWN, e.eq(e.at(e.push(Q, M), e.Lit(0)), M)]),
    st.builds(lambda op, x, y: op(x, y), st.sampled_from(COMPARISONS), integers, integers),
    st.builds(lambda op, *parts: op(*parts), st.sampled_from([e.and_, e.or_]), truths, truths,
              truths),
    st.builds(e.not_, truths),
))
messages = st.tuples(st.integers(0, 2), st.integers(-3, 3))
states = st.fixed_dictionaries({
    "a": st.integers(-5, 5), "b": st.integers(-5, 5), "up": st.booleans().map(int),
    "down": st.booleans().map(int), "m": messages,
    "q": st.lists(messages, max_size=2).map(tuple),
})


def python_names(state: dict[str, Any]) -> dict[str, Any]:
    """The values of a shown text's names in Python."""
    return {
        **state, "up": bool(state["up"]), "down": bool(state["down"]),
        "m": Message(*state["m"]), "q": [Message(*one) for one in state["q"]],
        "push": lambda queue, element: [*queue, element], "pop": lambda queue: queue[1:],
        "Message": Message,
    }


def value_or_error(make: Any) -> Any:
    """The value, or the word *error* where there is none."""
    try:
        return make()
    except (ModelFault, ZeroDivisionError):
        return "error"


@settings(max_examples=200)
@given(st.one_of(integers, truths), states)
def test_shown_text_means_to_python_what_the_expression_evaluates_to(
    expr: e.Expr, state: dict[str, Value]
) -> None:
    """Reading the text back with Python's own parser gives the evaluator's value."""
    shown = show(expr, limit=10**6)
    read_back = value_or_error(lambda: eval(shown, {}, python_names(state)))  # noqa: S307
    assert value_or_error(lambda: evaluate(expr, state)) == read_back


@pytest.mark.parametrize(("expr", "text"), [
    (e.sub(A, e.sub(B, e.Lit(1))), "a - (b - 1)"),
    (e.not_(e.lt(e.Lit(0), e.length(Q))), "len(q) == 0"),
    (e.le(e.Lit(1), A), "a >= 1"),
    (e.add(A, e.Lit(-1)), "a - 1"),
    (e.and_(e.or_(UP, DOWN), UP), "(up or down) and up"),
    (e.lt(A, e.ReadAfter("a", e.INT)), "a < after.a"),
    (e.eq(e.Read("phase", e.Int(e.Lit(0), e.Lit(1), ("idle", "busy"))), e.Lit(1)),
     "phase == busy"),
])
def test_text_is_what_a_person_would_write(expr: e.Expr, text: str) -> None:
    """Parentheses are few, numbers stand on the right, and enumerations have names."""
    assert show(expr) == text


def test_text_of_a_tree_with_shared_parts_stays_short() -> None:
    """A tree that doubles at each of 60 levels is abbreviated instead of printed."""
    expr = A
    for _ in range(60):
        expr = e.mul(e.add(expr, e.Lit(1)), expr)
    assert len(show(expr)) < 10_000


def test_deep_tree_is_shown_and_evaluated() -> None:
    """Depth is not limited by Python's recursion limit."""
    expr, last = A, 20_000
    for number in range(1, last + 1):
        expr = e.ite(e.eq(B, e.Lit(number)), e.Lit(number), expr)
    assert evaluate(expr, {"a": -1, "b": last + 1}) == -1
    assert show(expr)


def test_element_beyond_the_end_does_not_matter_where_it_is_not_selected() -> None:
    """``and``, ``or`` and choices look only at what decides them."""
    head_is_one = e.eq(e.field(e.at(Q, e.Lit(0)), 1), e.Lit(1))
    empty = e.not_(e.lt(e.Lit(0), e.length(Q)))
    state: dict[str, Value] = {"q": ()}
    assert evaluate(e.or_(empty, head_is_one), state) == 1
    assert evaluate(e.and_(e.not_(empty), head_is_one), state) == 0
    assert evaluate(FIRST_NUMBER, state) == -7


@pytest.mark.parametrize("expr", [
    e.field(e.at(Q, e.Lit(0)), 1), e.at(Q, e.Lit(-1)), e.push(e.pop(Q), M),
    e.floordiv(e.Lit(1), e.Lit(0)), e.mod(A, B),
])
def test_using_what_does_not_exist_is_the_fault_of_the_machine(expr: e.Expr) -> None:
    """An element beyond the end, the tail of nothing and a division by zero are faults."""
    with pytest.raises(ModelFault):
        evaluate(expr, {"q": (), "m": (0, 0), "a": 1, "b": 0})


def test_action_reads_only_the_state_before_it() -> None:
    """Updates happen at once: two slots can be exchanged."""
    swap = LoweredAction("swap", (), False, False, e.lt(A, B), {"a": B, "b": A}, ())
    assert apply(swap, {"a": 1, "b": 2, "c": 3}) == {"a": 2, "b": 1, "c": 3}
    assert apply(swap, {"a": 2, "b": 1, "c": 3}) is None
