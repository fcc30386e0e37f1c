"""SPIN, and a program in C written by hand, on the ring of ``bench/ring``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from checkvalve.spec.notation import InternalError

from ..ring import states_of_ring

__all__ = ["PAN_FLAGS", "ByHand", "Peer", "Size", "Spin", "Time", "missing", "promela"]

Size = tuple[int, int, int]
"""Links, capacity, elements."""

PAN_FLAGS = ("-O3", "-march=native", "-DBFS", "-DSAFETY", "-DNOFAIR", "-DNOREDUCE",
             "-DMEMLIM=16000")
"""How SPIN's verifier is compiled: breadth first, assertions and deadlocks alone, no bound of
1 GB. There is one process, so that partial order reduction would have nothing to do."""

_C = Path(__file__).parent / "ring.c"


@dataclass(frozen=True)
class Time:
    """What a search took: the clock on the wall, and the processor."""

    seconds: float
    cpu_seconds: float


def missing(*programs: str) -> str:
    """Which of these is not installed, as a remark; nothing if all of them are."""
    absent = [program for program in programs if shutil.which(program) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


def promela(size: Size) -> str:
    """The ring for SPIN: one byte for each counter, one indivisible step for each action."""
    links, capacity, elements = size
    waiting = [min(capacity, max(0, elements - link * capacity)) for link in range(links)]
    start = [f"P[{i}] = {capacity - here}; Q[{i}] = {here};" for i, here in enumerate(waiting)]
    steps = []
    for i in range(links):
        j = (i + 1) % links
        steps += [
            f"(Q[{i}] > 0 && P[{j}] > 0) -> Q[{i}]--; F[{i}]++; P[{j}]--; D[{j}]++",
            f"(D[{i}] > 0) -> D[{i}]--; Q[{i}]++",
            f"(F[{i}] > 0) -> F[{i}]--; P[{i}]++",
        ]
    return "\n".join([
        f"byte P[{links}], F[{links}], D[{links}], Q[{links}];",
        "active proctype ring() {", "  d_step {", *(f"    {line}" for line in start), "  }",
        "  do", *(f"  :: d_step {{ {step} }}" for step in steps), "  od", "}", ""])


class Peer(ABC):
    """A compiled program, which may be run several times; it ``needs`` others."""

    name: str
    needs: tuple[str, ...]

    def __init__(self, size: Size) -> None:
        self.size = size
        self.states = states_of_ring(*size)
        self.folder = tempfile.TemporaryDirectory(prefix="checkvalve-peer-")

    @abstractmethod
    def run(self) -> Time:
        """Search once, and see that no state is missing."""

    def _do(self, *command: str) -> str:
        return subprocess.run(command, cwd=self.folder.name, check=True, text=True,
                              capture_output=True).stdout

    def _timed(self, *command: str) -> tuple[str, Time]:
        before = os.times()
        output = self._do(*command)
        after = os.times()
        cpu = (after.children_user - before.children_user
               + after.children_system - before.children_system)
        return output, Time(after.elapsed - before.elapsed, cpu)

    def _expect(self, states: int, found: int) -> None:
        if found != states:
            raise InternalError(f"{type(self).__name__} found {found} states, not {states}")


class Spin(Peer):
    """SPIN's verifier for a ring."""

    name = "SPIN, breadth first"
    needs = ("spin", "gcc")

    def __init__(self, size: Size) -> None:
        super().__init__(size)
        (Path(self.folder.name) / "ring.pml").write_text(promela(size), encoding="utf-8")
        self._do("spin", "-a", "ring.pml")
        self._do("gcc", *PAN_FLAGS, "-o", "pan", "pan.c")

    def run(self) -> Time:
        """One search, with a table of a place for each state, which is what it likes best."""
        output, time = self._timed("./pan", f"-w{max(20, self.states.bit_length())}")
        found = re.search(r"(\d+) states, stored", output)
        # The step that fills the counters adds a state.
        self._expect(self.states + 1, int(found[1]) if found else 0)
        return time


class ByHand(Peer):
    """The program in C for a ring; it knows the number of states beforehand."""

    name = "C by hand, 1 thread"
    needs = ("gcc",)

    def __init__(self, size: Size) -> None:
        super().__init__(size)
        sizes = zip(("N", "C", "T", "STATES"), (*size, self.states), strict=True)
        self._do("gcc", "-O3", "-march=native", *(f"-D{name}={value}" for name, value in sizes),
                 "-o", "ring", str(_C))

    def run(self) -> Time:
        """Search once; the time to reserve memory is counted, as it is for the others."""
        output, time = self._timed("./ring")
        self._expect(self.states, int(output.split()[0]))
        return time
