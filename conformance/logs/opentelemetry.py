"""Messaging spans of OpenTelemetry: lines of OTLP in JSON, as the collector's file exporter writes.

A span is an interval, so it is a call: a send is a put, a receive a take. A message is the context
in which it was created. A span that gets it links to that, or is a part of it, or has the same
id: libraries do any of the three, and often only one side has the id. So the sends of all files
are read first, and then what was received of each.

Where a message is pushed to a consumer, its span begins when it is processed. It left its queue at
some time before, so nothing is known of the order; and of a message with both spans, that of the
receive is taken. A message belongs to the queue that it was received from, for the name that a
sender has may be that of an exchange or a topic; one that was received from several was given to
each. A receive of which no span is the send is left out: most likely that span is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...spec.notation.labels import counted
from .events import in_line
from .spans import Span, first_of, spans_of

__all__ = ["MEANINGS", "TOLERANCE", "Survey"]

MEANINGS: Final[Mapping[str, Sequence[str]]] = {
    "send": ("put",), "create": ("ignore",), "receive": ("take",), "process": ("take",),
    "settle": ("ignore",)}
"""By type of operation, those of suites."""

TOLERANCE: Final = 100_000_000
"""Nanoseconds by which the clocks of two machines may differ, unless a mapping says otherwise."""

_COUNT: Final = ("messaging.batch.message_count",)
_ERROR: Final = (2, "STATUS_CODE_ERROR")

Rows = Iterator[tuple[int, dict[str, Any]]]


@dataclass(slots=True)
class _Message:
    """A message that was sent: the context that created it, its id, the route that its send names,
    and when that began; and where it was received."""

    context: str
    name: str
    route: int
    begins: int
    places: tuple[str, ...] = ()
    is_received: bool = False


@dataclass
class Survey:
    """The messages of all spans in some files. Raises ``InputError``."""

    paths: Sequence[Path]
    _messages: list[_Message] = field(default_factory=list)
    _named: dict[str, int | None] = field(default_factory=dict)
    _routes: dict[tuple[str, ...], int] = field(default_factory=dict)
    _places: list[dict[str, None]] = field(default_factory=list)
    unsent: int = 0
    is_pushed: bool = False

    def __post_init__(self) -> None:
        for path in self.paths:
            for span in spans_of(path):
                if span.operation == "send":
                    self._sent(span)
        for path in self.paths:
            for span in spans_of(path):
                if span.operation in ("receive", "process"):
                    self._received(span)

    @property
    def settings(self) -> Mapping[str, int]:
        """The settings that the spans call for."""
        return {"order": 0} if self.is_pushed else {}

    @property
    def not_shown(self) -> Mapping[str, str]:
        """The rules that these spans cannot show broken, each with the reason."""
        unsent = f" ({counted(self.unsent, 'receive')} left out)" if self.unsent else ""
        found = {"QUEUE-5": "a message that nobody sent cannot be told from one of a send without "
                            f"a span{unsent}"}
        if any(len(places) > 1 for places in self._places):
            found["QUEUE-4"] = ("what was sent to one place was received from several, so where a "
                                "message is missing that was not received is not known")
        return found

    # --- reading ----------------------------------------------------------------------------

    def _sent(self, span: Span) -> None:
        if (first_of(span.about, _COUNT) or 0) > 1 and not span.links:
            return      # which of several messages a receive means cannot be said
        route = self._routes.setdefault(span.route, len(self._routes))
        if route == len(self._places):
            self._places.append({})
        links = [] if span.is_produced else span.links
        for context in links or [span.context]:
            number = len(self._messages)
            name = span.message if len(links) < 2 else ""
            self._messages.append(_Message(
                context, name, route, int(span.span["startTimeUnixNano"])))
            for each in (context, f"id:{name}" if name else "",
                         "" if span.is_producer or links else span.parent):
                if each:
                    self._named[each] = None if each in self._named else number

    def _received(self, span: Span) -> None:
        found = self._found(span)
        if not found:
            self.unsent += _number_of(span) != 0
            return
        self.is_pushed |= span.is_pushed
        place = span.destination
        for each in found:
            if place not in each.places:
                each.places += (place,)
            each.is_received |= span.operation == "receive"
            self._places[each.route][place] = None

    def _found(self, span: Span) -> list[_Message]:
        """The messages that a span is about, of those that were sent."""
        for names in (span.links, [span.parent], [f"id:{span.message}"]):
            found = [self._messages[number] for name in names
                     if (number := self._named.get(name)) is not None]
            if found:
                return found
        if not (span.links or span.parent or span.message) and _number_of(span) != 0:
            raise in_line("this span says neither by a link nor by an id which message it is about",
                          span.file, span.line, "Record messaging.message.id, or links to the "
                          "creation context.")
        return []

    # --- rows -------------------------------------------------------------------------------

    def rows(self, path: Path) -> Rows:
        """The rows of all messaging spans of a file, two for each message of a span; a receive
        without messages found nothing."""
        for span in spans_of(path):
            if span.operation == "send":
                yield from self._puts(span)
            elif span.operation in ("receive", "process"):
                yield from self._takes(span)

    def _puts(self, span: Span) -> Rows:
        contexts = [span.context] if span.is_produced else span.links
        for number, context in enumerate(contexts):
            at = self._named.get(context)
            if at is None:
                continue
            message = self._messages[at]
            places = self._places[message.route]
            for place in message.places if len(places) > 1 else places or [span.destination]:
                yield from _call(span, place, self._item(message), number)

    def _takes(self, span: Span) -> Rows:
        found = self._found(span)
        if not found and _number_of(span) == 0:
            yield from _call(span, span.destination, None, 0)
        for number, message in enumerate(found):
            if span.operation == "receive" or not message.is_received:
                yield from _call(span, span.destination, self._item(message), number,
                                 message.begins if span.is_pushed else None)

    def _item(self, message: _Message) -> str:
        """The name of a message: its id, if no other one has that."""
        by_name = message.name and self._named.get(f"id:{message.name}") is not None
        return message.name if by_name else message.context


def _number_of(span: Span) -> Any:
    """The number of messages that a receive says it got; None if it does not say. A receive
    that has neither got a message nor says so may have got one."""
    return first_of(span.about, _COUNT) if span.operation == "receive" else None


def _call(span: Span, key: str, item: str | None, number: int, since: int | None = None) -> Rows:
    """The begin and the end of a call. With ``since`` it took place between then and the beginning
    of the span."""
    if not key:
        raise in_line("this messaging span has no destination", span.file, span.line,
                      "It needs the attribute messaging.destination.name.")
    start, end = int(span.span["startTimeUnixNano"]), int(span.span["endTimeUnixNano"])
    if since is not None:
        start, end = min(since, start), start
    gets = span.operation != "send"
    failed = since is None and span.span.get("status", {}).get("code") in _ERROR
    result = "failed" if failed else "empty" if item is None else "ok"
    common = {"key": key, "process": f"{span.service}/{span.span['spanId']}",
              "operation": span.operation, "call": number}
    yield span.line, {**common, "phase": "begin", "item": None if gets else item, "time": start}
    yield span.line, {**common, "phase": "end", "item": item, "result": result, "time": end}
