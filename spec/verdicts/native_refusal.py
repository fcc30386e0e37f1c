"""Why native code cannot have a machine, said without loading a compiler."""

from __future__ import annotations

from collections.abc import Mapping

from ..notation.errors import InputError
from .verdict import Verdict

__all__ = ["NotNative"]


class NotNative(InputError):
    """The native explorer cannot have this machine, or not in the time that is left.

    Usual causes: a state of very many bits, an intermediate result that is too large, actions
    that would take too long to compile. A caller that may uses the interpreter instead. ``decided``
    has the verdicts that were found before, by the place of their rule.
    """

    decided: Mapping[int, Verdict] = {}
