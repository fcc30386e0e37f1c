"""Callbacks that raise: what one of them raises must not cost the others their turn.

Whoever calls several callbacks in a row goes on when one of them raises, and raises at the end.
Only ``Exception`` is held back; what ends a program (KeyboardInterrupt, SystemExit) is not.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["raise_all"]


def raise_all(what: str, errors: Sequence[Exception]) -> None:
    """Nothing if there are none; one as it is; several as an ``ExceptionGroup``."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup(f"{len(errors)} {what} raised", list(errors))
