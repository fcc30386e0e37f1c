"""A net as a model for Rumur, a checker for Murphi: an anchor by a second other program."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from checkvalve.spec.nets.net import Net

from .spin import Searched

__all__ = ["murphi", "searched"]

FLAGS = ("-O2", "-std=c11", "-mcx16", "-pthread")


def murphi(net: Net) -> str:
    """A variable for each place and a rule for each transition, in the language of Murphi."""
    most = 2 * sum(net.initial) + max((n for side in net.gives for _, n in side), default=1)
    rules = []
    for at in range(len(net.transitions)):
        guard = " & ".join(f"m[{p}] >= {n}" for p, n in net.takes[at]) or "true"
        change = " ".join(f"m[{p}] := m[{p}] {'+' if n > 0 else '-'} {abs(n)};"
                          for p, n in net.changes[at])
        rules.append(f'rule "t{at}" {guard} ==> begin {change} end;')
    first = " ".join(f"m[{p}] := {n};" for p, n in enumerate(net.initial) if n)
    last = max(0, len(net.places) - 1)
    return "\n".join([f"var m: array [0..{last}] of 0..{max(1, most)};",
                      f"startstate begin for i: 0..{last} do m[i] := 0; end; {first} end;",
                      *rules, ""])


def searched(net: Net, seconds: float) -> Searched | None:
    """Rumur's search, by one thread, of all markings of the net, or until one is dead; None without
    Rumur or a compiler, or where the model is too large for them."""
    rumur, compiler = shutil.which("rumur"), shutil.which("gcc")
    if rumur is None or compiler is None or len(net.places) > 2_000:
        return None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "net.m").write_text(murphi(net), encoding="utf-8")
        make = [rumur, "--deadlock-detection", "stuck", "--threads", "1", "--symmetry-reduction",
                "off", "--output", "net.c", "net.m"]
        try:
            for command in (make, [compiler, *FLAGS, "-o", "net", "net.c", "-latomic"]):
                if subprocess.run(command, cwd=folder, capture_output=True, timeout=60,
                                  check=False).returncode:
                    return None
            began = time.monotonic()
            told = subprocess.run([str(Path(folder, "net"))], cwd=folder, capture_output=True,
                                  text=True, timeout=seconds, check=False).stdout
        except subprocess.TimeoutExpired:
            return Searched(0, False, seconds, False)
    found = re.search(r"State Space Explored:\s+(\d+) states", told)
    deadlocks = "deadlock" in told
    return Searched(int(found[1]) if found else 0, deadlocks, time.monotonic() - began,
                    deadlocks or "No error found" in told)
