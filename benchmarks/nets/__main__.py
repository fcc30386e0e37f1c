"""Nets of known families at growing sizes: verdict, seconds and memory, beside SPIN and Rumur.

Each net is read from PNML and decided in a process of its own. A verdict that contradicts what is
known of the family, or what SPIN or Rumur found, ends the run with 1.
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
from .contest import CONTEST
from .families import FAMILIES, pnml
from .rumur import searched as searched_by_rumur
from .spin import searched

__all__ = ["main"]

EVERY = FAMILIES | CONTEST
BESIDE = 20.0
"""Seconds that SPIN and Rumur have for the smallest size of a family."""
SHORT = {"holds": "none", "violated": "found", "unknown": "?"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Decide each family at each size; 1 if a verdict is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", help="instead of those of each family")
    parser.add_argument("--families", nargs="+", default=list(EVERY), choices=list(EVERY))
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
        "MB", "markings", "SPIN", "SPIN s", "Rumur s")]
    wrong = decided = 0
    for name, size, smallest in _cases(given.families, given.sizes):
        row, is_wrong = _row(name, size, given.max_seconds, smallest)
        wrong += is_wrong
        decided += row[4] in ("none", "found")
        rows.append(row)
        print("  ".join(row), flush=True)
    lines = [*table(rows), "", f"On {machine()}; `python -m benchmarks.nets`; deadlock decided for "
             f"{decided} of {len(rows) - 1}, {wrong} wrong."]
    print("\n".join(["", *lines]))
    if given.publish:
        publish(given.publish, "bench-nets", lines)
    return min(1, wrong)


def _cases(
    families: Sequence[str], sizes: Sequence[int] | None
) -> Iterator[tuple[str, int, bool]]:
    """Families and sizes, and whether the size is the smallest of the family."""
    for name in families:
        most = EVERY[name].sizes[-1]
        made = sorted({min(size, most) for size in sizes or EVERY[name].sizes})
        yield from ((name, size, size == made[0]) for size in made)


def _decided(name: str, size: int, seconds: float) -> dict[str, object]:
    """The verdicts on one net, with the processor's seconds, reading included, and the memory."""
    text = pnml(EVERY[name].make(size))
    began = time.process_time()
    (design,) = load_any(text, "net.pnml")
    report = check(design, Settings(budget=Budget(max_seconds=seconds)))
    found = {finding.name: finding.outcome.value for finding in report.findings}
    dead = report.finding("deadlock-free")
    return {**found, "steps": dead.length, "states": dead.states if dead.method == "exhaustive"
            else None, "seconds": time.process_time() - began,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


def _row(name: str, size: int, seconds: float, smallest: bool) -> tuple[tuple[str, ...], bool]:
    family = EVERY[name]
    net = family.make(size)
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.nets", "--one", f"{name},{size}", "--max-seconds",
         str(seconds)], capture_output=True, text=True, check=False, timeout=seconds * 10 + 100)
    if ran.returncode:
        return (name, f"{size:,}", ran.stderr.strip()[-60:], *[""] * 11), True
    found = json.loads(ran.stdout)
    spin = searched(net, BESIDE) if smallest else None
    rumur = searched_by_rumur(net, BESIDE) if smallest else None
    known = "violated" if family.deadlocks(size) else "holds"
    count = family.markings(size) if family.markings else None
    wrong = found["deadlock-free"] not in (known, "unknown") or any(
        other is not None and other.whole and other.deadlocks != family.deadlocks(size)
        for other in (spin, rumur))
    if count is not None and found["states"] is not None:
        wrong |= found["states"] != count
    if spin is not None and rumur is not None and spin.whole and rumur.whole:
        wrong |= spin.states != rumur.states and not rumur.deadlocks
    beside = ("", "") if spin is None else (
        (("deadlock, " if spin.deadlocks else "") + f"{spin.states:,}") if spin.whole
        else "not ended", f"{spin.seconds:.2f}")
    return (name, f"{size:,}", f"{len(net.places):,}", f"{len(net.transitions):,}",
            SHORT[found["deadlock-free"]] + (" WRONG" if wrong else ""),
            f"{found['steps']:,}" if found["steps"] else "", SHORT[found["bounded"]],
            SHORT[found["no-local-deadlock"]], f"{found['seconds']:.1f}", f"{found['memory']:,}",
            "" if count is None else f"{count:,}" if count < 10**9 else f"{count:.1e}"
            if count < 10**300 else "> 1e300", *beside,
            "" if rumur is None else f"{rumur.seconds:.2f}" if rumur.whole else "not ended"), wrong


if __name__ == "__main__":
    sys.exit(main())
