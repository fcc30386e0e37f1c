"""How much memory ``checkvalve judge`` takes for a short log and for a long one of as many keys.

For each observer, logs of 5 and of 200 million events are generated as ``make bench-judge`` does,
and each is judged by a process of its own. Beside the most memory that it ever had is how much of
it was not pages of files (libraries and the log itself). All violations that were planted have to
be found, and no other. ``make bench-judge-memory`` takes ten minutes for each observer, and as much
disk as the log (up to 5 GB); ``ARGS=--quick`` is 1 and 4 million.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from .judged_logs import KINDS, Kind, Planted, write_log

__all__ = ["main"]

KEYS: Final = 100_000
DRAWN: Final = 4
PART_OF_HOT: Final = 25
"""The hot key has one of so many events."""

_LOOK_S: Final = 0.05
_SAMPLE: Final = 2_000
_WIDTHS: Final = (23, 13, 11, 9, 11, 9, 7, 9)


class Seen(NamedTuple):
    """The most memory of a process, in MB; that which was no page of a file; and the seconds of
    its processor."""

    peak: int
    own: int
    seconds: float

    def and_now(self, pid: int) -> Seen:
        """With what a process has taken by now."""
        place = Path("/proc") / str(pid)
        of = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines())
        own, peak = (int(of[name].split()[0]) >> 10 for name in ("RssAnon", "VmHWM"))
        taken = (place / "stat").read_text().rpartition(")")[2].split()[11:13]
        return Seen(max(peak, self.peak), max(own, self.own),
                    sum(map(int, taken)) / os.sysconf("SC_CLK_TCK"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table, and return 1 if a violation was missed or invented."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="1 and 4 million events, 5,000 keys")
    parser.add_argument("--millions", type=int, nargs="+", default=[5, 200])
    parser.add_argument("--only", nargs="+", choices=[kind.name for kind in KINDS],
                        default=[kind.name for kind in KINDS if not kind.skew])
    chosen = parser.parse_args(arguments)
    keys, sizes = (5_000, [1, 4]) if chosen.quick else (KEYS, chosen.millions)
    print(_line(("observer", "events", "events/s", "peak MB", "its own MB", "planted", "found",
                 "invented")))
    wrong = 0
    for kind in (kind for kind in KINDS if kind.name in chosen.only):
        for millions in sizes:
            with tempfile.TemporaryDirectory() as folder:
                planted = _written(kind, Path(folder), keys, millions * 1_000_000)
                seen, found = _judged(kind, planted)
            print(_line((kind.name, f"{planted.events:,}",
                         f"{planted.events / seen.seconds:,.0f}", str(seen.peak), str(seen.own),
                         str(len(planted.keys)), str(len(found & planted.keys)),
                         str(len(found - planted.keys)))), flush=True)
            wrong += found != planted.keys
    return 1 if wrong else 0


def _line(cells: Sequence[str]) -> str:
    return "".join(cell.ljust(width) if at == 0 else cell.rjust(width)
                   for at, (cell, width) in enumerate(zip(cells, _WIDTHS, strict=True)))


def _written(kind: Kind, folder: Path, keys: int, events: int) -> Planted:
    """A log of about so many events."""
    hot = events // PART_OF_HOT // 2
    rows = sum(1 for _ in islice(kind.of_key(Random(1), _SAMPLE, False), 4 * _SAMPLE))
    calls = round((events - 2 * hot) / keys / rows * _SAMPLE)
    return write_log(kind, folder, keys, calls, hot, DRAWN)


def _judged(kind: Kind, planted: Planted) -> tuple[Seen, set[str]]:
    """What a process takes that judges a log, and the keys at which it finds a violation."""
    from pyarrow import parquet

    out = planted.path.with_suffix(".found")
    settings = [f"--set={name}={number}" for name, number in kind.settings.items()]
    seen = Seen(0, 0, 0.0)
    with subprocess.Popen(
            [Path(sys.executable).with_name("checkvalve"), "judge", planted.path, "--suite",
             kind.suite, "--out", out, *settings], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            with suppress(FileNotFoundError, KeyError, ProcessLookupError):  # it ends by then
                seen = seen.and_now(process.pid)
            time.sleep(_LOOK_S)
    rows = parquet.read_table(out, columns=["found", "key"]).to_pylist()
    return seen, {row["key"] for row in rows if row["found"] == "violated"}


if __name__ == "__main__":
    sys.exit(main())
