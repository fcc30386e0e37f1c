"""The question whether one task that never moves again brings all the others to a halt.

Say that some tasks are *silent* from some state on: none of them ever moves again. Two things
follow, whatever the state is.

- **Out of supply.** A task is silent in the end if each of its steps uses up something (elements,
  room, permits, a thread) that no task but the silent ones gives.
- **For a reason.** A task that always has something to do is silent only if a step of it lacks
  something forever. Suppose that only its own steps use that up. Then each task that can give it is
  silent too: otherwise it would supply it, provided that it can do so whenever it is enabled, or
  one step later.

So a set of silent tasks is *closed* under both. If the only closed set that is not empty is the
whole design, then a task that is blocked forever can bring all the others to a halt, unless
they go out of its way forever. Where the whole never deadlocks, ends or fails, no task is blocked,
then; elsewhere nothing follows (``local``). Capacities are mere numbers here, and nothing is
searched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from ..net.counters import AIM, NO_MOST
from ..net.rows import Place, Row, Table
from ..net.translate import translate
from ..reading.language import Design, Flow, Kind, Link, Task
from ..why.ahead import NOBODYS
from ..why.waits import SHARED
from .supply import Giving, Lack, gives, guards

__all__ = ["Agent", "Guard", "Silence", "Closure", "closure"]

EFFORT = 400_000
"""Times that a set may be closed by one more row, before the question is given up."""

MAX_CHOICES = 12
"""Number of agents in a row that may have one reason or another, each of which is tried."""

Agent = str
"""A task, or a link that announces freed slots by itself."""
Supply = tuple[str, int]
"""A place, and 1 for what raises it or -1 for what lowers it."""
Guard = tuple[str, int, bool]
"""A place, a number, and true where the place must hold at least that many (else at most)."""


@dataclass(frozen=True)
class Closure:
    """``total`` says that no task can be silent alone; else ``open`` is a set of tasks that may."""

    total: bool
    open: tuple[str, ...] = ()


def closure(design: Design, watch: Callable[[], object] = lambda: None) -> Closure:
    """The silent sets of a connected design, as far as they are known; ``watch`` is called now and
    then.
    """
    return Silence.of(design, watch).asked()


def _simple(link: Link) -> Link:
    """A link that announces each freed slot has as much room forever as one that blocks."""
    credit = link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT)
    if credit and link.batch == 1 and not link.lossy:
        return replace(link, flow=Flow.BLOCKING)
    return link


@dataclass
class _Set:
    """A set of agents that is being closed: its agents, in the order in which they came, the rows
    that have moved for the last time, and how many others still give each supply."""

    agents: dict[Agent, None] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    givers: dict[Supply, int] = field(default_factory=dict)
    able: dict[Agent, int] = field(default_factory=dict)

    def copy(self) -> _Set:
        """Another one, to continue with in another way."""
        return _Set(dict(self.agents), set(self.ended), dict(self.givers), dict(self.able))


class Silence:
    """The rows of a design, by the agents that move in them and by what they give and use up."""

    @staticmethod
    def of(design: Design, watch: Callable[[], object]) -> Silence:
        """The same of a design with links as simple as they may be for this question."""
        links = {name: _simple(link) for name, link in design.links.items()}
        simple = replace(design, links=links)
        return Silence(simple, translate(simple, AIM, watch), watch)

    def __init__(self, design: Design, table: Table, watch: Callable[[], object]) -> None:
        self.tasks = design.tasks
        self.table = table
        self.watch = watch
        self.rows = table.rows
        self.effort = 0
        self.most = {place.name: place.most for place in table.places}
        self.role = {place.name: place.role for place in table.places}
        self.agents = [_agents(row, number) for number, row in enumerate(self.rows)]
        self.transitions: dict[Agent, list[int]] = {task: [] for task in design.tasks}
        self.giving: dict[Supply, list[int]] = {}
        for number, row in enumerate(self.rows):
            for agent in self.agents[number]:
                self.transitions.setdefault(agent, []).append(number)
            for place, by in row.effect.change.items():
                self.giving.setdefault((place, 1 if by > 0 else -1), []).append(number)
        self.own: dict[Agent, list[Place]] = {}
        for own in table.places:
            if own.role not in NOBODYS:
                self.own.setdefault(own.of, []).append(own)
        self.total: set[Agent] = set()
        self._reasons: dict[Agent, list[frozenset[Agent]] | None] = {}

    def asked(self) -> Closure:
        """Close the set of each task alone; one that reaches a known one is known."""
        for agent in self.tasks:
            found = self._open_set(_Set(), [agent], MAX_CHOICES)
            if found is not None:
                return Closure(False, tuple(task for task in self.tasks if task in found))
            self.total.add(agent)
        return Closure(True)

    def _open_set(
        self, here: _Set, more: Iterable[Agent], choices: int
    ) -> Iterable[Agent] | None:
        """A closed set with these that is not everything; None where there is none."""
        while True:
            if self._close(here, more) or len(here.agents) == len(self.transitions):
                return None
            if self.effort > EFFORT or not choices:
                return here.agents
            reasons = next(filter(None, map(partial(self._unmet, here), here.agents)), [])
            if len(reasons) != 1:
                break
            more = reasons[0]
        for reason in reasons:
            found = self._open_set(here.copy(), reason, choices - 1)
            if found is not None:
                return found
        return None if reasons else here.agents

    def _unmet(self, here: _Set, agent: Agent) -> list[frozenset[Agent]]:
        """The reasons of which an agent needs one and has none."""
        reasons = self._why(agent)
        if reasons is None or any(reason <= here.agents.keys() for reason in reasons):
            return []
        return reasons

    # --- out of supply ------------------------------------------------------------------------

    def _close(self, here: _Set, more: Iterable[Agent]) -> bool:
        """Add these, and all agents that are then out of supply; true where that is known to be
        all.
        """
        waiting = list(more)
        while waiting:
            agent = waiting.pop()
            if agent in self.total:
                return True
            if agent in here.agents:
                continue
            here.agents[agent] = None
            self.watch()
            ending = list(self.transitions[agent])
            while ending:
                row = ending.pop()
                if row not in here.ended:
                    here.ended.add(row)
                    ending += self._without(here, row)
                    waiting += self._idle(here, row)
        return False

    def _without(self, here: _Set, row: int) -> Iterator[int]:
        """The rows that move only finitely often, now that this one does."""
        for place, by in self.rows[row].effect.change.items():
            self.effort += 1
            supply = place, 1 if by > 0 else -1
            left = here.givers.get(supply, len(self.giving[supply])) - 1
            here.givers[supply] = left
            if left == 0 and (by > 0 or self.most[place] < NO_MOST):
                yield from self.giving.get((place, -supply[1]), ())

    def _idle(self, here: _Set, row: int) -> Iterator[Agent]:
        """The agents of which this was the last row."""
        for agent in self.agents[row]:
            left = here.able.get(agent, len(self.transitions[agent])) - 1
            here.able[agent] = left
            if left == 0 and agent not in here.agents:
                yield agent

    # --- for a reason -------------------------------------------------------------------------

    def _why(self, agent: Agent) -> list[frozenset[Agent]] | None:
        """The sets of agents of which one must be silent too; None where it may be silent by
        itself, or for a reason that is not understood."""
        if agent not in self._reasons:
            self._reasons[agent] = self._reasons_of(agent)
        return self._reasons[agent]

    def _reasons_of(self, agent: Agent) -> list[frozenset[Agent]] | None:
        found: list[frozenset[Agent]] = []
        if not self.needs_a_reason(agent):
            return None
        for number in self.transitions[agent]:
            if self.rows[number].effect.fair:
                reasons = self.reasons_of_row(agent, self.rows[number])
                if reasons is None or not all(reasons.values()):
                    return None
                found += reasons.values()
        return found or None

    def needs_a_reason(self, agent: Agent) -> bool:
        """True if an agent is silent only if a step that its own places allow lacks something."""
        task = self.tasks.get(agent)
        return bool(self.transitions[agent]) and (task is None or _always_busy(task)) and all(
            len(self.agents[number]) == 1 for number in self.transitions[agent])

    def reasons_of_row(
        self, agent: Agent, row: Row, when: Giving = Giving.ALWAYS
    ) -> dict[Guard, frozenset[Agent]] | None:
        """For each guard of a row on links and pools: the agents that are silent if it never holds.
        None where all of them may hold at some time, and yet never at once.

        A thing that only the agent uses up stays, once it is there. So all guards hold at once
        in the end if each does at some time, of which one may be used up by others.
        """
        shared = [guard for guard in guards(row) if self.role[guard[0]] in SHARED]
        own = [guard for guard in guards(row) if guard not in shared]
        if len(self.passing(agent, shared)) > 1 or self.passing(agent, own):
            return None  # of what is only its own, some row of it is allowed
        return {
            (place, needed, up): frozenset(
                other for giver in self.giving.get((place, 1 if up else -1), ())
                for other in self.agents[giver]
                if self._gives_if_it_moves(other, Lack(place, needed, up), when))
            for place, needed, up in shared}

    def passing(self, agent: Agent, lacks: Iterable[Guard]) -> set[Guard]:
        """Those guards of an agent that may hold and then no more, because others use up what
        they ask for."""
        return {
            (place, needed, up) for place, needed, up in lacks
            if any(agent not in self.agents[user]
                   for user in self.giving.get((place, -1 if up else 1), ()))}

    def _gives_if_it_moves(self, agent: Agent, lack: Lack, when: Giving) -> bool:
        """True if an agent that is not silent gives this, as long as it is lacked."""
        if any(len(self.agents[number]) > 1 for number in self.transitions[agent]):
            return False
        rows = [self.rows[number] for number in self.transitions[agent]]
        return gives(lack, rows, self.own.get(agent, ()), self.most, when)


def _agents(row: Row, number: int) -> tuple[Agent, ...]:
    return tuple(dict.fromkeys(row.tasks)) if row.own else (f": row {number}",)


def _always_busy(task: Task) -> bool:
    """True if, wherever its own places are, one of its rows waits only for links and pools."""
    if task.kind in (Kind.SOURCE, Kind.SCRIPT):
        return task.count is None
    return task.kind is not Kind.CALL
