"""The part of JSON Schema that ``schema.json`` uses, with messages for people.

The schema that editors use is therefore the one text of the language's shape: nothing of
it is written a second time here. A test compares this reading with an independent one.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..notation.errors import InputError
from .source import Node

__all__ = ["check_shape", "schema"]

Schema = Mapping[str, Any]
_TYPES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "object": ("a mapping of keys to values", lambda v: isinstance(v, dict)),
    "array": ("a list", lambda v: isinstance(v, list)),
    "string": ("a text", lambda v: isinstance(v, str)),
    "integer": ("a whole number", lambda v: _is_integer(v)),
}
_APPLIED = (
    "$ref", "type", "enum", "pattern", "maxLength", "minimum", "maximum", "required",
    "properties", "propertyNames", "additionalProperties", "minProperties", "maxProperties",
    "items", "minItems", "maxItems", "allOf", "anyOf", "oneOf", "not", "if",
)
_SILENT = {"$schema", "$id", "$defs", "title", "description", "then", "else"}


@cache
def schema() -> Schema:
    """The schema of design files, as it is shipped for editors."""
    text = (Path(__file__).parent / "schema.json").read_text(encoding="utf-8")
    loaded: Schema = json.loads(text)
    return loaded


def check_shape(root: Node, file: str) -> None:
    """Check a document against the schema; raises InputError for the first problem."""
    _Checker(file).check(root, schema(), "the design")


def _is_integer(value: Any) -> bool:
    if isinstance(value, float):  # 4.0 is an integer, in JSON Schema
        return math.isfinite(value) and value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _show(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "…"


class _Checker:
    """Applies the keywords of a schema to a node, one method for each."""

    def __init__(self, file: str) -> None:
        self.file = file

    def check(self, node: Node, rule: Schema, what: str) -> None:
        """Apply every keyword of ``rule``; ``what`` names the node in messages."""
        for keyword in _APPLIED:
            if keyword in rule:
                method = getattr(self, "_" + keyword.lstrip("$"))
                method(node, rule[keyword], what, rule)
        assert set(rule) <= {*_APPLIED, *_SILENT}, "schema.json uses a keyword not read here"

    def _fail(self, node: Node, problem: str, next_step: str, line: int = 0) -> None:
        raise InputError(problem, f"{self.file}:{line or node.line}", next_step)

    def _accepts(self, node: Node, rule: Schema) -> bool:
        try:
            self.check(node, rule, "")
        except InputError:
            return False
        return True

    # --- one method a keyword: (node, the keyword's value, name in messages, whole rule) ---

    def _ref(self, node: Node, target: str, what: str, _: Schema) -> None:
        self.check(node, schema()["$defs"][target.removeprefix("#/$defs/")], what)

    def _type(self, node: Node, name: str, what: str, _: Schema) -> None:
        wanted, is_one = _TYPES[name]
        if not is_one(node.value):
            self._fail(node, f"{what} must be {wanted}, but is {_show(node.value)}",
                       f"Write {wanted} there.")

    def _enum(self, node: Node, allowed: list[Any], what: str, _: Schema) -> None:
        if node.value not in allowed or isinstance(node.value, bool):
            choices = ", ".join(map(str, allowed))
            self._fail(node, f"{what} is {_show(node.value)}, but must be one of: {choices}",
                       _suggest(node.value, allowed) or "Choose one of them.")

    def _pattern(self, node: Node, pattern: str, what: str, _: Schema) -> None:
        if isinstance(node.value, str) and not re.search(pattern.replace("$", r"\Z"), node.value):
            self._fail(node, f"{what} {_show(node.value)} has characters that are not allowed",
                       "Begin with a letter; use letters, digits and '_', with single '-', '.' "
                       "or blanks between them.")

    def _maxLength(self, node: Node, longest: int, what: str, _: Schema) -> None:
        if isinstance(node.value, str) and len(node.value) > longest:
            self._fail(node, f"{what} has {len(node.value)} characters, more than {longest}",
                       "Shorten it.")

    def _minimum(self, node: Node, least: int, what: str, rule: Schema) -> None:
        if _is_integer(node.value) and node.value < least:
            self._range(node, what, rule)

    def _maximum(self, node: Node, most: int, what: str, rule: Schema) -> None:
        if _is_integer(node.value) and node.value > most:
            self._range(node, what, rule)

    def _range(self, node: Node, what: str, rule: Schema) -> None:
        allowed = f"{rule['minimum']} to {rule['maximum']}"
        self._fail(node, f"{what} is {node.value}, but must be {allowed}",
                   "Give it a number in that range.")

    def _required(self, node: Node, keys: list[str], what: str, _: Schema) -> None:
        if isinstance(node.value, dict):
            for key in keys:
                if key not in node.value:
                    self._fail(node, f"{what} has no `{key}`", f"Add `{key}:` to it.")

    def _properties(self, node: Node, rules: Schema, what: str, _: Schema) -> None:
        if isinstance(node.value, dict):
            for key, child in node.value.items():
                if key in rules:
                    self.check(child, rules[key], f"`{key}` of {what}" if what else f"`{key}`")

    def _propertyNames(self, node: Node, rule: Schema, what: str, _: Schema) -> None:
        if isinstance(node.value, dict):
            for key in node.value:
                self.check(Node(key, _line(node, key)), rule, f"the name in {what}")

    def _additionalProperties(
        self, node: Node, rule: Schema | bool, what: str, whole: Schema
    ) -> None:
        if not isinstance(node.value, dict):
            return
        known = whole.get("properties", {})
        for key, child in node.value.items():
            if key in known:
                continue
            if isinstance(rule, bool):
                self._fail(node, f"{what} has the key {_show(key)}, which means nothing here",
                           _suggest(key, list(known)) or f"It can have: {', '.join(known)}.",
                           _line(node, key))
            else:
                self.check(child, rule, f"{_show(key)}")

    def _minProperties(self, node: Node, least: int, what: str, _: Schema) -> None:
        if isinstance(node.value, dict) and len(node.value) < least:
            self._fail(node, f"{what} is empty", f"Give it at least {least} entry.")

    def _maxProperties(self, node: Node, most: int, what: str, _: Schema) -> None:
        if isinstance(node.value, dict) and len(node.value) > most:
            self._fail(node, f"{what} has {len(node.value)} entries, more than {most}",
                       "Check a part of the design at a time.")

    def _items(self, node: Node, rule: Schema, what: str, _: Schema) -> None:
        if isinstance(node.value, list):
            for number, child in enumerate(node.value, 1):
                self.check(child, rule, f"entry {number} of {what}")

    def _minItems(self, node: Node, least: int, what: str, _: Schema) -> None:
        if isinstance(node.value, list) and len(node.value) < least:
            self._fail(node, f"{what} is empty", f"Give it at least {least} entry.")

    def _maxItems(self, node: Node, most: int, what: str, _: Schema) -> None:
        if isinstance(node.value, list) and len(node.value) > most:
            self._fail(node, f"{what} has {len(node.value)} entries, more than {most}",
                       "Check a part of the design at a time.")

    def _allOf(self, node: Node, rules: list[Schema], what: str, _: Schema) -> None:
        for rule in rules:
            self.check(node, rule, what)

    def _anyOf(self, node: Node, rules: list[Schema], what: str, _: Schema) -> None:
        if not any(self._accepts(node, rule) for rule in rules):
            # The alternative of the same shape has the message that helps.
            listed = isinstance(node.value, list)
            self.check(node, rules[1 if listed else 0], what)

    def _oneOf(self, node: Node, rules: list[Schema], what: str, _: Schema) -> None:
        if sum(self._accepts(node, rule) for rule in rules) != 1:
            keys = ", ".join(rule["required"][0] for rule in rules)
            self._fail(node, f"{what} must have exactly one of: {keys}", "Keep one of them.")

    def _not(self, node: Node, rule: Schema, what: str, _: Schema) -> None:
        if self._accepts(node, rule):
            key = rule["required"][0]
            self._fail(node, f"{what} has a `{key}`, which means nothing with its other keys",
                       f"Remove `{key}`.", _line(node, key))

    def _if(self, node: Node, condition: Schema, what: str, rule: Schema) -> None:
        branch = rule.get("then" if self._accepts(node, condition) else "else")
        if branch is not None:
            self.check(node, branch, what)


def _line(node: Node, key: str) -> int:
    return (node.key_lines or {}).get(key, node.line)


def _suggest(given: Any, known: list[Any]) -> str:
    near = difflib.get_close_matches(str(given), [str(name) for name in known], n=1)
    return f"Did you mean {near[0]!r}?" if near else ""
