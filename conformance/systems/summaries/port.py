"""The port ``summaries``: values come, and credits, each of which takes an output."""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, POSITIVE, Argument, Kind, Operation, Port, hello, is_count, promised,
)

__all__ = ["PORT"]


def _is_output(value: object) -> bool:
    return value is None or isinstance(value, list) and all(is_count(each) for each in value)


OUTPUT: Final = Kind("a list of integers from 0 up, or null", _is_output)
TAKEN: Final = Kind("true or false", lambda value: isinstance(value, bool))

_OPERATIONS: Final = (
    hello("start a fresh stage, which holds nothing"),
    Operation("offer", TAKEN, "a value comes from upstream; ok: whether the stage takes it, or "
              "makes its source wait, which then has to offer it again",
              (Argument("value", COUNT, "the value, which may be 0"),)),
    Operation("take", OUTPUT, "a credit comes from downstream, for one output; ok: the values of "
              "the batch in their order, or the sum of all that is rolled up, alone in its list; "
              "null if there is no output (the credit is lost then)"),
)

_PROMISES: Final = {
    "offer": {
        "A stage that rolls up takes the value; one that batches takes it while the batch has "
        "room.":
            "FLOW-120 FLOW-121",
    },
    "take": {
        "If a value is held, there is an output.": "FLOW-124",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="summaries",
    version=1,
    meaning="a stage with the harness as source and sink",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "the most values that a batch has; a stage that rolls "
                       "up does not use it"),),
    policies={
        "rolls up": "it takes every value that comes, and an output is one summary of them",
        "batches": "it takes values until its batch is full, and an output is the batch",
    },
)
