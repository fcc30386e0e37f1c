"""Running what a checkvalve.toml lists, one subject after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import chdir
from functools import partial
from pathlib import Path

from checkvalve.spec.notation.errors import CheckvalveError, InternalError

from .config import GateConfig
from .report import Report, Row, Section
from .sections import chapter_rows, design_rows, suite_rows

__all__ = ["run_gate"]

Rows = tuple[Row, ...]
Job = tuple[Section, str, Callable[[], Rows]]


def run_gate(
    config: GateConfig, show: Callable[[Rows], None], strict: bool = False
) -> Report:
    """Run everything; ``show`` is given the rows of each subject as soon as they are there.
    ``strict``: a rule that is not shown counts, whatever the reason.

    What cannot be used, a design with a mistake in it or a target that does not import, is a
    row of its own, and the rest is run all the same. Raises InternalError at once.
    """
    began = time.perf_counter()
    rows: list[Row] = []
    for section, subject, job in _jobs(config, strict):
        found = _run(section, subject, job)
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
    except CheckvalveError as error:
        details = {"fault": error.fault, "where": error.where, "next_step": error.next_step}
        return (Row(section, subject, "can be run", "runs", "cannot be run", "error", str(error),
                    time.perf_counter() - began, details),)
