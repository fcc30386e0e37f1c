"""``make breakers``: for each rule of a mechanism, machines that break it, refused or accepted.

Looks at every machine that a refinement ties to an observer by which a suite judges, or at those
that are named, such as ``flow.credit.Link``; what is known of the others stays. The table is what
``checkvalve rules`` counts. Run it after a change of a chapter or of a view. Minutes; the result
does not depend on the number of processes.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from checkvalve.conformance.cli.rules import judging
from checkvalve.conformance.computer.files import write_whole
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.spec import witnesses as package
from checkvalve.spec.chapters import chapters
from checkvalve.spec.notation.labels import counted
from checkvalve.spec.reach import bookkeeping, unseen
from checkvalve.spec.witnesses.refused import TABLE, Breaker, known_breakers, to_json

from .witnesses.breakers import breakers, tied

__all__ = ["main", "wanted"]


def main() -> int:
    """Look, write and print; 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machines", nargs="*", help="only these, by their full names")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    options = parser.parse_args()
    table = Path(str(package.__file__)).resolve().with_name(TABLE)
    names = [each.name for each in tied(chapters(), judging())]
    unknown = [name for name in options.machines if name not in names]
    if unknown:
        print(f"No refinement ties {', '.join(unknown)}; there are {', '.join(names)}.",
              file=sys.stderr)
        return 2
    found = _kept(names) if table.exists() else {}
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("forkserver")) as pool:
        for done in as_completed([pool.submit(_of_machine, name)
                                  for name in options.machines or names]):
            name, rows = done.result()
            found[name] = rows
            refused = sum(bool(row.refused) for row in rows)
            print(f"{name:40} refused {refused} of {len(rows)}", flush=True)
            write_whole(table, to_json(row for each in names for row in found.get(each, ())))
    rows = [row for each in found.values() for row in each]
    accepted = {row.rule for row in rows if not row.refused}
    print(f"{counted(len(rows), 'machine')} that break a rule; of {len({r.rule for r in rows})} "
          f"rules {len(accepted)} are broken by one that is accepted.")
    return 0


def wanted() -> set[str]:
    """The rules in question: no suite tests them, and no chapter says that nothing shows them."""
    book = list(chapters())
    excused = {*unseen(book), *bookkeeping(book)}
    return {rule.id for chapter in book for rule in chapter.rules
            if rule.predicate is not None and rule.id not in excused
            and all(system.suite.rule(rule.id) is None for system in SYSTEMS.values())}


def _of_machine(name: str) -> tuple[str, list[Breaker]]:
    watched = judging()
    machine = next(each for each in tied(chapters(), watched) if each.name == name)
    return name, list(breakers(machine, watched, wanted()))


def _kept(names: list[str]) -> dict[str, list[Breaker]]:
    kept: dict[str, list[Breaker]] = {}
    for rows in known_breakers().values():
        for row in rows:
            kept.setdefault(row.like, []).append(row)
    return {name: kept[name] for name in names if name in kept}


if __name__ == "__main__":
    sys.exit(main())
