"""The port ``kafka.failover``: a cluster is deployed, written to, and made to fail.

Every answer but that of ``deploy`` tells what has happened since the last one: events as texts, the
instant first, in milliseconds, then a word of ``WORDS``, then what it is about. They are judged by
the rules of ``spec.kafka.observed_failover``.

Brokers, partitions and offsets are numbered from 0, values from 1, lives from 0. Epochs of
controllers and leaders, and broker epochs, are numbers that grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from ...ports.base import COUNT, NAME, POSITIVE, TRUE, Argument, Kind, Operation, Port, hello

__all__ = [
    "DEEDS", "FAULTS", "MOMENTS", "OPERATING", "PORT", "WORDS", "Event", "Word", "event_of",
    "is_list_of_brokers",
]


class Word(NamedTuple):
    """What an event is about: the names of its fields, and a sentence with them."""

    fields: tuple[str, ...]
    sentence: str


class Event(NamedTuple):
    """At an instant, something happened: a word, and what it is about."""

    at: int
    what: str
    about: tuple[int | str, ...]


_RECORD: Final = ("broker", "partition", "epoch", "offset", "value")

WORDS: Final[Mapping[str, Word]] = {
    "began": Word(("broker", "life"), "broker {broker} begins its life {life}"),
    "crashed": Word(("broker",), "broker {broker} crashes"),
    "paused": Word(("broker",), "broker {broker} is paused"),
    "resumed": Word(("broker",), "broker {broker} goes on"),
    "expired": Word(("broker",), "the session of broker {broker} expires"),
    "wants": Word(("broker",), "broker {broker} asks whether it may go"),
    "released": Word(("broker",), "the controller lets broker {broker} go"),
    "left": Word(("broker",), "broker {broker} has gone"),
    "registered": Word(("broker", "life", "broker_epoch"),
                       "broker {broker} has registered, with broker epoch {broker_epoch}"),
    "stands": Word(("broker",), "broker {broker} asks to be the controller"),
    "controls": Word(("broker", "controller"),
                     "broker {broker} is the controller, with controller epoch {controller}"),
    "state": Word(("partition", "controller", "epoch", "leader", "in_sync"),
                  "the quorum says of partition {partition}: leader epoch {epoch}, leader "
                  "{leader}, in sync {in_sync}, by controller epoch {controller}"),
    "assigned": Word(("partition", "replicas"),
                     "the replicas of partition {partition} are {replicas} from now on"),
    "heeded": Word(("broker", "life", "controller", "meant", "own"),
                   "broker {broker} (broker epoch {own}) accepts a request of controller epoch "
                   "{controller}, which was meant for broker epoch {meant}"),
    "obeyed": Word(("broker", "life", "partition", "epoch"),
                   "by a request, broker {broker} is in leader epoch {epoch} of partition "
                   "{partition}"),
    "took": Word(("broker", "partition", "epoch"),
                 "broker {broker} takes writes to partition {partition} in leader epoch {epoch}"),
    "wrote": Word(_RECORD, "broker {broker} leads partition {partition} in leader epoch {epoch}, "
                  "and appends record {value} at offset {offset}"),
    "copied": Word(_RECORD, "broker {broker} follows in partition {partition}, and appends "
                   "record {value} of leader epoch {epoch} at offset {offset}"),
    "cut": Word(("broker", "partition", "offset"),
                "broker {broker} cuts partition {partition} at offset {offset}"),
    "committed": Word(("broker", "partition", "epoch", "hw"),
                      "the high watermark of broker {broker}, which leads partition {partition} "
                      "in leader epoch {epoch}, rises to {hw}"),
    "changing": Word(("broker", "partition", "epoch"),
                     "broker {broker} asks for another ISR of partition {partition}"),
    "acked": Word(("producer", "partition", "acks_all", "offset", "value"),
                  "producer {producer} is told that record {value} is in partition {partition} "
                  "at offset {offset}"),
    "answered": Word(("partition", "broker", "life", "epoch", "hw"),
                     "broker {broker} tells a consumer of partition {partition}: leader epoch "
                     "{epoch}, high watermark {hw}"),
    "read": Word(("partition", "offset", "value"),
                 "a consumer reads record {value} in partition {partition} at offset {offset}"),
    "ends": Word(("partition", "leads", "in_sync"),
                 "at the end partition {partition} has {leads} leader that has answered every "
                 "producer, and {in_sync} replicas in sync"),
    "led": Word(("partition", "preferred"),
                "at the end partition {partition} has its first replica as its leader (1), or "
                "another one (0): {preferred}"),
    "wishes": Word(("left",), "at the end {left} wishes of operators wait"),
    "rested": Word((), "the cluster has come to rest"),
    "stalled": Word((), "the cluster does not come to rest"),
}
"""The words of a history. A ``leader`` that is as large as there are brokers is nobody; ``in_sync``
and ``replicas`` have brokers, divided by commas, the replicas in their order. ``epoch`` is a leader
epoch, ``acks_all`` 1 or 0, and ``leads`` too."""

_TEXTS: Final = ("in_sync", "replicas")


@lru_cache(maxsize=1 << 14)
def event_of(row: str) -> Event | None:
    """The event that a text tells; None if it tells none. Numbers are whole, and not negative."""
    at, *rest = row.split(" ")
    word = WORDS.get(rest[0]) if rest else None
    if word is None or not _is_number(at) or len(rest) - 1 != len(word.fields):
        return None
    about: list[int | str] = []
    for name, text in zip(word.fields, rest[1:], strict=True):
        if name in _TEXTS and (name, rest[0]) != ("in_sync", "ends"):
            if not is_list_of_brokers(text):
                return None
            about.append(text)
        elif _is_number(text):
            about.append(int(text))
        else:
            return None
    return Event(int(at), rest[0], tuple(about))


def is_list_of_brokers(text: str) -> bool:
    """Whether a text has numbers, divided by commas."""
    return all(map(_is_number, text.split(",")))


def _is_number(text: str) -> bool:
    return len(text) <= 15 and text.isascii() and text.isdecimal()


def _is_history(rows: object) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, str) and event_of(row) is not None for row in rows)


EVENTS: Final = Kind("a list of events, each a text", _is_history)

MOMENTS: Final[Mapping[str, str]] = {
    "state": "a broker, as the controller or a leader, has written to the quorum, and does not "
             "know yet",
    "stands": "a broker asks to be the controller, and does not know yet",
    "controls": "a broker becomes the controller, and has told nobody yet",
    "took": "a broker takes writes as a new leader",
    "wrote": "a leader has appended a record that nobody else has yet",
    "changing": "a leader has asked for another ISR, and does not know yet",
    "committed": "the high watermark of a leader has risen, and nobody else knows yet",
    "cut": "a follower has cut its log",
    "registered": "a broker has registered, and the controller does not know yet",
}
"""What a fault may wait for."""

DEEDS: Final[Mapping[str, str]] = {
    "crash": "the broker crashes", "pause": "the broker is paused",
    "expire": "the broker's session expires",
    "isolate": "the broker is cut off from the coordination service",
    "lose_reply": "the reply of the broker's next request to the coordination service gets lost",
    "lose_request": "the broker's next request to the coordination service gets lost",
}
"""What may be done to a broker when that happens."""

_AFTER: Final = Argument("after", COUNT, "the milliseconds that pass before")
_LASTS: Final = Argument("lasts", POSITIVE, "for how many milliseconds")
_BROKER: Final = Argument("broker", COUNT, "a broker, from 0")
_OTHER: Final = Argument("other", COUNT, "another broker")

FAULTS: Final = (
    Operation("crash", EVENTS, "let time pass, then a broker crashes: what is on its disk stays; "
              "it starts again when it is over", (_AFTER, _BROKER, _LASTS)),
    Operation("pause", EVENTS, "let time pass, then a broker stands still, and goes on when it is "
              "over as if nothing had been", (_AFTER, _BROKER, _LASTS)),
    Operation("expire", EVENTS, "let time pass, then the session of a broker expires",
              (_AFTER, _BROKER)),
    Operation("isolate", EVENTS, "let time pass, then a broker is cut off from the coordination "
              "service", (_AFTER, _BROKER, _LASTS)),
    Operation("drift", EVENTS, "let time pass, then the clock of a broker goes at another rate",
              (_AFTER, _BROKER, Argument("rate", POSITIVE, "so many ms in 100"), _LASTS)),
    Operation("cut", EVENTS, "let time pass, then two brokers cannot reach each other",
              (_AFTER, _BROKER, _OTHER, _LASTS)),
    Operation("delay", EVENTS, "let time pass, then messages between two brokers take longer, and "
              "overtake each other", (_AFTER, _BROKER, _OTHER, Argument(
                  "extra", POSITIVE, "by so many ms at most"), _LASTS)),
    Operation("lose", EVENTS, "let time pass, then messages between two brokers get lost",
              (_AFTER, _BROKER, _OTHER, Argument("percent", COUNT, "so many in 100"), _LASTS)),
    Operation("stop_service", EVENTS, "let time pass, then the coordination service is down",
              (_AFTER, _LASTS)),
    Operation("upon", EVENTS, "let time pass; when something happens to a broker for the first "
              "time after that, do something to that broker",
              (_AFTER, Argument("moment", NAME, "what is waited for: " + ", ".join(MOMENTS)),
               Argument("deed", NAME, "what is done: " + ", ".join(DEEDS)), _LASTS)),
)
"""What can go wrong in a run."""

_PARTITION: Final = Argument("partition", COUNT, "a partition, from 0")
_BROKERS: Final = Kind("brokers, divided by commas", lambda value: isinstance(
    value, str) and is_list_of_brokers(value))

OPERATING: Final = (
    Operation("shut_down", EVENTS, "let time pass, then a broker asks the controller whether it "
              "may go, goes, and starts again when it is over", (_AFTER, _BROKER, _LASTS)),
    Operation("prefer", EVENTS, "let time pass, then an operator wishes that the first replica of "
              "a partition leads; the same is wished once more at the end of quiet",
              (_AFTER, _PARTITION)),
    Operation("reassign", EVENTS, "let time pass, then an operator wishes that a partition has "
              "other replicas, when the wishes before are carried out",
              (_AFTER, _PARTITION, Argument("to", _BROKERS, "its replicas, the preferred first"))),
    Operation("permit_unclean", EVENTS, "let time pass; from then on who is not in sync may be "
              "elected, where nobody is that is in sync", (_AFTER,)),
)
"""What operators do to a cluster in which nothing need be wrong."""

_OPERATIONS: Final = (
    hello("begin anew"),
    Operation(
        "deploy", TRUE, "start a cluster; each broker has a replica of each partition, and "
        "broker p modulo brokers is preferred as the leader of partition p",
        (Argument("brokers", POSITIVE, "how many brokers there are"),
         Argument("partitions", POSITIVE, "how many partitions there are"),
         Argument("seed", COUNT, "of whatever the implementation leaves to chance"))),
    Operation(
        "produce", EVENTS, "let time pass, then let a producer write more records to a partition; "
        "there is one for each partition and kind of acknowledgement, and it sends each record "
        "until it is acknowledged",
        (_AFTER, _PARTITION,
         Argument("acks_all", COUNT, "1: it waits for all acknowledgements; 0: for the leader's"),
         Argument("records", POSITIVE, "how many"))),
    *FAULTS, *OPERATING,
    Operation("elapse", EVENTS, "let time pass", (_AFTER,)),
    Operation(
        "quiet", EVENTS, "end every fault, and let the cluster run until it has come to rest (the "
        "last event is rested) or it is clear that it will not (stalled); before that, it tells "
        "of each partition how it ends"),
    Operation("settle", TRUE, "let everything run that can run at this instant, then answer",
              optional=False),
)

PORT: Final = Port(
    name="kafka.failover",
    version=1,
    meaning="replicated partitions on a cluster of brokers, under faults",
    operations={operation.name: operation for operation in _OPERATIONS},
    settings=(Argument("capacity", POSITIVE, "min.insync.replicas"),),
    policies={"clean": "only who is in sync is elected, until unclean elections are permitted"},
)
