"""A net as a model for SPIN: an anchor for its markings and its deadlock, by another program."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from checkvalve.spec.nets.net import Net

__all__ = ["Searched", "promela", "searched"]

MEMORY_MB = 2_000
FLAGS = ("-O2", "-DSAFETY", "-DNOREDUCE", "-DNOFAIR", f"-DMEMLIM={MEMORY_MB}")


@dataclass(frozen=True)
class Searched:
    """The states that SPIN stored, whether it found a deadlock, and the seconds of its search; not
    ``whole`` where its time or memory ended first."""

    states: int
    deadlocks: bool
    seconds: float
    whole: bool


def promela(net: Net) -> str:
    """One process that fires an enabled transition in one step.

    SPIN calls a dead marking an invalid end state.
    """
    most = max([*net.initial, *(n for side in net.gives for _, n in side)])
    kind = "byte" if most < 100 else "int"
    moves = []
    for at in range(len(net.transitions)):
        guard = " && ".join(f"m[{p}] >= {n}" for p, n in net.takes[at]) or "true"
        change = "; ".join(f"m[{p}] = m[{p}] + {n}" if n > 0 else f"m[{p}] = m[{p}] - {-n}"
                           for p, n in net.changes[at]) or "skip"
        moves.append(f"  :: d_step {{ {guard} -> {change} }}")
    first = "; ".join(f"m[{p}] = {n}" for p, n in enumerate(net.initial) if n) or "skip"
    return "\n".join([f"{kind} m[{max(1, len(net.places))}];",
                      "active proctype net() {", f"  d_step {{ {first} }};", "  do", *moves,
                      "  od", "}", ""])


def searched(net: Net, seconds: float) -> Searched | None:
    """SPIN's search of all markings of the net; None without SPIN or a compiler, or where the model
    is too large for them."""
    spin, compiler = shutil.which("spin"), shutil.which("gcc")
    if spin is None or compiler is None or len(net.places) > 2_000:
        return None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "net.pml").write_text(promela(net), encoding="utf-8")
        try:
            for command in ([spin, "-a", "net.pml"], [compiler, *FLAGS, "-o", "pan", "pan.c"]):
                if subprocess.run(command, cwd=folder, capture_output=True, timeout=60,
                                  check=False).returncode:
                    return None
            began = time.monotonic()
            told = subprocess.run([str(Path(folder, "pan")), "-m10000000", "-w24", "-c0"],
                                  cwd=folder, capture_output=True, text=True, timeout=seconds,
                                  check=False).stdout
        except subprocess.TimeoutExpired:
            return Searched(0, False, seconds, False)
    found = re.search(r"(\d+) states, stored", told)
    states = int(found[1]) - 1 if found else 0  # without the one before the first marking
    whole = bool(found) and "out of memory" not in told and "max search depth" not in told
    return Searched(states, ": invalid end state" in told, time.monotonic() - began, whole)
