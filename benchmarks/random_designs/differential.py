"""Compares verdicts on random designs and nets with SPIN: ``make differential``.

``python -m benchmarks.random_designs.differential --designs 300 --seed 0``. Each connected part of
each design is decided by every engine, and by SPIN on the model that ``checkvalve export --to
promela`` prints. Unbounded links are counted to a number, so designs that have any are left out,
and another is drawn. Every fourth number is a net in PNML: a random one, small or large, or one of
a family with markings that are counted in closed form. Prints how many were compared; its exit code
is 1 if any two disagree, in the verdict, the number of states, or the steps of the shortest run
into a deadlock.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import get_args

from checkvalve.spec.design.check import Engine, Part, Settings, decide_deadlock, parts
from checkvalve.spec.design.drawing.promela import promela
from checkvalve.spec.design.formats.files import load_any
from checkvalve.spec.design.net.builder import Aim
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design, Flow
from checkvalve.spec.design.why.findings import Finding
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from .designs import random_design, random_file, richer
from .nets import Net, family_net, random_net

BUDGET = Budget(max_states=200_000)
SELDOM = 10
"""Runs only ever find, and end late where there is nothing: they try one of so many such parts."""
ENGINES = get_args(Engine)
NEEDS = ("spin", "gcc")
SIZES = (5, 5, 8, 12)
"""Places of random nets, at most."""


@dataclass(frozen=True)
class Verdict:
    """SPIN's verdict on a model, the number of states it stored, and the number of steps to the
    first deadlocked state.
    """

    deadlock: bool
    states: int
    steps: int | None


@dataclass(frozen=True)
class Drawn:
    """One of a kind, and how many markings a formula says that it has, if one does."""

    kind: str
    design: Design
    markings: int | None = None


def main() -> int:
    """Compare and print; 1 if any two disagree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    missing = [program for program in NEEDS if shutil.which(program) is None]
    if missing:
        print(f"not installed: {', '.join(missing)} (Debian: apt-get install {' '.join(NEEDS)})")
        return 2
    seen, wrong, begun = Counter[str](), 0, _seconds()
    for number in range(options.seed, options.seed + options.designs):
        one = drawn(number)
        seen[one.kind] += 1
        for part in parts(one.design):
            for problem in compared(part, seen, one.markings):
                wrong += 1
                print(f"{number}: {problem}", flush=True)
    for what, times in sorted(seen.items()):
        print(f"{times:8,}  {what}")
    print(f"{wrong:8}  disagreements; {_seconds() - begun:.0f} s of CPU")
    return int(wrong > 0)


def _seconds() -> float:
    """CPU of this program and of those that it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def drawn(number: int) -> Drawn:
    """A random net or, for every fourth number each, a random design, one with more choices, and
    one with kinds of elements, windows, barriers and calls of stop."""
    if number % 4 == 0:
        return drawn_net(Random(f"differential {number}"))
    for attempt in count():
        random = Random(f"differential {number} {attempt}")
        if number % 4 == 2:
            one = Drawn("designs with kinds, windows, barriers, stop", random_file(random))
        elif number % 4 == 1:
            one = Drawn("designs with choices", richer(random_design(random), random))
        else:
            one = Drawn("designs", random_design(random))
        if one.design.tasks and all(
                link.flow is not Flow.UNBOUNDED for link in one.design.links.values()):
            return one
    raise AssertionError("attempts have no end")


def drawn_net(random: Random) -> Drawn:
    """Three of four are random."""
    def read(net: Net) -> Design:
        return load_any(net.pnml(), "net.pnml")[0]

    if random.randint(0, 3) == 0:
        net, markings = family_net(random)
        return Drawn("nets with a formula for their markings", read(net), markings)
    while True:
        design = read(random_net(random, random.choice(SIZES)))
        if all(link.flow is not Flow.UNBOUNDED for link in design.links.values()):
            return Drawn("random nets", design)


def compared(design: Design, seen: Counter[str], markings: int | None = None) -> list[str]:
    """The disagreements about a part; ``seen`` counts what was compared."""
    try:
        table = translate(design, Aim())
    except InputError:  # more ways to move than can be listed
        seen["parts with more ways to move than can be listed"] += 1
        return []
    spin = verdict_of(promela(table, design.name))
    told = f"parts that SPIN finds {'stuck' if spin.deadlock else 'never stuck'}"
    seen[told] += 1
    engines = [engine for engine in ENGINES
               if engine != "runs" or spin.deadlock or seen[told] % SELDOM == 0]
    findings = {engine: decide_deadlock(Part.of(design), Settings(engine, BUDGET))
                for engine in engines}
    # A model that may end has states in which it has ended, which the explorer does not count.
    ends = table.may_end or any(link.overflow is Flow.FAIL for link in design.links.values())
    found = [problem for engine, finding in findings.items()
             for problem in differences(engine, finding, spin, ends, seen)]
    if markings is not None:
        seen["numbers of states beside a formula"] += 1
        if markings != spin.states:
            found.append(f"the formula counts {markings} states, SPIN {spin.states}")
    return found


def differences(
    engine: str, finding: Finding, spin: Verdict, ends: bool, seen: Counter[str]
) -> list[str]:
    """The differences between a finding and SPIN's verdict."""
    if finding.outcome is Outcome.UNKNOWN:
        return []
    seen[f"verdicts of {engine}"] += 1
    found = []
    if (finding.outcome is Outcome.VIOLATED) != spin.deadlock:
        found.append(f"{engine} says {finding.outcome.value}, SPIN the contrary")
    if finding.method == "exhaustive" and not ends:
        seen["numbers of states beside SPIN's"] += 1
        if finding.states != spin.states:
            found.append(f"{engine} counts {finding.states} states, SPIN {spin.states}")
    if engine == "explorer" and spin.steps is not None:
        seen["shortest ways beside SPIN's"] += 1
        if len(finding.steps) != spin.steps:
            found.append(f"{engine} is deadlocked after {len(finding.steps)} steps, "
                         f"SPIN after {spin.steps}")
    return found


def verdict_of(model: str) -> Verdict:
    """SPIN's verdict on all states, breadth first.

    Its program is compiled by ``tcc`` where there is one: that takes a twentieth of the time, and
    the program runs for a moment.
    """
    compiler = (shutil.which("tcc"),) if shutil.which("tcc") else ("gcc", "-O0")
    with tempfile.TemporaryDirectory(prefix="checkvalve-spin-") as folder:
        (Path(folder) / "model.pml").write_text(model, encoding="utf-8")

        def done(*command: str) -> str:
            return subprocess.run(command, cwd=folder, check=True, text=True,
                                  capture_output=True).stdout

        done("spin", "-a", "model.pml")
        done(*compiler, "-w", "-DSAFETY", "-DNOREDUCE", "-DBFS", "-DNOFAIR", "-o", "pan", "pan.c")
        told = done("./pan", "-c0", "-m1000000", "-w18")
    stored = re.search(r"(\d+) states, stored", told)
    errors = re.search(r"errors: (\d+)", told)
    first = re.search(r"invalid end state \(at depth (\d+)\)", told)
    if stored is None or errors is None:
        raise RuntimeError(f"SPIN's output is not understood: {told[:500]}")
    return Verdict(int(errors[1]) > 0, int(stored[1]), None if first is None else int(first[1]))


if __name__ == "__main__":
    sys.exit(main())
