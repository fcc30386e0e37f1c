"""Pages made of records: the commands, the rules that twins break, the schemas."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import click

from checkvalve.conformance.cli import GROUPS, root as command_line
from checkvalve.conformance.suites.system import SUBJECTS, System
from checkvalve.conformance.systems.catalogue import SYSTEMS

from ..killed import CASES, known

__all__ = ["pages"]


def pages(root: Path, source: Path) -> dict[str, str]:
    """The pages by name."""
    return {
        "commands.md": "\n".join(_commands()),
        "killed.md": "\n".join(_killed()),
        "schemas.md": "\n".join(_schemas(root)),
    }


def _commands() -> Iterator[str]:
    """The help of each command, in the groups of ``checkvalve --help``."""
    yield "# Commands\n"
    yield "What `checkvalve COMMAND --help` prints, by what the commands are about.\n"
    top = click.Context(command_line, info_name="checkvalve", terminal_width=90,
                        max_content_width=90)
    for heading, group in GROUPS.items():
        yield f"## {heading}\n"
        for name in group:
            command = command_line.get_command(top, name)
            assert command is not None
            context = click.Context(command, info_name=name, parent=top, terminal_width=90,
                                    max_content_width=90)
            yield f"### checkvalve {name}\n\n```text\n{command.get_help(context)}\n```\n"


def _killed() -> Iterator[str]:
    """By suite and rule, the twins that break it."""
    yield "# Rules and the twins that break them\n"
    yield ("A *twin* is a sound implementation with one seeded bug. Each rule of a suite is "
           "broken by at least one of them, and a default run names it: `checkvalve zoo "
           "--default` repeats that, and [the zoo](zoo.md) has the figures.\n")
    yield ("In the grids, ● is the rule that a twin was made to break, and ○ another one that it "
           f"was seen to break in the first {CASES} cases of a default run: by the same bug, or "
           "because of what broke before. A number is that of the twin in the table below.\n")
    measured = known()
    for subject in SUBJECTS:
        for system in SYSTEMS.values():
            if system.subject == subject:
                yield from _killed_in(system, measured.get(system.name, {}))


def _killed_in(system: System, broken: Mapping[str, list[str]]) -> Iterator[str]:
    """The grid of a suite, and its twins in the order of the grid."""
    ordered = [name for rule in system.suite.rules() for name, twin in system.twins.items()
               if twin.rule == rule.id]
    yield f"## `{system.name}`\n"
    yield from _grid(system, ordered, broken)
    yield "\n| rule | twin | its bug | |\n|---|---|---|--:|"
    for number, name in enumerate(ordered, start=1):
        twin = system.twins[name]
        same = " (equivalent to its original)" if twin.equivalent else ""
        yield f"| {twin.rule} | `{name}` | {plain(twin.bug)}{same} | {number} |"
    yield ""


def _grid(
    system: System, ordered: Sequence[str], broken: Mapping[str, list[str]]
) -> Iterator[str]:
    """A row for each rule, a column for each twin. The twins are in the order of the rules, so
    their own marks go down in steps."""
    heads = "".join(f'<th title="{escape(name)}">{number}</th>'
                    for number, name in enumerate(ordered, start=1))
    yield f'<div class="grid"><table><thead><tr><th>twin</th>{heads}</tr></thead><tbody>'
    for rule in system.suite.rules():
        cells = "".join(_cell(rule.id, name, system.twins[name].rule, broken.get(name, ()))
                        for name in ordered)
        yield f"<tr><th>{rule.id}</th>{cells}</tr>"
    yield "</tbody></table></div>\n"
    left = [str(number) for number, name in enumerate(ordered, start=1) if name not in broken]
    if left:
        yield f"Which other rules these break was not measured: {', '.join(left)}.\n"


def _cell(rule: str, twin: str, own: str, broken: Collection[str]) -> str:
    mark = "●" if rule == own else "○" if rule in broken else ""
    title = f' title="{escape(twin)} breaks {rule}"' if mark else ""
    return f"<td{title}>{mark}</td>"


def _schemas(root: Path) -> Iterator[str]:
    """The schemas, and what they are about."""
    yield "# Schemas\n"
    yield ("JSON Schemas of what the commands print with `--json`, and of design files, whose "
           "schema comes with the package (`spec/design/schema.json`).\n")
    yield "| schema | of | has |\n|---|---|---|"
    for path in sorted((root / "docs" / "schemas").glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        keys = ", ".join(f"`{key}`" for key in schema.get("properties", {}))
        about = plain(schema.get("title") or schema.get("description") or "")
        yield f"| [{path.name}](schemas/{path.name}) | {about} | {keys} |"


def plain(text: str) -> str:
    """A text in a cell of a table, without marks of its own."""
    marked = " ".join(text.split())
    for mark in "\\*_<[|$":
        marked = marked.replace(mark, f"\\{mark}")
    return marked
