"""``checkvalve tla``: a machine of the rule book as a TLA+ module, to confirm with TLC."""

from __future__ import annotations

import json
from pathlib import Path

import click

from .outcome import EXPECTED

__all__ = ["command"]


@click.command("tla")
@click.argument("machine")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="A constant's value in the configuration; may be given several times.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False),
              help="Write NAME.tla and NAME.cfg to this folder instead of printing them.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(machine: str, settings: tuple[str, ...], out: Path | None, as_json: bool) -> int:
    """Print MACHINE, such as flow.credit.Link, as a TLA+ module with its TLC configuration."""
    from checkvalve.spec.chapters import machine_named
    from checkvalve.spec.engines.tla import export
    from checkvalve.spec.notation import bind

    from ..computer.files import write_whole
    made = export(bind(machine_named(machine), **dict(map(_setting, settings))))
    files = {f"{made.name}.tla": made.tla, f"{made.name}.cfg": made.cfg}
    for name, text in files.items():
        if out is not None:
            write_whole(out / name, text)
        elif not as_json:
            click.echo(text if name.endswith(".tla") else _as_comment(name, text))
    if as_json:
        document = {"machine": machine, "name": made.name, "tla": made.tla, "cfg": made.cfg}
        click.echo(json.dumps(document, indent=1))
    return EXPECTED


def _setting(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not name or not value.strip().lstrip("-").isdigit():
        raise click.UsageError(f"{text!r} is not of the form NAME=NUMBER")
    return name.strip(), int(value)


def _as_comment(name: str, text: str) -> str:
    """The configuration, after the module's end, where TLA+ ignores it."""
    return f"The configuration, {name}:\n\n{text}"
