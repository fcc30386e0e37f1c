"""The ledger: results of earlier runs, and the arguments about mutants that survive."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkvalve.spec.notation.errors import InputError

from ...files import write_whole
from .stand import Fate

__all__ = ["ARGUMENTS", "Argument", "Results", "read_arguments"]

ARGUMENTS = Path(__file__).with_name("arguments.toml")


@dataclass(frozen=True)
class Argument:
    """Why a mutant survives. If it is ``equivalent`` nobody could tell it from the original;
    else somebody could, and ``why`` says why nobody is made to."""

    why: str
    equivalent: bool


def read_arguments(path: Path = ARGUMENTS) -> dict[str, Argument]:
    """The arguments by the id of the mutant.

    The file has two tables, ``equivalent`` and ``survivor``, of id and sentence. Raises
    ``InputError`` for anything else.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"the arguments cannot be read: {error}", str(path),
                         "Mend the file; `git diff` shows what was changed in it.") from error
    found: dict[str, Argument] = {}
    for kind, table in tables.items():
        if kind not in ("equivalent", "survivor") or not isinstance(table, dict):
            raise InputError(f"there is no table {kind} here", str(path),
                             "Write [equivalent] or [survivor].")
        for mutant, why in table.items():
            if mutant in found or not isinstance(why, str) or not why:
                raise InputError(f"one sentence is wanted for {mutant}", str(path),
                                 'Write "ID" = "why", each id once.')
            found[mutant] = Argument(why, kind == "equivalent")
    return found


class Results:
    """Fates of mutants, kept from run to run in a file of lines of JSON.

    A key is a digest of the module's text, and the mutant. ``basis`` is a digest of what else
    the fate rests on: of the killer's file, or for a survivor of all tests that it was shown
    to. Where the basis is another one now, the fate is no longer known. A run that was stopped
    goes on where it was.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[str, tuple[Fate, str]] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    row: dict[str, Any] = json.loads(line)
                    key, basis = row.pop("key"), row.pop("basis")
                    self._rows[key] = Fate(**row), basis
                except (ValueError, KeyError, TypeError):
                    continue  # the run was stopped in the middle of it
        else:
            write_whole(path, "")

    def get(self, key: str, basis: Callable[[Fate], str]) -> Fate | None:
        """The fate under a key, if it is known and rests on the same as now."""
        fate, before = self._rows.get(key, (None, ""))
        return fate if fate is not None and basis(fate) == before else None

    def put(self, key: str, fate: Fate, basis: str) -> None:
        """Remember a mutant's fate, and append it to the file."""
        self._rows[key] = fate, basis
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "basis": basis} | vars(fate)) + "\n")
