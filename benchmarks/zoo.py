"""``python -m benchmarks.zoo`` (``make zoo``): what a default run says of each twin, by suite.

It is ``checkvalve zoo --default``, which keeps what it found in docs/zoo/default.json, a suite
when it is known: a run that was ended continues where it was, and only the twins are run that are
new. ``--again`` runs all. The table is put into docs/zoo.md. Exit codes: 0 all twins are named, or
argued to be equivalent; 1 not so; 64 bad usage.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final

import click

from checkvalve.conformance.cli.outcome import EXPECTED, VIOLATED, run
from checkvalve.conformance.computer.files import write_whole
from checkvalve.conformance.systems.catalogue import SYSTEMS, selected
from checkvalve.conformance.zoo.default_run import EQUIVALENT, NAMED, find

from .published import machine, publish, table

__all__ = ["MADE", "command", "known", "main", "rows_of"]

PROGRAM = "python -m benchmarks.zoo"
_DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
MADE: Final = _DOCS / "zoo" / "default.json"

_VERDICTS: Final = ("named", "found otherwise", "missed", "equivalent")

Found = dict[str, dict[str, Any]]
"""By twin, what its default run said."""


@click.command()
@click.option("--only", "suites", multiple=True, metavar="SUITE",
              help="Only this suite, or those below it; repeatable.")
@click.option("--again", is_flag=True, help="Run the twins that there are, too.")
@click.option("--max-seconds", type=float, default=float("inf"),
              help="Begin no twin after this many seconds.")
def command(suites: tuple[str, ...], again: bool, max_seconds: float) -> int:
    """Run what a user's default run is, on each twin that was not run yet."""
    began, found = time.monotonic(), dict(known())
    for system in selected(suites):
        before = {} if again else found.get(system.name, {})
        found[system.name] = {name: before[name] for name in system.twins if name in before}
        for name in system.twins:
            if name in before or time.monotonic() - began > max_seconds:
                continue
            found[system.name][name] = _said(name)
            _keep(found)
        verdicts = Counter(said["verdict"] for said in found[system.name].values())
        click.echo(f"{system.name}: {dict(verdicts)}, {time.monotonic() - began:.0f} s")
        publish(_DOCS / "zoo.md", "make zoo", [*_lines(found)])
    said_well = all(said["verdict"] in (NAMED, EQUIVALENT)
                    for twins in found.values() for said in twins.values())
    return EXPECTED if said_well else VIOLATED


def _said(name: str) -> dict[str, Any]:
    """What the default run says of a twin; how long it takes is none of the table's business."""
    said = find(name)
    return {"verdict": said.verdict, "steps": said.fixture and said.fixture.length,
            "first": said.first}


def known() -> Mapping[str, Found]:
    """By suite and twin, what was found; nothing of what was not run."""
    if not MADE.is_file():
        return {}
    found: Mapping[str, Found] = json.loads(MADE.read_text(encoding="utf-8"))["twins"]
    return found


def _keep(found: Mapping[str, Found]) -> None:
    # A line for each twin: so a change of one is seen as that of one.
    suites = (f'"{name}": {{\n' + ",\n".join(
        f"{json.dumps(twin)}: {json.dumps(said)}" for twin, said in found[name].items()) + "\n}"
        for name in SYSTEMS if name in found)
    write_whole(MADE, '{"seed": 0, "twins": {\n' + ",\n".join(suites) + "\n}}\n")


def rows_of(found: Mapping[str, Found]) -> Iterator[tuple[str, ...]]:
    """The rows of the table: a suite each, and one for all of them."""
    yield ("suite", "twins", *_VERDICTS, "steps, median", "first failure in case, median and last")
    for name, twins in found.items():
        if twins:
            yield _row(f"`{name}`", twins.values())
    yield _row("all", [said for twins in found.values() for said in twins.values()])


def _row(name: str, found: Any) -> tuple[str, ...]:
    verdicts = Counter(said["verdict"] for said in found)
    steps = [said["steps"] for said in found if said["steps"] is not None]
    first = [said["first"] for said in found if said["first"]]
    return (name, str(len(found)), *(str(verdicts[verdict]) for verdict in _VERDICTS),
            f"{median(steps):g}" if steps else "",
            f"{median(first):g}, {max(first)}" if first else "")


def _lines(found: Mapping[str, Found]) -> Iterator[str]:
    yield from table([*rows_of({name: found[name] for name in SYSTEMS if name in found})])
    missing = [f"`{twin}`" for name, system in SYSTEMS.items() for twin in system.twins
               if twin not in found.get(name, {})]
    yield ""
    if missing:
        yield f"Not run: {', '.join(missing)}."
        yield ""
    yield f"Made by `make zoo`, with the seed 0, on {machine()}."


def main() -> int:
    """The program, with this process's arguments."""
    return run(command, sys.argv[1:], PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
