"""TLA+ identifiers for the names of a machine, and state variables for its slots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...notation.model import Model, Slot

__all__ = ["Names", "Place", "Variable", "variables_of"]

_WORDS = """
    ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE
    DEFS DOMAIN ELSE ENABLED EXCEPT EXTENDS FALSE HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET
    LOCAL MODULE NEW OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE
    SF_ STATE STRING SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM TRUE UNCHANGED UNION USE
    VARIABLE VARIABLES WF_ WITH WITNESS BOOLEAN Int Nat Real Seq Len Head Tail Append SubSeq
    SelectSeq Init Next Spec TypeOK vars Min Max FloorDiv Mod BoundedSeq
"""
_RESERVED = frozenset(_WORDS.split())


class Names:
    """Gives each name a TLA+ identifier of its own.

    TLA+ has one namespace: a parameter may not be called like a variable, and nothing may
    be defined twice. A name that is taken, or a word of the language, gets underscores.
    """

    def __init__(self) -> None:
        self._taken = set(_RESERVED)

    def new(self, name: str) -> str:
        """An unused identifier as close to ``name`` as possible."""
        plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).rstrip("_") or "x"
        if not re.search("[A-Za-z]", plain) or plain.startswith(("WF_", "SF_")):
            plain = f"x{plain}"
        while plain in self._taken:
            plain += "_"
        self._taken.add(plain)
        return plain


@dataclass(frozen=True)
class Variable:
    """A TLA+ variable and the slots that it holds.

    ``shape`` has the size of each dimension of an array, and is empty for a single value.
    ``members`` is the number of possible members if the values are sets. ``slots`` are in
    the order of their indices, the member last.
    """

    name: str
    shape: tuple[int, ...]
    members: int | None
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class Place:
    """The place of a slot: its variable, the indices into it, and its member if it is a set."""

    variable: Variable
    path: tuple[int, ...]
    member: int | None


_SLOT = re.compile(r"(\w+)((?:\[\d+\])*)(?:\{(\d+)\})?")


def _parse(slot: Slot) -> tuple[str, tuple[int, ...], int | None] | None:
    found = _SLOT.fullmatch(slot.name)
    if found is None:
        return None
    base, path, member = found.groups()
    return base, tuple(map(int, re.findall(r"\d+", path))), None if member is None else int(member)


def variables_of(model: Model, names: Names) -> dict[str, Place]:
    """The place of each slot, in the order of the slots.

    The slots of one array, and the members of one set, share a variable. Slots that do not
    fill a rectangular array become variables of their own.
    """
    groups: dict[str, list[Slot]] = {}
    for slot in model.slots:
        parsed = _parse(slot)
        groups.setdefault(parsed[0] if parsed else slot.name, []).append(slot)
    places: dict[str, Place] = {}
    for base, slots in groups.items():
        places.update(_places_of_group(base, slots, names))
    return places


def _places_of_group(base: str, slots: list[Slot], names: Names) -> dict[str, Place]:
    parsed = [found for slot in slots if (found := _parse(slot))]
    positions = [path if member is None else (*path, member) for _, path, member in parsed]
    is_set = any(member is not None for _, _, member in parsed)
    sizes = _sizes(positions) if len(parsed) == len(slots) else None
    if sizes is None or len({slot.type for slot in slots}) > 1:
        single = [Variable(names.new(slot.name), (), None, (slot,)) for slot in slots]
        return {one.slots[0].name: Place(one, (), None) for one in single}
    shape, members = (sizes[:-1], sizes[-1]) if is_set else (sizes, None)
    variable = Variable(names.new(base), shape, members, tuple(slots))
    return {
        slot.name: Place(variable, path, member)
        for slot, (_, path, member) in zip(slots, parsed, strict=True)
    }


def _sizes(positions: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The sizes of the rectangular array that has exactly these positions, in order."""
    if len({len(position) for position in positions}) != 1:
        return None
    sizes = tuple(max(column) + 1 for column in zip(*positions, strict=True))
    return sizes if list(positions) == list(_all_positions(sizes)) else None


def _all_positions(sizes: tuple[int, ...]) -> Iterable[tuple[int, ...]]:
    if not sizes:
        return [()]
    return [(first, *rest) for first in range(sizes[0]) for rest in _all_positions(sizes[1:])]
