"""``checkvalve verify``: what the chapters promise, decided again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from checkvalve.spec.notation.labels import counted
from checkvalve.spec.shelf import subject_of

from ..computer.files import check_writable
from ..computer.progress import watched
from .options import budget_options, html_option, itf_option, quiet_option
from .outcome import EXPECTED, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from checkvalve.spec.verdicts.verdict import Budget
    from checkvalve.spec.verify import Row

__all__ = ["command"]


@click.command("verify")
@click.argument("chapters", nargs=-1)
@click.option("--rows", is_flag=True, help="Print every row, not one line for each group.")
@click.option("--traces", is_flag=True, help="Print the shortest trace of each violation.")
@html_option
@itf_option
@quiet_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--all-states", is_flag=True,
              help="Count also states that differ only by the names of alike members.")
@budget_options
def command(
    chapters: tuple[str, ...], rows: bool, traces: bool, html: Path | None, itf: Path | None,
    quiet: bool, as_json: bool, all_states: bool, budget: Budget,
) -> int:
    """Verify CHAPTERS of the rule book (all if none are named), or your own FILE.py.

    A chapter is named as in storm.queue; storm names all below it. Of a file without a
    table EXPECTATIONS every rule is expected to hold. Prints expected against found.

    Exit code 0 if every row is as expected, 1 if one is not, 2 if one could not be decided
    within the budget.
    """
    if html is not None:
        check_writable(html)
    found: list[Row] = []
    subject = ""
    produced = _rows(chapters, replace(budget, renaming=not all_states))
    if as_json:
        found = list(produced)
        document = {
            "verdict": "as expected" if all(row.as_expected for row in found) else "not",
            "results": [row.to_json() for row in found],
        }
        click.echo(json.dumps(document, indent=1))
        _write_page(html, found)
        _write_itf(itf, found)
        return _code(found)
    for _, group in groupby(_watched(produced), key=_group):
        part = list(group)
        found.extend(part)
        if quiet and all(row.as_expected for row in part):
            continue
        if not (chapters or quiet) and subject_of(part[0].chapter) != subject:
            subject = subject_of(part[0].chapter)
            click.echo(click.style(subject.capitalize(), bold=True, underline=True))
        for line in (_lines(part) if rows else [_summary(part)]):
            click.echo(line)
        if traces:
            _show_traces(part)
    _conclude(found)
    if _write_page(html, found):
        click.echo(f"Report: {html}")
    if itf is not None:
        number = counted(_write_itf(itf, found), "counterexample")
        click.echo(f"{number} in the Informal Trace Format in {itf}")
    return _code(found)


def _watched(rows: Iterator[Row]) -> Iterator[Row]:
    """The rows, each of which is watched while it is decided."""
    while True:
        with watched("verifying"):
            row = next(rows, None)
        if row is None:
            return
        yield row


def _write_itf(folder: Path | None, found: list[Row]) -> int:
    """Write the counterexamples, if they are wanted; their number."""
    if folder is None:
        return 0
    from ..report.itf import write_rows
    return len(write_rows(folder, found))


def _write_page(path: Path | None, found: list[Row]) -> bool:
    """Write the report as a page, if it is wanted."""
    if path is None:
        return False
    from ..report import write_sections
    from ..report.rows import chapter_section
    groups = (list(part) for _, part in groupby(found, key=_group))
    write_sections(path, "checkvalve verify", [
        chapter_section(part, _summary(part)) for part in groups])
    return True


def _rows(names: tuple[str, ...], budget: Budget) -> Iterator[Row]:
    """The rows of what is named; all of it is looked at before the first is decided."""
    from checkvalve.spec import chapters as book
    from checkvalve.spec.verify import verify

    named = [name for name in names if not name.endswith(".py")]
    ours = list(book.chapters(named)) if named or not names else []
    own = []
    for name in names:
        if name.endswith(".py"):
            from ..chapters.hosted import OwnChapter
            own.append(OwnChapter(Path(name), budget))
    return chain(verify(ours, budget), *(chapter.rows() for chapter in own))


def _group(row: Row) -> tuple[str, str, str, str]:
    return row.chapter, row.machine, row.rule, row.about


def _code(rows: Iterable[Row]) -> int:
    wrong = [row for row in rows if not row.as_expected]
    if any(row.verdict.outcome.value != "unknown" for row in wrong):
        return VIOLATED
    return UNKNOWN if wrong else EXPECTED


# --- text ---------------------------------------------------------------------------------

def _summary(group: list[Row]) -> str:
    """One line for all rows of an expectation."""
    from checkvalve.spec.verdicts.verdict import mark
    first = group[0]
    wrong = [row for row in group if not row.as_expected]
    known = {mark(row.verdict.outcome, row.as_expected) for row in group}
    shown = next(word for word in ("FAIL", "?   ", "ok  ") if word in known)
    methods = " or ".join(dict.fromkeys(row.verdict.method for row in group))
    expected = _counted(row.expected for row in group)
    states = max(row.verdict.states for row in group)
    seconds = sum(row.verdict.seconds for row in group)
    steps = [row.steps for row in group if row.steps]
    line = (
        f"{shown} {f'{first.chapter}.{first.machine}'.rstrip('.')} {first.rule} "
        f"[{_spans(group)}]\n"
        f"      {first.about.rstrip('.') or 'as promised'}: expected {expected}; {methods}"
    )
    if states:
        line += f", {'up to ' if len(group) > 1 else ''}{counted(states, 'state')}"
    if steps:
        few = f"{min(steps)} to " if len(set(steps)) > 1 else ""
        line += f", trace of {few}{counted(max(steps), 'step')}"
    line += f", {seconds:.2f} s"
    if wrong:
        row = wrong[0]
        which = f", first [{_constants(row)}]" if len(group) > 1 else ""
        line += (f"\n      {len(wrong)} of {counted(len(group), 'row')} not as expected{which}: "
                 f"found {row.verdict.outcome.value} {row.verdict.reason}".rstrip())
    return line


def _counted(words: Iterable[str]) -> str:
    tally: dict[str, int] = {}
    for word in words:
        tally[word] = tally.get(word, 0) + 1
    if len(tally) == 1 and next(iter(tally.values())) == 1:
        return next(iter(tally))
    return ", ".join(f"{word} in {counted(count, 'row')}" for word, count in sorted(tally.items()))


def _spans(group: list[Row]) -> str:
    """The constants of a group: ``C 1..5, b 2``."""
    parts = []
    for name in group[0].constants:
        values = {row.constants[name] for row in group}
        if values == {"all"}:
            parts.append(f"all {name}")
        elif len(values) == 1:
            parts.append(f"{name} {next(iter(values))}")
        else:
            parts.append(f"{name} {min(values)}..{max(values)}")
    return ", ".join(parts) or "defaults"


def _constants(row: Row) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.constants.items()) or "defaults"


def _lines(group: list[Row]) -> Iterator[str]:
    from checkvalve.spec.verdicts.verdict import mark
    for row in group:
        found = row.verdict
        yield (
            f"{mark(found.outcome, row.as_expected)} {row.chapter}.{row.machine} {row.rule} "
            f"[{_constants(row)}] expected {row.expected}, found "
            f"{found.outcome.value}; {found.method}, "
            f"{counted(found.states, 'state')}, {counted(row.steps, 'step')}, {found.seconds:.2f} s"
        )


def _show_traces(group: list[Row]) -> None:
    from checkvalve.spec.engines.report import trace_lines

    for row in group:
        if row.verdict.trace is not None:
            click.echo(f"      the shortest way, with {_constants(row)}:")
            for line in trace_lines(row.verdict.trace, row.slots):
                click.echo(f"      {line}")
            if row.verdict.reason:
                click.echo(f"      {row.verdict.reason}.")
            return


def _conclude(rows: list[Row]) -> None:
    wrong = sum(not row.as_expected for row in rows)
    proved = sum("for all" in row.verdict.method for row in rows)
    text: Any = f"{counted(len(rows), 'row')}, {proved} of them proved for all constants"
    click.echo(f"\n{text}: " + ("all as expected." if not wrong else f"{wrong} NOT as expected."))
