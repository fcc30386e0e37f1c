"""The cluster behind its port: the same histories, through checked messages of plain JSON."""

from __future__ import annotations

import pytest

from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.adapters.storm_topology import ReferenceTopology, history_over
from checkvalve.conformance.ports import PORTS
from checkvalve.conformance.ports.storm_topology import STORM_TOPOLOGY
from checkvalve.conformance.suites.topology_runs import judged, terms_of
from checkvalve.reference.storm.cluster import run
from checkvalve.reference.storm.faults import scenario
from checkvalve.reference.storm.topologies import TOPOLOGIES


@pytest.mark.parametrize("name", sorted(TOPOLOGIES))
def test_a_history_over_the_port_is_the_same_and_keeps_the_rules(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only root ids look different, for they are texts there."""
    monkeypatch.setitem(PORTS, STORM_TOPOLOGY.name, STORM_TOPOLOGY)  # type: ignore[arg-type]
    session = InProcessTarget("reference.storm.topology", ReferenceTopology).open()
    one = scenario(TOPOLOGIES[name], 4)
    told = history_over(session, one)
    session.close()
    assert [(event.at, event.what) for event in told] == [
        (event.at, event.what) for event in run(one)]
    assert judged(told, terms_of(one)) == []
