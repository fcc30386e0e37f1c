"""``checkvalve new``: a file to start from, which runs as it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

import click

from checkvalve.spec.notation.errors import InputError

from .outcome import EXPECTED

__all__ = ["STARTS", "Start", "command"]


@dataclass(frozen=True)
class Start:
    """A file to start from: its text, the usual name of the file, and what runs it."""

    text: str
    file: str
    runs: str

    def command(self, path: Path) -> str:
        """The command that runs a file of this kind."""
        return self.runs.format(file=path, stem=path.stem, folder=path.parent)


STARTS: Final = {
    "adapter": Start("adapter.py.txt", "my_adapter.py",
                     "checkvalve conform python:{stem}:Adapter --suite queue"),
    "design": Start("design.yaml", "my_design.yaml", "checkvalve check {file}"),
    "gate": Start("checkvalve.toml", "checkvalve.toml", "checkvalve gate {folder}"),
}
"""By kind, what there is to start from."""


@click.command("new")
@click.argument("kind", type=click.Choice([*STARTS]))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(kind: str, file: Path | None, as_json: bool) -> int:
    """Write a FILE to start from: an adapter of a queue, a design, or a gate's configuration.

    It runs as it is, by the command that is printed. A file that is there already is not changed.
    """
    from ..computer.files import write_whole

    start = STARTS[kind]
    path = Path(start.file) if file is None else file
    if path.exists():
        raise InputError(f"{path} is there already",
                         next_step=f"Name another file: checkvalve new {kind} FILE.")
    text = files(f"{__package__}.starts").joinpath(start.text).read_text(encoding="utf-8")
    write_whole(path, text)
    if as_json:
        click.echo(json.dumps({"file": str(path), "run": start.command(path)}, indent=1))
        return EXPECTED
    click.echo(f"Wrote {path}. Run it:\n\n    {start.command(path)}\n")
    return EXPECTED
