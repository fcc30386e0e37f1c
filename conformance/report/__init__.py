"""Reports as one HTML file each, which needs neither a server nor a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..computer.files import write_whole
from .page import Section, page

if TYPE_CHECKING:
    from checkvalve.spec.design.why.findings import DesignReport

__all__ = ["write_designs", "write_sections"]


def write_designs(path: Path, reports: Sequence[DesignReport]) -> None:
    """Write the report of ``checkvalve check``."""
    from .designs import section
    write_sections(path, "checkvalve check", [
        section(report, f"d{number}") for number, report in enumerate(reports)])


def write_sections(path: Path, title: str, sections: Sequence[Section]) -> None:
    """Write a page of these sections."""
    write_whole(path, page(title, sections))
