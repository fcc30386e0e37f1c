"""The port ``rate``: callers ask for permits, all or none, and time advances in ticks.

A call of ``acquire`` waits for its permits. Admitted calls are reported as it happens: in the
answer to the request during which they were admitted, in their order.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, FLAG, NAME, NAMES, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello, promised,
)

__all__ = ["PORT"]


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(FLAG.accepts, value))


_TICKED: Final = Kind(
    "true; or, if calls may wait, the list of names of the calls that were admitted",
    lambda value: value is True or NAMES.accepts(value))
_THROUGH: Final = Kind("the list of names of the calls that were admitted", NAMES.accepts)
_PAIR: Final = Kind("a list of two, true or false each", _is_pair)
_BY: Final = Argument("by", NAME, "the name of the call")
_PERMITS: Final = Argument("permits", POSITIVE, "how many")

_OPERATIONS: Final = (
    hello("start a fresh limit, from which no permit was taken"),
    Operation("take", FLAG, "a caller asks for so many permits at once, never for more than the "
              "depth; true: all are given; false: none, and the limit has forgotten it",
              (_PERMITS,)),
    Operation("tick", _TICKED, "so many ticks pass; one at a time while a call waits",
              (Argument("ticks", POSITIVE, "how many"),)),
    Operation("idle", TRUE, "so many ticks pass in which no caller asks, 65,536 of them or more: a "
              "clock in few bits begins anew; no call waits",
              (Argument("ticks", POSITIVE, "how many"),)),
    Operation("acquire", _THROUGH, "a call that asks for so many permits, never for more than the "
              "depth, and waits until it is admitted; it may be in the list at once",
              (_BY, _PERMITS)),
    Operation("give_up", _THROUGH, "a waiting call is cancelled, and has nothing; others may be "
              "admitted in its place", (_BY,)),
    Operation("both", _PAIR, "two callers ask at once, as take does: the first takes so many "
              "steps, then the second asks and is answered, then the first continues; a step is "
              "the smallest unit between which a thread or a task may be stopped; ok: the answer "
              "of each",
              (Argument("permits", POSITIVE, "how many the first asks for"),
               Argument("other", POSITIVE, "how many the second asks for"),
               Argument("steps", COUNT, "after how many the second comes; at most all"))),
    Operation("ask", FLAG, "as take, for a number that take never has: of 0 permits all are given, "
              "of more than the depth none; for a limit that answers such a caller, and does not "
              "raise", (Argument("permits", COUNT, "how many: 0, or more than the depth"),)),
)

_PROMISES: Final = {
    "take": {
        "Permits that a bucket would have are given.": "FLOW-81 FLOW-85",
    },
    "acquire": {
        "Waiting calls are admitted as their permits come.": "FLOW-82 FLOW-83",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="rate",
    version=1,
    meaning="a limit on a rate; its clock is the harness's",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "the depth: permits that are kept while no caller "
                       "asks"),
              Argument("rate", POSITIVE, "permits that come in a tick")),
    policies={
        "bucket": "permits come all the time, and up to the depth are kept",
        "log": "a sliding log: the depth in any depth / rate ticks in a row; a permit comes back a "
               "whole period after it was given",
    },
)
