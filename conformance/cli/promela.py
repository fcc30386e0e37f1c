"""``checkvalve promela``: a design as a Promela model, to confirm with SPIN."""

from __future__ import annotations

import json
from pathlib import Path

import click

from checkvalve.spec.notation.errors import InputError

from .options import parameters_given
from .outcome import EXPECTED

__all__ = ["command"]


@click.command("promela")
@click.argument("design")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE",
              help="A parameter's value, in place of the file's.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False),
              help="Write NAME.pml to this folder instead of printing it; NAME-1.pml and so on for "
                   "a design of several parts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(design: str, given: tuple[str, ...], out: Path | None, as_json: bool) -> int:
    """Print DESIGN, a file in any format that check reads, as a model for SPIN.

    An invalid end state of the model is a deadlock of the design. Each connected part of a design
    is a model of its own.
    """
    from checkvalve.spec.design.check import parts
    from checkvalve.spec.design.loader import only
    from checkvalve.spec.design.drawing.promela import promela
    from checkvalve.spec.design.net.builder import Aim
    from checkvalve.spec.design.net.translate import translate

    from ..designs import load_designs
    from ..computer.files import write_whole
    loaded = only(load_designs(design, parameters_given(given)), design)
    found = parts(loaded)
    if len(found) > 1 and out is None and not as_json:
        raise InputError(f"the design has {len(found)} parts without a link or pool in common, "
                         "and each is a model", design, "Give a folder for them: --out DIR.")
    models = {}
    for number, part in enumerate(found, 1):
        file = f"{loaded.name}.pml" if len(found) == 1 else f"{loaded.name}-{number}.pml"
        file = file.replace(" ", "-")
        models[file] = promela(translate(part, Aim()), loaded.name, file)
    for file, text in models.items():
        if out is not None:
            write_whole(out / file, text)
        elif not as_json:
            click.echo(text, nl=False)
    if as_json:
        click.echo(json.dumps({"design": loaded.name, "models": models}, indent=1))
    return EXPECTED
