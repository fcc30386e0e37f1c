"""Logs for ``make bench-judge``: many keys and a hot one, calls that overlap, planted violations.

Each maker gives the columns of one observer's log, key by key, as lists of rows; ``mixed`` brings
the rows of all keys into one order in which keys alternate and each key keeps its own. All numbers
come from a seed. Violations are planted at keys of their own, and which they are is known.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

__all__ = ["KINDS", "Kind", "Planted", "write_log", "written"]


class Row(NamedTuple):
    """One event; the key is added."""

    process: int
    operation: str
    phase: str = "point"
    item: int | None = None
    value: int | None = None


@dataclass(frozen=True)
class Kind:
    """A log of one observer. ``of_key`` makes the rows of a key, broken or not, with about so many
    calls; ``hot`` those of the hot key."""

    name: str
    suite: str
    settings: Mapping[str, int]
    rule: str
    of_key: Callable[[Random, int, bool], Iterator[Row]]
    hot: Callable[[Random, int, bool], Iterator[Row]]


class Planted(NamedTuple):
    """A log that was written: its events, and the keys with a violation."""

    path: Path
    events: int
    keys: frozenset[str]


CAPACITY: Final = 8


def _queue(random: Random, calls: int, broken: bool, overlap: float = 0.05, callers: int = 1
           ) -> Iterator[Row]:
    """Puts and takes of a queue that is right; by so many callers of each kind, where some calls
    overlap. Broken: at last two items come out in the wrong order."""
    inside, put = list[int](), 0
    for number in range(calls):
        process = number % callers
        if inside and (len(inside) >= CAPACITY - 2 or random.random() < 0.5):
            yield Row(1000 + process, "take", "begin")
            yield Row(1000 + process, "take", "end", inside.pop(0))
        elif callers > 1 and random.random() < overlap:
            yield Row(process, "put", "begin", put)
            yield Row(process + callers, "put", "begin", put + 1)
            yield Row(process, "put", "end", put)
            yield Row(process + callers, "put", "end", put + 1)
            inside += [put, put + 1]
            put += 2
        else:
            yield Row(process, "put", "begin", put)
            yield Row(process, "put", "end", put)
            inside.append(put)
            put += 1
    if broken:
        for item in (put, put + 1):
            yield Row(1, "put", "begin", item)
            yield Row(1, "put", "end", item)
        for item in (*inside, put + 1, put):
            yield Row(1001, "take", "begin")
            yield Row(1001, "take", "end", item)


def _saturated(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    """A queue with four callers of each kind, each of which is nearly always in a call. Broken:
    near the end one item stays behind while twenty others go by."""
    items, inside, late, wait = iter(range(calls)), list[int](), list[int](), 20
    putting: dict[int, int | None] = dict.fromkeys(range(4))
    taking: dict[int, bool] = dict.fromkeys(range(1000, 1004), False)
    for number in range(calls * 2):
        if number % 2:
            process = random.choice(list(putting))
            item = putting[process]
            if item is None:
                putting[process] = item = next(items)
                yield Row(process, "put", "begin", item)
            elif len(inside) + len(late) < CAPACITY:
                inside.append(item)
                putting[process] = None
                yield Row(process, "put", "end", item)
            continue
        process = random.choice(list(taking))
        if not taking[process]:
            taking[process] = True
            yield Row(process, "take", "begin")
        elif inside:
            if broken and number > calls * 9 // 5 and len(inside) > 1:
                late, broken = [inside.pop(0)], False
            taking[process] = False
            wait -= len(late)
            yield Row(process, "take", "end", late.pop() if late and wait < 0 else inside.pop(0))


def _crowded(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    """A queue with 16 callers of each kind, nearly always in a call, which has its effect at any
    instant of it. Broken: at last two items come out in the wrong order."""
    inside, put = list[int](), 0
    calling: dict[int, list[int | None]] = {}       # the item, and whether it had its effect
    callers = [*range(16), *range(1000, 1016)]
    while put < calls // 2 or any(process < 1000 for process in calling) or inside:
        process = random.choice(callers)
        takes, call = process >= 1000, calling.get(process)
        if call is None:
            if takes or put < calls // 2:
                calling[process] = [None if takes else put, 0]
                yield Row(process, "take" if takes else "put", "begin", calling[process][0])
                put += not takes
        elif call[1]:
            del calling[process]
            yield Row(process, "take" if takes else "put", "end", call[0])
        elif takes and inside:
            calling[process] = [inside.pop(0), 1]
        elif not takes and len(inside) < CAPACITY:
            inside.append(call[0] or 0)
            call[1] = 1
    for process, call in calling.items():       # takes that wait, or have one and do not know it
        if not call[1]:
            put += 1
            yield Row(0, "put", "begin", put)
            yield Row(0, "put", "end", put)
        yield Row(process, "take", "end", call[0] if call[1] else put)
    for item in (put + 1, put + 2) if broken else ():
        yield Row(1, "put", "begin", item)
        yield Row(1, "put", "end", item)
    for item in (put + 2, put + 1) if broken else ():
        yield Row(1001, "take", "begin")
        yield Row(1001, "take", "end", item)


def _broker(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    """A broker with at most three messages in flight, each with a consumer of its own; some come
    back. Broken: at last one is given that was acknowledged."""
    ready, held, published, over = list[int](), list[tuple[int, int]](), 0, -1
    for _ in range(calls):
        drawn = random.random()
        if len(ready) < 6 and (drawn < 0.4 or not (ready or held)):
            yield Row(0, "publish", item=published)
            ready.append(published)
            published += 1
        elif ready and len(held) < 3:
            consumer = min({1001, 1002, 1003} - {each for _, each in held})
            held.append((ready.pop(0), consumer))
            yield Row(consumer, "receive", item=held[-1][0])
        elif held:
            message, consumer = held.pop(random.randrange(len(held)))
            if random.random() < 0.05:
                insort(ready, message)
                yield Row(consumer, "requeue", item=message)
            else:
                over = message
                yield Row(consumer, "ack", item=message)
    if broken and over >= 0:
        yield Row(1001, "receive", item=over)


def _acker(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    """An acker with up to six roots, some of which fail; a tick now and then. Broken: at last a
    root is answered that was answered before."""
    values, roots, over = dict[int, int](), 0, -1
    for number in range(calls):
        if number % 40 == 39:
            yield Row(0, "tick")
        edge, root = random.randrange(1, 1 << 40), min(values, default=-1)
        if root < 0 or (len(values) < 6 and random.random() < 0.4):
            yield Row(1, "init", item=roots, value=edge)
            values[roots] = edge
            roots += 1
        elif random.random() < 0.03:
            yield Row(2, "fail", item=root)
            yield Row(1, "tells_fail", item=root)
            del values[root]
        elif random.random() < 0.5 and edge != values[root]:
            yield Row(2, "ack", item=root, value=edge)
            values[root] ^= edge
        else:
            yield Row(2, "ack", item=root, value=values.pop(root))
            yield Row(1, "tells_ack", item=root)
            over = root
    if broken and over >= 0:
        yield Row(2, "ack", item=over, value=5)
        yield Row(1, "tells_ack", item=over)


def _lane(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    sent = got = 0
    while got < calls // 2:
        if sent <= got or random.random() < 0.5:
            yield Row(1, "emits", item=sent)
            sent += 1
        else:
            if broken and got == calls * 4 // 10:
                yield Row(2, "processes", item=max(0, got - 2))     # it comes a second time
                broken = False
            yield Row(2, "processes", item=got)
            got += 1


def _rate(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    bucket = 10
    for _ in range(calls):
        if random.random() < 0.4 or bucket < 4:
            yield Row(1, "tick")
            bucket = min(10, bucket + 4)
            continue
        value = random.randint(1, 4)
        bucket -= value
        yield Row(2, "admits", value=value)
    if broken:
        yield Row(2, "admits", value=11)


def _permits(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    held, waiting, process = list[int](), list[int](), 0
    for _ in range(calls):
        if waiting and len(held) < 4:
            one = waiting.pop(0)
            held.append(one)
            yield Row(one, "acquire", "end")
        elif held and random.random() < 0.6:
            one = held.pop(random.randrange(len(held)))
            yield Row(one, "release", "begin")
            yield Row(one, "release", "end")
        elif len(waiting) < 4:
            process += 1
            waiting.append(process)
            yield Row(process, "acquire", "begin")
    while broken and len(held) < 5:
        process += 1
        held.append(process)
        yield Row(process, "acquire", "begin")
        yield Row(process, "acquire", "end")


KINDS: Final = (
    Kind("queue, 4+4 callers", "queue", {"capacity": CAPACITY}, "QUEUE-3",
         lambda random, calls, broken: _queue(random, calls, broken, callers=4), _saturated),
    Kind("queue, 16+16 callers", "queue", {"capacity": CAPACITY}, "QUEUE-3",
         lambda random, calls, broken: _queue(random, calls, broken, callers=4), _crowded),
    Kind("conservation", "queue", {}, "QUEUE-6", lambda random, calls, broken: _doubled(
        random, calls, broken), lambda random, calls, broken: _doubled(random, calls, broken)),
    Kind("lane", "storm.topology", {}, "STORM-C1", _lane, _lane),
    Kind("rate", "rate", {"rate": 4, "depth": 10}, "FLOW-80", _rate, _rate),
    Kind("permits", "awaits.permits", {"permits": 4}, "PERMIT-1", _permits, _permits),
    Kind("delivery", "delivery", {"law": 3}, "DELIV-6", _broker, _broker),
    Kind("acker", "storm.acker", {"buckets": 4}, "STORM-A23", _acker, _acker),
)


def _doubled(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    """Puts and takes, one of which is given twice, if it is broken."""
    last = None
    for row in _queue(random, calls, False, callers=4):
        yield row
        last = row.item if row.operation == "take" and row.phase == "end" else last
    if broken and last is not None:
        yield Row(2000, "take", "begin")
        yield Row(2000, "take", "end", last)


def write_log(kind: Kind, folder: Path, keys: int, calls: int, hot: int, seed: int = 26) -> Planted:
    """Write the log of a kind as Parquet: ``keys`` with so many ``calls`` each, and a hot key with
    ``hot`` of them. One key in a thousand is broken, and the hot key is, near its end."""
    random = Random(seed)
    names, parts, planted = list[str](), list[Iterator[Row]](), set[str]()
    for number in range(keys):
        broken = number % 1000 == 7
        names.append(f"key-{number}")
        planted |= {names[-1]} if broken else set()
        parts.append(kind.of_key(random, calls * (4 if broken else 1), broken))
    names.append("hot")
    planted.add("hot")
    parts.append(kind.hot(random, hot, True))
    path = folder / f"{kind.suite}-{kind.name.split(',')[0]}.parquet"
    return Planted(path, _write(path, names, parts, keys, hot), frozenset(planted))


def _write(path: Path, names: Sequence[str], parts: Sequence[Iterator[Row]], keys: int, hot: int
           ) -> int:
    """Write the rows of all keys, a thousand keys at a time in turn, the hot one among them."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([("key", pa.string()), ("process", pa.int64()), ("operation", pa.string()),
                        ("phase", pa.string()), ("item", pa.int64()), ("value", pa.int64())])
    events = 0
    with parquet.ParquetWriter(path, schema) as writer:
        share = max(1, hot // max(1, keys // 1000))
        for start in range(0, keys, 1000):
            some = slice(start, min(start + 1000, keys))
            rows = list(_in_turn(names[some], parts[some], names[-1], parts[-1], share))
            events += len(rows)
            writer.write_table(_table(pa, schema, rows))
        rest = [(names[-1], *row) for row in parts[-1]]
        events += len(rest)
        writer.write_table(_table(pa, schema, rest))
    return events


def _table(arrow: Any, schema: Any, rows: Sequence[tuple[Any, ...]]) -> Any:
    columns: list[Any] = list(zip(*rows, strict=True)) or [()] * len(schema)
    return arrow.Table.from_arrays([arrow.array(column, kind.type) for column, kind in
                                    zip(columns, schema, strict=True)], schema=schema)


def _in_turn(names: Sequence[str], parts: Sequence[Iterator[Row]], hot: str,
             of_hot: Iterator[Row], share: int) -> Iterator[tuple[Any, ...]]:
    alive = list(zip(names, parts, strict=True))
    each = max(1, share * 2 // max(1, 30))
    while alive:
        left = []
        for name, part in alive:
            row = next(part, None)
            if row is not None:
                yield (name, *row)
                left.append((name, part))
        alive = left
        for _ in range(each):
            row = next(of_hot, None)
            if row is not None:
                yield (hot, *row)


def written(table: Path, way: str, files: int) -> list[Path]:
    """A log in another way: ``texts``, ``csv`` and ``json`` have digests as items, ``clocks`` is in
    some files with times; of any other way, the log itself."""
    import pyarrow as arrow
    from pyarrow import csv, parquet

    if way not in ("texts", "csv", "json", "clocks"):
        return [table]
    path = table.with_name(f"{table.stem}-{way}{_ENDINGS[way]}")
    found = parquet.ParquetFile(table)
    if way == "clocks":
        return _by_clocks(found, path, files)
    schema = found.schema_arrow.set(4, arrow.field("item", arrow.string()))
    opened: Any = (path.open("w") if way == "json" else csv.CSVWriter(path, schema)
                   if way == "csv" else parquet.ParquetWriter(path, schema))
    with opened as file:
        for batch in found.iter_batches():
            texts = arrow.array([None if item is None else _digest(key, item) for key, item in zip(
                batch.column("key").to_pylist(), batch.column("item").to_pylist(), strict=True)],
                arrow.string())
            batch = arrow.RecordBatch.from_arrays(
                [*batch.columns[:4], texts, *batch.columns[5:]], schema=schema)
            if way == "json":
                for row in batch.to_pylist():
                    file.write(json.dumps({name: value for name, value in row.items()
                                           if value is not None}) + "\n")
            else:
                file.write_batch(batch)
    return [path]


_ENDINGS: Final = {"texts": ".parquet", "csv": ".csv", "json": ".jsonl", "clocks": ".parquet"}


def _digest(key: str, item: int) -> str:
    return blake2b(f"{key}/{item}".encode(), digest_size=8).hexdigest()


def _by_clocks(found: Any, path: Path, files: int) -> list[Path]:
    """Some files with the times of one clock, a microsecond between events: the processes of a key
    are in several of them."""
    import pyarrow as arrow
    from pyarrow import parquet

    schema = found.schema_arrow.append(arrow.field("time", arrow.int64()))
    paths = [path.with_stem(f"{path.stem}-{number}") for number in range(files)]
    writers = [parquet.ParquetWriter(each, schema) for each in paths]
    line = 0
    for batch in found.iter_batches():
        times = arrow.array(range(_BEGIN + line, _BEGIN + line + batch.num_rows * 1_000, 1_000))
        line += batch.num_rows * 1_000
        timed = arrow.RecordBatch.from_arrays([*batch.columns, times], schema=schema)
        process = batch.column("process").to_numpy()
        for number, writer in enumerate(writers):
            some = timed.filter(arrow.array(process % files == number))
            writer.write_batch(some)
    for writer in writers:
        writer.close()
    return paths


_BEGIN: Final = 1_700_000_000_000_000_000
