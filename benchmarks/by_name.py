"""``python -m benchmarks.by_name``: classes by their names, against adapters by hand.

Each class is run twice, once by its name with nothing written for it, once behind the adapter that
the tree ships for it, with the same suite, seed and number of cases. The table has, by rule, what
both found. Where they differ, a sentence says why: no difference is left without one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from checkvalve.conformance.campaigns.summary import Summary
from checkvalve.conformance.engines.conduct import Engine, Order, conduct
from checkvalve.conformance.foreign.place import with_names

__all__ = ["PAIRS", "Compared", "Pair", "compare", "main", "page"]

BROKEN: Final = ("violated", "follows")


@dataclass(frozen=True)
class Pair:
    """A class by its name, and the target that has an adapter by hand. ``times`` as many cases are
    run: a lock has no part in those of larger sizes. ``why`` says, by rule, why the two differ."""

    suite: str
    named: str
    by_hand: str
    names: tuple[str, ...] = ()
    times: int = 1
    why: Mapping[str, str] = field(default_factory=dict)
    made_here: str = ""
    """The library, where the class is made by a function of ours."""

    @property
    def library(self) -> str:
        """The library that the class is of."""
        return self.made_here or self.named.split(":")[1].partition(".")[0]

    @property
    def words(self) -> str:
        """The command's words that name the class."""
        return " ".join((self.named, *(f"--names {each}" for each in self.names)))


_IN_C: Final = dict.fromkeys(("QUEUE-6", "QUEUE-12"), (
    "Its `get` waits in C. By name, what waits there is not offered; the adapter offers it by real "
    "threads, which cannot show the rule."))
_LOCKED: Final = ("No method says whether an acquire would wait. The adapter computes it from the "
                  "number `{}`.")

PAIRS: Final = (
    Pair("queue", "thread:queue:Queue", "queue.Queue"),
    Pair("queue", "thread:queue:SimpleQueue", "queue.SimpleQueue", why=_IN_C),
    Pair("queue", "asyncio:asyncio:Queue", "asyncio.Queue"),
    Pair("queue", "asyncio:janus:Queue", "janus", (
        "put=async_q.put,get=async_q.get,put_nowait=async_q.put_nowait,"
        "get_nowait=async_q.get_nowait,size=async_q.qsize",)),
    Pair("awaits.queue", "asyncio:asyncio:Queue", "awaits.asyncio.Queue"),
    Pair("awaits.permits", "asyncio:asyncio:Semaphore", "awaits.asyncio.Semaphore"),
    Pair("awaits.permits", "asyncio:asyncio:Lock", "awaits.asyncio.Lock", times=3),
    Pair("awaits.condition", "asyncio:asyncio:Condition", "awaits.asyncio.Condition"),
    Pair("awaits.gate", "asyncio:asyncio:Event", "awaits.asyncio.Event"),
    Pair("awaits.permits", "asyncio:anyio:Semaphore", "awaits.anyio.Semaphore.native",
         why={"PERMIT-2": _LOCKED.format("value")}),
    Pair("awaits.permits", "asyncio:anyio:Lock", "awaits.anyio.Lock.native", times=3),
    Pair("awaits.permits", "asyncio:anyio:CapacityLimiter", "awaits.anyio.CapacityLimiter.native",
         why={"PERMIT-2": _LOCKED.format("available_tokens")}),
    Pair("awaits.condition", "asyncio:anyio:Condition", "awaits.anyio.Condition.native"),
    Pair("awaits.gate", "asyncio:anyio:Event", "awaits.anyio.Event"),
    Pair("rate", "asyncio:aiolimiter:AsyncLimiter", "aiolimiter", why={"FLOW-81": (
        "The class has no method that refuses. The adapter makes one of two: it asks "
        "`has_capacity`, and acquires only then.")}),
    *(Pair("awaits.permits", f"thread:threading:{name}", f"python:benchmarks.by_hand:{hand}",
           times=times) for name, hand, times in (
        ("Semaphore", "Semaphore", 1), ("BoundedSemaphore", "BoundedSemaphore", 1),
        ("_RLock", "RLock", 3))),
    Pair("awaits.condition", "thread:threading:Condition", "python:benchmarks.by_hand:Condition"),
    Pair("awaits.gate", "thread:threading:Event", "python:benchmarks.by_hand:Event"),
    Pair("rate", "thread:benchmarks.by_hand:pyrate", "python:benchmarks.by_hand:Pyrate",
         ("policy=log",), made_here="pyrate_limiter"),
    Pair("timer", "thread:sched:scheduler", "sched", ("policy=in-order",), why={"KAFKA-W2": (
        "The class has no method that says how many tasks are pending. The adapter counts the "
        "entries of its attribute `queue`.")}),
)


@dataclass(frozen=True)
class Compared:
    """A pair with the verdicts of both, by rule, and the errors of runs that came to none."""

    pair: Pair
    named: Mapping[str, str]
    by_hand: Mapping[str, str]
    errors: tuple[str, ...] = ()

    @property
    def different(self) -> tuple[str, ...]:
        """The rules on which they do not agree."""
        return tuple(rule for rule in self.by_hand
                     if self.by_hand[rule] != self.named.get(rule, "no run"))

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The differences for which no reason is given."""
        return tuple(rule for rule in self.different if rule not in self.pair.why)


def compare(pair: Pair, cases: int | None) -> Compared:
    """Run both. ``cases`` None: as many as the rules take, from a quick start."""
    both, errors = [], []
    for target in (with_names(pair.named, pair.names), pair.by_hand):
        summary, _ = conduct(target, Order(
            pair.suite, cases and cases * pair.times, 0, quick=cases is None),
            engine=Engine(jobs=2, thin=True), known=())
        both.append(dict(_verdicts(summary)))
        errors += [summary.error] if summary.error else []
    return Compared(pair, both[0], both[1], tuple(errors))


def _verdicts(summary: Summary) -> Iterator[tuple[str, str]]:
    for result in summary.results:
        verdict = "broken" if result.verdict in BROKEN else result.verdict
        yield result.rule.id, (
            f"not shown ({result.reason})" if verdict == "not shown" else verdict)


def page(found: Sequence[Compared], cases: int | None) -> str:
    """The page: a row for each pair, and below it the differences with their reasons."""
    libraries = {each.pair.library for each in found}
    lines = [
        "# Classes by name, against adapters by hand", "",
        "<!-- Written by `python -m benchmarks.by_name --publish docs`. -->", "",
        f"{len(found)} classes of {len(libraries)} libraries, each run by its name "
        "([by-name.md](by-name.md)) and behind the adapter that checkvalve ships, or one in "
        "benchmarks/by_hand.py, which was written for this comparison, with the same suite, seed "
        f"and cases ({cases or 'as many as the rules take'}; three times as many of a lock, which "
        "has one size). A row counts the rules on which both agree, and names those on which they "
        "do not.", "",
        "| suite | by name | adapter | both keep | both break | both do not show | differ |",
        "|---|---|---|---|---|---|---|"]
    for each in found:
        agreed = [verdict for rule, verdict in each.by_hand.items() if rule not in each.different]
        broken = [rule for rule, verdict in each.by_hand.items()
                  if verdict == "broken" and rule not in each.different]
        unshown = sum(verdict.startswith("not shown") for verdict in agreed)
        lines.append(
            f"| `{each.pair.suite}` | `{each.pair.words}` | `{each.pair.by_hand}` | "
            f"{agreed.count('passed')} | {', '.join(broken) or '-'} | {unshown} | "
            f"{', '.join(each.different) or '-'} |")
    lines += ["", "## The differences", ""]
    for each in found:
        for rule in each.different:
            why = each.pair.why.get(rule, "**not explained yet**")
            lines.append(
                f"- `{each.pair.named}`, {rule}: by name {each.named.get(rule, 'no run')}, "
                f"with the adapter {each.by_hand[rule]}. {why}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the pairs with a word in their name; 1 if a difference has no reason."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*", help="only pairs that have one of these words")
    parser.add_argument("--cases", type=int, help="cases of each run (default: what rules take)")
    parser.add_argument("--keep", type=Path, metavar="FILE",
                        help="keep what was found in this file, and run only what is not in it")
    parser.add_argument("--publish", type=Path, metavar="FOLDER",
                        help="write by-name-table.md there")
    given = parser.parse_args(arguments)
    chosen = [pair for pair in PAIRS
              if not given.words or any(word in f"{pair.suite} {pair.named}"
                                        for word in given.words)]
    kept = _kept(given.keep)
    found = []
    for pair in chosen:
        began = time.perf_counter()
        key = f"{pair.suite} {pair.words}"
        each = (Compared(pair, kept[key][0], kept[key][1]) if key in kept
                else compare(pair, given.cases))
        found.append(each)
        if given.keep and not each.errors:
            kept[key] = [each.named, each.by_hand]
            given.keep.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        print(f"{key}: differ {', '.join(each.different) or 'nowhere'} "
              f"({time.perf_counter() - began:.1f} s) {' '.join(each.errors)}", flush=True)
        for rule in each.different:
            print(f"  {rule}: {each.named.get(rule)} | {each.by_hand[rule]}", flush=True)
    if given.publish:
        (given.publish / "by-name-table.md").write_text(page(found, given.cases), encoding="utf-8")
    return 1 if any(each.unexplained or each.errors for each in found) else 0


def _kept(path: Path | None) -> dict[str, list[Mapping[str, str]]]:
    """By suite and name, the verdicts of both runs that were kept."""
    if path is None or not path.exists():
        return {}
    kept: dict[str, list[Mapping[str, str]]] = json.loads(path.read_text(encoding="utf-8"))
    return kept


if __name__ == "__main__":
    sys.exit(main())
