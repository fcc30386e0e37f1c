"""The systems that there are: a folder each, and nothing lists them."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

from ...spec.notation.errors import InputError
from ...spec.notation.labels import nearest
from ..ports.base import Port, excerpt
from ..suites.system import SUBJECTS, Shipped, System

if TYPE_CHECKING:
    from ..suites.suite import AnySuite
    from ..suites.twin import Twin

__all__ = [
    "SYSTEMS", "makers", "port_named", "selected", "shipped", "suite_named", "system_of", "zoo",
]

_HERE: Final = sys.modules[__package__ or ""]


def _systems() -> Iterator[System]:
    """Each folder beside this module is a system, named as its suite with dots as underscores."""
    for folder in sorted(each.name for each in pkgutil.iter_modules(_HERE.__path__) if each.ispkg):
        yield import_module(f".{folder}", __package__).SYSTEM


SYSTEMS: Final[Mapping[str, System]] = {system.name: system for system in sorted(
    _systems(), key=lambda system: (
        SUBJECTS.index(system.subject), system.name.count("."), system.name))}
"""By name, that of their suite and of their port, in the order in which all tables have them."""


def system_of(suite: str) -> System:
    """The system of a suite's name. Raises ``InputError`` where there is none."""
    if suite not in SYSTEMS:
        raise InputError(f"there is no suite {excerpt(suite)}",
                         next_step=nearest(suite, SYSTEMS, "`checkvalve suites`"))
    return SYSTEMS[suite]


def makers() -> dict[str, str]:
    """By port, the function that makes an adapter of a user's class, if a system has one."""
    return {name: system.maker for name, system in SYSTEMS.items() if system.maker}


def suite_named(name: str) -> AnySuite:
    """The suite of that name. Raises ``InputError`` where there is none."""
    return system_of(name).suite


def port_named(name: object) -> Port:
    """The port of that name. Raises ``InputError`` where there is none."""
    if not isinstance(name, str) or name not in SYSTEMS:
        raise InputError(
            f"there is no port {excerpt(name)}",
            next_step=nearest(str(name), SYSTEMS, "`checkvalve suites`"))
    return SYSTEMS[name].port


def shipped() -> Mapping[str, tuple[System, Shipped]]:
    """By name, the targets that come with checkvalve, with their systems."""
    return {each.name: (system, each) for system in SYSTEMS.values() for each in system.shipped}


def zoo() -> Mapping[str, Twin]:
    """All twins by name."""
    return {name: twin for system in SYSTEMS.values() for name, twin in system.twins.items()}


def selected(names: Iterable[str]) -> list[System]:
    """The systems that some names select (all if none are given): names of suites, of groups of
    them, and of chapters that they are judged by or tied to.

    Raises ``InputError`` for a name that selects none.
    """
    wanted = list(names)
    found: set[str] = set()
    for name in wanted:
        # The chapters take a second to load, and the name of a suite leaves no doubt.
        those = {system.name for system in SYSTEMS.values()
                 if system.is_named(name) or (name not in SYSTEMS and system.is_about(name))}
        if not those:
            raise InputError(
                f"there is no suite {excerpt(name)}",
                next_step=nearest(name, SYSTEMS, "`checkvalve suites`"))
        found |= those
    return [system for system in SYSTEMS.values() if not wanted or system.name in found]
