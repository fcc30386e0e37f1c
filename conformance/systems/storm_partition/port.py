"""The port ``storm.partition``: a replayable source of one partition, and its log.

The log belongs to the adapter, too: it appends, truncates and compacts at the harness's request.
"""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, INTEGER, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello, is_count, promised,
)

__all__ = ["OFFSET_OR_NULL", "PORT"]

OFFSET_OR_NULL: Final = Kind(
    "an offset, or null", lambda value: value is None or is_count(value))

_OFFSET = Argument("offset", COUNT, "the offset of a message")

_OPERATIONS: Final = (
    hello("start with an empty log, and a commit of its first offset"),
    Operation("split", OFFSET_OR_NULL, "like next, and the message makes two tuples that share "
              "its id: both have to be acked"),
    Operation("wait", TRUE, "this much time passes",
              (Argument("milliseconds", POSITIVE, "how much"),)),
    Operation("append", TRUE, "this many messages are appended to the log",
              (Argument("count", POSITIVE, "how many"),)),
    Operation("next", OFFSET_OR_NULL, "emit one message, after reading the log if necessary; null "
              "if there is none to emit, neither a new one nor a failed one"),
    Operation("ack", TRUE, "a tuple of a message that was emitted was processed", (_OFFSET,)),
    Operation("fail", TRUE, "a message that was emitted failed, or timed out", (_OFFSET,)),
    Operation("commit", COUNT, "record the position; ok: the position"),
    Operation("restart", TRUE, "crash, and start again from the position that was recorded last"),
    Operation("close", COUNT, "stop in an orderly way, which records the position, and start "
              "again from it; ok: the position"),
    Operation("reassign", TRUE, "the partition's leader has changed; nothing else has"),
    Operation("truncate", TRUE, "retention removes the messages up to this offset", (_OFFSET,)),
    Operation("compact", TRUE, "compaction removes the message at this offset", (_OFFSET,)),
)

_PROMISES: Final = {
    "next": {
        "A new message is emitted, if there is one and the maximum allows it.": "STORM-K26",
        "A message that failed is emitted again.": "STORM-K27",
        "Messages that have left the log delay no others.": "STORM-K30",
    },
    "commit": {
        "The commit passes all offsets that are done.": "STORM-K21",
    },
}
"""The required effects of each operation, with the rules of progress that judge them."""

PORT: Final = Port(
    name="storm.partition",
    version=1,
    meaning="a spout's source of one partition: its emissions, replays and commits",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(
        Argument("capacity", POSITIVE, "the messages that one fetch brings, at most"),
        Argument("first", COUNT, "the offset of the first message that the log will have"),
        Argument("retries", INTEGER, "how often a message is emitted again; -1: always"),
        Argument("outstanding", COUNT,
                 "how many may be emitted and neither acked nor failed; 0: any number"),
        Argument("delay", COUNT, "milliseconds before a message is emitted again; doubled after "
                 "each further failure"),
        Argument("longest", COUNT, "the longest delay, in milliseconds"),
    ),
    policies={"replay": "failed messages are read again from the log"},
)
