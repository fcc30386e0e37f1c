"""Every verdict on the example designs, certified: ``make certificates``.

Each design is checked as ``checkvalve check`` does it. Each verdict's certificate goes through JSON
to the checker, and so does each that was tampered with. A verdict that is known and has no
certificate, or has one that the checker does not cover, is counted; one that is refuted, or a
forgery that is confirmed, is an error.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from checkvalve.conformance.designs import check_design, load_designs
from checkvalve.conformance.designs.certificates import problem_of
from checkvalve.spec.certify.checker import check_certificate
from checkvalve.spec.design.reading.language import Design
from checkvalve.spec.design.verdicts.certificates import Certificates, Uncertified
from checkvalve.spec.design.why.findings import DesignReport
from checkvalve.spec.verdicts.verdict import Budget, Outcome

from .published import machine, publish, table
from .tampered import tampered

__all__ = ["Tally", "certified", "main", "sample"]

POINTS = 40
"""Designs of a file with ranges of parameters, at most, unless somebody says otherwise."""
EXAMPLES = ("examples/designs", "examples/formats", "examples/grids")


@dataclass
class Tally:
    """How many verdicts of each property there were, by what became of them; of the forgeries, how
    many were refused; and the processor seconds of the checker."""

    verdicts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    forged: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    @property
    def known(self) -> int:
        """Verdicts other than unknown."""
        return sum(number for (_, verdict, _), number in self.verdicts.items()
                   if verdict != Outcome.UNKNOWN.value)

    @property
    def certified(self) -> int:
        """Verdicts with a confirmed certificate."""
        return sum(number for (_, _, what), number in self.verdicts.items() if what == "certified")


def certified(report: DesignReport, tally: Tally, forge: bool = True) -> None:
    """Check the certificate of each verdict of a report, and its forgeries."""
    makes = Certificates(report)
    for finding in report.findings:
        told = f"{report.design.name}: {finding.name} {finding.outcome.value}"
        kind = finding.name.split(":")[0]
        try:
            document = makes.of(finding)
        except Uncertified as why:
            what = "unknown" if finding.outcome is Outcome.UNKNOWN else f"none: {why}"
            tally.verdicts[kind, finding.outcome.value, what] += 1
            continue
        began = time.process_time()
        opinion = check_certificate(json.loads(json.dumps(document)), report.design)
        tally.seconds += time.process_time() - began
        what = {True: "certified", False: "refuted", None: "not covered"}[opinion.confirmed]
        tally.verdicts[kind, finding.outcome.value, what] += 1
        if problem_of(document) or opinion.confirmed is False:
            tally.wrong.append(f"{told}: {problem_of(document) or opinion.why}")
        for change, forgery in tampered(document, report.design) if forge else ():
            tally.forged += 1
            if not problem_of(forgery) and check_certificate(forgery, report.design).confirmed:
                tally.wrong.append(f"{told}: confirmed with {change}")


def sample(designs: Sequence[Design], most: int) -> list[Design]:
    """At most so many of the designs of a file, in even steps from the first to the last."""
    if len(designs) <= most:
        return list(designs)
    return [designs[n * (len(designs) - 1) // (most - 1)] for n in range(most)]


def _reports(paths: Iterable[str], seconds: float, points: int) -> Iterator[DesignReport]:
    for path in paths:
        for design in sample(load_designs(path), points):
            yield check_design(design, Budget(max_seconds=seconds).start())


def _files(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        path = Path(name)
        yield from (sorted(str(each) for each in path.iterdir()) if path.is_dir() else [name])


def _rows(tally: Tally) -> Iterator[tuple[str, ...]]:
    yield "property", "verdict", "certificate", "verdicts"
    for (name, verdict, what), number in sorted(tally.verdicts.items()):
        yield name, verdict, what, f"{number:,}"


def main(arguments: list[str] | None = None) -> None:
    """Certify the verdicts on design files, and print or publish what came of it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("designs", nargs="*", default=EXAMPLES, help="files, or folders of them")
    parser.add_argument("--seconds", type=float, default=60.0, help="what a design may take")
    parser.add_argument("--points", type=int, default=POINTS, metavar="N",
                        help="designs of a file with parameters, at most")
    parser.add_argument("--publish", type=Path, metavar="DOCS", help="write the table there")
    chosen = parser.parse_args(arguments)
    tally = Tally()
    for report in _reports(_files(chosen.designs), chosen.seconds, max(2, chosen.points)):
        certified(report, tally)
    lines = [f"{tally.certified:,} of {tally.known:,} verdicts certified in {tally.seconds:.1f} s "
             f"of the checker; {tally.forged:,} forgeries refused.", "", *table(list(_rows(tally)))]
    sys.stdout.write("\n".join([*lines, *tally.wrong]) + "\n")
    if tally.wrong:
        raise SystemExit(1)
    if chosen.publish is not None:
        publish(chosen.publish / "benchmarks.md", "certificates", [
            f"Processor time on {machine()}.", "", *lines])


if __name__ == "__main__":
    main()
