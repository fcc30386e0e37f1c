"""Local deadlock: a part of a design that is blocked forever while the others continue.

A task is *blocked forever* in a state if none of its steps is possible in it or in any state that
steps lead to from there (an accident, such as a loss, is no help), and it has not *finished*. A
source or script that counts has finished when it is done. Any other task has finished if it holds
nothing, its links hold less than it takes, and so have all those from which its elements come, a
source or script among them; so has one that has stopped or crashed. A design that gave up
(``flow: fail``) has no task that is blocked.

A *local deadlock* is a reachable state in which some task is blocked forever, and from which a run
of the others never ends. Where every run ends, that end is a state in which nothing can move, and
the property ``deadlock-free`` is about it.

Where all states can be visited, that is decided as it is said here, backwards over the steps
between them; that comes first where they are few. Else there are two arguments. The first is for a
design that never comes to an end (``closure``). Say that a task is blocked forever. Continue to a
state in which as many tasks as possible are silent. If no task can be silent without all of them,
nothing moves there any more. So where no reachable state is deadlocked, and none is idle or has
failed, no task is ever blocked forever. Where some state is, that says nothing: others may continue
forever as long as they leave it out. Then it is asked what follows in a run that never ends
(``silent``): a task that is blocked forever stops others, and they stop others, and if that reaches
all there is no such run. From what both leave open, runs are looked for that unblock the tasks
(``freed``).

A design of many steps is asked first whether it empties itself (``equations.emptying``): if all its
queues, windows and pools can be emptied one after the other from every state, and every task can
move then, no task is blocked forever.

Where there are too many states, runs are tried that block a part (``alone``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ...notation.labels import counted
from ...verdicts.deadline import Spent, told_of_memory
from ...verdicts.verdict import Outcome
from ..equations.bounds import bounds
from ..equations.confluence import goes_round, has_choice
from ..equations.emptying import returning
from ..equations.legs import Leg
from ..equations.silent import ask_equations
from ..equations.closure import Closure, closure
from ..net.counters import AIM, Counters, changes_of
from ..net.rows import FAILED, Place, Table
from ..net.builder import Aim
from ..net.translate import translate
from ..reading.language import Design, Flow, Kind, Mortality, Task
from ..reading.properties import NO_LOCAL_DEADLOCK
from ..search.searching import Settings
from ..search.space import Space, TooLarge, space_of, trace_along
from ..search.ways import told_legs
from ..why.cycles import closed_cycle
from ..why.explain import marking_of, steps_of
from ..why.findings import Finding, Meanwhile
from ..why.parts import Part, shares
from ..why.blocked import waits_in
from ..why.waits import SHARED
from .alone import STEPS, Alone, Finished, Halted
from .aside import Aside

if TYPE_CHECKING:
    from ..search.space import Marks

__all__ = ["FREED", "Spaces", "decide_local", "finish", "on_all_states", "with_ends"]

ALL_STOP = ("a single task cannot block forever unless the whole system deadlocks, "
            "and it does not")
NO_RUN = "once one task is blocked forever, no run of the others continues forever"
"""The two arguments that need no states."""
EMPTIES = ("from every state the design can be emptied, in one order, "
           "and then every task can take a step")
"""The argument for a design that empties itself."""
FREED = ("a run unblocks every task that could be blocked alone, "
         "from each state that the equations leave open")
"""The argument that runs helped."""
UNASKED = 1_000_000
"""States that are visited where the design's author does not ask, of all parts together."""
SHOWN = 200_000
"""States of a part on which a verdict rests that an argument would give as well."""
MAX_ROWS = 1_000
"""Most transitions of a part for its states to be visited: each is compiled."""
MAX_FREED = 200
"""Transitions of a part in which runs are looked for that unblock a task: more take longer,
and there are more of them."""
MAX_TRIED = 2_000
"""Transitions of a part that runs are tried on."""
TOLD = 12
"""Of more blocked tasks than this those are named that wait for each other."""
ENGINES_THAT_TRY = ("auto", "runs")


class Spaces:
    """The reachable states of each part of a design, found once, for those who ask."""

    def __init__(self, sections: Sequence[Part], settings: Settings, asked: bool) -> None:
        self.sections = sections
        self.settings = settings
        self.asked = asked
        self.never_ends = False
        """True if it is known that no reachable state of the design is deadlocked."""
        self.deadlock: Finding | None = None
        """The finding on a deadlock of one part, with the run into it."""
        self.trying = STEPS
        """Steps of the runs that try to block a part."""
        self._known: dict[int, Space | str] = {}
        self._large: set[int] = set()
        self._unasked = UNASKED
        self._at_least: dict[str, int] = {}
        """So many states were found of the part that begins with a task."""

    def know(self, deadlock: Finding) -> None:
        """Know the verdict on deadlock."""
        self.never_ends = deadlock.outcome is Outcome.HOLDS
        if deadlock.outcome is Outcome.VIOLATED:
            self.deadlock = deadlock
        for each in deadlock.tried:
            self._at_least[each.part] = max(each.states, self._at_least.get(each.part, 0))

    def of(self, place: int) -> Space | str:
        """All states of a part, or why they are not known."""
        if place not in self._known:
            self._known[place] = self._find(place, None if self.asked else self._unasked)
        return self._known[place]

    def is_small(self, place: int) -> bool:
        """True if a part has so few states that all are visited, which can be certified."""
        if place not in self._known and place not in self._large:
            space = self._find(place, SHOWN if self.asked else min(SHOWN, self._unasked))
            if isinstance(space, str):
                self._large.add(place)
            else:
                self._known[place] = space
        space = self._known.get(place, "")
        return not isinstance(space, str) and space.states <= SHOWN

    def _find(self, place: int, most: int | None) -> Space | str:
        """All states of a part, where there are not more than that."""
        design, budget = self.sections[place].design, self.settings.budget
        if self.settings.engine not in ("auto", "explorer"):
            return "only the engine `explorer` visits all states"
        if self.sections[place].has_more_than(MAX_ROWS):
            return f"more than {MAX_ROWS:,} transitions are too many to visit all states"
        if most is not None:
            if most <= 0:
                return (f"{UNASKED:,} states of other parts were visited, for a property that was "
                        "not asked for")
            budget = replace(budget, max_states=min(budget.max_states or most, most))
        if not self.asked:
            budget = budget.share(3)
        try:
            finite = with_ends(design)
            if finite is None:
                return "an unbounded link has no end that a sum would show"
            if finite is design:
                self._refuse_more_than(budget.max_states, design)
            found = space_of(translate(finite, Aim()), budget)
        except (TooLarge, Spent) as late:
            self._unasked -= 0 if self.asked else budget.max_states or 0
            return str(late)
        self._unasked -= found.states
        return found

    def _refuse_more_than(self, most: int | None, design: Design) -> None:
        """Do not visit again what was left before as too much. Raises TooLarge."""
        known = self._at_least.get(next(iter(design.tasks), ""), 0)
        if most is not None and known > most:
            raise TooLarge(f"there are more than {counted(most, 'state')}")


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
    """Decide whether some part of a design can be blocked forever while the others continue."""
    found, settings = list[Finding](), spaces.settings
    for place, parts in enumerate(shares(spaces.sections)):
        spaces.settings = replace(settings, budget=settings.budget.share(parts))
        try:
            with told_of_memory("looking for tasks that are blocked"):
                found.append(_of_part(spaces, place))
        except Spent as late:  # of this part; of another one more may be known
            found.append(Finding(NO_LOCAL_DEADLOCK, Outcome.UNKNOWN, "search, incomplete",
                                 reason=str(late)))
    spaces.settings = settings
    worst = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.HOLDS)
    finding = min(found, key=lambda each: worst.index(each.outcome))
    if finding.outcome is Outcome.HOLDS:
        finding = replace(finding, method="; ".join(dict.fromkeys(f.method for f in found)))
    return replace(finding, states=sum(f.states for f in found),
                   transitions=sum(f.transitions for f in found),
                   depth=max((f.depth for f in found), default=0))


def _of_part(spaces: Spaces, place: int) -> Finding:
    """Decide for a part of the design whether a task can block alone, by the cheapest argument
    that decides: one full round, places that empty themselves, equations, and at last all
    states."""
    design = spaces.sections[place].design
    watch = spaces.settings.budget.deadline.watch("asking which tasks may stop alone")
    ceasing = [task.name for task in design.tasks.values() if task.may is not Mortality.GOES_ON]
    if not ceasing and goes_round(design, watch):
        return Finding(NO_LOCAL_DEADLOCK, Outcome.HOLDS, "steps never compete, "
                       "and one full round has a step of every task")
    aside = _aside(spaces, place)
    if aside is not None:
        return aside
    is_large = spaces.sections[place].has_more_than(MAX_FREED)
    if is_large and not ceasing and _empties_itself(design, watch):
        return Finding(NO_LOCAL_DEADLOCK, Outcome.HOLDS, EMPTIES)
    answer, argument = _argued(design, spaces.never_ends, ceasing, watch)
    if answer.total and argument == ALL_STOP:
        return Finding(NO_LOCAL_DEADLOCK, Outcome.HOLDS, argument)
    if spaces.is_small(place):
        return on_all_states(spaces, place)
    if not answer.total and not is_large:
        answer, _ = _argued(design, spaces.never_ends, ceasing, watch, freeing=True)
        argument = FREED
    if answer.total:
        return Finding(NO_LOCAL_DEADLOCK, Outcome.HOLDS, argument)
    found = on_all_states(spaces, place)
    if found.outcome is Outcome.UNKNOWN:
        tried = _tried(spaces, place)
        if isinstance(tried, Finding):
            return tried
        return replace(found, reason=_open(answer, f"{found.reason}; {tried}"))
    return found


def _empties_itself(design: Design, watch: Callable[[], None]) -> bool:
    """True if a design can be emptied from every state, and every task can move then.

    It takes time in its size, and no solver, so it is asked first of what is large.
    """
    if any(link.may_fail for link in design.links.values()):
        return False
    table = translate(design, AIM, watch)
    net = Counters.of(table, watch)
    return has_choice(net, watch) and returning(net, table, watch) is not None


def _argued(
    design: Design, never_ends: bool, ceasing: Sequence[str], watch: Callable[[], None],
    freeing: bool = False,
) -> tuple[Closure, str]:
    """The tasks that may stop alone, as far as that is known without looking at states, and the
    argument.
    """
    fails = any(link.may_fail for link in design.links.values())
    if ceasing or fails:
        return Closure(False, tuple(ceasing or design.tasks)), ""
    if not never_ends or translate(design, Aim(), watch).may_end:
        return ask_equations(design, watch, may_stop=True, freeing=freeing), NO_RUN
    answer = closure(design, watch)
    if not answer.total:
        answer = ask_equations(design, watch, freeing=freeing)
    return answer, ALL_STOP


def _aside(spaces: Spaces, place: int) -> Finding | None:
    """A violation on the run into a deadlock that is known, of a part that is large, or if the way
    is long: else a shorter one is found by states or by runs.
    """
    part, deadlock = spaces.sections[place], spaces.deadlock
    if deadlock is None or spaces.settings.engine not in ENGINES_THAT_TRY or not (
            deadlock.legs or part.has_more_than(MAX_TRIED)):
        return None
    watch = spaces.settings.budget.deadline.watch("looking for tasks that continue meanwhile")
    table = translate(part.design, AIM, watch)
    net = Counters.of(table, watch)
    found = Aside(table, net, finish(part.design, table), watch).on_the_way(deadlock)
    if found is None:
        return None
    marking = net.marking(found.end)
    waits = [wait for wait in waits_in(part.design, table, marking) if wait.task in found.tasks]
    cycle = closed_cycle(waits)
    tasks = found.tasks if len(found.tasks) <= TOLD else tuple(
        dict.fromkeys(wait.task for wait in cycle or waits[:TOLD]))
    on, = told_legs(table, net, [Leg(0, found.on, 1)])
    others = {task for n in found.on[found.loop:]
              for task in table.rows[net.transitions[n].row].tasks}
    return Finding(
        NO_LOCAL_DEADLOCK, Outcome.VIOLATED, "found on the run into a deadlock of the whole",
        is_shortest=False,
        waits=tuple(waits), cycle=tuple(cycle), contents=table.contents(marking),
        free=table.free(marking),
        legs=told_legs(table, net, found.legs), changes=on.changes,
        meanwhile=Meanwhile(tasks, on.steps, found.loop),
        reason=_never_again(tasks, others, len(found.tasks) - len(tasks)))


def _never_again(tasks: Sequence[str], others: Collection[str], more: int = 0) -> str:
    some = " and ".join([*tasks, f"{more:,} more"] if more else tasks)
    return (f"{some} {'is' if len(tasks) + more == 1 else 'are'} blocked forever, and "
            f"{counted(len(others), 'task')} can continue forever")


def _tried(spaces: Spaces, place: int) -> Finding | str:
    """A violation that runs find which try to block a part; or that they found none, or were not
    tried.
    """
    settings = spaces.settings
    design = with_ends(spaces.sections[place].design)
    if settings.engine not in ENGINES_THAT_TRY or design is None:
        return "no runs were tried"
    table = translate(design, Aim())
    if len(table.rows) > MAX_TRIED:
        return f"no runs were tried, with more than {MAX_TRIED:,} transitions"
    try:
        watch = settings.budget.deadline.share(2).watch("trying runs that block a part")
        found = Halted(table, finish(design, table), watch).look_for(
            () if spaces.deadlock is None else spaces.deadlock.steps, spaces.trying)
    except Spent as late:
        return str(late)
    if found is None:
        return "no run that was tried blocked a part"
    told = _told(design, table, found)
    return replace(told, method="found by trying runs that block a part", is_shortest=False)


def on_all_states(spaces: Spaces, place: int) -> Finding:
    """Decide whether a part can be blocked forever while the rest of it continues, by all its
    states.
    """
    design, space = spaces.sections[place].design, spaces.of(place)
    if isinstance(space, str):
        return Finding(NO_LOCAL_DEADLOCK, Outcome.UNKNOWN, "search, incomplete", reason=space)
    blocked = _BlockedForever(design, space)
    first = blocked.first()
    if first is not None:
        return replace(
            _told(design, space.table, blocked.alone(first)), states=space.states,
            transitions=len(space.source), depth=int(space.graph.depth[-1]))
    return Finding(NO_LOCAL_DEADLOCK, Outcome.HOLDS, "exhaustive", space.states, len(space.source),
                   int(space.graph.depth[-1]))


def _open(answer: Closure, why: str) -> str:
    some = ", ".join(answer.open[:6]) + (", …" if len(answer.open) > 6 else "")
    return (f"it is left open whether {some} can be blocked forever while others run; and {why}. "
            "Next, give it more time (--max-seconds) or states, or ask about the same design with "
            "smaller capacities")


# --- on all states ----------------------------------------------------------------------------

class _BlockedForever:
    """The tasks that are blocked forever in each state."""

    def __init__(self, design: Design, space: Space) -> None:
        import numpy as np
        self.design, self.space = design, space
        rows = space.table.rows
        fair = np.array([row.effect.fair for row in rows], dtype=np.bool_)
        self.steps = fair[space.via]
        self._finish = _Finish(design, space.table)
        goals = space.leading_to([self._able(task) for task in design.tasks], self.steps)
        never = {task: ~goal for task, goal in zip(design.tasks, goals, strict=True)}
        self.of = {task: found for task, states in never.items()
                   if states.any() and (found := self._blocked(task, states)).any()}

    @cached_property
    def endless(self) -> Marks:
        """The states from which some run never ends."""
        return self.space.endless(self.steps)

    def first(self) -> int | None:
        """The first state, breadth first, in which a task is blocked and the others continue."""
        import numpy as np
        if not self.of:
            return None
        return int(min(np.flatnonzero(found)[0] for found in self.of.values()))

    def tasks_in(self, state: int) -> list[str]:
        """The tasks that are blocked forever in a state."""
        return [task for task, found in self.of.items() if found[state]]

    def _able(self, task: str) -> Marks:
        """The states in which a task can move."""
        space = self.space
        mine = [n for n, row in enumerate(space.table.rows) if row.own and task in row.tasks]
        able = space.able(mine)
        for row in space.table.joined:  # those that only drop an element are steps, too
            if row.own and task in row.tasks and row.effect.loses and not row.effect.change:
                able |= space.allows(row)
        return able

    def _blocked(self, task: str, never: Marks) -> Marks:
        """The states among those in which a task never moves again in which it has not finished,
        and from which the others continue."""
        failed = self.space.markings[:, self.space.number[FAILED]] > 0
        found = never & ~failed & ~self._finished(task)
        return found & self.endless if found.any() else found

    def _finished(self, task: str) -> Marks:
        import numpy as np
        found = np.zeros(self.space.states, dtype=np.bool_)
        for places in self._finish.of(task):
            these = np.ones(self.space.states, dtype=np.bool_)
            for name, most in places.items():
                these &= self.space.markings[:, self.space.number[name]] <= most
            found |= these
        return found

    def alone(self, state: int) -> Alone:
        """The shortest way to a state, which tasks are blocked in it, and how the others continue.

        """
        return Alone(tuple(self.space.graph.path(state)), tuple(self.tasks_in(state)),
                     *_goes_on(self.space, state, self))


def finish(design: Design, table: Table) -> Finished:
    """A predicate: a task has finished in a marking of a design's table."""
    return _Finish(design, table).is_true


class _Finish:
    """When a task has nothing left to do: in which places there may be how much."""

    def __init__(self, design: Design, table: Table) -> None:
        self._design, self._may_end = design, table.may_end
        self._queues = {place.of: place for place in table.places if place.role == "queue"}
        self._running = {f"{task}: running" for task in design.tasks} & {
            place.name for place in table.places}
        self._own: dict[str, list[Place]] = {}
        for place in table.places:
            if place.role not in SHARED | {"flag", "budget", "beat"}:
                self._own.setdefault(place.of, []).append(place)
        self._known: dict[str, Sequence[Mapping[str, int]]] = {}

    @cached_property
    def _fed(self) -> set[str]:
        """The tasks to which elements come from a task that continues forever, and those tasks."""
        found = {name: None for name, task in self._design.tasks.items() if not task.may_end
                 and task.kind in (Kind.SOURCE, Kind.SCRIPT, Kind.CALL)}
        waiting = list(found)
        while waiting:
            for link in self._design.outputs(waiting.pop()):
                for reader in link.readers:
                    if reader not in found and self._design.tasks[reader].kind not in (
                            Kind.SOURCE, Kind.SCRIPT):
                        found[reader] = None
                        waiting.append(reader)
        return {*found}

    def is_true(self, marking: Mapping[str, int], task: str) -> bool:
        """True if a task has finished in a marking."""
        return any(all(marking[name] <= most for name, most in places.items())
                   for places in self.of(task))

    def of(self, task: str) -> Sequence[Mapping[str, int]]:
        """Ways to have finished, each as the most that is left in some places."""
        if task not in self._known:
            self._known[task] = tuple(self._ways(task))
        return self._known[task]

    def _ways(self, task: str) -> Iterator[Mapping[str, int]]:
        if f"{task}: running" in self._running:
            yield {f"{task}: running": 0}  # it has stopped, or crashed
        if task in self._fed:
            return  # something always comes
        above = [self._design.tasks[name] for name in _upstream(self._design, task)]
        ends = self._may_end or any(each.kind in (Kind.SOURCE, Kind.SCRIPT) for each in above)
        if ends:  # nothing is left for it, and nothing comes any more
            yield {place.name: place.rest for each in above for place in self._places(each)}

    def _places(self, task: Task) -> Iterator[Place]:
        yield from self._own.get(task.name, ())
        if task.kind is not Kind.SCRIPT:  # that has ended, whatever there would still be to read
            yield from (self._queues[link.name] for link in self._design.inputs(task.name)
                        if link.name in self._queues)


def _upstream(design: Design, task: str) -> list[str]:
    """The task and all tasks from which elements come to it, by way of others; a script's reads and
    writes have nothing to do with each other.
    """
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

def _told(design: Design, table: Table, alone: Alone) -> Finding:
    """The finding: the run, the waits at its end, and what continues meanwhile."""
    way, tasks = alone.way, alone.tasks
    trace = trace_along(table, [*way, *alone.on])
    last = marking_of(table, trace.steps[len(way) - 1].state if way else trace.initial)
    waits = [wait for wait in waits_in(design, table, last) if wait.task in tasks]
    steps = steps_of(table, trace)
    others = {task for n in alone.on[alone.loop:] for task in table.rows[n].tasks}
    return Finding(
        NO_LOCAL_DEADLOCK, Outcome.VIOLATED, "exhaustive", steps=tuple(steps[:len(way)]),
        waits=tuple(waits), cycle=tuple(closed_cycle(waits)),
        contents=table.contents(last), free=table.free(last),
        changes=tuple(changes_of(table, trace)),
        meanwhile=Meanwhile(tasks, tuple(steps[len(way):]), alone.loop),
        reason=_never_again(tasks, others))


def _goes_on(space: Space, state: int, blocked: _BlockedForever) -> tuple[tuple[int, ...], int]:
    """A run from a state that never ends: its rows, and from which of them on it repeats."""
    import numpy as np
    first = np.searchsorted(space.source, np.arange(space.states + 1))
    seen: dict[int, int] = {}
    rows: list[int] = []
    while state not in seen:
        seen[state] = len(rows)
        step = next(n for n in range(int(first[state]), int(first[state + 1]))
                    if blocked.steps[n] and blocked.endless[space.target[n]])
        rows.append(int(space.via[step]))
        state = int(space.target[step])
    return tuple(rows), seen[state]
