"""The native explorer: a machine compiled to machine code and searched exhaustively."""

from __future__ import annotations

from .engine import NativeResult, explore

__all__ = ["NativeResult", "explore"]
