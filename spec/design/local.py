"""Local deadlock: a part of a design that is stuck for ever while the rest goes on.

A task is *stuck for ever* in a state if none of its steps is possible in it or in any state that
steps lead to from there (an accident, such as a loss, is no help), and it has not *finished*. A
source or script that counts has finished when it is done. Any other task has finished if it holds
nothing, its links hold less than it takes, and so have all those from whom its elements come, a
source or script among them. A design that gave up (``flow: fail``) has no task that is stuck.

A *local deadlock* is a reachable state in which some task is stuck for ever, and from which a run
of the others never ends. Where every run ends, that end is a state in which nothing can move, and
the property ``deadlock`` tells it.

Where all states can be visited, that is decided as it is said here, backwards over the steps
between them. Else there is one argument (``standstill``). Say that a task is stuck for ever. Go on
to a state in which as many tasks as possible are silent. If no task can be silent without all of
them, nothing moves there any more. So where no reachable state is stuck, and none is at rest or has
failed, no task is ever stuck for ever. Where some state is, the argument says nothing: others may
go on for ever as long as they leave it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..notation.labels import counted
from ..verdicts.deadline import OutOfTime
from ..verdicts.verdict import Outcome
from .bounds import bounds
from .confluence import goes_round
from .counters import changes_of
from .explain import marking_of, steps_of
from .findings import Finding, Meanwhile
from .language import Design, Flow, Kind, Mortality, Task
from .parts import Part
from .rows import FAILED
from .searching import Settings
from .silent import ask_equations
from .space import Space, TooLarge, space_of
from .standstill import Standstill, standstill
from .stuck import closed_cycle, waits_in
from .translate import Aim, translate
from .waits import SHARED

if TYPE_CHECKING:
    from .space import Marks

__all__ = ["LOCAL", "Spaces", "decide_local", "on_all_states", "with_ends"]

LOCAL = "local deadlock"
"""The name of the property."""
UNASKED = 200_000
"""States that are visited where the design's author does not ask."""
MAX_ROWS = 1_000
"""Ways to move of a part whose states are visited: each is compiled."""


class Spaces:
    """The reachable states of each part of a design, found once, for those who ask."""

    def __init__(self, sections: Sequence[Part], settings: Settings, asked: bool) -> None:
        self.sections = sections
        self.settings = settings
        self.asked = asked
        self.never_ends = False
        """Whether it is known that no reachable state of the design is stuck."""
        self._known: dict[int, Space | str] = {}

    def of(self, place: int) -> Space | str:
        """All states of a part, or why they are not known."""
        if place not in self._known:
            self._known[place] = self._find(place)
        return self._known[place]

    def _find(self, place: int) -> Space | str:
        design, budget = self.sections[place].design, self.settings.budget
        if self.settings.engine not in ("auto", "explorer"):
            return "only the engine `explorer` visits all states"
        if len(self.sections[place].table.rows) > MAX_ROWS:
            return f"more than {MAX_ROWS:,} ways to move are too many to visit all states"
        if not self.asked:
            most = min(budget.max_states or UNASKED, UNASKED)
            budget = replace(budget.share(3), max_states=most)
        try:
            finite = with_ends(design)
            if finite is None:
                return "an unbounded link has no end that a sum would show"
            return space_of(translate(finite, Aim()), budget)
        except (TooLarge, OutOfTime) as late:
            return str(late)


def with_ends(design: Design) -> Design | None:
    """The same design with its unbounded links as large as they can ever get; None where that is
    not known."""
    grows = [link for link in design.links.values() if link.flow is Flow.UNBOUNDED]
    if not grows:
        return design
    known = bounds(design, grows)[1]
    if len(known) < len(grows):
        return None
    links = dict(design.links)
    for link in grows:
        more = max((*design.given(link), *design.taken(link), 1))
        links[link.name] = replace(
            link, flow=Flow.BLOCKING, capacity=known[link.name].most + more)
    return replace(design, links=links)


def decide_local(spaces: Spaces) -> Finding:
    """Whether some part of a design can be stuck for ever while the rest goes on."""
    found = [_of_part(spaces, place) for place in range(len(spaces.sections))]
    worst = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.HOLDS)
    finding = min(found, key=lambda each: worst.index(each.outcome))
    if finding.outcome is Outcome.HOLDS:
        finding = replace(finding, method="; ".join(dict.fromkeys(f.method for f in found)))
    return replace(finding, states=sum(f.states for f in found),
                   transitions=sum(f.transitions for f in found),
                   depth=max((f.depth for f in found), default=0))


def _of_part(spaces: Spaces, place: int) -> Finding:
    design = spaces.sections[place].design
    watch = spaces.settings.budget.deadline.watch("asking who may stop alone")
    ceasing = [task.name for task in design.tasks.values() if task.may is not Mortality.GOES_ON]
    if not ceasing and goes_round(design, watch):
        return Finding(LOCAL, Outcome.HOLDS, "no step takes what another needs, and a run that "
                       "comes back makes every step")
    if not spaces.never_ends or _may_end(design) or ceasing:
        answer = Standstill(False, tuple(ceasing or design.tasks))
    else:
        answer = standstill(design, watch)
        if not answer.total:
            answer = ask_equations(design, watch)
    if answer.total:
        return Finding(LOCAL, Outcome.HOLDS,
                       "if one task stops for ever all can come to stop, which is excluded")
    found = on_all_states(spaces, place)
    if found.outcome is Outcome.UNKNOWN:
        return replace(found, reason=_open(answer, found.reason))
    return found


def _may_end(design: Design) -> bool:
    """Whether there are states in which nothing moves, and which are not stuck."""
    return any(link.overflow is Flow.FAIL for link in design.links.values()) or translate(
        design, Aim()).may_end


def on_all_states(spaces: Spaces, place: int) -> Finding:
    """Whether a part can be stuck for ever while the rest of it goes on, by all its states."""
    design, space = spaces.sections[place].design, spaces.of(place)
    if isinstance(space, str):
        return Finding(LOCAL, Outcome.UNKNOWN, "search, incomplete", reason=space)
    stuck = _Stuck(design, space)
    first = stuck.first()
    if first is not None:
        return _told(design, space, first, stuck)
    return Finding(LOCAL, Outcome.HOLDS, "exhaustive", space.states, len(space.source),
                   int(space.graph.depth[-1]))


def _open(answer: Standstill, why: str) -> str:
    some = ", ".join(answer.open[:6]) + (", …" if len(answer.open) > 6 else "")
    return (f"it is left open whether {some} can stop for ever while the rest goes on; and {why}. "
            "Next, give it more time (--max-seconds) or states, or ask about the same design with "
            "smaller capacities")


# --- on all states ----------------------------------------------------------------------------

class _Stuck:
    """Which tasks are stuck for ever in which states."""

    def __init__(self, design: Design, space: Space) -> None:
        import numpy as np
        self.design, self.space = design, space
        rows = space.table.rows
        fair = np.array([row.effect.fair for row in rows], dtype=np.bool_)
        self.steps = fair[space.via]
        self.endless = space.endless(self.steps)
        failed = space.markings[:, space.number[FAILED]] > 0
        self._ready = self.endless & ~failed
        self._rests: dict[str, Marks] = {}
        self.of = {task: found for task in design.tasks if (found := self._stuck(task)).any()}

    def first(self) -> int | None:
        """The first state, breadth first, in which a task is stuck and the others go on."""
        import numpy as np
        if not self.of:
            return None
        return int(min(np.flatnonzero(found)[0] for found in self.of.values()))

    def tasks_in(self, state: int) -> list[str]:
        """Those who are stuck for ever in a state."""
        return [task for task, found in self.of.items() if found[state]]

    def _stuck(self, task: str) -> Marks:
        """The states in which a task is, and from which the others go on."""
        space = self.space
        mine = [n for n, row in enumerate(space.table.rows) if row.own and task in row.tasks]
        able = space.able(mine)
        for row in space.table.joined:  # those that only drop an element are steps, too
            if row.own and task in row.tasks and row.effect.loses and not row.effect.change:
                able |= space.allows(row)
        never = ~space.leading_to(able, self.steps) & self._ready
        return never & ~self._finished(task) if never.any() else never

    def _finished(self, task: str) -> Marks:
        finished = self._has_all(task)
        running = self.space.number.get(f"{task}: running")
        if running is not None:
            finished |= self.space.markings[:, running] == 0  # it has stopped, or crashed
        return finished

    def _has_all(self, task: str) -> Marks:
        """The states in which nothing is left for it, and nothing comes any more."""
        import numpy as np
        found, ends = np.ones(self.space.states, dtype=np.bool_), self.space.table.may_end
        for name in _upstream(self.design, task):
            found &= self._rest(self.design.tasks[name])
            ends = ends or self.design.tasks[name].kind in (Kind.SOURCE, Kind.SCRIPT)
        return found if ends else np.zeros_like(found)

    def _rest(self, task: Task) -> Marks:
        """The states in which a task holds nothing and has nothing to take."""
        import numpy as np
        if task.name in self._rests:
            return self._rests[task.name]
        found = np.ones(self.space.states, dtype=np.bool_)
        if task.kind in (Kind.SOURCE, Kind.SCRIPT, Kind.CALL) and not task.may_end:
            found[:] = False
        reads = {link.name for link in self.design.inputs(task.name)}
        if task.kind is Kind.SCRIPT:
            reads = set()  # it has ended, whatever there would still be to read
        for number, place in enumerate(self.space.table.places):
            its = place.of == task.name and place.role not in SHARED | {"flag", "budget", "beat"}
            if its or (place.role == "queue" and place.of in reads):
                found &= self.space.markings[:, number] <= place.rest
        self._rests[task.name] = found
        return found


def _upstream(design: Design, task: str) -> list[str]:
    """The task and all from whom elements come to it, by way of others; a script's reads and
    writes have nothing to do with each other."""
    found = {task: None}
    waiting = [task]
    while waiting:
        here = waiting.pop()
        if design.tasks[here].kind in (Kind.SOURCE, Kind.SCRIPT):
            continue
        for link in design.inputs(here):
            for writer in link.writers:
                if writer not in found:
                    found[writer] = None
                    waiting.append(writer)
    return list(found)


# --- how it comes about -------------------------------------------------------------------------

def _told(design: Design, space: Space, state: int, stuck: _Stuck) -> Finding:
    """The shortest way there, who waits for whom, and what goes on meanwhile."""
    tasks = stuck.tasks_in(state)
    way = space.graph.path(state)
    on, loop = _goes_on(space, state, stuck)
    trace = space.trace([*way, *on])
    last = marking_of(space.table, trace.steps[len(way) - 1].state if way else trace.initial)
    waits = [wait for wait in waits_in(design, space.table, last) if wait.task in tasks]
    steps = steps_of(space.table, trace)
    return Finding(
        LOCAL, Outcome.VIOLATED, "exhaustive", space.states, len(space.source),
        int(space.graph.depth[-1]), steps=tuple(steps[:len(way)]),
        waits=tuple(waits), cycle=tuple(closed_cycle(waits)),
        contents=space.table.contents(last),
        changes=tuple(changes_of(space.table, trace)),
        meanwhile=Meanwhile(tuple(tasks), tuple(steps[len(way):]), loop),
        reason=f"{' and '.join(tasks)} never {'moves' if len(tasks) == 1 else 'move'} again, and "
               f"{counted(len({t for n in on[loop:] for t in space.table.rows[n].tasks}), 'task')} "
               "can go on for ever")


def _goes_on(space: Space, state: int, stuck: _Stuck) -> tuple[list[int], int]:
    """A run from a state that never ends: its rows, and from which of them on it repeats."""
    import numpy as np
    first = np.searchsorted(space.source, np.arange(space.states + 1))
    seen: dict[int, int] = {}
    rows: list[int] = []
    while state not in seen:
        seen[state] = len(rows)
        step = next(n for n in range(int(first[state]), int(first[state + 1]))
                    if stuck.steps[n] and stuck.endless[space.target[n]])
        rows.append(int(space.via[step]))
        state = int(space.target[step])
    return rows, seen[state]
