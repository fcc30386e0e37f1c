"""Reports as one HTML file each, which needs neither a server nor a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..computer.files import write_whole
from .page import Section, page

__all__ = ["write_sections"]


def write_sections(path: Path, title: str, sections: Sequence[Section]) -> None:
    """Write a page of these sections."""
    write_whole(path, page(title, sections))
