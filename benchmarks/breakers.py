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
from checkvalve.spec.witnesses.refused import TABLE, table, to_json

from .witnesses.breakers import tied
from .witnesses.wider import Found, searched

__all__ = ["main", "wanted"]


def main() -> int:
    """Look, write and print; 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machines", nargs="*", help="only these, by their full names")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--go-on", action="store_true",
                        help="take what is known for granted, and look for what is too few")
    options = parser.parse_args()
    file = Path(str(package.__file__)).resolve().with_name(TABLE)
    names = [each.name for each in tied(chapters(), judging())]
    unknown = [name for name in options.machines if name not in names]
    if unknown:
        print(f"No refinement ties {', '.join(unknown)}; there are {', '.join(names)}.",
              file=sys.stderr)
        return 2
    found = _kept(names) if file.exists() else {}
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("forkserver")) as pool:
        for done in as_completed([pool.submit(_of_machine, name, options.go_on)
                                  for name in options.machines or names]):
            name, new = done.result()
            found[name] = new
            refused = sum(bool(row.refused) for row in new.rows)
            few = "".join(f", {rule} after {new.tried[rule]}" for rule in new.tried)
            print(f"{name:40} refused {refused} of {len(new.rows)}"
                  f"{few and ', too few of '}{few[2:]}", flush=True)
            in_order = [found[each] for each in names if each in found]
            write_whole(file, to_json((row for each in in_order for row in each.rows), {
                each: found[each].tried for each in names if each in found}))
    rows = [row for each in found.values() for row in each.rows]
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


def _of_machine(name: str, goes_on: bool) -> tuple[str, Found]:
    watched, known = judging(), [row for row in table().rows if row.like == name]
    machine = next(each for each in tied(chapters(), watched) if each.name == name)
    return name, searched(machine, watched, wanted(), known if goes_on else None)


def _kept(names: list[str]) -> dict[str, Found]:
    """What is known of machines, in the order in which it was found."""
    kept = {row.like: Found() for row in table().rows}
    for row in table().rows:
        kept[row.like].rows.append(row)
    for name, numbers in table().tried.items():
        kept.setdefault(name, Found()).tried.update(numbers)
    return {name: kept[name] for name in names if name in kept}


if __name__ == "__main__":
    sys.exit(main())
