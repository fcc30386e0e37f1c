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
from itertools import islice
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
    time: int | None = None


@dataclass(frozen=True)
class Kind:
    """A log of one observer. ``of_key`` makes the rows of a key, broken or not, with about so many
    calls; ``hot`` those of the hot key. Its events may be ``timed`` by themselves."""

    name: str
    suite: str
    settings: Mapping[str, int]
    rule: str
    of_key: Callable[[Random, int, bool], Iterator[Row]]
    hot: Callable[[Random, int, bool], Iterator[Row]]
    timed: bool = False
    skew: int = 0


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


def _broker(random: Random, calls: int, broken: bool, between: int = 0) -> Iterator[Row]:
    """A broker with at most three messages in flight, each with a consumer of its own; some come
    back. Broken: at last one is given that was acknowledged, so many events before at least."""
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
        for number in range(between):
            yield Row(0, "publish", item=published + number)
        yield Row(1001, "receive", item=over)


def _called_broker(random: Random, calls: int, broken: bool, overlap: float = 0.05
                   ) -> Iterator[Row]:
    """The same, with calls that begin and end; some end after the next one of another process has
    begun."""
    late: Row | None = None
    for row in _broker(random, calls, broken, between=10):
        if late is not None and late.process == row.process:
            yield late
            late = None
        yield row._replace(phase="begin", item=None if row.operation == "receive" else row.item)
        if late is not None:
            yield late
        late = row._replace(phase="end")
        if random.random() >= overlap:
            yield late
            late = None
    if late is not None:
        yield late


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


def _election(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    """Three candidates: a leader writes, resigns, or is cut off and followed by another one, until
    all is quiet. Broken: at last one that was followed writes again, after its successor has."""
    leader, token = 1, 1
    for each in (1, 2, 3):
        yield Row(each, "join")
    yield Row(leader, "leads", value=token)
    for _ in range(calls):
        drawn, other = random.random(), leader % 3 + 1
        if drawn < 0.5:
            yield Row(leader, "accepted")
        elif drawn < 0.7:
            yield Row(leader, "leads", value=token)
        elif drawn < 0.9:
            yield Row(other, *random.choice((("leads_not",), ("refused",))))
        else:
            token += 1
            if drawn < 0.95:
                yield Row(leader, "resign")
                yield Row(other, "leads", value=token)
                yield Row(leader, "join")
            else:
                yield from _cut_off(leader, other, token)
            leader = other
    if broken:
        yield from list(_cut_off(leader, leader % 3 + 1, token + 1))[:-2]
        yield Row(leader, "accepted")


def _cut_off(leader: int, other: int, token: int) -> Iterator[Row]:
    """A leader is cut off, and another one leads; the first learns of it when all is quiet."""
    yield Row(leader, "disturbed")
    yield Row(other, "leads", value=token)
    yield Row(other, "accepted")
    yield Row(leader, "refused")
    yield Row(other, "quiet")
    yield Row(leader, "leads_not")


def _timer(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    """A timer with up to eight tasks, which run when they are due or later; some are cancelled.
    Broken: at last one runs that was cancelled."""
    due, now, tasks, over = dict[int, int](), _BEGIN, 0, -1
    for _ in range(calls):
        now += random.randrange(1_000_000)
        task = min(due, key=due.__getitem__, default=-1)
        if len(due) < 8 and (task < 0 or random.random() < 0.5):
            delay = random.randrange(8)
            due[tasks] = now + delay * 1_000_000
            yield Row(1, "adds", item=tasks, value=delay, time=now)
            tasks += 1
        elif random.random() < 0.1:
            over = random.choice(list(due))
            del due[over]
            yield Row(1, "cancels", item=over, time=now)
        else:
            now = max(now, due.pop(task))
            yield Row(2, "runs", item=task, time=now)
    if broken:
        if over < 0:
            over = tasks
            yield Row(1, "adds", item=over, value=1, time=now)
            yield Row(1, "cancels", item=over, time=now)
        yield Row(2, "runs", item=over, time=now + 10_000_000)


def _epoch(random: Random, calls: int, broken: bool) -> Iterator[Row]:
    """An epoch with its leader, and the high watermarks that it reports. Broken: at last another
    one leads."""
    leader, mark = random.randrange(5), 0
    for _ in range(calls):
        if random.random() < 0.3:
            yield Row(leader, "leads", item=leader)
        else:
            mark += random.randrange(3)
            yield Row(leader, "mark", value=mark)
    if broken:
        yield Row(leader, "leads", item=leader)
        yield Row(leader + 1, "leads", item=leader + 1)


KINDS: Final = (
    Kind("queue, 4+4 callers", "queue", {"capacity": CAPACITY}, "QUEUE-3",
         lambda random, calls, broken: _queue(random, calls, broken, callers=4), _saturated),
    Kind("queue, 16+16 callers", "queue", {"capacity": CAPACITY}, "QUEUE-3",
         lambda random, calls, broken: _queue(random, calls, broken, callers=4), _crowded),
    Kind("conservation", "queue", {}, "QUEUE-6", lambda random, calls, broken: _doubled(
        random, calls, broken), lambda random, calls, broken: _doubled(random, calls, broken)),
    Kind("conservation, no order", "queue", {"order": 0}, "QUEUE-6",
         lambda random, calls, broken: _doubled(random, calls, broken),
         lambda random, calls, broken: _doubled(random, calls, broken)),
    Kind("lane", "storm.topology", {}, "STORM-C1", _lane, _lane),
    Kind("rate", "rate", {"rate": 4, "depth": 10}, "FLOW-80", _rate, _rate),
    Kind("permits", "awaits.permits", {"permits": 4}, "PERMIT-1", _permits, _permits),
    Kind("delivery", "delivery", {"law": 3}, "DELIV-6", _broker, _broker),
    Kind("delivery, calls", "delivery", {"law": 3}, "DELIV-6", _called_broker, _called_broker,
         skew=1_500),
    Kind("acker", "storm.acker", {"buckets": 4}, "STORM-A23", _acker, _acker),
    Kind("election", "election", {"steady": 1, "candidates": 3}, "ELECT-2", _election, _election),
    Kind("timer", "timer", {}, "KAFKA-W1C", _timer, _timer, timed=True),
    Kind("failover", "kafka.failover", {}, "KAFKA-F1", _epoch, _epoch),
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


_BROKEN: Final = 7
"""The place of the key that is broken in a block of a thousand."""


def write_log(kind: Kind, folder: Path, keys: int, calls: int, hot: int, drawn: int = 0,
              seed: int = 26) -> Planted:
    """Write the log of a kind as Parquet: ``keys`` with so many ``calls`` each, and a hot key with
    ``hot`` of them. One key in a thousand is broken, and the hot key is, near its end. Of the
    blocks of a thousand keys so many are ``drawn``, and the others are these with other names; 0:
    all."""
    random = Random(seed)
    if drawn:
        return _repeated(kind, folder, keys, calls, hot, drawn, random)
    names, parts, planted = list[str](), list[Iterator[Row]](), set[str]()
    for number in range(keys):
        broken = number % _BLOCK == _BROKEN
        names.append(f"key-{number}")
        planted |= {names[-1]} if broken else set()
        parts.append(kind.of_key(random, calls * (4 if broken else 1), broken))
    names.append("hot")
    planted.add("hot")
    parts.append(kind.hot(random, hot, True))
    path = folder / f"{kind.suite}-{kind.name.split(',')[0]}.parquet"
    return Planted(path, _write(path, names, parts, keys, hot, kind.timed), frozenset(planted))


def _write(path: Path, names: Sequence[str], parts: Sequence[Iterator[Row]], keys: int, hot: int,
           timed: bool) -> int:
    """Write the rows of all keys, a thousand keys at a time in turn, the hot one among them."""
    from pyarrow import parquet

    schema = _schema(timed)
    events = 0
    with parquet.ParquetWriter(path, schema) as writer:
        share = max(1, hot // max(1, keys // 1000))
        for start in range(0, keys, 1000):
            some = slice(start, min(start + 1000, keys))
            rows = list(_in_turn(names[some], parts[some], names[-1], parts[-1], share))
            events += len(rows)
            writer.write_table(_table(schema, rows))
        rest = [(names[-1], *row) for row in parts[-1]]
        events += len(rest)
        writer.write_table(_table(schema, rest))
    return events


_BLOCK: Final = 1_000
_PIECE: Final = 1 << 18
"""Rows of the hot key that are made at a time."""


def _repeated(kind: Kind, folder: Path, keys: int, calls: int, hot: int, drawn: int, random: Random
              ) -> Planted:
    """See ``write_log``: blocks that are repeated, and the hot key's rows spread over all of them.
    """
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    schema, path = _schema(kind.timed), folder / f"{kind.suite}-{kind.name.split(',')[0]}.parquet"
    blocks, events = max(1, keys // _BLOCK), 0
    made = [_drawn_block(kind, calls, schema, random) for _ in range(drawn)]
    of_hot = (("hot", *row) for row in kind.hot(random, hot, True))
    share = -(-2 * hot // blocks)
    with parquet.ParquetWriter(path, schema) as writer:
        for number in range(blocks):
            places, table = made[number % drawn]
            names = pa.array([f"key-{number * _BLOCK + each}" for each in range(_BLOCK)])
            table = table.set_column(0, schema[0], names.take(places))
            some = _table(schema, list(islice(of_hot, share)))
            at = np.concatenate([np.arange(len(each)) / max(1, len(each))
                                 for each in (table, some)])
            writer.write_table(pa.concat_tables([table, some]).combine_chunks().take(
                pa.array(np.argsort(at, kind="stable"))), row_group_size=_PIECE)
            events += len(at)
        while rest := list(islice(of_hot, _PIECE)):
            writer.write_table(_table(schema, rest))
            events += len(rest)
    broken = (f"key-{number * _BLOCK + _BROKEN}" for number in range(blocks))
    return Planted(path, events, frozenset({"hot", *broken}))


def _drawn_block(kind: Kind, calls: int, schema: Any, random: Random) -> tuple[Any, Any]:
    """The rows of a thousand keys in turn, and the place of the key of each."""
    import pyarrow as pa

    parts = [kind.of_key(random, calls * (4 if each == _BROKEN else 1), each == _BROKEN)
             for each in range(_BLOCK)]
    rows = list(_in_turn([str(each) for each in range(_BLOCK)], parts, "", iter(()), 0))
    table = _table(schema, rows)
    return table.column(0).cast(pa.int64()).combine_chunks(), table


def _schema(timed: bool) -> Any:
    import pyarrow as pa

    return pa.schema([("key", pa.string()), ("process", pa.int64()), ("operation", pa.string()),
                      ("phase", pa.string()), ("item", pa.int64()), ("value", pa.int64()),
                      *([("time", pa.int64())] if timed else [])])


def _table(schema: Any, rows: Sequence[tuple[Any, ...]]) -> Any:
    import pyarrow as pa

    columns: list[Any] = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.Table.from_arrays([pa.array(column, kind.type) for column, kind in
                                 zip(columns, schema, strict=False)], schema=schema)


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


def written(table: Path, way: str, files: int, skew: int = 0) -> list[Path]:
    """A log in another way: ``texts``, ``csv`` and ``json`` have digests as items, ``clocks`` is in
    some files with times, of clocks that differ by up to ``skew`` nanoseconds, or in one by the
    times that it has; of any other way, the log itself."""
    import pyarrow as arrow
    from pyarrow import csv, parquet

    if way not in ("texts", "csv", "json", "clocks"):
        return [table]
    path = table.with_name(f"{table.stem}-{way}{_ENDINGS[way]}")
    found = parquet.ParquetFile(table)
    if way == "clocks" and "time" in found.schema_arrow.names:
        # Those of different keys may be further apart than a file may be out of order.
        parquet.write_table(found.read().sort_by("time"), path)
        return [path]
    if way == "clocks":
        return _by_clocks(found, path, files, skew)
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


def _by_clocks(found: Any, path: Path, files: int, skew: int) -> list[Path]:
    """Some files with times, a microsecond between events: the processes of a key are in several of
    them. The clock of the last file is ahead of that of the first by the ``skew``."""
    import pyarrow as arrow
    from pyarrow import compute, parquet

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
            ahead = skew * number // max(1, files - 1)
            writer.write_batch(some.set_column(
                some.num_columns - 1, schema.field("time"), compute.add(some.column(-1), ahead)))
    for writer in writers:
        writer.close()
    return paths


_BEGIN: Final = 1_700_000_000_000_000_000
