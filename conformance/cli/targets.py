"""``checkvalve targets``: the implementations that come with checkvalve."""

from __future__ import annotations

import json

import click

from .outcome import EXPECTED

__all__ = ["command"]


@click.command("targets")
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option("--twins", is_flag=True, help="List also the twins: references with one seeded bug.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(suites: tuple[str, ...], twins: bool, as_json: bool) -> int:
    """List what comes with checkvalve to run a suite on, by suite (all if none is named).

    A target of yours has one of the forms thread:package.module:Class,
    asyncio:package.module:Class, python:package.module:factory, or command:PROGRAM ARGUMENTS.
    """
    from ..systems.catalogue import SYSTEMS, system_of
    from ..systems.targets import known_targets

    systems = [system_of(name) for name in suites] or list(SYSTEMS.values())
    found = {
        system.name: {name: about for name, about in known_targets(system.name).items()
                      if twins or not name.startswith("zoo:")}
        for system in systems}
    if as_json:
        click.echo(json.dumps({"suites": found}, indent=1, ensure_ascii=False))
        return EXPECTED
    for suite, targets in found.items():
        click.echo(click.style(suite, bold=True))
        for name, about in targets.items():
            click.echo(f"  {name:34} {about}")
    return EXPECTED
