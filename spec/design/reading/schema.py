"""The shape of design files: ``schema.json``, and messages for people where one does not fit it.

The schema that editors use is the one text of the language's shape. jsonschema reads it; what is
written here is only where in the file a problem is, and what to do about it.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ...notation.errors import InputError
from .alike import Eyes
from .properties import FORMER, VERSION
from .source import Node, Spot, Watch

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = [
    "check_shape", "resolved_schema", "schema", "schema_text", "suggest", "until_closed",
]

Schema = Mapping[str, Any]


@cache
def schema() -> Schema:
    """The schema of design files, as it is shipped for editors."""
    loaded: Schema = json.loads(schema_text())
    return loaded


def schema_text() -> str:
    """The schema as the text that is shipped."""
    return (Path(__file__).parents[1] / "schema.json").read_text(encoding="utf-8")


Stage = Literal["parameters", "written", "resolved", "expanded"]
"""The part of a document that is checked: only its parameters; all, as it is written; all, once its
parameters have values; and then with its copies written out, which have numbers in their names.
"""


def check_shape(
    root: Node, file: str, stage: Stage = "resolved", watch: Watch = lambda: None
) -> None:
    """Check a document, or a part of it, against the schema; raises InputError for the first
    problem. ``watch`` is called for each entry, and may raise."""
    _refuse_older(root, file)
    plain, validator = root.plain(), _validator(stage)
    fewer = _eyes(stage).fewer(plain, watch)
    for error in validator.iter_errors(fewer):
        _lead_back(error, fewer, plain)
        nearest = _nearest(error)
        problem = _problem(root, nearest)
        raise InputError(problem.what, f"{file}:{problem.spot}", problem.next_step)


def _lead_back(error: ValidationError, fewer: Any, plain: Any) -> None:
    """Change the path of an error in fewer entries to that in all, of which they are the first of
    each look: the first error is in one of them."""
    if fewer is not plain and len(error.path) > 1 and isinstance(error.path[1], int):
        key, at = error.path[0], error.path[1]
        entry = fewer[key][at]
        error.path[1] = next(n for n, each in enumerate(plain[key]) if each is entry)


def _refuse_older(root: Node, file: str) -> None:
    """Raise InputError for a document of version 1, with the new names of all its old keys."""
    top = root.value if isinstance(root.value, dict) else {}
    version = top.get("checkvalve")
    if version is None or version.value != VERSION - 1 or version.value is True:
        return
    expected = top["expect"].value if "expect" in top else None
    old = [key for key in expected if key in FORMER] if isinstance(expected, dict) else []
    renamed = ", ".join(f"`{key}` is `{FORMER[key]}`" for key in old)
    raise InputError(
        f"the design is written in version {VERSION - 1} of the language, and this is version "
        f"{VERSION}", f"{file}:{version.spot}", f"Write `checkvalve: {VERSION}`" + (
            f", and rename the keys of `expect`: {renamed}." if old else
            "; nothing else in this file has changed."))


@cache
def _eyes(stage: Stage) -> Eyes:
    return Eyes(_validator(stage).schema, ("tasks", "links", "pools"))


@cache
def _validator(stage: Stage) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    whole = schema()
    part = resolved_schema()
    if stage == "parameters":
        part = {"properties": {"parameters": whole["properties"]["parameters"]}}
    if stage == "written":  # conditions have words of their own when they are decided
        part = {**whole, "$defs": {**whole["$defs"], _CONDITIONAL: {}}}
    if stage == "expanded":
        part = {**part, "$defs": {**part["$defs"], **dict.fromkeys(_NAMES, _ANY_NAME)}}
    return extend(Draft202012Validator, {"pattern": _whole_text})(part)


def resolved_schema() -> Schema:
    """The schema of a design with resolved parameters: no expressions, no conditions."""
    found: Schema = _of_numbers(schema())
    return found


def _of_numbers(part: Any) -> Any:
    if isinstance(part, list):
        return "integer" if part == _EXPRESSION else [_of_numbers(each) for each in part]
    if not isinstance(part, dict):
        return part
    plain = {key: _of_numbers(each) for key, each in part.items()}
    if _CONDITIONAL in plain:
        plain[_CONDITIONAL] = plain["verdict"]
    return plain


_EXPRESSION: Final = ["integer", "string"]
_CONDITIONAL: Final = "verdict or condition"
_NAMES: Final = ("name", "link name", "reference", "link reference")
_ANY_NAME: Final = {"type": "string"}


def _whole_text(_: Any, pattern: str, value: Any, __: Schema) -> Iterator[ValidationError]:
    """In Python ``$`` matches before a last line's end too; in JSON Schema it does not."""
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not re.search(pattern.replace("$", r"\Z"), value):
        yield ValidationError("characters that are not allowed")


def _nearest(error: ValidationError) -> ValidationError:
    """The problem that helps: of alternatives, that of the one with the same shape."""
    while error.validator == "anyOf":
        alternative = int(isinstance(error.instance, list))
        error = next(each for each in error.context or ()
                     if each.relative_schema_path[0] == alternative)
    return error


# --- where ---------------------------------------------------------------------------------

class _Place(NamedTuple):
    """The place of a problem: the node, and its name in messages."""

    node: Node
    called: str


def _place(root: Node, error: ValidationError) -> _Place:
    """The way through the schema says what each step of the way through the document is."""
    node, called = root, "the design"
    keys = iter(error.absolute_path)
    keywords = iter(list(error.absolute_schema_path)[:-1])
    for keyword in keywords:
        if keyword == "propertyNames":
            called = f"the name in {called}"
        elif keyword in _STEPS:
            key = next(keys)
            called = _STEPS[keyword](key, called)
            node = node.value[key]
        if keyword in _NAMED:
            next(keywords)
    return _Place(node, called)


_NAMED: Final = {"properties", "allOf", "anyOf", "oneOf"}
"""Keywords of which the way through a schema says the part."""

_STEPS: Final[Mapping[str | int, Callable[[Any, str], str]]] = {
    "properties": lambda key, called: f"`{key}` of {called}",
    "additionalProperties": lambda key, called: _show(key),
    "items": lambda key, called: f"entry {key + 1} of {called}",
}
"""Keywords that lead from a node to one of its parts, and what that is called."""


# --- what ----------------------------------------------------------------------------------

class _Problem(NamedTuple):
    what: str
    next_step: str
    spot: Spot


def _problem(root: Node, error: ValidationError) -> _Problem:
    place = _place(root, error)
    what, next_step, key = _WORDS[str(error.validator)](place.called, error)
    spots = place.node.key_spots or {}
    return _Problem(what, next_step, spots.get(key, place.node.spot))


Words = tuple[str, str, Any]
"""The error, the next step, and the key that it is about, or None."""


def _type(called: str, error: ValidationError) -> Words:
    allowed = error.validator_value
    words = error.schema.get("enum") if isinstance(error.schema, dict) else None
    if words and allowed == "string":
        meant = {True: "holds", False: "violated"}.get(error.instance) if isinstance(
            error.instance, bool) and "holds" in words else None
        return (f"{called} is {_show(error.instance)}, but must be "
                f"{' or '.join([', '.join(map(str, words[:-1])), str(words[-1])])}",
                f"Did you mean `{meant}`?" if meant else "Choose one of them.", _key(error))
    wanted = _TYPES["parameter" if allowed == _EXPRESSION else allowed]
    return (f"{called} must be {wanted}, but is {_show(error.instance)}",
            f"{until_closed(error.instance)}Write {wanted} there{_as(error.schema)}.", _key(error))


def _as(schema: object) -> str:
    """The keys that a mapping has to have, as it is written; empty where there are none."""
    needed = schema.get("required") if isinstance(schema, dict) else None
    return f", as {{{', '.join(f'{key}: …' for key in needed)}}}" if needed else ""


def until_closed(given: object) -> str:
    """Advice where a loop is to end with what it reads: such a loop is a read. Empty elsewhere."""
    return ("To read until a link is closed, write {read: LINK, until: closed, each: [...]}. "
            if str(given).startswith("until") else "")


def _enum(called: str, error: ValidationError) -> Words:
    allowed = error.validator_value
    others = [word for word in _OTHER_VALUES.get(str(error.instance), ()) if word in allowed]
    meant = f"Did you mean {' or '.join(map(repr, others))}?" if others else ""
    return (f"{called} is {_show(error.instance)}, but must be one of: "
            f"{', '.join(map(str, allowed))}",
            meant or suggest(error.instance, allowed) or "Choose one of them.", None)


def _pattern(called: str, error: ValidationError) -> Words:
    return (f"{called} {_show(error.instance)} has characters that are not allowed",
            "Begin with a letter; use letters, digits and '_', with single '-', '.' "
            "or blanks between them.", _key(error))


def _too_long(called: str, error: ValidationError) -> Words:
    return (f"{called} has {len(error.instance)} characters, more than {error.validator_value}",
            "Shorten it.", _key(error))


def _range(called: str, error: ValidationError) -> Words:
    rule: Any = error.schema
    return (f"{called} is {error.instance}, but must be {rule['minimum']} to {rule['maximum']}",
            "Give it a number in that range.", None)


def _required(called: str, error: ValidationError) -> Words:
    key = next(each for each in error.validator_value if each not in error.instance)
    strange = [each for each in error.instance if each not in _keys()]
    near = difflib.get_close_matches(key, map(str, strange), n=1)
    if near:
        return (f"{called} has the key {_show(near[0])}, which means nothing here, and no `{key}`",
                f"Did you mean {key!r}?", near[0])
    # A task with steps can be of one kind only.
    meant = " script" if key == "kind" and "steps" in error.instance else ""
    return f"{called} has no `{key}`", f"Add `{key}:{meant}` to it.", None


@cache
def _keys() -> frozenset[str]:
    """Every key that means something somewhere."""
    return frozenset(key for part in _parts(schema()) for key in part.get("properties", {}))


def _parts(part: Any) -> Iterator[Schema]:
    if isinstance(part, list):
        yield from (inner for each in part for inner in _parts(each))
    elif isinstance(part, dict):
        yield part
        yield from (inner for each in part.values() for inner in _parts(each))


def _unknown_key(called: str, error: ValidationError) -> Words:
    rule: Any = error.schema
    known = list(rule.get("properties", {}))
    key = next(each for each in error.instance if each not in known)
    other = _OTHER_WORDS.get(str(key))
    meant = f"Did you mean {other!r}?" if other in known else suggest(key, known)
    return (f"{called} has the key {_show(key)}, which means nothing here",
            meant or f"It can have: {', '.join(known)}.", key)


_OTHER_WORDS: Final[Mapping[str, str]] = {
    "send": "write", "put": "write", "push": "write", "emit": "write", "receive": "read",
    "recv": "read", "get": "read", "take": "read", "poll": "read", "lock": "acquire",
    "wait": "acquire", "unlock": "release", "signal": "release", "select": "either",
    "alt": "either", "if": "branch", "choice": "branch", "loop": "repeat", "for": "repeat",
    "times": "repeat", "await": "join", "stop": "cancel", "kill": "cancel", "default": "else",
    "size": "capacity", "bound": "capacity", "permits": "threads", "workers": "threads",
    "max": "up-to", "at-most": "up-to",
}
"""Words of other languages for keys of this one."""

_OTHER_VALUES: Final[Mapping[str, Sequence[str]]] = {
    "producer": ("source",), "input": ("source",), "generator": ("source",),
    "consumer": ("sink",), "output": ("sink",), "worker": ("map", "script"), "stage": ("map",),
    "process": ("map", "script"), "thread": ("script",), "task": ("script",),
    "split": ("broadcast", "route"), "fork": ("broadcast", "route"), "tee": ("broadcast",),
    "fan-out": ("broadcast", "route"), "switch": ("route",), "choice": ("route",),
    "fan-in": ("merge", "zip"), "join": ("zip", "merge"), "batch": ("window",),
}
"""Words of other languages for values of this one."""


def _too_few(called: str, error: ValidationError) -> Words:
    return f"{called} is empty", f"Give it at least {error.validator_value} entry.", None


def _too_many(called: str, error: ValidationError) -> Words:
    return (f"{called} has {len(error.instance)} entries, more than {error.validator_value}",
            "Check a part of the design at a time.", None)


def _one_of(called: str, error: ValidationError) -> Words:
    keys = ", ".join(rule["required"][0] for rule in error.validator_value)
    return f"{called} must have exactly one of: {keys}", "Keep one of them.", None


def _not(called: str, error: ValidationError) -> Words:
    key, rule = error.validator_value["required"][0], error.schema
    why = f" {rule['description']}" if isinstance(rule, dict) and "description" in rule else ""
    return (f"{called} has a `{key}`, which means nothing with its other keys",
            f"Remove `{key}`.{why}", key)


_WORDS: Final[Mapping[str, Callable[[str, ValidationError], Words]]] = {
    "type": _type, "enum": _enum, "pattern": _pattern, "maxLength": _too_long,
    "minimum": _range, "maximum": _range, "required": _required,
    "additionalProperties": _unknown_key, "minProperties": _too_few, "minItems": _too_few,
    "maxProperties": _too_many, "maxItems": _too_many, "oneOf": _one_of, "not": _not,
}
"""By keyword, the words for what breaks it; a test finds all that ``schema.json`` uses."""

_TYPES: Final = {
    "object": "a mapping of keys to values", "array": "a list", "string": "a text",
    "integer": "a whole number", "boolean": "`true` or `false`",
    "parameter": "a whole number, a range or an expression",
}


def _key(error: ValidationError) -> Any:
    """The key that a problem with a name is about: it has no node of its own."""
    return error.instance if "propertyNames" in error.absolute_schema_path else None


def _show(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "…"


def suggest(given: object, known: Iterable[object]) -> str:
    """A question whether one of those that are known was meant; empty where none is near."""
    near = difflib.get_close_matches(str(given), [str(name) for name in known], n=1)
    return f"Did you mean {near[0]!r}?" if near else ""
