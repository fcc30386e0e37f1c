"""Bugs of Storm's history about backpressure status, and readings of its texts."""

from __future__ import annotations

from typing import Final

from ...suites.bug import bug

__all__ = ["BUGS"]

BUGS: Final = (
    bug("STORM-3141", "only an executor's first task is known to the tracker", twins="STORM-3141"),
    bug("review of STORM-3141", "getAndSet without negation", twins="STORM-3141-review",
        machines="storm.status_mutants.NegatedRecord"),
    bug("STORM-3763", "a new connection's status is ignored",
        twins="STORM-3763 cluster-STORM-3763", machines="storm.joining.HandshakeIgnored"),
    bug("STORM-3070", "a decoder does not rewind on half a status",
        not_modelled="how messages are cut out of a stream of bytes: a link carries messages"),
    bug("STORM-3148", "the system task is reported, and the client fails on it",
        twins="STORM-3148 STORM-3148-client", machines="storm.status_mutants.FailingOnSystemTask"),
    bug("STORM-3751", "a tuple for a task that has moved ends the worker",
        twins="STORM-3751 cluster-STORM-3751"),
    bug("review of PR 2502", "a task is moved between two maps while the receiver writes",
        twins="PR-2502-review", machines="storm.status_mutants.LookingInTwoMaps"),
    bug("STORM-1087", "backpressure stays off", twins="STORM-1087 cluster-STORM-1087"),
    bug("STORM-1949", "the flag is changed before its writing succeeded", twins="STORM-1949",
        machines="storm.status.LockedSpill"),
    bug("STORM-1696, STORM-2744", "backpressure stays on", twins="STORM-2744",
        machines="storm.status.StatusAsWritten",
        apart="It is tied as LockedSpill, whose statuses overtake each other."),
    bug("JStorm #404", "a lost 'stop backpressure'", twins="D6 cluster-D6-no-repetition",
        machines="storm.status.LockedSpill"),
    bug("D4", "statuses without numbers", twins="D4", machines="storm.status.StatusAsWritten",
        apart="A sender that believes an overtaken status is tied as LockedSpill with an "
              "unordered channel."),
    bug("id after scan", "the number is taken after the reading", twins="D4-number",
        machines="storm.status.NumberedAfterReading",
        apart="The number and the reading are two steps of N, of which the observer sees one."),
    bug("D5", "the snapshot first, then the connection is added", twins="D5",
        machines="storm.joining.JoiningAsWritten"),
    bug("D6", "OFF is not sent again", twins="D6 cluster-D6-no-repetition",
        machines="storm.status.LockedSpill"),
    bug(">= 10000", "a reminder one tuple early", twins="early-reminder",
        machines="storm.status_mutants.HastyReminders"),
)
