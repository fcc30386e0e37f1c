"""The actions that the calls of a log are, as the table of the suite has them."""

from __future__ import annotations

from typing import Final

from ...suites.meanings import Meanings
from .suite import PermitsConversation

__all__ = ["CANCELLED", "GIVES", "RELEASED", "WAITS", "WOKEN"]

_SAYS: Final = Meanings(PermitsConversation.says)
WAITS: Final = _SAYS.answer("acquire", "waits")
WOKEN: Final = _SAYS.answer("run", "has")
CANCELLED: Final = _SAYS.answer("run", "cancelled")
RELEASED: Final = _SAYS.answer("run", "released")
GIVES: Final = "gives"
"""The begin of a release. No message of the suite shows it: its conversation adds it, too."""
