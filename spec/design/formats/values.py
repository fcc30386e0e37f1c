"""Taking values out of a YAML or JSON tree of somebody else's format, with messages."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..reading.source import Node
from .draft import refusal

__all__ = ["Values"]


@dataclass(frozen=True)
class Values:
    """Reads values of one file; each raises InputError, with the spot, for what is of another
    shape."""

    file: str

    def mapping(self, node: Node, what: str) -> Mapping[str, Node]:
        """The parts of a mapping by their keys."""
        if not isinstance(node.value, dict):
            raise refusal(self.file, node.spot, f"{what} must be a mapping of keys to values",
                          "Check the indentation, or the brackets.")
        return node.value

    def items(self, node: Node | None, what: str) -> Sequence[Node]:
        """The entries of a list; none where there is no list at all."""
        if node is None or node.value is None:
            return ()
        if not isinstance(node.value, list):
            raise refusal(self.file, node.spot, f"{what} must be a list",
                          "Begin each entry with `- `, or put brackets around them.")
        return node.value

    def text(self, parent: Node, key: str, what: str) -> str:
        """A text that has to be there."""
        node = self.mapping(parent, what).get(key)
        if node is None or isinstance(node.value, dict | list) or node.value is None:
            spot = parent.spot if node is None else node.spot
            raise refusal(self.file, spot, f"{what} has no `{key}`", f"Add `{key}:` to it.")
        return str(node.value)

    def whole(self, node: Node | None, what: str, default: int) -> int:
        """A whole number of 0 or more."""
        if node is None or node.value is None:
            return default
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            shown = str(value)[:40] if not isinstance(value, dict | list) else "no number"
            hint = "Put the value of the property there; it is in another file." \
                if "${" in shown else "Write a whole number of 0 or more."
            raise refusal(self.file, node.spot, f"{what} is {shown!r}, which is no number", hint)
        return value

    def one_of(self, node: Node, known: Sequence[str], what: str) -> str:
        """A word of a list."""
        if node.value not in known:
            near = difflib.get_close_matches(str(node.value)[:40].upper(), known, n=1)
            raise refusal(self.file, node.spot, f"{what} is {str(node.value)[:40]!r}, but must be "
                          f"one of: {', '.join(known)}",
                          f"Did you mean {near[0]!r}?" if near else "Choose one of them.")
        return str(node.value)
