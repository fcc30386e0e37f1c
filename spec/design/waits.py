"""Who can wait for what: the wait-for graph of a design, and what it proves.

Theory. An *agent* is a task, or the reader's end of a credit link that announces freed
slots. Its rows are guarded by places of its own (its hand, its position) and by shared
places (queues, permits, threads). In a stuck state every agent that has not finished is in
some state of its own (a *group* of rows with the same guards on its own places), and each
row of the group fails in a shared place: too few tokens, or too many. One such
combination of failures is a *wait*. From a wait we follow one failure of our choice to an
agent that could end it; that agent is stuck too, so it has a wait as well, and so on. The
walk must close a cycle, and all the waits of that cycle are true in the same state.

So if no cycle can have all its waits true at once, the design is never stuck, whatever the
order of its steps. A cycle is impossible if it needs one place to hold at once at least
and at most numbers that exclude each other (a queue both too full to write to and too
empty to read from needs capacity < gives + takes - 1), or if it breaks a sum that no row
changes (the tokens of a credit link, the threads of a pool).

The converse is not claimed: a possible cycle need not be reachable. Then the explorer
decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from .rows import FAILED, Invariant, Place, Row, Table

__all__ = ["Cycle", "Facts", "Failure", "Wait", "WaitGraph", "wait_graph"]

SHARED = {"queue", "permits", "freed", "pool"}
MAX_CYCLES = 1_000
MAX_WAITS_PER_GROUP = 200
MAX_CHOICES = 64


Own = tuple[tuple[str, int, int], ...]
"""Guards on an agent's own places: (place, at least, at most)."""


@dataclass(frozen=True)
class Failure:
    """A guard that fails: the place holds at most ``number`` ("few") or at least ("many")."""

    place: str
    few: bool
    number: int


@dataclass(frozen=True)
class Wait:
    """One way in which an agent can be blocked.

    ``failures`` are true together; ``own`` are the guards on the agent's own places, which
    hold. ``agent`` is the task; ``announces`` is the credit link if it is its reader's end.
    """

    agent: str
    announces: str
    failures: tuple[Failure, ...]
    own: Own


@dataclass(frozen=True)
class Cycle:
    """Waits that could close a cycle; ``followed`` says which failure leads to the next.

    ``excluded`` says why it is impossible, and is empty where it is possible.
    """

    waits: tuple[Wait, ...]
    followed: tuple[Failure, ...]
    excluded: str


@dataclass(frozen=True)
class WaitGraph:
    """The elementary cycles of the wait-for graph.

    ``complete`` is false if there were more than MAX_CYCLES. ``proves_live`` is true if
    the graph proves that the design is never stuck.
    """

    cycles: tuple[Cycle, ...]
    complete: bool
    proves_live: bool


# --- facts ----------------------------------------------------------------------------------

class Facts:
    """Bounds on places that hold in one stuck state, and whether they can hold together."""

    def __init__(self, places: Iterable[Place], invariants: Sequence[Invariant]) -> None:
        self.bounds = {place.name: (0, place.most) for place in places}
        self.bounds[FAILED] = (0, 0)  # a design that has failed is not stuck
        self.invariants = invariants

    def fork(self) -> Facts:
        """A copy to add facts to."""
        copy = Facts((), self.invariants)
        copy.bounds = dict(self.bounds)
        return copy

    def add(self, wait: Wait) -> None:
        """Add what is true when this wait is."""
        for failure in wait.failures:
            self.between(failure.place, *((0, failure.number) if failure.few
                                          else (failure.number, self.bounds[failure.place][1])))
        for place, low, high in wait.own:
            self.between(place, low, high)

    def between(self, place: str, low: int, high: int) -> None:
        """The place holds ``low`` to ``high`` tokens."""
        old_low, old_high = self.bounds[place]
        self.bounds[place] = max(low, old_low), min(high, old_high)

    def contradiction(self) -> str:
        """Why these facts cannot hold together; empty if nothing is known against it."""
        for place, (low, high) in self.bounds.items():
            if low > high:
                return f"{place} would have to be at least {low} and at most {max(high, 0)}"
        for law in self.invariants:
            ends = [(w * self.bounds[p][0], w * self.bounds[p][1]) for p, w in law.weights.items()]
            least, most = sum(map(min, ends)), sum(map(max, ends))
            if not least <= law.total <= most:
                names, found = " + ".join(law.weights), most if most < law.total else least
                return f"{names} always add up to {law.total}, not to {found}"
        return ""


# --- waits ----------------------------------------------------------------------------------

def _failures(row: Row, roles: Mapping[str, str]) -> list[Failure]:
    """The ways in which a row can be blocked in a shared place."""
    effect = row.effect
    return [
        Failure(place, True, n - 1)
        for place, n in effect.at_least.items() if roles[place] in SHARED
    ] + [
        Failure(place, False, n + 1)
        for place, n in effect.at_most.items() if roles[place] in SHARED
    ]


def _own_guards(row: Row, roles: Mapping[str, str], facts: Facts) -> Own:
    """The guards on the agent's own places, as bounds."""
    effect = row.effect
    own = {
        place for place in (*effect.at_least, *effect.at_most)
        if roles[place] not in SHARED | {"flag", "budget", "beat"}
    }
    return tuple(sorted(
        (place, effect.at_least.get(place, 0), effect.at_most.get(place, facts.bounds[place][1]))
        for place in own
    ))


def _combinations(
    rows: Sequence[Row], roles: Mapping[str, str], facts: Facts
) -> set[frozenset[Failure]] | None:
    """The minimal sets of failures that block every row; None if there are too many."""
    found: set[frozenset[Failure]] = {frozenset()}
    for row in rows:
        wider = {old | {new} for old in found for new in _failures(row, roles)}
        possible = {c for c in wider if not _together(c, facts).contradiction()}
        found = {c for c in possible if not any(other < c for other in possible)}
        if len(found) > MAX_WAITS_PER_GROUP:
            return None
    return found


def _together(failures: Iterable[Failure], facts: Facts) -> Facts:
    here = facts.fork()
    here.add(Wait("", "", tuple(failures), ()))
    return here


def _waits(table: Table, facts: Facts) -> list[Wait] | None:
    """Every way in which every agent can be blocked; None if there are too many."""
    roles = {place.name: place.role for place in table.places}
    groups: dict[tuple[str, str, Own], list[Row]] = {}
    for row in table.rows:
        announces = "" if row.own else next(iter(row.effect.at_least))
        key = row.task, announces, _own_guards(row, roles, facts)
        groups.setdefault(key, []).append(row)
    waits = []
    for (agent, announces, own), rows in groups.items():
        combinations = _combinations(rows, roles, facts)
        if combinations is None:
            return None
        if not combinations and len(own) == 1:
            _never(facts, own[0])
        for failures in sorted(combinations, key=lambda c: sorted(map(repr, c))):
            waits.append(Wait(agent, announces, tuple(sorted(failures, key=repr)), own))
    return waits


def _never(facts: Facts, guard: tuple[str, int, int]) -> None:
    """Rows that nothing shared can block: in a stuck state their own guard fails."""
    place, low, high = guard
    if high >= facts.bounds[place][1]:
        facts.between(place, 0, low - 1)


# --- the graph --------------------------------------------------------------------------------

def wait_graph(table: Table, unending: bool) -> WaitGraph:
    """The wait-for graph of a design.

    ``unending`` says that no agent can ever have finished; where one can, a walk may end at
    it, and the graph proves nothing. ``table`` should be the relaxed translation.
    """
    facts = Facts(table.places, table.invariants)
    waits = _waits(table, facts)
    if waits is None:
        return WaitGraph((), complete=False, proves_live=False)
    waits = [wait for wait in waits if not _true(facts, [wait])]
    helpers = _helpers(table)
    every = [[(f, n) for f in wait.failures for n in _next(waits, helpers, f)] for wait in waits]
    cycles = list(islice(_cycles(waits, every, facts), MAX_CYCLES + 1))
    complete = len(cycles) <= MAX_CYCLES
    live = unending and _some_choice_proves(waits, helpers, facts)
    return WaitGraph(tuple(cycles[:MAX_CYCLES]), complete, live)


def _true(facts: Facts, waits: Iterable[Wait]) -> str:
    """Why these waits cannot all be true at once; empty if they may be."""
    here = facts.fork()
    for wait in waits:
        here.add(wait)
    return here.contradiction()


def _helpers(table: Table) -> dict[tuple[str, bool], set[tuple[str, str]]]:
    """The agents that can add to a place (few) or take from it (many)."""
    found: dict[tuple[str, bool], set[tuple[str, str]]] = {}
    for row in table.rows:
        announces = "" if row.own else next(iter(row.effect.at_least))
        if row.effect.fair:  # nobody may wait for an accident
            for place, n in row.effect.change.items():
                found.setdefault((place, n > 0), set()).add((row.task, announces))
    return found


Helpers = Mapping[tuple[str, bool], set[tuple[str, str]]]
Edges = Sequence[Sequence[tuple[Failure, int]]]


def _next(waits: Sequence[Wait], helpers: Helpers, failure: Failure) -> Iterator[int]:
    able = helpers.get((failure.place, failure.few), set())
    return (i for i, wait in enumerate(waits) if (wait.agent, wait.announces) in able)


def _some_choice_proves(waits: Sequence[Wait], helpers: Helpers, facts: Facts) -> bool:
    """Whether following one failure of each wait, well chosen, leaves no possible cycle."""
    options = [[f for f in w.failures if (f.place, f.few) in helpers] for w in waits]
    if not all(options):
        return False
    left = 2 * MAX_CYCLES
    fits = _Compatible(waits, facts)
    for choice in islice(product(*options), MAX_CHOICES):
        edges = [
            [(f, there) for there in _next(waits, helpers, f) if fits(here, there)]
            for here, f in enumerate(choice)
        ]
        possible = False
        for cycle in islice(_cycles(waits, edges, facts), left + 1):
            left -= 1
            possible = not cycle.excluded
            if possible or left < 0:
                break
        if left < 0:
            return False
        if not possible:
            return True
    return False


class _Compatible:
    """Whether two waits can be true at once; if not, no possible cycle goes from one to the
    other. This leaves a pipeline of any length without a single cycle to look at."""

    def __init__(self, waits: Sequence[Wait], facts: Facts) -> None:
        self.waits = waits
        self.facts = facts
        self.known: dict[tuple[int, int], bool] = {}

    def __call__(self, here: int, there: int) -> bool:
        pair = min(here, there), max(here, there)
        if pair not in self.known:
            self.known[pair] = not _true(self.facts, [self.waits[i] for i in pair])
        return self.known[pair]


def _cycles(waits: Sequence[Wait], edges: Edges, facts: Facts) -> Iterator[Cycle]:
    """The elementary cycles, each with why it is impossible."""
    import networkx
    graph: networkx.DiGraph[int] = networkx.DiGraph()
    for here, targets in enumerate(edges):
        for failure, there in targets:
            graph.add_edge(here, there, failure=failure)
    for nodes in networkx.simple_cycles(graph):
        pairs = zip(nodes, (*nodes[1:], nodes[0]), strict=True)
        followed = tuple(graph.edges[a, b]["failure"] for a, b in pairs)
        members = tuple(waits[node] for node in nodes)
        yield Cycle(members, followed, _true(facts, members))
