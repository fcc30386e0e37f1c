"""Entries of a document that its schema cannot tell apart, of which one is enough to be checked.

A schema sees of a number between which of its limits it is, of a text whether it is one of its
words, which of its patterns it fits and whether it is too long, and of all else what it is made of.
Ten thousand links of a design look like some ten to it. It is asked about these; where it is not
content, it is asked about all, so that the message names the first.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

__all__ = ["Eyes"]

_NUMBERS = {"minimum", "maximum"}
_LENGTHS = {"minLength", "maxLength"}
_SIZES = {"minItems", "minProperties", "maxItems", "maxProperties"}
_PARTS = {
    "properties", "additionalProperties", "propertyNames", "items", "allOf", "anyOf", "oneOf",
    "not", "if", "then", "else", "$defs",
}
_KNOWN = {
    *_NUMBERS, *_LENGTHS, *_SIZES, *_PARTS, "pattern", "enum", "const", "type", "required", "$ref",
    "$schema", "$id", "title", "description", "default", "examples", "$comment",
    "markdownDescription",
}


class Eyes:
    """The differences that a schema can see; ``entries`` are the keys of the containers to look
    into.
    """

    def __init__(self, schema: Mapping[str, Any], entries: tuple[str, ...]) -> None:
        self._top: Mapping[str, Any] = schema.get("properties", {})
        self._entries = entries
        self._numbers: set[int] = set()
        self._lengths: set[int] = set()
        self._words: set[str] = set()
        self._patterns: set[str] = set()
        self.is_sharp = False
        """True if it sees more than is known here, so that nothing may be left out."""
        self._learn(schema)
        self._limits = sorted(self._numbers)
        self._fits = [re.compile(each.replace("$", r"\Z")) for each in sorted(self._patterns)]
        self._long = sorted(self._lengths)
        self._seen: dict[str, Hashable] = {}

    def _learn(self, part: Any) -> None:
        """Gather the limits, words and patterns of a schema."""
        if not isinstance(part, Mapping):
            return
        for keyword, value in part.items():
            if keyword not in _KNOWN:
                self.is_sharp = True
            elif keyword in _NUMBERS:
                self._numbers.add(value)
            elif keyword in _LENGTHS:
                self._lengths.add(value)
            elif keyword == "pattern":
                self._patterns.add(value)
            elif keyword in ("enum", "const", "required"):
                self._learn_values(value if isinstance(value, list) else [value])
            elif keyword in ("properties", "$defs"):
                self._words.update(value)
                for inner in value.values():
                    self._learn(inner)
            elif keyword in _PARTS:
                for inner in value if isinstance(value, list) else [value]:
                    self._learn(inner)

    def _learn_values(self, values: list[Any]) -> None:
        self._words.update(value for value in values if isinstance(value, str))
        self._numbers.update(value for value in values if isinstance(value, int))

    def fewer(self, document: Any, watch: Callable[[], object] = lambda: None) -> Any:
        """The document with one entry of each look, or itself where that may hide something.
        ``watch`` is called for each entry, and may raise."""
        if self.is_sharp or not isinstance(document, dict):
            return document
        found = dict(document)
        for key in self._entries:
            entries = document.get(key)
            # What the schema says nothing about needs no look.
            if key in self._top and isinstance(entries, dict | list) and self._sizes_allow(
                    key, len(entries)):
                found[key] = self._one_of_each(entries, watch)
        return found

    def _sizes_allow(self, key: str, size: int) -> bool:
        rule = self._top.get(key, {})
        return "$ref" not in rule and size <= min(
            rule.get("maxItems", size), rule.get("maxProperties", size)) and size >= max(
            rule.get("minItems", 0), rule.get("minProperties", 0), 1) and not any(
            rule.get(name, 1) > 1 for name in ("minItems", "minProperties"))

    def _one_of_each(self, entries: Any, watch: Callable[[], object]) -> Any:
        if isinstance(entries, list):
            first: dict[Hashable, Any] = {}
            for each in entries:
                watch()
                first.setdefault(self._look(each), each)
            return list(first.values())
        looks: dict[Hashable, Any] = {}
        for key, value in entries.items():
            watch()
            looks.setdefault((self._look(key), self._look(value)), key)
        return {key: entries[key] for key in looks.values()}

    def _look(self, value: Any) -> Hashable:
        if isinstance(value, str):
            if value not in self._seen:
                self._seen[value] = value if value in self._words else tuple(self._text(value))
            return self._seen[value]
        if isinstance(value, dict):
            return tuple((self._look(key), self._look(each)) for key, each in value.items())
        if isinstance(value, list):
            return ("list", *map(self._look, value))
        if isinstance(value, int) and not isinstance(value, bool):
            return "number", bisect_left(self._limits, value), bisect_right(self._limits, value)
        return repr(value)

    def _text(self, value: str) -> Iterator[int]:
        yield from (int(bool(pattern.search(value))) for pattern in self._fits)
        yield bisect_left(self._long, len(value))
        yield bisect_right(self._long, len(value))
