"""The steps of a script, as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .kinds import Number, Step

__all__ = ["acquire", "branch", "either", "read", "release", "write"]


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


def either(
    *branches: Sequence[Step], timeout: Sequence[Step] | None = None,
    otherwise: Sequence[Step] | None = None,
) -> Step:
    """Take the branch whose first step can be done; wait for one, unless there is ``otherwise``
    (``else`` in a file). ``timeout`` may come at any time."""
    found: dict[str, Any] = {"either": [list(branch) for branch in branches]}
    if timeout is not None:
        found["timeout"] = list(timeout)
    if otherwise is not None:
        found["else"] = list(otherwise)
    return found


def branch(*ways: Sequence[Step]) -> Step:
    """Take any of these ways, as the script likes."""
    return {"branch": [list(way) for way in ways]}


def _step(verb: str, target: str, count: Number) -> Step:
    return {verb: target} if count == 1 else {verb: target, "count": count}
