"""The native explorer: a machine compiled to machine code and searched exhaustively.

:func:`explore` decides rules about states and steps; :func:`graph` makes the graph of the
reachable states that rules about the end of things are decided on.
"""

from __future__ import annotations

from .engine import NativeResult, explore
from .graph import NativeGraph, graph
from .layout import Layout, TooWide

__all__ = ["Layout", "NativeGraph", "NativeResult", "TooWide", "explore", "graph"]
