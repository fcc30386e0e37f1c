"""Running lots on processes of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from types import TracebackType

from ..campaigns.case import case_at
from ..engines.deaths import WorkerDied
from ..engines.local import chunk_size, process_pool, row_of
from ..suites.results import CaseRow
from .run import Lot, Task
from .store import Store

__all__ = ["Here"]

class Here(AbstractContextManager["Here"]):
    """Processes of this machine, ``jobs`` of them; they outlive a lot. Cases never run in the
    process of the campaign itself, which has to survive what they do."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def run(self, lot: Lot, store: Store) -> None:
        """Run a lot; its rows are written once all of them are there. Raises WorkerDied."""
        size = chunk_size(len(lot), self._jobs)
        pool = self._opened()
        try:
            chunks = [pool.submit(_rows, lot[at:at + size]) for at in range(0, len(lot), size)]
            rows = [row for chunk in chunks for row in chunk.result()]
        except BrokenProcessPool as error:
            self._end()
            raise WorkerDied("the process that ran it was ended", "",
                             "See what its target does to the process that starts it.") from error
        by_unit: dict[str, list[CaseRow]] = {}
        for task, row in zip(lot, rows, strict=True):
            by_unit.setdefault(task.unit.id, []).append(row)
        units = {task.unit.id: task.unit for task in lot}
        for name, found in by_unit.items():
            store.write(units[name], found)

    def _opened(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = process_pool(self._jobs)
        return self._pool

    def _end(self) -> None:
        """End the processes, also in the midst of a case. No future is cancelled before: the pool
        would stumble over one when it sees them dead."""
        if self._pool is not None:
            for process in list((self._pool._processes or {}).values()):
                process.kill()
            self._pool.shutdown()
            self._pool = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()


def _rows(tasks: Sequence[Task]) -> list[CaseRow]:
    return [row_of(unit.suite, unit.target, unit.settings, case_at(unit.suite, place, unit.seed))
            for unit, place in tasks]
