"""The port ``delivery``: a broker with one queue; its producers and consumers are the harness."""

from __future__ import annotations

from typing import Final

from ...ports.base import (
    COUNT, FLAG, ITEM, ITEM_OR_NULL, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello,
    is_count, promised,
)

__all__ = ["PORT"]

COUNT_OR_NULL: Final = Kind("an integer from 0 up, or null",
                            lambda value: value is None or is_count(value))

_MESSAGE: Final = Argument("message", ITEM, "its name, a text or a number")
_CONSUMER: Final = Argument("consumer", COUNT, "its number")

_OPERATIONS: Final = (
    hello("start a fresh broker with one empty queue; no consumer has a limit"),
    Operation("publish", FLAG, "a message is published; ok: true if the broker confirms it, false "
              "if it refuses it",
              (Argument("message", ITEM, "its name, a text or a number, which no other message has "
                        "had"),)),
    Operation("receive", ITEM_OR_NULL, "a consumer asks for a message, and does not wait; ok: the "
              "one that it is given, and that is in flight with it from now on, or "
              "null", (_CONSUMER,)),
    Operation("ack", FLAG, "a consumer acknowledges a message that it was given, perhaps too late "
              "or for the second time; ok: true if the broker takes that, and the message is over, "
              "false if it ignores it", (_CONSUMER, _MESSAGE)),
    Operation("requeue", FLAG, "a consumer gives back a message that it was given, perhaps too "
              "late; ok: true if the message comes back, false if that is "
              "ignored", (_CONSUMER, _MESSAGE)),
    Operation("reject", FLAG, "a consumer says of a message that it was given, perhaps too late, "
              "that nobody is to be given it again; ok: true if it is a dead letter, false if "
              "that is ignored", (_CONSUMER, _MESSAGE)),
    Operation("limit", TRUE, "from now on no more than so many messages are in flight with a "
                             "consumer",
              (_CONSUMER, Argument("most", COUNT, "how many; 0: any number"))),
    Operation("tries", TRUE, "from now on a message is a dead letter if it comes back after so "
              "many deliveries", (Argument("most", COUNT, "how many; 0: it always comes back"),)),
    Operation("dead", ITEM_OR_NULL, "take a message away from the dead letters; ok: one of them, "
              "or null"),
    Operation("count", COUNT_OR_NULL, "how often a message was given, all its deliveries counted; "
              "null if it is not there any more", (_MESSAGE,)),
    Operation("disconnect", TRUE, "the connection of a consumer is lost, with its limit; the same "
              "consumer connects anew", (_CONSUMER,)),
    Operation("advance", TRUE, "time passes",
              (Argument("ticks", POSITIVE, "how much, in ticks of the broker's own"),)),
    Operation("restart", TRUE, "the broker is killed and started again, with what it has on its "
              "disk; all connections are lost, and the consumers connect anew"),
)

_PROMISES: Final = {
    "publish": {
        "A message is confirmed, unless the queue is full and refuses.": "DELIV-1",
    },
    "receive": {
        "A consumer with room is given a message that is ready.": "DELIV-3 DELIV-4",
    },
    "ack": {
        "The ack of what is in flight with the consumer is taken.": "DELIV-11",
    },
    "requeue": {
        "What is in flight with the consumer comes back at once.": "DELIV-4 DELIV-11",
    },
    "reject": {
        "What is in flight with the consumer is a dead letter at once.": "DELIV-11 DELIV-15",
    },
    "dead": {
        "If there is a dead letter, one is taken.": "DELIV-15",
    },
    "count": {
        "A message that is there has a count.": "DELIV-17",
    },
    "disconnect": {
        "All that was in flight with the consumer comes back.": "DELIV-4",
    },
    "advance": {
        "What has been in flight for the timeout comes back.": "DELIV-4",
    },
    "restart": {
        "All that was confirmed and is not over is there again.": "DELIV-5",
    },
}
"""The result that each operation must have, and the rules of progress that judge it."""

PORT: Final = Port(
    name="delivery",
    version=1,
    meaning="a broker with acknowledgements; the harness is its producers, its consumers, and the "
            "clock",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "ready messages of a full queue; nothing to one that "
                       "is unbounded"),
              Argument("consumers", POSITIVE, "how many consumers there are: 0, 1, …"),
              Argument("timeout", POSITIVE, "the ticks after which what is in flight comes back")),
    policies={
        "refuse": "a full queue refuses what comes; of what is ready the oldest is given",
        "drop-head": "a full queue drops its oldest ready message; of what is ready the oldest is "
                     "given",
        "drop-tail": "a full queue confirms what comes, and drops it; of what is ready the oldest "
                     "is given",
        "unbounded": "the queue is never full; of what is ready the oldest is given",
        "any-order": "the queue is never full; what comes back may be given before or after others",
    },
)
