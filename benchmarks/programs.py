"""How many programs a second the suites run: the cases of a default run of each on its reference.

Processor seconds of this process, so other work on the machine counts for little; each suite is
run in a process of its own, where nothing is remembered from another, and again in the same
process, where what the judge has learnt is used again. Cases of one long program are counted apart,
in requests. ``make bench`` prints it too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.places import is_long
from checkvalve.conformance.computer.collecting import collecting_rarely
from checkvalve.conformance.suites.results import CaseRow
from checkvalve.conformance.suites.suite import AnySuite
from checkvalve.conformance.systems.catalogue import SYSTEMS, suite_named
from checkvalve.conformance.systems.targets import reference_of

__all__ = ["main", "programs_of"]

RUNS = 3
CASES = 40
"""The places of a default run that no rule has to ask for."""
HEADINGS = ("suite", "programs", "requests", "cpu s", "programs/s", "again", "requests/s", "long/s")
WIDTHS = (20, 9, 9, 8, 11, 8, 11, 9)


@dataclass(frozen=True)
class Measured:
    """The first places of a default run: ``programs`` and their ``requests`` in the short cases,
    the processor ``seconds`` of these in a first run, and when they are run ``again``; of the long
    programs the requests and the seconds."""

    programs: int
    requests: int
    seconds: float
    again: float
    long_requests: int
    long_seconds: float


def programs_of(suite: AnySuite, row: CaseRow, settings: RunSettings) -> int:
    """How many programs a short case has run, if it found nothing."""
    count = 0

    def drawn(_: object) -> None:
        nonlocal count
        count += 1
    can = json.loads(row.can)
    rules = suite.applicable(can)
    suite.explore(can, rules[row.case % len(rules)], row.seed, settings.programs, drawn)
    return count


def _measured(name: str) -> Measured:
    """The cases of a default run, each once and then again."""
    suite, settings, target = suite_named(name), RunSettings(), reference_of(name)
    passes: list[list[tuple[CaseRow, float]]] = []
    for _ in range(2):
        passes.append([])
        with collecting_rarely():
            for case in plan(name, cases=CASES, seed=0):
                before = time.process_time()
                row = run_case(name, target, case, settings)
                passes[-1].append((row, time.process_time() - before))
    short, long = [[(row, spent) for row, spent in passes[0] if is_long(row.case) == which]
                   for which in (False, True)]
    return Measured(
        sum(programs_of(suite, row, settings) for row, _ in short),
        sum(row.steps for row, _ in short), sum(spent for _, spent in short),
        sum(spent for row, spent in passes[1] if not is_long(row.case)),
        sum(row.steps for row, _ in long), sum(spent for _, spent in long))


def _apart(name: str) -> Measured:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.programs", "--one", name],
        stdout=subprocess.PIPE, check=True)
    return Measured(**json.loads(run.stdout))


def table(suites: Sequence[str], runs: int) -> None:
    """Measure some suites, and print a line for each: medians over the runs."""
    _show(HEADINGS)
    for name in suites:
        measured = [_apart(name) for _ in range(runs)]
        one = measured[0]
        first = median(each.seconds for each in measured)
        again = median(each.again for each in measured)
        long = median(each.long_seconds for each in measured)
        _show((name, f"{one.programs:,}", f"{one.requests:,}", f"{first:.2f}",
               f"{one.programs / first:,.0f}", f"{one.programs / again:,.0f}",
               f"{one.requests / first:,.0f}",
               f"{one.long_requests / long:,.0f}" if long else "-"))


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
        print(json.dumps(asdict(_measured(options.one))))
    else:
        table(options.suite or list(SYSTEMS), options.runs)


if __name__ == "__main__":
    main()
