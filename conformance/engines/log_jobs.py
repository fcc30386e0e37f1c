"""Logs judged in several processes of this machine.

A log of machines that can be composed (``columns/cut``) is cut in time, if it is one file of
Parquet: each process reads pieces of it, and even one key uses all cores. Of all others, each
process reads the log and judges the keys that are its own, by their hash. The answer is that of one
process; findings are in the order of the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from ...spec.notation.errors import InputError
from ...spec.verdicts.deadline import Deadline, Spent
from ..columns.cells import Unfit
from ..columns.cut import Composition, Opened, Piece, last_events, piece_of, whole_of
from ..columns.rows import Names, Rows, rows_of_batch
from ..columns.run import CHUNK, LEAST, judge_files, judged_whole
from ..logs.events import Event
from ..logs.histories import Histories
from ..logs.kinds import Logs, Terms
from ..logs.mapping import Mapped
from ..logs.notes import AROUND, Notes
from ..logs.readers import Log, ending_of, rows_about, rows_between
from ..logs.rows import counts_of, judged_of, rows_of
from ..logs.run import Judged
from ..logs.run import judge_files as by_events
from .local import process_pool
from .log_parts import logs_of

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

__all__ = ["Job", "judge_in_jobs"]

_ROWS: Final = 1 << 20
"""Rows of a piece at most."""

_LOOK_S: Final = 0.2
"""Seconds between two looks at the clock while a piece is waited for."""


@dataclass(frozen=True)
class Job:
    """The work of each process: the ``suite`` to judge by, on what ``terms``, the files of the
    log, how it is ``mapped``, and until when."""

    suite: str
    terms: Terms
    paths: tuple[Path, ...]
    mapped: Mapped
    deadline: Deadline = field(default_factory=Deadline)

    @property
    def logs(self) -> Logs:
        """How the suite judges logs."""
        return logs_of(self.suite)

    def files(self) -> list[Log]:
        """The files, to be read once."""
        return [Log(path, self.mapped, list(self.logs.operations)) for path in self.paths]


def judge_in_jobs(job: Job, jobs: int, watch: Callable[[int], None] = lambda at: None) -> Judged:
    """Judge a log in so many processes; ``watch`` gets the number of events, now and then. Raises
    as ``judge_files`` does."""
    files = job.files()
    if jobs > 1 and sum(map(rows_about, files)) >= LEAST:
        with process_pool(jobs) as pool:
            try:
                found = _cut(job, jobs, pool, watch) or _by_key(job, jobs, pool)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        if found is not None:
            return found
    return judge_files(files, job.logs, job.terms, watch, keeps=True)


# --- cut in time ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reader:
    """Reads rows ``start`` up to ``stop`` of a file of Parquet."""

    job: Job
    start: int
    stop: int

    def names(self) -> tuple[Log, Names]:
        """The file, and the names in a piece of it."""
        log = self.job.files()[0]
        return log, Names(self.job.logs, [log.file], False, self.job.terms.remember)

    def rows(self, log: Log, names: Names) -> Iterator[Rows]:
        """The rows in their order. Raises ``Unfit`` and ``InputError``."""
        line = self.start + 1
        for batch in rows_between(log.path, self.start, self.stop, CHUNK):
            yield rows_of_batch(log, batch, line, names)
            line += batch.num_rows


@dataclass(frozen=True)
class _Part:
    """A piece, with the counts of its reading."""

    piece: Piece
    ignored: int
    gaps: int


def _piece(reader: _Reader) -> _Part | None:
    """The piece of some rows, in a process of its own; None where the log cannot be cut."""
    log, names = reader.names()
    try:
        whole = whole_of(reader.job.logs, reader.job.terms, Notes(), names)
        return _Part(piece_of(whole, reader.rows(log, names)), log.ignored, log.gaps)
    except (Unfit, InputError):
        return None     # what is wrong with a log is said row by row


def _cut(job: Job, jobs: int, pool: ProcessPoolExecutor, watch: Callable[[int], None]
         ) -> Judged | None:
    """The answer of pieces; None for a log that is not cut."""
    if len(job.paths) != 1 or ending_of(job.paths[0]) != ".parquet" or (
            job.mapped.order != "file" or not job.terms.from_start or job.terms.patience):
        return None
    notes = Notes(doubts=[], checked=Histories(job.logs, job.terms))
    names = Names(job.logs, [str(job.paths[0])], False, job.terms.remember)
    try:
        composition = Composition(whole_of(job.logs, job.terms, notes, names))
    except Unfit:
        return None
    total = rows_about(job.files()[0])
    size = min(_ROWS, -(-total // jobs))
    readers = [_Reader(job, start, min(start + size, total)) for start in range(0, total, size)]
    found = Judged(notes, terms=job.terms)
    try:
        for reader, part in _in_order(pool, readers, jobs + 1, lambda: watch(found.events)):
            if part is None:
                return None
            refused = composition.takes(part.piece)
            if refused:
                _again(composition, reader, refused)
            found.events, found.keys = composition.events, composition.keys
            found.ignored += part.ignored
            found.gaps += part.gaps
            watch(found.events)
    except Spent as late:
        found.spent = str(late)
    if found.events:
        job.logs.judge("", job.terms, notes, job.logs.common(job.terms, notes))
    return found


def _in_order(pool: ProcessPoolExecutor, readers: Sequence[_Reader], ahead: int,
              looks: Callable[[], None]) -> Iterator[tuple[_Reader, _Part | None]]:
    """The pieces in their order; so many are made ahead. The wait for each ``looks`` at
    the clock."""
    from concurrent.futures import wait

    waiting: list[Future[_Part | None]] = []
    for at, reader in enumerate(readers):
        while at + len(waiting) < len(readers) and len(waiting) < ahead:
            waiting.append(pool.submit(_piece, readers[at + len(waiting)]))
        while not waiting[0].done():
            wait(waiting[:1], _LOOK_S)
            looks()
        yield reader, waiting.pop(0).result()


def _again(composition: Composition, reader: _Reader, refused: dict[str, list[int]]) -> None:
    """Judge the keys of a piece again that refuse an event of it, from where they are. Their last
    events before it are looked for further and further back."""
    before: dict[str, list[Event]] = {key: [] for key in refused}
    stop, size = reader.start, CHUNK // 8
    while stop and (few := [key for key, events in before.items() if len(events) < AROUND]):
        earlier = _Reader(reader.job, max(0, stop - size), stop)
        stop, size = earlier.start, 2 * size
        log, names = earlier.names()
        for key, events in last_events(names, earlier.rows(log, names), few).items():
            before[key] = [*events, *before[key]][-AROUND:]

    def opened() -> Opened:
        log, names = reader.names()
        return (whole_of(reader.job.logs, reader.job.terms, composition.notes, names),
                reader.rows(log, names))

    composition.again(refused, opened, before)


# --- by key ---------------------------------------------------------------------------------------


@dataclass
class _Share:
    """The rows of the keys of one process."""

    number: int
    of: int

    def __post_init__(self) -> None:
        self._mine: list[bool] = []

    def __call__(self, rows: Rows, names: Names) -> Rows:
        import numpy as np

        for name in names.keys[len(self._mine):]:
            self._mine.append(crc32(name.encode()) % self.of == self.number)
        return rows.at(np.array(self._mine, bool)[rows.key])


def _share(job: Job, number: int, of: int) -> tuple[list[dict[str, Any]], str] | None:
    """The rows of what is found at the keys of one process, and the budget that was spent; None
    where a log has to be judged row by row."""
    files = job.files()
    found = Judged(Notes(doubts=[], checked=Histories(job.logs, job.terms)))

    def looks(events: int) -> None:
        found.events = events
        job.deadline.check(f"event {events:,} of a part of the log was judged")
    try:
        counted = judged_whole(files, job.logs, job.terms, found.notes, looks, _Share(number, of))
        if counted is None:
            return _share_by_events(job, number, of) if job.terms.patience else None
        found.events, found.keys = counted
    except Spent as late:
        found.spent = str(late)
    if number == 0:
        found.gaps = sum(file.gaps for file in files)
        found.ignored = sum(file.ignored for file in files)
    return [*rows_of(found.notes), *counts_of(found)], found.spent


def _share_by_events(job: Job, number: int, of: int) -> tuple[list[dict[str, Any]], str] | None:
    """``_share``, event by event: rests are put in where a key is silent, and the greatest time of
    the log is known to each process, for each reads all of it."""
    def is_mine(key: str) -> bool:
        return crc32(key.encode()) % of == number

    try:
        found = by_events(job.files(), job.logs, job.terms, lambda events: job.deadline.check(
            f"event {events:,} of a part of the log was judged"), keeps=True, is_mine=is_mine)
    except InputError:
        return None     # which line is the first with a mistake is said by one process
    if number:
        found.gaps = found.ignored = 0
    return [*rows_of(found.notes), *counts_of(found)], found.spent


def _by_key(job: Job, jobs: int, pool: ProcessPoolExecutor) -> Judged | None:
    """The answer of all processes, each with its keys; None for a log that is judged row by row."""
    waiting = [pool.submit(_share, job, number, jobs) for number in range(jobs)]
    rows: list[dict[str, Any]] = []
    spent = ""
    for each in waiting:
        part = each.result()
        if part is None:
            return None
        rows += part[0]
        spent = spent or part[1]
    rows.sort(key=lambda row: (row["found"] or "", row["file"] or "", row["line"] or 0))
    by_time = job.mapped.order == "time"
    found = judged_of(rows, job.logs, by_time)
    found.terms, found.spent = job.terms, spent
    found.notes.doubts = [(rule, doubt) for rule, doubts in found.notes.unknown.items()
                          for doubt in doubts] + [("", doubt) for doubt in found.notes.foreign]
    return found
