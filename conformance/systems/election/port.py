"""The port ``election``: candidates, their reports, their writes, and faults.

The store to which they write is the adapter's. It only takes or refuses writes; the system under
test is the service that makes a candidate the leader.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, FLAG, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello, is_count, promised,
)

__all__ = ["PORT"]

TOKEN_OR_NULL: Final = Kind(
    "a token, or null", lambda value: value is None or is_count(value))
CANDIDATE_OR_NULL: Final = Kind(
    "a candidate's number, or null", lambda value: value is None or is_count(value))

_CANDIDATE: Final = (Argument("candidate", COUNT, "its number"),)

_OPERATIONS: Final = (
    hello("start a service with no candidates, and an empty store"),
    Operation("join", TRUE, "a candidate's process wants to lead; it is started if need be",
              _CANDIDATE),
    Operation("resign", TRUE, "a candidate no longer wants to lead, and notifies the service",
              _CANDIDATE),
    Operation("ask", TOKEN_OR_NULL, "a candidate checks whether it leads; ok: the token with which "
              "it does, 0 if the system has no tokens; null if it does not lead", _CANDIDATE),
    Operation("write", FLAG, "a candidate writes, with the token that it got when it asked last, "
              "and without asking again; ok: true if the store took it", _CANDIDATE),
    Operation("stop", TRUE, "a candidate's process is halted (SIGSTOP)", _CANDIDATE),
    Operation("go", TRUE, "it continues (SIGCONT)", _CANDIDATE),
    Operation("cut", TRUE, "a candidate is cut off from the service; it can reach the store",
              _CANDIDATE),
    Operation("mend", TRUE, "it can reach the service again", _CANDIDATE),
    Operation("expire", TRUE, "the service ends a candidate's session, or its lease", _CANDIDATE),
    Operation("crash", TRUE, "a candidate's process is killed (SIGKILL)", _CANDIDATE),
    Operation("restart", TRUE, "the service is killed, and started again"),
    Operation("wait", TRUE,
              "enough time passes for the service to drop every candidate that it does not "
              "hear from, and for the others to learn of that"),
    Operation("quiet", CANDIDATE_OR_NULL,
              "halted candidates continue, cut-off ones are reconnected, "
              "and everything that follows from that happens; ok: the candidate that reports "
              "that it leads; null if none does"),
)

_PROMISES: Final = {
    "ask": {
        "An undisturbed leader reports that it leads.": "ELECT-4",
    },
    "write": {
        "The write of an undisturbed leader is taken.": "ELECT-4",
    },
    "resign": {
        "Once the system is quiescent again, another candidate leads.": "ELECT-6",
    },
    "quiet": {
        "If there are candidates, one of them leads then.": "ELECT-5",
        "A candidate is still one after its session has ended.": "ELECT-7",
    },
}
"""The required effects of each operation, with the rules of progress that judge them."""

PORT: Final = Port(
    name="election",
    version=1,
    meaning="which of some candidates leads, and which one's writes a store takes",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "how many candidates there are: 0, 1, …"),),
    policies={
        "fenced": "writes come with a token, which the store compares",
        "unfenced": "the store takes every write",
    },
)
