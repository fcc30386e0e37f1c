"""Nets of known families at growing sizes: verdict, seconds and memory, beside SPIN.

Each net is read from PNML and decided in a process of its own. A verdict that contradicts what is
known of the family, or what SPIN found, ends the run with 1.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from checkvalve.spec.design.check import Settings, check
from checkvalve.spec.design.formats.files import load_any
from checkvalve.spec.verdicts.verdict import Budget

from ..published import machine, publish, table
from .families import FAMILIES, pnml
from .spin import searched

__all__ = ["main"]

SIZES = (3, 100, 1_000)
SQUARES = {"grid": 50, "memory": 70}
"""Families whose nets are squares of their size, and the largest size that is made."""
SPIN_MOST = 3
"""The largest size whose markings SPIN visits beside us."""
SHORT = {"holds": "none", "violated": "found", "unknown": "?"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Decide each family at each size; 1 if a verdict is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--max-seconds", type=float, default=60.0)
    parser.add_argument("--publish", type=Path, help="the page that gets the table")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        name, _, size = given.one.rpartition(",")
        print(json.dumps(_decided(name, int(size), given.max_seconds)))
        return 0
    rows: list[tuple[str, ...]] = [(
        "family", "size", "places", "transitions", "deadlock", "steps", "growth", "local", "s",
        "MB", "markings", "SPIN", "SPIN s")]
    wrong = 0
    for name, size in _cases(given.families, given.sizes):
        row, is_wrong = _row(name, size, given.max_seconds)
        wrong += is_wrong
        rows.append(row)
        print("  ".join(row), flush=True)
    lines = [*table(rows), "", f"On {machine()}; `python -m benchmarks.nets`; {wrong} wrong."]
    print("\n".join(["", *lines]))
    if given.publish:
        publish(given.publish, "bench-nets", lines)
    return min(1, wrong)


def _cases(families: Sequence[str], sizes: Sequence[int]) -> Iterator[tuple[str, int]]:
    for name in families:
        yield from ((name, size) for size in
                    dict.fromkeys(min(size, SQUARES.get(name, size)) for size in sizes))


def _decided(name: str, size: int, seconds: float) -> dict[str, object]:
    """The verdicts on one net, with the processor's seconds, reading included, and the memory."""
    text = pnml(FAMILIES[name].make(size))
    began = time.process_time()
    (design,) = load_any(text, "net.pnml")
    report = check(design, Settings(budget=Budget(max_seconds=seconds)))
    found = {finding.name: finding.outcome.value for finding in report.findings}
    dead = report.finding("deadlock-free")
    return {**found, "steps": dead.length, "states": dead.states if dead.method == "exhaustive"
            else None, "seconds": time.process_time() - began,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


def _row(name: str, size: int, seconds: float) -> tuple[tuple[str, ...], bool]:
    family = FAMILIES[name]
    net = family.make(size)
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.nets", "--one", f"{name},{size}", "--max-seconds",
         str(seconds)], capture_output=True, text=True, check=False, timeout=seconds * 10 + 100)
    if ran.returncode:
        return (name, f"{size:,}", ran.stderr.strip()[-60:], *[""] * 10), True
    found = json.loads(ran.stdout)
    spin = searched(net, 20) if size <= SPIN_MOST else None
    known = "violated" if family.deadlocks(size) else "holds"
    count = family.markings(size) if family.markings else None
    wrong = found["deadlock-free"] not in (known, "unknown") or (
        spin is not None and spin.whole and spin.deadlocks != family.deadlocks(size))
    if count is not None and found["states"] is not None:
        wrong |= found["states"] != count
    beside = ("", "") if spin is None else (
        (("deadlock, " if spin.deadlocks else "") + f"{spin.states:,}") if spin.whole
        else "not ended", f"{spin.seconds:.2f}")
    return (name, f"{size:,}", f"{len(net.places):,}", f"{len(net.transitions):,}",
            SHORT[found["deadlock-free"]] + (" WRONG" if wrong else ""),
            f"{found['steps']:,}" if found["steps"] else "", SHORT[found["bounded"]],
            SHORT[found["no-local-deadlock"]], f"{found['seconds']:.1f}", f"{found['memory']:,}",
            "" if count is None else f"{count:,}" if count < 10**9 else f"{count:.1e}"
            if count < 10**300 else "> 1e300", *beside), wrong


if __name__ == "__main__":
    sys.exit(main())
