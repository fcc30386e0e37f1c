"""Callbacks that raise: an exception of one of them must not prevent the others.

Code that calls several callbacks in a row continues when one of them raises, and raises at the end.
Only ``Exception`` is held back; exceptions that end a program (KeyboardInterrupt, SystemExit) are
not.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["raise_all"]


def raise_all(what: str, errors: Sequence[Exception]) -> None:
    """Raise one error as it is, and several as an ``ExceptionGroup``; return if there are none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup(f"{len(errors)} {what} raised", list(errors))
