"""The gallery: each hang with its story, its picture, its steps and its fix, all made here."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from checkvalve.conformance.designs import check_design, load_file
from checkvalve.conformance.report import write_sections
from checkvalve.conformance.report.designs import section
from checkvalve.spec.design.drawing.svg import draw

__all__ = ["entries", "pages"]

HEAD = """\
# A gallery of hangs

Twelve programs that stop forever, each as a design of ten to thirty lines: what happens, a picture
with the cycle of waits, the shortest run into the deadlock to step through, and a fix. Each pair of
files is checked by `checkvalve gate examples/`: the first one deadlocks, the second one does not.

"""


def entries(root: Path) -> list[Path]:
    """The folders of the gallery, relative to the root: no report names a place on this machine."""
    found = sorted((root / "examples" / "gallery").glob("*/story.md"))
    return [path.parent.relative_to(root) for path in found]


def pages(root: Path, source: Path) -> dict[str, str]:
    """The page of each hang and their list, by name; pictures and reports are written below
    ``source``."""
    with contextlib.chdir(root):
        return _pages(root, source)


def _pages(root: Path, source: Path) -> dict[str, str]:
    found = {f"gallery/{each.name}.md": "\n".join(_page(each, source)) for each in entries(root)}
    rows = "\n".join(_row(each) for each in entries(root))
    return {"gallery.md": f"{HEAD}{rows}\n", **found}


def _title(entry: Path) -> str:
    return (entry / "story.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _row(entry: Path) -> str:
    """A picture with its title, as a link."""
    about = load_file(entry / "hangs.yaml").about.strip()
    return (f"## [{_title(entry)}](gallery/{entry.name}.md)\n\n{about}\n\n"
            f"![The tasks and queues, with the cycle of waits in red](gallery/{entry.name}.svg)\n")


def _page(entry: Path, source: Path) -> Iterator[str]:
    """The page of one hang."""
    (source / "gallery").mkdir(parents=True, exist_ok=True)
    (source / "extra" / "steps").mkdir(parents=True, exist_ok=True)
    report = check_design(load_file(entry / "hangs.yaml"))
    (source / "gallery" / f"{entry.name}.svg").write_text(draw(report), encoding="utf-8")
    write_sections(source / "extra" / "steps" / f"{entry.name}.html", "checkvalve check",
                   [section(report, "d0")])
    story = (entry / "story.md").read_text(encoding="utf-8")
    tale, _, fix = story.partition("\n## Fix\n")
    folder = entry.as_posix()
    yield tale
    yield f"\n![The tasks and queues, with the cycle of waits in red]({entry.name}.svg)\n"
    steps = f"../steps/{entry.name}.html"
    yield f'<p><a class="steps" href="{steps}">Step through the deadlock</a></p>\n'
    yield "## The design that hangs\n"
    hangs = (entry / "hangs.yaml").read_text(encoding="utf-8")
    fixed = (entry / "fixed.yaml").read_text(encoding="utf-8")
    yield f"```yaml\n{hangs}```\n"
    yield f"```\ncheckvalve check {folder}/hangs.yaml\n```\n"
    yield f"## Fix\n{fix}"
    lines = difflib.unified_diff(hangs.splitlines(True), fixed.splitlines(True),
                                 "hangs.yaml", "fixed.yaml", n=2)
    yield f"```diff\n{''.join(lines)}```\n"
    yield f"```\ncheckvalve check {folder}/fixed.yaml\n```\n"
    yield _verdict(entry)


def _verdict(entry: Path) -> str:
    """What the check of the fixed design says of deadlock."""
    found = check_design(load_file(entry / "fixed.yaml")).results[0]
    how = re.sub(r"[*_<>]", "", str(found["method"]))
    return f"`{found['property']}` of the fixed design: **{found['verdict']}** ({how}).\n"
