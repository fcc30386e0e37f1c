"""Checks the explanations of the deadlocks of random designs: ``make explanations``.

``python -m benchmarks.random_designs.explanations --designs 20000 --seed 0``. Prints how many
designs there were, how many can deadlock, how many rows and cycles were checked, and each one that
is wrong; its exit code is 1 if one is.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from random import Random

from checkvalve.conformance.designs import check_design
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from .designs import random_design
from .explanation_judge import complaints

BUDGET = Budget(max_states=3_000)


def main() -> int:
    """Check and print; 1 if an explanation is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begun = time.process_time()
    seen = Counter[str]()
    wrong = 0
    for number in range(options.seed, options.seed + options.designs):
        try:
            report = check_design(random_design(Random(number)), BUDGET)
        except InputError:  # more ways to move than can be listed
            seen["refused"] += 1
            continue
        outcome = report.finding("deadlock-free").outcome
        seen[outcome.value] += 1
        if outcome is Outcome.VIOLATED:
            count(report, seen)
            faults = complaints(report)
            wrong += bool(faults)
            for fault in faults:
                print(f"design {number}: {fault}", flush=True)
    for what, times in sorted(seen.items()):
        print(f"{times:8,}  {what}")
    print(f"{wrong:8,}  wrong explanations; {time.process_time() - begun:.0f} s of CPU")
    return int(wrong > 0)


def count(report: DesignReport, seen: Counter[str]) -> None:
    """Count the rows and cycles of a report."""
    finding = report.finding("deadlock-free")
    seen["rows"] += len(finding.waits)
    seen["rows on nobody"] += sum(not wait.on for wait in finding.waits)
    seen["cycles" if finding.cycle else "deadlocks without a cycle"] += 1


if __name__ == "__main__":
    sys.exit(main())
