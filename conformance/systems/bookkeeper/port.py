"""The port ``bookkeeper``: a server; the harness is its network, its storage and its clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...ports.base import (
    COUNT, FLAG, ITEM, POSITIVE, Argument, Kind, Operation, Port, Vocabulary, hello, is_word,
    list_of, promised,
)

__all__ = ["EVENTS", "PORT"]

EVENTS: Final[Mapping[str, str]] = {
    "start": "that request has a permit, and storage has it",
    "reject": "that request has a permit, and the pool does not take it: its response is an error",
    "write": "the response of that request is written",
    "drop": "the response of that request is dropped, or not needed any more",
    "pause": "nothing more may be read from that channel",
    "resume": "that channel is read from again",
    "close": "the server closes that channel",
}
"""The events of a server: the first four with a request, the others with a channel."""
_OF_REQUESTS: Final = ("start", "reject", "write", "drop")


def _is_event(value: object) -> bool:
    return (isinstance(value, list) and len(value) == 2 and is_word(value[0], EVENTS)
            and (ITEM if value[0] in _OF_REQUESTS else COUNT).accepts(value[1]))


DONE: Final = Kind(
    "a list of [event, request or channel]",
    lambda value: isinstance(value, list) and all(map(_is_event, value)),
    (Vocabulary("the first of an event; the second is the name of a request, or the number of a "
                "channel",
                EVENTS),))
_OF_A_REQUEST: Final = {
    "add": "an entry is to be added", "read": "an entry is to be read",
}
KINDS: Final = Kind(
    'a list of "add" and "read"',
    lambda value: isinstance(value, list) and all(is_word(each, _OF_A_REQUEST) for each in value),
    (Vocabulary("a kind of request", _OF_A_REQUEST),))
ITEMS: Final = Kind("a list of items (texts or integers)", list_of(ITEM.accepts))
GAUGES: Final = Kind(
    'an object {"add": a count, "read": a count}',
    lambda value: isinstance(value, dict) and all(
        COUNT.accepts(value.get(name)) for name in _OF_A_REQUEST),
    (Vocabulary("the answer to `gauge`", {
        "add": "how many adds are in progress", "read": "how many reads are in progress"}),))
SWITCH: Final = Kind("0 or 1", lambda value: type(value) is int and value in (0, 1))

_CHANNEL: Final = Argument("channel", COUNT, "its number")
_SERVER: Final = "; ok: the server's events, in order"

_OPERATIONS: Final = (
    hello("start a fresh server, with its channels open, read from, and writable"),
    Operation("receive", DONE, f"requests are read from a channel at once, in this order{_SERVER}",
              (_CHANNEL, Argument("kinds", KINDS, "of each request"),
               Argument("names", ITEMS, "of each request: numbers or texts, which no other has"))),
    Operation("done", DONE, f"storage has finished a request{_SERVER}",
              (Argument("request", ITEM, "its name"),)),
    Operation("turn", DONE, f"a channel becomes writable, or stops being so{_SERVER}",
              (_CHANNEL, Argument("writable", FLAG, "true: it is writable"))),
    Operation("tick", DONE, f"a tick of time passes{_SERVER}"),
    Operation("hang_up", DONE, f"a client closes its channel{_SERVER}", (_CHANNEL,)),
    Operation("gauge", GAUGES, "how many requests of each kind are in progress, as the server "
              "counts them"),
)

_PROMISES: Final = {
    "receive": {
        "A request starts while fewer than the limit are in progress.": "BK-51",
    },
    "done": {
        "The response is written at once if its channel is writable.": "BK-57",
        "A waiting request starts in its place.": "BK-51",
        "A channel without a waiting request is read from again.": "BK-56",
    },
    "tick": {
        "A response that has waited t ticks is dropped.": "BK-60",
        "Its channel is closed, if that is configured.": "BK-61",
    },
}
"""The required effects of each operation, with the rules of progress that judge them."""

PORT: Final = Port(
    name="bookkeeper",
    version=1,
    meaning="a server that limits the requests in progress, and drops responses to clients that "
            "do not read; the harness is its network, its storage and its clock",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(
        Argument("channels", POSITIVE, "how many channels there are: 0, 1, …"),
        Argument("capacity", COUNT, "how many adds may be in progress; 0: any number"),
        Argument("reads", COUNT, "how many reads may be in progress; 0: any number"),
        Argument("places", POSITIVE, "places in the queue of each kind's pool"),
        Argument("threads", POSITIVE, "threads of each kind's pool"),
        Argument("patience", COUNT, "ticks that a response waits, at most"),
        Argument("closing", SWITCH, "1: a channel is closed when a response has waited in vain"),
    ),
    policies={"pause": "a channel with a request that waits for a permit is not read from"},
)
