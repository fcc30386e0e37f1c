"""The steps of a script, as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .kinds import Number, Step

__all__ = [
    "acquire", "branch", "cancel", "close", "either", "join", "read", "read_until_closed",
    "read_up_to", "release", "repeat", "write",
]


def write(link: str, count: Number = 1) -> Step:
    """Write ``count`` times to a link."""
    return _step("write", link, count)


def read(link: str, count: Number = 1) -> Step:
    """Read ``count`` times from a link."""
    return _step("read", link, count)


def read_up_to(link: str, most: Number, each: Sequence[Step] = ()) -> Step:
    """Read one to ``most`` elements at once, and do ``each`` for every one of them."""
    return {"read": link, "up-to": most, "each": list(each)}


def read_until_closed(link: str, each: Sequence[Step] = ()) -> Step:
    """Read one element after another, and do ``each`` for it, until the link is closed and
    empty."""
    return {"read": link, "until": "closed", "each": list(each)}


def repeat(count: Number, steps: Sequence[Step]) -> Step:
    """Do these steps ``count`` times."""
    return {"repeat": count, "steps": list(steps)}


def close(link: str) -> Step:
    """Close a link: a write to it then fails."""
    return {"close": link}


def join(task: str) -> Step:
    """Wait until a task has ended."""
    return {"join": task}


def cancel(task: str) -> Step:
    """Let a task end at its next step, and give back what it has acquired."""
    return {"cancel": task}


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
    """Take the branch with a first step that can be done; wait for one, unless there is
    ``otherwise`` (``else`` in a file). ``timeout`` may come at any time."""
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
