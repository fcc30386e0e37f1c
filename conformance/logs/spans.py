"""The messaging spans in lines of OTLP in JSON: which operation each is, and the names in it.

No version of the conventions for messaging is stable, and libraries keep to none of them exactly.
So both the names of today and those of before are read; a span without a type of operation is what
its kind says; and the destination is looked for in all places where libraries write it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...spec.notation.errors import InputError
from .events import in_line
from .readers import text_of

__all__ = ["Span", "first_of", "spans_of"]

_TYPES: Final = {"publish": "send", "deliver": "process"}
"""Types of operations that had another name."""

_BY_KIND: Final = {4: "send", "SPAN_KIND_PRODUCER": "send", 5: "process",
                   "SPAN_KIND_CONSUMER": "process"}
"""Operations of messaging spans that name none, by their kind."""

_VERBS: Final = {"send", "publish", "receive", "process", "deliver"}

_TYPE: Final = ("messaging.operation.type", "messaging.operation")
_PARTITION: Final = ("messaging.destination.partition.id", "messaging.kafka.destination.partition",
                     "messaging.kafka.partition", "messaging.kafka.source.partition")
_MESSAGE: Final = ("messaging.message.id", "messaging.message_id")
_NOWHERE: Final = ("", "(temporary)", "(anonymous)")
_ROUTE: Final = ("messaging.rabbitmq.destination.routing_key", "messaging.rabbitmq.routing_key")


class Span(NamedTuple):
    """A span of messaging: its operation is send, create, receive, process or settle; ``about`` has
    its attributes, and ``span`` what else OTLP says of it."""

    file: str
    line: int
    operation: str
    service: str
    about: Mapping[str, Any]
    span: Mapping[str, Any]

    @property
    def is_pushed(self) -> bool:
        """True if it says when a message was processed, and not when it left its queue."""
        return self.operation == "process" or (
            self.operation == "receive" and _BY_KIND.get(self.span.get("kind", 0)) == "process")

    @property
    def is_producer(self) -> bool:
        """True if its kind is that of a producer."""
        return _BY_KIND.get(self.span.get("kind", 0)) == "send"

    @property
    def is_produced(self) -> bool:
        """True if it is itself the context in which its message was created."""
        return self.is_producer or not self.links

    @property
    def context(self) -> str:
        """Its name among all spans."""
        return f"{self.span['traceId']}:{self.span['spanId']}"

    @property
    def parent(self) -> str:
        """The name of the span that it is a part of; empty if there is none."""
        parent = self.span.get("parentSpanId")
        return f"{self.span['traceId']}:{parent}" if parent else ""

    @property
    def links(self) -> list[str]:
        """The names of the spans that it links to."""
        return [f"{link['traceId']}:{link['spanId']}" for link in self.span.get("links") or ()]

    @property
    def message(self) -> str:
        """The message's id; empty if it has none."""
        name = first_of(self.about, _MESSAGE)
        return "" if name is None else str(name)

    @property
    def route(self) -> tuple[str, ...]:
        """All that it says of the destination."""
        return (*(str(self.about.get(name, "")) for name in _DESTINATIONS), *self._route_in_name)

    @property
    def destination(self) -> str:
        """The queue or topic, with its partition; empty if it does not say. A name that today's
        conventions give, then the one in "orders receive", for attributes of old libraries have
        exchanges and consumers there."""
        today, *others = (str(self.about.get(name, "")) for name in _DESTINATIONS)
        found = next((name for name in (today, *self._route_in_name, *others)
                      if name not in _NOWHERE), "")
        partition = first_of(self.about, _PARTITION)
        return found if partition is None else f"{found}/{partition}"

    @property
    def _route_in_name(self) -> tuple[str, ...]:
        name, _, verb = str(self.span.get("name", "")).rpartition(" ")
        return (name,) if verb in _VERBS and name and " " not in name else ()


_DESTINATIONS: Final = ("messaging.destination.name", "messaging.source.name",
                        "messaging.destination", *_ROUTE)


def spans_of(path: Path) -> Iterator[Span]:
    """The messaging spans of a file. Raises ``InputError``."""
    for line, document in _lines(path):
        try:
            for resource in document.get("resourceSpans") or ():
                service = _attributes(resource.get("resource", {}), "service.")
                name = service.get("service.instance.id") or service.get("service.name") or ""
                for scope in resource.get("scopeSpans") or ():
                    for span in scope.get("spans") or ():
                        about = _attributes(span, "messaging.")
                        operation = _operation(about, span)
                        if operation is not None:
                            yield Span(str(path), line, operation, str(name), about, {
                                **span, "spanId": span["spanId"], "traceId": span["traceId"]})
        except (AttributeError, KeyError, TypeError) as error:
            raise in_line(f"this is not OTLP: {type(error).__name__}: {error}", str(path), line,
                          "Each line is a document with resourceSpans.") from None


def _operation(about: Mapping[str, Any], span: Mapping[str, Any]) -> str | None:
    kind = first_of(about, _TYPE)
    if kind is not None:
        return _TYPES.get(str(kind), str(kind))
    if about:
        return _BY_KIND.get(span.get("kind", 0))
    return None


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with text_of(path) as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, json.loads(line)
    except UnicodeDecodeError:
        raise InputError("this file is no UTF-8 text", str(path), "Save it as UTF-8.") from None
    except ValueError as error:
        raise in_line(f"this is not JSON: {error}", str(path), number,
                      "Each line is a document of OTLP.") from None


def _attributes(of: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    found = {}
    for each in of.get("attributes") or ():
        name = each["key"]
        if name.startswith(prefix):
            for kind, value in each.get("value", {}).items():
                found[name] = int(value or 0) if kind == "intValue" else value
    return found


def first_of(about: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The value of the first of some attributes that is there; None if none is."""
    return next((about[name] for name in names if name in about), None)
