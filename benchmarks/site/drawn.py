"""The designs of a page, drawn: each whole design in its text, and each file that it shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from checkvalve.conformance.designs import check_design, load_file
from checkvalve.spec.design.check import Settings
from checkvalve.spec.design.drawing.svg import draw
from checkvalve.spec.design.formats.files import load_any
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.verdicts.verdict import Budget

__all__ = ["with_drawings"]

_TEXT: Final = re.compile(r"```yaml\n(checkvalve: 2\n.*?)```\n", re.DOTALL)
"""A design that stands whole in a page."""

_FILE: Final = re.compile(r"^\[`[\w./-]+`\]\(\.\./(examples/[\w./-]+\.yaml)\)$", re.MULTILINE)
"""A link to a file of a design that stands alone in its line: the site has it drawn below."""


def with_drawings(name: str, text: str, root: Path, source: Path) -> str:
    """A page of docs/ with the drawings of its designs, which are written below ``source``."""
    drawn: dict[str, str] = {}
    stem = name.removesuffix(".md").replace("/", "-")

    def of_text(found: re.Match[str]) -> str:
        (design, *_) = load_any(found[1], name)
        return found[0] + _drawing(design, f"{stem}-{len(drawn) + 1}", drawn, name)

    def of_file(found: re.Match[str]) -> str:
        design = load_file(root / found[1])
        return f"{found[0]}\n{_drawing(design, f'{stem}-{len(drawn) + 1}', drawn, name)}"

    text = _FILE.sub(of_file, _TEXT.sub(of_text, text))
    _write(drawn, source)
    return text


def _drawing(design: Design, picture: str, drawn: dict[str, str], page: str) -> str:
    """The line of a page that shows the drawing of a design; ``drawn`` gets its text."""
    report = check_design(design, settings=Settings(budget=Budget(max_seconds=10.0)))
    drawn[picture] = draw(report)
    cycle = any(finding.cycle for finding in report.findings)
    what = "the tasks and queues" + (", with the cycle of waits in red" if cycle else "")
    return f"\n![{design.name}: {what}]({'../' * page.count('/')}drawn/{picture}.svg)\n"


def _write(drawn: Mapping[str, str], source: Path) -> None:
    for name, picture in drawn.items():
        path = source / "drawn" / f"{name}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(picture, encoding="utf-8")
