"""``checkvalve gate``: all that a checkvalve.toml lists, to one verdict."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path

import click

from ..computer.files import write_whole
from ..gate import GateConfig, Row, load, run_gate
from ..gate.github import for_this_step
from ..gate.text import heading, lines_of, verdict_line
from .earlier import Earlier, earlier_options
from .options import html_option, quiet_option
from .reports import Reports, report_options

__all__ = ["command"]

_FOLDER = Path(".checkvalve")


@click.command("gate")
@click.argument("config", type=click.Path(path_type=Path), default=".")
@click.option("--json", "as_json", is_flag=True,
              help="Print the report as one JSON document instead of tables.")
@click.option("--json-file", type=click.Path(path_type=Path, dir_okay=False),
              default=_FOLDER / "gate.json", show_default=True, help="Where the JSON file goes.")
@click.option("--fixtures", type=click.Path(path_type=Path, file_okay=False),
              default=_FOLDER / "fixtures", show_default=True,
              help="Where the shortest failure of each broken rule goes.")
@report_options(junit=_FOLDER / "gate.xml")
@html_option
@quiet_option
@click.option("--strict", is_flag=True,
              help="Let every rule that is not shown count, also what a target says it cannot do.")
@earlier_options
def command(
    config: Path, as_json: bool, json_file: Path, reports: Reports, html: Path | None,
    fixtures: Path, quiet: bool, strict: bool, earlier: Earlier,
) -> int:
    """Run all that a checkvalve.toml lists; one verdict, for CI.

    CONFIG is the file, or the folder that has one (default: this folder). It lists designs
    with the verdicts that their authors expect, suites with their targets and the rules that
    each is known to fail, and chapters to verify.

    Exit codes: 0 all as expected, 1 something violated, 2 something unknown, or a rule that was
    not shown though its target does not say that it cannot, 64 bad input, 69 a target that failed.
    With --baseline or --against only what is new counts.
    """
    settings = load(config)
    outputs = earlier.outputs(reports.and_also("--json-file", json_file))
    if html is not None:
        outputs = outputs.and_also("--html", html)
    outputs.check([*earlier.inputs, settings.path, *(
        file for designs in settings.designs for file in designs.files)])
    if not as_json and not quiet:
        _foretell(settings)
    settings = earlier.begin(settings, strict, (lambda line: None) if as_json else click.echo)
    report = earlier.compared(run_gate(
        settings, (lambda rows: None) if as_json else _Printer(quiet).show, strict, fixtures,
        earlier.accept))
    document = json.dumps(report.document(), indent=2)
    write_whole(json_file, document + "\n")
    reports.write(report, "gate")
    if html is not None:
        from ..report import write_sections
        from ..report.rows import gate_sections
        write_sections(html, "checkvalve gate", gate_sections(report))
    for line in for_this_step(report):
        click.echo(line, err=True)  # GitHub reads both; stdout may be one JSON document
    if as_json:
        click.echo(document)
    else:
        for line in earlier.lines(report):
            click.echo(line)
        click.echo(f"Written: {', '.join(map(str, outputs.files.values()))}")
        click.echo(verdict_line(report))
    return report.exit_code


def _foretell(settings: GateConfig) -> None:
    """Say what the numbers of cases that were asked for cannot show, before anything is run."""
    asked = [suite for suite in settings.suites if suite.cases is not None]
    if not asked:
        return
    from ..campaigns.case import RunSettings
    from ..campaigns.enough import foretold

    with chdir(settings.path.parent):
        for suite in asked:
            for target in suite.targets:
                told = foretold(suite.suite, target, suite.cases or 0, RunSettings(
                    timeout_seconds=suite.timeout))
                if told:
                    click.echo(f"Said before the run of {suite.suite} on {target}: {told}.")


class _Printer:
    """Prints rows as they come, with a heading wherever a new section begins."""

    def __init__(self, quiet: bool) -> None:
        self._section = ""
        self._quiet = quiet

    def show(self, rows: tuple[Row, ...]) -> None:
        if self._quiet:
            rows = tuple(row for row in rows if row.judgement in ("violated", "unknown", "error"))
        if rows and rows[0].section != self._section:
            self._section = rows[0].section
            click.echo(heading(self._section))
        for line in lines_of(rows):
            click.echo(line)
