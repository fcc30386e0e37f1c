"""Looks for repairs of the deadlocks of random designs: ``make repairs``.

``python tests/repairs.py --designs 2000 --seed 0``. Prints how many designs could get stuck, of how
many of them each kind of change is the repair, for how many none was found, and what it took. Each
repair is tried again by the explorer alone; its exit code is 1 if one does not hold.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from random import Random

from random_designs import random_design

from checkvalve.conformance.designs import check_design
from checkvalve.conformance.designs.text import repair_lines
from checkvalve.spec.design.changes import KINDS, Change, Scope
from checkvalve.spec.design.check import Part, Settings, decide_deadlock, parts
from checkvalve.spec.design.findings import DesignReport, RepairStep
from checkvalve.spec.design.language import Design
from checkvalve.spec.design.repair import repair
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

BUDGET = Budget(max_states=3_000)


def main() -> int:
    """Look and print."""
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
        finding = report.finding("deadlock")
        if finding.outcome is not Outcome.VIOLATED:
            continue
        began = time.process_time()
        found = repair(report.design, finding)
        seconds.append(time.process_time() - began)
        kinds = [step.kind for step in found.steps]
        seen["deadlocks"] += 1
        seen["not the least, or not decided"] += not all(step.least for step in found.steps)
        seen["several parts"] += len(kinds) > 1
        worst = max(kinds, key=ORDER.index) if kinds else (
            "none, cut short" if found.cut_short else "none, all tried")
        seen["repair: " + worst] += 1
        false = [step.change for step in found.steps if not lives(report, step)]
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
    """What the explorer alone says of a deadlock."""
    settings = Settings("explorer", budget or Budget())
    outcomes = {decide_deadlock(Part.of(part), settings).outcome for part in parts(design)}
    worst = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.HOLDS)
    return min(outcomes, key=worst.index)


def made(report: DesignReport, step: RepairStep) -> tuple[Change, int]:
    """The change that a sentence is about, and the index of its value."""
    for part in parts(report.design):
        scope = Scope(part, report.finding("deadlock").waits)
        for change in KINDS[ORDER.index(step.kind)].find(scope):
            for index, value in enumerate(change.values):
                if change.says(value) == step.change:
                    return change, index
    raise AssertionError(f"no such change: {step.change}")


def lives(report: DesignReport, step: RepairStep) -> bool:
    """Whether the explorer, within a budget, has nothing against a step of a repair."""
    change, index = made(report, step)
    return explored(change.done(change.values[index]), BUDGET) is not Outcome.VIOLATED


ORDER = [kind.name for kind in KINDS]

if __name__ == "__main__":
    sys.exit(main())
