"""The options of a gate that say what was there before: --baseline, --write-baseline, --against."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.notation.labels import counted

from ..computer.files import write_whole
from ..gate import GateConfig, Report, Row
from ..gate.baseline import Baseline, baseline_of, read_baseline
from .reports import Reports

if TYPE_CHECKING:
    from ..gate.against import Before

__all__ = ["Earlier", "earlier_options"]

F = TypeVar("F", bound=Callable[..., Any])


class Earlier:
    """All that was there before and does not count: by a baseline, or as of a revision."""

    def __init__(self, baseline: Path | None, write: Path | None, against: str | None) -> None:
        if against is not None and (baseline or write):
            raise InputError("--against and a baseline both say what was there before", "",
                             "Leave one of them out.")
        self._write = write
        self._against = against
        self._baseline = Baseline({}) if baseline is None else read_baseline(baseline)
        self._before: Before | None = None
        self._reads = baseline

    def outputs(self, reports: Reports) -> Reports:
        """The reports, and the baseline if one is written."""
        return reports if self._write is None else reports.and_also("--write-baseline", self._write)

    @property
    def inputs(self) -> list[Path]:
        """The files that no output may overwrite; a baseline may be written anew."""
        again = self._write is not None and self._reads is not None and (
            self._write.resolve() == self._reads.resolve())
        return [] if self._reads is None or again else [self._reads]

    def begin(self, settings: GateConfig, strict: bool, say: Callable[[str], None]) -> GateConfig:
        """Run what there was at the revision, if there is one. The list of what is to be run now:
        against a revision without its chapters, which no change of the user's touches."""
        if self._against is None:
            return settings
        from ..gate.against import report_at

        before = report_at(self._against, settings, strict, say)
        now, note = before.not_again(settings)
        self._before = replace(before, notes=(*before.notes, *filter(None, [note])))
        for note in self._before.notes:
            say(note)
        return now

    def accept(self, row: Row) -> Row:
        """The row, accepted if it was there before."""
        return (self._baseline if self._before is None else self._before).accept(row)

    def compared(self, report: Report) -> Report:
        """The report with what was compared. Writes the baseline; its rows are then accepted."""
        found: dict[str, Any] = {}
        if self._reads is not None:
            found["stale"] = [{"section": section, "subject": subject, "property": name}
                              for section, subject, name in self._baseline.stale(report.rows)]
        if self._before is not None:
            found["against"] = self._before.to_json(report)
        if self._write is not None:
            write_whole(self._write, baseline_of(report))
            written = read_baseline(self._write)
            report = replace(report, rows=tuple(map(written.accept, report.rows)))
            found["stale"] = []
        return replace(report, compared=found)

    def lines(self, report: Report) -> Iterator[str]:
        """The lines on what was compared, above the verdict."""
        for row in report.compared.get("stale", ()):
            yield (f"Not needed in the baseline any more: {row['subject']}: {row['property']} "
                   "(--write-baseline FILE writes it anew)")
        if self._write is not None:
            count = sum(row.judgement == "accepted" for row in report.rows)
            yield f"The baseline lists {counted(count, 'known result')}: {self._write}"
        if "against" in report.compared:
            yield from _lines_against(report.compared["against"])


def _lines_against(against: dict[str, Any]) -> Iterator[str]:
    if against["why"]:
        yield (f"Nothing to compare with: {against['why']}, so all that is wrong counts as added. "
               "Compare with a later revision, or accept what there is: --write-baseline FILE.")
        return
    changes = [change["words"] for kind in ("added", "removed", "dropped")
               for change in against[kind]]
    if not changes:
        yield f"Against {against['revision']}, this change adds nothing and removes nothing."
        return
    yield f"Against {against['revision']}, this change"
    yield from (f"  {words}" for words in changes)


def earlier_options(command: F) -> F:
    """Add --baseline, --write-baseline and --against; the command gets ``earlier``."""
    file = click.Path(path_type=Path, dir_okay=False)

    @click.option("--baseline", type=file, metavar="FILE",
                  help="Accept what this file lists; what is new fails the gate.")
    @click.option("--write-baseline", type=file, metavar="FILE",
                  help="Write all that is violated or unknown now to this file, and accept it.")
    @click.option("--against", metavar="REV",
                  help="Run all of it as of this revision of git too; what this change adds fails.")
    @functools.wraps(command)
    def with_earlier(*args: Any, baseline: Path | None, write_baseline: Path | None,
                     against: str | None, **rest: Any) -> Any:
        return command(*args, earlier=Earlier(baseline, write_baseline, against), **rest)
    return with_earlier  # type: ignore[return-value]
