"""Running what a checkvalve.toml lists, one subject after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import replace
from functools import partial
from pathlib import Path

from checkvalve.spec.notation.errors import CheckvalveError, InternalError
from checkvalve.spec.verdicts.deadline import Spent

from ..computer.progress import watched
from .config import USUAL_TIMEOUT, GateConfig
from .places import near, place_of_target, place_written
from .report import Place, Report, Row, Section
from .sections import chapter_rows, design_rows, suite_rows

__all__ = ["run_gate"]

Rows = tuple[Row, ...]
Job = tuple[Section, str, Callable[[], Rows]]


def run_gate(
    config: GateConfig, show: Callable[[Rows], None], strict: bool = False,
    fixtures: Path | None = None, accept: Callable[[Row], Row] = lambda row: row,
) -> Report:
    """Run everything; ``show`` is given the rows of each subject as soon as they are there.
    ``strict``: a rule that is not shown counts, whatever the reason. The shortest failure of each
    rule that is broken is saved in ``fixtures``, if that is given. ``accept`` is asked about each
    row, and may return it as one that does not count.

    What cannot be used, a design with a mistake in it or a target that does not import, is a
    row of its own, and the rest is run all the same. Raises InternalError at once.
    """
    began = time.perf_counter()
    rows: list[Row] = []
    for section, subject, job in _jobs(config, strict):
        with watched(subject):
            ran = _run(section, subject, job)
        found = tuple(_placed(row, config) for row in ran)
        if fixtures is not None:
            found = tuple(_saved(row, fixtures, config) for row in found)
        found = tuple(map(accept, found))
        show(found)
        rows += found
    return Report(str(config.path), tuple(rows), time.perf_counter() - began)


def _jobs(config: GateConfig, strict: bool) -> Iterator[Job]:
    base = config.path.parent
    for designs in config.designs:
        for file in designs.files:
            # A pattern may lead anywhere; what is below the configuration is named from there.
            near = file.relative_to(base) if file.is_relative_to(base) else file
            subject = near.as_posix()
            yield "designs", subject, partial(design_rows, subject, file, designs)
    for suite in config.suites:
        for target in suite.targets:
            job = partial(_in_folder, base, partial(suite_rows, suite, target, strict))
            yield "suites", f"{suite.suite} on {target}", job
    for chapter in config.verify:
        yield "chapters", chapter, partial(chapter_rows, chapter, config.limits)


def _in_folder(folder: Path, job: Callable[[], Rows]) -> Rows:
    # So that python:module:factory and command:./adapter are found beside the configuration.
    with chdir(folder):
        return job()


def _run(section: Section, subject: str, job: Callable[[], Rows]) -> Rows:
    began = time.perf_counter()
    try:
        return job()
    except InternalError:
        raise
    except Spent as late:
        why = f"{late}: give it more (max_seconds, max_memory), or ask about less at a time"
        return (Row(section, subject, "can be read", "read", "undecided", "unknown", why,
                    time.perf_counter() - began),)
    except CheckvalveError as error:
        details = {"fault": error.fault, "where": error.where, "next_step": error.next_step}
        return (Row(section, subject, "can be run", "runs", "cannot be run", "error", str(error),
                    time.perf_counter() - began, details),)


def _placed(row: Row, config: GateConfig) -> Row:
    """The row with the place to look at, if it is not as it should be: where its error says, in
    the code of its target, or where it is listed."""
    if row.place is not None or row.judgement in ("as expected", "follows", "not shown"):
        return row
    base = config.path.parent
    place = place_written(str(row.details.get("where") or ""), base)
    if place is None and row.section == "suites":
        place = place_of_target(row.subject.partition(" on ")[2], base)
    if place is None:
        place = Place(near(config.path), config.lines.get((row.section, row.subject), 1))
    return replace(row, place=place)


def _saved(row: Row, folder: Path, config: GateConfig) -> Row:
    """The row with where its fixture was saved, and the command that replays it."""
    if row.section != "suites" or not row.details.get("fixture"):
        return row
    from ..campaigns.saving import replay_command, save_fixture
    from ..suites.fixture import Fixture

    target = str(row.details["target"])
    suite = next(suite for suite in config.suites if f"{suite.suite} on {target}" == row.subject)
    path = save_fixture(Fixture(row.details["fixture"]), target, folder)
    command = replay_command(path, target, folder=config.path.parent,
                             timeout=suite.timeout if suite.timeout != USUAL_TIMEOUT else None)
    return row.with_fixture(str(path), command)
