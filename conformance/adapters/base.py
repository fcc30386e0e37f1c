"""Shared by all our own adapters: the refusal of a request, and the error for a missing library."""

from __future__ import annotations

import shlex
from collections.abc import Collection

from ...spec.notation.errors import InputError
from ..ports.base import AT_ONCE, Message

__all__ = ["Declined", "declared", "missing"]


def declared(wakes: str, no_occasion: Collection[str]) -> Message:
    """The part of a greeting about what the adapter cannot show; empty if there is nothing to say.
    """
    said: Message = {} if wakes == AT_ONCE else {"wakes": wakes}
    return {**said, "no_occasion": [*no_occasion]} if no_occasion else said


class Declined(Exception):
    """The adapter answers with an error. ``definite``: certainly nothing has happened."""

    def __init__(self, error: str, *, definite: bool = True) -> None:
        super().__init__(error)
        self.error = error
        self.definite = definite


def missing(library: str, extra: str = "targets") -> InputError:
    """The error for an optional library that is not installed, or not in that version; an ``extra``
    of checkvalve brings it."""
    return InputError(
        f"this target needs the library {library}, which is not installed",
        next_step=f"Install it: pip install {shlex.quote(library)} (or checkvalve[{extra}]).")
