"""The local engine: the cases of a suite one after another, or on several processes."""

from __future__ import annotations

import math
import os
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

from checkvalve.spec.notation.errors import CheckvalveError, InputError, InternalError
from checkvalve.spec.verdicts.deadline import Deadline, Spent
from checkvalve.spec.verdicts.memory import limit_for_good, meter

from ..campaigns.case import RunSettings, run_case
from ..campaigns.drafts import with_few_drafts
from ..campaigns.failures import until_given_up
from ..campaigns.keeping import thinned
from ..computer.collecting import collecting_rarely
from ..computer.progress import counted_off
from ..suites.results import Case, CaseRow
from .deaths import WorkerDied
from .table import sort_rows

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing.process import BaseProcess

__all__ = ["ENDLESS", "chunk_size", "process_pool", "row_of", "run_locally"]

ENDLESS: Final = Deadline()
"""No deadline."""

_Timed = tuple[CaseRow, float]
"""A row, and the seconds of its case."""

_CHUNKS_PER_PROCESS = 8
"""More chunks even out cases of unequal length; fewer cost less talk between processes."""


def run_locally(
    suite: str, target: str, cases: Sequence[Case], settings: RunSettings, *, jobs: int = 1,
    thin: bool = False, deadline: Deadline = ENDLESS, spent: dict[int, float] | None = None,
) -> list[CaseRow]:
    """The rows of ``cases``, sorted by key; they do not depend on ``jobs``, the processes used.
    ``thin``: of failures no more than a summary shows (see keeping.py).

    They end where the target is given up, after a few cases that fail alike (see failures.py), and
    with the first case that ends after the ``deadline`` (on several processes: with those that have
    ended by then), or with more memory in use than there may be. Of that each process has an equal
    part.

    The seconds of each case are put into ``spent``, by its place in the run; no row has them, for
    rows are the same wherever they are made.

    Raises InputError for a suite or a target that cannot be used, TargetError if the target
    ends the process that it runs in.
    """
    if jobs < 1:
        raise InputError(f"cannot run on {jobs} processes", "", "Give 1 or more.")
    run = partial(_timed, suite, target, settings, deadline=deadline)
    spent = {} if spent is None else spent
    processes = min(jobs, len(cases))
    if processes <= 1:
        with collecting_rarely():
            rows = _noted(map(run, cases), spent)
            return _kept(_until(deadline, counted_off(rows, len(cases))), thin)
    return _run_apart(run, cases, processes, thin, deadline, spent)


def _timed(
    suite: str, target: str, settings: RunSettings, case: Case, deadline: Deadline = ENDLESS,
) -> _Timed:
    """The row of one case, and its seconds."""
    began = perf_counter()
    row = row_of(suite, target, settings, case, deadline)
    return row, perf_counter() - began


def _noted(timed: Iterable[_Timed], spent: dict[int, float]) -> Iterator[CaseRow]:
    for row, seconds in timed:
        spent[row.case] = spent.get(row.case, 0.0) + seconds    # a breach is taken up later
        yield row


def _until(deadline: Deadline, rows: Iterable[CaseRow]) -> Iterator[CaseRow]:
    """The rows up to the first that comes after the deadline, or with which the memory is spent; it
    is kept: a run that was cut off has one row at least."""
    for row in rows:
        yield row
        if deadline.passed() or meter().is_over():
            return


def _kept(rows: Iterable[CaseRow], thin: bool) -> list[CaseRow]:
    until = with_few_drafts(until_given_up(rows))
    return sort_rows(thinned(until) if thin else until)


def _run_apart(
    run: partial[_Timed], cases: Sequence[Case], processes: int, thin: bool, deadline: Deadline,
    spent: dict[int, float],
) -> list[CaseRow]:
    """Run cases in processes, in chunks, until the deadline; rows come in the order of the cases.

    Raises TargetError for a target that ends its process. What is under way when time is over, or
    the run is interrupted, is ended.
    """
    # Imported here: a run on one core needs none of them.
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool

    size = chunk_size(len(cases), processes)
    others = set(multiprocessing.active_children())
    with process_pool(processes) as pool:
        try:
            chunks = [pool.submit(_rows_of, run, cases[at:at + size])
                      for at in range(0, len(cases), size)]
            ran = counted_off(_noted(_done(chunks, deadline), spent), len(cases))
            rows = _kept(_until(ENDLESS, ran), thin)
            if deadline.passed():   # the chunks that are under way may take long
                _end(set(multiprocessing.active_children()) - others)
            pool.shutdown(cancel_futures=True)
            return rows
        except BrokenProcessPool as error:
            raise WorkerDied(f"the target {run.args[1]} ended the process that it runs in", "",
                             "Run it with one process to see which case does it, or put it "
                             "behind command:.") from error
        except KeyboardInterrupt:
            # Who interrupts does not want to wait for the chunks that are under way.
            _end(set(multiprocessing.active_children()) - others)
            raise


def process_pool(processes: int) -> ProcessPoolExecutor:
    """So many processes, each with an equal part of the memory that there may be."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A fork would copy the locks that threads of this process happen to hold.
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    return ProcessPoolExecutor(processes, mp_context=context, initializer=limit_for_good,
                               initargs=(meter().most / processes,))


def chunk_size(cases: int, processes: int) -> int:
    """The number of cases that a process is given at a time."""
    return max(1, cases // (processes * _CHUNKS_PER_PROCESS))


def _rows_of(run: partial[_Timed], cases: Sequence[Case]) -> list[_Timed]:
    return [run(case) for case in cases]


def _done(chunks: Iterable[Future[list[_Timed]]], deadline: Deadline) -> Iterator[_Timed]:
    """The rows of the chunks, in their order; after the deadline only of those that are done by
    then, and of the first one: a case that takes all the time hides none of the others."""
    for at, chunk in enumerate(chunks):
        left = deadline.left() if at else math.inf
        with suppress(TimeoutError):
            yield from chunk.result(None if left == math.inf else left)


def _end(workers: Iterable[BaseProcess]) -> None:
    for worker in workers:
        worker.kill()


def row_of(
    suite: str, target: str, settings: RunSettings, case: Case, deadline: Deadline = ENDLESS,
) -> CaseRow:
    """The row of one case; what is neither the target's nor the user's fault names the case.

    Raises CheckvalveError, and ``Spent`` or MemoryError where a budget was: that is no error.
    """
    try:
        return run_case(suite, target, case, settings, deadline)
    except (CheckvalveError, Spent, MemoryError):
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        told = " ".join(str(error).split()) or "no message"
        what = f"case {case.index} (seed {case.seed}): {type(error).__name__}: {told}"
        raise InternalError(what, f"{os.path.basename(frame.filename)}:{frame.lineno}") from error
