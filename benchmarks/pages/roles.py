"""The role of each module of this folder, and how many lines have to be believed of each kind of
certificate: the table of docs/design-language.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from checkvalve.spec import certify

__all__ = ["READING", "ROLES", "lengths", "needed_for", "table"]

READING: Final = (
    "system", "transitions", "scripts", "steps", "meetings", "signals", "lines", "parts", "limits",
    "checker")
"""The modules that each certificate needs: how a design is read, and what a certificate has to
show."""
ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "a run": ("run",),
    "a run that is repeated, or ends with an accident": (
        "repeated", "halted", "wanted", "finished"),
    "an order of counters": ("emptying",),
    "a run of a part without choice": ("confluence",),
    "sums that no transition raises": ("kept",),
    "sums and clauses, or with runs as well": ("proofs", "solver", "silence", "rescued"),
    "how many states there are": ("states", "visited"),
    "pairs of sender and receiver": ("order",),
    "a law": ("law",),
}
"""The kinds of certificates, each with the modules that were written for it."""

_FOLDER: Final = Path(certify.__file__).parent


def _text(module: str) -> str:
    return (_FOLDER / f"{module}.py").read_text(encoding="utf-8")


def lengths() -> dict[str, int]:
    """The lines of each module that takes part, without comments, docstrings and empty ones."""
    found = [path.stem for path in sorted(_FOLDER.glob("*.py"))]
    return {module: _lines_of_code(_text(module)) for module in found
            if module != "__init__"}


def _lines_of_code(text: str) -> int:
    told = {number for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and number not in told
               for number, line in enumerate(text.splitlines(), start=1))


def needed_for(role: str) -> set[str]:
    """The modules that have to be believed of such a certificate: its own, and what they import."""
    found, waiting = set(READING), list(ROLES[role])
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _imported_by(module)
    return found


def _imported_by(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(_text(module))):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            yield node.module


def table() -> str:
    """One row a kind: the lines of its own, and of all that has to be believed of it."""
    length = lengths()
    rows = ["| kind | lines of its own | all lines that one has to believe |", "|---|---|---|",
            f"| every one: the reading of a design | {sum(length[each] for each in READING):,} | |"]
    for role, own in ROLES.items():
        whole = sum(length[each] for each in needed_for(role))
        rows.append(f"| {role} | {sum(length[each] for each in own):,} | {whole:,} |")
    return "\n".join([*rows, f"| all | | {sum(length.values()):,} |"])
