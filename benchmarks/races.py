"""Every schedule with few preemptions of Kafka's races: how many there are, and that none is bad.

``python -m benchmarks.races`` runs the reference's real threads; with
``--twin NAME`` those of one of the zoo. It takes minutes: some scenes have 100,000 schedules. A
scene with many threads is searched with one preemption at most.
"""

from __future__ import annotations

import argparse
import sys
import time

from checkvalve.conformance.systems.kafka_races.adapter import Kit
from checkvalve.conformance.systems.kafka_races.scenes import SCENES
from checkvalve.conformance.systems.kafka_races.search import search_races
from checkvalve.conformance.systems.kafka_races.twins import TWINS as ZOO

__all__ = ["main"]

HEADINGS = ("scene", "schedules", "histories", "schedules/s", "broken")
WIDTHS = (32, 11, 11, 13, 0)


def main() -> int:
    """Search and print; 1 if a rule is broken, else 2 if a history is undecided, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preemptions", type=int, default=2, choices=range(5))
    parser.add_argument("--scene", action="append", choices=sorted(SCENES), help="only this one")
    parser.add_argument("--twin", choices=sorted(ZOO), help="instead of the reference")
    options = parser.parse_args()
    kit = Kit() if options.twin is None else ZOO[options.twin].parts["kit"]
    _show(HEADINGS)
    broken = undecided = False
    for name in options.scene or SCENES:
        begun = time.perf_counter()
        most = min(options.preemptions, 1) if SCENES[name].many else options.preemptions
        searched = search_races(kit, SCENES[name], preemptions=most)
        rate = searched.schedules / (time.perf_counter() - begun)
        rules = sorted({found.rule.id for found in searched.found})
        broken = broken or bool(rules)
        undecided = undecided or bool(searched.undecided)
        if searched.undecided:
            rules.append(f"{searched.undecided:,} histories undecided")
        _show((name, f"{searched.schedules:,}", f"{searched.histories:,}", f"{rate:,.0f}",
               ", ".join(rules) or "none"))
    return 1 if broken else 2 if undecided else 0


def _show(cells: tuple[str, ...]) -> None:
    print("".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)),
          flush=True)


if __name__ == "__main__":
    sys.exit(main())
