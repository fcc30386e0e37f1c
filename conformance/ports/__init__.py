"""What an implementation must offer to be put under test: one port per kind of component."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .base import Adapter, Message, Operation, Port, Session, Target
from .kafka_races import KAFKA_RACES
from .purgatory import PURGATORY
from .queue import QUEUE
from .storm_acker import STORM_ACKER
from .storm_input import STORM_INPUT
from .storm_partition import STORM_PARTITION
from .storm_spout import STORM_SPOUT
from .storm_status import STORM_STATUS
from .storm_topology import STORM_TOPOLOGY
from .timer import TIMER

__all__ = ["PORTS", "Adapter", "Message", "Operation", "Port", "Session", "Target"]

PORTS: Final[Mapping[str, Port]] = {
    port.name: port for port in (
        QUEUE, STORM_INPUT, STORM_STATUS, STORM_ACKER, STORM_SPOUT, STORM_PARTITION,
        PURGATORY, KAFKA_RACES, TIMER,
        STORM_TOPOLOGY)
}
