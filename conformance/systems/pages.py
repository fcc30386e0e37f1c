"""The tables and figures of README.md and docs/ that tell of systems, made of the records; and the
one of docs/design-language.md that tells how long the checker of certificates is.

A block between ``<!-- made: NAME of SYSTEM -->`` and ``<!-- made. -->`` is that table; around it is
prose. A system whose port has no block yet gets a section at the end of its page.
``python -m checkvalve.conformance.systems.pages`` (``make pages``) writes them all.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from checkvalve.spec.certify.roles import table as checker_table

from ..files import write_whole
from ..ports.tables import operations_table, policies_table, settings_table
from ..suites.capacities import capacities_table
from ..suites.system import System
from .catalogue import SYSTEMS, system_of

__all__ = ["main", "stale_pages", "suites_table"]

_BLOCK: Final = re.compile(
    r"(<!-- made: (?P<what>[a-z]+)(?: of (?P<system>[\w.]+))? -->\n).*?(?=<!-- made\. -->)",
    re.DOTALL)
_END: Final = "<!-- made. -->"


def suites_table() -> str:
    """One row a system: its suite, what that tests, and what comes with checkvalve."""
    rows = ["| suite | what it tests | comes with |", "|---|---|---|"]
    return "\n".join(rows + [_suite_row(system) for system in SYSTEMS.values()])


def _suite_row(system: System) -> str:
    names = ", ".join(f"`{each.name}`" for each in system.shipped)
    return f"| [`{system.name}`](docs/{system.page}) | {system.about} | {names} |"


def _port_tables(system: System) -> str:
    tables = (settings_table, operations_table, policies_table)
    return "\n\n".join(table(system.port) for table in tables)


_OF_A_SYSTEM: Final[Mapping[str, Callable[[System], str]]] = {
    "port": _port_tables,
    "capacities": lambda system: capacities_table(system.suite),
}


def stale_pages(root: Path) -> dict[Path, str]:
    """The pages and figures below ``root`` that are not as the records have them, with the right
    text."""
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    made = {page: _BLOCK.sub(_made, text) for page, text in texts.items()}
    for system in SYSTEMS.values():
        for what in _OF_A_SYSTEM:
            head = _head(what, system)
            if not any(head in text for text in made.values()):
                page = root / "docs" / system.page
                made[page] = f"{made.get(page, '')}\n{_section(what, system)}"
    for name, figure in (drawn for system in SYSTEMS.values() for drawn in system.figures.items()):
        path = root / "docs" / "figures" / name
        texts[path] = path.read_text(encoding="utf-8") if path.is_file() else ""
        made[path] = figure
    return {page: text for page, text in made.items() if text != texts.get(page)}


def _made(block: re.Match[str]) -> str:
    if block["what"] == "suites":
        return f"{block[1]}\n{suites_table()}\n\n"
    if block["what"] == "checker":
        return f"{block[1]}\n{checker_table()}\n\n"
    return f"{block[1]}\n{_OF_A_SYSTEM[block['what']](system_of(block['system']))}\n\n"


def _head(what: str, system: System) -> str:
    return f"<!-- made: {what} of {system.name} -->"


def _section(what: str, system: System) -> str:
    title = f"The {what} of `{system.name}`"
    table = _OF_A_SYSTEM[what](system)
    return f"## {title}\n\n{_head(what, system)}\n\n{table}\n\n{_END}\n"


def main() -> int:
    """Write what is stale below the current folder, and say what that was."""
    for page, text in stale_pages(Path.cwd()).items():
        write_whole(page, text)
        print(f"{page.name} is written anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())
