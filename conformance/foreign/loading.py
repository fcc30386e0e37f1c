"""From ``package.module:factory`` to the factory; each thing that is missing gets one clear
message.

This imports code of the user's, so it belongs into a process that may end: see ``host.py``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ...spec.notation.errors import InputError, TargetError
from ..ports.base import Adapter, excerpt
from .guard import guarded

__all__ = ["IMPORT_ADVICE", "load_factory", "split_place"]

IMPORT_ADVICE = (
    "Check its name, and that it and what it imports are installed, or in this folder.")
_FACTORY_ADVICE = "Name a class with request(message), or a function that makes one."


def split_place(place: str) -> tuple[str, str]:
    """The module and the factory in ``place``; ``InputError`` unless it has both."""
    module, _, factory = place.partition(":")
    if not module or not factory:
        raise InputError(
            f"python:{excerpt(place)} names no factory",
            next_step="Write python:package.module:factory.")
    return module, factory


def load_factory(
    place: str, other: Callable[[Callable[..., Any]], Adapter] | None = None,
) -> Callable[[], Adapter]:
    """A factory of adapters, from ``package.module:factory``.

    If the factory makes something else, or needs arguments, ``other`` makes an adapter of it.
    Raises ``InputError`` for a module that does not import, or that lacks the factory.
    """
    module_name, attributes = split_place(place)
    module = _import(module_name)
    found: Any = module
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            raise InputError(
                f"the module {module_name} has no {excerpt(attributes)}", _file_of(module),
                _FACTORY_ADVICE)
        found = getattr(found, attribute)
    if not callable(found):
        raise InputError(
            f"{excerpt(attributes)} of the module {module_name} cannot be called: it is of the "
            f"type {type(found).__name__}", _file_of(module), _FACTORY_ADVICE)
    factory: Callable[[], Any] = found
    if other is not None and not _makes_adapters(factory):
        return lambda: other(factory)
    return lambda: _made_by(factory, place, other)


def _import(module_name: str) -> Any:
    try:
        return guarded(
            "it", lambda: import_module(module_name), caught=(BaseException,))
    except TargetError as error:
        raise InputError(
            f"the module {excerpt(module_name)} cannot be imported: {error.what}", error.where,
            IMPORT_ADVICE) from None


def _makes_adapters(factory: Callable[..., Any]) -> bool:
    """True if the objects of a factory answer requests, as far as that shows without making one.

    A class shows it; a function that needs no argument is taken for a factory of adapters.
    """
    if isinstance(factory, type):
        return callable(getattr(factory, "request", None))
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return True
    return all(each.default is not each.empty or each.kind in (
        each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters)


def _made_by(
    factory: Callable[[], Any], place: str,
    other: Callable[[Callable[..., Any]], Adapter] | None,
) -> Adapter:
    """The adapter that a factory makes, or a class that it returns. Raises ``InputError`` for what
    has no method request."""
    made = factory()
    if isinstance(made, type):
        made = made()
    if not callable(getattr(made, "request", None)):
        if other is not None and made is not None:
            return other(factory)
        raise InputError(
            f"python:{place} made a {type(made).__name__}, which has no method request",
            _place_of(factory), "Make an object with request(message: dict) -> dict.")
    adapter: Adapter = made
    return adapter


def _file_of(module: Any) -> str:
    return str(getattr(module, "__file__", None) or "")


def _place_of(factory: Any) -> str:
    code = getattr(factory, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else ""
