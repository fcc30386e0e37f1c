"""The suites that there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...spec.notation.errors import InputError
from .kafka_purgatory import KAFKA_PURGATORY_SUITE
from .kafka_races import KAFKA_RACES_SUITE
from .queue import QUEUE_SUITE
from .storm_acker import STORM_ACKER_SUITE
from .storm_input import STORM_INPUT_SUITE
from .storm_partition import STORM_PARTITION_SUITE
from .storm_spout import STORM_SPOUT_SUITE
from .storm_status import STORM_STATUS_SUITE
from .storm_topology import STORM_TOPOLOGY_SUITE
from .suite import AnySuite
from .timer import TIMER_SUITE

__all__ = ["SUITES", "suite_named"]

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
