"""Looks for repairs of the deadlocks of random designs: ``make repairs``.

``python -m benchmarks.random_designs.repairs --designs 2000 --seed 0``. Prints how many designs can
deadlock, of how many of them each kind of change is the repair, for how many none was found, and
what it took. Each repair is tried again by the explorer alone; its exit code is 1 if one does not
hold.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from random import Random

from checkvalve.conformance.designs import check_design
from checkvalve.conformance.designs.text import repair_lines
from checkvalve.spec.design.check import Part, Settings, decide_deadlock, parts
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.repairs.change import Change, Scope
from checkvalve.spec.design.repairs.repair import repair
from checkvalve.spec.design.repairs.table import KINDS
from checkvalve.spec.design.why.findings import DesignReport, RepairStep, Way
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from .designs import random_design

BUDGET = Budget(max_states=3_000)


def main() -> int:
    """Look and print; 1 if a repair does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print each deadlock's repair")
    options = parser.parse_args()
    seen = Counter[str]()
    seconds: list[float] = []
    wrong = 0
    for number in range(options.seed, options.seed + options.designs):
        try:
            report = check_design(random_design(Random(number)), BUDGET)
        except InputError:  # more ways to move than can be listed
            continue
        finding = report.finding("deadlock-free")
        if finding.outcome is not Outcome.VIOLATED:
            continue
        began = time.process_time()
        found = repair(report)
        seconds.append(time.process_time() - began)
        kinds = [step.kind for step in found.steps]
        seen["deadlocks"] += 1
        seen["not the least, or not decided"] += not all(step.least for step in found.steps)
        seen[f"{len(kinds)} changes together"] += len(kinds) > 1
        seen["other ways besides"] += len(found.ways) > 1
        worst = max(kinds, key=ORDER.index) if kinds else (
            "none, cut short" if found.cut_short else "none, all tried")
        seen["repair: " + worst] += 1
        false = [step.change for way in found.ways for step in way.steps if not lives(report, way)]
        wrong += len(false)
        for sentence in false:
            print(f"design {number}: this does not help: {sentence}", flush=True)
        if options.show:
            print(f"design {number}:", *repair_lines(found), sep="\n", flush=True)
    for what, times in sorted(seen.items()):
        print(f"{times:8,}  {what}")
    seconds.sort()
    print(f"CPU: median {seconds[len(seconds) // 2]:.2f} s, "
          f"nine of ten {seconds[len(seconds) * 9 // 10]:.2f} s, most {seconds[-1]:.2f} s")
    return int(wrong > 0)


def explored(design: Design, budget: Budget | None = None) -> Outcome:
    """The explorer's own verdict on deadlock."""
    settings = Settings("explorer", budget or Budget())
    outcomes = {decide_deadlock(Part.of(part), settings).outcome for part in parts(design)}
    worst = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.HOLDS)
    return min(outcomes, key=worst.index)


def made(report: DesignReport, step: RepairStep) -> tuple[Change, int]:
    """The change that a sentence is about, and the index of its value."""
    scope = Scope(report.design, (), ())
    for change in KINDS[ORDER.index(step.kind)].find(scope):
        for index, value in enumerate(change.values):
            if change.says(value) == step.change:
                return change, index
    raise AssertionError(f"no such change: {step.change}")


def repaired_by(report: DesignReport, way: Way, fewer: int | None = None) -> Design:
    """The design with all changes of a way; of the one in the place ``fewer`` a little less."""
    design = report.design
    for place, step in enumerate(way.steps):
        change, index = made(report, step)
        design = change.done(design, change.values[index - (place == fewer)])
    return design


def lives(report: DesignReport, way: Way) -> bool:
    """True if the explorer, within a budget, finds nothing against a repair."""
    return explored(repaired_by(report, way), BUDGET) is not Outcome.VIOLATED


ORDER = [kind.name for kind in KINDS]

if __name__ == "__main__":
    sys.exit(main())
