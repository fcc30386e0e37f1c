"""The native explorer against CPython running the chapters themselves."""

from __future__ import annotations

import pytest

from benchmarks.chain import Chain, states_of_chain
from benchmarks.explorer import Case, measure
from checkvalve.spec.engines.graph import explore_with_interpreter
from checkvalve.spec.engines.native import graph
from checkvalve.spec.flow.credit import Link
from checkvalve.spec.notation import BoundMachine, InternalError, bind
from checkvalve.spec.storm.inputs.queue import AlternatingInput, TaskInput
from checkvalve.spec.verdicts.verdict import Budget

MACHINES = [
    bind(Link, C=4, b=2, L=2), bind(TaskInput, C=1, M=1, R=1, S=1),
    bind(AlternatingInput, C=1, M=1, R=1, S=1), bind(Chain, links=2, C=2),
    bind(Chain, links=2, C=2, widest=1 << 20),
]


@pytest.mark.parametrize("bound", MACHINES, ids=lambda bound: bound.machine.__name__)
def test_native_graph_is_the_interpreters(bound: BoundMachine) -> None:
    """The same states in the same order, and the same edges, from one text read twice."""
    expected = explore_with_interpreter(bound.interpreter, Budget())
    found = graph(bound.model, (), Budget())
    assert found.complete
    assert [found.decode(index) for index in range(found.states)] == [
        bound.interpreter.slots(state) for state in expected.states]
    assert found.first.tolist() == list(expected.first)
    assert found.target.tolist() == list(expected.target)
    assert found.via.tolist() == list(expected.via)
    assert found.depth == max(expected.depth)


def test_the_benchmark_counts_what_it_must() -> None:
    """A small chain comes to the number of states that combinatorics gives."""
    case = Case("small", bind(Chain, links=3, C=2), states_of_chain(3, 2))
    assert measure(case, 1).result.states == 1000


def test_the_benchmark_refuses_a_wrong_count() -> None:
    """A search that came to another number of states is no benchmark."""
    with pytest.raises(InternalError, match="found 1000 states, not 999"):
        measure(Case("small", bind(Chain, links=3, C=2), 999), 1)
