"""The systems that there are: their ports and suites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...spec.notation.errors import InputError
from ..ports.base import Port
from ..suites.suite import AnySuite
from .kafka_purgatory.port import PURGATORY
from .kafka_purgatory.suite import KAFKA_PURGATORY_SUITE
from .kafka_races.port import KAFKA_RACES
from .kafka_races.suite import KAFKA_RACES_SUITE
from .kafka_timer.port import TIMER
from .kafka_timer.suite import TIMER_SUITE
from .queue.port import QUEUE
from .queue.suite import QUEUE_SUITE
from .storm_acker.port import STORM_ACKER
from .storm_acker.suite import STORM_ACKER_SUITE
from .storm_input.port import STORM_INPUT
from .storm_input.suite import STORM_INPUT_SUITE
from .storm_partition.port import STORM_PARTITION
from .storm_partition.suite import STORM_PARTITION_SUITE
from .storm_spout.port import STORM_SPOUT
from .storm_spout.suite import STORM_SPOUT_SUITE
from .storm_status.port import STORM_STATUS
from .storm_status.suite import STORM_STATUS_SUITE
from .storm_topology.port import STORM_TOPOLOGY
from .storm_topology.suite import STORM_TOPOLOGY_SUITE

__all__ = ["PORTS", "SUITES", "suite_named"]

PORTS: Final[Mapping[str, Port]] = {
    port.name: port for port in (
        QUEUE, STORM_INPUT, STORM_STATUS, STORM_ACKER, STORM_SPOUT, STORM_PARTITION,
        PURGATORY, KAFKA_RACES, TIMER, STORM_TOPOLOGY)
}

SUITES: Final[Mapping[str, AnySuite]] = {
    suite.name: suite for suite in (
        QUEUE_SUITE, STORM_INPUT_SUITE, STORM_STATUS_SUITE, STORM_ACKER_SUITE,
        STORM_SPOUT_SUITE, STORM_PARTITION_SUITE, STORM_TOPOLOGY_SUITE,
        TIMER_SUITE, KAFKA_PURGATORY_SUITE, KAFKA_RACES_SUITE,
    )
}


def suite_named(name: str) -> AnySuite:
    """The suite of that name. Raises ``InputError`` where there is none."""
    if name not in SUITES:
        raise InputError(f"there is no suite {name!r}", next_step=f"Use: {', '.join(SUITES)}.")
    return SUITES[name]
