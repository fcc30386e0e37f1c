"""A repair as a patch of the design's file: a unified diff that keeps lines, comments and layout.

A repair knows what it changes by the places of entries in the file (``Edit``). Here each of these
becomes a change of the text at that place. The patched text is read again, and a patch is offered
only where it stands for the very design that was checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checkvalve.spec.design.formats.files import format_of, load_any
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.reading.source import NOWHERE, Spot
from checkvalve.spec.design.repairs.numbered import renamed
from checkvalve.spec.notation.errors import InputError

if TYPE_CHECKING:
    import yaml

    from checkvalve.spec.design.why.findings import Edit, Way

__all__ = ["Patcher", "patched", "unified"]

BY_HAND = "make the change by hand"


class Patcher:
    """Makes the patches of the ways of one design with a file of this text, behind a ``mark``."""

    def __init__(self, design: Design, text: str, mark: str = "") -> None:
        self._mark = mark
        self.design = design
        self.text = text
        other = format_of(text, design.file)
        self._foreign = other.name if other else ""

    def of(self, way: Way) -> tuple[str, str]:
        """The patch of a way, and why there is none: one of the two is empty."""
        if self._foreign:
            return "", (f"{self.design.file} is a {self._foreign} file, and only a design file of "
                        f"checkvalve can be patched: {BY_HAND} where it comes from")
        wanted = self.design
        for step in way.steps:
            if step.done is None:
                return "", f"it is not known what is to be written: {BY_HAND}"
            wanted = step.done(wanted)
        try:
            text = patched(self.text, [(step.kind, step.edits) for step in way.steps])
            given = {name: str(value) for name, value in self.design.parameters}
            found = load_any(text, self.design.file, given)
        except (InputError, _Unwritable):
            found = []
        if len(found) != 1 or _plain(found[0]) != _plain(wanted):
            return "", ("no one place of the file stands for this change alone (copies, "
                        f"sub-designs): {BY_HAND}")
        return unified(self._mark + self.text, self._mark + text, self.design.file), ""


def _plain(design: Design) -> tuple[object, ...]:
    """All that decides what a design does."""
    return tuple(renamed(each, {}) for each in (design.tasks, design.links, design.pools))


def unified(old: str, new: str, file: str) -> str:
    """The difference as a unified diff, for ``patch -p0`` in the current folder (or ``patch FILE``,
    where the file is not below it)."""
    path = Path(os.path.relpath(file))
    name = path.name if ".." in path.parts else path.as_posix()
    name += "\t" if " " in name else ""
    lines = unified_diff(_lines(old), _lines(new), name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
                   for line in lines)


def _lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one, as for ``patch``."""
    found = [f"{line}\n" for line in text.split("\n")]
    found[-1] = found[-1][:-1]
    return found if found[-1] else found[:-1]


# --- changes of the text ------------------------------------------------------------------------

class _Unwritable(Exception):
    """A change has no single place in the file."""


@dataclass(frozen=True)
class _Piece:
    """New text in place of what stands from ``start`` to ``end``."""

    start: int
    end: int
    new: str


def patched(text: str, steps: Sequence[tuple[str, Sequence[Edit]]]) -> str:
    """The text with the edits of a repair's changes, each of a kind."""
    page = _Page(text)
    pieces = [piece for _, edits in steps for piece in page.pieces(edits)]
    for start, end, new in sorted(((p.start, p.end, p.new) for p in reversed(pieces)),
                                  key=lambda each: each[:2], reverse=True):
        text = text[:start] + new + text[end:]
    return text


class _Page:
    """A design file's text with the places of its values."""

    def __init__(self, text: str) -> None:
        import yaml
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self.text = text
        root = yaml.compose(text, Loader=loader)
        if not isinstance(root, yaml.MappingNode):
            raise _Unwritable
        self.root = root

    @cached_property
    def _entries(self) -> Mapping[Spot, yaml.MappingNode]:
        """Every mapping by its spot, and by that of its key."""
        return dict(_mappings(self.root))

    def pieces(self, edits: Sequence[Edit]) -> Iterator[_Piece]:
        """The changes of the text for the edits of one change."""
        swapped = [edit for edit in edits if edit.key == "step"]
        if len(swapped) == 2:
            yield from self._swap(*(edit.spot for edit in swapped))
        for edit in edits:
            if edit.key == "pools" and edit.spot == NOWHERE:
                yield self._new_pool(edit.new)
            elif edit.key != "step":
                yield self._of(edit)

    def _of(self, edit: Edit) -> _Piece:
        """The piece of the text that an edit replaces, and by what. Raises ``_Unwritable`` where
        only a new layout would do."""
        entry = self._entries.get(edit.spot)
        if entry is None:
            raise _Unwritable
        place = next((n for n, (key, _) in enumerate(entry.value) if key.value == edit.key), None)
        if edit.parts:
            return self._steps(entry, place, edit)
        if place is None:
            return self._added(entry, f"{edit.key}: {edit.new}")
        if not edit.new:
            return self._removed(entry, place)
        value = entry.value[place][1]
        if not _is_scalar(value):
            raise _Unwritable
        new = edit.new
        if edit.by is not None and not str(value.value).lstrip("+-").isdigit():
            new = f"{value.value} {'+' if edit.by > 0 else '-'} {abs(edit.by)}"
        return _Piece(value.start_mark.index, value.end_mark.index, new)

    # --- entries ---------------------------------------------------------------------------------

    def _added(self, entry: yaml.MappingNode, new: str) -> _Piece:
        """A new key of a mapping: behind its last value, in a block on a line of its own behind the
        last plain value."""
        if entry.flow_style:
            at = self._end(entry.value[-1][1]) if entry.value else entry.end_mark.index - 1
            return _Piece(at, at, f", {new}" if entry.value else new)
        plain = [value for _, value in entry.value
                 if _is_scalar(value) and value.style not in ("|", ">")]
        at = self._end_of_line(self._end(plain[-1] if plain else entry.value[-1][1]))
        indent = " " * entry.value[0][0].start_mark.column
        return _Piece(at, at, f"{self._newline}{indent}{new}")

    def _removed(self, entry: yaml.MappingNode, place: int) -> _Piece:
        key, value = entry.value[place]
        if len(entry.value) == 1:
            raise _Unwritable
        if place == 0:  # what follows comes in its place
            return _Piece(key.start_mark.index, entry.value[1][0].start_mark.index, "")
        if entry.flow_style:
            return _Piece(self._end(entry.value[place - 1][1]), self._end(value), "")
        start = self.text.rfind("\n", 0, key.start_mark.index)
        return _Piece(start, self._end_of_line(self._end(value), carriage=False), "")

    def _new_pool(self, new: str) -> _Piece:
        pools = next((value for key, value in self.root.value if key.value == "pools"), None)
        if pools is None:
            at = self._end_of_line(self._end(self.root.value[-1][1]))
            if self.root.flow_style:
                return self._added(self.root, f"pools: {{{new}}}")
            line = self._newline
            return _Piece(at, at, f"{line}pools:{line}  {new}")
        if not pools.value or pools.flow_style:
            return self._added(pools, new)
        at = self._end_of_line(self._end(pools.value[-1][1]))
        return _Piece(at, at, f"{self._newline}{' ' * pools.value[0][0].start_mark.column}{new}")

    # --- steps -----------------------------------------------------------------------------------

    def _swap(self, one: Spot, other: Spot) -> Iterator[_Piece]:
        """Two steps in each other's place, with what is said above and behind each."""
        steps = next((nodes for nodes in self._lists if {one, other} <= nodes.keys()), None)
        if steps is not None and self._is_block(steps):
            new = {one: other, other: one}
            yield self._block(steps, [new.get(spot, spot) for spot in steps])
            return
        spans = [(node.start_mark.index, self._end(node))
                 for node in (self._step(one), self._step(other))]
        for (start, end), (begin, stop) in zip(spans, reversed(spans), strict=True):
            yield _Piece(start, end, self.text[begin:stop])

    def _step(self, spot: Spot) -> yaml.MappingNode:
        if spot not in self._entries:
            raise _Unwritable
        return self._entries[spot]

    @cached_property
    def _lists(self) -> Sequence[Mapping[Spot, yaml.Node]]:
        """Every list that is written as a block, by the spots of what is in it."""
        return [{_spot(child): child for child in node.value} for node in _sequences(self.root)
                if not node.flow_style]

    def _is_block(self, nodes: Mapping[Spot, yaml.Node]) -> bool:
        """True if each entry of a list has lines of its own, which begin with its dash."""
        return all(self._line_before(node).strip() == "-" for node in nodes.values())

    def _line_before(self, node: yaml.Node) -> str:
        start: int = node.start_mark.index
        return self.text[self.text.rfind("\n", 0, start) + 1:start]

    def _steps(self, entry: yaml.MappingNode, place: int | None, edit: Edit) -> _Piece:
        """A script's steps in another order, or with more of them."""
        if place is None:
            new = ", ".join(f"{{{part}}}" for part in edit.parts)
            return self._added(entry, f"{edit.key}: [{new}]")
        steps = entry.value[place][1]
        nodes = {_spot(node): node for node in steps.value}
        if not all(isinstance(part, str) or part in nodes for part in edit.parts) \
                or not steps.value:
            raise _Unwritable
        told = {spot: self.text[node.start_mark.index:self._end(node)]
                for spot, node in nodes.items()}
        if steps.flow_style:
            new = ", ".join(f"{{{part}}}" if isinstance(part, str) else told[part]
                            for part in edit.parts)
            return _Piece(steps.value[0].start_mark.index, self._end(steps.value[-1]), new)
        if not self._is_block(nodes):
            raise _Unwritable
        return self._block(nodes, edit.parts)

    def _block(self, nodes: Mapping[Spot, yaml.Node], parts: Sequence[Spot | str]) -> _Piece:
        """The same for a list with lines for each step, which takes its comments along."""
        start = begin = self._above(next(iter(nodes.values())))
        own: dict[Spot | str, str] = {}
        for spot, node in nodes.items():
            end = self._end_of_line(self._end(node))
            own[spot], start = self.text[start:end], self._next_line(end)
        lead = self._line_before(next(iter(nodes.values())))
        return _Piece(begin, end, self._newline.join(
            f"{lead}{part}" if isinstance(part, str) else own[part] for part in parts))

    def _above(self, node: yaml.Node) -> int:
        """The beginning of the comments above a step, or of its line."""
        start = self.text.rfind("\n", 0, node.start_mark.index) + 1
        while start:
            line = self.text.rfind("\n", 0, start - 1) + 1
            if not self.text[line:start].strip().startswith("#"):
                break
            start = line
        return start

    def _next_line(self, end: int) -> int:
        return min(len(self.text), self.text.find("\n", end) + 1 or len(self.text))

    # --- places ----------------------------------------------------------------------------------

    @cached_property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def _end(self, node: Any) -> int:
        """The end of a value, without what is left empty behind a block."""
        if _is_scalar(node) or node.flow_style:
            end: int = node.end_mark.index
            return end
        last = node.value[-1]
        return self._end(last[1] if isinstance(last, tuple) else last)

    def _end_of_line(self, index: int, carriage: bool = True) -> int:
        """The end of the line in which this is; before the carriage return, if it has one."""
        end = self.text.find("\n", index)
        end = len(self.text) if end < 0 else end
        return end - 1 if carriage and end > index and self.text[end - 1] == "\r" else end


def _is_scalar(node: Any) -> bool:
    import yaml
    return isinstance(node, yaml.ScalarNode)


def _mappings(node: yaml.Node) -> Iterator[tuple[Spot, yaml.MappingNode]]:
    import yaml
    if isinstance(node, yaml.MappingNode):
        yield _spot(node), node
        for key, value in node.value:
            yield from _mappings(value)
            if isinstance(value, yaml.MappingNode):
                yield _spot(key), value
    elif isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _mappings(child)


def _sequences(node: yaml.Node) -> Iterator[yaml.SequenceNode]:
    import yaml
    if isinstance(node, yaml.SequenceNode):
        yield node
    for child in () if _is_scalar(node) else node.value:
        for each in child if isinstance(child, tuple) else (child,):
            yield from _sequences(each)


def _spot(node: yaml.Node) -> Spot:
    return Spot(node.start_mark.line + 1, node.start_mark.column + 1)
