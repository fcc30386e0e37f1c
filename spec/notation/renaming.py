"""Renaming members that are alike, in states and in the arguments of steps.

Theory. Let p permute the members of a set that is declared as :func:`~.types.alike`. It acts on a
state: what was kept for the member m is kept for p(m), and a variable that holds m holds p(m). It
acts on a step's arguments likewise. If p maps the initial state to itself, and each step to a step,
then the machine is the same after the renaming: a state can be reached if and only if the renamed
one can, in as many steps. So a search needs one state of all that differ only by names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Any

from .errors import InputError
from .layout import element_at
from .machine import Machine, values_of
from .model import Value
from .types import (
    Alike, ArrayDecl, Decl, DomainLike, FifoDecl, IntDecl, Pairs, RecordDecl, SetDecl,
)

__all__ = ["MOST_RENAMINGS", "Images", "Move", "Renaming", "alike_sets", "generators", "renamings"]

MOST_RENAMINGS = 120  # of larger sets only the first members are renamed
Images = Mapping[Alike, tuple[int, ...]]
"""For each set of alike members, the new name of each."""


@dataclass(frozen=True)
class Move:
    """The new place of a slot's value. ``values`` has, for each number in it, the new one of each
    old one, or None where it stays."""

    slot: str
    values: tuple[tuple[int, ...] | None, ...]


class Renaming:
    """One permutation of the members of each set of a machine."""

    def __init__(
        self, machine: type[Machine], constants: Mapping[str, Any], images: Images
    ) -> None:
        self.machine = machine
        self.constants = constants
        self.images = images

    @cached_property
    def moves(self) -> dict[str, Move]:
        """By the name of each slot, where it goes.

        Raises InputError for a queue of alike members, which is not supported yet.
        """
        return {
            old: Move(new, values)
            for name, decl in self.machine.variables_declared.items()
            for old, new, values in self._moved(name, name, decl)}

    def _moved(
        self, old: str, new: str, decl: Decl
    ) -> Iterator[tuple[str, str, tuple[tuple[int, ...] | None, ...]]]:
        if isinstance(decl, ArrayDecl):
            for index in map(int, values_of(decl.domain, self.constants)):
                element = element_at(decl, index, self.constants)
                yield from self._moved(
                    f"{old}[{index}]", f"{new}[{self.value(decl.domain, index)}]", element)
        elif isinstance(decl, SetDecl):
            for each in map(int, values_of(decl.domain, self.constants)):
                yield f"{old}{{{each}}}", f"{new}{{{self.value(decl.domain, each)}}}", (None,)
        elif isinstance(decl, FifoDecl):
            if any(values is not None for values in self._images_of(decl.element)):
                raise InputError(
                    f"the queue {old} of {self.machine.__name__} holds members of an alike set",
                    next_step="Declare its elements as plain numbers, and the set by upto(…).")
            yield old, new, (None,)
        else:
            yield old, new, self._images_of(decl)

    def _images_of(self, decl: Decl) -> tuple[tuple[int, ...] | None, ...]:
        """For each number in a scalar, what becomes of its values."""
        if isinstance(decl, RecordDecl):
            return tuple(image for _, part in decl.fields for image in self._images_of(part))
        if isinstance(decl, IntDecl) and decl.of is not None:
            images = self.images[decl.of]
            return ((*images, len(images)),)  # nobody stays nobody
        return (None,)

    def value(self, domain: DomainLike, value: int) -> int:
        """The renamed value, for a value of a domain."""
        if isinstance(domain, Alike):
            return self.images[domain][value]
        if isinstance(domain, Pairs):
            size = len(values_of(domain.second, self.constants))
            first, second = divmod(value, size)
            return self.value(domain.first, first) * size + self.value(domain.second, second)
        return value

    def args(
        self, over: tuple[tuple[str, DomainLike], ...], args: tuple[tuple[str, int], ...]
    ) -> tuple[tuple[str, int], ...]:
        """The renamed arguments of an action or a rule with these domains."""
        if not any(isinstance(domain, Alike | Pairs) for _, domain in over):
            return args
        domains = dict(over)
        return tuple((name, self.value(domains[name], value)) for name, value in args)

    def state(self, slots: Mapping[str, Value]) -> dict[str, Value]:
        """The renamed state, by its slots."""
        return {move.slot: _renamed(slots[old], move.values) for old, move in self.moves.items()}


def _renamed(value: Value, images: tuple[tuple[int, ...] | None, ...]) -> Value:
    if isinstance(value, int):
        return value if images[0] is None else images[0][value]
    if all(image is None for image in images):
        return value
    return tuple(_renamed(part, (image,)) for part, image in zip(value, images, strict=True))


# --- which there are -------------------------------------------------------------------------

def alike_sets(machine: type[Machine]) -> dict[str, Alike]:
    """The sets of alike members that a machine declares, by their names in the class."""
    found: dict[str, Alike] = {}
    for each in reversed(machine.__mro__):
        for name, value in vars(each).items():
            if isinstance(value, Alike):
                found[name] = value
    used = set(_used(machine))
    if not used <= set(found.values()):
        raise InputError(
            f"{machine.__name__} uses a set of alike members that has no name in the class",
            next_step="Declare it once, above its first use: Replica = alike(N).")
    return {name: value for name, value in found.items() if value in used}


def _used(machine: type[Machine]) -> Iterator[Alike]:
    for decl in machine.variables_declared.values():
        yield from _sets_in(decl)
    for action in machine.actions_declared.values():
        for _, domain in action.over:
            yield from _sets_in(domain)


def _sets_in(part: Decl | DomainLike | None) -> Iterator[Alike]:
    if isinstance(part, Alike):
        yield part
    elif isinstance(part, Pairs):
        yield from _sets_in(part.first)
        yield from _sets_in(part.second)
    elif isinstance(part, ArrayDecl):
        yield from _sets_in(part.domain)
        yield from _sets_in(part.element)
    elif isinstance(part, SetDecl):
        yield from _sets_in(part.domain)
    elif isinstance(part, FifoDecl):
        yield from _sets_in(part.element)
    elif isinstance(part, RecordDecl):
        for _, field in part.fields:
            yield from _sets_in(field)
    elif isinstance(part, IntDecl):
        yield from _sets_in(part.of)


def _renamed_members(sets: list[int]) -> list[int]:
    """The number of each set's members that are renamed, so that there are not too many renamings.
    """
    most, result = MOST_RENAMINGS, []
    for size in sets:
        members, ways = 1, 1
        while members < size and ways * (members + 1) <= most:
            members += 1
            ways *= members
        most //= ways
        result.append(members)
    return result


def _sizes(sets: Mapping[str, Alike], constants: Mapping[str, Any]) -> list[int]:
    return [len(values_of(each, constants)) for each in sets.values()]


def renamings(machine: type[Machine], constants: Mapping[str, Any]) -> list[Renaming]:
    """All of a machine, the first of which changes nothing."""
    sets = alike_sets(machine)
    sizes = _sizes(sets, constants)
    ways = [
        [(*images, *range(members, size)) for images in permutations(range(members))]
        for size, members in zip(sizes, _renamed_members(sizes), strict=True)]
    return [Renaming(machine, constants, dict(zip(sets.values(), images, strict=True)))
            for images in product(*ways)]


def generators(machine: type[Machine], constants: Mapping[str, Any]) -> list[Renaming]:
    """Some of which all others are made: a swap and a rotation of each set."""
    sets = alike_sets(machine)
    sizes = _sizes(sets, constants)
    same = {each: tuple(range(size)) for each, size in zip(sets.values(), sizes, strict=True)}
    found = []
    for each, members in zip(sets.values(), _renamed_members(sizes), strict=True):
        rest = same[each][members:]
        swap = (1, 0, *same[each][2:members], *rest)
        rotation = (*same[each][1:members], 0, *rest)
        found += [Renaming(machine, constants, {**same, each: images})
                  for images in dict.fromkeys([swap, rotation][:max(0, members - 1)])]
    return found
