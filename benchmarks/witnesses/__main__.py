"""``make witnesses``: for each rule of the book, a mutant of its machine that breaks it.

Witnesses that still replay stay as they are; for the other rules, mutants are searched, and what
was found is written to the table that ``checkvalve rules`` shows; for what no search finds, the
runs of twins are asked. Run it after a change of a chapter. Ends with 1 if a rule has none: then
nothing that small breaks it, and it may be vacuous.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from checkvalve.conformance.computer.files import write_whole
from checkvalve.spec import witnesses as package
from checkvalve.spec.chapters import chapters
from checkvalve.spec.witnesses.book import TABLE, Witness, to_json, witnesses

from .confirm import confirm
from .find import of_chapter
from .of_twins import of_twins

__all__ = ["main"]


def main() -> int:
    """Confirm, search, write and print; 1 if a rule has no witness, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapters", nargs="*", help="look for missing ones in these only")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    options = parser.parse_args()
    table = Path(str(package.__file__)).resolve().with_name(TABLE)
    kept = {id: one for id, one in (witnesses() if table.exists() else {}).items()
            if not confirm(one)}
    print(f"{len(kept)} witnesses replay.")
    selected = [chapter.name for chapter in chapters(options.chapters)]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("forkserver")) as pool:
        for found in pool.map(partial(of_chapter, known=frozenset(kept)), selected):
            for witness in found:
                if kept.setdefault(witness.rule, witness) is witness:
                    print(f"{witness.rule:14} {len(witness.steps):3} steps  {witness}", flush=True)
            write_whole(table, to_json(_in_order(kept)))
    for witness in of_twins(_guards_of(selected) - set(kept)):
        kept[witness.rule] = witness
        print(f"{witness.rule:14} {len(witness.steps):3} steps  {witness}", flush=True)
        write_whole(table, to_json(_in_order(kept)))
    missing = [rule for rule in _ids() if rule not in kept]
    print(f"{len(kept)} of {len(_ids())} rules can be broken."
          + (f" No mutant breaks {', '.join(missing)}." if missing else ""))
    return int(bool(missing))


def _guards_of(selected: Sequence[str]) -> set[str]:
    """The rules of some chapters that are guards of an observer."""
    return {rule.id for chapter in chapters(selected) for rule in chapter.rules
            if rule.predicate is None}


def _ids() -> list[str]:
    """The ids of all rules, in the book's order."""
    return list(dict.fromkeys(rule.id for chapter in chapters() for rule in chapter.rules))


def _in_order(found: dict[str, Witness]) -> dict[str, Witness]:
    return {id: found[id] for id in _ids() if id in found}


if __name__ == "__main__":
    sys.exit(main())
