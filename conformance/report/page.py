"""The page: a template, a style and a program that ship with the package, and data.

Nothing that comes from a design, a target or a file is markup here. All of it is in one JSON
document, in which ``<`` is written as ``\\u003c``, and the program in the page puts it there as
text. Only the drawings are markup: our own, in which names are escaped. The policy in the head of
the page lets run just this program and this style, by their digests, and allows no request.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

__all__ = ["Line", "Section", "page"]


@dataclass(frozen=True)
class Line:
    """A verdict: its ``mark`` (ok, fail or unknown), what it is about, the verdict in ``words``,
    and what else there is to say of it."""

    mark: str
    about: str
    words: str
    note: str = ""


@dataclass(frozen=True)
class Section:
    """The findings on one subject: its verdicts, its runs (see ``runs``), each with the number of
    its drawing, and ``more``: blocks of text, each with its heading."""

    title: str
    where: str = ""
    about: str = ""
    lines: tuple[Line, ...] = ()
    runs: tuple[dict[str, Any], ...] = ()
    drawings: tuple[str, ...] = ()
    more: tuple[tuple[str, str], ...] = ()
    repeat: str = ""
    notes: tuple[str, ...] = field(default=())


def page(title: str, sections: Sequence[Section]) -> str:
    """The whole HTML text."""
    style, program = _part("page.css"), _part("page.js")
    drawings: list[str] = []
    plain = []
    for section in sections:
        told = asdict(section)
        told["drawings"] = list(range(len(drawings), len(drawings) + len(section.drawings)))
        drawings += section.drawings
        plain.append(told)
    parts = {
        "title": escape(title), "style": style, "program": program,
        "policy": (f"default-src 'none'; script-src '{_digest(program)}'; "
                   f"style-src '{_digest(style)}'; base-uri 'none'; form-action 'none'"),
        "drawings": "\n".join(f'<template id="drawing-{number}">{drawing}</template>'
                              for number, drawing in enumerate(drawings)),
        "data": _escaped({"title": title, "sections": plain}),
    }
    # Split first: what is put in is never looked through for more places to fill.
    head, *rest = _part("page.html").split("{{")
    return head + "".join(
        parts[name] + text for name, _, text in (each.partition("}}") for each in rest))


def _part(name: str) -> str:
    return (files(__package__ or "") / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _escaped(document: object) -> str:
    """The document as JSON that ends no script element, wherever in the page it stands."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
