"""Logs judged in several processes of this machine.

One file of Parquet is cut in time, and each process reads pieces of it, so that even one key uses
all cores: if its machines can be composed (``columns/cut``), or if each item is judged by itself
and there are few keys (``columns/remainder``). Of all others, each process reads the log and judges
the keys that are its own, by their hash. The answer is that of one process; findings are in the
order of the log.

Each process has the deadline of the command, and an equal part of its memory. Where one of them has
spent either, all end.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, TypeVar
from zlib import crc32

from ...spec.notation.errors import InputError
from ...spec.verdicts.deadline import Deadline, OutOfTime, Spent
from ...spec.verdicts.native_refusal import NotNative
from ..columns.cells import Unfit
from ..columns.remainder import Joined, Sent, keys_are_few, remainders_of
from ..columns.cut import Composition, Opened, Piece, last_events, piece_of, whole_of
from ..columns.rows import Names, Rows, rows_of_batch
from ..columns.run import CHUNK, LEAST, gathered, judge_files, judged_whole
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
from .log_columns import hears
from .log_parts import Listener, logs_of, told_by

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

__all__ = ["Job", "judge_in_jobs"]

T = TypeVar("T")

_ROWS: Final = 1 << 20
"""Rows of a piece at most."""

_LOOK_S: Final = 0.2
"""Seconds between two looks at the clock while a process is waited for."""

_GRACE_S: Final = 5.0
"""Seconds that processes have to end by themselves; then they are ended."""

_SAMPLE: Final = 1 << 16
"""Rows of a log that are looked at for how many keys there are."""


@dataclass(frozen=True)
class Job:
    """The work of each process: the ``suite`` to judge by, on what ``terms``, the files of the
    log, how it is ``mapped``, and until when; all processes end when there is a file ``stop``."""

    suite: str
    terms: Terms
    paths: tuple[Path, ...]
    mapped: Mapped
    deadline: Deadline = field(default_factory=Deadline)
    stop: Path | None = None

    def check(self, phase: str) -> None:
        """Raise ``Spent``, with the phase, where this process, or another one, has spent its
        budget."""
        self.deadline.check(phase)
        if self.stop is not None and self.stop.exists():
            raise Spent(phase)

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
    from concurrent.futures.process import BrokenProcessPool

    files = job.files()
    if jobs > 1 and sum(map(rows_about, files)) >= LEAST:
        with TemporaryDirectory() as folder:
            job = replace(job, stop=Path(folder) / "stop")
            try:
                with _processes(job, jobs) as pool:
                    found = _cut(job, jobs, pool, watch) or _by_item(job, jobs, pool, watch) or (
                        _by_key(job, jobs, pool))
            except BrokenProcessPool:
                found = Judged(Notes(doubts=[]), terms=job.terms, spent=_ENDED)
        if found is not None:
            return found
    return judge_files(files, job.logs, job.terms, watch, keeps=True)


_ENDED: Final = ("a process that judged a part of the log was ended, as a system does that has no "
                 "more memory (--max-memory and fewer --jobs take less)")


@contextmanager
def _processes(job: Job, jobs: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes, which end with the block, whatever they do then."""
    before = set(multiprocessing.active_children())
    pool = process_pool(jobs)
    try:
        yield pool
    finally:
        _stop(job)
        pool.shutdown(wait=False, cancel_futures=True)
        for each in set(multiprocessing.active_children()) - before:
            each.join(_GRACE_S)
            each.kill()
        pool.shutdown()


def _stop(job: Job) -> None:
    """Let all processes end when they look at the clock next."""
    assert job.stop is not None
    job.stop.touch()


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
        for rows, _ in self.counted(log, names):
            yield rows

    def counted(self, log: Log, names: Names) -> Iterator[tuple[Rows, int]]:
        """The rows, with the number of those of the file so far. Raises ``Spent`` besides."""
        line = self.start
        for batch in rows_between(log.path, self.start, self.stop, CHUNK):
            self.job.check(f"row {line:,} of the log was judged")
            yield rows_of_batch(log, batch, line + 1, names), line + batch.num_rows
            line += batch.num_rows


@dataclass(frozen=True)
class _Part:
    """A piece, with the counts of its reading."""

    piece: Piece
    told: str


def _told(log: Log) -> str:
    return json.dumps(list(told_by(log)))


def _piece(reader: _Reader) -> _Part | None:
    """The piece of some rows, in a process of its own; None where the log cannot be cut."""
    log, names = reader.names()
    try:
        whole = whole_of(reader.job.logs, reader.job.terms, Notes(), names)
        return _Part(piece_of(whole, reader.rows(log, names)), _told(log))
    except (Unfit, InputError):
        return None     # what is wrong with a log is said row by row


def _cut(job: Job, jobs: int, pool: ProcessPoolExecutor, watch: Callable[[int], None]
         ) -> Judged | None:
    """The answer of pieces; None for a log that is not cut."""
    if not _has_pieces(job):
        return None
    found = _nothing(job)
    notes, listener = found.notes, Listener(found, [str(job.paths[0])])
    names = Names(job.logs, [str(job.paths[0])], False, job.terms.remember)
    try:
        composition = Composition(whole_of(job.logs, job.terms, notes, names))
        for reader, part in _in_order(pool, _piece, _pieces(job, jobs), jobs + 1,
                                      lambda: watch(found.events)):
            if part is None:
                return None
            hears(listener, part.told, 0)
            refused = composition.takes(part.piece)
            if refused:
                _again(composition, reader, refused, watch)
            found.events, found.keys = composition.events, composition.keys
            watch(found.events)
    except (Unfit, InputError):
        return None
    except Spent as late:
        found.spent = str(late)
    if found.events:
        job.logs.judge("", job.terms, notes, job.logs.common(job.terms, notes))
    return found


def _has_pieces(job: Job) -> bool:
    """True for a log that processes can read pieces of."""
    return len(job.paths) == 1 and ending_of(job.paths[0]) == ".parquet" and (
        job.mapped.order == "file") and job.terms.from_start and not job.terms.patience


def _nothing(job: Job) -> Judged:
    """The answer before anything was judged."""
    return Judged(Notes(doubts=[], checked=Histories(job.logs, job.terms)), terms=job.terms)


def _pieces(job: Job, jobs: int) -> list[_Reader]:
    total = rows_about(job.files()[0])
    size = min(_ROWS, -(-total // jobs))
    return [_Reader(job, start, min(start + size, total)) for start in range(0, total, size)]


def _in_order(pool: ProcessPoolExecutor, made: Callable[[_Reader], T], readers: Sequence[_Reader],
              ahead: int, looks: Callable[[], None]) -> Iterator[tuple[_Reader, T]]:
    """The pieces with what is ``made`` of them, in their order; so many are made ahead. The wait
    for each ``looks`` at the clock."""
    from concurrent.futures import wait

    waiting: list[Future[T]] = []
    for at, reader in enumerate(readers):
        while at + len(waiting) < len(readers) and len(waiting) < ahead:
            waiting.append(pool.submit(made, readers[at + len(waiting)]))
        while not waiting[0].done():
            wait(waiting[:1], _LOOK_S)
            looks()
        yield reader, waiting.pop(0).result()


def _again(composition: Composition, reader: _Reader, refused: dict[str, list[int]],
           watch: Callable[[int], None]) -> None:
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

    composition.again(refused, opened, before, lambda at: watch(composition.events))


# --- what pieces leave ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Left:
    """The remainder of rows of a piece, up to ``upto``, with the lines that were ignored so far;
    None where they need a closer look."""

    sent: Sent | None
    upto: int
    ignored: int


def _remainders(reader: _Reader) -> tuple[list[_Left], str] | None:
    """The remainders of some rows, chunk by chunk, in a process of its own, with the counts of
    their reading; None where the log cannot be judged so."""
    log, names = reader.names()
    upto = 0

    def parts() -> Iterator[Rows]:
        nonlocal upto
        for rows, so_far in reader.counted(log, names):
            upto = so_far
            yield rows
    try:
        return [_Left(None if left is None else Sent.of(left, names), upto, log.ignored)
                for left in remainders_of(names.logs, reader.job.terms, names, parts())
                ], _told(log)
    except (Unfit, InputError):
        return None


def _by_item(job: Job, jobs: int, pool: ProcessPoolExecutor, watch: Callable[[int], None]
             ) -> Judged | None:
    """The answer of what pieces leave; None for a log in which things are not judged each by
    itself, or of many keys."""
    if not _has_pieces(job) or not job.logs.by_item(job.terms):
        return None
    found = _nothing(job)
    listener = Listener(found, [str(job.paths[0])])
    readers = _pieces(job, jobs)
    log, names = readers[0].names()
    upto = 0

    def looks(events: int) -> None:
        found.events = events
        watch(events)
    try:
        if not _has_few_keys(job):
            return None
        joined = Joined(job.logs, job.terms, found.notes, names, looks)
        for _, part in _in_order(pool, _remainders, readers, jobs + 1,
                                 lambda: watch(found.events)):
            if part is None:
                return None
            ignored = 0
            for left in part[0]:
                if left.sent is None or not joined.takes(left.sent.here(names)):
                    found.ignored += ignored
                    _goes_on(joined, replace(readers[-1], start=upto), log, names, listener)
                    break
                upto, ignored = left.upto, left.ignored
                looks(joined.run.events)
            else:
                hears(listener, part[1], 0)
                if keys_are_few(len(names.keys), joined.run.events):
                    continue
                return None
            break
        found.events, found.keys = joined.run.ends()
    except (Unfit, NotNative, InputError, UnicodeDecodeError):
        assert job.stop is not None
        job.stop.unlink(missing_ok=True)    # it is judged by key, by the same processes
        return None
    except Spent as late:
        found.spent = str(late)
    if found.events:
        job.logs.judge("", job.terms, found.notes, joined.common)
    return found


def _has_few_keys(job: Job) -> bool:
    """True if the first rows of a log have few keys."""
    reader = _Reader(job, 0, _SAMPLE)
    log, names = reader.names()
    return keys_are_few(len(names.keys), sum(map(len, reader.rows(log, names))))


def _goes_on(joined: Joined, reader: _Reader, log: Log, names: Names, listener: Listener) -> None:
    """Judge all rows from a piece on that is not plain, as one process does."""
    _stop(reader.job)
    for rows in gathered(replace(reader, job=replace(reader.job, stop=None)).rows(log, names)):
        joined.run.takes(rows)
    hears(listener, _told(log), 0)


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

        for name in islice(names.keys, len(self._mine), None):
            self._mine.append(crc32(name.encode()) % self.of == self.number)
        return rows.at(np.array(self._mine, bool)[rows.key])


def _share(job: Job, number: int, of: int) -> tuple[list[dict[str, Any]], str] | None:
    """The rows of what is found at the keys of one process, and the budget that was spent; None
    where a log has to be judged row by row."""
    files = job.files()
    found = Judged(Notes(doubts=[], checked=Histories(job.logs, job.terms)))

    def looks(events: int) -> None:
        found.events = events
        job.check(f"event {events:,} of a part of the log was judged")
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
        found = by_events(job.files(), job.logs, job.terms, lambda events: job.check(
            f"event {events:,} of a part of the log was judged"), keeps=True, is_mine=is_mine)
    except InputError:
        return None     # which line is the first with a mistake is said by one process
    if number:
        found.gaps = found.ignored = 0
    return [*rows_of(found.notes), *counts_of(found)], found.spent


def _by_key(job: Job, jobs: int, pool: ProcessPoolExecutor) -> Judged | None:
    """The answer of all processes, each with its keys; None for a log that is judged row by row."""
    from concurrent.futures import FIRST_COMPLETED, wait

    waiting = {pool.submit(_share, job, number, jobs) for number in range(jobs)}
    rows: list[dict[str, Any]] = []
    spent = ""
    latest = Deadline(job.deadline.seconds + _GRACE_S, job.deadline.clock)
    latest.started = job.deadline.started
    while waiting:
        done, waiting = wait(waiting, _LOOK_S, FIRST_COMPLETED)
        for each in done:
            part = each.result()
            if part is None:
                return None
            rows += part[0]
            if part[1] and not spent:
                spent = part[1]
                _stop(job)
        if waiting and latest.passed():
            spent = spent or str(OutOfTime("a part of the log was judged"))
            break       # it does not look at the clock, and is ended
    rows.sort(key=lambda row: (row["found"] or "", row["file"] or "", row["line"] or 0))
    by_time = job.mapped.order == "time"
    found = judged_of(rows, job.logs, by_time)
    found.terms, found.spent = job.terms, spent
    found.notes.doubts = [(rule, doubt) for rule, doubts in found.notes.unknown.items()
                          for doubt in doubts] + [("", doubt) for doubt in found.notes.foreign]
    return found
