"""How many programs a second the suites run: the default run of each on its reference.

Processor seconds of this process, so other work on the machine counts for little; each suite is
run in a process of its own, where nothing is remembered from another, and again in the same
process, where what the judge has learnt is used again. ``make bench`` prints it too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import median

from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.suites.results import CaseRow
from checkvalve.conformance.suites.suite import AnySuite
from checkvalve.conformance.systems.catalogue import SYSTEMS, suite_named
from checkvalve.conformance.systems.targets import reference_of

__all__ = ["main", "programs_of"]

RUNS = 3
HEADINGS = ("suite", "programs", "cpu s", "programs/s", "again")
WIDTHS = (18, 10, 9, 12, 9)


def programs_of(suite: AnySuite, rows: Sequence[CaseRow], settings: RunSettings) -> int:
    """How many programs the cases of some rows have run, if none found anything."""
    count = 0

    def drawn(_: object) -> None:
        nonlocal count
        count += 1
    for row in rows:
        can = json.loads(row.can)
        rules = suite.applicable(can)
        suite.explore(can, rules[row.case % len(rules)], row.seed, settings.programs, drawn)
    return count


def _measured(name: str) -> tuple[int, float, float]:
    """The programs of the default run of a suite, and the processor seconds, twice in turn."""
    suite, settings = suite_named(name), RunSettings()
    seconds: list[float] = []
    rows: list[CaseRow] = []
    for _ in range(2):
        before = time.process_time()
        _, rows = conduct(reference_of(name), Order(name, settings=settings))
        seconds.append(time.process_time() - before)
    return programs_of(suite, rows, settings), seconds[0], seconds[1]


def _apart(name: str) -> tuple[int, float, float]:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.programs", "--one", name],
        stdout=subprocess.PIPE, check=True)
    programs, first, second = json.loads(run.stdout)
    return programs, first, second


def table(suites: Sequence[str], runs: int) -> None:
    """Measure some suites, and print a line for each: medians over the runs."""
    _show(HEADINGS)
    for name in suites:
        measured = [_apart(name) for _ in range(runs)]
        programs = measured[0][0]
        first = median(seconds for _, seconds, _ in measured)
        second = median(seconds for _, _, seconds in measured)
        _show((name, f"{programs:,}", f"{first:.2f}", f"{programs / first:,.0f}",
               f"{programs / second:,.0f}"))


def _show(cells: Sequence[str]) -> None:
    print("".join(cell.ljust(width) if place == 0 else cell.rjust(width)
                  for place, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))),
          flush=True)


def main() -> None:
    """Measure the suites that are named, or all, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", action="append", choices=sorted(SYSTEMS), help="only this one")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(_measured(options.one)))
    else:
        table(options.suite or list(SYSTEMS), options.runs)


if __name__ == "__main__":
    main()
