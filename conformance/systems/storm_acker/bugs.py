"""Bugs of Storm's history about ackers, and readings of its texts."""

from __future__ import annotations

from typing import Final

from ...suites.bug import bug

__all__ = ["BUGS"]

BUGS: Final = (
    bug("STORM-2786", "no ticks reach the acker", twins="storm-2786-no-ticks",
        machines="storm.acker_mutants.AckerWithoutTicks storm.rotating.MemoryWithoutTicks"),
    bug("STORM-3300", "a RESET_TIMEOUT for an unknown id ends the acker",
        twins="storm-3300-unknown-reset"),
    bug("OR for XOR", "INIT is or-ed in", twins="acker-or-init",
        machines="storm.acker_mutants.OringInit"),
    bug("complete without INIT", "a zero value is enough", twins="acker-complete-without-init",
        machines="storm.acker_mutants.AckingAtZeroWithoutInit"),
    bug("ack refreshes", "an ACK renews the entry", twins="acker-ack-renews"),
    bug("fail precedence", "fail before a value of zero", twins="acker-fail-first",
        machines="storm.acker_mutants.FailFirst"),
)
