"""The suites that there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...spec.notation.errors import InputError
from .queue import QUEUE_SUITE
from .storm_acker import STORM_ACKER_SUITE
from .storm_input import STORM_INPUT_SUITE
from .storm_partition import STORM_PARTITION_SUITE
from .storm_spout import STORM_SPOUT_SUITE
from .storm_status import STORM_STATUS_SUITE
from .suite import Suite

__all__ = ["SUITES", "suite_named"]

SUITES: Final[Mapping[str, Suite]] = {
    suite.name: suite for suite in (
        QUEUE_SUITE, STORM_INPUT_SUITE, STORM_STATUS_SUITE, STORM_ACKER_SUITE,
        STORM_SPOUT_SUITE, STORM_PARTITION_SUITE,
    )
}


def suite_named(name: str) -> Suite:
    """The suite of that name. Raises ``InputError`` where there is none."""
    if name not in SUITES:
        raise InputError(f"there is no suite {name!r}", next_step=f"Use: {', '.join(SUITES)}.")
    return SUITES[name]
