"""Citations: what a rule or a sentence rests on, and where to read on.

One form, wherever something is cited: ``storm#D4`` is an anchor of the page ``storm`` of
docs/sources, ``STORM-3763`` and ``anyio #146`` are issues, which the page of their project lists,
and ``docs/decisions/….md`` is a decision. docs/sources/README.md explains it.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["Citation", "citations"]

_PAGES: Final = r"00[0-4]|storm|kafka|libraries|election|bookkeeper|reactive|broker"

_FORM: Final = re.compile(
    rf"""(?<![\w/#.-])(?:
      (?P<page>{_PAGES})\#(?P<anchor>[A-Za-z][\w-]*)
    | (?P<issue>(?P<tracker>STORM|KAFKA|bpo)-\d+)
    | (?P<project>(?:[A-Za-z]+/)?[A-Za-z]+)\ ?\#(?P<number>\d+)
    | (?P<file>docs/[\w/-]+\.md)
    )(?![\w-])""", re.VERBOSE)

_LISTED_ON: Final = {"STORM": "storm", "KAFKA": "kafka", "bpo": "libraries", "jstorm": "storm",
                     "bookkeeper": "bookkeeper"}
"""The page that lists a tracker's or a project's issues; ``libraries`` those of all others."""


class Citation(NamedTuple):
    """One citation: its text, the file that it leads to, and the anchor there, or ``""``."""

    text: str
    file: str
    anchor: str

    @property
    def where(self) -> str:
        """``docs/sources/storm.md#D4``: what to open."""
        return f"{self.file}#{self.anchor}" if self.anchor else self.file


def citations(text: str) -> tuple[Citation, ...]:
    """All citations in a text, in its order, each place once.

    What a text says besides is passed over, so a source that cites nothing gives none.
    """
    found: dict[str, Citation] = {}
    for match in _FORM.finditer(text):
        cited = _cited(match)
        found.setdefault(cited.where, cited)
    return tuple(found.values())


def _cited(match: re.Match[str]) -> Citation:
    part = match.groupdict()
    if part["page"]:
        return Citation(match[0], _page(part["page"]), part["anchor"])
    if part["issue"]:
        return Citation(match[0], _page(_LISTED_ON[part["tracker"]]), part["issue"])
    if part["file"]:
        return Citation(match[0], part["file"], "")
    # "python/asyncio #265": the repository's own name is what people know it by.
    project = part["project"].rpartition("/")[2].lower()
    return Citation(match[0], _page(_LISTED_ON.get(project, "libraries")),
                    f"{project}-{part['number']}")


def _page(name: str) -> str:
    return f"docs/sources/{name}.md"
