"""The launchers of the programs among the targets that come with checkvalve: node, Java, Go."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from ...spec.notation.errors import InputError
from .environment import GO_ADVICE, JAVA_ADVICE, NODE_ADVICE

__all__ = ["LAUNCHERS", "Launcher"]

COMPILING_SECONDS: Final = 600.0


@dataclass(frozen=True)
class Launcher:
    """The ``command`` that runs a file, and the ``advice`` for where it is not there.

    ``compiles`` is a command that compiles a file for the first time, which takes longer than any
    reply may; the other one finds what it has left behind.
    """

    command: tuple[str, ...]
    advice: str
    compiles: tuple[str, ...] = ()

    def argv(self, name: str, file: Path) -> list[str]:
        """The command that runs the file of the target ``name``, which is compiled by then.

        Raises ``InputError`` where the program is missing or does not compile it.
        """
        if shutil.which(self.command[0]) is None:
            raise InputError(f"{name} needs the program {self.command[0]}, which is not there",
                             next_step=self.advice)
        if self.compiles:
            _compile((*self.compiles, str(file)), name, self.advice)
        return [*self.command, str(file)]


@cache
def _compile(argv: tuple[str, ...], name: str, advice: str) -> None:
    try:
        subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=COMPILING_SECONDS, check=True)
    except subprocess.TimeoutExpired:
        told = f"no end in {COMPILING_SECONDS:g} s"
    except subprocess.CalledProcessError as error:
        told = " ".join(error.stdout.decode(errors="replace").split())[:200]
    except OSError as error:
        told = str(error)
    else:
        return
    raise InputError(f"{name} cannot be compiled by {argv[0]}: {told}", next_step=advice)


LAUNCHERS: Final = {
    ".js": Launcher(("node",), NODE_ADVICE),
    # The quick compiler alone: half of a short program's life goes to the other one.
    ".java": Launcher(("java", "-XX:TieredStopAtLevel=1"), JAVA_ADVICE),
    ".go": Launcher(("go", "run"), GO_ADVICE, ("go", "build", "-o", os.devnull)),
}
"""Launchers by the ending of the program's file."""
