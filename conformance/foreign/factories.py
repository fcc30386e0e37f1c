"""From the name of a Python object to a factory of adapters for it, of any kind."""

from __future__ import annotations

import sys
from collections.abc import Callable
from ..ports.base import Adapter
from .clock import follow_loops
from .loading import load_factory
from .place import PYTHON, place_of
from .target import Makers, named_factory, named_of

__all__ = ["factory_of"]


def factory_of(spec: str, makers: Makers) -> Callable[[], Adapter]:
    """A factory of adapters for ``python:…``, ``thread:…`` or ``asyncio:…``.

    The object that ``python:`` names may be an adapter; else it is a class that is to be tested by
    its name. Raises ``InputError`` for an object that cannot be imported.
    """
    place = place_of(spec)
    follow_loops()
    if place.kind != PYTHON:
        return named_factory(spec, makers)
    other = named_of(place, {*sys.modules}, makers)
    return load_factory(f"{place.module}:{place.attributes}", other)
