"""``thread:package.module:Class?put=push``: a class or factory, how to run it, and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ...spec.notation.errors import InputError
from ..ports.base import excerpt

__all__ = [
    "ASYNCIO", "FILE", "KINDS", "PYTHON", "THREAD", "Place", "as_module", "is_named", "place_of",
    "with_names",
]

PYTHON: Final = "python"
THREAD: Final = "thread"
ASYNCIO: Final = "asyncio"
KINDS: Final = (PYTHON, THREAD, ASYNCIO)
"""The kinds of names of Python objects: ``python`` finds out which of the others applies."""

FILE: Final = ".py"
"""The end of the name of a file, which a module's name has not."""


@dataclass(frozen=True)
class Place:
    """The place of an object: ``kind:module:attributes``, and the names of its operations.

    ``names`` has, by the name that checkvalve uses, the one that the class uses.
    """

    kind: str
    module: str
    attributes: str
    names: Mapping[str, str]

    @property
    def words(self) -> str:
        """The place as it was written, without the names."""
        return f"{self.kind}:{self.module}:{self.attributes}"


def as_module(file: str) -> str:
    """The module that is in a file of this name: of its last part, for others may be folders."""
    return re.split(r"[/\\]", file.removesuffix(FILE))[-1]


def is_named(spec: str) -> bool:
    """True if ``spec`` names a Python object, of any kind."""
    kind, colon, _ = spec.partition(":")
    return bool(colon) and kind in KINDS


def place_of(spec: str) -> Place:
    """The place that ``spec`` names; raises ``InputError`` unless it has a module and a name."""
    bare, option, names = spec.partition(" --names")
    if option:
        raise InputError(
            f"{excerpt(spec)} has an option in the name of a target",
            next_step=f"Write {with_names(bare, [names.strip(' =')])}, as a run of `checkvalve "
            "conform` with --names calls it.")
    kind, _, rest = spec.partition(":")
    where, _, pairs = rest.partition("?")
    module, _, attributes = where.partition(":")
    if not module or not attributes or kind not in KINDS:
        wanted = "factory" if kind == PYTHON else "class"
        raise InputError(
            f"{kind}:{excerpt(rest)} names no {wanted}",
            next_step=f"Write {kind}:package.module:{wanted}{_near(kind, module)}.")
    if module.endswith(FILE):
        raise InputError(
            f"{kind}:{excerpt(module)} is the name of a file, and a module is needed",
            next_step=f"Write {kind}:{excerpt(as_module(module))}:{excerpt(attributes)}, in the "
            "folder that it is in, or in the one above for a package.")
    if attributes.partition(":")[0] != attributes:
        raise InputError(
            f"{excerpt(spec)} has one part too many",
            next_step=f"Write {kind}:package.module:{attributes.rpartition(':')[2]}.")
    return Place(kind, module, attributes, _names(pairs.split("&") if pairs else ()))


def _near(kind: str, module: str) -> str:
    """The advice for ``package.module.Class``, as the end of a sentence; empty for others."""
    before, _, last = module.rpartition(".")
    return f", here perhaps {kind}:{excerpt(before)}:{excerpt(last)}" if (
        before and last and not module.endswith(FILE)) else ""


def with_names(spec: str, names: Iterable[str]) -> str:
    """The spec that also says these names, each written ``put=push``.

    Raises ``InputError`` for a name that is not written so, or a spec that takes none.
    """
    pairs = [part for text in names for part in text.split(",")]
    if not pairs:
        return spec
    _names(pairs)
    if not is_named(spec):
        raise InputError(f"--names says what a class calls its operations, and {excerpt(spec)} "
                         "is no class", next_step="Leave it out, or name a class: thread:m:Class.")
    return f"{spec}{'&' if '?' in spec else '?'}{'&'.join(pairs)}"


def _names(pairs: Iterable[str]) -> Mapping[str, str]:
    names = {}
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        if not (equals and ours.isidentifier()
                and all(part.isidentifier() for part in re.split("[.-]", theirs))):
            raise InputError(f"{excerpt(pair)} is not two names",
                             next_step="Write what checkvalve says, and what the class says: "
                             "--names put=push,get=pop.")
        names[ours] = theirs
    return names
