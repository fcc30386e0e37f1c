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

__all__ = ["STARTS", "Start", "command", "schema_text"]


@dataclass(frozen=True)
class Start:
    """A file to start from: its text, the usual name of the file, what runs it, and the schema
    that its first line names for editors, which is written beside it."""

    text: str
    file: str
    runs: str
    schema: str = ""
    names: str = ""

    def command(self, path: Path) -> str:
        """The command that runs a file of this kind."""
        return self.runs.format(file=path, stem=path.stem, folder=path.parent)


STARTS: Final = {
    "adapter": Start("adapter.py.txt", "my_adapter.py",
                     "checkvalve conform python:{stem}:Adapter --suite queue"),
    "design": Start("design.yaml", "my_design.yaml", "checkvalve check {file}",
                    "design.schema.json", "# yaml-language-server: $schema={}\n"),
    "gate": Start("checkvalve.toml", "checkvalve.toml", "checkvalve gate {folder}",
                  "checkvalve.schema.json", "#:schema ./{}\n"),
}
"""By kind, what there is to start from."""

_NO_DESIGNS: Final = '# [[designs]]\n# files = ["designs/*.yaml"]\n'
"""The part of a gate's start that stands for designs, where there are none yet."""

_BEGINNING: Final = 4096
"""The characters of a file in which the key of a design is looked for."""


@click.command("new")
@click.argument("kind", type=click.Choice([*STARTS, "schema"]))
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(kind: str, file: Path | None, as_json: bool) -> int:
    """Write a FILE to start from: an adapter of a queue, a design, or a gate's configuration.

    It runs as it is, by the command that is printed. A file that is there already is not changed.
    The first line of a design, and of a gate's configuration, names the JSON Schema that is written
    beside it: editors complete and check by it. A gate lists the designs that are in its folder, or
    in designs/. KIND schema writes both schemas into a folder.
    """
    from ..computer.files import write_whole

    if kind == "schema":
        return _schemas(Path() if file is None else file, as_json)
    start = STARTS[kind]
    path = Path(start.file) if file is None else file
    if path.exists():
        raise InputError(f"{path} is there already",
                         next_step=f"Name another file: checkvalve new {kind} FILE.")
    text = files(f"{__package__}.starts").joinpath(start.text).read_text(encoding="utf-8")
    if kind == "gate":
        text = _listing(text, path.parent)
    write_whole(path, start.names.format(start.schema) + text)
    if start.schema:
        _write_schema(path.parent / start.schema)
    if as_json:
        click.echo(json.dumps({"file": str(path), "run": start.command(path)}, indent=1))
        return EXPECTED
    click.echo(f"Wrote {path}. Run it:\n\n    {start.command(path)}\n")
    return EXPECTED


def _listing(text: str, folder: Path) -> str:
    """A gate's start that lists the designs which are in its folder already."""
    found = [path for path in sorted([*folder.glob("*.yaml"), *folder.glob("designs/*.yaml")])
             if _is_design(path)]
    if not found:
        return text
    names = ", ".join(json.dumps(path.relative_to(folder).as_posix()) for path in found)
    return text.replace(_NO_DESIGNS, f"[[designs]]\nfiles = [{names}]\n")


def _is_design(path: Path) -> bool:
    """True if the beginning of a file has the key that says so."""
    with path.open(encoding="utf-8", errors="replace") as stream:
        return any(line.startswith("checkvalve:") for line in stream.read(_BEGINNING).splitlines())


def _write_schema(path: Path) -> None:
    """Write a schema of this version, unless it is there."""
    from ..computer.files import write_whole

    text = schema_text(path.name)
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != text:
        write_whole(path, text)


def schema_text(name: str) -> str:
    """The JSON Schema that is written under a name, as it ships."""
    if name == STARTS["gate"].schema:
        from ..gate.schema import text
        return text()
    from checkvalve.spec.design.reading.schema import schema_text
    return schema_text()


def _schemas(folder: Path, as_json: bool) -> int:
    """Write all schemas into a folder."""
    paths = [folder / start.schema for start in STARTS.values() if start.schema]
    for path in paths:
        _write_schema(path)
    if as_json:
        click.echo(json.dumps({"files": [str(path) for path in paths]}, indent=1))
        return EXPECTED
    for path, start in zip(paths, (start for start in STARTS.values() if start.schema),
                           strict=True):
        click.echo(f"Wrote {path}. Name it in a first line:  {start.names.format(path.name)}",
                   nl=False)
    return EXPECTED
