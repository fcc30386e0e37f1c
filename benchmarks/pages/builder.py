"""Writes the methods of the design builder from the schema of the design language.

``make pages`` writes ``spec/design/builder/kinds.py``. A test compares the two, so a new key of the
language is a new argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

from checkvalve.conformance.computer.files import write_whole
from checkvalve.spec.design.reading import schema as schema_module
from checkvalve.spec.design.reading.schema import schema

__all__ = ["FILE", "main", "source"]

FILE: Final = Path(schema_module.__file__).parents[1] / "builder" / "kinds.py"

_HEAD: Final = '''"""The builder of designs: methods for tasks, links, pools and verdicts.

Written by ``make pages`` from ``schema.json``; change that, and not this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

__all__ = [
    "Connection", "FlowName", "Kinds", "LinkName", "Number", "PoolName", "Step", "TaskName",
]

Number = int | str
"""A whole number, or an expression of the design's parameters."""

Step = Mapping[str, Any]
"""A step of a script; ``steps`` has functions that make them."""

FlowName = Literal[
@flows@
]
"""The reaction of a full link."""

Connection = Literal[
@connections@
]
"""Between copies: which of them links are between."""


class TaskName(str):
    """A task that was put into a design."""


class LinkName(str):
    """A link that was put into a design."""


class PoolName(str):
    """A pool that was put into a design."""


class Kinds:
    """The methods of a design; ``None`` leaves a key out, as a file would."""

    def _task(self, name: str, keys: dict[str, Any]) -> TaskName:
        raise NotImplementedError

    def _link(self, keys: dict[str, Any]) -> LinkName:
        raise NotImplementedError

    def _pool(self, name: str, keys: dict[str, Any]) -> PoolName:
        raise NotImplementedError

    def _expect(self, keys: dict[str, Any]) -> None:
        raise NotImplementedError
'''

_PARTS: Final = {
    "source": "source", "sink": "sink", "map": "plain", "filter": "filter", "merge": "merge",
    "zip": "plain", "broadcast": "plain", "route": "route", "window": "window", "align": "align",
    "script": "script", "call": "call", "transition": "transition", "design": "instance",
}
"""The part of the schema that has the keys of each kind."""
_ABOUT: Final = {
    "source": "It writes to all its links.", "sink": "It reads from any of its links.",
    "map": "It reads, and writes.", "filter": "It reads, and writes or discards.",
    "merge": "It reads from one of its links, and writes.",
    "zip": "It reads from all its links at once, and writes to all.",
    "broadcast": "It reads, and writes to all its links at once.",
    "route": "It reads, and writes to one of its links.",
    "window": "It gathers elements, and writes one for all of them.",
    "align": "It passes elements on, but waits for a barrier from each link.",
    "script": "It does its steps in order, waiting at each.",
    "call": "Nested calls on pools of threads.",
    "transition": "It reads from all its links and writes to all, in one move.",
    "design": "A sub-design, or copies of it.",
}
_TYPES: Final = {
    "#/$defs/amount": "Number", "#/$defs/name": "str", "#/$defs/link name": "str",
    "#/$defs/task pool": "str", "#/$defs/reference": "str", "#/$defs/link reference": "str",
    "#/$defs/may": 'Literal["stop", "crash"]', "#/$defs/copies": "Number",
    "#/$defs/values": "Mapping[str, Number]",
    "#/$defs/hand": "Number", "#/$defs/held": "Number",
    "#/$defs/ends": "str | Sequence[str]", "#/$defs/amounts": "Mapping[str, Number]",
    "#/$defs/verdict or condition": 'Literal["holds", "violated"] | Mapping[str, str]',
}


def source() -> str:
    """The text of the module."""
    definitions = schema()["$defs"]
    methods = [_method(kind, definitions[part], f"Put down a {kind}. {_ABOUT[kind]}", "task")
               for kind, part in _PARTS.items()]
    methods.append(_method("link", definitions["link"], "Put down a link between tasks.", "link"))
    methods.append(_method("pool", definitions["pool"], "Put down a pool of threads, or a "
                           "semaphore.", "pool"))
    methods.append(_method("expect", definitions["expect"], "Say which verdicts are wanted.",
                           "expect"))
    flows = [f'"{flow}"' for flow in definitions["link"]["properties"]["flow"]["enum"]]
    connections = [f'"{each}"' for each in definitions["link"]["properties"]["connect"]["enum"]]
    head = _HEAD.replace("@flows@", "\n".join(_filled(flows, 4))).replace(
        "@connections@", "\n".join(_filled(connections, 4)))
    return "\n".join([head, *methods])


def _method(name: str, rule: Mapping[str, Any], about: str, what: str) -> str:
    keys = {key: part for key, part in rule["properties"].items() if key != "kind"}
    required = [key for key in keys if key in rule.get("required", ())]
    named = ["self", *(["name: str"] if what in ("task", "pool") else [])]
    positional = [f"{_argument(key)}: {_type(keys[key])}" for key in required]
    optional = [f"{_argument(key)}: {_type(part)} | None = None" for key, part in keys.items()
                if key not in required]
    arguments = [*named, *positional, *(["*"] if optional else []), *optional]
    gives = {"task": "TaskName", "link": "LinkName", "pool": "PoolName", "expect": "None"}[what]
    pairs = ([f'"kind": "{name}"'] if what == "task" else []) + [
        f'"{key}": {_argument(key)}' for key in keys]
    call = f"self._{what}({'name, ' if what in ('task', 'pool') else ''}{{"
    lines = [f"    def {name}(", *_filled(arguments, 8), f"    ) -> {gives}:", *_words(about, keys),
             f"        {'' if what == 'expect' else 'return '}{call}", *_filled(pairs, 12),
             "        })", ""]
    return "\n".join(lines)


def _filled(parts: list[str], indent: int) -> Iterator[str]:
    """The parts with commas between them, in lines that are not too long."""
    line = " " * indent
    for part in parts:
        if len(line) + len(part) > 97 and line.strip():
            yield line.rstrip()
            line = " " * indent
        line += f"{part}, "
    yield line.rstrip()


def _words(about: str, keys: Mapping[str, Any]) -> Iterator[str]:
    """The docstring: what each argument is, in the schema's words."""
    yield f'        """{about}'
    yield ""
    for key, part in keys.items():
        text = part.get("description") or _described(part)
        if text:
            yield from wrap(f"``{_argument(key)}``: {text}", 96, initial_indent=" " * 8,
                            subsequent_indent=" " * 12)
    yield '        """'


def _described(part: Mapping[str, Any]) -> str:
    reference = str(part.get("$ref", "")).removeprefix("#/$defs/")
    return str(schema()["$defs"].get(reference, {}).get("description", ""))


def _argument(key: str) -> str:
    """The name of a key as an argument: some of them are words of Python's."""
    return {"from": "writer", "to": "reader", "with": "given"}.get(key, key.replace("-", "_"))


def _type(part: Mapping[str, Any]) -> str:
    if "enum" in part and "blocking" in part["enum"]:
        return "FlowName"
    if "enum" in part and "by-key" in part["enum"]:
        return "Connection"
    if "enum" in part:
        return f"Literal[{', '.join(repr(each) for each in part['enum'])}]".replace("'", '"')
    if "$ref" in part:
        return _TYPES[part["$ref"]]
    if "anyOf" in part and "minimum" in part["anyOf"][0]:
        return "Number | Sequence[str]"
    if "anyOf" in part:
        return "str | Sequence[str]"
    if part.get("type") == "array":
        return "Sequence[Step]"
    if part.get("type") == "object":
        return "Mapping[str, Any]"
    return "bool" if part.get("type") == "boolean" else "Number"


def main() -> None:
    """Write the methods where the builder finds them."""
    write_whole(FILE.resolve(), source())
