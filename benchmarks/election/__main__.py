"""Real elections, all targets by all rules: the matrix of docs/election.md, with its traces.

``python -m benchmarks.election`` (``make election``) starts each system on
loopback, puts it through the scenarios of ``systems/election/scenarios``, and judges what was seen
by the suite's machine. It runs in real time, for a quarter of an hour. With ``--publish FOLDER`` it
writes the page and the fixtures there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checkvalve.conformance.computer.files import write_whole
from checkvalve.conformance.systems.catalogue import system_of

from .page import page
from .runs import Row, fill_all

__all__ = ["main"]


def main() -> int:
    """Run all, print the matrix, publish it if asked to; 1 if a scenario came to no end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", metavar="TARGET", help="only this one")
    parser.add_argument("--jobs", type=int, default=1, help="services that run at one time")
    parser.add_argument("--publish", type=Path, metavar="FOLDER", help="write election.md there")
    options = parser.parse_args()
    system = system_of("election")
    known = [each.name for each in system.shipped]
    wrong = [name for name in options.only or () if name not in known]
    if wrong:
        parser.error(f"there is no target {wrong[0]}; there are {', '.join(known)}")
    rows = [Row(name) for name in known if not options.only or name in options.only]
    families: dict[str, list[Row]] = {}
    for row in rows:
        families.setdefault(_family(row.target), []).append(row)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(fill_all, families.values()))
    for row in rows:
        print(f"{row.target:36} " + " ".join(
            f"{rule.id}: {row.cell(rule.id)};" for rule in system.suite.rules()))
    if options.publish is not None:
        _publish(rows, options.publish)
    return int(any(row.failed for row in rows))


def _family(target: str) -> str:
    """Those that share a service, and so go one after the other."""
    name = target.partition(".")[0]
    return "zookeeper" if name in ("kazoo", "curator") else name


def _publish(rows: Sequence[Row], folder: Path) -> None:
    rules = system_of("election").suite.rules()
    write_whole(folder / "election.md", page(rows, rules))
    for row in rows:
        for rule, broken in row.broken.items():
            write_whole(folder / "election" / f"{row.target}-{rule}.json",
                        broken.fixture.to_json())


if __name__ == "__main__":
    sys.exit(main())
