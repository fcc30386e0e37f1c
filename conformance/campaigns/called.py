"""The names that a class has for the port's operations, asked for once, before anything is run."""

from __future__ import annotations

from collections.abc import Mapping

from ...spec.notation.errors import CheckvalveError
from ..foreign.place import is_named
from ..ports.base import PROTOCOL_VERSION
from ..systems.catalogue import suite_named
from .case import RunSettings

__all__ = ["called"]


def called(suite: str, target_spec: str, settings: RunSettings) -> Mapping[str, str]:
    """By our name of an operation, the class's name for it; empty for what is no class, and where
    the target does not answer, as its cases will say."""
    from ..systems.targets import resolve_target

    if not is_named(target_spec):
        return {}
    own = suite_named(suite)
    capacity = own.capacities[0] if settings.capacity is None else settings.capacity
    try:
        session = resolve_target(target_spec, timeout=settings.timeout_seconds).open()
        try:
            reply = session.request({
                "do": "hello", "protocol": PROTOCOL_VERSION, "port": own.port,
                "settings": dict(own.settings(capacity))})
        finally:
            session.close()
    except (CheckvalveError, ImportError):
        return {}
    names: Mapping[str, str] = reply.get("ok", {}).get("called", {})
    return names
