"""Decide whether an explanation of a deadlock is true, by moving tokens.

It shares no code with the explanations. It replays the steps of a finding in the interpreter of
the net, takes the state at their end, and tries: change what a row says is missing, and see
whether the task can take a step; walk over a task's own places, and see whether it could still
bring what another one waits for. From the translation it takes which place belongs to which queue,
and which row to which task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from checkvalve.spec.design.check import parts
from checkvalve.spec.design.net.places import Unbounded
from checkvalve.spec.design.net.net import Net
from checkvalve.spec.design.net.rows import Place, Row, Table
from checkvalve.spec.design.net.builder import Aim
from checkvalve.spec.design.net.translate import translate
from checkvalve.spec.design.reading.language import Design, Merging
from checkvalve.spec.design.why.findings import DesignReport, Finding
from checkvalve.spec.design.why.blocked import Blocked
from checkvalve.spec.notation import bind
from checkvalve.spec.notation.errors import ModelFault
from checkvalve.spec.notation.interpreter import State, Step

__all__ = ["complaints", "deadlock_of"]

SHARED = ("queue", "permits", "freed", "pool", "slots", "line", "slot", "flag", "budget", "beat")
FRONT = "its kind at the front"
OF_A_POOL = ("a thread", "a permit")
COUNTED = (3, 8, 24)
MAX_OWN_STATES = 1_500
FARTHEST = 6


def complaints(report: DesignReport) -> list[str]:
    """The mistakes in the explanation of a report's deadlock; empty if there is none."""
    finding = report.finding("deadlock-free")
    judge = deadlock_of(report.design, finding)
    if judge is None:
        return ["no state at the end of these steps is deadlocked and has these contents"]
    return [
        *(fault for wait in finding.waits for fault in judge.of_wait(wait, finding.waits)),
        *judge.of_silence(finding.waits), *judge.of_cycle(finding),
        *_of_graph(report, finding),
    ]


def deadlock_of(design: Design, finding: Finding) -> Judge | None:
    """The deadlocked state that the finding's steps lead to, in the part of the design and the
    count of its unbounded links where they do; None if there is none.
    """
    for part, most in product(parts(design), COUNTED):
        table = translate(part, Aim(Unbounded(most, abstract=True)))
        if {p.of for p in table.places if p.role in ("queue", "slots")} != {
                *dict(finding.contents)}:
            continue
        judge = Judge(part, table)
        for state in judge.after(finding.steps):
            judge.state = state
            if judge.is_stuck() and judge.contents() == dict(finding.contents):
                return judge
    return None


def _of_graph(report: DesignReport, finding: Finding) -> Iterator[str]:
    """A cycle that is there is one that the wait-for graph must not exclude (where a task waits on
    another in two links, the graph names one of them).
    """
    told = [[wait.task for wait in cycle.waits] for cycle in report.cycles if not cycle.excluded]
    if not finding.cycle or not report.all_cycles or not report.cycles:
        return
    around = [wait.task for wait in finding.cycle]
    pooled = any(wait.what in OF_A_POOL for wait in finding.cycle)
    rounds = [around[:n] for n in range(len(around) if not pooled else 1, len(around) + 1)]
    if not any(each[i:] + each[:i] in told for each in rounds for i in range(len(each))):
        yield f"the cycle {around} is not among those that the graph lists as possible"


class Judge:
    """A design's net in a deadlocked state."""

    state: State

    def __init__(self, design: Design, table: Table) -> None:
        self.design = design
        self.table = table
        self.bound = bind(Net, **table.constants())
        self.run = self.bound.interpreter
        self.places = {place.name: place for place in table.places}
        self.number = {place.name: i for i, place in enumerate(table.places)}
        self.steps: list[tuple[Step, Row]] = [
            ((action, args), table.row_of(action, args[0][1])) for action, args in self.run.steps()
        ]
        self._freed: dict[tuple[Blocked, ...], bool] = {}
        self.meets = any(link.capacity == 0 for link in design.links.values())

    # --- states -----------------------------------------------------------------------------

    def after(self, labels: Sequence[str]) -> list[State]:
        """The states that steps with these labels can lead to."""
        here = {self.run.initial()}
        for label in labels:
            here = {
                there for state in here for step, row in self.steps if row.label == label
                if (there := self.run.step(state, *step)) is not None
            }
        return sorted(here)

    def is_stuck(self) -> bool:
        """Nothing moves, and the design may not rest so."""
        return not any(self.moves(row, step, self.state) for step, row in self.steps) \
            and not self.run.look(self.state).may_rest()  # type: ignore[attr-defined]

    def marking(self, state: State) -> dict[str, int]:
        """The tokens in each place."""
        (tokens,) = state  # the net has one variable, an array
        return dict(zip(self.places, tokens, strict=True))

    def contents(self) -> dict[str, int]:
        """The number of elements in each link."""
        marking = self.marking(self.state)
        links = {p.of: marking[p.name] for p in self.places.values() if p.role == "queue"}
        return links | {p.of: p.most - marking[p.name] for p in self.places.values()
                        if p.role == "slots"}

    def changed(self, state: State, values: Mapping[str, int]) -> State:
        """The state with other numbers of tokens in some places."""
        (tokens,) = state
        there = list(tokens)
        for name, n in values.items():
            there[self.number[name]] = n
        return (tuple(there),)

    def moves(self, row: Row, step: Step, state: State) -> bool:
        """True if a step is possible in a state, reachable or not."""
        try:
            return self.run.step(state, *step) is not None
        except ModelFault:  # its guards hold; such a state is never reached
            return True

    def rows_of(self, task: str) -> list[tuple[Step, Row]]:
        """The steps that a task takes part in."""
        return [(step, row) for step, row in self.steps if task in row.tasks and row.own]

    # --- a row ------------------------------------------------------------------------------

    def of_wait(self, wait: Blocked, told: Sequence[Blocked]) -> Iterator[str]:
        """The mistakes in one row."""
        if self.is_met(wait.where):
            if wait.never == any(_moves_at(words, wait.where)
                                 for step, row in self.rows_of(wait.task)
                                 if self.moves_ever(step, row)
                                 for _, words in _segments(row)):
                yield f"{wait}: that there is never anybody, or that there is, is wrong"
            yield from self.of_meeting(wait)
        elif not self.prefers_who_is_ready(wait.task) and wait.never == self.is_needed(wait, told):
            yield f"{wait}: {wait.task} would not move sooner if it had that"
        if wait.what == "a go" and not self.marking(self.state)[f"go of {wait.where} was lost"]:
            yield f"{wait}: no call of go was lost"
        able = set[str]() if wait.never or wait.what == "a go" else {
            task for task in self.design.tasks if self.could(task, wait, self.state)
        } - ({wait.task} if wait.what == "an acquire" else set())
        if not set(wait.on) <= able:
            yield f"{wait}: {sorted(set(wait.on) - able)} could not end it"
        if not self.meets and not able <= set(wait.on):
            yield f"{wait}: {sorted(able - set(wait.on))} could end it too"
        for task in wait.gone:
            once = self.could(task, wait, self.run.initial())
            keeps = wait.what in OF_A_POOL  # a task that has taken, and cannot give
            if task in able or not (once or keeps):
                yield f"{wait}: {task} is not one that could have ended it"

    def is_met(self, where: str) -> bool:
        """True for a link without room."""
        return where in self.design.links and self.design.links[where].capacity == 0

    def of_meeting(self, wait: Blocked) -> Iterator[str]:
        """A wait at a link without room: some step of the task with a partner there is closed,
        and not by the task's own places alone."""
        own = {place.name for place in self.own_places(wait.task)}
        marking = self.marking(self.state)
        for _, row in self.rows_of(wait.task):
            if any(_moves_at(words, wait.where) for _, words in _segments(row)) and not any(
                marking[p] < n for p, n in row.effect.at_least.items() if p in own
            ) and not any(marking[p] > n for p, n in row.effect.at_most.items() if p in own):
                return
        if any(_moves_at(words, wait.where) for _, row in self.rows_of(wait.task)
               for _, words in _segments(row)):
            yield f"{wait}: its own places keep {wait.task} from it"

    def prefers_who_is_ready(self, task: str) -> bool:
        """True for a merge that passes over links without room: more room may then make a writer
        ready that it prefers, and cannot meet. Trying does not decide that.
        """
        return self.design.tasks[task].merging is not Merging.ANY and any(
            link.capacity == 0 for link in self.design.inputs(task))

    def is_needed(self, wait: Blocked, told: Sequence[Blocked]) -> bool:
        """True if some set of the waits of the task lets it take a step if they end, and no part of
        that set without this wait does.
        """
        others = [o for o in told if o.task == wait.task and o != wait]
        for size in range(len(others) + 1):
            for group in combinations(others, size):
                if self.frees(wait.task, (*group, wait)) and not any(
                    self.frees(wait.task, part) for part in _parts(group, wait)
                ):
                    return True
        return False

    def frees(self, task: str, waits: Sequence[Blocked]) -> bool:
        """True if the task can take a step when these waits end: with other numbers of tokens in
        their links and pools, in the direction that they say; at a link without room, with partners
        that are ready.
        """
        if tuple(waits) not in self._freed:
            self._freed[tuple(waits)] = self._try(task, waits)
        return self._freed[tuple(waits)]

    def _try(self, task: str, waits: Sequence[Blocked]) -> bool:
        by = {wait.where: wait for wait in waits}
        names = [n for n, p in self.places.items()
                 if p.of in by and by[p.of].what != FRONT
                 and p.role in ("queue", "permits", "pool", "slots")]
        now = self.marking(self.state)
        ranges = [self.values(self.places[n], now[n], by[self.places[n].of]) for n in names]
        met = any(self.is_met(where) for where in by)
        for values in product(*ranges):
            there = self.changed(self.state, dict(zip(names, values, strict=True)))
            for step, row in self.rows_of(task):
                theirs = {
                    place for part in row.parts if met and part.task != task
                    for place in (*part.effect.at_least, *part.effect.at_most)}
                theirs -= {*names, *self.missing(row, task)}
                ready = {place: n for place, n in self.wanted(row).items()
                         if place in theirs or self.is_in_front(place, by)}
                if self.moves(row, step, self.changed(there, ready)):
                    return True
        return False

    def is_in_front(self, place: str, by: Mapping[str, Blocked]) -> bool:
        """True for the place of a slot's contents, in a queue where another kind is at the front,
        or in an empty one where it would be.
        """
        found = self.places[place]
        if found.role != "slot":
            return False
        comes = place.split(" of ", 1)[1] in by and not self.in_front(found.of)
        return comes or (found.of in by and by[found.of].what == FRONT)

    def missing(self, row: Row, task: str) -> Iterator[str]:
        """The places of which the task's own part of a step asks what is not so."""
        now = self.marking(self.state)
        for part in row.parts or (row,):
            if part.task == task:
                yield from (p for p, n in part.effect.at_least.items() if now[p] < n)
                yield from (p for p, n in part.effect.at_most.items() if now[p] > n)

    def moves_ever(self, step: Step, row: Row) -> bool:
        """True if a step is possible in any marking at all."""
        wanted = self.wanted(row)
        return all(0 <= n <= self.places[p].most for p, n in wanted.items()) \
            and self.moves(row, step, self.changed(self.state, wanted))

    def values(self, place: Place, now: int, wait: Blocked) -> list[int]:
        """Numbers of tokens to try in a place, in the direction that the wait says."""
        every = range(place.most + 1) if place.most <= 4 else sorted({0, now, place.most})
        more = wait.what in ("data", *OF_A_POOL) or place.role in ("permits", "slots")
        return [n for n in every if (n >= now if more else n <= now)]

    # --- tasks that could help ----------------------------------------------------------------

    def own_places(self, task: str) -> list[Place]:
        """The places that only this task changes."""
        return [p for p in self.table.places if p.of == task and p.role not in SHARED]

    def could(self, task: str, wait: Blocked, state: State) -> bool:
        """True if the task, if its links and pools and partners always had what it needs, would
        come to a step that brings what is waited for.
        """
        if self.is_met(wait.where):
            ends = "to" if wait.what == "data" else "from"
            return any(
                f" {ends} {wait.where}" in words for _, row in self.within(task, state)
                for name, words in _segments(row) if name == task)
        if wait.what == FRONT:
            here = self.in_front(wait.where)
            return any(_change(row, task, here) < 0 for _, row in self.within(task, state))
        slots = f"free threads of {wait.where} (slots)"
        if slots in self.places:
            return any(_change(row, task, slots) > 0 for _, row in self.within(task, state))
        if wait.where in self.design.links:
            sign = 1 if wait.what == "data" else -1
            queue = f"elements in {wait.where}"
            return any(sign * _change(row, task, queue) > 0
                       for _, row in self.within(task, state))
        sign = 1 if wait.what in OF_A_POOL else -1
        return self.balance(task, f"free threads of {wait.where}", sign, state)

    def in_front(self, queue: str) -> str:
        """The place of the front element of a queue in the deadlocked state."""
        now = self.marking(self.state)
        (slot,) = (n for n in range(1, len(now))
                   if now.get(f"front of {queue} is slot {n}"))
        return next((name for name, place in self.places.items() if place.role == "slot" and
                     place.of == queue and name.startswith(f"slot {slot} of ") and now[name]), "")

    def within(self, task: str, state: State) -> Iterator[tuple[State, Row]]:
        """Each step that the task could come to, from its own places alone."""
        seen, left = {state}, [state]
        while left and len(seen) < MAX_OWN_STATES:
            here = left.pop(0)
            for there, row in self.helped(task, here):
                yield there, row
                if there not in seen:
                    seen.add(there)
                    left.append(there)

    def helped(self, task: str, state: State) -> Iterator[tuple[State, Row]]:
        """The task's possible steps if everything that is not its own is as the step wants it;
        afterwards all that is not its own is as it was."""
        own = {place.name for place in self.own_places(task)}
        for step, row in self.rows_of(task):
            if not row.effect.fair:
                continue
            wanted = self.wanted(row)
            if any(not 0 <= n <= self.places[p].most for p, n in wanted.items()):
                continue
            wanted = {place: n for place, n in wanted.items() if place not in own}
            try:
                there = self.run.step(self.changed(state, wanted), *step)
            except ModelFault:  # the partner needs the thread that this task holds
                there = state
            if there is not None:
                now = self.marking(state)
                yield self.changed(state, {
                    place: now[place] + row.effect.change.get(place, 0) for place in own}), row

    @staticmethod
    def wanted(row: Row) -> dict[str, int]:
        """The least in each place with which the row's guards hold."""
        effect = row.effect
        return {
            place: max(effect.at_least.get(place, 0), -effect.change.get(place, 0), 0)
            if effect.at_most.get(place, 0) >= 0 else -1
            for place in (*effect.at_least, *effect.at_most, *effect.change)
        }

    def balance(self, task: str, pool: str, sign: int, state: State) -> bool:
        """True if the task can come to have given more to the pool than it took (or the other way
        round, if ``sign`` is -1) since this state.
        """
        seen, left = {(state, 0)}, [(state, 0)]
        while left and len(seen) < MAX_OWN_STATES:
            here, given = left.pop(0)
            for there, row in self.helped(task, here):
                now = given + sign * _change(row, task, pool)
                if now > 0:
                    return True
                if now >= -FARTHEST and (there, now) not in seen:
                    seen.add((there, now))
                    left.append((there, now))
        return False

    # --- all rows ---------------------------------------------------------------------------

    def of_silence(self, waits: Sequence[Blocked]) -> Iterator[str]:
        """A task without a row has ended, or continues and drops; one with rows can take a step
        once all of these have what they ask for.
        """
        telling = {wait.task for wait in waits}
        for task in self.design.tasks:
            if task not in telling and any(self.helped(task, self.state)) \
                    and not self.drops(task):
                yield f"{task} is blocked, and no row says why"

    def drops(self, task: str) -> bool:
        """True if the task may continue, but only by losing elements."""
        return any(link.flow.value.startswith("drop") for link in self.design.outputs(task)) or (
            self.meets and any(k.flow.value.startswith("drop") for k in self.design.links.values())
        )

    def of_cycle(self, finding: Finding) -> Iterator[str]:
        """The cycle closes, and is reported if there is one; else some wait is on no task."""
        around, told = finding.cycle, set(finding.waits)
        pooled = any(wait.what in OF_A_POOL for wait in around)
        for wait, following in zip(around, (*around[1:], *around[:1]), strict=True):
            if wait not in told or (following.task not in wait.on and not pooled):
                yield f"the cycle breaks after {wait}"
        if len({wait.task for wait in around}) < len(around):
            yield "the cycle passes a task twice"
        if pooled:
            yield from self.of_holders(around)
        if bool(around) != self.has_cycle(finding.waits):
            yield "there is a cycle that is not reported" if not around else "there is no cycle"
        if not around and finding.waits and all(wait.on for wait in finding.waits):
            yield "every task waits for another one, and there is no cycle"

    def of_holders(self, around: Sequence[Blocked]) -> Iterator[str]:
        """In a cycle over a pool are all tasks that hold some of it, no task for which none of
        these waits, and at least one round.
        """
        tasks = {wait.task: wait for wait in around}
        for wait in around:
            missing = set(wait.on) - tasks.keys()
            if missing and wait.what in OF_A_POOL:
                yield f"{sorted(missing)} hold some of {wait.where}, and are not in the cycle"
            if wait.on and missing == set(wait.on):
                yield f"the cycle breaks after {wait}"
        seen, left = {around[0].task}, [around[0].task]
        while left:
            new = [task for task in tasks[left.pop()].on if task in tasks and task not in seen]
            seen.update(new)
            left += new
        if seen != tasks.keys():
            yield f"no task in the cycle waits for {sorted(tasks.keys() - seen)}"
        if not self.has_cycle(around):
            yield "what is reported as a cycle has no round"

    @staticmethod
    def has_cycle(waits: Sequence[Blocked]) -> bool:
        """True if a cycle is left after removing, again and again, tasks that wait on no remaining
        task.
        """
        on = {wait.task: set[str]() for wait in waits}
        for wait in waits:
            on[wait.task].update(wait.on)
        while True:
            ends = [task for task, others in on.items() if not others & on.keys()]
            if not ends:
                return bool(on)
            for task in ends:
                del on[task]



def _segments(row: Row) -> Iterator[tuple[str, str]]:
    """The parts of a step with several tasks: each task, and what it does."""
    yield row.task, ", ".join(row.effect.words)
    for task, words in row.partners:
        yield task, ", ".join(words)


def _change(row: Row, task: str, place: str) -> int:
    """The change of a place by the task's own part of a step."""
    return sum(part.effect.change.get(place, 0) for part in row.parts or (row,)
               if part.task == task)


def _moves_at(words: str, link: str) -> bool:
    return f" to {link}" in words or f" from {link}" in words


def _parts(group: Sequence[Blocked], wait: Blocked) -> Iterator[tuple[Blocked, ...]]:
    """Every proper part of the group with this wait."""
    whole = (*group, wait)
    for size in range(len(whole)):
        yield from combinations(whole, size)
