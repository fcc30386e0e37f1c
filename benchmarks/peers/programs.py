"""SPIN, minicheck, and a program in C written by hand, on the models of ``models``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from checkvalve.spec.notation import InternalError

from .models import SearchModel

__all__ = ["PAN_FLAGS", "PEERS", "Peer", "Time"]

PAN_FLAGS = ("-O3", "-march=native", "-DSAFETY", "-DNOFAIR", "-DNOREDUCE", "-DMEMLIM=16000")
"""How SPIN's verifier is compiled: assertions and deadlocks alone, no bound of 1 GB. There is one
process, so that partial order reduction would have nothing to do."""

_C = Path(__file__).parent / "ring.c"


@dataclass(frozen=True)
class Time:
    """What a search took: the clock on the wall, and the processor."""

    seconds: float
    cpu_seconds: float


class Peer(ABC):
    """A program that searches one model, and may be run several times; it ``needs`` others.

    Leaving its block removes what it was compiled to.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]
    repeats: ClassVar[int] = 3
    states_max: ClassVar[int] = 1 << 40

    def __init__(self, model: SearchModel) -> None:
        self.model = model
        self.folder = tempfile.TemporaryDirectory(prefix="checkvalve-peer-")

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *raised: object) -> None:
        self.folder.cleanup()

    @classmethod
    def missing(cls) -> str:
        """Which of the programs that it needs is not installed, as a remark; nothing if none is."""
        absent = [program for program in cls.needs if shutil.which(program) is None]
        return f"not installed: {', '.join(absent)}" if absent else ""

    @classmethod
    def knows(cls, model: SearchModel) -> bool:
        """Whether it can search a model, and ends in good time."""
        return model.states <= cls.states_max

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
    """SPIN's verifier, breadth first."""

    name = "SPIN, breadth first"
    needs = ("spin", "gcc")
    flags: ClassVar[tuple[str, ...]] = ("-DBFS",)

    def __init__(self, model: SearchModel) -> None:
        super().__init__(model)
        (Path(self.folder.name) / "model.pml").write_text(model.text, encoding="utf-8")
        self._do("spin", "-a", "model.pml")
        self._do("gcc", *PAN_FLAGS, *self.flags, "-o", "pan", "pan.c")

    def run(self) -> Time:
        """One search, with a table of a place for each state, which is what it likes best."""
        # No way is longer than there are states, so that many places on its stack are enough.
        output, time = self._timed(
            "./pan", f"-w{max(20, self.model.states.bit_length())}", f"-m{self.model.states + 2}")
        found = re.search(r"(\d+) states, stored", output)
        if "depth too small" in output or "errors: 0" not in output:
            raise InternalError("SPIN did not search all states")
        # The step that makes the first state adds one.
        self._expect(self.model.states + 1, int(found[1]) if found else 0)
        return time


class SpinDepthFirst(Spin):
    """SPIN's verifier, depth first: no shortest trace, and no queue of states."""

    name = "SPIN, depth first"
    flags = ()


class Minicheck(Peer):
    """minicheck, from PyPI: a search in Python."""

    name = "minicheck"
    needs = ()
    repeats = 1
    states_max = 2_000_000

    @classmethod
    def missing(cls) -> str:
        return "" if find_spec("minicheck") else "not installed: pip install minicheck"

    def run(self) -> Time:
        """Search once, in a process of its own; its start is counted."""
        output, time = self._timed(
            sys.executable, "-m", f"{__package__}.plain", self.model.plain,
            *map(str, self.model.numbers))
        self._expect(self.model.states, int(output))
        return time


class ByHand(Peer):
    """The program in C for a ring; it knows the number of states beforehand."""

    name = "C by hand, 1 thread"
    needs = ("gcc",)

    def __init__(self, model: SearchModel) -> None:
        super().__init__(model)
        self._do("gcc", "-O3", "-march=native", *model.macros, "-o", "ring", str(_C))

    @classmethod
    def knows(cls, model: SearchModel) -> bool:
        return bool(model.macros)

    def run(self) -> Time:
        """Search once; the time to reserve memory is counted, as it is for the others."""
        output, time = self._timed("./ring")
        self._expect(self.model.states, int(output.split()[0]))
        return time


PEERS: tuple[type[Peer], ...] = (Spin, SpinDepthFirst, ByHand, Minicheck)
