"""The port ``storm.topology``: a topology is run under faults, and reports its history, as data.

The harness plans a run: which topology on how many workers, which faults and when. Then it lets
it run, and gets the history: every event as a text, the instant first, then a word of
``WORDS``, then its fields. It is judged by the rules of ``spec.storm.observed_topology``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ....reference.storm.cluster import Happened
from ...ports.base import (
    COUNT, NAME, POSITIVE, TRUE, Argument, Kind, Operation, Port, Vocabulary, hello, promised,
)
from ...ports.histories import About, Histories, is_number

__all__ = ["FAULTS", "HISTORIES", "PORT", "WORDS", "Word"]


class Word(NamedTuple):
    """The names of an event's fields, and a sentence with them."""

    fields: tuple[str, ...]
    sentence: str


_LANE: Final = ("sender", "life", "to", "number")

WORDS: Final[Mapping[str, Word]] = {
    "emitted": Word(_LANE, "task {sender} emits its tuple {number} to task {to}"),
    "processed": Word(("task", "sender", "life", "number"),
                      "task {task} processes tuple {number} of task {sender}"),
    "lost": Word(_LANE, "tuple {number} of task {sender} to task {to} is lost, and counted"),
    "holds": Word(("task", "recvq", "overflowq"),
                  "task {task} holds {recvq} in its recvQ and {overflowq} in its overflowQ"),
    "stands": Word(("task", "count"), "pendingEmits of task {task} holds {count} messages"),
    "pends": Word(("task", "count"), "{count} roots of task {task} are pending after a round"),
    "root": Word(("message", "root"), "the spout begins an attempt at message {message}"),
    "reached": Word(("message", "root", "part"),
                    "part {part} of message {message} is processed at the sink"),
    "acked": Word(("message", "root"), "message {message} is acked"),
    "failed": Word(("message", "root"), "an attempt at message {message} fails"),
    "failing": Word(("task", "root"), "task {task} fails a tuple of an attempt"),
    "raised": Word(("task",), "user code of task {task} raises an exception that is not caught"),
    "asking": Word(("task", "root"), "task {task} asks for more time for an attempt"),
    "left": Word(("worker", "waited"),
                 "a message leaves the transfer queue of worker {worker} after {waited}"),
    "wrote": Word(("worker", "to", "standing"),
                  "worker {worker} writes to worker {to}, with {standing} messages under way"),
    "heard": Word(("worker", "task", "blocked"),
                  "worker {worker} hears of task {task}: backlogged {blocked}"),
    "held": Word(("worker", "task"),
                 "worker {worker} holds back a message for task {task}, which is backlogged"),
    "killed": Word(("worker",), "worker {worker} is killed"),
    "died": Word(("worker", "why"), "worker {worker} dies without being killed: {why}"),
    "forgot": Word(("task", "spout"), "the tuples that task {task} held are lost with its worker"),
    "began": Word(("worker", "life"), "worker {worker} begins its life {life}"),
    "rested": Word((), "the topology is quiescent"),
    "stalled": Word(("cycle",), "the topology is not quiescent in time; tasks wait {cycle}"),
}
"""The words of a history. ``life`` counts the restarts of the sender's worker, ``number`` the
tuples from a task to a task in such a life, from 0; ``root`` names one attempt at a message."""

_TEXTS: Final = ("root", "why", "cycle")
"""Fields that are texts; the last field of an event may have spaces in it."""


def _said(text: str) -> About | None:
    """The word and the fields of an event, of the text after its instant; None if it is of none.

    Numbers are whole and not negative. The text after the last field's blank belongs to that field.
    """
    what, _, rest = text.partition(" ")
    word = WORDS.get(what)
    if word is None:
        return None
    texts = rest.split(" ", max(len(word.fields) - 1, 0)) if word.fields else []
    if len(texts) != len(word.fields) or (not word.fields and rest):
        return None
    about: list[int | str] = []
    for name, text in zip(word.fields, texts, strict=True):
        if name in _TEXTS:
            about.append(text)
        elif is_number(text):
            about.append(int(text))
        else:
            return None
    return what, tuple(about)


HISTORIES: Final = Histories(Happened, _said)
"""Reads the answers to ``run``."""

EVENTS: Final = Kind("a list of events, each a text", HISTORIES.are, (
    Vocabulary(
        "an event, after the instant; its fields follow it, with a blank before each", {
            " ".join((name, *word.fields)): word.sentence for name, word in WORDS.items()}),
    Vocabulary("a field of an event", {
        "sender": "a task, from 0", "task": "a task, from 0", "to": "another task; of wrote, a "
        "worker", "worker": "a worker, from 0",
        "life": "how often the sender's worker, or the worker, has restarted, from 0",
        "number": "which tuple from task to task in such a life, from 0",
        "message": "which message of the source, from 0",
        "root": "a text without blanks: one attempt at a message",
        "part": "which part of the message, from 0",
        "blocked": "1: it is backlogged, 0: it is not",
        "spout": "1: it is a task of a spout, 0: it is not",
        "why": "a text: the cause of its death",
        "cycle": "a text: the tasks that wait for each other"})))

TOPOLOGY: Final = Kind(NAME.words, NAME.accepts, (Vocabulary("a topology", {
    "word-count": "the spout source (task 0), split (1 and 2, which emit the 3 words of a "
                  "message), count (3 and 4, the sink), the ackers (from 5 on)",
    "diamond": "the spout source (0), left (1), right (2), join (3), sink (4), the ackers (from 5 "
               "on); a message has 1 part",
    "ping-pong": "two bolts that feed each other: to be refused with a definite error",
}),))

ACKERS: Final = Kind(
    "an integer from 0 up, or null", lambda value: value is None or COUNT.accepts(value))

_AT: Final = Argument("at", COUNT, "the instant at which it begins")
_LASTS: Final = Argument("lasts", POSITIVE, "for how many instants")
_WORKER: Final = Argument("worker", COUNT, "a worker, from 0")
_TO: Final = Argument("to", COUNT, "another worker")
_BOLT: Final = Argument("task", COUNT, "a task of a bolt, and of no acker")

FAULTS: Final = (
    Operation("kill", TRUE, "plan that a worker is killed, and restarts when it is over",
              (_AT, _WORKER, _LASTS)),
    Operation("cut", TRUE, "plan that the connection from a worker to another is cut, and made "
              "again when it is over; everything on its way is lost and counted",
              (_AT, _WORKER, _TO, _LASTS)),
    Operation("lose_status", TRUE, "plan that the next status to a worker of another gets lost",
              (_AT, _WORKER, _TO, _LASTS)),
    Operation("delay_status", TRUE, "plan that statuses to a worker of another are late",
              (_AT, _WORKER, _TO, _LASTS)),
    Operation("slow", TRUE, "plan that a task is slow",
              (_AT, Argument("task", COUNT, "a task, from 0"), _LASTS)),
    Operation("fail", TRUE, "plan that a task of a bolt fails the next tuple that it executes",
              (_AT, _BOLT)),
    Operation("toil", TRUE, "plan that a task of a bolt works this long at the next tuple that "
              "it executes, and asks for more time, six times in a period of the timeout",
              (_AT, _BOLT, _LASTS)),
    Operation("throw", TRUE,
              "plan that user code raises an exception that is not caught: a bolt's at the "
              "next tuple that it executes, a spout's when it is next to emit a message",
              (_AT, Argument("task", COUNT, "a task of a spout or a bolt, and of no acker"))),
    Operation("stray", TRUE, "plan that a tuple arrives from a worker at another, for a task "
              "that does not exist", (_AT, _WORKER, _TO)),
)
"""Faults that can be planned for a run."""

_SIZES: Final = (
    ("workers", POSITIVE, "how many workers there are; task t is on worker t modulo workers"),
    ("messages", POSITIVE, "the number of messages in the source"),
    ("overflow_limit", COUNT, "the most that an overflowQ may hold; 0: no limit"),
    ("transfer_capacity", POSITIVE, "the most that a transfer queue may hold"),
    ("max_pending", COUNT, "roots that may be pending when a round begins; 0: any number"),
    ("per_round", POSITIVE, "roots that a round emits at most"),
    ("reminder", POSITIVE, "growth of an overflowQ after which the status is sent again"),
    ("repeat", POSITIVE, "checks between repetitions of the status"),
    ("seed", COUNT, "the seed of everything that the implementation leaves to chance"))

_MORE_SIZES: Final = (
    ("batch", POSITIVE, "tuples that a producer collects before it inserts them, no more than "
     "half of a recvQ; absent: 1"),
    ("link_capacity", POSITIVE, "messages under way that make a connection not writable; "
     "absent: 8"),
    ("timeout", POSITIVE, "instants between two ticks of the message timeout; absent: 300"),
    ("ackers", ACKERS, "how many ackers there are; 0: nothing is tracked; null: one for each "
     "worker; absent: 1"))

_OPERATIONS: Final = (
    hello("begin anew"),
    Operation(
        "deploy", TRUE, "make the workers of a topology ready; a definite error if it is "
        "refused, as one with a cycle of bolts should be",
        (
            Argument("topology", TOPOLOGY, "word-count, diamond, or ping-pong"),
            *(Argument(name, kind, meaning) for name, kind, meaning in _SIZES),
            *(Argument(name, kind, meaning, required=False)
              for name, kind, meaning in _MORE_SIZES)),
    ),
    *FAULTS,
    Operation(
        "run", EVENTS, "run with all that was planned, until the topology is quiescent (the "
        "last event is rested) or it is clear that it will not be (stalled); the history",
    ),
    Operation(
        "settle", TRUE, "let everything run that can run at this instant, then answer",
        optional=False,
    ),
)

_PROMISES: Final = {
    "run": {
        "The topology becomes quiescent within a bounded time.": "STORM-C13",
        "Every message is acked, and all its parts reach the sink.": "STORM-C12",
        "Every tuple is processed, or its loss is counted.": "STORM-C3",
    },
}
"""The required effects of each operation, with the rules of progress that judge them."""

PORT: Final = Port(
    name="storm.topology",
    version=1,
    meaning="a topology from source to sink, on a cluster of workers, under faults",
    operations=promised(_OPERATIONS, _PROMISES),
    settings=(Argument("capacity", POSITIVE, "the most tuples that a recvQ may hold"),),
    policies={"repeat": "every tree that is not acked is emitted again"},
)
