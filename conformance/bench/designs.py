"""Designs of any size, made from a seed, and what is said of them: ``make bench-designs``.

Three shapes. *Loops*: stages in a row, each of which gives work that failed a second try, under a
window that is smaller than what its loop can hold. *Mesh*: tasks on a torus, each of which reads
from two neighbours and writes to two; one element goes round each row and column. *Calls*: nested
calls over many pools of threads, which are all taken in one order. In each a deadlock can be
planted: a window that is too large, a row without an element, two calls that take two pools of
their own in different orders.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from checkvalve.spec.design.reading.language import Design, Kind, Link, Pool, Task
from checkvalve.spec.design.search.searching import Settings
from checkvalve.spec.design.verdicts.deadlock import told_all
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.design.why.parts import Part, parts
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from .published import machine, publish, table

__all__ = ["SHAPES", "calls", "loops", "main", "mesh"]

SECONDS, LONG = 60.0, 180.0
"""What one design may take; and one of more than ``LARGE`` queues."""
LARGE = 10_000
CERTIFIED = 1_000
"""Queues of the largest designs whose certificates are checked too."""


def loops(queues: int, capacity: int, seed: int = 0, planted: bool = False) -> Design:
    """Stages with retries, each under its window; eight queues a stage."""
    draw, stages = Random(seed), max(1, queues // 8)
    wrong = draw.randrange(stages) if planted else -1
    tasks, links, before = [Task("source", Kind.SOURCE)], list[Link](), "source"
    for n in range(stages):
        admit, entry, work, decide, leave = (
            f"{what} {n}" for what in ("admit", "entry", "work", "decide", "leave"))
        new, todo, worked, retry, onward, done = (draw.randint(1, capacity) for _ in range(6))
        filled = todo + worked + retry + 2
        window = filled if n == wrong else draw.randint(1, filled - 1)
        tasks += [Task(admit, Kind.ZIP), Task(entry, Kind.MERGE), Task(work, Kind.MAP, hand=1),
                  Task(decide, Kind.ROUTE, hand=1), Task(leave, Kind.BROADCAST)]
        links += [
            Link(f"in {n}", (before,), (admit,), capacity=onward),
            Link(f"window {n}", (leave,), (admit,), capacity=window, initial=window),
            Link(f"new {n}", (admit,), (entry,), capacity=new),
            Link(f"todo {n}", (entry,), (work,), capacity=todo),
            Link(f"worked {n}", (work,), (decide,), capacity=worked),
            Link(f"retry {n}", (decide,), (entry,), capacity=retry),
            Link(f"done {n}", (decide,), (leave,), capacity=done),
        ]
        before = leave
    tasks.append(Task("sink", Kind.SINK))
    links.append(Link("out", (before,), ("sink",), capacity=capacity))
    return _design("loops", tasks, links)


def mesh(queues: int, capacity: int, seed: int = 0, planted: bool = False) -> Design:
    """A torus of tasks; two queues a task."""
    draw, side = Random(seed), max(2, int((queues / 2) ** 0.5))
    wrong = draw.randrange(side) if planted else -1
    tasks, links = [], []
    for row in range(side):
        for column in range(side):
            here = f"at {row} {column}"
            tasks.append(Task(here, Kind.ZIP))
            for way, down, right in (("right", 0, 1), ("down", 1, 0)):
                there = f"at {(row + down) % side} {(column + right) % side}"
                wraps = (column if right else row) == side - 1
                held = int(wraps and not (right and row == wrong))
                links.append(Link(f"{way} of {row} {column}", (here,), (there,),
                                  capacity=draw.randint(1, capacity), initial=held))
    return _design("mesh", tasks, links)


def calls(queues: int, capacity: int, seed: int = 0, planted: bool = False) -> Design:
    """Nested calls; a pool of threads, at which calls queue, for each of the queues."""
    draw, names = Random(seed), [f"pool {n}" for n in range(queues)]
    tasks = []
    for n in range(queues - 1):
        near = range(n, min(queues, n + 8))
        levels = sorted(draw.sample(near, min(len(near), draw.randint(2, 4))))
        tasks.append(Task(f"calls {n}", Kind.CALL, pool=tuple(names[level] for level in levels),
                          depth=len(levels), roots=draw.randint(1, capacity)))
    found = {name: Pool(name, draw.randint(1, capacity)) for name in names}
    if planted:
        found |= {name: Pool(name, 1) for name in ("left", "right")}
        tasks += [Task(f"{a} to {b}", Kind.CALL, pool=(a, b), depth=2)
                  for a, b in (("left", "right"), ("right", "left"))]
    return _design("calls", tasks, [], found)


def _design(
    name: str, tasks: list[Task], links: list[Link], pools: Mapping[str, Pool] | None = None
) -> Design:
    return Design(name, "", {t.name: t for t in tasks}, {k.name: k for k in links}, pools or {})


SHAPES: Mapping[str, Callable[[int, int, int, bool], Design]] = {
    "loops": loops, "mesh": mesh, "calls": calls,
}


@dataclass(frozen=True)
class Case:
    """A design to decide."""

    shape: str
    queues: int
    capacity: int
    planted: bool

    def decided(self) -> tuple[str, ...]:
        """Its row: what was said of it, by which engine, and in how many seconds of processor
        time; and of the certificate, its size and what its check took."""
        design = SHAPES[self.shape](self.queues, self.capacity, 1, self.planted)
        budget = Budget(max_seconds=LONG if self.queues > LARGE else SECONDS,
                        clock=time.process_time)
        began = time.process_time()
        try:
            found = told_all([Part.of(part) for part in parts(design)],
                             Settings(budget=budget.start()))
        except InputError:  # more ways to move than can be listed
            return (*self.named(), "refused", "none", f"{time.process_time() - began:.1f}", "", "")
        seconds = time.process_time() - began
        finding = replace(found, name="deadlock")
        report = DesignReport(design, (finding,))
        wanted = Outcome.VIOLATED if self.planted else Outcome.HOLDS
        if finding.outcome not in (wanted, Outcome.UNKNOWN):
            raise SystemExit(f"wrong verdict: {self} {finding.outcome.value}")
        engine = finding.tried[-1].engine if finding.outcome is not Outcome.UNKNOWN else "none"
        told = self.certified(report) if self.queues <= CERTIFIED else ("", "")
        return (*self.named(), finding.outcome.value, engine, f"{seconds:.1f}", *told)

    def named(self) -> tuple[str, ...]:
        """The first cells of its row."""
        return (self.shape, f"{self.queues:,}", f"{self.capacity:,}",
                "yes" if self.planted else "no")

    def certified(self, report: DesignReport) -> tuple[str, str]:
        """The size of the certificate in kB, and the seconds of its check."""
        from checkvalve.spec.certify.checker import check_certificate
        from checkvalve.spec.design.verdicts.certificates import certificate
        document = certificate(report, report.finding("deadlock"))
        if document is None:
            return "none", ""
        size = len(json.dumps(document)) // 1000
        began = time.process_time()
        opinion = check_certificate(document, report.design)
        if opinion.confirmed is not True:
            raise SystemExit(f"not confirmed: {self} {opinion.why}")
        return f"{size:,} kB", f"{time.process_time() - began:.1f}"


def cases(quick: bool) -> Iterator[Case]:
    """What is published: all shapes at each size, with small and large capacities, and with a
    deadlock planted."""
    for queues in (100, 1_000) if quick else (100, 1_000, LARGE, 100_000):
        for shape in SHAPES:
            for capacity in (10, 10_000):
                for planted in (False, True):
                    yield Case(shape, queues, capacity, planted)


def main(arguments: list[str] | None = None) -> None:
    """Decide every case and print or publish the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 1,000 queues")
    parser.add_argument("--publish", type=Path, metavar="DOCS", help="write the table there")
    chosen = parser.parse_args(arguments)
    rows: list[tuple[str, ...]] = [(
        "shape", "queues", "capacities up to", "planted", "verdict", "engine", "s", "certificate",
        "s to check")]
    for case in cases(chosen.quick):
        rows.append(case.decided())
        sys.stderr.write("  ".join(rows[-1]) + "\n")
    lines = list(table(rows))
    if chosen.publish is None:
        sys.stdout.write("\n".join(lines) + "\n")
    else:
        publish(chosen.publish / "benchmarks.md", "bench-designs", [
            f"Processor time on {machine()}.", "", *lines])


if __name__ == "__main__":
    main()
