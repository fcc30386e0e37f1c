"""The port ``rate``: somebody asks for permits, all or none, and time goes on in ticks.

Whoever calls ``acquire`` waits for theirs. Who is let through is told as it happens: in the answer
to what was asked when it did, in their order.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, FLAG, NAME, NAMES, POSITIVE, Argument, Kind, Operation, Port, hello, promised,
)

__all__ = ["PORT"]


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(FLAG.accepts, value))


_TICKED: Final = Kind(
    "true; or, if some may wait, the list of names of those who were let through",
    lambda value: value is True or NAMES.accepts(value))
_THROUGH: Final = Kind("the list of names of those who were let through", NAMES.accepts)
_PAIR: Final = Kind("a list of two, true or false each", _is_pair)
_BY: Final = Argument("by", NAME, "the name of the call")
_PERMITS: Final = Argument("permits", POSITIVE, "how many")

_OPERATIONS: Final = (
    hello("start a fresh limit, from which nobody has taken anything"),
    Operation("take", FLAG, "somebody asks for so many permits at once, never for more than the "
              "depth; true: all are given; false: none, and the limit has forgotten it",
              (_PERMITS,)),
    Operation("tick", _TICKED, "so many ticks pass; one at a time while somebody waits",
              (Argument("ticks", POSITIVE, "how many"),)),
    Operation("acquire", _THROUGH, "a call that asks for so many permits, never for more than the "
              "depth, and waits until it is let through; it may be in the list at once",
              (_BY, _PERMITS)),
    Operation("give_up", _THROUGH, "a call that waits is told to stop, and has nothing; others "
              "may be let through in its place", (_BY,)),
    Operation("both", _PAIR, "two ask at once, as take does: the first takes so many steps, then "
              "the second asks and is answered, then the first goes on; a step is the smallest "
              "thing between which a thread or a task may be stopped; what each was answered",
              (Argument("permits", POSITIVE, "how many the first asks for"),
               Argument("other", POSITIVE, "how many the second asks for"),
               Argument("steps", COUNT, "after how many the second comes; at most all"))),
)

_PROMISES: Final = {
    "take": {
        "Permits that a bucket would have are given.": "FLOW-81 FLOW-85",
    },
    "acquire": {
        "Those who wait are let through as their permits come.": "FLOW-82 FLOW-83",
    },
}
"""What has to come of each operation, and the rules of progress that judge it."""

PORT: Final = Port(
    name="rate",
    version=1,
    meaning="a limit on a rate; its clock is the harness's",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "the depth: permits that are kept while nobody asks"),
              Argument("rate", POSITIVE, "permits that come in a tick")),
    policies={
        "bucket": "permits come all the time, and up to the depth are kept",
        "log": "a sliding log: the depth in any depth / rate ticks in a row; what was given "
               "comes back a whole period later",
    },
)
