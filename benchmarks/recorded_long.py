"""A long recording of ``asyncio.Queue`` under load, written as it goes, and judged.

``python -m benchmarks.recordings --long 10000000``: four producers and four consumers, none of
which rests, and one queue of eight places. A right one, and one with a single fault near its end:
an item that comes out twice, or one that is lost. Rows go to Parquet in parts, so that memory does
not grow with them.
"""

from __future__ import annotations

import asyncio
import random
import resource
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Final

from checkvalve.conformance.columns.run import judge_files
from checkvalve.conformance.logs.run import opened, terms_of
from checkvalve.conformance.systems.catalogue import SYSTEMS

__all__ = ["long_recordings"]

_CAPACITY: Final = 8
_CALLERS: Final = 4
_PART: Final = 1 << 16
"""Rows that are written at a time."""

_FAULTS: Final = {"": frozenset[str](), "twice": frozenset({"QUEUE-6"}),
                  "lost": frozenset({"QUEUE-4"})}
_COLUMNS: Final = ("process", "operation", "phase", "item", "result")


class _Written:
    """The rows of a log of one key, which go to Parquet in parts."""

    def __init__(self, file: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        self._schema = pa.schema([("key", pa.string()), *(
            (name, pa.int64() if name == "item" else pa.string()) for name in _COLUMNS)])
        self._writer = parquet.ParquetWriter(file, self._schema)
        self._rows: list[tuple[Any, ...]] = []
        self.events = 0

    def add(self, *row: Any) -> None:
        """Note an event: its process, operation, phase, item and result."""
        self._rows.append(row)
        if len(self._rows) == _PART:
            self._flushes()

    def _flushes(self) -> None:
        import pyarrow as pa

        columns = list(zip(*self._rows, strict=True)) or [()] * len(_COLUMNS)
        self._writer.write_table(pa.table([["q"] * len(self._rows), *columns], self._schema))
        self.events += len(self._rows)
        self._rows = []

    def close(self) -> None:
        """Write the rows that are left, and end the file."""
        self._flushes()
        self._writer.close()


def long_recordings(events: int, folder: Path, seed: int) -> int:
    """Record and judge so many events, without a fault and with each; print a line for each, and
    return how many are judged wrongly."""
    wrong = 0
    print(f"{'recording':28}{'events':>12}{'recorded s':>12}{'peak MB':>9}{'judged s':>10}"
          f"{'events/s':>11}{'peak MB':>9}  found")
    for fault, rules in _FAULTS.items():
        file = folder / f"asyncio-long-{fault or 'right'}.parquet"
        before = time.process_time()
        pages = _Written(file)
        asyncio.run(_recorded(pages, fault, events // 4, random.Random(seed)))
        pages.close()
        recorded, peak = time.process_time() - before, _peak()
        before = time.process_time()
        found, unknown = _judged(file)
        judged = time.process_time() - before
        right = bool(found & rules) if fault else not (found or unknown)
        wrong += not right
        print(f"{file.stem:28}{pages.events:12,}{recorded:12.1f}{peak:9.0f}{judged:10.1f}"
              f"{pages.events / judged:11,.0f}{_peak():9.0f}  "
              f"{', '.join(sorted(found)) or 'nothing'}{f', {unknown} unknown' if unknown else ''}"
              f"{'' if right else '  WRONG'}", flush=True)
        file.unlink()
    return wrong


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _judged(file: Path) -> tuple[frozenset[str], int]:
    """The rules that are violated, and how many are unknown, or events of no such system."""
    logs, settings = SYSTEMS["queue"].logs, {"capacity": _CAPACITY}
    files, mapped = opened([file], None, logs, settings)
    notes = judge_files(files, logs, terms_of(mapped, settings, False, 1_000)).notes
    return frozenset(notes.violations), len(notes.unknown) + len(notes.foreign)


async def _recorded(pages: _Written, fault: str, items: int, draw: random.Random) -> None:
    """So many items go through a queue, and one nine tenths of the way is not treated right."""
    wrong = items * 9 // 10

    class Faulty(asyncio.Queue[int]):
        def _put(self, item: int) -> None:
            if item == wrong and fault == "lost":
                return
            super()._put(item)
            if item == wrong and fault == "twice":
                super()._put(item)

    jobs, numbers = Faulty(_CAPACITY), iter(range(items))

    async def call(name: str, do: str, item: int | None, waits: Awaitable[int | None]
                   ) -> int | None:
        pages.add(name, do, "begin", item, None)
        found = await waits
        pages.add(name, do, "end", item if do == "put" else found, "ok")
        if draw.random() < 0.3:
            await asyncio.sleep(0)      # another one takes its turn
        return found

    async def produces(name: str) -> None:
        for item in numbers:
            await call(name, "put", item, jobs.put(item))

    async def consumes(name: str) -> None:
        while (await call(name, "take", None, jobs.get()) or 0) < items:
            pass

    consumers = [asyncio.create_task(consumes(f"c{each}")) for each in range(_CALLERS)]
    await asyncio.gather(*(produces(f"p{each}") for each in range(_CALLERS)))
    for each in range(_CALLERS):        # each consumer ends with one of these
        await call("p0", "put", items + each, jobs.put(items + each))
    await asyncio.gather(*consumers)
    pages.add("", "drained", "point", None, "ok")
