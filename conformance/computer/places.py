"""Places in files of ours, named alike wherever checkvalve is installed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

__all__ = ["from_root"]


def from_root(where: str) -> str:
    """``spec/…:line`` for a place in a chapter of ours, so that fixtures agree anywhere."""
    file, _, line = where.rpartition(":")
    return f"{_shown(file)}:{line}"


@cache
def _shown(file: str) -> str:
    """Once for each file: where the links of a path lead is asked of the disk."""
    root = Path(__file__).resolve().parents[2]
    path = (Path(file) if not (root / file).is_file() else root / file).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
