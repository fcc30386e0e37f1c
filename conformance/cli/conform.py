"""``checkvalve conform``: a conformance suite, run on implementations."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import counted

from ..suites.system import QUICK_CASES
from ..systems.catalogue import SYSTEMS
from ..computer.files import check_writable
from ..computer.progress import watched
from .options import (
    Seconds, html_option, memory_option, names_option, quiet_option, states_option,
)
from .place import engine_of, place_options
from .outcome import EXPECTED, TARGET_FAILED, UNKNOWN, VIOLATED
from .reports import Reports, report_options

if TYPE_CHECKING:
    from ..campaigns.summary import RuleResult, Summary
    from ..engines.conduct import Order
    from ..gate.report import Row
    from ..suites.results import CaseRow

__all__ = ["command"]

_CODES = {"violated": VIOLATED, "error": TARGET_FAILED, "unknown": UNKNOWN, "not shown": UNKNOWN,
          "passed": EXPECTED}
_COLOURS: Mapping[str, Mapping[str, Any]] = {
    "violated": {"fg": "red", "bold": True}, "passed": {"fg": "green"},
    "flaky": {"fg": "yellow", "bold": True}, "unknown": {"fg": "yellow", "bold": True},
    "follows": {"fg": "yellow"}}
_ALIKE = 6
"""Ids of rules that a line names; of more only the number is named."""


def _numbers() -> str:
    """How many cases the default runs of the suites begin with, in words."""
    suites: dict[int, list[str]] = {}
    for name, system in SYSTEMS.items():
        suites.setdefault(system.cases, []).append(name)
    most = max(suites, key=lambda cases: len(suites[cases]))
    others = [f"{cases} of {', '.join(names)}" for cases, names in sorted(suites.items())
              if cases != most]
    return "; ".join((*others, f"{most} of {'all others' if others else 'every suite'}"))


@click.command("conform")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--suite", metavar="SUITE",
              help="The suite to run; `checkvalve suites` lists them.  [default: the one that the "
                   "targets are for, if they come with checkvalve]")
@click.option("--cases", type=click.IntRange(1, 1_000_000),
              help="Cases, so many and no more; each tries some twenty programs.  [default: "
                   f"{_numbers()}; and more for the rules that these exercise too little]")
@click.option("--quick", is_flag=True,
              help=f"Begin with {QUICK_CASES} cases, whatever the suite: a few seconds.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), default=0, show_default=True,
              help="The seed that all cases come from.")
@click.option("--capacity", type=click.IntRange(1, 10_000),
              help="The capacity  [default: those of the suite in turn]")
@click.option("--timeout", type=Seconds(most=3600), default=5.0,
              show_default=True, help="Seconds that a target has for one reply.")
@states_option
@click.option("--max-seconds", type=Seconds(),
              help="Begin no case of a target after this many seconds, nor a search for a shorter "
                   "failure: what is not shown by then stays so.")
@memory_option
@place_options
@click.option("--parquet", "out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the rows, one a case, to this Parquet file.")
@click.option("--fixtures", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Write the shortest failure of each rule to this folder.")
@html_option
@click.option("--known", multiple=True, metavar="RULE",
              help="A rule that the target is known to break; may be given more than once.")
@click.option("--strict", is_flag=True,
              help="Let every rule that is not shown count, also what a target says it cannot do.")
@names_option
@report_options()
@quiet_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    targets: tuple[str, ...], names: tuple[str, ...], suite: str | None, cases: int | None,
    quick: bool, seed: int, capacity: int | None, timeout: float, max_states: int,
    max_seconds: float | None, out: Path | None, fixtures: Path | None, html: Path | None,
    known: tuple[str, ...], strict: bool, as_json: bool, reports: Reports, quiet: bool,
    **where: Any,
) -> int:
    """Run a conformance suite on each TARGET and report, rule by rule.

    A target is a class of yours, by its name: thread:package.module:Class for one that threads
    call, asyncio:package.module:Class for one with coroutines; an adapter,
    python:package.module:factory or command:PROGRAM ARGUMENTS; or one that comes with checkvalve
    (reference, asyncio.Queue, zoo:silent-drop, ...). A real server that comes
    with it (kazoo.Election, etcd, ...) is started here, and runs in real time: 16 cases of one
    program at first, each the one of 40 that exercises most rules when a copy in virtual time
    rehearses it, and more for rules that these exercise too little; it takes minutes.

    Exit code 0 if no rule, MUST or SHOULD, is broken that is not --known, and all were shown but
    those of which the target itself says that it cannot show them (--strict: all, without
    exception); 1 if one is broken; 2 if one was not shown, was exercised too little or could not be
    judged, or the target does not answer alike each time; 69 if a target failed to answer, or
    keeps state from one session to the next.
    """
    from checkvalve.spec.verdicts.deadline import Deadline

    from ..foreign.place import with_names
    from ..campaigns.case import RunSettings
    from ..campaigns.summary import known_rules
    from ..engines.conduct import Order, conduct
    from ..systems.targets import check_name, rehearsal_of, resolve_target, suite_for

    targets = tuple(with_names(target, names) for target in targets)
    suite = suite_for(targets) if suite is None else suite
    order = Order(suite, cases, seed, RunSettings(
        capacity=capacity, timeout_seconds=timeout, candidates=max_states), quick=quick)
    _check_numbers(order)
    reports.check()
    accepted = known_rules(suite, known)
    engine = replace(engine_of(**where), thin=out is None)
    for target in targets:  # all, before anything is run
        check_name(target, suite)
        resolve_target(target, timeout=timeout)
    _check_outputs(out, html)
    rows: list[CaseRow] = []
    done: list[tuple[Summary, dict[str, str]]] = []
    told: list[Row] = []
    with engine.opened() as opened:
        for target in dict.fromkeys(targets):
            asked = order.in_real_time(there) if (there := rehearsal_of(target)) else order
            for line in () if as_json or quiet else _before(target, asked):
                click.echo(line)
            timed, began = replace(opened, deadline=Deadline(max_seconds)), perf_counter()
            with watched(f"{suite} on {target}"):
                summary, found = conduct(target, asked, engine=timed, known=accepted)
            summary = replace(summary, strict=strict)
            rows += found
            saved = {} if fixtures is None else _save(summary, fixtures)
            done.append((summary, saved))
            told += _rows(summary, saved, perf_counter() - began)
            if not as_json:
                _show(summary, saved, quiet)
    _write_table(rows, out)
    reports.write_rows(lambda: told, "conform")
    code = _code(summary for summary, _ in done)
    if html is not None:
        _write_page(html, done, seed, say=not as_json)
    if as_json:
        document = _document(done, code, suite=suite, cases=cases or order.first, seed=seed)
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
    return code


def _check_outputs(table: Path | None, page: Path | None) -> None:
    """Raise now what writing them would raise after all cases."""
    if table is not None:
        _check_table(table)
    if page is not None:
        check_writable(page)


def _write_table(rows: list[CaseRow], path: Path | None) -> None:
    if path is not None:
        from ..engines.table import write_rows
        write_rows(rows, path)


def _write_page(
    path: Path, done: list[tuple[Summary, dict[str, str]]], seed: int, say: bool
) -> None:
    from ..report import write_sections
    from ..report.suites import suite_section

    write_sections(path, "checkvalve conform", [
        suite_section(summary, saved, seed, _conclusion(summary)) for summary, saved in done])
    if say:
        click.echo(f"Report: {path}")


def _before(target: str, order: Order) -> Iterator[str]:
    """The lines before the run: rules that so few cases cannot show, and what a class calls
    the operations."""
    from ..campaigns.called import called
    from ..campaigns.enough import foretold

    few = order.cases and foretold(order.suite, target, order.cases, order.settings)
    if few:
        yield f"Said before the run: {few}."
    if names := called(order.suite, target, order.settings):
        said = ", ".join(f"{ours} = {theirs}" for ours, theirs in names.items())
        yield f"Read off the class: {said}."


def _check_numbers(order: Order) -> None:
    """Refuse two numbers of cases. Raises InputError."""
    if order.quick and order.cases is not None:
        raise InputError("--quick and --cases both say how many cases there are", "",
                         "Leave one of them out.")


def _check_table(out: Path) -> None:
    """Raise now what writing the table would raise after all cases."""
    from ..computer.files import check_writable

    import_module("pyarrow.parquet")
    check_writable(out)


def _code(summaries: Iterator[Summary]) -> int:
    codes = {_CODES[summary.verdict] for summary in summaries}
    gravest_first = (VIOLATED, TARGET_FAILED, UNKNOWN)
    return next((code for code in gravest_first if code in codes), EXPECTED)


def _save(summary: Summary, folder: Path) -> dict[str, str]:
    """Write the fixtures; the path of each by its rule."""
    from ..campaigns.saving import save_fixture

    return {result.rule.id: str(save_fixture(result.fixture, summary.target, folder))
            for result in summary.results if result.fixture is not None}


def _rows(summary: Summary, saved: Mapping[str, str], seconds: float) -> Iterator[Row]:
    """The rows of one target for other programs: judged as the exit code is."""
    from ..campaigns.saving import replay_command
    from ..gate.places import near, place_of_target
    from ..gate.report import Place
    from ..gate.sections import rows_of_summary

    # That a known rule is not broken any more is reported, and is no failure here.
    broken = {each.rule.id for each in summary.results if each.verdict in ("violated", "follows")}
    for row in rows_of_summary(summary, broken & summary.known, seconds, strict=summary.strict):
        path = saved.get(row.property)
        if path is not None:
            row = row.with_fixture(path, replay_command(Path(path), summary.target))
        place = place_of_target(summary.target, Path())
        if place is None and path is not None:
            place = Place(near(Path(path)))
        yield replace(row, place=place if row.judgement in (
            "violated", "unknown", "error") else None)


def _document(
    done: list[tuple[Summary, dict[str, str]]], code: int, **asked: Any
) -> dict[str, Any]:
    """The JSON document of a run: by target its summary, and all results in one list."""
    return {
        "exit_code": code, **asked,
        "targets": [
            {
                "target": summary.target, "verdict": summary.verdict, "error": summary.error,
                "cases": summary.cases, "refused": dict(summary.refused),
                "sizes": list(summary.sizes), "longest": summary.longest, "cut": summary.cut,
                "suite_version": summary.suite_version, "unjudged": summary.unjudged,
                "not_shown": {reason: list(ids) for reason, ids in summary.not_shown.items()},
                "measured": [each.to_json() for each in summary.measured],
            }
            for summary, _ in done
        ],
        "results": [
            result.to_json(saved.get(result.rule.id))
            for summary, saved in done for result in summary.results
        ],
    }


# --- text --------------------------------------------------------------------------------

def _show(summary: Summary, saved: dict[str, str], quiet: bool) -> None:
    """Print the table, the failures and the conclusion; if ``quiet``, only the last line of what is
    as expected."""
    from ..campaigns.saving import replay_command

    if quiet and _CODES[summary.verdict] == EXPECTED:
        click.echo(f"{summary.suite} on {summary.target}: {[*_conclusion(summary)][-1]}")
        return
    click.secho(f"{summary.suite} on {summary.target}, {counted(summary.cases, 'case')}", bold=True)
    for line in _table(summary):
        click.echo(line)
    for fixture in summary.fixtures:
        click.echo()
        for line in fixture.story():
            click.echo(f"  {line}")
        if fixture.rule_id in saved:
            path = saved[fixture.rule_id]
            click.echo(f"  Saved as {path}")
            click.echo(f"  Replay it: {replay_command(Path(path), summary.target)}")
    click.echo()
    for measured in summary.measured:
        click.echo(f"{measured.in_words()}.")
    for line in _conclusion(summary):
        click.echo(line)
    click.echo()


def _table(summary: Summary) -> Iterator[str]:
    """A line or more for each rule: what it says is folded into what is left of the terminal."""
    rows = [("rule", "", "verdict", "cases", "what it says")]
    colours: list[Mapping[str, Any]] = [{"bold": True}]
    for result in summary.results:
        if result.reason == "target failed":    # one message below says it
            continue
        known = " (known)" if result.rule.id in summary.known else ""
        cases = str(result.cases) if result.cases else ""
        rows.append((result.rule.id, result.rule.strength.value, f"{result.verdict}{known}",
                     cases, _says(result)))
        colours.append(_COLOURS.get(result.verdict, {"dim": True}))
    if len(rows) == 1:
        return
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    before = sum(widths) + 2 * len(widths)
    room = max(20, shutil.get_terminal_size().columns - before)
    for row, colour in zip(rows, colours, strict=True):
        cells = [cell.rjust(width) if at > 2 else cell.ljust(width)
                 for at, (cell, width) in enumerate(zip(row, widths, strict=False))]
        first, *rest = wrap(row[-1], room) or [""]
        yield click.style("  ".join([*cells, first]), **colour)
        yield from (click.style(" " * before + line, **colour) for line in rest)


def _says(result: RuleResult) -> str:
    shown = "" if result.verdict == "violated" else result.message
    if result.reason:
        shown = f"{result.reason}: {shown}"
    if result.follows_from:
        return f"{shown}. {result.rule.statement}"
    return shown or result.rule.statement


def _conclusion(summary: Summary) -> Iterator[str]:
    """The conclusion of the run; the last line is the verdict."""
    if summary.tried:
        yield summary.tried
    for words, count in summary.refused.items():
        yield f"{words.capitalize()}: {count} of {counted(summary.cases, 'case')}."
    if summary.cut:
        yield summary.cut
    if summary.error:
        yield f"The target failed: {summary.error}"
    if summary.unjudged:
        yield f"Lost track: {summary.unjudged}"
    if summary.those("passed"):
        yield "Passed means that these cases found no breach; it is not a proof."
    if summary.those("follows"):
        yield _REPAIR_FIRST
    if summary.verdict in ("unknown", "not shown") and not summary.tested_nothing:
        yield _NEXT_STEP
    if summary.tested_nothing:
        yield _NOTHING
    if summary.no_longer_broken:
        yield f"Known to be broken, but not seen to be: {', '.join(summary.no_longer_broken)}."
    news = [rule for rule in summary.those("violated") if rule not in summary.known]
    if news:
        yield f"To accept what is broken: {' '.join(f'--known {rule}' for rule in news)}"
    yield f"{summary.verdict.upper()}: {'; '.join(_tally(summary))}."


def _tally(summary: Summary) -> Iterator[str]:
    """The parts of the last line: which rules came out how, and why some did not."""
    broken: dict[str, list[str]] = {}
    for result in summary.results:
        if result.verdict == "violated":
            known = ", known" if result.rule.id in summary.known else ""
            broken.setdefault(f"{result.rule.strength.value}{known}", []).append(result.rule.id)
    yield from (f"{', '.join(ids)} ({how}) violated" for how, ids in broken.items())
    yield f"passed {counted(len(summary.those('passed')), 'rule')}"
    reasons = summary.not_shown
    if reasons:
        told = ", ".join(f"{len(ids)} {reason}{_named(ids)}" for reason, ids in reasons.items())
        yield f"{sum(map(len, reasons.values()))} not shown: {told}"
    for verdict in ("unknown", "flaky"):
        if ids := summary.those(verdict):
            yield f"{len(ids)} {verdict} ({', '.join(ids)})"
    if follows := list(_follows(summary)):
        yield f"{len(follows)} follows ({'; '.join(follows)})"


def _named(ids: Sequence[str]) -> str:
    return f" ({', '.join(ids)})" if len(ids) <= _ALIKE else ""


def _follows(summary: Summary) -> Iterator[str]:
    for result in summary.results:
        if result.follows_from:
            yield f"{result.rule.id} from {' or '.join(result.follows_from)}"


_REPAIR_FIRST = (
    "What follows is broken, perhaps only because of what broke before it: repair that, and run "
    "again.")
_NOTHING = (
    "Nothing was tested: no rule applies to what the target says that it can do. Let its adapter "
    "offer more of the port's operations, and name them in `can`; or is it of another --suite?")
_NEXT_STEP = (
    "A rule is not shown where too little was asked or offered to say either, and unknown where it "
    "could not be judged. Run more cases, in all capacities (leave out --cases and --capacity); "
    "let the adapter report and offer what the rules are about; or let its hello say what it "
    "cannot: docs/adapter-protocol.md, \"What a run does not show\"."
)
