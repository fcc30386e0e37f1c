"""Numbers of a design that are opened: made parameters, to find a law over them.

``requests`` is the capacity of a link, ``workers`` the threads of a pool, ``a.queue`` the capacity
of the one link to a task, ``a.hand`` or ``requests.batch`` whatever number the language has under
that key. ``=1..8`` behind it says which values to look at; otherwise they are chosen around the
number that stands in the file.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...notation.errors import InputError
from ..reading.parameters import range_of, range_said, with_given
from ..reading.schema import check_shape
from ..reading.source import Node

__all__ = ["Opened", "opened"]

_KEYS: Final[Mapping[str, Mapping[str, tuple[int | None, int]]]] = {
    "links": {"capacity": (1, 1), "batch": (1, 1), "initial": (0, 0), "gives": (1, 1),
              "takes": (1, 1), "lossy": (0, 0), "stop": (None, 1), "go": (None, 0), "lag": (0, 0)},
    "pools": {"threads": (None, 1)},
    "tasks": {"hand": (0, 0), "count": (None, 1), "roots": (1, 1), "depth": (1, 1),
              "size": (None, 1), "slide": (None, 1)},
}
"""For what a number may be opened: what it is where the file says nothing, and the least."""
_USUAL: Final = {"links": "capacity", "pools": "threads"}
_AROUND: Final = {1: 12, 2: 8, 3: 6, 4: 4}
"""Numbers of values that are looked at of each of so many numbers; of more, three."""


@dataclass(frozen=True)
class Opened:
    """A tree in which numbers are parameters: ``values`` has those to look at, by the names under
    which the numbers are reported; ``inner`` are the names of the parameters, and ``own`` the
    numbers that the file has."""

    root: Node
    values: Mapping[str, Sequence[int]]
    inner: Mapping[str, str]
    own: Mapping[str, int]


def opened(
    root: Node, wanted: Sequence[str], file: str, given: Mapping[str, str] | None = None
) -> Opened:
    """Open numbers of a design; ``wanted`` are as in the module's text, or parameters of the file,
    of which ``given`` has other values.

    Raises InputError for what is no design, or names no number of it, and where a range remains
    that was not named.
    """
    check_shape(root, file, "written")
    root = with_given(root, file, given or {})
    values: dict[str, Sequence[int]] = {}
    inner: dict[str, str] = {}
    said_now: dict[str, int] = {}
    for place, each in enumerate(wanted):
        name, equals, said = each.partition("=")
        name = name.strip()
        spoken = range_said(said, name, f"--over {each.strip()[:60]}") if said else None
        if name in values:
            raise InputError(f"{name[:60]!r} is named twice", "--over", "Name it once.")
        if equals and spoken is None:
            raise InputError(f"{said[:60]!r} is no range of values", f"--over {each.strip()[:60]}",
                             "Write for example --over requests=1..8.")
        declared = root.value.get("parameters")
        if declared is not None and name in declared.value:
            own = range_of(declared.value[name], name, file)
            now, least, inner[name] = declared.value[name].value, 1, name
            spoken = spoken or own
        else:
            root, now, least = _made_parameter(root, name, f"over_{place + 1}", file)
            inner[name] = f"over_{place + 1}"
        if isinstance(now, int):
            said_now[name] = now
        values[name] = spoken or tuple(_around(now, least, len(wanted), name, file))
    _refuse_others(root, set(inner.values()), file)
    return Opened(root, values, inner, said_now)


def _around(now: Any, least: int, many: int, name: str, file: str) -> list[int]:
    """Values to look at: the least ones, and those around what the file says."""
    if not isinstance(now, int):
        raise InputError(f"{name[:40]!r} is computed from parameters", file,
                         "Name those instead, or say a range: --over n=1..8.")
    count = _AROUND.get(many, 3)
    if now <= least + count - 3:
        return list(range(least, least + count))
    near = [now, least, now + 1, least + 1, now - 1, 2 * now, least + 2, 4 * now]
    return sorted(set(near[:count]))


def _made_parameter(root: Node, name: str, inner: str, file: str) -> tuple[Node, Any, int]:
    """The tree with a parameter in place of a number, the number, and the least it may be."""
    part, owner, key = _found(root, name, file)
    default, least = _KEYS[part][key]
    entries = root.value[part].value
    entry: Node = entries[owner]
    now = entry.value[key].value if key in entry.value else default
    if now is None:
        in_steps = key == "count" and "steps" in entry.value
        raise InputError(
            f"{name[:40]!r} has no number in the file", file,
            "The counts of a script's steps may be a parameter: write `parameters: {n: 4}` and "
            "`count: n`, and name n." if in_steps else f"Give it a `{key}:`.")
    changed = replace(entry, value={**entry.value, key: Node(inner, entry.spot)})
    whole: Any = {**entries, owner: changed} if isinstance(entries, dict) else [
        *entries[:owner], changed, *entries[owner + 1:]]
    declared = root.value.get("parameters") or Node({}, root.spot)
    known = replace(declared, value={inner: Node(now, entry.spot), **declared.value})
    return replace(root, value={
        **root.value, part: replace(root.value[part], value=whole), "parameters": known,
    }), now, least


def _found(root: Node, name: str, file: str) -> tuple[str, Any, str]:
    """The part of the file that has a number, the name of its entry there, and its key."""
    owner, _, key = name.rpartition(".")
    owners = list(_owners(root))
    for part, called, place in owners:
        if called == name and part in _USUAL:
            return part, place, _USUAL[part]
        if called == owner and key in _KEYS[part]:
            return part, place, key
    if key == "queue":
        leading = [place for place, link in enumerate(root.value["links"].value)
                   if owner in _ends(link, "to")] if "links" in root.value else []
        if len(leading) == 1:
            return "links", leading[0], "capacity"
    known = [called for part, called, _ in owners if part in _USUAL]
    near = difflib.get_close_matches(name, known, n=1)
    raise InputError(
        f"{name[:60]!r} names no number of the design", file,
        f"Did you mean {near[0]!r}?" if near else
        "Name a parameter, a link, a pool, or one's key, as in task.hand or link.batch. "
        f"There are: {', '.join(known[:10])}.")


def _owners(root: Node) -> Iterator[tuple[str, str, Any]]:
    """Everything that has numbers: its part of the file, its name, and its place there."""
    for part in ("links", "pools", "tasks"):
        if part not in root.value:
            continue
        entries = root.value[part].value
        if isinstance(entries, dict):
            yield from ((part, name, name) for name in entries)
            continue
        for place, link in enumerate(entries):
            called = link.value.get("name")
            yield (part, "+".join(_ends(link, "from")) + "->" + "+".join(_ends(link, "to"))
                   if called is None else called.value, place)


def _ends(link: Node, key: str) -> list[str]:
    value = link.value[key].value
    return [each.value for each in value] if isinstance(value, list) else [value]


def _refuse_others(root: Node, named: set[str], file: str) -> None:
    for name, node in root.value.get("parameters", Node({}, root.spot)).value.items():
        found = range_of(node, name, file)
        if name not in named and found is not None and len(found) > 1:
            raise InputError(f"the parameter {name!r} has a range, and is not named in --over",
                             f"{file}:{node.spot}", "Name it as well, or give it one value: "
                             f"--set {name}={found[0]}.")
