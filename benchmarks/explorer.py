"""The explorer's speed and memory, on machines with a known number of states.

``make bench`` runs all of it: some minutes, and 2 GB of memory. Each row is one search,
and a count that differs from what is known is an error.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.spec.engines.native import NativeResult, explore
from checkvalve.spec.notation import BoundMachine, InternalError, bind
from checkvalve.spec.notation.model import LoweredRule
from checkvalve.spec.storm.inputs.queue import TaskInput
from checkvalve.spec.verdicts.verdict import Budget

from . import lowering, programs
from .chain import Chain, states_of_chain

__all__ = ["Case", "cases", "main", "measure"]

REPEATS = 5
SAFETY = ("always", "never stuck", "step")
DESIGN = Path("examples/designs/pipeline-of-ten.yaml")
HEADINGS = (
    "machine", "words", "threads", "states", "transitions", "depth", "seconds", "cpu s",
    "M states/s",
    "M trans/s", "1 to 2", "bytes/state", "peak MB", "compile s",
)


@dataclass(frozen=True)
class Case:
    """A machine to search; ``states`` is the count that it must come to, where known."""

    name: str
    bound: BoundMachine
    states: int | None = None


@dataclass(frozen=True)
class Run:
    """One search of a case, with the processor seconds that it took."""

    result: NativeResult
    cpu_seconds: float


def cases(quick: bool) -> Iterator[Case]:
    """The machines, from small to large; ``quick`` leaves out what takes seconds each."""
    capacities = (4,) if quick else (4, 5, 6)
    middle = capacities[len(capacities) // 2]
    storm = {} if quick else {"C": 3, "M": 3, "R": 2, "S": 1}
    for capacity in capacities:
        yield Case(f"chain of 4, C={capacity}", bind(Chain, C=capacity),
                   states_of_chain(4, capacity))
    for widest, bits in ((100, 7), (1000, 10)):
        yield Case(f"chain of 4, C={middle}, 16 x {bits} bits",
                   bind(Chain, C=middle, widest=widest), states_of_chain(4, middle))
    yield Case(" ".join(["storm queue", *(f"{k}={v}" for k, v in storm.items())]),
               bind(TaskInput, **storm))


def measure(case: Case, threads: int) -> Run:
    """Search, deciding all rules about states and steps on the way.

    Raises InternalError where the count is not what it must be.
    """
    model = case.bound.model
    rules: list[LoweredRule] = [rule for rule in model.rules if rule.rule.kind in SAFETY]
    before = time.process_time()
    result = explore(model, rules, Budget(threads=threads))
    if not result.complete or case.states not in (None, result.states):
        raise InternalError(f"{case.name}: found {result.states} states, not {case.states}",
                            next_step=f"The search stopped by: {result.stopped_by or 'itself'}.")
    return Run(result, time.process_time() - before)


def row(case: Case, threads: int, runs: list[Run], ratio: float | None) -> list[str]:
    """The cells of the table: medians over the runs of one case with so many threads."""
    result = runs[0].result
    seconds = median(run.result.seconds for run in runs)
    return [
        case.name, str(result.words), str(threads), f"{result.states:,}",
        f"{result.transitions:,}", str(result.depth), f"{seconds:.2f}",
        f"{median(run.cpu_seconds for run in runs):.2f}",
        f"{result.states / seconds / 1e6:.1f}", f"{result.transitions / seconds / 1e6:.0f}",
        "" if ratio is None else f"{ratio:.2f}x", f"{result.bytes_per_state:.1f}",
        f"{result.peak_bytes / 1e6:.0f}",
        f"{median(run.result.compile_seconds for run in runs):.2f}",
    ]


def show(cells: list[str] | tuple[str, ...]) -> None:
    """Print a line of the table."""
    widths = (30, 6, 8, 12, 13, 6, 8, 8, 11, 10, 8, 12, 8, 10)
    print("".join(cell.ljust(width) if place == 0 else cell.rjust(width)
                  for place, (cell, width) in enumerate(zip(cells, widths, strict=True))),
          flush=True)


def compare(case: Case, repeats: int) -> None:
    """Print a line for one thread and one for two, from runs in turn: 1, 2, 1, 2, …

    A machine with a drifting speed then slows both alike, so the ratio of each pair holds.
    """
    case.bound.model  # noqa: B018 (lowered here, so that it is not measured)
    pairs = [(measure(case, 1), measure(case, 2)) for _ in range(repeats)]
    ratio = median(one.result.seconds / two.result.seconds for one, two in pairs)
    show(row(case, 1, [one for one, _ in pairs], None))
    show(row(case, 2, [two for _, two in pairs], ratio))


def seconds_to_a_verdict(design: Path) -> float:
    """From a cold start of the program to the verdict on a design."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "checkvalve.conformance.cli", "check", str(design), "--json"],
        stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def main() -> None:
    """Measure all cases, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small machines only, once")
    options = parser.parse_args()
    show(HEADINGS)
    for case in cases(options.quick):
        compare(case, 1 if options.quick else REPEATS)
    print("\nprocessor seconds of what is not search, by the number of actions:")
    lowering.main(lowering.SIZES[:2] if options.quick else lowering.SIZES)
    print("\nprograms a second on one core, of each suite's default run on its reference:")
    programs.table(["queue"] if options.quick else list(SYSTEMS), 1 if options.quick else REPEATS)
    if DESIGN.exists():
        times = [seconds_to_a_verdict(DESIGN) for _ in range(REPEATS)]
        print(f"\nverdict on a design of ten tasks, cold: {median(times):.2f} s")
