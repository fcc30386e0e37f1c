"""What the tasks of a design do, told a second time, for checking certificates.

A *move* is written as one does it: take tokens, need them, need room, put tokens, one after
another on the same counters. From that come what must be there before, how much room there must
be, and what has changed afterwards. This is an independent reading of docs/design-language.md:
where it differs from what the engines make of a design, no certificate is accepted.

At links without room (``capacity: 0``) two tasks move as one (see ``meetings``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ..design.language import (
    Design, Flow, Kind, Link, Merging, Mortality, Routing, Step, StepKind, Task,
)
from .meetings import meeting_at
from .system import Counter, Move, NotCovered, System, Ways, each

__all__ = ["may_be_done", "system_of"]


def system_of(design: Design) -> System:
    """The counters and moves of a design. Raises NotCovered."""
    if any(link.flow is Flow.STOP_GO for link in design.links.values()):
        raise NotCovered("a link of flow stop-go")
    for task in design.tasks.values():
        if not hasattr(_Reader, f"do_{task.kind.value}"):
            raise NotCovered(f"the {task.kind.value} {task.name}")
        ties = (*design.inputs(task.name), *design.outputs(task.name))
        if task.kind not in (Kind.SCRIPT, Kind.SINK) and any(link.kind for link in ties):
            raise NotCovered(f"the {task.kind.value} {task.name}, which passes elements of several "
                             "kinds on (scripts that say which kind are covered)")
    return _Reader(design).read()


class _Reader:
    """Reads a design task by task."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.found = System()
        self.by_hand = {s.target for t in design.tasks.values() for s in t.actions}

    def read(self) -> System:
        """Links and pools first, then what each task does with them."""
        for link in self.design.links.values():
            self.link(link)
        for pool in self.design.pools.values():
            self.counter(f"free threads of {pool.name}", pool.threads, pool.threads)
        for task in self.design.tasks.values():
            before = len(self.found.moves), len(self.found.counters)
            getattr(self, f"do_{task.kind.value}")(task)
            if task.may.value and task.kind is not Kind.SCRIPT:
                self.ceasing(task, *before)
            for move in self.found.moves[before[0]:]:
                move.tasks = (task.name,)
        for link in self.design.links.values():
            if link.capacity == 0:
                self.found.moves = meeting_at(link.name, self.found.moves)
        working = [t for t in self.design.tasks.values()
                   if t.kind in (Kind.SOURCE, Kind.SCRIPT, Kind.CALL)]
        self.found.ends = bool(working) and all(map(may_be_done, working))
        possible = list(filter(self.may_ever, self.found.moves))
        self.found.moves = [move for move in possible if not move.is_idle]
        self.found.idle = [move for move in possible if move.is_idle]
        return self.found

    def ceasing(self, task: Task, moves: int, counters: int) -> None:
        """It does all that only while it runs, and may cease to: between two elements, or, if it
        crashes, with what it holds. A source that has made all is done of itself."""
        own = list(islice(self.found.counters, counters, None))
        held = [name for name in own if name.endswith("in the hand")]
        left = [name for name in own if name.endswith("elements left")]
        running = self.counter(f"{task.name}: running", 1, 1,
                               0 if task.kind is Kind.SOURCE else None)
        for move in self.found.moves[moves:]:
            move.need[running] = 1
        crashes = task.may is Mortality.CRASH
        ends = [Move(chance=True).take(running, 1)]
        for name in held if not crashes else ():
            ends[0].fits(name, 0)
        for name in left:
            ends.append(Move().take(running, 1).fits(name, 0))
            for hand in held:
                ends[-1].fits(hand, 0)
        self.found.moves += ends
        for name in (*left, *(held if crashes else ())):
            self.found.counters[name] = replace(self.found.counters[name], rest=None)

    def may_ever(self, move: Move) -> bool:
        """Whether what a move asks of each counter is within its range, and no contradiction."""
        for name in {*move.need, *move.room}:
            most = self.found.counters[name].most
            ends = [end for end in (most, move.room.get(name)) if end is not None]
            if ends and min(ends) < max(0, move.need.get(name, 0)):
                return False
        return True

    def counter(self, name: str, start: int, most: int | None, rest: int | None = None) -> str:
        """Add one more number to the system."""
        self.found.counters[name] = Counter(start, most, rest)
        return name

    # --- links --------------------------------------------------------------------------------

    def link(self, link: Link) -> None:
        """The counters of a link, and how freed slots are announced."""
        if link.capacity == 0:
            return
        queue, most = f"elements in {link.name}", link.capacity
        forsaken = link.readers and all(self.design.tasks[r].may.value for r in link.readers)
        self.counter(queue, link.initial, None if link.flow is Flow.UNBOUNDED else most,
                     None if forsaken
                     else min(self.design.taken(link), default=link.takes) - 1)
        if link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT):
            assert most is not None
            permits = self.counter(f"permits for {link.name}", most - link.initial, most)
            freed = self.counter(f"freed slots of {link.name}", 0, most)
            self.found.moves.append(Move().take(freed, link.batch).put(permits, link.batch))
            if link.lossy >= link.batch:
                lost = f"possible losses on {link.name}"
                self.found.moves.append(Move(wastes=True, chance=True).take(freed, link.batch)
                                        .take(lost, link.batch))
        if link.lossy:
            self.counter(f"possible losses on {link.name}", link.lossy, link.lossy)

    def reading(self, link: Link, ways: Ways, amount: int = 0) -> Iterator[Move]:
        """The same, and then the link is read: so many elements, or as many as it says itself."""
        n = amount or link.takes
        for move in each(ways):
            if link.capacity == 0:
                move.meets |= {(link.name, False)}
                yield move
                continue
            move.take(f"elements in {link.name}", n).passes(f"elements in {link.name}", -n)
            if link.room:
                move.put(f"free threads of {link.room}", n)
            if link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT):
                move.put(f"freed slots of {link.name}", n)
            yield move

    def writing(self, link: Link, ways: Ways, amount: int = 0) -> Iterator[Move]:
        """The same, and then the link is written, in each way that there is."""
        for move in list(ways):
            yield from self._written(link, move, amount or link.gives)

    def _written(self, link: Link, move: Move, n: int) -> Iterator[Move]:
        queue, most = f"elements in {link.name}", link.capacity
        plain = move.copy()
        if most == 0:
            plain.meets |= {(link.name, True)}
            yield plain
            return
        if link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT):
            plain.take(f"permits for {link.name}", n)
        elif link.room:
            plain.take(f"free threads of {link.room}", n)
        elif link.flow is not Flow.UNBOUNDED:
            assert most is not None
            plain.fits(queue, most - n)
        plain.put(queue, n)
        if link.lossy:
            lossy = plain.copy().take(f"possible losses on {link.name}", 1).put(queue, -1)
            lossy.wastes = lossy.chance = True
            yield lossy.passes(queue, n - 1)
        yield plain.passes(queue, n)
        if link.flow is Flow.FAIL:
            assert most is not None
            failing = move.copy().has(queue, most - n + 1)
            failing.fails, failing.over = True, move.over | {queue}
            yield failing
        if link.flow in (Flow.DROP_NEWEST, Flow.DROP_OLDEST):
            assert most is not None
            for held in range(max(0, most - n + 1), most + 1):
                full = move.copy().has(queue, held).fits(queue, held).put(queue, most - held)
                full.wastes, full.over = True, move.over | {queue}
                if link.flow is Flow.DROP_OLDEST:
                    yield full.passes(queue, most - held - n, lost=True).passes(queue, n)
                else:
                    yield full.passes(queue, most - held)

    def empty(self, link: Link, ways: Ways) -> Iterator[Move]:
        """The same, where the link has less than is read at once."""
        for move in each(ways):
            if link.capacity == 0:
                move.unless |= {link.name}
                yield move
            else:
                yield move.fits(f"elements in {link.name}", link.takes - 1)

    # --- tasks --------------------------------------------------------------------------------

    def read_all(self, task: Task, ways: Ways) -> list[Move]:
        """The same, and then every link of the task is read."""
        for link in self.design.inputs(task.name):
            ways = self.reading(link, ways, task.takes.get(link.name, 0))
        return list(ways)

    def write_all(self, task: Task, ways: Ways, links: Iterable[Link] | None = None) -> list[Move]:
        """The same, and then every link of the task is written, or these."""
        for link in self.design.outputs(task.name) if links is None else links:
            ways = list(self.writing(link, ways, task.gives.get(link.name, 0)))
        return list(ways)

    def decisions(self, task: Task) -> list[list[Link]]:
        """The links that an element may go to: all that are in no group, and one of each group."""
        found: list[list[Link]] = [[]]
        seen: set[str] = set()
        outputs = self.design.outputs(task.name)
        for link in outputs:
            if link.group and link.group in seen:
                continue
            seen.add(link.group)
            options = [o for o in outputs if o.group == link.group] if link.group else [link]
            found = [[*before, option] for before in found for option in options]
        return found

    def thread(self, pool: str, ways: Ways, by: int) -> list[Move]:
        """The same, and then threads are taken (fewer than none) or given back."""
        name, size = f"free threads of {pool}", self.design.pools[pool].threads
        found = list(each(ways))
        for move in found:
            if by < 0:
                move.take(name, -by)
            else:
                if pool in self.by_hand:
                    move.fits(name, size - by)
                move.put(name, by)
        return found

    def passing(self, task: Task, reads: list[Move]) -> None:
        """What is read is written in the same move, or held in the hand in between."""
        ways = self.decisions(task)
        hand = max(task.hand, 1 if task.pool or len(ways) > 1 else 0)
        if not hand:
            self.found.moves += self.write_all(task, reads)
        elif len(ways) == 1:
            self.hold(task, reads, hand)
            put = [self.out_of(f"{task.name}: elements in the hand")]
            self.give(task, self.write_all(task, put))
        else:
            always = [link for link in ways[0] if all(link in way for way in ways)]
            self.decide(task, reads, hand, [
                (" and ".join(link.name for link in way if link not in always), way)
                for way in ways])

    def decide(
        self, task: Task, reads: list[Move], hand: int, ways: list[tuple[str, list[Link]]]
    ) -> None:
        """Take a thread, do these reads, and hold what is for these links, and then write them."""
        free = self.counter(f"{task.name}: free hands", hand, hand)
        taken = self.thread(task.pool[0], reads, -1) if task.pool else reads
        for name, links in ways:
            held = self.counter(f"{task.name}: elements for {name} in the hand", 0, hand, 0)
            self.found.moves += [m.take(free, 1).put(held, 1).passes(held, 1)
                                 for m in each(taken)]
            put = [self.out_of(held).put(free, 1)]
            self.give(task, self.write_all(task, put, links))

    def hold(self, task: Task, reads: list[Move], hand: int) -> None:
        """Take a thread, do these reads, and hold one element more."""
        held = self.counter(f"{task.name}: elements in the hand", 0, hand, 0)
        taken = self.thread(task.pool[0], reads, -1) if task.pool else reads
        self.found.moves += [m.fits(held, hand - 1).put(held, 1).passes(held, 1)
                             for m in each(taken)]

    def out_of(self, held: str) -> Move:
        """Take one element out of a hand."""
        return Move().take(held, 1).passes(held, -1)

    def give(self, task: Task, ways: list[Move]) -> None:
        """The thread is given back."""
        self.found.moves += self.thread(task.pool[0], ways, 1) if task.pool else ways

    def do_source(self, task: Task) -> None:
        """Writes to all its links."""
        start = Move()
        if task.count is not None:
            start.take(self.counter(f"{task.name}: elements left", task.count, task.count, 0), 1)
        if task.pool or len(self.decisions(task)) > 1:
            self.passing(task, [start])
        else:
            self.found.moves += self.write_all(task, [start])

    def do_sink(self, task: Task) -> None:
        """Reads from any of its links; its thread is needed for a moment."""
        for link in self.design.inputs(task.name):
            self.found.moves += self.reading(link, [self.moment(task)])

    def moment(self, task: Task) -> Move:
        """A thread is free."""
        return Move().has(f"free threads of {task.pool[0]}", 1) if task.pool else Move()

    def do_map(self, task: Task) -> None:
        """Reads all its links, and writes all."""
        self.passing(task, self.read_all(task, [Move()]))

    do_zip = do_broadcast = do_map

    def do_transition(self, task: Task) -> None:
        """Reads and writes in one move, each link with an amount of its own."""
        self.found.moves += self.write_all(task, self.read_all(task, [Move()]))

    def do_merge(self, task: Task) -> None:
        """Reads one of its links, as its policy says."""
        links = self.design.inputs(task.name)
        reads: list[Move] = []
        if task.merging is Merging.FAIR:
            reads = self._in_turn(task, links)
        for link in links if task.merging is not Merging.FAIR else ():
            ways: Ways = [Move()]
            if task.merging is Merging.PREFERRED and link.name != task.prefers:
                ways = self.empty(self.design.links[task.prefers], ways)
            reads += self.reading(link, ways)
        self.passing(task, reads)

    def _in_turn(self, task: Task, links: list[Link]) -> list[Move]:
        places = [self.counter(f"{task.name}: turn = {n}", int(n == 0), 1, 1)
                  for n in range(len(links))]
        found: list[Move] = []
        for here in range(len(links)):
            for passed in range(len(links)):
                chosen = (here + passed) % len(links)
                ways: Ways = [Move().goes(places[here], places[(chosen + 1) % len(links)])]
                for n in range(passed):
                    ways = self.empty(links[(here + n) % len(links)], ways)
                found += self.reading(links[chosen], ways)
        return found

    def do_filter(self, task: Task) -> None:
        """Holds each element, and then writes it; or has read it for nothing."""
        self.passing(task, self.read_all(task, [Move()]))
        discards = self.read_all(task, [self.moment(task)])
        held, free = f"{task.name}: elements in the hand", f"{task.name}: free hands"
        self.found.moves += [
            m.has(free, 1) if free in self.found.counters else m.fits(held, task.hand - 1)
            for m in discards]

    def do_route(self, task: Task) -> None:
        """Holds each element, and writes it to one link."""
        outputs, reads = self.design.outputs(task.name), self.read_all(task, [Move()])
        if task.routing is Routing.ROOM:
            self.hold(task, reads, task.hand)
            for link in outputs:
                put = [self.out_of(f"{task.name}: elements in the hand")]
                self.give(task, list(self.writing(link, put)))
            return
        self.decide(task, reads, task.hand, [(link.name, [link]) for link in outputs])

    # --- scripts and calls ----------------------------------------------------------------------

    def do_script(self, task: Task) -> None:
        """Its steps in order; where it is, is a counter for each number of steps left."""
        steps = list(task.steps)
        if task.pool:
            steps = [Step(StepKind.ACQUIRE, task.pool[0]), *steps,
                     Step(StepKind.RELEASE, task.pool[0])]
        total = _positions(steps)
        final = {total - n for n, ends in enumerate(_finals(steps)) if ends}
        order = [0, *sorted(final), *(n for n in range(1, total + 1) if n not in final)]
        at = [self.counter(f"{task.name}: steps left = {order.index(left)}", int(left == total), 1,
                           1 if left == 0 or left in final else 0) for left in range(total + 1)]
        if task.count is not None and task.count > 1:
            self.counter(f"{task.name}: rounds left", task.count, task.count,
                         None if final or task.may.value else 1)
        if task.may.value:
            stopping = at[1:] if task.may is Mortality.CRASH else at[-1:]
            self.found.moves += [Move(chance=True).goes(here, at[0]) for here in stopping]
        self._walk(task, steps, at, total, 0)

    def _walk(
        self, task: Task, steps: Sequence[Step], at: list[str], here: int, end: int
    ) -> int:
        """Steps that begin at one position and lead to another; what is left behind them."""
        last = here - _positions(steps)
        for step in steps:
            behind = here - _positions([step])
            there = end if behind == last else behind
            if step.kind in (StepKind.EITHER, StepKind.BRANCH):
                self._choice(task, step, at, here, there)
            else:
                self._step(task, step, at, here, there)
            here = behind
        return here

    def _choice(self, task: Task, step: Step, at: list[str], here: int, there: int) -> None:
        """Either a branch that can begin, or its timeout, or, where none can, its else; or any
        branch, as the script decides. Where nothing comes of a silent move, it waits."""
        left = here - 1
        for branch in step.branches:
            if step.kind is StepKind.EITHER:
                first, *rest = _singly(branch)
                self._step(task, first, at, here, left if rest else there)
                left = self._walk(task, rest, at, left, there)
            else:
                self._silent(task, [Move()], at, here, left if branch else there)
                left = self._walk(task, branch, at, left, there)
        refused = [Move()]
        for branch in step.branches if step.otherwise is not None else ():
            refused = self._refused(branch[0], refused)
        for ways, after in (([Move()], step.timeout), (refused, step.otherwise)):
            if after is not None:
                self._silent(task, ways, at, here, left if after else there)
                left = self._walk(task, after, at, left, there)

    def _silent(
        self, task: Task, ways: list[Move], at: list[str], here: int, there: int
    ) -> None:
        for way in ways:
            self.found.moves += [move for move in self._onward(task, at, here, there, way)
                                 if move.change]

    def _refused(self, step: Step, ways: list[Move]) -> list[Move]:
        """The same, where a step cannot be done."""
        if step.kind is StepKind.READ:
            return list(self.empty(self.design.links[step.target], ways))
        free, pool = f"free threads of {step.target}", self.design.pools.get(step.target)
        if pool is not None:
            taking = step.kind is StepKind.ACQUIRE
            return [m.fits(free, step.count - 1) if taking
                    else m.has(free, pool.threads - step.count + 1) for m in each(ways)]
        link = self.design.links[step.target]
        if link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT):
            return [m.fits(f"permits for {link.name}", link.gives - 1) for m in each(ways)]
        if link.room:
            return [m.fits(f"free threads of {link.room}", link.gives - 1) for m in each(ways)]
        if link.flow is Flow.BLOCKING and link.capacity:
            return [m.has(f"elements in {link.name}", link.capacity - link.gives + 1)
                    for m in each(ways)]
        return []  # it is never refused

    def _step(self, task: Task, step: Step, at: list[str], here: int, there: int) -> None:
        onward = list(self._onward(task, at, here, there, Move()))
        if step.kind in (StepKind.ACQUIRE, StepKind.RELEASE):
            by = -step.count if step.kind is StepKind.ACQUIRE else step.count
            self.found.moves += self.thread(step.target, onward, by)
            return
        link = self.design.links[step.target]
        act = self.reading if step.kind is StepKind.READ else self.writing
        if step.count > 1:
            done = self.counter(f"{task.name}: repetitions of step {len(at) - here}", 0,
                                step.count - 1)
            more = Move().goes(at[here], at[here]).fits(done, step.count - 2).put(done, 1)
            self.found.moves += act(link, [more])
            onward = [move.take(done, step.count - 1) for move in onward]
        self.found.moves += act(link, onward)

    def _onward(
        self, task: Task, at: list[str], here: int, there: int, way: Move
    ) -> Iterator[Move]:
        """The same, and on to the next step; after the last one to the first, or to the end."""
        go, again, end = each([way, way, way])
        first, rounds = at[-1], f"{task.name}: rounds left"
        if there:
            yield go.goes(at[here], at[there])
        elif task.count is None:
            yield go.goes(at[here], first)
        elif task.count == 1:
            yield go.goes(at[here], at[0])
        else:
            yield again.goes(at[here], first).has(rounds, 2).put(rounds, -1)
            yield end.goes(at[here], at[0]).fits(rounds, 1)

    def do_call(self, task: Task) -> None:
        """Nested calls, each on a thread that it keeps while it waits for the next."""
        n, last = task.roots, task.depth

        def at(what: str, level: int) -> str:
            return f"{task.name}: {what} calls at level {level}"

        for level in range(1, last + 1):
            for what in ("queued", "running", "blocked", "finished"):
                self.counter(at(what, level), 0, n, 0)
        idle = self.counter(f"{task.name}: calls to come", n, n)
        add = self.found.moves
        add.append(Move().take(idle, 1).put(at("queued", 1), 1))
        add.append(Move().take(at("finished", 1), 1).put(idle, 1))
        for level, pool in enumerate(task.pool, start=1):
            begin = Move().take(at("queued", level), 1).put(at("running", level), 1)
            add += self.thread(pool, [begin], -1)
            if level == last:
                done = Move().take(at("running", level), 1)
            else:
                add.append(Move().take(at("running", level), 1).put(at("blocked", level), 1)
                           .put(at("queued", level + 1), 1))
                done = Move().take(at("blocked", level), 1).take(at("finished", level + 1), 1)
            add += self.thread(pool, [done.put(at("finished", level), 1)], 1)


def may_be_done(task: Task) -> bool:
    """Whether a task may have nothing to do any more."""
    return task.count is not None or bool(task.may.value) or any(_finals(task.steps))


def _finals(steps: Sequence[Step]) -> Iterator[bool]:
    """For each position of these steps, from the first on, whether a script may stay there."""
    for step in steps:
        yield step.final
        for branch in step.branches:
            yield from _finals(_singly(branch)[1:] if step.kind is StepKind.EITHER else branch)
        yield from _finals(step.timeout or ())
        yield from _finals(step.otherwise or ())


def _singly(branch: Sequence[Step]) -> list[Step]:
    """A branch of which the first step is done once, and what is left of it afterwards."""
    first, *rest = branch
    if first.kind in (StepKind.READ, StepKind.WRITE) and first.count > 1:
        return [replace(first, count=1), replace(first, count=first.count - 1), *rest]
    return [first, *rest]


def _positions(steps: Sequence[Step]) -> int:
    """In how many places a script can be that does these steps: one for each, but the beginning of
    a branch of ``either`` is where that stands itself."""
    count = 0
    for step in steps:
        count += 1 + _positions(step.timeout or ()) + _positions(step.otherwise or ())
        for branch in step.branches:
            count += _positions(_singly(branch)[1:] if step.kind is StepKind.EITHER else branch)
    return count
