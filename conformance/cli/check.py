"""``checkvalve check``: designs, checked for deadlock and what else is expected of them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.verdicts.deadline import Deadline, Spent
from checkvalve.spec.notation.labels import counted

from ..computer.files import check_writable
from ..computer.progress import line_away, watched
from .options import budget_options, html_option, itf_option, parameters_given, quiet_option
from .outcome import EXPECTED, UNKNOWN, VIOLATED
from .reports import Reports, report_options

if TYPE_CHECKING:
    from checkvalve.spec.design.check import Engine
    from checkvalve.spec.design.why.findings import DesignReport, Finding
    from checkvalve.spec.design.reading.language import Design
    from checkvalve.spec.verdicts.verdict import Budget

    from ..designs.certificates import Written
    from ..gate.report import Row
    from ..report.page import Section

__all__ = ["command"]

LEFT_OUT = "No drawing: "
USUAL_SECONDS = 60.0
"""Seconds for a design unless --max-seconds says otherwise: longer waits have to be asked for."""


@click.command("check")
@click.argument("designs", nargs=-1, required=True, metavar="DESIGN...")
@click.option("--method", "engine",
              type=click.Choice(["auto", "graph", "structure", "explorer", "runs"]),
              default="auto", show_default=True,
              help="graph: only the wait-for graph; structure: only equations; "
                   "explorer: only search; runs: only try.")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE",
              help="A parameter's value, in place of the file's: n=4, or n=1..8 for each.")
@click.option("--svg", "drawings", type=click.Path(path_type=Path), metavar="DIR",
              help="Draw each design into this folder, its cycle of waits in red; or one design "
                   "into this file, FILE.svg.")
@html_option
@itf_option
@click.option("--certificates", type=click.Path(path_type=Path), metavar="DIR",
              help="Write what each verdict rests on into this folder, for checkvalve certify.")
@click.option("--explain", is_flag=True,
              help="Say which engines were asked, for how long, and why they could not decide.")
@click.option("--repair/--no-repair", default=True, show_default=True,
              help="Look for a small change that removes a deadlock.")
@quiet_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@report_options()
@budget_options
def command(
    designs: tuple[str, ...], engine: Engine, given: tuple[str, ...], drawings: Path | None,
    html: Path | None, itf: Path | None, certificates: Path | None, explain: bool, repair: bool,
    quiet: bool, as_json: bool, reports: Reports, budget: Budget,
) -> int:
    """Check design files for deadlock, growth without bound, loss, failure and starvation.

    Exit code 0 if every verdict is what its design expects (holds, where it says nothing),
    1 if one is not, 2 if one could not be decided, 64 for a file that is not a design:
    then none of the others is checked either.
    A design may take 60 s, unless --max-seconds says otherwise. A file with parameters that have
    ranges stands for many designs, which are reported together.
    """
    from ..designs import load_designs
    wanted = parameters_given(given)
    reports.check(map(Path, designs))
    if budget.max_seconds is None:
        budget = replace(budget, max_seconds=USUAL_SECONDS)
    began = time.monotonic()
    loaded = [load_designs(path, wanted, Deadline(budget.max_seconds))
              for path in designs]  # all, before anything is printed
    reading = (time.monotonic() - began) / len(designs)
    if drawings is not None or certificates is not None or itf is not None:
        _check_names([design for group in loaded for design in group])
    if drawings is not None and drawings.suffix == ".svg" and sum(map(len, loaded)) > 1:
        raise InputError(f"one drawing, {drawings}, for {sum(map(len, loaded))} designs",
                         "--svg", "Name a folder: each design is drawn into a file of its own.")
    for option, given_to in (("--svg", drawings), ("--itf", itf)):
        if given_to is not None:
            _check_steps(option, (design for group in loaded for design in group))
    if html is not None:
        check_writable(html)
    budget = replace(budget, max_seconds=max(0.0, (budget.max_seconds or 0.0) - reading))
    checked: list[DesignReport] = []
    pages, written, traces = list["Section"](), list["Written"](), list[str]()
    for group in loaded:
        one = partial(_checked, engine=engine, budget=budget, explain=explain,
                      drawings=drawings, certificates=certificates, written=written, quiet=quiet,
                      itf=itf, traces=traces,
                      pages=None if html is None else pages)
        if len(group) == 1:
            checked.append(one(group[0], repair=repair, say=not as_json))
        else:
            swept = [one(design, repair=False, say=False) for design in group]
            checked += swept
            if not as_json and not (quiet and all(each.as_expected for each in swept)):
                _show_sweep(swept)
        if not as_json and not quiet:
            click.echo("")
    code = _code(checked)
    reports.write_rows(lambda: _rows(checked), "check")
    if html is not None:
        from ..report import write_sections
        write_sections(html, "checkvalve check", pages)
    if as_json:
        _print_document(checked, code, traces)
    else:
        good = sum(report.as_expected for report in checked)
        click.echo(f"{good} of {counted(len(checked), 'design')} as expected")
        if certificates is not None:
            _show_written(written, certificates)
        if html is not None:
            click.echo(f"Report: {html}")
        if itf is not None:
            _show_traces(traces, itf)
    return code


def _rows(reports: list[DesignReport]) -> Iterator[Row]:
    """The rows of the reports for other programs; designs of one file have their names."""
    from ..gate.sections import rows_of_design
    files = Counter(report.design.file for report in reports)
    for report in reports:
        file, name = report.design.file, report.design.name
        yield from rows_of_design(f"{file} ({name})" if files[file] > 1 else file, report)


def _checked(
    design: Design, *, engine: Engine, budget: Budget, drawings: Path | None,
    certificates: Path | None, written: list[Written], explain: bool, repair: bool, say: bool,
    quiet: bool, pages: list[Section] | None, itf: Path | None, traces: list[str],
) -> DesignReport:
    """The report on one design, printed as soon as it is known; ``written`` has its certificates,
    ``pages`` its section of the page, ``traces`` a word for each file in ``itf``. If it is
    ``quiet``, only where a verdict is not as expected. What is late is named also where nothing is
    to be said.
    """
    from checkvalve.spec.design.check import Settings

    from ..designs import check_design
    from ..designs.text import head, verdict_lines
    at_once = say and not quiet
    for line in head(design) if at_once else ():
        click.echo(line)  # what needs no search does not wait for one
    running = budget.start()  # one for the check and for the search for a repair
    with watched(f"checking {design.name}", limit=budget.max_seconds):
        report = check_design(design, settings=Settings(engine, running),
                              tell=_told_at_once(design) if at_once else None)
    if quiet and report.as_expected:
        say = False
    for line in (*head(design), *verdict_lines(report)) if say and quiet else ():
        click.echo(_coloured(line))
    drawing = _draw(report, drawings, running.deadline.to_tell())
    if say:
        _show(report, drawing, explain)  # the counterexample does not wait for the repair
    elif drawing.startswith(LEFT_OUT):
        click.echo(drawing, err=True)
    if certificates is not None:
        written += _certify(report, certificates, running, say)
    report = _repaired(report, running, say=say) if repair else report
    if pages is not None:
        from ..report.designs import section
        pages.append(section(report, f"d{len(pages)}", running.deadline.to_tell()))
    if itf is not None:
        traces += _traced(report, itf, running.deadline.to_tell())
    return report


def _traced(report: DesignReport, folder: Path, deadline: Deadline) -> list[str]:
    """Write the counterexamples of a design; for each file nothing, and for what is left out a
    sentence that says why."""
    from ..report.itf import write_findings
    try:
        return [""] * len(write_findings(folder, report, deadline))
    except Spent as late:
        return [f"Counterexamples of {report.design.name} are left out: {late}."]


def _show_traces(traces: list[str], folder: Path) -> None:
    """Print how many counterexamples were written, and what is left out."""
    click.echo(f"{counted(traces.count(''), 'counterexample')} in the Informal Trace Format "
               f"in {folder}")
    for late in filter(None, traces):
        click.echo(late)


def _told_at_once(design: Design) -> Callable[[Finding], None]:
    """Print each verdict when it is known: it does not wait for those of other properties."""
    from checkvalve.spec.design.check import properties

    from ..designs.text import AsKnown
    verdicts = AsKnown(properties(design))

    def tell(finding: Finding) -> None:
        with line_away():
            for line in verdicts.lines(finding):
                click.echo(_coloured(line))

    return tell


def _show_sweep(reports: list[DesignReport]) -> None:
    from ..designs.text import sweep_lines
    for line in sweep_lines(reports):
        click.echo(_coloured(line))


def _check_names(designs: list[Design]) -> None:
    """Two designs of one name would overwrite each other's drawing."""
    seen: dict[str, str] = {}
    for design in designs:
        if design.name in seen:
            raise InputError(f"the name {design.name!r} is also that of {seen[design.name]}",
                             design.file, "Give one of them another `name:`, or leave out "
                             "--svg, --itf and --certificates.")
        seen[design.name] = design.file


def _check_steps(option: str, designs: Iterable[Design]) -> None:
    """A net that has no tasks and links has nothing that is drawn, and no steps of tasks."""
    for design in designs:
        if design.net_alone:
            what = "drawn" if option == "--svg" else "stepped through"
            raise InputError(f"a net that is checked without tasks and links cannot be {what}",
                             design.file, f"Leave out {option} for this file.")


def _draw(report: DesignReport, where: Path | None, deadline: Deadline) -> str:
    """Draw the design; a line that says where, or why it is not drawn by the deadline."""
    if where is None:
        return ""
    from checkvalve.spec.design.drawing.svg import draw

    from ..computer.files import write_whole
    path = where if where.suffix == ".svg" else where / f"{report.design.name}.svg"
    try:
        write_whole(path, draw(report, deadline))
    except Spent as late:
        return f"{LEFT_OUT}{late}"
    return f"Drawing: {path}"


def _code(reports: list[DesignReport]) -> int:
    codes = {report.exit_code for report in reports}
    return next((code for code in (VIOLATED, UNKNOWN) if code in codes), EXPECTED)


def _document(reports: list[DesignReport], code: int) -> dict[str, object]:
    return {
        "as_expected": all(report.as_expected for report in reports), "exit_code": code,
        "results": [result for report in reports for result in report.results],
        "designs": [
            {key: value for key, value in report.to_json().items() if key != "results"}
            for report in reports
        ],
    }


def _print_document(reports: list[DesignReport], code: int, traces: list[str]) -> None:
    """Print the document, and beside it, as errors, what is left out of other files."""
    for late in filter(None, traces):
        click.echo(late, err=True)
    click.echo(json.dumps(_document(reports, code), indent=1, ensure_ascii=False))


def _certify(report: DesignReport, folder: Path, budget: Budget, say: bool) -> list[Written]:
    from ..designs.certificates import write_certificates
    written = write_certificates(report, folder, budget.deadline.to_tell())
    for each in written if say else ():
        click.echo(f"  Certificate: {each.path}" if each.path else
                   f"  No certificate of {each.property}: {each.why}")
    return written


def _show_written(written: list[Written], folder: Path) -> None:
    """Print how many of the known verdicts have a certificate."""
    good = sum(each.path is not None for each in written)
    click.echo(f"{good} of {counted(len(written), 'known verdict')} certified in {folder}")


def _show(report: DesignReport, drawing: str, explain: bool) -> None:
    from ..designs.text import example_lines, explanation_lines
    for line in example_lines(report):
        click.echo(line)
    if explain:
        for line in explanation_lines(report):
            click.echo(line)
    if drawing:
        click.echo(f"  {drawing}")


def _repaired(report: DesignReport, budget: Budget, say: bool) -> DesignReport:
    """The report with a repair for what is violated, or what was tried, where something is."""
    if report.design.net_alone or all(
            finding.outcome.value != "violated" for finding in report.findings):
        return report
    from ..designs.places import with_places
    from ..designs.text import repair_lines
    from checkvalve.spec.design.repairs.repair import with_repair
    with watched(f"looking for a repair of {report.design.name}", limit=budget.max_seconds):
        report = with_places(with_repair(report, budget))
    for finding in report.findings:
        if say and finding.repair is not None:
            for line in repair_lines(finding.repair, report.design.file):
                click.echo(line)
    return report


def _coloured(line: str) -> str:
    """Marks in colour; click leaves the colours out where nobody can see them."""
    for mark, colour in (("  ok    ", "green"), ("  FAIL  ", "red"), ("  ?     ", "yellow")):
        if line.startswith(mark):
            return click.style(mark, fg=colour, bold=True) + line[len(mark):]
    return line
