"""YAML text as a tree that remembers the line and column of every key and value.

Only what a design needs is read, and hostile text is refused early: aliases (which a few
lines can blow up into gigabytes), tags, several documents, deep nesting. Scalars are read
as YAML 1.2 reads them (its core schema), as editors do: ``on`` and ``no`` are strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...notation.errors import InputError

if TYPE_CHECKING:
    from yaml.events import Event, ScalarEvent

__all__ = ["MAX_CHARACTERS", "MAX_DEPTH", "MAX_NODES", "NOWHERE", "Node", "Spot", "Watch", "parse"]

MAX_CHARACTERS = 16_777_216
MAX_DEPTH = 16
MAX_NODES = 3_000_000
_MAX_DIGITS = 18
MAX_REREAD = 1_000_000
"""Characters of a text that is read a second time, for a better message."""

LOOK = 1_000
"""Values between two looks at the clock."""

Watch = Callable[[], object]
"""Called often while something is read; it may raise, where that takes too long."""

_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN")
_FIRST = frozenset("+-.0123456789")
"""The characters with which a number can begin."""
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}


class Spot(NamedTuple):
    """A place in a text: its line and its column, both from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


NOWHERE: Final = Spot(0, 0)
"""The place of what no file says."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value with the spot at which it starts: a dict or list of nodes, or a scalar.

    ``key_spots`` are the spots of a mapping's keys.
    """

    value: Any
    spot: Spot
    key_spots: dict[str, Spot] | None = None

    def plain(self) -> Any:
        """The value without spots, as a JSON document would have it."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value


def parse(text: str, file: str, watch: Watch = lambda: None) -> Node:
    """Read one YAML document. ``watch`` is called often, and may raise.

    Raises InputError, with file and line, for anything that is not plain YAML within the
    limits of this module.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"the file has {len(text)} characters, more than the {MAX_CHARACTERS} allowed",
            file, "Split the design into several files.",
        )
    import yaml
    fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a tenth of the time, where it is there
    try:
        return _Builder(file, watch).build(yaml.parse(text, Loader=fast))
    except yaml.YAMLError:
        # The reader in Python has better words for what is wrong, if the text is not too long.
        last = fast if len(text) > MAX_REREAD else yaml.SafeLoader
    try:
        return _Builder(file, watch).build(yaml.parse(text, Loader=last))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        spot = Spot(mark.line + 1, mark.column + 1) if mark else Spot(1, 1)
        raise InputError(
            f"this is not YAML: {error.problem or error.context}", f"{file}:{spot}",
            _advice(error.problem or ""),
        ) from None
    except yaml.reader.ReaderError as error:
        before = text[:error.position].splitlines() or [""]
        spot = Spot(len(before), len(before[-1]) + 1)
        raise InputError(
            f"the character {chr(int(error.character))!r} is not allowed in YAML"
            if isinstance(error.character, int) else f"this is not YAML: {error.reason}",
            f"{file}:{spot}", "Remove it, or save the file as UTF-8 text.",
        ) from None


def _advice(problem: str) -> str:
    if "'\\t'" in problem:
        return "Indent with spaces; YAML does not allow tabs there."
    if "expected ',' or" in problem:
        return "Check the brackets; a name with brackets stands in quotes: \"worker[2]\"."
    return "Check the indentation, the colons and the brackets around this line."


def _spot(event: Event) -> Spot:
    mark = event.start_mark
    return Spot(mark.line + 1, mark.column + 1) if mark else Spot(1, 1)


class _Builder:
    """Builds the tree from the parser's events, which come one at a time.

    A hostile file is therefore refused at its first offence, before the rest is read.
    """

    def __init__(self, file: str, watch: Watch = lambda: None) -> None:
        self.file, self.watch = file, watch
        self.nodes = 0

    def build(self, events: Iterator[Event]) -> Node:
        """The tree of the one document."""
        import yaml.events as ev
        next(events)  # the start of the stream
        first = next(events)
        if isinstance(first, ev.StreamEndEvent):
            raise InputError("the file is empty", f"{self.file}:1:1", _START)
        root = self._node(next(events), events, 1)
        next(events)  # the end of the document
        extra = next(events)
        if not isinstance(extra, ev.StreamEndEvent):
            raise self._error(extra, "the file has more than one YAML document",
                              "Keep one design in one file.")
        return root

    def _error(self, event: Event, what: str, next_step: str) -> InputError:
        return InputError(what, f"{self.file}:{_spot(event)}", next_step)

    def _node(self, event: Event, events: Iterator[Event], depth: int) -> Node:
        """A value of the YAML with its place, as deep and as large as a design may be. Raises
        ``InputError``."""
        import yaml.events as ev
        self.nodes += 1
        if self.nodes % LOOK == 0:
            self.watch()
        if self.nodes > MAX_NODES:
            raise self._error(event, f"the file has more than {MAX_NODES} values",
                              "Split the design into several files.")
        if depth > MAX_DEPTH:
            raise self._error(event, f"values are nested more than {MAX_DEPTH} deep",
                              "A design needs four levels; check the brackets.")
        if isinstance(event, ev.AliasEvent) or getattr(event, "anchor", None):
            raise self._error(event, "anchors (&) and aliases (*) are not part of the language",
                              "Write the value out where it is used.")
        if getattr(event, "tag", None) not in (None, "!"):
            raise self._error(event, f"the tag {event.tag!r} is not part of the language",  # type: ignore[attr-defined]
                              "Remove it.")
        spot = _spot(event)
        if isinstance(event, ev.ScalarEvent):
            return Node(self._scalar(event), spot)
        if isinstance(event, ev.SequenceStartEvent):
            return Node(list(self._items(events, depth)), spot)
        return self._mapping(event, events, depth, spot)

    def _items(self, events: Iterator[Event], depth: int) -> Iterator[Node]:
        import yaml.events as ev
        for event in events:
            if isinstance(event, ev.SequenceEndEvent):
                return
            yield self._node(event, events, depth + 1)

    def _mapping(
        self, start: Event, events: Iterator[Event], depth: int, spot: Spot
    ) -> Node:
        """A mapping with the places of its keys, each of which it has once. Raises
        ``InputError``."""
        import yaml.events as ev
        found: dict[str, Node] = {}
        spots: dict[str, Spot] = {}
        for event in events:
            if isinstance(event, ev.MappingEndEvent):
                break
            key = self._node(event, events, depth + 1)
            if isinstance(key.value, dict | list):
                raise self._error(event, "a key must be a single word, not a list or mapping",
                                  "Check the brackets and colons.")
            name = event.value if isinstance(event, ev.ScalarEvent) else str(key.value)
            if name in found:
                raise self._error(event, f"the key {name!r} is given twice "
                                  f"(first on line {spots[name].line})", "Remove one of them.")
            spots[name] = key.spot
            found[name] = self._node(next(events), events, depth + 1)
        return Node(found, spot, spots)

    def _scalar(self, event: ScalarEvent) -> Any:
        """The value of a word by the core schema of YAML 1.2; what is quoted is a text."""
        text = event.value
        if event.style or event.tag == "!":  # quoted, or a block of text
            return text
        if text in _NULLS:
            return None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if text[0] not in _FIRST:
            return text
        if _INTEGER.fullmatch(text) or _BASED.fullmatch(text):
            if len(text) > _MAX_DIGITS:
                raise self._error(event, f"a number of {len(text)} digits is too large",
                                  f"Use at most {_MAX_DIGITS} digits.")
            return int(text, 0) if _BASED.fullmatch(text) else int(text)
        if _SPECIAL_FLOAT.fullmatch(text):
            return float(text.replace(".", "", 1))
        return float(text) if _FLOAT.fullmatch(text) else text


_START = "Begin with `checkvalve: 2`; docs/design-language.md has examples."
