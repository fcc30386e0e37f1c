"""The page docs/election.md: the matrix, what each system truly violates, and what it promises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from checkvalve.conformance.systems.catalogue import system_of
from checkvalve.conformance.systems.election.scenarios import SCENARIOS
from checkvalve.spec.notation.rules import Rule

from .runs import Broken, Row

__all__ = ["page"]

_HEAD: Final = """# Elections by real systems

Written by `make election`, which starts each system on loopback, puts its candidates through the
scenarios below, and judges what they were told and which of their writes a store took. A
candidate is a process of its own. *Halted* is SIGSTOP; *cut off*: a relay between it and the
service lets nothing through; *ended*: the service is told to end its session (or its lease, or
the backend of its connection); the service is *killed* by SIGKILL. Times are real.

A real system is run twice: as it is used, with a store that takes every write, and as `.fenced`,
with a store that compares the token of each write. The store is ours, and so is the token's way
there: none of these libraries brings its token to a store by itself.

*Kept (n)* says that in n steps the rule could have been broken, and was not: it is no proof. *Not
shown*: no step of these scenarios could have broken it.
"""

_PROMISES: Final[Mapping[str, str]] = {
    "kazoo": (
        "kazoo promises that one contender's function runs at a time while sessions last, and "
        "tells its users to listen for SUSPENDED and LOST (election#kazoo). It gives no "
        "token; the fenced rows take the sequence number of the recipe's node."),
    "curator": (
        "Curator tells its users to assume that they may lead no longer while SUSPENDED, and "
        "that a pause of the JVM may have two believe that they lead; it advises versions on "
        "writes (election#curator). The fenced rows take the sequence number of the node."),
    "etcd": (
        "etcd says itself that a lock by lease cannot exclude others alone, and advises to "
        "compare revisions at the resource (election#etcd): that is what the fenced row does."),
    "redis": (
        "Redis promises one owner of the key while its time lasts (election#redis-lock), and "
        "nothing for what arrives later. Its counter, which the fenced row takes for a token, "
        "is in memory: a server that is killed without persistence begins again at 1."),
    "redlock": (
        "Redlock promises one owner while clocks go alike and no server forgets "
        "(election#redlock). There is no number that grows over its servers, so there is no "
        "fenced row."),
    "postgresql": (
        "PostgreSQL promises one holder, until its session ends (election#postgresql). A "
        "holder that is halted or cut off in silence keeps the lock as long as TCP thinks it "
        "alive: it is not replaced, and so does no harm, and nobody else leads. The fenced "
        "row draws its token from a sequence."),
}

_CONFIGURATION: Final = """## Configuration

Sessions and leases last 1.5 s, those of etcd 2 s; a *wait* is a third longer, and until somebody
leads who can be asked. ZooKeeper: one server of PySpark's jars, ticks of 100 ms. etcd: one
member, election timeout 500 ms. Redis: no persistence, as `redis-server --save "" --appendonly
no`; Redlock: three such servers, retry after 25 to 50 ms, drift 1 % + 2 ms. PostgreSQL: one
cluster, `psql` as client, `pg_advisory_lock` on one connection. kazoo and Curator connect through
the relay, and retry forever. Two candidates each.
"""


def page(rows: Sequence[Row], rules: Sequence[Rule]) -> str:
    """The whole page, as Markdown."""
    return "\n".join((
        _HEAD, *_matrix(rows, rules), *_rules(rules), *_scenarios(), _CONFIGURATION,
        *_violations(rows), *_undecided(rows)))


def _matrix(rows: Sequence[Row], rules: Sequence[Rule]) -> Iterator[str]:
    yield "| target | " + " | ".join(rule.id for rule in rules) + " |"
    yield "|---|" + "---|" * len(rules)
    for row in rows:
        yield f"| `{row.target}` | " + " | ".join(row.cell(rule.id) for rule in rules) + " |"
    yield ""


def _rules(rules: Sequence[Rule]) -> Iterator[str]:
    for rule in rules:
        yield f"- **{rule.id}** {rule.statement}"
    yield ""


def _scenarios() -> Iterator[str]:
    yield "## Scenarios\n"
    yield "| scenario | program |"
    yield "|---|---|"
    for name, program in SCENARIOS.items():
        names = system_of("election").port.operations
        acts = ", ".join(f"{act.do} {act.pick}" if names[act.do].arguments else act.do
                         for act in program)
        yield f"| {name} | {acts} |"
    yield ""
    yield ("The first is the shortest that breaks ELECT-2 where nothing is fenced: "
           "`checkvalve verify election.lock_seen` searches all shorter runs of the mechanism "
           "(`Unfenced`) before it. An operation that makes no sense where it stands is left "
           "out.\n")


def _violations(rows: Sequence[Row]) -> Iterator[str]:
    yield "## What is broken\n"
    for row in rows:
        if not row.broken:
            continue
        yield f"### {row.target}\n"
        promise = _PROMISES.get(row.target.partition(".")[0])
        if promise:
            yield f"{promise}\n"
        for rule, broken in row.broken.items():
            link = f" ([fixture](election/{row.target}-{rule}.json))"
            yield from _trace(rule, broken, link)
            for other in row.also.get(rule, ()):
                yield from _trace(rule, other, "")


def _trace(rule: str, broken: Broken, link: str) -> Iterator[str]:
    yield f"{rule}, in the scenario \"{broken.scenario}\"{link}:\n"
    yield "```"
    for number, exchange in enumerate(broken.run.exchanges[: broken.breach.step + 1]):
        mark = "  <- " + rule if number == broken.breach.step else ""
        yield f"{broken.seconds[number]:7.2f} s  {exchange.words}{mark}"
    yield "```\n"


def _undecided(rows: Sequence[Row]) -> Iterator[str]:
    lines = [f"- `{row.target}`, {name}: the machine was too busy for the candidates to keep their "
             "sessions, so what came after is not judged."
             for row in rows for name in row.undecided]
    lines += [f"- `{row.target}`, {name}: {why}"
              for row in rows for name, why in row.failed.items()]
    if lines:
        yield "## What came to no end\n"
        yield from lines
        yield ""
