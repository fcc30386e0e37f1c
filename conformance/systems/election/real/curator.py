"""Candidates by Apache Curator, in Java: compiled once, from the source file beside this module."""

from __future__ import annotations

import atexit
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from .....spec.notation.errors import InputError
from ....adapters.child import last_lines
from ....computer.environment import JAVA_ADVICE
from ....computer.java import require_java
from ....services.zookeeper import JAVA_OPTIONS, spark_classpath
from ..contenders.campaign import Where
from .driver import RealElection
from .service import ZooKeeperService

__all__ = [
    "LatchFenced", "LatchUnfenced", "MutexFenced", "MutexUnfenced", "SelectorFenced",
    "SelectorUnfenced",
]

_SOURCE: Final = "Contenders.java"
_COMPILER: Final = "jdk.compiler/com.sun.tools.javac.Main"
_COMPILE_SECONDS: Final = 300


@cache
def _classes() -> Path:
    """The folder of the compiled program, which is removed with this process.

    Raises ``InputError`` if this Java has no compiler.
    """
    folder = tempfile.TemporaryDirectory(prefix="checkvalve-")
    atexit.register(folder.cleanup)
    source = Path(str(files(__package__).joinpath("..", "contenders", _SOURCE)))
    # Not javac: Debian's JRE has the compiler's module, though not its command.
    made = subprocess.run(
        [str(require_java() / "bin" / "java"), "-XX:TieredStopAtLevel=1", "-m", _COMPILER,
         "-d", folder.name, "-cp", spark_classpath(), str(source)],
        capture_output=True, timeout=_COMPILE_SECONDS, check=False)
    if made.returncode:
        said = (made.stderr or made.stdout).decode("utf-8", "replace")
        raise InputError(
            f"the candidates in Java cannot be compiled{last_lines(said)}", str(source),
            f"They take a Java that has the module jdk.compiler: a JDK, or Debian's JRE. "
            f"{JAVA_ADVICE}")
    return Path(folder.name)


class _Curator(RealElection):
    """A recipe of Curator on ZooKeeper."""

    service = ZooKeeperService

    def command(self, where: Where) -> Sequence[str]:
        return (
            str(require_java() / "bin" / "java"), *JAVA_OPTIONS,
            "-Dlog4j2.level=OFF", "-cp", spark_classpath(_classes()), "Contenders", self.kind,
            ",".join(where.addresses), where.name, where.identity, str(where.seconds),
            "true" if where.fenced else "false")


class LatchUnfenced(_Curator):
    """``LeaderLatch``, asked by ``hasLeadership``."""

    name = "Curator LeaderLatch"
    kind = "curator.latch"


class LatchFenced(LatchUnfenced):
    """The same, with the sequence number of its node as token."""

    name = "Curator LeaderLatch, fenced"
    fenced = True


class SelectorUnfenced(_Curator):
    """``LeaderSelector``, which leads for as long as ``takeLeadership`` runs."""

    name = "Curator LeaderSelector"
    kind = "curator.selector"


class SelectorFenced(SelectorUnfenced):
    """The same, with the sequence number of its node as token."""

    name = "Curator LeaderSelector, fenced"
    fenced = True


class MutexUnfenced(_Curator):
    """``InterProcessMutex``, with a listener for the connection."""

    name = "Curator InterProcessMutex"
    kind = "curator.mutex"


class MutexFenced(MutexUnfenced):
    """The same, with the sequence number of its node as token."""

    name = "Curator InterProcessMutex, fenced"
    fenced = True
