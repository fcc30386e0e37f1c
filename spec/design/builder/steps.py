"""The steps of a script, as functions."""

from __future__ import annotations

from .kinds import Number, Step

__all__ = ["acquire", "read", "release", "write"]


def write(link: str, count: Number = 1) -> Step:
    """Write ``count`` times to a link."""
    return _step("write", link, count)


def read(link: str, count: Number = 1) -> Step:
    """Read ``count`` times from a link."""
    return _step("read", link, count)


def acquire(pool: str, count: Number = 1) -> Step:
    """Take ``count`` threads or permits of a pool, all at once."""
    return _step("acquire", pool, count)


def release(pool: str, count: Number = 1) -> Step:
    """Give ``count`` threads or permits back to a pool."""
    return _step("release", pool, count)


def _step(verb: str, target: str, count: Number) -> Step:
    return {verb: target} if count == 1 else {verb: target, "count": count}
