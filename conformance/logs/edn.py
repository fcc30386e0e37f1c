"""Reading EDN, the notation of Clojure's data, form by form.

A keyword is its name, a tag is left out, a vector, a list and a set are lists. The elements of one
vector or list at the top are as good as forms: a history is written in either way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ...spec.notation.errors import InputError
from .events import in_line

__all__ = ["forms"]

_TOKEN: Final = re.compile(
    r'[\s,]+|;.*|(?P<text>"(?:[^"\\]|\\.)*")|(?P<open>#?\{|\[|\()|(?P<close>[\]})])'
    r'|(?P<tag>#[\w./-]+)|(?P<atom>[^\s,;"\[\](){}]+)')
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_ENDS: Final = {"{": "}", "#{": "}", "[": "]", "(": ")"}

Token = tuple[int, str, str]


def forms(lines: Iterable[str], file: str) -> Iterator[tuple[int, Any]]:
    """The forms with the lines in which they begin. Raises ``InputError``."""
    tokens = _tokens(lines, file)
    first = True
    for token in tokens:
        line, kind, text = token
        if first and kind == "open" and text in "[(":
            for inner in tokens:
                if inner[1] == "close":
                    return
                if inner[1] != "tag":
                    yield inner[0], _form(inner, tokens, file)
            raise _cut(file, line)
        first = False
        if kind != "tag":
            yield line, _form(token, tokens, file)


def _tokens(lines: Iterable[str], file: str) -> Iterator[Token]:
    for number, line in enumerate(lines, 1):
        at = 0
        while at < len(line):
            found = _TOKEN.match(line, at)
            if found is None:
                raise in_line(f"this is not EDN: {line[at:at + 20]!r}", file, number,
                              "Give a history as Jepsen writes it (history.edn).")
            at = found.end()
            if found.lastgroup is not None:
                yield number, found.lastgroup, found[0]


def _form(token: Token, tokens: Iterator[Token], file: str) -> Any:
    """The value that begins with a token; of a list, set or map, all tokens up to its end are
    used."""
    line, kind, text = token
    if kind == "text":
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])
    if kind == "atom":
        return _atom(text)
    if kind == "close":
        raise in_line(f"this is not EDN: {text!r} closes nothing", file, line,
                      "Copy the whole file.")
    inside = []
    for inner in tokens:
        if inner[1] == "close":
            if inner[2] != _ENDS[text]:
                raise in_line(f"this is not EDN: {inner[2]!r} after {text!r}", file, inner[0],
                              "Copy the whole file.")
            break
        if inner[1] != "tag":
            inside.append(_form(inner, tokens, file))
    else:
        raise _cut(file, line)
    if text != "{":
        return inside
    if len(inside) % 2:
        raise in_line("this is not EDN: a map has a key without a value", file, line,
                      "Copy the whole file.")
    return {name if isinstance(name, str) else str(name): value
            for name, value in zip(inside[::2], inside[1::2], strict=True)}


def _atom(text: str) -> Any:
    if text in ("nil", "true", "false"):
        return {"nil": None, "true": True, "false": False}[text]
    if text.startswith(":"):
        return text[1:]
    for kind in (int, float):
        try:
            return kind(text.rstrip("NM"))
        except ValueError:
            continue
    return text


def _cut(file: str, line: int) -> InputError:
    return in_line("the file ends in the middle of a form that begins here", file, line,
                   "Copy the whole file.")
