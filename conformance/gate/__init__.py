"""The gate: everything that a checkvalve.toml lists, run to one verdict.

``config`` reads the file, ``runner`` runs what it lists, ``report`` holds the rows and the
verdict, ``junit`` and ``text`` write them down. docs/gate.md describes the file.
"""

from __future__ import annotations

from .config import GateConfig, load
from .report import Report, Row
from .runner import run_gate

__all__ = ["GateConfig", "Report", "Row", "load", "run_gate"]
