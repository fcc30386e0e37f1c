"""What is said of designs of any size, in what time and memory: ``make bench-designs``.

Each design (``shapes``) is decided in a process of its own, which may use so much processor time
and memory and no more. A row is told as soon as it is known. With ``--kept FILE`` it is kept as
well, and not measured again: a run that was broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from checkvalve.conformance.computer.collecting import collecting_rarely
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.search.searching import Settings
from checkvalve.spec.design.verdicts.deadlock import told_all
from checkvalve.spec.design.verdicts.local import Spaces, decide_local
from checkvalve.spec.design.why.findings import DesignReport, Finding
from checkvalve.spec.design.why.parts import Part, parts
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import OutOfTime
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from . import drawn
from .published import machine, publish, table
from .shapes import SHAPES, calls, loops, mesh, written

__all__ = ["SHAPES", "Case", "calls", "cases", "loops", "main", "mesh"]

SECONDS, LONG = 60.0, 180.0
"""What one question about a design may take; and about one of more than ``LARGE`` queues."""
LARGE = 10_000
MEMORY = 24 * 2**30
"""Bytes that a process may use."""
CERTIFIED = 1_000
"""Queues of the largest designs with certificates that are checked too, if nothing else is said."""
ENDED = 3
"""How a process ends that ran out of memory."""
SIZES = (100, 1_000, LARGE, 100_000)

HEADINGS = {
    "read": "s to read", "deadlock": "deadlock", "engine": "engine", "seconds": "s",
    "local": "local", "local_seconds": "s", "certificate": "certificate", "check": "s to check",
    "memory": "MB",
}
"""The columns of a row behind its name."""
Cells = dict[str, str]


@dataclass(frozen=True)
class Case:
    """A design to decide."""

    shape: str
    queues: int
    capacity: int
    planted: bool

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return f"{self.shape},{self.queues},{self.capacity},{'yes' if self.planted else 'no'}"

    @staticmethod
    def named(name: str) -> Case:
        """The case with a name."""
        shape, queues, capacity, planted = name.split(",")
        return Case(shape, int(queues), int(capacity), planted == "yes")

    def cells(self) -> tuple[str, ...]:
        """The first cells of its row."""
        return (self.shape, f"{self.queues:,}", f"{self.capacity:,}",
                "yes" if self.planted else "no")

    def design(self) -> Design:
        """What its seed, 1, makes of it."""
        return SHAPES[self.shape](self.queues, self.capacity, 1, self.planted)

    def seconds(self) -> float:
        """What a question about it may take."""
        return LONG if self.queues > LARGE else SECONDS


@dataclass(frozen=True)
class Limits:
    """Queues of the largest designs with certificates that are checked, and of the largest that are
    asked about local deadlock."""

    certified: int = CERTIFIED
    local: int = LARGE


# --- one design, in the process that measures it ------------------------------------------------

class Measuring:
    """Asks about one design, and tells each cell of its row when it is known."""

    def __init__(self, case: Case, limits: Limits) -> None:
        self.case, self.limits = case, limits
        self.design = case.design()

    def cells(self) -> Iterator[Cells]:
        """What its row has, as soon as each is known."""
        began = time.process_time()
        try:
            load("\n".join(written(self.design)))
            yield {"read": _since(began)}
        except InputError as told:
            yield {"read": f"refused: {told.what}"}
        yield from self._asked()
        yield {"memory": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,}"}

    def _asked(self) -> Iterator[Cells]:
        began = time.process_time()
        try:
            settings = self._settings()
            sections = [Part.of(part) for part in parts(self.design)]
            finding = replace(told_all(sections, settings), name="deadlock")
        except InputError as told:  # more ways to move than can be listed
            yield {"deadlock": "refused", "engine": told.what, "seconds": _since(began)}
            return
        wanted = Outcome.VIOLATED if self.case.planted else Outcome.HOLDS
        if finding.outcome not in (wanted, Outcome.UNKNOWN):
            raise SystemExit(f"wrong verdict: {self.case.name} {finding.outcome.value}")
        engine = "; ".join(dict.fromkeys(each.why for each in finding.tried)) \
            if finding.outcome is Outcome.UNKNOWN else finding.tried[-1].engine
        yield {"deadlock": finding.outcome.value, "engine": engine, "seconds": _since(began)}
        if self.case.queues <= self.limits.local:
            yield self._local(sections, finding)
        if self.case.queues <= self.limits.certified:
            yield self._certified(finding)

    def _settings(self) -> Settings:
        budget = Budget(max_seconds=self.case.seconds(), clock=time.process_time)
        return Settings(budget=budget.start())

    def _local(self, sections: list[Part], deadlock: Finding) -> Cells:
        began = time.process_time()
        spaces = Spaces(sections, self._settings(), asked=False)
        spaces.know(deadlock)
        try:
            told = decide_local(spaces).outcome.value
        except OutOfTime:
            told = Outcome.UNKNOWN.value
        return {"local": told, "local_seconds": _since(began)}

    def _certified(self, finding: Finding) -> Cells:
        """The size of the certificate in kB, and the seconds of its check."""
        from checkvalve.spec.certify.checker import check_certificate
        from checkvalve.spec.design.verdicts.certificates import certificate
        report = DesignReport(self.design, (finding,))
        document = certificate(report, finding)
        if document is None:
            return {"certificate": "none"}
        size = len(json.dumps(document)) // 1000
        began = time.process_time()
        opinion = check_certificate(document, self.design)
        if opinion.confirmed is False:
            raise SystemExit(f"refuted: {self.case.name} {opinion.why}")
        checked = _since(began) if opinion.confirmed else f"unknown after {_since(began)}"
        return {"certificate": f"{size:,} kB", "check": checked}


def _since(began: float) -> str:
    return f"{time.process_time() - began:.1f}"


def _measure(case: Case, limits: Limits) -> None:
    """Tell the cells of a row, a JSON object a line, in no more than its memory and time."""
    most = int(8 * case.seconds())
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    try:
        with collecting_rarely():
            for cells in Measuring(case, limits).cells():
                print(json.dumps(cells), flush=True)
    except MemoryError:
        sys.exit(ENDED)


# --- all of them ---------------------------------------------------------------------------------

def cases(sizes: Iterable[int] = SIZES, shapes: Iterable[str] = tuple(SHAPES)) -> Iterator[Case]:
    """What is published: all shapes at each size, with small and large capacities, and with a
    deadlock planted."""
    for queues in sizes:
        for shape in shapes:
            for capacity in (10, 10_000):
                for planted in (False, True):
                    yield Case(shape, queues, capacity, planted)


def measured(case: Case, limits: Limits) -> Cells:
    """The row of a design, which a process of its own measures. Where that ends early, what is
    not told is unknown."""
    program = [sys.executable, "-m", "benchmarks.designs", "--row", case.name,
               "--certified", str(limits.certified), "--local", str(limits.local)]
    child = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=False)
    if child.returncode not in (0, ENDED) and child.returncode > 0:
        raise SystemExit(f"{case.name}: the process that measures it failed")
    found: Cells = {}
    for line in child.stdout.splitlines():
        found.update(json.loads(line))
    if child.returncode:
        found.setdefault("deadlock", "unknown")
        found.setdefault("engine", "its process ran out of time or memory")
    return found


def _kept(file: Path | None) -> dict[str, Cells]:
    if file is None or not file.exists():
        return {}
    return dict(json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())


def _rows(chosen: Iterable[Case], known: Mapping[str, Cells]) -> Iterator[tuple[str, ...]]:
    yield ("shape", "queues", "capacities up to", "planted", *HEADINGS.values())
    for case in chosen:
        if case.name in known:
            cells = known[case.name]
            yield (*case.cells(), *(cells.get(column, "") for column in HEADINGS))


def main(arguments: list[str] | None = None) -> None:
    """Decide every case and print or publish the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 1,000 queues")
    parser.add_argument("--queues", type=int, nargs="+", default=SIZES, help="only these sizes")
    parser.add_argument("--shape", nargs="+", choices=SHAPES, default=tuple(SHAPES),
                        help="only these shapes")
    parser.add_argument("--row", metavar="SHAPE,QUEUES,CAPACITY,PLANTED",
                        help="measure one row, and tell its cells as JSON")
    parser.add_argument("--certified", type=int, default=CERTIFIED, metavar="QUEUES",
                        help="the largest designs with certificates to check")
    parser.add_argument("--local", type=int, default=LARGE, metavar="QUEUES",
                        help="the largest designs that are asked about local deadlock")
    parser.add_argument("--kept", type=Path, metavar="FILE",
                        help="keep the rows there, and do not measure those that are there")
    parser.add_argument("--publish", type=Path, metavar="DOCS", help="write the table there")
    parser.add_argument("--files", type=Path, metavar="DIR",
                        help="measure the command `check` on the design files of a folder instead")
    parser.add_argument("--times", type=int, default=3, metavar="N",
                        help="run it so many times for each of them, and tell the most it took")
    chosen = parser.parse_args(arguments)
    if chosen.files:
        try:
            lines = list(table(list(drawn.rows(chosen.files, chosen.times))))
        except InputError as told:
            parser.error(str(told))
        sys.stdout.write("\n".join(lines) + "\n")
        return
    limits = Limits(chosen.certified, chosen.local)
    if chosen.row:
        _measure(Case.named(chosen.row), limits)
        return
    known = _kept(chosen.kept)
    wanted = list(cases((100, 1_000) if chosen.quick else chosen.queues, chosen.shape))
    for case in wanted:
        if case.name not in known:
            known[case.name] = measured(case, limits)
            if chosen.kept is not None:
                with chosen.kept.open("a", encoding="utf-8") as kept:
                    kept.write(json.dumps([case.name, known[case.name]]) + "\n")
        sys.stderr.write("  ".join([*case.cells(), *known[case.name].values()]) + "\n")
    lines = list(table(list(_rows(wanted, known))))
    if chosen.publish is None:
        sys.stdout.write("\n".join(lines) + "\n")
    else:
        publish(chosen.publish / "benchmarks.md", "bench-designs", [
            f"Processor time on {machine()}.", "", *lines])


if __name__ == "__main__":
    main()
