"""Compares verdicts on random designs and nets with SPIN: ``make differential``.

``python tests/differential.py --designs 300 --seed 0``. Each connected part of each design is
decided by every engine, and by SPIN on the model that ``checkvalve promela`` prints. Unbounded
links are counted to a number, so designs that have any are left out. Prints how many were compared;
its exit code is 1 if any two disagree, in the verdict or in the number of states.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import get_args

from random_designs import random_design, random_file, richer
from test_design_nets import random_net

from checkvalve.spec.design.check import Engine, Part, Settings, decide_deadlock, parts
from checkvalve.spec.design.drawing.promela import promela
from checkvalve.spec.design.formats.files import load_any
from checkvalve.spec.design.net.translate import Aim, translate
from checkvalve.spec.design.reading.language import Design, Flow
from checkvalve.spec.design.why.findings import Finding
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

BUDGET = Budget(max_states=200_000)
ENGINES = get_args(Engine)


@dataclass(frozen=True)
class Verdict:
    """What SPIN says of a model, and how many states it stored."""

    deadlock: bool
    states: int


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    missing = [program for program in ("spin", "gcc") if shutil.which(program) is None]
    if missing:
        print(f"not installed: {', '.join(missing)}")
        return 2
    seen, wrong = Counter[str](), 0
    for number in range(options.seed, options.seed + options.designs):
        for part in drawn(number):
            for problem in compared(part, seen):
                wrong += 1
                print(f"{number}: {problem}")
    for what, count in seen.most_common():
        print(f"{count:8}  {what}")
    print(f"{wrong:8}  disagreements")
    return int(wrong > 0)


def drawn(number: int) -> list[Design]:
    """The parts of a random design, or, for every fourth number each, of one with more choices, of
    one with kinds of elements, windows, barriers and calls of stop, and of a random net."""
    random = Random(f"differential {number}")
    if number % 4 == 0:
        design = load_any(random_net(random).pnml(), "net.pnml")[0]
    elif number % 4 == 2:
        design = random_file(random)
    else:
        design = random_design(random)
    if number % 4 == 1:
        design = richer(design, random)
    if not design.tasks or any(link.flow is Flow.UNBOUNDED for link in design.links.values()):
        return []
    return parts(design)


def compared(design: Design, seen: Counter[str]) -> list[str]:
    """What disagrees about a part; ``seen`` counts what was compared."""
    try:
        table = translate(design, Aim())
        findings = {engine: decide_deadlock(Part.of(design), Settings(engine, BUDGET))
                    for engine in ENGINES}
    except InputError:  # more ways to move than can be listed
        return []
    spin = verdict_of(promela(table, design.name))
    seen[f"parts that SPIN finds {'stuck' if spin.deadlock else 'never stuck'}"] += 1
    # A model that may end has states in which it has ended, which the explorer does not count.
    ends = table.may_end or any(link.overflow is Flow.FAIL for link in design.links.values())
    return [problem for engine, finding in findings.items()
            for problem in differences(engine, finding, spin, ends, seen)]


def differences(
    engine: str, finding: Finding, spin: Verdict, ends: bool, seen: Counter[str]
) -> list[str]:
    """How a finding differs from SPIN's verdict."""
    if finding.outcome is Outcome.UNKNOWN:
        return []
    seen[f"verdicts of {engine}"] += 1
    found = []
    if (finding.outcome is Outcome.VIOLATED) != spin.deadlock:
        found.append(f"{engine} says {finding.outcome.value}, SPIN the contrary")
    if finding.method == "exhaustive" and not ends:
        seen["numbers of states"] += 1
        if finding.states != spin.states:
            found.append(f"{engine} counts {finding.states} states, SPIN {spin.states}")
    return found


def verdict_of(model: str) -> Verdict:
    """What SPIN finds, in all states."""
    with tempfile.TemporaryDirectory(prefix="checkvalve-spin-") as folder:
        (Path(folder) / "model.pml").write_text(model, encoding="utf-8")

        def done(*command: str) -> str:
            return subprocess.run(command, cwd=folder, check=True, text=True,
                                  capture_output=True).stdout

        done("spin", "-a", "model.pml")
        done("gcc", "-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-DBFS", "-DNOFAIR", "-o", "pan",
             "pan.c")
        told = done("./pan", "-c0", "-m1000000")
    stored = re.search(r"(\d+) states, stored", told)
    errors = re.search(r"errors: (\d+)", told)
    if stored is None or errors is None:
        raise RuntimeError(f"SPIN's output is not understood: {told[:500]}")
    return Verdict(int(errors[1]) > 0, int(stored[1]))


if __name__ == "__main__":
    sys.exit(main())
