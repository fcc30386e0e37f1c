"""Compares the four verdicts of ``check`` with plain algorithms: ``make verdicts``.

``python -m benchmarks.random_designs.verdicts --designs 500 --seed 0``. Random designs with parts
that have few states are asked whether they deadlock, whether there is a local deadlock, whether
they are live, and how full each link gets, by the engines as a user has them, and by algorithms
that visit all states and share no code with them. Where a link has no bound, it is given one that
is out of reach. Order is asked of designs with two paths from a sender to a receiver. Prints how
many verdicts were compared; its exit code is 1 if any two disagree.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from random import Random

from checkvalve.conformance.designs import check_design
from checkvalve.spec.certify.transitions import system_of
from checkvalve.spec.certify.system import NotCovered
from checkvalve.spec.design.check import check, decide_one, parts
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.rows import FAILED
from checkvalve.spec.design.reading.language import Design, Flow
from checkvalve.spec.design.search.searching import Settings
from checkvalve.spec.design.verdicts.live import decide_live
from checkvalve.spec.design.why.findings import Finding
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from .designs import ending, random_design, random_file, richer
from .plain_live import graph_of, is_kept_waiting, is_told_of, wishes
from .plain_local import PlainGraph, plain_local
from .plain_order import plain_order, two_ways

SETTINGS = Settings(budget=Budget(max_states=20_000))
MOST = 400
"""States of a part: the plain algorithms look from each of them to all others."""
FAR = 24
"""A number that what does not grow without end does not come to in so few states."""


class Comparing:
    """Counts the compared verdicts, and collects the disagreements."""

    def __init__(self) -> None:
        self.seen = Counter[str]()
        self.wrong = 0

    def compare(self, what: str, finding: Finding, violated: bool, design: Design) -> None:
        """One verdict beside what a plain algorithm says."""
        self.seen[f"{what}: {finding.outcome.value}"] += 1
        if finding.outcome is not Outcome.UNKNOWN:
            self.expect((finding.outcome is Outcome.VIOLATED) == violated,
                        f"{what} is {finding.outcome.value}", design)

    def expect(self, right: bool, what: str, design: Design) -> None:
        """Count a comparison; note it as a disagreement unless it is right."""
        if not right:
            self.wrong += 1
            print(f"wrong: {what} of {design}", flush=True)

    def design(self, number: int) -> None:
        """All that is asked of one number."""
        for part in small_parts(number):
            with suppress(InputError):  # more ways to move than can be listed
                if any(link.flow is Flow.UNBOUNDED for link in part.links.values()):
                    self.growing(part)
                else:
                    self.whole(part)
                    self.live(part)
        text = two_ways(Random(f"ordered {number}"))
        with suppress(OverflowError):  # too many states for queues of elements
            plain = plain_order(load(text), "s", "t")
            self.compare("ordered", check_design(text).finding("ordered"), plain is not None,
                         load(text))

    def whole(self, part: Design) -> None:
        """Deadlock, local deadlock and occupancy of a part without unbounded links."""
        graph = PlainGraph(part, MOST)
        if not graph.whole:
            self.seen["parts with too many states"] += 1
            return
        report = check(part, SETTINGS)
        self.compare("deadlock-free", report.finding("deadlock-free"), gets_stuck(graph), part)
        self.compare("no-local-deadlock", report.finding("no-local-deadlock"),
                     plain_local(graph) is not None, part)
        bounded = report.finding("bounded")
        self.compare("bounded", bounded, False, part)
        for link, told in bounded.bounds:
            full = fullest(graph, link)
            exact = link in bounded.reached
            self.seen[f"links whose largest number is {'exact' if exact else 'bounded'}"] += 1
            self.expect(told == full if exact else told >= full, f"{told} in {link}", part)

    def live(self, part: Design) -> None:
        """Compare liveness, on the transitions that the checker of certificates reads."""
        with suppress(NotCovered):
            graph = graph_of(system_of(part)) if is_told_of(part) else None
            if graph is not None:
                waits = any(is_kept_waiting(system_of(part), graph, wish) for wish in wishes(part))
                self.compare("live", decide_live([part], SETTINGS), waits, part)

    def growing(self, part: Design) -> None:
        """Compare boundedness: whether the links of a part without a bound grow without end."""
        finding = decide_one(part, "bounded", SETTINGS)
        graph = PlainGraph(replace(part, links={
            name: replace(link, flow=Flow.BLOCKING, capacity=FAR)
            if link.flow is Flow.UNBOUNDED else link for name, link in part.links.items()}),
            4 * MOST)
        grows = any(fullest(graph, name) >= FAR - 4 for name, link in part.links.items()
                    if link.flow is Flow.UNBOUNDED)
        if graph.whole or grows:
            self.compare("bounded, of parts with links without a bound", finding, grows, part)


def small_parts(number: int) -> Iterator[Design]:
    """The parts of a random design, one with more choices, one with ends, or one from a file."""
    random = Random(f"verdicts {number}")
    with suppress(InputError):
        design = random_file(random) if number % 4 == 2 else random_design(random)
        changed = richer if number % 4 == 1 else ending if number % 4 == 3 else None
        yield from parts(changed(design, random) if changed else design)


def gets_stuck(graph: PlainGraph) -> bool:
    """True if a state in which no task can take a step is reachable, and is not a good end."""
    table = graph.table
    return any(
        not after and not graph.value(state, FAILED) and not (table.may_end and all(
            graph.value(state, place.name) <= place.rest for place in table.places))
        for state, after in graph.next.items())


def fullest(graph: PlainGraph, link: str) -> int:
    """The most elements that are ever in a link."""
    place = next(each.name for each in graph.table.places
                 if each.role == "queue" and each.of == link)
    return max(graph.value(state, place) for state in graph.depth)


def main() -> int:
    """Compare and print; 1 if any two disagree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begun, comparing = time.process_time(), Comparing()
    for number in range(options.seed, options.seed + options.designs):
        comparing.design(number)
    for what, times in sorted(comparing.seen.items()):
        print(f"{times:8,}  {what}")
    print(f"{comparing.wrong:8}  disagreements; {time.process_time() - begun:.0f} s of CPU")
    return int(comparing.wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
