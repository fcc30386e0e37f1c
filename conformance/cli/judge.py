"""``checkvalve judge``: recorded logs, judged by the observers of a suite."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checkvalve.spec.notation.errors import InputError

from .options import parameters_given
from .outcome import BAD_INPUT, EXPECTED, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from ..logs.kinds import Logs
    from ..logs.readers import Log
    from ..suites.system import System

__all__ = ["command"]

_LINES: int = 20
"""Events that a dry run shows."""


@click.command("judge")
@click.argument("logs", nargs=-1, metavar="LOGS...", type=click.Path(path_type=Path))
@click.option("--suite", metavar="SUITE", help="Judge by the rules of this suite.")
@click.option("--map", "mapping", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              metavar="FILE", help="Which column is what, and what its values mean.")
@click.option("--set", "settings", multiple=True, metavar="NAME=NUMBER",
              help="A setting of the system, as capacity=4.")
@click.option("--drained", is_flag=True,
              help="At the end of the log nothing was left: what has not come out is lost.")
@click.option("--remember", type=click.IntRange(min=0), default=1_000_000, metavar="NUMBER",
              help="Identities that are texts and have ended: remember so many.")
@click.option("--dry-run", is_flag=True, help="Show the first 20 events as they are understood.")
@click.option("--save", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Save the shortest history of each violation as a log of its own key.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    logs: tuple[Path, ...], suite: str | None, mapping: Path | None, settings: tuple[str, ...],
    drained: bool, remember: int, dry_run: bool, save: Path | None, as_json: bool,
) -> int:
    """Judge recorded LOGS by the observers of a suite: what happened, whatever made it.

    A log is a file of JSON lines, CSV, Parquet or Arrow. Without --map its columns are named as the
    fields of an event (docs/logs.md). Without LOGS, list what can be judged.

    Exit codes: 0 passed, 1 violated, 2 unknown, or nothing of the log could have broken a rule;
    64 for a log or a mapping that cannot be used, and for one that is no log of this system.
    """
    from ..logs.kinds import Terms
    from ..logs.run import judge_files, opened

    if not logs:
        return _list(suite, as_json)
    if suite is None:
        raise InputError("no suite is named", next_step="Give --suite; `checkvalve judge` alone "
                         "lists those that can judge logs.")
    found = _logs_of(suite)
    given = _numbers(settings)
    files, mapped = opened(logs, mapping, found, given)
    if dry_run:
        return _dry_run(files, found, as_json)
    terms = Terms({**mapped.settings, **given}, mapped.begins == "start", drained, remember,
                  mapped.tolerance)
    return _answer(judge_files(files, found, terms), found, save, as_json)


def _answer(judged: object, logs: Logs, save: Path | None, as_json: bool) -> int:
    from ..logs.answer import document, lines, outcome_of
    from ..logs.run import Judged

    assert isinstance(judged, Judged)
    if as_json:
        click.echo(json.dumps(document(judged, logs), indent=1, ensure_ascii=False, default=str))
    else:
        for line in lines(judged, logs):
            click.echo(line)
    if save is not None:
        with save.open("w", encoding="utf-8") as file:
            for number, each in enumerate(judged.notes.findings):
                for event in each.history:
                    file.write(json.dumps({
                        name: value for name, value in event._asdict().items()
                        if value is not None and name not in ("file", "line")
                        } | {"key": f"{each.key}#{number}"}, default=str) + "\n")
    outcome = outcome_of(judged, logs)
    if outcome == "not a log of this system" and as_json:
        return BAD_INPUT
    if outcome == "not a log of this system":
        doubt = judged.notes.foreign[0]
        raise InputError(f"this is not a log of this system: {doubt.why}",
                         doubt.event.source if doubt.event else "",
                         "A record is missing or doubled, or the mapping is wrong; try --dry-run.")
    return {"passed": EXPECTED, "violated": VIOLATED}.get(outcome, UNKNOWN)


def _numbers(settings: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for name, text in parameters_given(settings).items():
        if not text.isdecimal():
            raise InputError(f"--set {name}={text[:40]} is no whole number",
                             next_step=f"Write for example --set {name}=4.")
        found[name] = int(text)
    return found


def _logs_of(suite: str) -> Logs:
    from ..systems.catalogue import SYSTEMS, system_of

    found = system_of(suite).logs
    if found is None:
        able = [name for name, system in SYSTEMS.items() if system.logs is not None]
        raise InputError(f"the suite {suite!r} cannot judge logs yet",
                         next_step=f"Those that can: {', '.join(able)}.")
    return found


def _dry_run(files: Sequence[Log], logs: Logs, as_json: bool) -> int:
    from ..logs.events import shown
    from ..logs.run import checked

    events = itertools.islice(checked(files, logs), _LINES)
    if as_json:
        click.echo(json.dumps({"events": [event._asdict() for event in events]}, indent=1,
                              ensure_ascii=False, default=str))
        return EXPECTED
    for event in events:
        click.echo(f"{event.line:>8}  {event.key!r}  {shown(event)}")
    return EXPECTED


def _list(suite: str | None, as_json: bool) -> int:
    """Print rule by rule whether it is judged on logs, as the systems say it."""
    from ..systems.catalogue import SYSTEMS, system_of

    systems = [system_of(suite)] if suite is not None else list(SYSTEMS.values())
    if as_json:
        click.echo(json.dumps({"suites": [_document(each) for each in systems]}, indent=1,
                              ensure_ascii=False))
        return EXPECTED
    for system in systems:
        for line in _described(system):
            click.echo(line)
    return EXPECTED


def judged_of(system: System) -> Mapping[str, str]:
    """By rule that a suite or its logs judge: on any log, on one with an event that says rest, or
    not on logs."""
    logs = system.logs
    always = {rule.id for rule in logs.rules} if logs is not None else set()
    rest = dict(logs.with_rest) if logs is not None else {}
    ids = dict.fromkeys([rule.id for rule in system.suite.rules()]) | dict.fromkeys(
        [*sorted(always), *rest])
    return {name: "judged on logs" if name in always else
            f"with an event {rest[name]!r}" if name in rest else "not on logs" for name in ids}


def _described(system: System) -> Iterator[str]:
    logs = system.logs
    if logs is None:
        yield f"{system.name}: not judged on logs yet"
        return
    yield click.style(f"{system.name}: {system.about}", bold=True)
    for name, call in logs.operations.items():
        yield f"    {name:12} {call.meaning}"
    for name, meaning in logs.settings.items():
        needed = " (needed)" if name in logs.required else ""
        yield f"    --set {name}=…  {meaning}{needed}"
    for rule, how in judged_of(system).items():
        yield f"    {rule:12} {how}"


def _document(system: System) -> dict[str, object]:
    logs = system.logs
    if logs is None:
        return {"suite": system.name, "judges_logs": False}
    return {"suite": system.name, "judges_logs": True,
            "operations": {name: call.meaning for name, call in logs.operations.items()},
            "settings": dict(logs.settings), "required": list(logs.required),
            "rules": dict(judged_of(system))}
