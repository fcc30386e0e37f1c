"""Clusters with one seeded bug each are caught by the rule that they break."""

from __future__ import annotations

import pytest

from checkvalve.conformance.suites.topology_runs import RULES, judged, terms_of
from checkvalve.conformance.zoo.storm_topology import ZOO, hunt_topology
from checkvalve.reference.storm.cluster import run


@pytest.mark.parametrize("name", ZOO)
def test_a_twin_of_the_cluster_is_caught_by_the_rule_that_it_breaks(name: str) -> None:
    """The bug is found, shrunk to at most one fault, and the reference does not have it."""
    trophy = hunt_topology(ZOO[name])
    assert trophy.scenario is not None and trophy.offence is not None
    assert trophy.offence.rule is RULES[ZOO[name].rule]
    assert trophy.length <= 1
    if not trophy.scenario.topology.circles:
        assert judged(run(trophy.scenario), terms_of(trophy.scenario)) == []


def test_every_rule_of_a_history_has_a_twin() -> None:
    """A rule without one has not been shown to detect anything."""
    assert {twin.rule for twin in ZOO.values()} == set(RULES)
