"""Reading tables of TOML, each mistake with its line: what every configuration here shares."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import brief

from .location import Location

__all__ = ["LARGEST_FILE", "Table", "Tables", "parsed", "text_of"]

LARGEST_FILE = 1 << 20
"""In bytes. A list of designs and targets is a few hundred."""

Table = Mapping[str, Any]


def text_of(path: Path, step: str) -> str:
    """The text of a file; ``step`` is the advice if there is none. Raises InputError."""
    try:
        if path.exists() and not path.is_file():
            raise InputError("this is not a regular file", str(path), step)
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"cannot read this file: {error.strerror}", str(path), step) from error
    if len(content) > LARGEST_FILE:
        raise InputError(f"this file is larger than {LARGEST_FILE} bytes", str(path),
                         "List designs by pattern: files = [\"designs/*.yaml\"].")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError("this is not UTF-8", f"{path}:{line}", "Save it as UTF-8.") from error


def parsed(path: Path, text: str) -> Table:
    """The tables in a text. Raises InputError, with the line, if it is not TOML."""
    _check_dots(path, text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, line = Location.of_syntax_error(str(error), text)
        where = f"{path}:{line}"
        raise InputError(f"this is not TOML: {what}", where, "Fix that line.") from error
    except RecursionError as error:
        raise InputError("this nests too deeply", str(path), "Use plain lists.") from error
    except ValueError as error:  # of Python's own, which has a limit for the digits of a number
        where = f"{path}:{_line_of(_LONG_NUMBER, text)}"
        raise InputError("a number has more digits than can be read", where,
                         "Write a smaller number.") from error


_STRING = re.compile(r""""(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
_LONG_NUMBER = re.compile(r"[0-9_]{1000}")
_MOST_DOTS = 30


def _check_dots(path: Path, text: str) -> None:
    """Refuse a dotted key of many parts: reading one takes the square of their number."""
    for number, line in enumerate(_STRING.sub("", text).split("\n"), 1):
        if line.count(".") > _MOST_DOTS and line.partition("#")[0].count(".") > _MOST_DOTS:
            raise InputError(f"this line has more than {_MOST_DOTS} dots", f"{path}:{number}",
                             "Write the keys that docs/gate.md lists.")


def _line_of(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return 1 if found is None else text.count("\n", 0, found.start()) + 1


class Tables:
    """Reads the keys of tables, and knows where each stands."""

    def __init__(self, path: Path, location: Location) -> None:
        self.path = path
        self.location = location

    def look_up(
        self, table: str, at: int, key: str, name: str, look_up: Callable[[str], object]
    ) -> None:
        """Look a name up, and add to an InputError of that where ``name`` stands in this file."""
        try:
            look_up(name)
        except InputError as error:
            line = self.location.line_of_name(table, at, key, name)
            raise InputError(error.what, f"{self.path}:{line}", error.next_step) from error

    def tables(self, top: Table, name: str) -> Iterator[tuple[int, Table]]:
        """The tables of the array ``name``, numbered from 0."""
        tables = top.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
            raise self.wrong("", 0, name, f"`{name}` must be an array of tables",
                             f"Begin each with a line [[{name}]].")
        yield from enumerate(tables)

    def known_keys(self, table: Table, name: str, at: int, keys: Sequence[str]) -> None:
        """Refuse a key that is none of these."""
        for key in table:
            if key not in keys:
                raise self.wrong(name, at, key, f"there is no key `{brief(key)}` here",
                                 self.meant(key, keys))

    def text(self, table: Table, name: str, at: int, key: str) -> str:
        """A text that is not empty."""
        value = self.there(table, name, at, key)
        if not isinstance(value, str) or not value:
            raise self.wrong(name, at, key, f"`{key}` must be a text", f"Write {key} = \"…\".")
        return value

    def texts(
        self, table: Table, name: str, at: int, key: str, default: tuple[str, ...] | None
    ) -> tuple[str, ...]:
        """A list of texts that is not empty; it may be left out if there is a ``default``."""
        if default is not None and key not in table:
            return default
        value = self.there(table, name, at, key)
        if not isinstance(value, list) or not value or not all(
            isinstance(one, str) and one for one in value
        ):
            raise self.wrong(name, at, key, f"`{key}` must be a list of texts that is not empty",
                             f"Write {key} = [\"…\", \"…\"].")
        return tuple(value)

    def flag(self, table: Table, name: str, at: int, key: str) -> bool:
        """True or false; false where it is left out."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(name, at, key, f"`{key}` must be true or false",
                              f"Write {key} = true, or leave it out.")
        return value

    def positive(
        self, table: Table, name: str, at: int, key: str, default: float, *,
        whole: bool = False, least: float = 1e-3,
    ) -> float:
        """A number of at least ``least``, ``whole`` or of seconds; the default if left out."""
        value = table.get(key, default)
        kinds = (int,) if whole else (int, float)
        least = max(least, 1) if whole and least else least
        if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < 1e9:
            kind = "whole number" if whole else "number of seconds"
            raise self.wrong(name, at, key, f"`{key}` must be a {kind} of at least {least:g}, and "
                             f"it is {brief(value)}", f"Write {key} = {default:g}, for example.")
        return value

    def there(self, table: Table, name: str, at: int, key: str) -> Any:
        """The value of a key that must be there."""
        if key not in table:
            raise self.wrong(name, at, key, f"`{key}` is missing", f"Add {key} = … here.")
        return table[key]

    def wrong(self, name: str, at: int, key: str, what: str, next_step: str) -> InputError:
        """The error about a key, with its line."""
        line = self.location.line(name, at, key)
        return InputError(what, f"{self.path}:{line}", next_step)

    @staticmethod
    def meant(name: str, names: Sequence[str]) -> str:
        """The name that was meant, if one is near; else all of them."""
        close = get_close_matches(brief(name), names, 1)
        return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(names)}."
