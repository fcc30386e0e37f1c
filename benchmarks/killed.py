"""``python -m benchmarks.killed`` (``make killed``): which rules each twin breaks, by suite.

Each twin runs the first cases of its suite's default run, all rules in focus in turn, and nothing
is told of its own rule. docs/zoo/killed.json has all the rules that it then breaks; the site's
page of the twins draws it as a grid. A suite is written when it is known, so that a run which was
ended continues where it was; ``--again`` runs those that there are, too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from checkvalve.conformance.computer.files import write_whole
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.suites.system import System
from checkvalve.conformance.systems.catalogue import SYSTEMS

__all__ = ["CASES", "MADE", "broken_rules", "known", "main"]

CASES: Final = 4
"""Cases of a twin: each tries some twenty programs."""

MADE: Final = Path(__file__).resolve().parent.parent / "docs" / "zoo" / "killed.json"

Killed = Mapping[str, Mapping[str, list[str]]]


def broken_rules(suite: str, twin: str) -> list[str]:
    """The rules that are seen broken, those included that may follow from others."""
    summary, _ = conduct(f"zoo:{twin}", Order(suite, CASES))
    broken = {*summary.those("violated"), *summary.those("follows")}
    return [rule.id for rule in SYSTEMS[suite].suite.rules() if rule.id in broken]


def known() -> Killed:
    """By suite and twin, the rules that were seen broken; nothing of what was not run."""
    if not MADE.is_file():
        return {}
    found: Killed = json.loads(MADE.read_text(encoding="utf-8"))["broken"]
    return found


def main() -> int:
    """Run the suites that are missing, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", metavar="SUITE", help="only this one")
    parser.add_argument("--again", action="store_true", help="run suites that there are, too")
    parser.add_argument("--max-seconds", type=float, default=float("inf"),
                        help="begin no suite after this many seconds")
    options = parser.parse_args()
    began, found = time.monotonic(), dict(known())
    for name, system in sorted(SYSTEMS.items(), key=_effort):
        if (options.only and name not in options.only) or (name in found and not options.again):
            continue
        if time.monotonic() - began > options.max_seconds:
            break
        found[name] = {twin: broken_rules(name, twin) for twin in system.twins}
        MADE.parent.mkdir(exist_ok=True)
        document = {"cases": CASES, "seed": 0,
                    "broken": {name: found[name] for name in SYSTEMS if name in found}}
        write_whole(MADE, json.dumps(document, indent=0) + "\n")
        print(f"{name}: {len(found[name])} twins, {time.monotonic() - began:.0f} s", flush=True)
    return 0


def _effort(named: tuple[str, System]) -> int:
    return len(named[1].twins) * named[1].cases


if __name__ == "__main__":
    sys.exit(main())
