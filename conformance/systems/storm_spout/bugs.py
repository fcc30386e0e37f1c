"""Bugs of Storm's history about spouts' pending roots, and readings of its texts."""

from __future__ import annotations

from typing import Final

from ...suites.bug import bug

__all__ = ["BUGS"]

BUGS: Final = (
    bug("STORM-3514", "without timeouts a lost tuple takes a place forever",
        twins="storm-3514-no-timeouts",
        machines="storm.spout.PendingWithoutTimeouts storm.acker.LossyAcker"),
    bug("STORM-549", "a root that timed out still takes a place", twins="storm-549-place-kept"),
    bug("STORM-17", "two roots get the same id", twins="storm-17-id-given-twice",
        machines="storm.collision.TwoRoots"),
    bug("STORM-1595", "a fail reaches the spout only by its timeout",
        twins="storm-1595-fail-by-timeout"),
    bug("maxPending >", "> instead of >=", twins="spout-over-the-maximum",
        machines="storm.spout.PendingOverMax"),
)
