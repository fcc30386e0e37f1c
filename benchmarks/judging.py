"""How many events a second ``checkvalve judge`` takes, here and on Spark, with violations planted.

Each observer judges a log that is generated as Parquet: many keys, a hot one, calls that overlap
(5 % of those of the small keys, and of all of ``delivery, calls``, with clocks that differ; nearly
all at the hot queue, with 4+4 callers). One key in a thousand has a violation, and the hot one has:
all have to be found, and no other. Beside it is the same log with texts as items (from Parquet, CSV
and JSON lines), in four files in the order of their clocks, and judged event by event; the same
machine in the interpreter, on the beginning of the hot key; Spark beside its own floor, the same
plan in which nothing is judged, and how many times the seconds of one machine it takes over that
floor; and TLC, which validates the beginning of the hot key.
``make bench-judge``; ``ARGS=--quick`` takes a minute.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from checkvalve.conformance.columns.run import judge_files
from checkvalve.conformance.engines.judging import (
    Asked, columns_handed_over, judge_on_spark, opened_there,
)
from checkvalve.conformance.engines.session import spark_session
from checkvalve.conformance.engines.spark import spark_errors
from checkvalve.conformance.logs.exact import Exact
from checkvalve.conformance.logs.live import bound
from checkvalve.conformance.logs.mapping import Mapped, plain
from checkvalve.conformance.engines.log_parts import logs_of
from checkvalve.conformance.logs.readers import Log
from checkvalve.conformance.logs.rows import counts_of, rows_of
from checkvalve.conformance.logs.run import Judged, terms_of
from checkvalve.conformance.logs.run import judge_files as by_events
from checkvalve.conformance.systems.election.suite import compared
from checkvalve.conformance.systems.queue.calls import DONE, PUT, TAKE, TAKEN
from checkvalve.spec.election.observed_election import ObservedElection
from checkvalve.spec.flow.observed_rate import ObservedRate
from checkvalve.spec.kafka.observed_failover import ObservedMark
from checkvalve.spec.kafka.observed_timer import Law, ObservedTimer
from checkvalve.spec.notation.bound import BoundMachine
from checkvalve.spec.notation.interpreter import Step
from checkvalve.spec.queues.conserved import ConservingQueue
from checkvalve.spec.queues.locks.permits import Permits
from checkvalve.spec.queues.queue import BoundedQueue
from checkvalve.spec.storm.topologies.observed_topology import ObservedLane

from .beside_tlc import beside_tlc
from .judged_logs import CAPACITY, KINDS, Kind, Planted, Row, write_log, written
from .processor_time import ProcessorTime

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["main"]

HEADINGS: Final = ("observer", "events", "here/s", "texts/s", "CSV/s", "JSON/s", "clocks/s",
                   "by event/s", "interpreter/s", "Spark/s·core", "floor/s·core", "over floor",
                   "planted", "found", "invented")
WIDTHS: Final = (23, 11, 11, 11, 11, 11, 11, 11, 14, 13, 13, 11, 8, 6, 9)
CORES: Final = 2
WAYS: Final = ("parquet", "texts", "csv", "json", "clocks", "events")
FILES: Final = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table, and return 1 if a violation was missed or invented."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="2,000 keys, without Spark's runs but "
                        "one: a minute")
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=6, help="calls of each other key")
    parser.add_argument("--hot", type=int, default=200_000, help="calls of the hot key")
    parser.add_argument("--drawn", type=int, default=0, metavar="BLOCKS", help="blocks of 1,000 "
                        "keys that are drawn; the others repeat them with other names, which is "
                        "fast enough for 50 million events. 0: all")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each kind, in turn")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS,
                        help="from Parquet; with texts as items from Parquet, CSV and JSON lines; "
                        "from files in the order of clocks; event by event")
    parser.add_argument("--only", nargs="+", choices=[kind.name for kind in KINDS],
                        default=[kind.name for kind in KINDS], help="some observers")
    parser.add_argument("--no-spark", action="store_true")
    parser.add_argument("--tlc", type=int, metavar="EVENTS", help="how many events TLC validates: "
                        "10,000, and 1,000 with --quick; 0: none")
    chosen = parser.parse_args(arguments)
    keys, hot = (2_000, 5_000) if chosen.quick else (chosen.keys, chosen.hot)
    print(_line(HEADINGS))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        session = None
        for number, kind in enumerate(kind for kind in KINDS if kind.name in chosen.only):
            planted = write_log(kind, Path(folder), keys, chosen.calls, hot, chosen.drawn)
            rates, judged = _rates(kind, planted, chosen.rounds, chosen.ways)
            on_spark = ("", "", "")
            if not chosen.no_spark and (number == 0 or not chosen.quick):
                if session is None:
                    opened = spark_session(f"local[{CORES}]", is_long=True)
                    session = opened.__enter__()
                on_spark = _on_spark(session, kind, planted, judged, chosen.rounds)
            found = {each.key for each in judged.notes.findings}
            print(_line((kind.name, f"{planted.events:,}", *rates,
                         _interpreted(kind), *on_spark, str(len(planted.keys)),
                         str(len(found & planted.keys)), str(len(found - planted.keys)))),
                  flush=True)
            wrong += found != planted.keys
        if session is not None:
            opened.__exit__(None, None, None)
    events = chosen.tlc if chosen.tlc is not None else 1_000 if chosen.quick else 10_000
    for line in beside_tlc(events, _violations) if events else ():
        print(line, flush=True)
    return 1 if wrong else 0


def _line(cells: Sequence[str]) -> str:
    return "".join(cell.ljust(width) if at == 0 else cell.rjust(width)
                   for at, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True)))


def _rates(kind: Kind, planted: Planted, rounds: int, ways: Sequence[str]
           ) -> tuple[list[str], Judged]:
    """Events a second in whole columns, by each way, and event by event: the medians of some
    rounds, in each of which all take their turn. The violations have to agree, and all rows of the
    rounds of one way; of a violated key one way may have counted further than another."""
    if logs_of(kind.suite).whole is None:
        ways = ways[:1]     # all of them would be event by event
    by_clocks = replace(plain(), order="time", tolerance=kind.skew)
    files = {way: written(planted.path, way, FILES, kind.skew) for way in ways}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    found, rows = [], {way: set[str]() for way in ways}
    for _ in range(rounds):
        for way, taken in seconds.items():
            before = time.process_time()    # so that other work counts for little
            found.append(_judged(by_events if way == "events" else judge_files, files[way],
                                 by_clocks if way == "clocks" else plain(), kind))
            taken.append(time.process_time() - before)
            rows[way].add(str([*rows_of(found[-1].notes), *counts_of(found[-1])]))
    answers = {str(sorted(each.notes.violations.items())) for each in found}
    for way in (way for way, each in rows.items() if len(each) > 1):
        print(f"{way} has not the same rows in each round at {kind.name}", file=sys.stderr)
    if len(answers) != 1:
        print(f"the ways disagree at {kind.name}: {answers}", file=sys.stderr)
    rates = {way: f"{planted.events / median(taken):,.0f}" for way, taken in seconds.items()}
    return [rates.get(way, "") for way in WAYS], found[0]


def _judged(judge: Callable[..., Judged], paths: Sequence[Path], mapped: Mapped, kind: Kind
            ) -> Judged:
    logs = logs_of(kind.suite)
    return judge([Log(path, mapped, list(logs.operations)) for path in paths], logs,
                 terms_of(mapped, kind.settings, False, 1_000_000))


def _violations(path: Path, kind: Kind) -> int:
    return len(_judged(judge_files, [path], plain(), kind).notes.violations)


# --- Spark ------------------------------------------------------------------------------------


def _on_spark(session: SparkSession, kind: Kind, planted: Planted, here: Judged, rounds: int
              ) -> tuple[str, str, str]:
    """Events a second of processor time, of all processes of this one: judged, and only read and
    handed over; and the seconds over this floor by those that it takes to judge here. All in turn,
    the medians of some rounds after one in which workers start and machines are compiled."""
    logs = logs_of(kind.suite)
    asked = Asked([str(planted.path)], kind.suite, logs, plain(),
                  terms_of(plain(), kind.settings, False, 1_000_000))
    taken: dict[str, list[float]] = {"here": [], "floor": [], "Spark": []}

    def takes(name: str, run: Callable[[], Any]) -> Any:
        with ProcessorTime() as watched:
            before = watched.seconds
            found = run()
            taken[name].append(watched.seconds - before)
        return found

    for _ in range(1 + rounds):
        takes("here", lambda: _judged(judge_files, [planted.path], plain(), kind))
        takes("floor", lambda: _floor(session, asked))
        judged = takes("Spark", lambda: judge_on_spark(session, asked, partitions=2 * CORES))
        if judged.notes.violations != here.notes.violations or judged.events != here.events:
            print(f"Spark disagrees at {kind.name}", file=sys.stderr)
    local, floor, spark = (median(each[1:]) for each in taken.values())
    return (f"{planted.events / spark:,.0f}", f"{planted.events / floor:,.0f}",
            f"{(spark - floor) / local:.2f}")


def _floor(session: SparkSession, asked: Asked) -> None:
    def count(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as arrow

        rows = sum(batch.num_rows for batch in batches)
        yield arrow.RecordBatch.from_pydict({"rows": [rows]})

    with spark_errors("measuring Spark's floor"), columns_handed_over(
            session, opened_there(session, asked), 2 * CORES) as columns:
        columns.mapInArrow(count, "rows bigint").collect()


# --- the interpreter --------------------------------------------------------------------------


def _interpreted(kind: Kind) -> str:
    """Events a second of the machine in the interpreter, in all states in which it may be, on the
    beginning of the hot key; nothing where the judge of events has the machine in one state."""
    from random import Random

    if kind.name.startswith(("queue, 16", "delivery", "acker")):
        return ""       # all states of 16+16 callers are too many
    rows = list(kind.hot(Random(26), 400, False))
    machine, steps = _STEPS[kind.name.partition(",")[0]](rows)
    exact = Exact(machine, 1_000_000)
    before = time.process_time()
    for step in steps:
        if exact.sees(step) is not None:
            raise AssertionError(f"the interpreter refuses {step} of a right log of {kind.name}")
    return f"{len(steps) / (time.process_time() - before):,.0f}"


def _of_queue(rows: Sequence[Row]) -> tuple[BoundMachine, list[Step]]:
    rows = rows[:120]
    tickets: dict[int, int] = {}
    items: dict[int | None, int] = {}
    steps: list[Step] = []
    for row in rows:
        if row.operation == "put" and row.phase == "begin":
            items[row.item] = len(items)
            steps.append((PUT.waits, ()))
        elif row.operation == "put":
            steps.append((PUT.woken, (("item", items[row.item]),)))
        elif row.phase == "begin":
            tickets[row.process] = sum(name == TAKE.waits for name, _ in steps)
            steps.append((TAKE.waits, ()))
        else:
            steps.append((TAKE.woken, (("ticket", tickets[row.process]),
                                       ("item", items[row.item]))))
    takes = max(1, sum(name == TAKE.waits for name, _ in steps))
    return bound(BoundedQueue, C=CAPACITY, K=len(items) + 1, T=takes, W=8), steps


def _of_items(rows: Sequence[Row]) -> tuple[BoundMachine, list[Step]]:
    puts = {row.item: None for row in rows if row.operation == "put"}
    numbers = {item: at for at, item in enumerate(puts)}
    steps: list[Step] = []
    for row in rows:
        if row.phase == "end":
            steps += ([(DONE, ())] if row.operation == "put" else
                      [(TAKEN, (("item", numbers[row.item]),))])
    return bound(ConservingQueue, K=len(numbers), T=1), steps


def _of_lane(rows: Sequence[Row]) -> tuple[BoundMachine, list[Step]]:
    return bound(ObservedLane, K=1 << 20), [
        (row.operation, (("number", row.item or 0),)) for row in rows]


def _of_rate(rows: Sequence[Row]) -> tuple[BoundMachine, list[Step]]:
    return bound(ObservedRate, r=4, b=10, K=1), [
        ("tick", ()) if row.operation == "tick" else ("passes", (("permits", row.value or 0),))
        for row in rows]


def _of_election(rows: Sequence[Row]) -> tuple[BoundMachine, list[Step]]:
    """Candidates are 1 to 3, and tokens grow."""
    steps: list[Step] = []
    greatest, own = 0, dict[int, int]()
    for row in rows:
        candidate = row.process - 1
        more: tuple[tuple[str, int], ...] = ()
        if row.operation == "leads":
            token = compared(row.value or 0, greatest, own.get(candidate))
            own[candidate] = greatest = row.value or 0
            more = (("token", token),)
        name = "shake" if row.operation == "disturbed" else row.operation
        steps.append((name, (("candidate", candidate), *more)))
    return bound(ObservedElection, N=3, K=1 << 40), steps


def _of_timer(rows: Sequence[Row]) -> tuple[BoundMachine, list[Step]]:
    steps: list[Step] = []
    for row in rows[:120]:
        task, now = ("task", row.item or 0), row.time or 0
        law = ("law", int(Law.DEADLINE))
        steps.append(("drive", (("until", now),)))
        steps.append(("cancel", (task,)) if row.operation == "cancels" else
                     ("ran", (task, ("at", now), law)) if row.operation == "runs" else
                     ("add", (task, ("delay", (row.value or 0) * 1_000_000), law)))
    most = 1 << 61
    return bound(ObservedTimer, u=1, n=2, K=1 + max(row.item or 0 for row in rows), D=most,
                 H=most, T=most, M=1, S=0), steps


def _of_failover(rows: Sequence[Row]) -> tuple[BoundMachine, list[Step]]:
    """The marks, which are most of the events."""
    return bound(ObservedMark, H=1 << 60), [
        ("tells", (("hw", row.value),)) for row in rows if row.value is not None]


def _of_permits(rows: Sequence[Row]) -> tuple[BoundMachine, list[Step]]:
    calls: dict[int, int] = {}
    steps: list[Step] = []
    names = {("acquire", "end"): "woken", ("release", "begin"): "gives",
             ("release", "end"): "released"}
    for row in rows[:120]:
        if (row.operation, row.phase) == ("acquire", "begin"):
            calls[row.process] = len(calls)
            steps.append(("acquire_waits", ()))
        else:
            steps.append((names[row.operation, row.phase], (("call", calls[row.process]),)))
    return bound(Permits, C=4, K=len(calls), W=8), steps


_STEPS: Final = {"queue": _of_queue, "conservation": _of_items, "lane": _of_lane,
                 "rate": _of_rate, "permits": _of_permits, "election": _of_election,
                 "timer": _of_timer, "failover": _of_failover}


if __name__ == "__main__":
    sys.exit(main())
