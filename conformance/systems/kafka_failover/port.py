"""The port ``kafka.failover``: a cluster is deployed, written to, and made to fail.

Every answer but that of ``deploy`` reports the events since the last one: as texts, with the
instant first, in milliseconds, then a word of ``WORDS``, then its fields. They are judged by the
rules of ``spec.kafka.observed_failover`` and ``spec.kafka.observed_failover_liveness``.

Brokers, partitions and offsets are numbered from 0, values from 1, lives from 0. Epochs of
controllers and leaders, and broker epochs, are numbers that grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from ...ports.base import (
    COUNT, NAME, POSITIVE, TRUE, Argument, Kind, Operation, Port, Vocabulary, hello, promised,
)
from ...ports.histories import About, Histories, is_number

__all__ = [
    "DEEDS", "FAULTS", "HISTORIES", "MOMENTS", "OPERATING", "PORT", "PROCESSES", "REASONS",
    "WITH_BROKERS", "WORDS", "Event", "Word", "is_list_of_brokers", "is_wait", "last_broker",
]


class Word(NamedTuple):
    """A kind of event: the names of its fields, and a sentence with them."""

    fields: tuple[str, ...]
    sentence: str


class Event(NamedTuple):
    """An event at an instant: a word, and its fields."""

    at: int
    what: str
    about: tuple[int | str, ...]


_RECORD: Final = ("broker", "partition", "epoch", "offset", "value")

WORDS: Final[Mapping[str, Word]] = {
    "began": Word(("broker", "life"), "broker {broker} begins its life {life}"),
    "crashed": Word(("broker",), "broker {broker} crashes"),
    "paused": Word(("broker",), "broker {broker} is paused"),
    "resumed": Word(("broker",), "broker {broker} continues"),
    "expired": Word(("broker",), "the session of broker {broker} expires"),
    "wants": Word(("broker",), "broker {broker} asks to shut down"),
    "released": Word(("broker",), "the controller lets broker {broker} shut down"),
    "left": Word(("broker",), "broker {broker} has shut down"),
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
    "queued": Word(("broker", "to", "requests"),
                   "{requests} requests of the controller on broker {broker} wait for an answer of "
                   "broker {to}"),
    "obeyed": Word(("broker", "life", "partition", "epoch"),
                   "a request puts broker {broker} into leader epoch {epoch} of partition "
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
    "held": Word(("broker", "partition", "value"),
                 "a producer of record {value} waits at broker {broker} until all in-sync replicas "
                 "of partition {partition} have it"),
    "replied": Word(("broker", "partition", "value"),
                    "broker {broker} answers the producer of record {value}, which has waited in "
                    "partition {partition}"),
    "changing": Word(("broker", "partition", "epoch"),
                     "broker {broker} asks for another ISR of partition {partition}"),
    "acked": Word(("producer", "partition", "acks_all", "offset", "value"),
                  "producer {producer} gets the acknowledgement that record {value} is in "
                  "partition {partition} at offset {offset}"),
    "answered": Word(("partition", "broker", "life", "epoch", "hw"),
                     "broker {broker} answers a consumer of partition {partition}: leader epoch "
                     "{epoch}, high watermark {hw}"),
    "read": Word(("partition", "offset", "value"),
                 "a consumer reads record {value} in partition {partition} at offset {offset}"),
    "made": Word(("topic", "partition"),
                 "topic {topic} is created, with partition {partition}"),
    "unwanted": Word(("topic",), "the deletion of topic {topic} is requested"),
    "erased": Word(("broker", "partition"),
                   "broker {broker} deletes its replica of partition {partition}"),
    "gone": Word(("topic",), "topic {topic} is gone"),
    "moves": Word(("partition", "replicas"),
                  "the replicas {replicas} are requested for partition {partition}"),
    "moved": Word(("partition",),
                  "the request for other replicas of partition {partition} was carried out, or "
                  "refused"),
    "waits": Word(("waiter", "on", "reason"), "{waiter} waits for {on}: {reason}"),
    "ends": Word(("partition", "leads", "in_sync"),
                 "at the end partition {partition} has {leads} leader that has answered every "
                 "producer, and {in_sync} replicas in sync"),
    "led": Word(("partition", "preferred"),
                "at the end partition {partition} has its first replica as its leader (1), or "
                "another one (0): {preferred}"),
    "wishes": Word(("left",), "at the end {left} requests of operators are open"),
    "rested": Word((), "the cluster is quiescent"),
    "stalled": Word((), "the cluster does not become quiescent"),
}
"""Words of a history.

A ``leader`` that equals the number of brokers is none; ``in_sync`` and ``replicas`` have brokers,
separated by commas, the replicas in their order. ``epoch`` is a leader epoch; ``acks_all`` and
``leads`` are 1 or 0.
"""

PROCESSES: Final = ("producer", "consumer", "operator", "broker", "controller", "service")
"""Processes that wait and are waited for.

The number of a producer or consumer is that of its partition, the number of a broker or controller
that of the broker; there is one operator, and one coordination service.
"""

REASONS: Final[Mapping[str, str]] = {
    "answer": "an answer", "record": "a record that it has not read",
    "leader": "a leader to be elected", "role": "a request that names the leader",
    "copy": "a follower to copy missing records", "rejoin": "a replica to be in sync again",
    "change": "an answer about the ISR", "request": "an answer to a request",
    "deletion": "a replica to be deleted", "wish": "a request to be carried out",
    "registration": "a registration", "election": "a controller to be elected",
}
"""Reasons to wait, if the cluster does not become quiescent."""

_TEXTS: Final = ("in_sync", "replicas")


def _said(text: str) -> About | None:
    """The word and the fields of an event, of the text after its instant; None if it is of none.

    Numbers are whole, and not negative.
    """
    what, *texts = text.split(" ")
    word = WORDS.get(what)
    if word is None or len(texts) != len(word.fields):
        return None
    about: list[int | str] = []
    for name, text in zip(word.fields, texts, strict=True):
        if what == "waits":
            if not is_wait(name, text):
                return None
            about.append(text)
        elif name in _TEXTS and (name, what) != ("in_sync", "ends"):
            if not is_list_of_brokers(text):
                return None
            about.append(text)
        elif is_number(text):
            about.append(int(text))
        else:
            return None
    return what, tuple(about)


HISTORIES: Final = Histories(Event, _said)
"""Reads the answers that are histories."""


def is_wait(name: str, text: str) -> bool:
    """True if a text is a reason to wait, or names a process: a word, and perhaps a number."""
    if name == "reason":
        return text in REASONS
    who, _, number = text.partition("-")
    return who in PROCESSES and (is_number(number) or (not number and "-" not in text))


WITH_BROKERS: Final = ("state", "assigned", "moves")
"""Events with brokers in their last field."""


@lru_cache(maxsize=1 << 12)
def last_broker(what: str, about: tuple[int | str, ...]) -> int:
    """The largest number of a broker in a word and its fields, to be checked against the deployed
    ones; -1 if there is none."""
    fields = dict(zip(WORDS[what].fields, about, strict=True))
    named = [int(fields[name]) for name in ("broker", "to") if name in fields]
    if what in WITH_BROKERS:
        named += map(int, str(about[-1]).split(","))
    return max(named, default=-1)


def is_list_of_brokers(text: str) -> bool:
    """True if a text has numbers, separated by commas."""
    return all(map(is_number, text.split(",")))


EVENTS: Final = Kind("a list of events, each a text", HISTORIES.are, (
    Vocabulary(
        "an event, after the instant; its fields follow it, with a blank before each", {
            " ".join((name, *word.fields)): word.sentence for name, word in WORDS.items()}),
    Vocabulary("a field of an event", {
        "broker": "a broker, from 0", "partition": "a partition, from 0",
        "life": "the number of restarts of the broker, from 0",
        "broker_epoch": "a number that grows with each registration",
        "controller": "the controller epoch, which grows with each controller",
        "epoch": "the leader epoch, which grows with each leader of the partition",
        "leader": "a broker; the number of brokers: none",
        "in_sync": "brokers, with commas between them; of ends: their number",
        "replicas": "brokers, with commas between them, the preferred one first",
        "meant": "the broker epoch that the request was meant for",
        "own": "the broker epoch that the broker has",
        "offset": "a place in the log, from 0; of cut: the new end of the log",
        "value": "the number of a record among all that were produced, from 1",
        "hw": "a high watermark: the offset below which all records are committed",
        "producer": "a producer, from 0",
        "acks_all": "1: acks=all; 0: acks=1",
        "leads": "1: it has such a leader; 0: it has not",
        "preferred": "1: its first replica leads; 0: another one does, or none",
        "left": "the number of open requests",
        "to": "the broker that has not answered", "requests": "the number of requests that wait",
        "topic": "a topic, from 0",
        "waiter": "a process, as broker-0: " + ", ".join(PROCESSES),
        "on": "the process that it waits for",
        "reason": "what it waits for"}),
    Vocabulary("the reason of waits", REASONS)))

MOMENTS: Final[Mapping[str, str]] = {
    "state": "a broker, as the controller or a leader, has written to the quorum, and has no reply "
             "yet",
    "stands": "a broker asks to be the controller, and has no reply yet",
    "controls": "a broker becomes the controller, and has sent no request yet",
    "took": "a broker takes writes as a new leader",
    "wrote": "a leader has appended a record that no follower has yet",
    "changing": "a leader has asked for another ISR, and has no reply yet",
    "committed": "the high watermark of a leader has risen, and no other broker knows it yet",
    "cut": "a follower has cut its log",
    "registered": "a broker has registered, and the controller does not know it yet",
}
"""Moments that a fault may wait for."""

_MOMENT: Final = Kind(NAME.words, NAME.accepts, (Vocabulary("`moment`", MOMENTS),))

DEEDS: Final[Mapping[str, str]] = {
    "crash": "the broker crashes", "pause": "the broker is paused",
    "expire": "the broker's session expires",
    "isolate": "the broker is cut off from the coordination service",
    "lose_reply": "the reply of the broker's next request to the coordination service gets lost",
    "lose_request": "the broker's next request to the coordination service gets lost",
}
"""Faults of a broker at such a moment."""

_DEED: Final = Kind(NAME.words, NAME.accepts, (Vocabulary("`deed`", DEEDS),))

_AFTER: Final = Argument("after", COUNT, "the milliseconds that pass before")
_LASTS: Final = Argument("lasts", POSITIVE, "duration in milliseconds")
_BROKER: Final = Argument("broker", COUNT, "a broker, from 0")
_OTHER: Final = Argument("other", COUNT, "another broker")

FAULTS: Final = (
    Operation("crash", EVENTS, "let time pass, then a broker crashes: its disk stays; it starts "
              "again after the given duration", (_AFTER, _BROKER, _LASTS)),
    Operation("pause", EVENTS, "let time pass, then a broker is paused, and continues after the "
              "given duration as if nothing had happened", (_AFTER, _BROKER, _LASTS)),
    Operation("expire", EVENTS, "let time pass, then the session of a broker expires",
              (_AFTER, _BROKER)),
    Operation("isolate", EVENTS, "let time pass, then a broker is cut off from the coordination "
              "service", (_AFTER, _BROKER, _LASTS)),
    Operation("drift", EVENTS, "let time pass, then the clock of a broker goes at another rate",
              (_AFTER, _BROKER, Argument("rate", POSITIVE, "ms of this clock in 100 ms"), _LASTS)),
    Operation("cut", EVENTS, "let time pass, then two brokers cannot reach each other",
              (_AFTER, _BROKER, _OTHER, _LASTS)),
    Operation("delay", EVENTS, "let time pass, then messages between two brokers take longer, and "
              "overtake each other", (_AFTER, _BROKER, _OTHER, Argument(
                  "extra", POSITIVE, "at most so many ms more"), _LASTS)),
    Operation("lose", EVENTS, "let time pass, then messages between two brokers get lost",
              (_AFTER, _BROKER, _OTHER, Argument("percent", COUNT, "per cent of the "
                                                 "messages"), _LASTS)),
    Operation("stop_service", EVENTS, "let time pass, then the coordination service is down",
              (_AFTER, _LASTS)),
    Operation("upon", EVENTS, "let time pass; when the moment comes for the first time after that, "
              "do something to its broker",
              (_AFTER, Argument("moment", _MOMENT, "the moment: " + ", ".join(MOMENTS)),
               Argument("deed", _DEED, "what is done: " + ", ".join(DEEDS)), _LASTS)),
)
"""Faults that a run may have."""

_PARTITION: Final = Argument("partition", COUNT, "a partition, from 0")
_BROKERS: Final = Kind("brokers, separated by commas", lambda value: isinstance(
    value, str) and is_list_of_brokers(value))

OPERATING: Final = (
    Operation("shut_down", EVENTS, "let time pass, then a broker asks the controller whether it "
              "may shut down, stops, and starts again after the given "
              "duration", (_AFTER, _BROKER, _LASTS)),
    Operation("prefer", EVENTS, "let time pass, then an operator requests that the first replica "
              "of a partition leads; the request is repeated at the end of quiet",
              (_AFTER, _PARTITION)),
    Operation("reassign", EVENTS, "let time pass, then an operator requests other replicas for a "
              "partition, after earlier requests are carried out",
              (_AFTER, _PARTITION, Argument("to", _BROKERS, "its replicas, the preferred first"))),
    Operation("make_topic", EVENTS, "let time pass, then an operator creates a topic; it has the "
              "next number (0 is that of the deployment), and one partition, which has the next "
              "number of a partition, and a replica on each broker", (_AFTER,)),
    Operation("delete_topic", EVENTS, "let time pass, then an operator requests the deletion of a "
              "topic, after earlier requests about topics are carried out",
              (_AFTER, Argument("topic", COUNT, "a topic, from 0"))),
    Operation("permit_unclean", EVENTS, "let time pass; from then on a replica that is not in sync "
              "may be elected, if no in-sync replica is up", (_AFTER,)),
)
"""Actions of operators; a cluster with them need not have a fault."""

_OPERATIONS: Final = (
    hello("begin anew"),
    Operation(
        "deploy", TRUE, "start a cluster; each broker has a replica of each partition, and broker "
        "p modulo brokers is the preferred leader of partition p",
        (Argument("brokers", POSITIVE, "the number of brokers"),
         Argument("partitions", POSITIVE, "the number of partitions"),
         Argument("seed", COUNT, "the seed of the implementation's random choices"))),
    Operation(
        "produce", EVENTS, "let time pass, then let a producer write more records to a partition; "
        "there is one for each partition and kind of acknowledgement, and it sends each record "
        "until it is acknowledged",
        (_AFTER, _PARTITION,
         Argument("acks_all", COUNT, "1: acks=all; 0: acks=1"),
         Argument("records", POSITIVE, "how many"))),
    *FAULTS, *OPERATING,
    Operation("elapse", EVENTS, "let time pass", (_AFTER,)),
    Operation(
        "quiet", EVENTS, "end every fault, and let the cluster run until it is quiescent (the last "
        "event is rested) or certainly will not become so (stalled); before that, report the end "
        "of each partition"),
    Operation("settle", TRUE, "let everything run that can run at this instant, then answer",
              optional=False),
)

_PROMISES: Final = {
    "produce": {
        "Once all faults are over, every producer is answered.": "KAFKA-F14",
        "Once all faults are over, every record is acknowledged.": "KAFKA-F25",
        "A record acknowledged with acks=all is read.": "KAFKA-F26",
    },
    "delete_topic": {
        "Once all faults are over, nothing is left of the topic.": "KAFKA-F28",
    },
    "prefer": {
        "Once all faults are over, the first replica of the partition leads.": "KAFKA-F19",
    },
    "reassign": {
        "Once all faults are over, the request has been carried out or refused.": "KAFKA-F22",
    },
    "quiet": {
        "Every partition has a leader.": "KAFKA-F14",
        "All replicas are in sync again.": "KAFKA-F15",
        "The cluster becomes quiescent.": "KAFKA-F27",
    },
}
"""The promises of each operation, and the rules of progress that judge them."""

PORT: Final = Port(
    name="kafka.failover",
    version=1,
    meaning="replicated partitions on a cluster of brokers, under faults",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "min.insync.replicas"),),
    policies={"clean": "only an in-sync replica is elected, until unclean elections are permitted"},
)
