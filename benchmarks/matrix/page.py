"""docs/matrix.md from the rows that were run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checkvalve.conformance.systems.catalogue import SYSTEMS

from .rows import Row, command, foreign_targets

__all__ = ["page"]

HEAD = """\
# Releases of other projects, rule by rule

This page is made by `make matrix`. It has a row for each target that comes with checkvalve, is not
of this project and was run for this page, and says what a default run of its suite showed on the
named release; `checkvalve targets` has all. *Kept* are rules that *passed*: a sample found nothing,
which proves nothing. *Broken* rules have the shortest failure as a fixture, which `checkvalve
replay FIXTURE TARGET` runs again. *Not shown* are rules that the target does not offer, or that the
run exercised too little. A broken rule is a fact about behaviour. It is no mistake where a library
promises something else: `collections.deque(maxlen=…)` is meant to drop. A rule that a row does not
name is newer than its run. The release is what the
target says at hello: where it says only 1, the suite's adapter knows no more; `checkvalve doctor`
has the versions. [finds.md](finds.md) says what the documentation of libraries promises. Elections
by real servers take minutes a row; [election.md](election.md) has all of them, by scenarios.

*(cut)* beside *too few cases* says that the time of a row was over, and not that the rule cannot
be shown: a rule has to be exercised in nine cases, and up to 27 are added for it. A case on a real
server waits for its sessions to end and takes 10 to 25 seconds of real time. At that rate the rest
of such a row takes another ten to thirty minutes on an idle machine: `make matrix ARGS="--only
TARGET --again --seconds 1800"`. On a busy one it takes longer: kazoo.Election had 17 cases after
600 seconds where others used the processors, in place of 13 after 240 where none did.

"""


def page(rows: Mapping[tuple[str, str], Row]) -> str:
    """The page. A target without a row is not on it, so that a new adapter leaves it true."""
    return HEAD + "\n".join(_lines(rows)) + "\n"


def _lines(rows: Mapping[tuple[str, str], Row]) -> Iterator[str]:
    """Totals, a table for each suite, and how each row is repeated."""
    known = [(system.name, each.name) for system, each in foreign_targets()]
    targets = [key for key in known if key in rows]
    done = [rows[key] for key in targets]
    good = [row for row in done if not row.error]
    breaking = sum(bool(row.broken) for row in good)
    yield (f"{len(done)} targets; {len(good)} have a result: {breaking} "
           f"break at least one rule, {len(good) - breaking} break none. "
           f"{len(done) - len(good)} could not be run.")
    yield ""
    for where in sorted({f"{row.date}, {row.machine}" for row in done}):
        number = sum(f"{row.date}, {row.machine}" == where for row in done)
        yield f"{number} rows: {where}."
    for suite in SYSTEMS:
        own = [target for name, target in targets if name == suite]
        if own:
            yield from _suite(suite, own, rows)


def _suite(suite: str, targets: list[str], rows: Mapping[tuple[str, str], Row]) -> Iterator[str]:
    """The table of one suite."""
    yield ""
    yield f"## `{suite}`"
    yield ""
    given = sorted({(rows[suite, target].seconds, rows[suite, target].jobs) for target in targets})
    yield SYSTEMS[suite].about[:1].upper() + SYSTEMS[suite].about[1:] + ". A row is repeated by"
    yield " or\n".join(f"`checkvalve {' '.join(command(suite, 'TARGET', seconds, jobs))}`"
                       for seconds, jobs in given) + "."
    yield ""
    yield "| target | release | kept | broken | not shown | cases |"
    yield "|---|---|---|---|---|--:|"
    for target in targets:
        yield f"| `{target}` | {_cells(rows[suite, target])} |"


def _cells(row: Row) -> str:
    """All cells but the first."""
    release = row.release or "says none"
    if row.error:
        return f"{release} | no result: {_plain(row.error)} | | | "
    broken = ", ".join(_broken(rule, name, rule in row.follows)
                       for rule, name in row.broken.items())
    shown = "; ".join(f"{reason}: {_ids(rules)}" for reason, rules in row.not_shown.items())
    return " | ".join([release, _ids(row.kept), broken or "none", shown or "none",
                       f"{row.cases}{' (cut)' if row.cut else ''}"])


def _broken(rule: str, name: str, follows: bool) -> str:
    """A broken rule, with its fixture."""
    linked = f"[{rule}](matrix/{name})" if name else rule
    return f"{linked} (follows)" if follows else linked


def _ids(rules: list[str]) -> str:
    """The ids of rules, of which the first has the family's name: ``QUEUE-1, 2, 4``."""
    said, family = [], ""
    for rule in rules:
        name, _, number = rule.rpartition("-")
        said.append(number if name == family else rule)
        family = name
    return ", ".join(said) or "none"


def _plain(text: str) -> str:
    """A text that does not break a table."""
    return " ".join(text.replace("|", "/").replace("<", "‹").replace(">", "›").split())[:240]
