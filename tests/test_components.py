"""Components in which a fair run can stay: both ways of finding them agree."""

from __future__ import annotations

from random import Random

import pytest
from checkvalve.spec.engines import components
from checkvalve.spec.engines.components import fair_components
from checkvalve.spec.verdicts.deadline import Deadline, OutOfTime
from checkvalve.spec.engines.graph import Graph


def random_graph(random: Random) -> Graph:
    """States with steps by some of a few actions, each to any state."""
    states, actions = random.randint(1, 30), random.randint(1, 5)
    share = random.choice((0.1, 0.3, 0.6))
    first, target, via = [0], list[int](), list[int]()
    for _ in range(states):
        for action in range(actions):
            if random.random() < share:
                target.append(random.randrange(states))
                via.append(action)
        first.append(len(target))
    none = [-1] * states
    return Graph([()] * states, first, target, via, none, none, [0] * states)


@pytest.mark.parametrize("seed", range(200))
def test_scipy_finds_the_components_that_tarjan_finds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the whole of a random graph, and in a part of it."""
    random = Random(seed)
    graph = random_graph(random)
    count = len(graph.states)
    fair = random.sample(range(5), random.randint(0, 4))
    for states in (range(count), random.sample(range(count), (count + 1) // 2)):
        found = []
        for large in (0, 10**9):
            monkeypatch.setattr(components, "LARGE", large)
            parts = fair_components(graph, states, fair, Deadline())
            found.append(sorted(sorted(part) for part in parts))
        assert found[0] == found[1]


def test_what_cannot_be_stopped_is_not_begun_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large graph takes longer than the time that is left."""
    monkeypatch.setattr(components, "LARGE", 0)
    monkeypatch.setattr(components, "SECONDS_PER_EDGE", 10.0)
    graph = Graph([()], [0, 1], [0], [0], [-1], [-1], [0])
    assert fair_components(graph, [0], [], Deadline()) == [[0]]
    with pytest.raises(OutOfTime):
        fair_components(graph, [0], [], Deadline(5.0))
