"""What ``checkvalve check`` takes for design files, as a user runs it: the whole command, with the
start of Python, all verdicts, and the search for a repair."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from checkvalve.spec.design.reading.properties import BOUNDED, DEADLOCK_FREE, NO_LOCAL_DEADLOCK
from checkvalve.spec.notation.errors import InputError

__all__ = ["rows"]

VERDICTS = (DEADLOCK_FREE, NO_LOCAL_DEADLOCK, BOUNDED)
HEADINGS = ("file", *VERDICTS, "repairs", "s")
FAILED = (64, 70)
"""Exit codes of a command that has decided nothing."""


def rows(folder: Path, times: int) -> Iterator[tuple[str, ...]]:
    """The headings, and a row for each file: the verdicts, the ways out that were offered, and the
    seconds of processor time of all its processes, the most of so many runs.

    Raises InputError where a folder has no design files, or one of them cannot be checked.
    """
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise InputError("there are no design files", str(folder), "Name a folder with *.yaml.")
    yield HEADINGS
    for file in files:
        taken = [_checked(file) for _ in range(max(1, times))]
        yield (file.stem, *taken[0][0], f"{max(seconds for _, seconds in taken):.1f}")


def _checked(file: Path) -> tuple[tuple[str, ...], float]:
    """The verdicts and the number of repairs, and what they took."""
    before = _seconds()
    command = [sys.executable, "-m", "checkvalve.conformance.cli", "check", "--json", str(file)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode in FAILED or done.returncode < 0:
        raise InputError("the design was not checked", str(file), "See what the command says.")
    found = {each["property"]: each for each in json.loads(done.stdout)["results"]}
    ways = sum(len(each["repair"]["ways"]) for each in found.values() if each["repair"])
    return ((*(found[name]["verdict"] for name in VERDICTS), str(ways)), _seconds() - before)


def _seconds() -> float:
    """Processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
