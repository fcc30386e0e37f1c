"""Logs, mappings and files of campaigns that are mutated; they are read as users have them read."""

from __future__ import annotations

import base64
import gzip
import json
import tomllib
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from random import Random
from typing import Any, Final

from .mutate import broken_bytes, broken_tree, json_text, toml_text

__all__ = ["feed_campaign", "feed_log", "make_campaign", "make_log"]

_CAMPAIGN: Final = """
[[runs]]
suites = ["queue"]
targets = ["reference", "janus"]
seeds = 2
cases = 3
capacities = [1, 2]
programs = 2
timeout = 2.5
max_states = 100
[[runs]]
suites = ["queue"]
targets = ["deque", "zoo:silent-drop"]
seeds = [4, 5]
known = {deque = ["QUEUE-4"]}
"""

_OPERATIONS: Final = {
    "queue": ("put", "take"), "awaits.permits": ("acquire", "release"),
    "executor": ("submits", "starts"), "delivery": ("publish", "receive"),
    "timer": ("adds", "runs"), "rate": ("admits", "refuses"), "election": ("join", "leads")}

_SETTINGS: Final = {
    "awaits.permits": {"permits": 2}, "executor": {"workers": 2, "policy": 5},
    "delivery": {"ticks": 3, "law": 3}, "rate": {"rate": 1, "depth": 3}}

_ENDINGS: Final = (".jsonl", ".csv", ".jsonl.gz", ".parquet", ".arrow")


def _rows(random: Random, suite: str) -> list[dict[str, Any]]:
    """Events of calls, of which each item has one of each operation."""
    phases = ("begin", "end") if suite in ("queue", "awaits.permits") else ("point",)
    return [{"key": "k", "process": f"p{item % 2}", "operation": operation, "phase": phase,
             "item": item, "value": 1, "time": 10 * item, "result": "ok"}
            for item in range(random.randint(1, 6)) for operation in _OPERATIONS[suite]
            for phase in phases]


def _written(random: Random, rows: Any, ending: str) -> bytes:
    """Rows as a file with a name that ends so."""
    if ending in (".parquet", ".arrow"):
        return _table(rows, ending)
    if ending == ".csv":
        named = [row for row in rows if isinstance(row, dict)]
        head = list(named[0]) if named else []
        lines = [head, *([row.get(name, "") for name in head] for row in named)]
        return "\n".join(",".join(str(cell) for cell in line) for line in lines).encode(
            errors="replace")
    text = "".join(json_text(row).replace("\n", " ") + "\n" for row in rows).encode(
        errors="replace")
    return gzip.compress(text, mtime=0) if ending.endswith(".gz") else text


def _table(rows: Any, ending: str) -> bytes:
    import pyarrow as pa
    from pyarrow import feather, parquet

    out = BytesIO()
    try:
        table = pa.Table.from_pylist([row for row in rows if isinstance(row, dict)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        table = pa.table({"key": ["k"], "item": [1.5]})     # its columns have several types
    if ending == ".parquet":
        parquet.write_table(table, out)
    else:
        feather.write_feather(table, out, compression="uncompressed")
    return out.getvalue()


def make_log(random: Random) -> bytes:
    """A log of some suite and format with its mapping, one of which is mutated, or its bytes."""
    suite, ending = random.choice(sorted(_OPERATIONS)), random.choice(_ENDINGS)
    rows: Any = _rows(random, suite)
    mapping: Any = {
        "order": random.choice(("file", "time")), "settings": _SETTINGS.get(suite, {}),
        "columns": {"key": "key", "item": "item"}, "time": {"unit": "ms", "tolerance": 1},
        "operations": {name: name for name in _OPERATIONS[suite]}}
    kind = random.randrange(3)
    if kind == 0:
        rows = broken_tree(random, rows)
    elif kind == 1:
        mapping = broken_tree(random, mapping)
    data = _written(random, rows if isinstance(rows, list) else [rows], ending)
    if kind == 2:
        data = broken_bytes(random, data)
    return json.dumps({
        "suite": suite, "ending": ending, "log": base64.b64encode(data).decode(),
        "mapping": json_text(mapping)}).encode()


def feed_log(path: Path, _index: int) -> object:
    """Judge it, and write what is found, as the command does."""
    from checkvalve.conformance.cli.judge import command

    plan: Mapping[str, str] = json.loads(path.read_bytes())
    log, mapping = path.with_name(f"log{plan['ending']}"), path.with_name("map.yaml")
    log.write_bytes(base64.b64decode(plan["log"]))
    mapping.write_text(plan["mapping"], errors="replace")
    words = [str(log), "--suite", plan["suite"], "--map", str(mapping), "--max-seconds", "2"]
    with redirect_stdout(StringIO()):
        return command.main(words, standalone_mode=False)


def make_campaign(random: Random) -> bytes:
    """The file of a campaign, mutated."""
    if random.random() < 0.4:
        return broken_bytes(random, _CAMPAIGN.encode())
    tree = broken_tree(random, tomllib.loads(_CAMPAIGN))
    return toml_text(tree if isinstance(tree, dict) else {"runs": tree}).encode()


def feed_campaign(path: Path, _index: int) -> object:
    """Read it; to run its suites is what other inputs are for."""
    from checkvalve.conformance.lots.config import load

    load(path)
    return 0
