"""What a benchmark found, for people and for programs."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

from .rows import Aim, Plan, Row

__all__ = ["aim_lines", "document", "heading", "line", "machine"]

_COLUMNS = (
    ("", 24), ("target", 10), ("requests", 11), ("req/s", 10), ("expired", 9), ("1-Phi", 9),
    ("cpu s", 8), ("gc s", 7), ("timer size", 11), ("pending", 9), ("purges", 8),
)


def machine() -> dict[str, str]:
    """What a figure depends on: processor, cores, system and interpreter."""
    return {
        "processor": _processor(), "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _processor() -> str:
    try:
        rows = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    names = [row.partition(":")[2].strip() for row in rows if row.startswith("model name")]
    return names[0] if names else platform.machine()


def document(plan: Plan, rows: Sequence[Row], aims: Sequence[Aim]) -> dict[str, Any]:
    """All of it, for a JSON file."""
    return {
        "machine": machine(), "settings": asdict(plan.settings),
        "plan": {"requests": plan.requests, "rate": plan.rate, "repeats": plan.repeats,
                 "limit": plan.limit, "seconds": plan.seconds,
                 "rates": [None if rate == inf else rate for rate in plan.rates]},
        "rows": [row.as_json(plan.settings) for row in rows],
        "aims": [aim.as_json() for aim in aims],
    }


def heading(mode: str) -> str:
    """The line above the rows of a mode."""
    names = [name for name, _ in _COLUMNS]
    return _cells([mode, *names[1:]])


def line(row: Row, plan: Plan) -> str:
    """A row as a line of the table; a star where requests were left."""
    shown = row.as_json(plan.settings)
    target = "none" if row.target == inf else f"{row.target:,.0f}"
    star = "*" if shown["left"] else ""
    return _cells([
        f"{row.case.name}, {row.contender}", target, f"{shown['requests']:,}{star}",
        f"{row.rate:,.0f}", f"{shown['expired']:.4f}", f"{shown['expected_expired']:.4f}",
        f"{shown['cpu_seconds']:.2f}", f"{shown['gc_seconds']:.2f}",
        f"{shown['largest_size']:,}", f"{shown['largest_pending']:,}", f"{shown['purges']:,}",
    ])


def aim_lines(aims: Sequence[Aim]) -> list[str]:
    """Every aim with its figure, met or not."""
    return [
        f"{'met   ' if aim.met else 'MISSED'}  {aim.text}: {_figure(aim.figure)}, aimed at "
        f"{'<=' if aim.at_most else '>='} {_figure(aim.aim)}"
        for aim in aims
    ]


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _cells(cells: Sequence[str]) -> str:
    first, *rest = zip(cells, (width for _, width in _COLUMNS), strict=True)
    return first[0].ljust(first[1] + 6) + "".join(cell.rjust(width) for cell, width in rest)
