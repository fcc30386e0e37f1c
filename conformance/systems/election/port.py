"""The port ``election``: candidates, what they are told, what they write, and what goes wrong.

The store that they write to is the adapter's. It is asked for nothing but to take a write or to
refuse it; the system under test is whatever tells a candidate that it leads.
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
    Operation("resign", TRUE, "a candidate no longer wants to lead, and says so", _CANDIDATE),
    Operation("ask", TOKEN_OR_NULL, "a candidate looks whether it leads; ok: the token with which "
              "it does, 0 if the system has no tokens; null if it does not lead", _CANDIDATE),
    Operation("write", FLAG, "a candidate writes, with the token that it got when it asked last, "
              "and without asking again; ok: whether the store took it", _CANDIDATE),
    Operation("stop", TRUE, "a candidate's process is halted (SIGSTOP)", _CANDIDATE),
    Operation("go", TRUE, "it goes on (SIGCONT)", _CANDIDATE),
    Operation("cut", TRUE, "a candidate is cut off from the service; it can reach the store",
              _CANDIDATE),
    Operation("mend", TRUE, "it can reach the service again", _CANDIDATE),
    Operation("expire", TRUE, "the service ends a candidate's session, or its lease", _CANDIDATE),
    Operation("crash", TRUE, "a candidate's process is killed (SIGKILL)", _CANDIDATE),
    Operation("restart", TRUE, "the service is killed, and started again"),
    Operation("wait", TRUE, "so much time passes that the service gives up whoever it has not "
              "heard of, and everybody else hears of that"),
    Operation("quiet", CANDIDATE_OR_NULL, "whoever was halted goes on, whoever was cut off is "
              "not, and all that has to happen after that happens; ok: the candidate that says "
              "that it leads; null if none does"),
)

_PROMISES: Final = {
    "ask": {
        "A leader to whom nothing has happened is told that it leads.": "ELECT-4",
    },
    "write": {
        "The write of a leader to whom nothing has happened is taken.": "ELECT-4",
    },
    "resign": {
        "When all is quiet again, another candidate leads.": "ELECT-6",
    },
    "quiet": {
        "If there are candidates, one of them leads then.": "ELECT-5",
        "A candidate whose session has ended is a candidate still.": "ELECT-7",
    },
}
"""What has to come of each operation, and the rules of progress that judge it."""

PORT: Final = Port(
    name="election",
    version=1,
    meaning="who leads among some candidates, and whose writes a store takes",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "how many candidates there are: 0, 1, …"),),
    policies={
        "fenced": "writes come with a token, which the store compares",
        "unfenced": "the store takes every write",
    },
)
