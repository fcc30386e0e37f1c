"""``checkvalve export``: a machine or a design in another tool's language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checkvalve.spec.notation.errors import InputError

from .options import parameters_given
from .outcome import EXPECTED

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["command"]


@click.command("export")
@click.argument("what", metavar="MACHINE|DESIGN")
@click.option("--to", "language", type=click.Choice(["tla", "promela"]), required=True,
              help="tla: a machine of the rule book for TLC; promela: a design for SPIN.")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE",
              help="A parameter's value, in place of the file's; of a machine, a constant's.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Write the files into this folder instead of printing them.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    what: str, language: str, given: tuple[str, ...], out: Path | None, as_json: bool
) -> int:
    """Write a machine or a design in the language of another model checker.

    With --to tla, MACHINE is one of the rule book, such as flow.credit.Link: a TLA+ module and its
    configuration for TLC. With --to promela, DESIGN is a file in any format that check reads: a
    model for SPIN; its invalid end states are the deadlocks of the design; each connected part
    of the design is a model of its own.
    """
    files = _tla(what, given) if language == "tla" else _promela(what, given)
    if language == "promela" and len(files) > 1 and out is None and not as_json:
        raise InputError(f"the design has {len(files)} parts without a link or pool in common, "
                         "and each is a model", what, "Give a folder for them: --out DIR.")
    if out is not None:
        from ..computer.files import write_whole
        for name, text in files.items():
            write_whole(out / name, text)
    if as_json:
        click.echo(json.dumps({"of": what, "to": language, "files": dict(files)}, indent=1))
    elif out is None:
        for name, text in files.items():
            click.echo(_as_comment(name, text) if name.endswith(".cfg") else text)
    return EXPECTED


def _tla(machine: str, given: tuple[str, ...]) -> Mapping[str, str]:
    """By name, the module and its configuration."""
    from checkvalve.spec.chapters import machine_named
    from checkvalve.spec.engines.tla import export
    from checkvalve.spec.notation import bind

    found = machine_named(machine)
    made = export(bind(found, **dict(map(_constant, given))))
    return {f"{made.name}.tla": made.tla, f"{made.name}.cfg": made.cfg}


def _constant(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not name or not value.strip().lstrip("-").isdigit():
        raise click.UsageError(f"{text!r} is not of the form NAME=NUMBER")
    return name.strip(), int(value)


def _promela(design: str, given: tuple[str, ...]) -> Mapping[str, str]:
    """By name, a model for each connected part."""
    from checkvalve.spec.design.check import parts
    from checkvalve.spec.design.drawing.promela import promela
    from checkvalve.spec.design.loader import only
    from checkvalve.spec.design.net.builder import Aim
    from checkvalve.spec.design.net.translate import translate

    from ..designs import load_designs
    loaded = only(load_designs(design, parameters_given(given)), design)
    if loaded.net_alone:
        raise InputError("a net that is checked without tasks and links cannot be exported",
                         str(design), "Use `checkvalve check`.")
    found = parts(loaded)
    models = {}
    for number, part in enumerate(found, 1):
        file = f"{loaded.name}.pml" if len(found) == 1 else f"{loaded.name}-{number}.pml"
        file = file.replace(" ", "-")
        models[file] = promela(translate(part, Aim()), loaded.name, file)
    return models


def _as_comment(name: str, text: str) -> str:
    """The configuration, after the module's end, where TLA+ ignores it."""
    return f"The configuration, {name}:\n\n{text}"
