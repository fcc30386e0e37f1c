"""``python -m benchmarks.matrix`` (``make matrix``): run the rows that are missing, write the page.

Each row is written when it is known (docs/matrix/rows.json), so that a run that was ended continues
where it was. ``--again`` runs rows that there are; ``--only TARGET`` only some; ``--page`` none.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from checkvalve.conformance.computer.files import write_whole

from .page import page
from .rows import foreign_targets, kept, run, saved

__all__ = ["main"]

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def main() -> int:
    """Run what is asked for, one row after the other; 1 if a row has no result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", metavar="TARGET", help="only this one")
    parser.add_argument("--again", action="store_true", help="run rows that there are, too")
    parser.add_argument("--page", action="store_true", help="run nothing, write the page")
    parser.add_argument("--max-seconds", type=float, default=float("inf"),
                        help="begin no row after this many seconds")
    parser.add_argument("--seconds", type=int, help="of each row, in place of the usual")
    options = parser.parse_args()
    folder, began = DOCS / "matrix", time.monotonic()
    rows = saved(folder / "rows.json")
    known = list(foreign_targets())
    wrong = set(options.only or ()) - {each.name for _, each in known}
    if wrong:
        parser.error(f"there is no such target of others: {', '.join(sorted(wrong))}")
    for system, each in known if not options.page else ():
        key = (system.name, each.name)
        if options.only and each.name not in options.only or (key in rows and not options.again):
            continue
        if time.monotonic() - began > options.max_seconds:
            break
        rows[key] = run(system, each, folder, options.seconds)
        folder.mkdir(exist_ok=True)
        write_whole(folder / "rows.json", kept(rows))
        row = rows[key]
        print(f"{system.name:20} {each.name:36} {row.release:28} "
              f"{row.error[:60] or ', '.join(row.broken) or 'nothing broken'}", flush=True)
    write_whole(DOCS / "matrix.md", page(rows))
    return int(any(row.error for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
