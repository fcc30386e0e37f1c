"""The lines of keys in a TOML file, which the parser of the standard library does not give."""

from __future__ import annotations

import re

__all__ = ["Location"]

_HEADER = re.compile(r"""\s*\[\[?\s*([\w.\-"' ]+?)\s*\]\]?\s*(?:#.*)?$""")


class Location:
    """Finds the lines of tables and keys in the text of a TOML file."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def line(self, table: str, at: int, key: str) -> int:
        """The line, from 1, of ``key`` in the ``at``-th table named ``table``.

        The top of the file is the table "". A key that is not there is given the line of its
        table's header; so is one that is itself the header of a table.
        """
        seen, here, header = -1, not table, 1
        pattern = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""")
        for number, line in enumerate(self._lines, 1):
            found = _HEADER.match(line)
            if found:
                name = found[1]
                # A subtable such as [suites.known] belongs to the array's table before it.
                seen += name == table.partition(".")[0]
                here = name == table and seen == at
                header = number if here or (seen == at and header == 1) else header
                if f"{table}.{key}".strip(".") == name and (not table or seen == at):
                    return number
            elif here and pattern.match(line):
                return number
        return header

    def line_of_name(self, table: str, at: int, key: str, name: str) -> int:
        """The line of ``name`` in the list at ``key``; that of the key if it cannot be seen."""
        begin = self.line(table, at, key)
        for number, line in enumerate(self._lines[begin - 1:], begin):
            if number > begin and _HEADER.match(line):
                break
            if f'"{name}"' in line or f"'{name}'" in line:
                return number
        return begin

    @staticmethod
    def of_syntax_error(message: str, text: str) -> tuple[str, int]:
        """The complaint of the parser, and its line; the last line for "end of document"."""
        found = re.fullmatch(r"(.*?) \(at line (\d+), column \d+\)", message)
        if found:
            return found[1], int(found[2])
        return message.partition(" (at ")[0], max(1, len(text.splitlines()))
