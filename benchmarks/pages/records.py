"""The tables, conversations and figures of docs/ about systems, made of the records;
the table of docs/design-language.md that says how long the checker of certificates is, the one of
docs/awaits.md that lists what an adapter does with the event loop, the one of docs/by-name.md that
lists what the operations of a class are called, those of docs/suites.md and docs/drawn.md with what
programs draw, and the one of docs/sources/reactive.md with the rules of the specification.

A block between ``<!-- made: NAME of SYSTEM -->`` and ``<!-- made. -->`` is that table; around it is
prose. A system with a port that has no block yet gets a section at the end of its page.
``python -m benchmarks.pages`` (``make pages``) writes them all.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final

from checkvalve.conformance.computer.files import write_whole
from .tables import (
    fields_table, operations_table, policies_table, settings_table, words_table,
)
from checkvalve.conformance.suites.capacities import capacities_table
from checkvalve.conformance.suites.system import SUBJECTS, System
from checkvalve.conformance.systems.catalogue import SYSTEMS, system_of
from .conversations import conversation, in_lines, not_offered
from .drawn import drawn_table, styles_table
from checkvalve.reference.drivers.schedules import virtual_loop
from checkvalve.spec.chapters import chapters
from checkvalve.spec.reactive.specification import table_of_the_43
from checkvalve.spec.shelf import subject_of
from .roles import table as checker_table

__all__ = [
    "CHAPTERS", "anchor", "chapters_table", "loop_table", "main", "names_table", "stale_pages",
    "suites_table",
]

_BLOCK: Final = re.compile(
    r"(<!-- made: (?P<what>[a-z]+)(?: of (?P<system>[\w.]+))? -->\n).*?(?=<!-- made\. -->)",
    re.DOTALL)
_END: Final = "<!-- made. -->"

CHAPTERS: Final = "<!-- the chapters -->"
"""Where the site has the list of chapters: the tree is that list, so it is in no file."""


def suites_table(pages: Mapping[str, str]) -> str:
    """A table for each subject, with one row a system: its suite, the system under test, and the
    number of cases of a default run. What is run on which targets, the matrix has.

    ``pages`` are the texts of docs/ by name: a suite is linked to the section that has its port.
    """
    head = "| suite | what it tests | cases |\n|---|---|--:|"
    return "\n\n".join("\n".join([
        f"## {subject[:1].upper()}{subject[1:]}", "", head, *(
            _suite_row(system, pages.get(system.page, "")) for system in SYSTEMS.values()
            if system.subject == subject)]) for subject in SUBJECTS)


def chapters_table() -> str:
    """A table for each subject, with one row a chapter and what it is about."""
    head = "| chapter | what it is about |\n|---|---|"
    return "\n\n".join("\n".join([
        f"## {subject[:1].upper()}{subject[1:]}", "", head,
        *(f"| `{chapter.name}` | {chapter.about} |" for chapter in part)])
        for subject, part in groupby(chapters(), lambda chapter: subject_of(chapter.name)))


def _suite_row(system: System, page: str) -> str:
    place = f"{system.page}{anchor(page, _head('port', system))}"
    return f"| [`{system.name}`]({place}) | {system.about} | {system.cases} |"


def anchor(page: str, head: str) -> str:
    """The fragment of the last heading before a block, as GitHub makes it; empty without one."""
    titles = re.findall(r"^#+ (.*)$", page.partition(head)[0], re.MULTILINE)
    if head not in page or not titles:
        return ""
    kept = re.sub(r"[^\w\- ]", "", titles[-1].lower())
    return f"#{kept.replace(' ', '-')}"


def _port_tables(system: System) -> str:
    tables = (settings_table, operations_table, fields_table, words_table, policies_table)
    return "\n\n".join(table(system.port) for table in tables)


def _conversation(system: System) -> str:
    said = conversation(system)
    lacks = not_offered(system, said)
    told = f"What `{system.reference.name}` answers"
    if lacks:
        told += f"; it does not offer {' and '.join(f'`{each}`' for each in lacks)}"
    return f"{told}:\n\n```\n{in_lines(said)}\n```"


def loop_table() -> str:
    """One row a method of the loop in virtual time that an adapter calls, and an error of it."""
    rows = ["| of a `VirtualLoop` | is |", "|---|---|"]
    rows += [f"| `{name}{_signature(method)}` | {_in_a_line(method)} |"
             for name, method in vars(virtual_loop.VirtualLoop).items()
             if name in virtual_loop.DRIVEN_BY]
    errors = (virtual_loop.Unrest, virtual_loop.Deadlock)
    return "\n".join(rows + [
        f"| `{each.__name__}`, an error | {_in_a_line(each)} |" for each in errors])


def _signature(method: Callable[..., object]) -> str:
    signature = inspect.signature(method)
    without_self = signature.replace(parameters=[*signature.parameters.values()][1:])
    return str(without_self).replace("'", "")    # annotations are texts


def _in_a_line(method: Callable[..., object]) -> str:
    return " ".join((inspect.getdoc(method) or "").split()).replace("``", "`")


_OF_A_SYSTEM: Final[Mapping[str, Callable[[System], str]]] = {
    "port": _port_tables,
    "conversation": _conversation,
    "capacities": lambda system: capacities_table(system.suite),
}


def stale_pages(root: Path) -> dict[Path, str]:
    """The pages and figures below ``root`` that are not as the records have them, with the right
    text."""
    catalogue = root / "docs" / "suites.md"
    pages = sorted((root / "docs").glob("sources/*.md")) + sorted((root / "docs").glob("*.md"))
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    made = {page: _BLOCK.sub(_made, text) for page, text in texts.items() if page != catalogue}
    for system in SYSTEMS.values():
        for what in _OF_A_SYSTEM:
            head = _head(what, system)
            if not any(head in text for text in made.values()):
                page = root / "docs" / system.page
                made[page] = f"{made.get(page, '')}\n{_section(what, system)}"
    docs = {page.name: text for page, text in made.items() if page.parent.name == "docs"}
    made[catalogue] = _BLOCK.sub(
        lambda block: f"{block[1]}\n{suites_table(docs)}\n\n" if block["what"] == "suites"
        else _made(block), texts[catalogue])
    for name, figure in (drawn for system in SYSTEMS.values() for drawn in system.figures.items()):
        path = root / "docs" / "figures" / name
        texts[path] = path.read_text(encoding="utf-8") if path.is_file() else ""
        made[path] = figure
    return {page: text for page, text in made.items() if text != texts.get(page)}


def names_table() -> str:
    """One row an operation that a class is searched for: the names under which it is found."""
    rows = ["| suite | operation | found as |", "|---|---|---|"]
    for system in SYSTEMS.values():
        rows += [f"| `{system.name}` | `{each.name}`{'' if each.needed else ', if it has one'} | "
                 f"{', '.join(f'`{name}`' for name in each.usual)} |" for each in system.looked_for]
    return "\n".join(rows)


def _made(block: re.Match[str]) -> str:
    of_none = {"checker": checker_table, "loop": loop_table,
               "names": names_table, "specification": table_of_the_43,
               "drawn": drawn_table, "styles": styles_table}
    if block["what"] in of_none:
        return f"{block[1]}\n{of_none[block['what']]()}\n\n"
    return f"{block[1]}\n{_OF_A_SYSTEM[block['what']](system_of(block['system']))}\n\n"


def _head(what: str, system: System) -> str:
    return f"<!-- made: {what} of {system.name} -->"


def _section(what: str, system: System) -> str:
    title = f"The {what} of `{system.name}`"
    table = _OF_A_SYSTEM[what](system)
    return f"## {title}\n\n{_head(what, system)}\n\n{table}\n\n{_END}\n"


def main() -> None:
    """Write the stale pages below the current folder, and print their names."""
    for page, text in stale_pages(Path.cwd()).items():
        write_whole(page, text)
        print(f"{page.name} is written anew")
