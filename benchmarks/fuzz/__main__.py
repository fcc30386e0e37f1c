"""``python -m benchmarks.fuzz``: mutated inputs, from a seed; 1 if one fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import mkdtemp

import click

from checkvalve.conformance.adapters.host import limited_memory
from checkvalve.conformance.cli.outcome import EXPECTED, VIOLATED, run
from checkvalve.conformance.computer.streams import write_all

from .runner import Found, fuzz
from .subjects import SUBJECTS

__all__ = ["command"]

_HEADINGS = ("input", "inputs", "exit 0", "1", "2", "64", "69", "failed", "cpu s", "slowest s")


@click.command("fuzz")
@click.argument("subjects", nargs=-1, type=click.Choice(list(SUBJECTS)))
@click.option("--inputs", type=click.IntRange(1, 10_000_000), default=10_000, show_default=True,
              help="Inputs of each kind.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), default=0, show_default=True,
              help="The seed that all inputs come from.")
@click.option("--first", type=click.IntRange(0), default=0, show_default=True,
              help="The number of the first input, to run one again.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False),
              help="Leave the inputs that fail in this folder  [default: a temporary one]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    subjects: tuple[str, ...], inputs: int, seed: int, first: int, keep: Path | None,
    as_json: bool,
) -> int:
    """Feed mutated SUBJECTS (all if none is named), and count how they end.

    Exit code 1 if one ends in an internal error, a traceback or not at all, else 0.
    """
    folder = Path(mkdtemp(prefix="checkvalve-fuzz-")) if keep is None else keep
    every = []
    if not as_json:
        _show(_HEADINGS)
    with limited_memory():
        for name in subjects or SUBJECTS:
            own = folder / name     # what one kind of inputs leaves is no input of another
            own.mkdir(parents=True, exist_ok=True)
            found = fuzz(SUBJECTS[name], seed, range(first, first + inputs), own)
            every.append(found)
            if not as_json:
                _show(_row(found))
    failures = [failure for found in every for failure in found.failures]
    if as_json:
        click.echo(json.dumps([_document(found, seed) for found in every], indent=1))
    else:
        for failure in failures:
            click.echo(f"{failure.file}: {failure.what}")
    return VIOLATED if failures else EXPECTED


def _row(found: Found) -> tuple[object, ...]:
    return (found.name, found.codes.total(), *(found.codes[code] for code in (0, 1, 2, 64, 69)),
            len(found.failures), f"{found.cpu_seconds:.1f}", f"{found.slowest:.2f}")


def _show(cells: tuple[object, ...]) -> None:
    first, *rest = map(str, cells)
    click.echo(f"{first:9}" + "".join(f"{cell:>10}" for cell in rest))


def _document(found: Found, seed: int) -> dict[str, object]:
    return {
        "input": found.name, "seed": seed, "codes": {str(k): n for k, n in found.codes.items()},
        "failures": [{"number": failure.index, "what": failure.what, "file": str(failure.file)}
                     for failure in found.failures],
        "cpu_seconds": round(found.cpu_seconds, 1),
    }


if __name__ == "__main__":
    write_all()
    sys.exit(run(command, sys.argv[1:], "fuzz"))
