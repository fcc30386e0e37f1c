"""``checkvalve judge``: recorded logs, judged by the observers of a suite."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from checkvalve.spec.notation.errors import InputError

from .options import Seconds, memory_option, parameters_given
from .outcome import BAD_INPUT, EXPECTED, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from ..engines.judging import Asked
    from ..engines.log_jobs import Job
    from ..logs.kinds import Logs
    from ..logs.readers import Log
    from ..logs.run import Judged
    from ..campaigns.histories import Remade
    from ..ports.base import Target
    from ..suites.system import System

__all__ = ["command"]

_LINES: int = 20
"""Events that a dry run shows."""

_LARGE_BYTES: int = 4 << 20

_FEWEST: int = 8
"""Parts of the keys of a stream on one machine, if nobody says how many: each takes time in each
batch, and a cluster's default is 200."""

_LONGEST_S: float = 1e9
"""Seconds that a stream waits, at most: thirty years."""


class _Given(NamedTuple):
    """The terms that the command line gives."""

    settings: Mapping[str, int]
    drained: bool
    remember: int
    states: int
    patience: int


@click.command("judge")
@click.argument("logs", nargs=-1, metavar="LOGS...")
@click.option("--suite", metavar="SUITE", help="Judge by the rules of this suite.")
@click.option("--map", "mapping", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              metavar="FILE", help="Which column is what, and what its values mean.")
@click.option("--format", "form",
              type=click.Choice(["jepsen", "jetstream", "opentelemetry", "redis"]),
              help="The format, if it is another tool's: a history of Jepsen's, EDN or JSON lines; "
              "events of JetStream; spans as lines of OTLP in JSON; an append-only file of Redis, "
              "or what MONITOR shows at a replica.")
@click.option("--set", "settings", multiple=True, metavar="NAME=NUMBER",
              help="A setting of the system, as capacity=4.")
@click.option("--drained", is_flag=True,
              help="At the end of the log nothing was left: what has not come out is lost.")
@click.option("--patience", type=Seconds(),
              help="After this many seconds without an event of a key, nothing is left to come: "
              "rules of progress are judged by that. The log needs times.")
@click.option("--remember", type=click.IntRange(min=0), default=1_000_000, metavar="NUMBER",
              help="Identities that have ended: remember so many texts, and numbers with gaps, of "
              "which 64 in a row count as one.")
@click.option("--dry-run", is_flag=True, help="Show the first 20 events as they are understood.")
@click.option("--save", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Save the shortest history of each violation as a log of its own key.")
@click.option("--replay", metavar="TARGET",
              help="Make the shortest history of each cause again on this implementation, by the "
              "requests of the suite.")
@click.option("--out", metavar="PLACE", help="Write all that was found to PLACE: a Parquet file; "
              "with --engine spark, a new folder of them.")
@click.option("--engine", type=click.Choice(["local", "spark"]), default="local",
              help="Judge here, or on a Spark cluster.")
@click.option("--master", help="The address of a Spark cluster, e.g. spark://host:7077.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True,
              help="Processes that judge here.")
@click.option("--partitions", type=click.IntRange(min=1), metavar="NUMBER",
              help="Tasks that judge, on Spark.")
@click.option("--ship", is_flag=True, help="Send checkvalve itself to the cluster.")
@click.option("--follow", is_flag=True, help="Judge the files of a folder as they come, on Spark.")
@click.option("--checkpoint", metavar="DIR", help="Where --follow remembers how far it is.")
@click.option("--forget", type=Seconds(_LONGEST_S),
              help="With --follow: forget a key that has had no event for this long, by the times "
              "of events. It comes back as one of which the log begins in the middle.")
@click.option("--late", type=Seconds(_LONGEST_S),
              help="With --follow: events may come this much later than others, by their times. "
              "All are held back for so long.")
@click.option("--once", is_flag=True, help="With --follow: end when the files that are there are "
              "judged.")
@click.option("--max-seconds", type=Seconds(),
              help="Judge no event after this many seconds: what is not violated by then is "
              "unknown. On Spark the cluster has limits of its own.")
@memory_option
@click.option("--max-states", type=click.IntRange(1, 10_000_000), default=2_000, show_default=True,
              help="States that a machine may be in at one time, where all orders of some calls "
              "are tried; with more, the rule is unknown.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    logs: tuple[str, ...], suite: str | None, mapping: Path | None, settings: tuple[str, ...],
    drained: bool, remember: int, dry_run: bool, save: Path | None, as_json: bool,
    out: str | None, form: str | None, replay: str | None, patience: float | None,
    max_seconds: float | None, max_states: int, jobs: int, **where: Any,
) -> int:
    """Judge recorded LOGS by the observers of a suite: what happened, whatever made it.

    A log is a file of JSON lines, CSV, Parquet or Arrow; on Spark also a folder, a pattern, a URL,
    or table:NAME. Without --map its columns are named as the fields of an event (docs/logs.md).
    Without LOGS, list what can be judged.

    Exit codes: 0 passed, 1 violated, 2 unknown, a budget was spent before the end of the log, or
    nothing of it could have broken a rule;
    64 for a log or a mapping that cannot be used, and for one that is no log of this system.
    """
    from checkvalve.spec.verdicts.deadline import Deadline

    from ..logs.formats import KINDS
    from ..engines.log_jobs import Job
    from ..logs.run import check_files, opened, terms_of
    from ..foreign.place import with_names
    from ..systems.catalogue import system_of
    from ..systems.targets import resolve_target

    if not logs:
        return _list(suite, as_json)
    if suite is None:
        raise InputError("no suite is named", next_step="Give --suite; `checkvalve judge` alone "
                         "lists those that can judge logs.")
    found = _logs_of(suite)
    given = _Given(_numbers(settings), drained, remember, max_states,
                   _nanoseconds(patience))
    engine = _engine(**where)
    _check_together(engine, found, suite, given, {
        "--max-seconds": max_seconds is not None, "--format": form is not None, "--jobs": jobs > 1})
    deadline = Deadline(max_seconds)
    after = _After(system_of(suite), found, save, None if replay is None else resolve_target(
        with_names(replay, ())))
    if engine is not None and engine.checkpoint is not None:
        return _follow(logs, suite, mapping, given, out, engine)
    if engine is not None and not dry_run:
        return _answer(_on_spark(logs, suite, mapping, given, out, engine), after, as_json)
    paths = tuple(Path(each) for each in logs)
    check_files(paths)
    kind = KINDS[form].surveyed(KINDS[form], paths) if form is not None else None
    files, mapped = opened(paths, mapping, found, given.settings, kind, whole=not dry_run)
    if dry_run:
        return _dry_run(files, found, as_json)
    job = Job(suite, terms_of(mapped, *given), paths, mapped, deadline)
    judged = _judged(job, jobs, files, keeps=out is not None)
    if kind is not None:
        judged.notes.not_shown.update(kind.not_shown)
    if out is not None:
        _write(judged, Path(out))
    _complete(judged, job, files)
    return _answer(judged, after, as_json)


def _check_together(engine: _Place | None, logs: Logs, suite: str, given: _Given,
                    has: Mapping[str, bool]) -> None:
    """Raise ``InputError`` for options that do not go together, of those that a command ``has``."""
    if given.patience and not logs.with_rest:
        raise InputError(f"no rule of {suite} that is judged on logs is about rest",
                         "--patience", "Leave it out.")
    if engine is not None and has["--max-seconds"]:
        raise InputError("--max-seconds is for a log that is judged here", "--max-seconds",
                         "Leave it out: a Spark cluster has limits of its own.")
    if has["--jobs"] and (engine is not None or has["--format"]):
        raise InputError("--jobs is for logs with the fields of events that are judged here",
                         "--jobs", "Leave it out: a cluster has --partitions, and a log of another "
                         "tool's format is judged by one process.")
    if engine is not None and has["--format"]:
        raise InputError("Spark does not read formats of other tools", "--format",
                         "Judge it here, or save it as JSON lines with the fields of events.")


def _judged(job: Job, jobs: int, files: Sequence[Log], keeps: bool) -> Judged:
    """Judge a log here, until its deadline."""
    from ..columns.run import judge_files
    from ..engines.log_jobs import judge_in_jobs

    def watch(at: int) -> None:
        job.deadline.check(f"event {at:,} of the log was judged")

    if jobs > 1:
        return judge_in_jobs(job, jobs, watch)
    return judge_files(files, job.logs, job.terms, watch, keeps=keeps)


def _complete(judged: Judged, job: Job, files: Sequence[Log]) -> None:
    """Look for the histories of the first findings that have none, until the deadline."""
    from ..columns.again import look
    from ..logs.again import completed

    completed(judged.notes, files, job.logs, job.terms, lambda at: job.deadline.check(
        "a history was looked for"), look)


class _After(NamedTuple):
    """The findings' further use: where their histories are saved, and what makes them again."""

    system: System
    logs: Logs
    save: Path | None
    target: Target | None

    def remade(self, judged: Judged) -> list[Remade]:
        """The first history of each cause, made again."""
        from ..campaigns.histories import remade

        first = {each.cause: each for each in reversed(judged.notes.findings)}
        return [] if self.target is None else [
            remade(each, self.system.suite, self.logs, judged.terms.settings, self.target)
            for each in reversed(first.values())]


class _Place(NamedTuple):
    master: str
    partitions: int | None
    ship: bool
    checkpoint: str | None
    once: bool
    forget: int
    late: int


def _engine(
    engine: str, master: str | None, partitions: int | None, ship: bool, follow: bool,
    checkpoint: str | None, once: bool, forget: float | None, late: float | None,
) -> _Place | None:
    """The cluster to judge on; None: here."""
    if follow and (engine != "spark" or checkpoint is None):
        raise InputError("--follow needs --engine spark, --checkpoint and --out", "",
                         "Add them: a folder for each of the two.")
    if not follow and (checkpoint is not None or once or (forget, late) != (None, None)):
        raise InputError("--checkpoint, --once, --forget and --late are for --follow", "",
                         "Add it.")
    if (engine == "spark") != (master is not None):
        raise InputError("--engine spark and --master go together", "",
                         "Write for example: --engine spark --master local[2].")
    if master is None and (partitions is not None or ship):
        raise InputError("--partitions and --ship are for --engine spark", "",
                         "Add --engine spark --master ADDRESS, or leave them out.")
    if master is None:
        return None
    return _Place(master, partitions, ship, checkpoint, once, _nanoseconds(forget),
                  _nanoseconds(late))


def _nanoseconds(seconds: float | None) -> int:
    return round((seconds or 0) * 1_000_000_000)


def _follow(
    places: tuple[str, ...], suite: str, mapping: Path | None, given: _Given, out: str | None,
    place: _Place,
) -> int:
    """Follow a log; a stream never says that a rule passed, for it has no end."""
    from ..engines.following import follow_on_spark
    from ..engines.log_pieces import Pace
    from ..engines.session import spark_session
    from ..engines.shipping import ship_checkvalve

    if out is None or place.checkpoint is None:
        raise InputError("--follow needs --out", "", "Give a folder for what is found.")
    if given.drained:
        raise InputError("--drained says that a log has ended, and --follow that it continues", "",
                         "Leave one of them out; where a queue was found empty, its log may have "
                         "an event \"drained\".")
    asked = _asked(places, suite, mapping, given)
    with spark_session(place.master) as session:
        if place.ship:
            ship_checkvalve(session)
        found = follow_on_spark(session, asked, place.checkpoint, out, once=place.once,
                                pace=Pace(place.late, place.forget),
                                partitions=place.partitions or (
                                    _FEWEST if place.master.startswith("local") else None))
    for rule, number in sorted(found.items()):
        click.echo(f"FAIL {rule:10} violated at {number} keys so far")
    if not found:
        click.echo("nothing is violated so far")
    click.echo(f"What was found is in {out}.")
    return VIOLATED if found else EXPECTED


def _asked(
    places: tuple[str, ...], suite: str, mapping: Path | None, given: _Given
) -> Asked:
    from ..engines.judging import Asked
    from ..logs.run import mapped_for, terms_of

    logs = _logs_of(suite)
    mapped = mapped_for(mapping, logs, given.settings)
    return Asked(places, suite, logs, mapped, terms_of(mapped, *given))


def _on_spark(
    places: tuple[str, ...], suite: str, mapping: Path | None, given: _Given, out: str | None,
    place: _Place,
) -> Judged:
    from ..engines.judging import judge_on_spark
    from ..engines.session import spark_session
    from ..engines.shipping import ship_checkvalve

    asked = _asked(places, suite, mapping, given)
    with spark_session(place.master, is_long=_are_large(places)) as session:
        if place.ship:
            ship_checkvalve(session)
        return judge_on_spark(session, asked, out=out, partitions=place.partitions)


def _are_large(places: tuple[str, ...]) -> bool:
    """True if a log has a million rows or so, or what it has is not known here."""
    if not all(Path(place).exists() for place in places):
        return True
    files = [each for place in map(Path, places)
             for each in ([place] if place.is_file() else place.rglob("*")) if each.is_file()]
    return sum(each.stat().st_size for each in files) >= _LARGE_BYTES


def _write(judged: Judged, out: Path) -> None:
    """Write what was found to a Parquet file; it is there when it is whole."""
    import pyarrow as pa
    from pyarrow import parquet

    from ..logs.rows import arrow_schema, rows_of

    if out.exists():
        raise InputError("there is something at the path of the findings already", str(out),
                         "Give another path, or remove it.")
    half = out.with_name(f".{out.name}.half")
    try:
        parquet.write_table(pa.Table.from_pylist(list(rows_of(judged.notes)), arrow_schema()), half)
        half.replace(out)
    except OSError as error:
        raise InputError(f"the findings cannot be written: {error.strerror}", str(out),
                         "Give a path in a folder that is there.") from None


def _answer(judged: Judged, after: _After, as_json: bool) -> int:
    """Print what was judged, do with the histories what is asked, and give the exit code."""
    from ..campaigns.histories import document_of, in_words
    from ..logs.answer import document, lines, outcome_of

    logs, save = after.logs, after.save
    again = after.remade(judged)
    if as_json:
        whole = document(judged, logs)
        if after.target is not None:
            whole["replays"] = [document_of(each) for each in again]
        click.echo(json.dumps(whole, indent=1, ensure_ascii=False, default=str))
    else:
        for line in (*lines(judged, logs), *itertools.chain.from_iterable(map(in_words, again))):
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

    system = system_of(suite)
    found: Logs | None = system.logs
    if found is None:
        able = [name for name, each in SYSTEMS.items() if each.logs is not None]
        raise InputError(f"the suite {suite!r} does not judge logs: {system.no_logs}",
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
    never."""
    logs = system.logs
    always = {rule.id for rule in logs.rules} if logs is not None else set()
    rest = dict(logs.with_rest) if logs is not None else {}
    ids = dict.fromkeys([rule.id for rule in system.suite.rules()]) | dict.fromkeys(
        [*sorted(always), *rest])
    return {name: "judged on logs" if name in always else
            f"with an event {rest[name]!r}, or --patience" if name in rest else "never"
            for name in ids}


def _described(system: System) -> Iterator[str]:
    logs = system.logs
    if logs is None:
        yield f"{system.name}: never judged on logs: {system.no_logs}"
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
        return {"suite": system.name, "judges_logs": False, "why": system.no_logs}
    return {"suite": system.name, "judges_logs": True,
            "operations": {name: call.meaning for name, call in logs.operations.items()},
            "settings": dict(logs.settings), "required": list(logs.required),
            "rules": dict(judged_of(system))}
