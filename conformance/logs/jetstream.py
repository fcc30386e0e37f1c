"""Advisories and metrics of NATS JetStream: what is sent below ``$JS.EVENT``, one JSON a line.

Each consumer of a stream is a queue with one consumer. The server numbers the messages of a stream,
and the deliveries of a consumer; both numbers are in each line on an ack, a nak or a termination,
with how often the message was delivered. So what is not in the log is known where it matters: a
message was published before a later one, and a delivery was before those with greater numbers. It
is placed directly before the first event that shows it. A delivery that no line is about, since its
time was over, is placed as the number of deliveries demands; it came back before the next.

With ``sample_freq`` at 100 % there is a line for each ack. How often a message may be delivered is
read off the audit of the consumer's creation; without that, off the first message that was
delivered too often.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from .events import in_line
from .readers import text_of

__all__ = ["MEANINGS", "NOT_SHOWN", "rows"]

MEANINGS: Final[Mapping[str, Sequence[str]]] = {
    "publish": ("publish",), "deliver": ("receive",), "ack": ("ack",), "nak": ("requeue",),
    "timeout": ("requeue",), "terminate": ("reject",), "max_deliver": ("dead",),
    "deliveries": ("count",), "allowed": ("tries",)}
"""Operations of the suite, by the event that stands for them."""

_TAKEN: Final = "the server publishes only what it has taken"
NOT_SHOWN: Final[Mapping[str, str]] = {
    "DELIV-7": "that a message has come back is inferred from its next delivery",
    "DELIV-8": "the log does not say when a message was delivered, only before which event",
    "DELIV-11": _TAKEN, "DELIV-13": _TAKEN}
"""Rules that such a log cannot show broken, with the reasons."""

_KINDS: Final = {
    "io.nats.jetstream.metric.v1.consumer_ack": "ack",
    "io.nats.jetstream.advisory.v1.nak": "nak",
    "io.nats.jetstream.advisory.v1.terminated": "terminate",
    "io.nats.jetstream.advisory.v1.max_deliver": "max_deliver"}
_AUDIT: Final = "io.nats.jetstream.advisory.v1.api_audit"
_OTHERS: Final = "io.nats."
_CREATES: Final = ("$JS.API.CONSUMER.CREATE.", "$JS.API.CONSUMER.DURABLE.CREATE.")

_NEXT: Final = ("Record them by `nats subscribe --raw '$JS.EVENT.>'`, one JSON document a line.")

Row = dict[str, Any]
Rows = Iterator[tuple[int, Row]]


@dataclass(frozen=True)
class _Line:
    """A line on a message: the number of its delivery, 0 if the line has none, and how often it
    was delivered by then."""

    number: int
    key: str
    operation: str
    message: int
    delivery: int
    times: int


@dataclass
class _Consumer:
    """A consumer of a stream. ``delivered`` has, by number of a delivery, the line on it, and
    ``messages`` each message that a line is about, with whether its first delivery is among them.

    The others are as far as the rows are: the messages and deliveries that have none yet, the
    least last; how often each message was delivered; and what is in flight."""

    key: str
    delivered: dict[int, _Line] = field(default_factory=dict)
    messages: dict[int, bool] = field(default_factory=dict)
    allowed: int = 0
    unpublished: list[int] = field(default_factory=list)
    undelivered: list[int] = field(default_factory=list)
    times: dict[int, int] = field(default_factory=dict)
    in_flight: set[int] = field(default_factory=set)

    def notes(self, line: _Line) -> None:
        """Know of a line, before any row is made."""
        if line.delivery:
            self.delivered.setdefault(line.delivery, line)
        is_first = bool(line.delivery) and line.times == 1
        self.messages[line.message] = self.messages.get(line.message, False) or is_first
        if line.operation == "max_deliver":
            self.allowed = self.allowed or line.times

    def begins(self, at: int) -> Rows:
        """Be before all events, with what the consumer promises."""
        self.unpublished = sorted(self.messages, reverse=True)
        self.undelivered = sorted(self.delivered, reverse=True)
        if self.allowed:
            yield self._row(at, "allowed", value=self.allowed)

    def happens(self, line: _Line) -> Rows:
        """The rows of a line, after those of all that it shows."""
        message = line.message
        while self.undelivered and self.undelivered[-1] <= line.delivery:
            yield from self._delivers(self.delivered[self.undelivered.pop()])
        if line.operation == "max_deliver":
            yield from self._reaches(line)
            yield from self._was_delivered(line, line.times)
            yield from self._comes_back(line)
        if line.operation != "nak" or message in self.in_flight:
            yield self._row(line.number, line.operation, message)
        self.in_flight.discard(message)

    def _delivers(self, line: _Line) -> Rows:
        yield from self._reaches(line)
        yield from self._was_delivered(line, line.times - 1)
        yield from self._comes_back(line)
        yield from self._gives(line.number, line.message)
        yield self._row(line.number, "deliveries", line.message, line.times)

    def _reaches(self, line: _Line) -> Rows:
        """All messages up to one are published, and the first deliveries among them that no line is
        about have been."""
        while self.unpublished and self.unpublished[-1] <= line.message:
            message = self.unpublished.pop()
            yield self._row(line.number, "publish", message)
            if not self.messages[message]:
                yield from self._gives(line.number, message)

    def _was_delivered(self, line: _Line, times: int) -> Rows:
        """The message was delivered so often."""
        while self.times.get(line.message, 0) < times:
            yield from self._comes_back(line)
            yield from self._gives(line.number, line.message)

    def _comes_back(self, line: _Line) -> Rows:
        if line.message in self.in_flight:
            self.in_flight.discard(line.message)
            yield self._row(line.number, "timeout", line.message)

    def _gives(self, number: int, message: int) -> Rows:
        self.times[message] = self.times.get(message, 0) + 1
        self.in_flight.add(message)
        yield self._row(number, "deliver", message)

    def _row(self, number: int, operation: str, message: int | None = None,
             value: int | None = None) -> tuple[int, Row]:
        return number, {"key": self.key, "process": self.key.partition("/")[2],
                        "operation": operation, "phase": "point", "item": message, "value": value,
                        "result": "ok"}


def rows(path: Path) -> Rows:
    """The rows of all consumers, in the order of the lines. Raises ``InputError`` with file and
    line."""
    consumers: dict[str, _Consumer] = {}
    for number, document in _documents(path):
        consumer = _created(document, path, number)
        if consumer is not None:
            consumers.setdefault(consumer.key, consumer).allowed = consumer.allowed
        line = _line(document, path, number)
        if line is not None:
            consumers.setdefault(line.key, _Consumer(line.key)).notes(line)
    begun: set[str] = set()
    for number, document in _documents(path):
        line = _line(document, path, number)
        if line is None:
            continue
        consumer = consumers[line.key]
        if line.key not in begun:
            begun.add(line.key)
            yield from consumer.begins(number)
        yield from consumer.happens(line)


def _documents(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with text_of(path) as lines:
        for number, text in enumerate(lines, 1):
            if not text.strip():
                continue
            try:
                document = json.loads(text)
                kind = document["type"]
                if not kind.startswith(_OTHERS):
                    raise ValueError(f"its type is {kind[:40]!r}")
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise in_line(f"this is no event of JetStream: {type(error).__name__}: {error}",
                              str(path), number, _NEXT) from None
            yield number, document


def _line(document: Mapping[str, Any], path: Path, number: int) -> _Line | None:
    """A document as a line on a message; None for any other."""
    operation = _KINDS.get(document["type"])
    if operation is None:
        return None
    try:
        # In naks and terminations of some releases numbers are texts.
        line = _Line(number, f"{document['stream']}/{document['consumer']}", operation,
                     int(document["stream_seq"]), int(document.get("consumer_seq") or 0),
                     int(document["deliveries"]))
        if min(line.message, line.times) < 1 or (operation != "max_deliver" and line.delivery < 1):
            raise ValueError("a number is below 1")
    except (KeyError, TypeError, ValueError) as error:
        raise in_line(f"this line lacks what it is about: {type(error).__name__}: {error}",
                      str(path), number, _NEXT) from None
    return line


def _created(document: Mapping[str, Any], path: Path, number: int) -> _Consumer | None:
    """The consumer that an audit says was created, as the server answers it."""
    if document["type"] != _AUDIT or not str(document.get("subject", "")).startswith(_CREATES):
        return None
    try:
        answer = json.loads(document["response"])
        config = answer.get("config")
        return None if config is None else _Consumer(
            f"{answer['stream_name']}/{answer['name']}",
            allowed=max(0, int(config.get("max_deliver", 0))))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise in_line(f"this audit cannot be read: {type(error).__name__}: {error}", str(path),
                      number, _NEXT) from None
