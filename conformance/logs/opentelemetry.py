"""Messaging spans of OpenTelemetry: lines of OTLP in JSON, as the collector's file exporter writes.

A span is an interval, so it is a call: a send is a put, a receive a take. Both the names of today's
conventions and those before are read, for no version of them is stable. A message is known by the
context in which it was created, to which a receive links; only where receives have no links, by
its message id. (Both at once would make one message two.) One span may be about several messages:
then each is a call of its own. What is sampled cannot be judged for loss.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...spec.notation.errors import InputError
from .events import in_line

__all__ = ["MEANINGS", "TOLERANCE", "rows"]

MEANINGS: Final[Mapping[str, Sequence[str]]] = {
    "send": ("put",), "create": ("ignore",), "receive": ("take",), "process": ("ignore",),
    "settle": ("ignore",)}
"""By type of operation, those of suites. Where messages are pushed, there are only spans of
*process*: map them to take."""

TOLERANCE: Final = 100_000_000
"""Nanoseconds by which the clocks of two machines may differ, unless a mapping says otherwise."""

_TYPES: Final = {"publish": "send", "deliver": "process"}
"""Types of operations that had another name."""

_TYPE: Final = ("messaging.operation.type", "messaging.operation")
_DESTINATION: Final = ("messaging.destination.name", "messaging.destination",
                       "messaging.source.name")
_PARTITION: Final = ("messaging.destination.partition.id", "messaging.kafka.destination.partition",
                     "messaging.kafka.partition", "messaging.kafka.source.partition")
_MESSAGE: Final = ("messaging.message.id", "messaging.message_id")
_COUNT: Final = ("messaging.batch.message_count",)
_PRODUCER: Final = (4, "SPAN_KIND_PRODUCER")
_ERROR: Final = (2, "STATUS_CODE_ERROR")


class _Span(NamedTuple):
    line: int
    operation: str
    service: str
    about: Mapping[str, Any]
    span: Mapping[str, Any]


Rows = Iterator[tuple[int, dict[str, Any]]]


def rows(path: Path) -> Rows:
    """The rows of all messaging spans, two for each message of a span. Raises ``InputError``."""
    by_link = _by_link(path)
    for span in _spans(path):
        yield from _rows(span, by_link, str(path))


def _by_link(path: Path) -> bool:
    """True if the receives link to their messages. Raises ``InputError`` if only some do."""
    linked, named = False, None
    for each in _spans(path):
        if each.operation not in ("receive", "process") or _first(each.about, _COUNT) == 0:
            continue
        if each.span.get("links"):
            linked = True
        else:
            named = named or each
        if linked and named is not None:
            raise in_line("this receive has no link to its message, and others have", str(path),
                          named.line, "Leave out the spans of one of the two libraries, for they "
                          "name messages differently.")
    return linked


def _rows(each: _Span, by_link: bool, file: str) -> Rows:
    """A begin and an end for each message of a span; a receive without messages found nothing."""
    about, span = each.about, each.span
    partition = _first(about, _PARTITION)
    destination = _first(about, _DESTINATION)
    if destination is None:
        raise in_line("this messaging span has no destination", file, each.line,
                      f"It needs the attribute {_DESTINATION[0]}.")
    failed = span.get("status", {}).get("code") in _ERROR
    items: list[str | None] = [*_messages(each, by_link, file)]
    result = "failed" if failed else "ok"
    if not items:
        items, result = [None], result if failed else "empty"
    common = {"key": str(destination) if partition is None else f"{destination}/{partition}",
              "process": f"{each.service}/{span['spanId']}", "operation": each.operation}
    for number, item in enumerate(items):
        gets = each.operation != "send"
        yield each.line, {**common, "phase": "begin", "item": None if gets else item,
                          "time": int(span["startTimeUnixNano"]), "call": number}
        yield each.line, {**common, "phase": "end", "item": item, "result": result,
                          "time": int(span["endTimeUnixNano"]), "call": number}


def _messages(each: _Span, by_link: bool, file: str) -> Iterator[str]:
    """The identities of the messages that a span is about."""
    span, links = each.span, each.span.get("links") or ()
    if by_link:
        if each.operation == "send" and (span.get("kind") in _PRODUCER or not links):
            yield f"{span['traceId']}:{span['spanId']}"
        else:
            yield from (f"{link['traceId']}:{link['spanId']}" for link in links)
        return
    name = _first(each.about, _MESSAGE)
    if name is not None:
        yield str(name)
    elif each.operation != "receive" or _first(each.about, _COUNT) != 0:
        raise in_line("this span says neither by a link nor by an id which message it is about",
                      file, each.line, f"Record {_MESSAGE[0]}, or links to the creation context.")


def _spans(path: Path) -> Iterator[_Span]:
    """The messaging spans of a file, each with its service and its attributes. Raises
    ``InputError``."""
    for line, document in _lines(path):
        try:
            for resource in document.get("resourceSpans") or ():
                service = _attributes(resource.get("resource", {}))
                name = service.get("service.instance.id") or service.get("service.name") or ""
                for scope in resource.get("scopeSpans") or ():
                    for span in scope.get("spans") or ():
                        about = _attributes(span)
                        kind = _first(about, _TYPE)
                        if kind is not None:
                            yield _Span(line, _TYPES.get(str(kind), str(kind)), str(name), about,
                                        {"links": (), **span, "spanId": span["spanId"],
                                         "traceId": span["traceId"]})
        except (AttributeError, KeyError, TypeError) as error:
            raise in_line(f"this is not OTLP: {type(error).__name__}: {error}", str(path), line,
                          "Each line is a document with resourceSpans.") from None


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, json.loads(line)
    except UnicodeDecodeError:
        raise InputError("this file is no UTF-8 text", str(path), "Save it as UTF-8.") from None
    except ValueError as error:
        raise in_line(f"this is not JSON: {error}", str(path), number,
                      "Each line is a document of OTLP.") from None


def _attributes(of: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for each in of.get("attributes") or ():
        kind, value = next(iter(each.get("value", {}).items()), ("", None))
        found[each["key"]] = int(value or 0) if kind == "intValue" else value
    return found


def _first(about: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((about[name] for name in names if name in about), None)
