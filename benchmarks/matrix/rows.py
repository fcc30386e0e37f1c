"""One row of the matrix: a default run of one target, in a process of its own, as users run it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from checkvalve.conformance.suites.system import Shipped, System
from checkvalve.conformance.systems.catalogue import SYSTEMS

from ..published import machine

__all__ = ["Row", "command", "foreign_targets", "kept", "run", "saved"]

BUDGET_SECONDS: Final = 120
BUDGET_IN_REAL_TIME: Final = 240
"""No case of a row begins later (``--max-seconds``)."""

JOBS_IN_REAL_TIME: Final = 4
"""Cases at a time where most of the time is spent waiting for sessions to end."""

PATIENCE_SECONDS: Final = 900
"""Real time after which a run is ended that should have ended before, and its row says so."""

FIXTURE_BYTES: Final = 60_000
"""A longer fixture is not kept: the command makes it again."""


@dataclass(frozen=True)
class Row:
    """What a run of one target in one suite gave.

    ``release`` is the name and version that the target says at hello. ``broken`` maps a rule to the
    name of its fixture below docs/matrix, or to "" where that was too long to keep; ``not_shown``
    maps a reason to rules. ``error`` says why there is no result, and is empty where there is one.
    ``seconds`` and ``jobs`` are what the run was given.
    """

    suite: str
    target: str
    release: str = ""
    kept: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    follows: list[str] = field(default_factory=list)
    not_shown: dict[str, list[str]] = field(default_factory=dict)
    cases: int = 0
    cut: str = ""
    error: str = ""
    date: str = ""
    machine: str = ""
    seconds: int = BUDGET_SECONDS
    jobs: int = 1

    @property
    def rules(self) -> list[str]:
        """The rules that the suite had when it was run, each from the cell that it is in."""
        return [*self.kept, *self.broken, *(rule for rules in self.not_shown.values()
                                            for rule in rules)]


def foreign_targets() -> Iterator[tuple[System, Shipped]]:
    """The targets of the tree that are not ours, those in virtual time first: they take seconds."""
    both = [(system, each) for system in SYSTEMS.values() for each in system.shipped
            if not each.is_ours]
    return iter(sorted(both, key=lambda pair: pair[1].in_real_time))


def command(suite: str, target: str, seconds: int, jobs: int) -> list[str]:
    """The arguments of ``checkvalve`` that run a row again."""
    several = ["--jobs", str(jobs)] if jobs > 1 else []
    return ["conform", target, "--suite", suite, "--max-seconds", str(seconds), *several]


def run(system: System, shipped: Shipped, folder: Path, longer: int | None = None) -> Row:
    """Run one target by default, with its fixtures written below ``folder``; with ``longer``, for
    so many seconds at most in place of the usual."""
    suite, target = system.name, shipped.name
    usual, jobs = (BUDGET_IN_REAL_TIME, JOBS_IN_REAL_TIME) if shipped.in_real_time else (
        BUDGET_SECONDS, 1)
    seconds = longer or usual
    about: dict[str, Any] = {
        "suite": suite, "target": target, "date": time.strftime("%Y-%m-%d"), "machine": machine(),
        "seconds": seconds, "jobs": jobs}
    with tempfile.TemporaryDirectory() as scratch:
        report, fault = _json([
            "-m", "checkvalve.conformance.cli", *command(suite, target, seconds, jobs), "--json",
            "--fixtures", scratch], seconds + PATIENCE_SECONDS)
        if fault or "targets" not in report:
            error = fault or str(report.get("error", report))[:400]
            return Row(error=error, release=_release(suite, target), **about)
        one = report["targets"][0]
        results = report["results"]
        broken = {each["rule"]: _keep(each.get("fixture"), folder)
                  for each in results if each["verdict"] == "violated"}
    return Row(
        release=_release(suite, target), cases=one["cases"], cut=one["cut"], error=one["error"],
        kept=[each["rule"] for each in results if each["verdict"] == "passed"],
        follows=[each["rule"] for each in results if each["follows_from"]],
        broken=broken, not_shown=_reasons(results), **about)


def _reasons(results: list[dict[str, Any]]) -> dict[str, list[str]]:
    """By the reason why they were not shown, the rules."""
    found: dict[str, list[str]] = {}
    for each in results:
        if each["verdict"] not in ("passed", "violated"):
            found.setdefault(each["reason"] or each["verdict"], []).append(each["rule"])
    return found


def _keep(fixture: str | None, folder: Path) -> str:
    """The name of a fixture that was copied below ``folder``; "" where there is none to keep."""
    if not fixture:
        return ""
    path = Path(fixture)
    if not path.is_file() or path.stat().st_size > FIXTURE_BYTES:
        return ""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_bytes(path.read_bytes())
    return path.name


def _release(suite: str, target: str) -> str:
    """The name and version that a target says at hello; "" where it does not answer."""
    reply, _ = _json(["-m", "benchmarks.matrix.hello", suite, target])
    said = reply.get("ok", {})
    return f"{said.get('name', '')} {said.get('version', '')}".strip()


def _json(arguments: list[str], patience: int = PATIENCE_SECONDS) -> tuple[dict[str, Any], str]:
    """What a Python program prints as JSON, and what prevented that."""
    try:
        done = subprocess.run([sys.executable, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        return {}, f"no end in {patience} s"
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {}, " ".join((done.stderr or done.stdout).split())[-300:] or "no output"
    return found, ""


def saved(path: Path) -> dict[tuple[str, str], Row]:
    """The rows that a file has, by suite and target; none where there is no file."""
    if not path.exists():
        return {}
    rows = [Row(**each) for each in json.loads(path.read_text(encoding="utf-8"))]
    return {(row.suite, row.target): row for row in rows}


def kept(rows: Mapping[tuple[str, str], Row]) -> str:
    """The text of the file that has these rows."""
    return json.dumps([asdict(row) for row in rows.values()], indent=1) + "\n"
