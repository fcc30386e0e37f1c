"""The meaning of an event of a log to a machine, as the table ``says`` of a suite has it.

A suite's table says already which action a request or an answer stands for. A log has requests and
answers as well, at the begin and at the end of a call; so the actions are looked up there, by the
operation and its answer, and are not named a second time. What the table cannot know is for each
system to say: which phase of a call is the request and which the answer, and in which field of
an event a parameter stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...spec.notation.errors import InternalError
from .says import On, Part, Says, Table
from ..logs.points import Row

__all__ = ["Meanings"]


@dataclass(frozen=True)
class Meanings:
    """The actions of a suite's table. Each method raises ``InternalError`` where the table has no
    such line: then the two have come apart."""

    table: Table | None

    def request(self, do: str, where: str = "") -> str:
        """The action that a request is itself, in the row that is meant ``where`` a field holds."""
        for row in self._rows(do, where):
            for entry in row.tells:
                return entry.action
        raise self._absent(do, "the request")

    def answer(self, do: str, answer: Any, *, of: str = "", where: str = "") -> str:
        """The action that an answer, or the field ``of`` it, stands for."""
        return self._answer(do, answer, of, where).action

    def meant(self, do: str, answer: Any, where: str, *, of: str = "", row: str = "") -> str:
        """The action of an answer that is meant ``where`` a field holds, of several that it has in
        the ``row`` that is meant where another one holds."""
        for each in self._rows(do, row):
            for part in each.parts:
                for entry in _entries(part, answer) if part.of == of else ():
                    if entry.where == where:
                        return entry.action
        raise self._absent(do, answer)

    def beyond(self, do: str, answer: Any) -> str:
        """The action of an answer that the observer has no number for."""
        return self._answer(do, answer, "", "").beyond

    def otherwise(self, do: str, answer: Any, *, of: str = "") -> str:
        """The action of an answer that is about nothing that it could be about: the last line."""
        for row in self._rows(do, ""):
            for part in row.parts:
                if part.of == of and (found := list(_entries(part, answer))):
                    return found[-1].action
        raise self._absent(do, answer)

    def end(self, do: str, answer: Any) -> str:
        """The action that the later answer to a call that waits stands for."""
        for row in self._rows(do, ""):
            if row.later is not None:
                for entry in _entries(row.later, answer):
                    return entry.action
        raise self._absent(do, answer)

    def row(self, action: str, source: str = "", names: bool = False) -> Row:
        """The row of an action: each of its parameters comes from the one field that ``source``
        names (see ``Row``)."""
        assert self.table is not None
        over = next(each.actions_declared[action].over for each in self.table.observers
                    if action in each.actions_declared)
        return Row(action, {name: source for name, _ in over}, names)

    def _answer(self, do: str, answer: Any, of: str, where: str) -> Says:
        for row in self._rows(do, where):
            for part in row.parts:
                if part.of == of:
                    for entry in _entries(part, answer):
                        return entry
        raise self._absent(do, answer)

    def _rows(self, do: str, where: str) -> Iterator[On]:
        rows = self.table.rows.get(do, ()) if self.table is not None else ()
        return (row for row in rows if row.where == where)

    def _absent(self, do: str, answer: Any) -> InternalError:
        return InternalError(f"the suite's table has no line for {answer!r} of {do!r}")


def _entries(part: Part, answer: Any) -> Iterator[Says]:
    """The lines of a part for an answer."""
    for group in part.groups:
        for entry in group:
            if entry.answer is answer or (entry.answer == answer
                                          and type(entry.answer) is type(answer)):
                yield entry
