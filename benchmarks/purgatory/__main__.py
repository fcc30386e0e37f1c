"""``python -m benchmarks.purgatory``: measure, print, and write the figure.

Exit codes: 0 all was measured, whatever the figures are; 64 bad usage.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import click

from checkvalve.conformance.cli.outcome import EXPECTED, run
from checkvalve.conformance.computer.files import write_whole
from checkvalve.spec.notation.errors import InputError

from .plot import draw
from .report import aim_lines, document, heading, line, machine
from .rows import Plan, Row, aims, real_rows, virtual_rows
from .workload import Settings

__all__ = ["command", "main"]

QUICK = Plan(requests=10_000, rates=(2_000, inf), repeats=1, limit=0.5, seconds=0.1)
MOST = 1_000_000_000
PROGRAM = "python -m benchmarks.purgatory"


def _rates(_context: click.Context, _option: click.Parameter, text: str) -> tuple[float, ...]:
    """Rates with commas between them; ``none`` is infinite."""
    words = [word.strip() for word in text.split(",")]
    rates = [inf if word == "none" else int(word) if word.isdecimal() else 0 for word in words]
    if not all(rate == inf or 1 <= rate <= MOST for rate in rates):
        raise click.BadParameter(f"{text!r} is not a list of rates: give whole numbers from 1 to "
                                 f"{MOST}, or none, with commas between them")
    return tuple(rates)


def _finite(_context: click.Context, _option: click.Parameter, number: float) -> float:
    if number != number:  # a range lets it through
        raise click.BadParameter("nan is not a number")
    return number


COUNT, SECONDS = click.IntRange(1, 100_000_000), click.FloatRange(0, 86_400, min_open=True)
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(context_settings={"show_default": True})
@click.option("--num", type=COUNT, default=Plan.requests, help="Requests in virtual time.")
@click.option("--rate", type=click.FloatRange(1, MOST), default=Plan.rate, callback=_finite,
              help="Arrivals a second in virtual time.")
@click.option("--rates", callback=_rates, default=",".join(
    "none" if rate == inf else f"{rate:.0f}" for rate in Plan.rates),
    help="Target rates in real time; none: as fast as it goes.")
@click.option("--seconds", type=SECONDS, default=Plan.seconds, callback=_finite,
              help="Each run in real time.")
@click.option("--limit", type=SECONDS, default=Plan.limit, callback=_finite,
              help="Stops a run in virtual time after so many processor seconds.")
@click.option("--repeats", type=COUNT, default=Plan.repeats, help="Runs of each, in turn.")
@click.option("--timeout", type=COUNT, default=Settings.timeout, help="Of a request, ms.")
@click.option("--tick", type=COUNT, default=Settings.tick, help="Of the lowest wheel, ms.")
@click.option("--wheel-size", type=click.IntRange(2, 65_536), default=Settings.wheel_size,
              help="Buckets of a wheel.")
@click.option("--keys", type=COUNT, default=Settings.keys, help="Keys that a request watches.")
@click.option("--key-space-size", type=COUNT, default=Settings.key_space_size,
              help="From which they are drawn, once.")
@click.option("--size", type=click.IntRange(0, 1_000_000), default=Settings.size,
              help="Bytes of a request.")
@click.option("--purge-interval", type=click.IntRange(min=0), default=Settings.purge_interval,
              help="Completed requests on the watcher lists that are put up with.")
@click.option("--seed", type=click.IntRange(min=0), default=Settings.seed, help="Of all draws.")
@click.option("--virtual/--no-virtual", default=True, help="Measure in virtual time.")
@click.option("--real/--no-real", default=True, help="Measure in real time.")
@click.option("--quick", is_flag=True, help="All in a second or two; the figures mean nothing.")
@click.option("--json", "json_path", type=_FILE, help="Write all figures there.")
@click.option("--svg", "svg_path", type=_FILE, help="Draw those of real time there.")
def command(
    num: int, rate: float, rates: tuple[float, ...], seconds: float, limit: float, repeats: int,
    virtual: bool, real: bool, quick: bool, json_path: Path | None, svg_path: Path | None,
    **settings: int,
) -> int:
    """Measure the new and the old request purgatory, and asyncio's timers."""
    if svg_path is not None and not real:
        raise InputError("--svg draws the runs in real time, and there are none", "",
                         "Leave out --svg or --no-real.")
    for path in (json_path, svg_path):
        if path is not None and not path.parent.is_dir():
            raise InputError("there is no such folder", str(path.parent), "Make it first.")
    plan = Plan(num, rate, rates, repeats, limit, seconds, Settings(**settings))
    if quick:
        plan = replace(QUICK, settings=plan.settings)
    rows = _measure(plan, virtual, real)
    reached = list(aims(rows, plan))
    print("", *aim_lines(reached), sep="\n")
    found = document(plan, rows, reached)
    if json_path is not None:
        write_whole(json_path, json.dumps(found, indent=2) + "\n")
    if svg_path is not None:
        write_whole(svg_path, draw(found))
    return EXPECTED


def _measure(plan: Plan, virtual: bool, real: bool) -> list[Row]:
    """Measure what was asked for and print each row when it is there."""
    print(", ".join(f"{what} {name}" for what, name in machine().items()), flush=True)
    rows: list[Row] = []
    parts: list[tuple[str, Iterable[Row]]] = []
    if virtual:
        parts.append(("virtual time", virtual_rows(plan)))
    if real:
        parts.append(("real time", real_rows(plan)))
    for mode, of in parts:
        print("\n" + heading(mode), flush=True)
        for row in of:
            print(line(row, plan), flush=True)
            rows.append(row)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, and leave the process with the exit code."""
    sys.exit(run(command, list(sys.argv[1:] if arguments is None else arguments), PROGRAM))


if __name__ == "__main__":
    main()
