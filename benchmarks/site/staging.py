"""The source of the site: docs/ as it is, with links that leave it led back in, and made pages."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from checkvalve.conformance.computer.files import write_whole
from ..pages.records import CHAPTERS, chapters_table

from . import gallery, reference, rulebook
from .drawn import with_drawings

__all__ = ["ABOVE", "for_the_site", "in_menu", "stage", "write_whole_below"]

ABOVE: Final = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
"""Pages of the root that the site has as well."""

REST: Final = "<!-- the rest -->"
"""Where the first page lists the pages of docs/ that no other menu has …"""

PORTS: Final = "<!-- the ports -->"
"""… and where those of them that are about ports."""

_OF_PORTS: Final = ("-port", "-ports")

_LINK: Final = re.compile(r"(\]\()((?:\.\./)+|docs/)?([\w./-]+)(#[\w.-]+)?(\))")
_ANCHOR: Final = re.compile(r'<a id="([^"]+)"></a>')
_FRAGMENT: Final = re.compile(r"\]\([\w./-]*#[\w.-]+\)")
"""The fragment of a link: Sphinx writes all of them small."""

_SHOWN: Final = re.compile(r"^\[`[\w.]+`\]\(\.\./(examples/[\w./-]+\.py)\)$", re.MULTILINE)
"""A link to a program that stands alone in its line: the site has the program in its place."""

_MENU: Final = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)


def stage(root: Path, source: Path) -> None:
    """Write the source of the site below ``source``."""
    docs = root / "docs"
    shutil.copytree(docs, source, dirs_exist_ok=True, ignore=shutil.ignore_patterns("site", "*.md"))
    for name in ("conf.py", "site.css"):
        shutil.copy(docs / "site" / name, source / name)
    made: dict[str, str] = {}
    for module in (reference, rulebook, gallery):
        made |= module.pages(root, source)
    made |= {name: (root / name).read_text(encoding="utf-8") for name in ABOVE}
    for page in sorted(docs.rglob("*.md")):
        name = str(page.relative_to(docs))
        text = page.read_text(encoding="utf-8")
        if CHAPTERS in text:
            text = text.replace(CHAPTERS, chapters_table())
        made[name] = with_drawings(name, text, root, source)
    index = (docs / "site" / "index.myst").read_text(encoding="utf-8")
    for name, text in made.items():
        write_whole_below(source / name, for_the_site(name, text, root))
    write_whole_below(source / "index.md", _with_the_rest(index, made))


def _with_the_rest(index: str, made: Iterable[str]) -> str:
    """The first page, with the pages that no menu has in two of them: ports, and the rest."""
    there = set(in_menu(index))
    rest = sorted(name.removesuffix(".md") for name in made
                  if "/" not in name and name.removesuffix(".md") not in there)
    for place, are_ports in ((PORTS, True), (REST, False)):
        index = index.replace(place, "\n".join(
            name for name in rest if name.endswith(_OF_PORTS) == are_ports))
    return index


def in_menu(index: str) -> Iterator[str]:
    """The names of the pages in the menus of the first page."""
    for block in _MENU.findall(index):
        for line in block.splitlines():
            if line and not line.startswith((":", "<")):
                yield line.rpartition("<")[2].rstrip(">")


def for_the_site(name: str, text: str, root: Path) -> str:
    """A page with its links led to pages of the site, and out of the menu where it is below one."""
    text = _SHOWN.sub(lambda link: _shown(root / link[1]), text)
    text = _LINK.sub(lambda link: _led(link, name, root), text)
    text = _ANCHOR.sub(lambda anchor: f"[]{{#{anchor[1].lower()}}}", text)
    text = _FRAGMENT.sub(_small_fragment, text)
    is_below = name.count("/") and not name.endswith("README.md")
    return f"---\norphan: true\n---\n\n{text}" if is_below and not text.startswith("---") else text


def _led(link: re.Match[str], name: str, root: Path) -> str:
    """A link to a file of the repository, as the site has it."""
    opened, up, target, fragment, closed = link.groups(default="")
    place = (root / ("docs" if name not in ABOVE else "") / name).parent / up / target
    place = place.resolve()
    back = "../" * name.count("/")
    if place.name in ABOVE and place.parent == root:
        return f"{opened}{back}{place.name}{fragment}{closed}"
    if place.is_relative_to(root / "examples" / "gallery"):
        entry = place.relative_to(root / "examples" / "gallery").parts[:1]
        return f"{opened}{back}{'/'.join(('gallery', *entry))}.md{closed}"
    if place.is_relative_to(root / "spec") and place.suffix == ".py":
        chapter = f"{place.relative_to(root / 'spec').parts[0]}.{place.stem}"
        return f"{opened}{back}rules/{chapter}.md{closed}"
    if place == root / "README.md":
        return f"{opened}{back}index.md{closed}"
    if place.is_relative_to(root / "docs") and place.exists():
        where = place.relative_to(root / "docs")
        where = where / "README.md" if place.is_dir() else where
        return f"{opened}{back}{where.as_posix()}{fragment}{closed}"
    return link[0]


def _shown(program: Path) -> str:
    return f"```python\n{program.read_text(encoding='utf-8')}```"


def _small_fragment(link: re.Match[str]) -> str:
    page, _, fragment = link[0].partition("#")
    return f"{page}#{fragment.lower()}"


def write_whole_below(path: Path, text: str) -> None:
    """Write a file, and its folder if there is none; one that is as it should be keeps its time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_whole(path, text)
