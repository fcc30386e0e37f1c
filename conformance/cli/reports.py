"""The options that write a report for other programs: --junit and --sarif."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from checkvalve.spec.notation.errors import InputError

from ..computer.files import check_writable, write_whole

if TYPE_CHECKING:
    from ..gate.report import Report, Row

__all__ = ["Reports", "report_options"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Reports:
    """The files to write a report to, by the option that names each."""

    files: Mapping[str, Path] = field(default_factory=dict)

    def and_also(self, option: str, path: Path) -> Reports:
        """The same with one file more, which the command writes itself."""
        return Reports({option: path, **self.files})

    def check(self, inputs: Iterable[Path] = ()) -> None:
        """Raise InputError, before anything is run, for a file that must not or cannot be
        written: one of the ``inputs``, the same as another one, or one that is refused."""
        read = {path.resolve() for path in inputs}
        seen: dict[Path, str] = {}
        for option, path in self.files.items():
            if (other := seen.setdefault(path.resolve(), option)) != option:
                raise InputError(f"{other} and {option} name the same file", str(path),
                                 "Give each a path of its own.")
        for option, path in self.files.items():
            if path.resolve() in read:
                raise InputError(f"{option} would overwrite what this command reads", str(path),
                                 "Give a path that is not read.")
            check_writable(path)

    def write(self, report: Report, command: str) -> None:
        """Write the report of a run of ``command`` to each file that is one of ours."""
        for option, path in self.files.items():
            if option == "--junit":
                from ..gate.junit import junit

                write_whole(path, junit(report, command))
            elif option == "--sarif":
                from ..gate.sarif import sarif

                write_whole(path, sarif(report, command))

    def write_rows(self, rows: Callable[[], Iterable[Row]], command: str) -> None:
        """Write a report of these rows, which are made only if there is a file for them."""
        if self.files:
            from ..gate.report import Report, time_of

            made = tuple(rows())
            self.write(Report("", made, time_of(made)), command)


def report_options(junit: Path | None = None) -> Callable[[F], F]:
    """Add --junit (by default the file ``junit``) and --sarif; the command gets ``reports``."""
    def decorate(command: F) -> F:
        @click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), default=junit,
                      show_default=junit is not None, metavar="FILE",
                      help="Write JUnit XML to this file.")
        @click.option("--sarif", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                      help="Write SARIF 2.1.0 to this file: what is wrong, at its line.")
        @functools.wraps(command)
        def with_reports(*args: Any, junit: Path | None, sarif: Path | None, **rest: Any) -> Any:
            given = {"--junit": junit, "--sarif": sarif}
            reports = Reports({option: path for option, path in given.items() if path is not None})
            return command(*args, reports=reports, **rest)
        return with_reports  # type: ignore[return-value]
    return decorate
