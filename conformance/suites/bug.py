"""Real bugs of a kind of component, and what became of each here.

A row is one bug. It is a *twin*, which a suite must kill; or a *machine* of a chapter, on
which ``checkvalve verify`` expects a violated rule; or both; or it is behaviour that the
chapters do not model, and the row says why. Where it is both, the machine is refused by the rule
that the twin dies by, or the row says why not. ``checkvalve zoo --histories`` prints the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Bug", "bug", "lines"]


class Bug(NamedTuple):
    """A bug: its issues, what went wrong, and its twins and machines (``chapter.Machine``).

    ``apart`` says why no machine of it is refused by a rule that one of its twins dies by.
    """

    issues: tuple[str, ...]
    bug: str
    twins: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    not_modelled: str = ""
    apart: str = ""


def bug(issues: str, bug: str, twins: str = "", machines: str = "", not_modelled: str = "",
        apart: str = "") -> Bug:
    """A row; ``issues`` with commas between them, twins and machines with spaces."""
    return Bug(tuple(issues.split(", ")), bug, tuple(twins.split()), tuple(machines.split()),
               not_modelled, apart)


def lines(bugs: Iterable[Bug]) -> Iterator[str]:
    """The table, one line for each bug."""
    for row in bugs:
        yield f"{', '.join(row.issues)}: {row.bug}"
        for what, names in (("twins", row.twins), ("machines", row.machines)):
            if names:
                yield f"    {what}: {', '.join(names)}"
        for what, why in (("not modelled", row.not_modelled), ("apart", row.apart)):
            if why:
                yield f"    {what}: {why}"
