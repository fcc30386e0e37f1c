"""The ledger: results of earlier runs, and the arguments about mutants that survive."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from checkvalve.conformance.computer.files import write_whole
from checkvalve.spec.notation.errors import InputError

from .stand import Fate

__all__ = ["ARGUMENTS", "Argument", "EQUIVALENT", "MISSED", "Results", "SURVIVOR", "UNSEEN",
           "read_arguments"]

ARGUMENTS = Path(__file__).with_name("arguments.toml")

EQUIVALENT, SURVIVOR, UNSEEN, MISSED = "equivalent", "survivor", "unseen", "missed"
"""Nobody could tell the mutant from the original; somebody could, and nobody is made to; a test
kills it, and nothing that a port can ask or see differs; a test kills it, and a default run does
not, though it could."""

_KINDS: Final = (EQUIVALENT, SURVIVOR, UNSEEN, MISSED)


@dataclass(frozen=True)
class Argument:
    """Why a mutant survives, or why default runs let it pass; ``kind`` is a table of the file."""

    why: str
    kind: str

    @property
    def equivalent(self) -> bool:
        """Whether nobody could tell it from the original."""
        return self.kind == EQUIVALENT

    @property
    def about_all(self) -> bool:
        """Whether it is about a mutant that nobody kills, and not only about default runs."""
        return self.kind in (EQUIVALENT, SURVIVOR)


def read_arguments(path: Path = ARGUMENTS) -> dict[str, Argument]:
    """The arguments by the id of the mutant.

    The file has four tables, ``equivalent``, ``survivor``, ``unseen`` and ``missed``, of id and
    sentence. Raises ``InputError`` for anything else.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"the arguments cannot be read: {error}", str(path),
                         "Mend the file; `git diff` shows what was changed in it.") from error
    found: dict[str, Argument] = {}
    for kind, table in tables.items():
        if kind not in _KINDS or not isinstance(table, dict):
            raise InputError(f"there is no table {kind} here", str(path),
                             f"Write {', '.join(f'[{each}]' for each in _KINDS)}.")
        for mutant, why in table.items():
            if mutant in found or not isinstance(why, str) or not why:
                raise InputError(f"one sentence is wanted for {mutant}", str(path),
                                 'Write "ID" = "why", each id once.')
            found[mutant] = Argument(why, kind)
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
                    key, basis, _ = row.pop("key"), row.pop("basis"), row["runs"]
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
