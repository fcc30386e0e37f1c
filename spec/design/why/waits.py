"""The wait-for graph of a design, and what it proves.

Theory. An *agent* is a task, or the reader's end of a credit link that announces freed
slots. Its rows are guarded by places of its own (its hand, its position) and by shared
places (queues, permits, threads). In a deadlocked state every agent that has not finished is in
some state of its own (a *group* of rows with the same guards on its own places), and each
row of the group fails in a shared place: too few tokens, or too many. One such
combination of failures is a *wait*. From a wait we follow a failure to an agent that could
end it; that agent is blocked too, so it has a wait as well, and so on. The walk must close a
cycle, and all the waits of that cycle are true in the same state.

A cycle is impossible if it needs one place to hold at once at least and at most numbers that
exclude each other (a queue both too full to write to and too empty to read from needs capacity <
gives + takes - 1), or if it breaks an invariant (the tokens of a credit link, the threads of a
pool, the elements in a ring; see ``invariants``). The cycles are reported. For the proof more is
used: in a deadlocked state *all* agents wait at once. So one wait is chosen for every agent, in all
ways; if each choice contradicts itself, the design never deadlocks, whatever the order of its
steps. (Every choice contains a cycle, so that no cycle is possible is one case of this.)

The converse is not claimed: a choice without a known contradiction need not be reachable.
Then the explorer decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ..net.invariants import conserved
from ..net.rows import FAILED, Invariant, Place, Row, Table

__all__ = ["Cycle", "Facts", "Failure", "Helps", "Wait", "WaitGraph", "wait_graph"]

SHARED = {"queue", "permits", "freed", "pool", "slots", "sign", "line", "slot"}
MAX_CYCLES = 1_000
MAX_WAITS_PER_GROUP = 200
MAX_TRIED = 20_000


Watch = Callable[[], None]
Agent = tuple[str, str]
"""A task and "", or the task that reads a credit link and the place of its freed slots."""

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
    """A combination of failures that blocks an agent.

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
    the graph proves that the design is never deadlocked.
    """

    cycles: tuple[Cycle, ...]
    complete: bool
    proves_live: bool


# --- facts ----------------------------------------------------------------------------------

class Facts:
    """Bounds on places that hold in one deadlocked state, and whether they can hold together."""

    def __init__(
        self, places: Iterable[Place], invariants: Sequence[Invariant],
        laws: dict[str, list[Invariant]] | None = None, watch: Watch = lambda: None,
    ) -> None:
        self.watch = watch
        self.bounds = {place.name: (0, place.most) for place in places}
        self.bounds[FAILED] = (0, 0)  # a design that has failed is not deadlocked
        self.invariants = invariants
        self._laws: dict[str, list[Invariant]] = {} if laws is None else laws
        if laws is None:
            for law in invariants:
                for place in law.weights:
                    self._laws.setdefault(place, []).append(law)

    def fork(self) -> Facts:
        """A copy to add facts to."""
        copy = Facts((), self.invariants, self._laws, self.watch)
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

    def contradiction(self, added: Wait | None = None) -> str:
        """Why these facts cannot hold together; empty if nothing is known against it.

        With ``added``, only what that wait touches is looked at.
        """
        self.watch()
        places: Iterable[str] = self.bounds
        laws: Iterable[Invariant] = self.invariants
        if added is not None:
            places = [*(f.place for f in added.failures), *(own[0] for own in added.own)]
            laws = [law for place in places for law in self._laws.get(place, ())]
        for place in places:
            low, high = self.bounds[place]
            if low > high:
                return f"{place} would have to be at least {low} and at most {max(high, 0)}"
        for law in laws:
            ends = [(w * self.bounds[p][0], w * self.bounds[p][1]) for p, w in law.weights.items()]
            least, most = sum(map(min, ends)), sum(map(max, ends))
            if not least <= law.total <= most:
                names, found = " + ".join(law.weights), most if most < law.total else least
                return f"{names} always add up to {law.total}, not to {found}"
        return ""


# --- waits ----------------------------------------------------------------------------------

def _failures(row: Row, roles: Mapping[str, str]) -> list[Failure]:
    """The failures that can block a row in a shared place."""
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
    """Every wait of every agent; None if there are too many."""
    roles = {place.name: place.role for place in table.places}
    groups: dict[tuple[str, str, Own], list[Row]] = {}
    for row in table.rows:
        key = *_agent(row), _own_guards(row, roles, facts)
        group = groups.setdefault(key, [])
        if row.effect.fair:  # an accident may have no more of what it needs to happen
            group.append(row)
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
    """Rows that nothing shared can block: in a deadlocked state their own guard fails."""
    place, low, high = guard
    if high >= facts.bounds[place][1]:
        facts.between(place, 0, low - 1)


# --- the graph --------------------------------------------------------------------------------

Helps = Callable[[Wait, Failure, Wait], bool]
"""Predicate: the agent of the second wait, from where it waits, could end the first one's failure
by continuing. It only thins out the cycles that are listed; the proof does not rest on it.
"""


def wait_graph(
    table: Table, unending: bool, helps: Helps | None = None, watch: Watch = lambda: None
) -> WaitGraph:
    """The wait-for graph of a design; without ``helps``, only whether it proves it live.

    ``unending`` says that no agent can ever have finished; where one can, a walk may end at
    it, and the graph proves nothing. ``table`` should be the relaxed translation. ``watch``
    is asked all along, and may raise.
    """
    facts = Facts(table.places, (*table.invariants, *conserved(table)), watch=watch)
    waits = _waits(table, facts)
    if waits is None:
        return WaitGraph((), complete=False, proves_live=False)
    waits = [wait for wait in waits if not _true(facts, [wait])]
    helpers = _helpers(table)
    agents = {_agent(row) for row in table.rows}
    live = unending and _cannot_all_wait(waits, agents, helpers, facts)
    if helps is None:
        return WaitGraph((), complete=False, proves_live=live)
    every = [
        [(f, n) for f in wait.failures for n in _next(waits, helpers, f)
         if helps(wait, f, waits[n])]
        for wait in waits
    ]
    listed, complete = _listed(waits, every, facts)
    return WaitGraph(listed, complete, live)


def _listed(waits: Sequence[Wait], edges: Edges, facts: Facts) -> tuple[tuple[Cycle, ...], bool]:
    """The elementary cycles up to MAX_CYCLES, and whether these are all. Those with
    neighbours can wait at the same time come first: among them are all that are possible."""
    likely = [
        [(f, there) for f, there in targets if not _true(facts, (waits[here], waits[there]))]
        for here, targets in enumerate(edges)
    ]
    found = {(c.waits, c.followed): c for c in islice(_cycles(waits, likely, facts), MAX_CYCLES)}
    for cycle in _cycles(waits, edges, facts):
        if len(found) >= MAX_CYCLES:
            return tuple(found.values()), False
        found.setdefault((cycle.waits, cycle.followed), cycle)
    return tuple(found.values()), True


def _true(facts: Facts, waits: Iterable[Wait]) -> str:
    """Why these waits cannot all be true at once; empty if they may be."""
    here = facts.fork()
    for wait in waits:
        here.add(wait)
    return here.contradiction()


def _helpers(table: Table) -> dict[tuple[str, bool], set[Agent]]:
    """The agents that can add to a place (few) or take from it (many)."""
    found: dict[tuple[str, bool], set[Agent]] = {}
    for row in table.rows:
        if row.effect.fair:  # no task may wait for an accident
            for place, n in row.effect.change.items():
                found.setdefault((place, n > 0), set()).add(_agent(row))
    return found


def _agent(row: Row) -> Agent:
    """The agent of a row: a task, or its end of a credit link."""
    return row.task, "" if row.own else next(iter(row.effect.at_least))


Helpers = Mapping[tuple[str, bool], set[Agent]]
Edges = Sequence[Sequence[tuple[Failure, int]]]


def _next(waits: Sequence[Wait], helpers: Helpers, failure: Failure) -> Iterator[int]:
    able = helpers.get((failure.place, failure.few), set())
    return (i for i, wait in enumerate(waits) if (wait.agent, wait.announces) in able)


def _cannot_all_wait(waits: Sequence[Wait], agents: set[Agent], helpers: Helpers,
                     facts: Facts) -> bool:
    """True if no choice of one wait for every agent is free of contradictions."""
    options: dict[Agent, list[Wait]] = {agent: [] for agent in agents}
    for wait in waits:
        options[wait.agent, wait.announces].append(wait)
    order = _neighbours_first(options, helpers)
    tried = 0

    def all_wait(number: int, known: Facts) -> bool:
        nonlocal tried
        if number == len(order):
            return True
        for wait in options[order[number]]:
            tried += 1
            if tried > MAX_TRIED:
                return True
            here = known.fork()
            here.add(wait)
            if not here.contradiction(wait) and all_wait(number + 1, here):
                return True
        return False

    return not all_wait(0, facts)


def _neighbours_first(options: Mapping[Agent, Sequence[Wait]], helpers: Helpers) -> list[Agent]:
    """The agents so that each comes soon after one that may wait on it; contradictions are
    between neighbours, so they show early."""
    order: list[Agent] = []
    left = sorted(options, key=lambda agent: (len(options[agent]), agent))
    queue: list[Agent] = []
    while left:
        agent = next((a for a in queue if a in left), left[0])
        left.remove(agent)
        order.append(agent)
        near = {
            other for wait in options[agent] for failure in wait.failures
            for other in helpers.get((failure.place, failure.few), ())
        }
        queue = sorted(near) + queue
    return order


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
