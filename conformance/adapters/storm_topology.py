"""The reference's cluster behind the port ``storm.topology``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ...reference.storm.cluster import Cluster, Happened
from ...reference.storm.faults import Fault, Scenario, What
from ...reference.storm.topologies import TOPOLOGIES
from ...reference.storm.worker import Settings
from ..ports.base import PROTOCOL_VERSION, Session
from ..ports.storm_topology import STORM_TOPOLOGY
from .base import Declined
from .port_adapter import PortAdapter

__all__ = ["ReferenceTopology", "history_over"]

_WITH_ROOT = ("root", "reached", "acked", "failed")


class ReferenceTopology(PortAdapter):
    """One scenario after the other."""

    port = STORM_TOPOLOGY
    policy = "repeat"
    cluster: type[Cluster] = Cluster

    _settings: Mapping[str, Any]

    def start(self, settings: Mapping[str, Any]) -> None:
        if settings["topology"] not in TOPOLOGIES:
            raise Declined("unknown-topology")
        self._settings = settings

    def run(self, faults: list[list[Any]]) -> list[list[int | str]]:
        """Run the scenario of the settings with these faults."""
        given = self._settings
        one = Scenario(
            TOPOLOGIES[given["topology"]], given["workers"], given["messages"],
            Settings(**{each.name: given[each.name] for each in fields(Settings)}),
            tuple(Fault(at, What[kind], on, to, lasts) for at, kind, on, to, lasts in faults),
            given["seed"])
        return [_row(event) for event in self.cluster(one).run()]


def _row(event: Happened) -> list[int | str]:
    about = list(event.about)
    if event.what in _WITH_ROOT:
        about[1] = f"{about[1]:x}"
    return [event.at, event.what, *about]


def history_over(session: Session, one: Scenario) -> list[Happened]:
    """Run a scenario on whatever is behind a session: its history.

    Raises ``TargetError`` when the target fails to answer.
    """
    settings = {each.name: getattr(one.settings, each.name) for each in fields(Settings)}
    session.request({
        "do": "hello", "protocol": PROTOCOL_VERSION, "port": STORM_TOPOLOGY.name,
        "settings": settings | {
            "topology": one.topology.name, "workers": one.workers, "messages": one.messages,
            "seed": one.seed}})
    reply = session.request({"do": "run", "faults": [
        [fault.at, fault.what.name, fault.on, fault.to, fault.lasts] for fault in one.faults]})
    return [Happened(at, what, tuple(about)) for at, what, *about in reply["ok"]]
