"""Files by pattern, as in a shell, without looking through a whole disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from glob import glob
from pathlib import Path

from checkvalve.spec.notation.errors import InputError

__all__ = ["FOLDERS_MAX", "matching"]

FOLDERS_MAX = 20_000
"""The folders that ``**`` looks through at most."""


def matching(pattern: str, base: Path) -> list[Path]:
    """The files that ``pattern`` names from the folder ``base``, sorted, each once.

    ``**`` stands for any folders, but hidden ones and those behind links. Raises InputError,
    without a place, for a pattern that has it twice, or that looks through too many.
    """
    head, deep, tail = pattern.partition("**")
    if not deep:
        return sorted(base / name for name in glob(pattern, root_dir=base))
    if "**" in tail or (head and not head.endswith("/")) or (tail and not tail.startswith("/")):
        raise InputError(f"the pattern {pattern!r} cannot be looked for",
                         next_step="Use ** once, between slashes, as in designs/**/*.yaml.")
    roots = [base / name for name in glob(head, root_dir=base)] if head else [base]
    name = tail.lstrip("/") or "*"
    found = {folder / each for root in roots for folder in _folders(root, pattern)
             for each in glob(name, root_dir=folder)}
    return sorted(found)


def _folders(root: Path, pattern: str) -> Iterator[Path]:
    for count, (folder, inner, _) in enumerate(os.walk(root), 1):
        if count > FOLDERS_MAX:
            raise InputError(f"the pattern {pattern!r} looks through more than {FOLDERS_MAX:,} "
                             "folders", next_step="Begin it with the folder that is meant.")
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield Path(folder)
