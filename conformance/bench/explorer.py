"""The explorer's speed and memory, on machines whose number of states is known.

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

from checkvalve.spec.engines.native import NativeResult, explore
from checkvalve.spec.engines.verdict import Budget
from checkvalve.spec.notation import BoundMachine, InternalError, bind
from checkvalve.spec.notation.model import LoweredRule
from checkvalve.spec.storm.queue import TaskInput

from .chain import Chain, states_of_chain

__all__ = ["Case", "cases", "main", "measure"]

SAFETY = ("always", "never stuck", "step")
DESIGN = Path("examples/designs/pipeline-of-ten.yaml")
HEADINGS = (
    "machine", "words", "threads", "states", "transitions", "depth", "seconds", "cpu s",
    "M states/s",
    "M trans/s", "bytes/state", "peak MB", "compile s",
)


@dataclass(frozen=True)
class Case:
    """One search; ``states`` is the count that it must come to, where it is known."""

    name: str
    bound: BoundMachine
    threads: int
    states: int | None = None


def cases(quick: bool) -> Iterator[Case]:
    """The searches, from small to large; ``quick`` leaves out what takes seconds each."""
    capacities = (4,) if quick else (4, 5, 6)
    middle = capacities[len(capacities) // 2]
    storm = {} if quick else {"C": 3, "M": 3, "R": 2, "S": 1}
    for threads in (1, 2):
        for capacity in capacities:
            yield Case(f"chain of 4, C={capacity}", bind(Chain, C=capacity), threads,
                       states_of_chain(4, capacity))
        for widest, bits in ((100, 7), (1000, 10)):
            yield Case(f"chain of 4, C={middle}, 16 x {bits} bits",
                       bind(Chain, C=middle, widest=widest), threads,
                       states_of_chain(4, middle))
        yield Case(" ".join(["storm queue", *(f"{k}={v}" for k, v in storm.items())]),
                   bind(TaskInput, **storm), threads)


def measure(case: Case) -> NativeResult:
    """Search, deciding all rules about states and steps on the way.

    Raises InternalError where the count is not what it must be.
    """
    model = case.bound.model
    rules: list[LoweredRule] = [rule for rule in model.rules if rule.rule.kind in SAFETY]
    result = explore(model, rules, Budget(threads=case.threads))
    if not result.complete or case.states not in (None, result.states):
        raise InternalError(f"{case.name}: found {result.states} states, not {case.states}",
                            next_step=f"The search stopped by: {result.stopped_by or 'itself'}.")
    return result


def row(case: Case, result: NativeResult, cpu_seconds: float) -> list[str]:
    """The cells of the table for one search; on a busy machine the processor time (which
    includes compiling) says more than the wall clock."""
    return [
        case.name, str(result.words), str(case.threads), f"{result.states:,}",
        f"{result.transitions:,}", str(result.depth), f"{result.seconds:.2f}",
        f"{cpu_seconds:.2f}", f"{result.states / result.seconds / 1e6:.1f}",
        f"{result.transitions / result.seconds / 1e6:.0f}",
        f"{result.bytes_per_state:.1f}", f"{result.peak_bytes / 1e6:.0f}",
        f"{result.compile_seconds:.2f}",
    ]


def show(cells: list[str] | tuple[str, ...]) -> None:
    """Print a line of the table."""
    widths = (30, 6, 8, 12, 13, 6, 8, 8, 11, 10, 12, 8, 10)
    print("".join(cell.ljust(width) if place == 0 else cell.rjust(width)
                  for place, (cell, width) in enumerate(zip(cells, widths, strict=True))),
          flush=True)


def seconds_to_a_verdict(design: Path) -> float:
    """From a cold start of the program to the verdict on a design."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "checkvalve.conformance.cli", "check", str(design), "--json"],
        stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small machines only")
    options = parser.parse_args()
    show(HEADINGS)
    for case in cases(options.quick):
        case.bound.model  # noqa: B018 (lowered here, so that it is not measured)
        before = time.process_time()
        result = measure(case)
        show(row(case, result, time.process_time() - before))
    if DESIGN.exists():
        print(f"\nverdict on a design of ten tasks, cold: {seconds_to_a_verdict(DESIGN):.2f} s")
