"""Pages made of records: the commands, the rules that twins break, the schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from checkvalve.conformance.cli import GROUPS, root as command_line
from checkvalve.conformance.suites.system import SUBJECTS, System
from checkvalve.conformance.systems.catalogue import SYSTEMS

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
    for subject in SUBJECTS:
        for system in SYSTEMS.values():
            if system.subject == subject:
                yield from _killed_in(system)


def _killed_in(system: System) -> Iterator[str]:
    yield f"## `{system.name}`\n\n| rule | twin | its bug |\n|---|---|---|"
    for rule in system.suite.rules():
        for name, twin in system.twins.items():
            if twin.rule == rule.id:
                same = " (equivalent to its original)" if twin.equivalent else ""
                yield f"| {rule.id} | `{name}` | {plain(twin.bug)}{same} |"
    yield ""


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
