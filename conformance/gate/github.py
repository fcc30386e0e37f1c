"""A report for GitHub Actions: annotations of a run, and its summary in Markdown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from checkvalve.spec.notation.errors import InputError

from .report import Judgement, Place, Report, Row

__all__ = ["commands", "for_this_step", "summary"]

_COMMANDS: Final[Mapping[Judgement, str]] = {
    "violated": "error", "error": "error", "unknown": "warning"}
"""The judgements that are annotated, and the workflow commands for them."""

SUMMARY_BYTES_MAX: Final = 1_000_000
"""GitHub refuses a summary of more than 1 MiB, all of it."""

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+.!|<>~&$-])")


def _is_there(environment: Mapping[str, str]) -> bool:
    """True if the environment is that of a step of GitHub Actions."""
    return environment.get("GITHUB_ACTIONS") == "true"


def commands(report: Report, workspace: str = "") -> Iterator[str]:
    """A workflow command for each row that is not as it should be. Files are named from the
    ``workspace``, the folder of the repository."""
    for row in report.rows:
        if row.judgement in _COMMANDS:
            title = f"checkvalve: {row.title()} of {row.subject}"
            fields = {**_where(row.place, workspace), "title": title}
            told = ",".join(f"{key}={_property(value)}" for key, value in fields.items())
            head = f"{row.claim()}, expected: {row.wanted()}. {row.message}".rstrip()
            yield f"::{_COMMANDS[row.judgement]} {told}::{_data(chr(10).join((head, *row.story)))}"


def _where(place: Place | None, workspace: str) -> dict[str, str]:
    if place is None:
        return {}
    path = Path(place.file)
    if workspace and path.resolve().is_relative_to(Path(workspace).resolve()):
        path = path.resolve().relative_to(Path(workspace).resolve())
    return {"file": path.as_posix(), "line": str(place.line), "col": str(place.column)}


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _write_summary(report: Report, path: Path) -> None:
    """Append the summary to the file that GitHub shows. Raises InputError if that cannot be
    done."""
    try:
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(summary(report))
    except OSError as error:
        raise InputError(f"cannot write the summary: {error.strerror}", str(path),
                         "GITHUB_STEP_SUMMARY names this file; unset it, or let it be written."
                         ) from error


def summary(report: Report) -> str:
    """The report in Markdown: the verdict, a table of what is not as it should be, and the story
    of each violation, as many as there is room for."""
    wrong = [row for row in report.rows if row.judgement in _COMMANDS]
    lines = [f"### checkvalve gate: {report.verdict}", "", ", ".join(
        f"{number} {judgement}" for judgement, number in report.counts.items() if number) + ".", ""]
    against = report.compared.get("against", {})
    lines += [f"- {_escaped(change['words'])}"
              for kind in ("added", "removed", "dropped") for change in against.get(kind, ())]
    if wrong:
        lines += [""] if against else []
        lines += ["| | subject | found | expected | |", "|---|---|---|---|---|"]
        lines += [f"| {row.judgement} | {_cells(row)} |" for row in wrong]
    text = "\n".join(lines) + "\n"
    for row in wrong:
        more = _details(row) if row.story else ""
        if len((text + more).encode("utf-8", "replace")) > SUMMARY_BYTES_MAX:
            return _cut(text) + "\nThe rest is in the files that the gate wrote.\n"
        text += more
    return text


def _cells(row: Row) -> str:
    return " | ".join(map(_escaped, (row.subject, row.claim(), row.wanted(), row.message)))


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _details(row: Row) -> str:
    """The story of a row, folded, in a fence that is longer than any within it."""
    story = "\n".join(row.story)
    longest = max(map(len, re.findall("`+", story)), default=0)
    fence = "`" * max(3, longest + 1)
    heading = f"{row.subject}: {row.title()}".replace("&", "&amp;").replace("<", "&lt;")
    return (f"\n<details><summary>{' '.join(heading.split())}</summary>\n\n{fence}text\n{story}\n"
            f"{fence}\n\n</details>\n")


def _cut(text: str) -> str:
    return text.encode("utf-8", "replace")[:SUMMARY_BYTES_MAX - 100].decode("utf-8", "ignore")


def for_this_step(report: Report, environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Write the summary, if the environment names its file; the annotations to print. Nothing is
    done outside of GitHub Actions."""
    if not _is_there(environment):
        return
    if file := environment.get("GITHUB_STEP_SUMMARY"):
        _write_summary(report, Path(file))
    yield from commands(report, environment.get("GITHUB_WORKSPACE", ""))
