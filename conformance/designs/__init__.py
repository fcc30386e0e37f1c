"""Checking design files: reading them, and what the gate and the command line share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..computer.collecting import collecting_rarely

if TYPE_CHECKING:
    from checkvalve.spec.design.check import Settings
    from checkvalve.spec.design.why.findings import DesignReport, Finding
    from checkvalve.spec.design.reading.language import Design
    from checkvalve.spec.verdicts.deadline import Deadline
    from checkvalve.spec.verdicts.verdict import Budget

__all__ = ["check_design", "check_file", "load_designs", "load_file"]


def load_file(path: str | Path) -> Design:
    """Read a design file, in any of the formats that docs/formats.md lists.

    Raises InputError, with file and line, for anything that is not a design, and for a file that
    stands for several.
    """
    from checkvalve.spec.design.loader import only
    return only(load_designs(path), str(path))


def load_designs(
    path: str | Path, given: Mapping[str, str] | None = None, deadline: Deadline | None = None
) -> list[Design]:
    """Read a file: a design for each choice of values of its parameters; ``given`` has some, as
    text (``{"n": "1..8"}``). Raises InputError as ``load_file`` does, and Spent where the file is
    not read by the deadline.
    """
    from checkvalve.spec.design.formats.files import load_any

    from .reading import read_text
    with collecting_rarely():
        return load_any(read_text(Path(path)), str(path), given, deadline)


def check_file(path: str | Path, budget: Budget | None = None) -> DesignReport:
    """Check a design file; ``.results``, ``.as_expected`` and ``.to_json()`` have the rest.

    Raises InputError for anything that is not a design. A spent budget ends in the verdict
    *unknown*.
    """
    return check_design(Path(path), budget)


def check_design(
    design: str | Path | Design, budget: Budget | None = None, settings: Settings | None = None,
    tell: Callable[[Finding], None] | None = None,
) -> DesignReport:
    """Check a design: a path (``Path``), the text of a file (``str``), or one that is loaded.
    ``tell`` is called with each finding as soon as its verdict is known."""
    from checkvalve.spec.design.check import Settings, check
    from checkvalve.spec.design.loader import load
    if isinstance(design, Path):
        design = load_file(design)
    elif isinstance(design, str):
        design = load(design)
    settings = settings or Settings()
    with collecting_rarely():
        return check(
            design, settings if budget is None else replace(settings, budget=budget), tell)
