"""Clusters with one seeded bug each are caught by the rule that they break."""

from __future__ import annotations

import pytest

from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.systems.storm_topology.runs import RULES
from checkvalve.conformance.systems.storm_topology.twins import TWINS as ZOO
from checkvalve.conformance.targets import resolve_target
from checkvalve.conformance.zoo.hunt import KILLED, hunt


@pytest.mark.parametrize("name", ZOO)
def test_a_twin_of_the_cluster_is_caught_by_the_rule_that_it_breaks(name: str) -> None:
    """The bug is found, shrunk to at most one fault, and the reference does not have it."""
    trophy = hunt(ZOO[name])
    assert trophy.verdict == KILLED and trophy.fixture is not None
    assert trophy.fixture.length <= 3
    assert replay(trophy.fixture, resolve_target("reference.storm.topology")).breach is None


def test_every_rule_of_a_history_has_a_twin() -> None:
    """A rule without one has not been shown to detect anything."""
    assert {twin.rule for twin in ZOO.values()} == set(RULES)
