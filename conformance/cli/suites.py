"""``checkvalve suites``: the suites, or what one of them asks and judges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from checkvalve.spec.notation.labels import counted

from .outcome import EXPECTED

if TYPE_CHECKING:
    from ..suites.system import System

__all__ = ["command"]


@click.command("suites")
@click.argument("names", nargs=-1, metavar="[SUITE]...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(names: tuple[str, ...], as_json: bool) -> int:
    """List the suites by subject; of each SUITE that is named, its operations and rules.

    A suite is what `checkvalve conform --suite SUITE` runs on an implementation: the operations
    of its port that an implementation offers, and the rules by which it is judged.
    """
    from ..systems.catalogue import SYSTEMS, system_of

    systems = [system_of(name) for name in names] or list(SYSTEMS.values())
    if as_json:
        document = {"suites": [_document(system, whole=bool(names)) for system in systems]}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
    elif names:
        for system in systems:
            for line in _described(system):
                click.echo(line)
    else:
        for line in _listed(systems):
            click.echo(line)
    return EXPECTED


def _listed(systems: Iterable[System]) -> Iterator[str]:
    for subject, group in groupby(systems, lambda system: system.subject):
        yield click.style(subject.capitalize(), bold=True)
        for system in group:
            by_name = "  (takes a Python class by its name)" if system.by_name else ""
            yield f"  {system.name:20} {system.about}{by_name}"
    yield "\n`checkvalve suites SUITE` says what one asks and judges."


def _described(system: System) -> Iterator[str]:
    port, suite = system.port, system.suite
    yield click.style(f"{system.name}: {system.about}", bold=True)
    yield (f"  version {suite.version}; {counted(system.cases, 'case')} in a default run; "
           f"its port: docs/{system.page}")
    yield "  operations:"
    for name, operation in port.operations.items():
        yield f"    {name:20} {operation.meaning}"
    yield "  rules:"
    for rule in suite.rules():
        yield f"    {rule.id:12} {rule.strength.value:7} {rule.statement}"
    yield f"  targets: {', '.join(each.name for each in system.shipped)}"
    yield f"  try it: checkvalve conform {system.reference.name}\n"


def _document(system: System, whole: bool) -> dict[str, Any]:
    """The document of a suite; ``whole``: with its operations and rules; their import takes
    a second for all suites."""
    known: dict[str, Any] = {
        "suite": system.name, "subject": system.subject, "about": system.about,
        "page": f"docs/{system.page}", "cases": system.cases, "by_name": bool(system.by_name),
        "targets": [each.name for each in system.shipped]}
    if whole:
        known["version"] = system.suite.version
        known["operations"] = {name: each.meaning for name, each in system.port.operations.items()}
        known["rules"] = [{"id": rule.id, "strength": rule.strength.value,
                           "statement": rule.statement} for rule in system.suite.rules()]
    return known
