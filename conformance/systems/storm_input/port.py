"""The port ``storm.input``: the requests to a task's input in Storm, as data.

Tuples are chosen by the harness and are all distinct. The senders are named in the settings:
``remote`` of them, r1, r2, …, in other workers, and ``local`` ones, l1, l2, …, in the same.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, FLAG, ITEM, NAME, POSITIVE, TRUE, Argument, Kind, Operation, Port, Vocabulary, hello,
    promised,
)

__all__ = ["PORT"]

ITEMS: Final = Kind(
    "a list of items", lambda v: isinstance(v, list) and all(ITEM.accepts(each) for each in v))
FLAGS: Final = Kind(
    "a list of true and false",
    lambda v: isinstance(v, list) and all(FLAG.accepts(each) for each in v))
SIZES: Final = Kind(
    "an object with the counts recvq, overflowq and dropped",
    lambda v: isinstance(v, dict) and all(
        COUNT.accepts(v.get(name)) for name in ("recvq", "overflowq", "dropped")),
    (Vocabulary("the answer to `sizes`", {
        "recvq": "how many tuples are in the recvQ",
        "overflowq": "how many tuples are in the overflowQ",
        "dropped": "how many tuples were dropped so far"}),))

_SENDER: Final = "the name of the sender"

_OPERATIONS: Final = (
    hello("start a fresh input and forget the one before"),
    Operation(
        "arrive", FLAGS,
        "the receiving thread takes a transfer: for each tuple, in order, whether it was kept "
        "(false: dropped); a list that is too short means that the thread waits",
        (Argument("sender", NAME, _SENDER), Argument("tuples", ITEMS, "the tuples, in order")),
    ),
    Operation(
        "publish", FLAG, "a local sender's tuple is taken (true), or refused if recvQ is full",
        (Argument("sender", NAME, _SENDER), Argument("tuple", ITEM, "the tuple")),
    ),
    Operation(
        "consume", ITEMS,
        "process ``max`` tuples, fewer only if no more are in the two queues; then pause, in "
        "the middle of a round perhaps",
        (Argument("max", POSITIVE, "how many to process at most"),),
    ),
    Operation(
        "step", ITEMS,
        "the task takes one step that other threads can see, such as reading a size; the tuple "
        "that it processed, if it did",
    ),
    Operation("flush", TRUE,
              "local senders insert the tuples of their batches, as far as there is a free slot"),
    Operation("sizes", SIZES, "the lengths of the two queues, and the number of tuples dropped"),
    Operation(
        "settle", TRUE, "let everything run that can run at this instant, then answer",
        optional=False,
    ),
)

_PROMISES: Final = {
    "arrive": {
        "Each tuple is kept or dropped at once.": "STORM-I11",
    },
    "publish": {
        "A tuple that fits is taken.": "STORM-I3",
    },
    "consume": {
        "Tuples that are in the queues are processed.": "STORM-I6",
    },
    "flush": {
        "No tuple stays in a batch for which there is a free slot.": "STORM-I12",
    },
}
"""The required effects of each operation, with the rules of progress that judge them."""

PORT: Final = Port(
    name="storm.input",
    version=1,
    meaning="the input of one Storm task: recvQ, overflowQ, and the order in which they drain",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(
        Argument("capacity", POSITIVE, "the most tuples that recvQ may hold"),
        Argument("overflow_limit", COUNT, "the most that the overflowQ may hold; 0: no limit"),
        Argument("batch", POSITIVE, "how many tuples a producer collects before it inserts them"),
        Argument("remote", COUNT, "how many remote senders there are"),
        Argument("local", COUNT, "how many local senders there are"),
    ),
    policies={"drop-at-limit": "at the overflow limit the tuple that arrives is dropped"},
)
