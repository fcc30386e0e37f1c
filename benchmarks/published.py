"""Figures in a page of docs/: a table in Markdown, between two marks, with where it is from."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path

from checkvalve.conformance.computer.files import write_whole
from checkvalve.spec.notation.errors import InputError

__all__ = ["machine", "publish", "table"]

_END = "<!-- end of figures -->"


def table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The rows as a table in Markdown, which is readable as plain text too; the first has the
    headings."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *rest = zip(cells, widths, strict=True)
        padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
        return f"| {' | '.join(padded)} |"

    head, *body = rows
    yield line(head)
    yield f"|{'|'.join([':' + '-' * (widths[0] + 1), *('-' * (w + 1) + ':' for w in widths[1:])])}|"
    yield from map(line, body)


def machine() -> str:
    """What the figures were made on, in words that follow "on"."""
    return (f"a machine of {os.cpu_count()} processors ({_processor()}) with Python "
            f"{platform.python_version()}")


def _processor() -> str:
    """What the system calls the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.exists() else ""
    names = (line.partition(":")[2].strip() for line in text.splitlines()
             if line.startswith("model name"))
    return next(names, platform.machine())


def publish(path: Path, program: str, lines: Sequence[str]) -> None:
    """Put the figures of a program into a page, between the two marks that it has for them.

    Raises InputError if the page has no such marks, or cannot be written.
    """
    begin = f"<!-- figures of {program} -->"
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    _, ended, after = rest.partition(_END)
    if not found or not ended:
        raise InputError(f"the page has no place for the figures of {program}", str(path),
                         f"Write the lines {begin} and {_END} where they belong.")
    body = "\n".join(lines)
    write_whole(path, f"{before}{begin}\n{body}\n{_END}{after}")
