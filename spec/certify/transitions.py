"""The transitions of the tasks of a design, written a second time for checking certificates.

A transition (``Transition``) is written as a task performs it: take tokens, need them, need room,
put tokens, one after another on the same counters. From that come what must be there before, how
much room there must be, and what has changed afterwards. This is an independent reading of
docs/design-language.md: where it differs from what the engines make of a design, no certificate is
accepted.

At links of capacity 0 two tasks take one step together (see ``meetings``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, product

from ..design.reading.language import (
    Design, Flow, Kind, Link, Merging, Mortality, Routing, Task,
)
from .limits import look
from .lines import first_in_line, last_in_line, line_of
from .meetings import meeting_at
from .scripts import may_be_done
from .signals import calls_of, counters_of, written
from .steps import Program
from .system import Counter, Transition, NotCovered, System, Ways, each

__all__ = ["system_of"]


def system_of(design: Design) -> System:
    """The counters and transitions of a design. Raises NotCovered."""
    for task in design.tasks.values():
        if not hasattr(_Reader, f"do_{task.kind.value}"):
            raise NotCovered(f"the {task.kind.value} {task.name}")
    return _Reader(design).read()


Reads = dict[str, list[Transition]]
"""Transitions by the kind of the element that they read ("" where it is not known)."""


@dataclass
class _Way:
    """A way to pass on an element once it was read: write all links of one of these rows."""

    name: str
    links: list[list[Link]]
    reads: list[Transition] = field(default_factory=list)


def _carries(link: Link, kind: str) -> bool:
    """True if an element of a kind may be in a link."""
    return link.kind in ("", kind) or not kind


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
            look("reading the design")
            before = len(self.found.transitions), len(self.found.counters)
            getattr(self, f"do_{task.kind.value}")(task)
            if task.may.value and task.kind is not Kind.SCRIPT:
                self.ceasing(task, *before)
            for transition in self.found.transitions[before[0]:]:
                transition.tasks = (task.name,)
        for link in self.design.links.values():
            if link.capacity == 0:
                self.found.transitions = meeting_at(link.name, self.found.transitions)
        working = [t for t in self.design.tasks.values()
                   if t.kind in (Kind.SOURCE, Kind.SCRIPT, Kind.CALL)]
        self.found.ends = bool(working) and all(map(may_be_done, working))
        possible = list(filter(self.may_ever, self.found.transitions))
        self.found.transitions = [transition for transition in possible if not transition.is_idle]
        self.found.idle = [transition for transition in possible if transition.is_idle]
        return self.found

    def ceasing(self, task: Task, transitions: int, counters: int) -> None:
        """It does all that only while it runs, and may cease to: between two elements, or, if it
        crashes, with what it holds. A source that has made all is done of itself."""
        own = list(islice(self.found.counters, counters, None))
        held = [name for name in own if name.endswith(("in the hand", "in the window"))]
        left = [name for name in own if name.endswith("elements left")]
        running = self.counter(f"{task.name}: running", 1, 1,
                               0 if task.kind is Kind.SOURCE else None)
        for transition in self.found.transitions[transitions:]:
            transition.need[running] = 1
        crashes = task.may is Mortality.CRASH
        ends = [Transition(chance=True).take(running, 1)]
        for name in held if not crashes else ():
            ends[0].fits(name, 0)
        for name in left:
            ends.append(Transition().take(running, 1).fits(name, 0))
            for hand in held:
                ends[-1].fits(hand, 0)
        self.found.transitions += ends
        for name in (*left, *(held if crashes else ())):
            self.found.counters[name] = replace(self.found.counters[name], rest=None)

    def may_ever(self, transition: Transition) -> bool:
        """True if what a transition asks of each counter is within its range, and no contradiction.
        """
        for name in {*transition.need, *transition.room}:
            most = self.found.counters[name].most
            ends = [end for end in (most, transition.room.get(name)) if end is not None]
            if ends and min(ends) < max(0, transition.need.get(name, 0)):
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
        forsaken = link.readers and all(
            self.design.tasks[r].may.value or self.design.tasks[r].cancelled_by
            for r in link.readers)
        self.counter(queue, link.initial, None if link.flow is Flow.UNBOUNDED else most,
                     None if forsaken
                     else min(self.design.taken(link), default=link.takes) - 1)
        if link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT):
            assert most is not None
            permits = self.counter(f"permits for {link.name}", most - link.initial, most)
            freed = self.counter(f"freed slots of {link.name}", 0, most)
            self.found.transitions.append(
                Transition().take(freed, link.batch).put(permits, link.batch))
            if link.lossy >= link.batch:
                lost = f"possible losses on {link.name}"
                self.found.transitions.append(
                    Transition(wastes=True, chance=True)
                    .take(freed, link.batch).take(lost, link.batch))
        if link.lossy:
            self.counter(f"possible losses on {link.name}", link.lossy, link.lossy)
        if link.in_line:
            self.found.counters |= line_of(link)
        if link.flow is Flow.STOP_GO:
            self.found.counters |= counters_of(link)
            self.found.transitions += calls_of(link)

    def reading(self, link: Link, ways: Ways, amount: int = 0) -> Iterator[Transition]:
        """The same, and then the link is read: so many elements, or as many as it says itself."""
        n = amount or link.takes
        for transition in each(ways):
            if link.capacity == 0:
                transition.meets |= {(link.name, False)}
                yield transition
                continue
            transition.take(f"elements in {link.name}", n)
            if link.room:
                transition.put(f"free threads of {link.room}", n)
            if link.in_line:
                yield from first_in_line(link, transition)
                continue
            transition.passes(f"elements in {link.name}", -n)
            if link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT):
                transition.put(f"freed slots of {link.name}", n)
            yield transition

    def writing(self, link: Link, ways: Ways, amount: int = 0) -> Iterator[Transition]:
        """The same, and then the link is written, in each way that there is; where it is closed,
        the design gives up."""
        sign = f"free threads of {link.open}"
        for transition in list(ways):
            if link.closes:
                late = transition.copy().fits(sign, 0)
                late.fails = True
                yield late
            still = transition.copy().has(sign, 1) if link.closes else transition
            yield from self._written(link, still, amount or link.gives)

    def _written(self, link: Link, transition: Transition, n: int) -> Iterator[Transition]:
        """The transitions of a write of ``n`` elements to a link, by its flow: one for each
        thing that can become of them, as a loss, a drop or a failure."""
        queue, most = f"elements in {link.name}", link.capacity
        plain = transition.copy()
        if most == 0:
            plain.meets |= {(link.name, True)}
            yield plain
            return
        if link.flow is Flow.STOP_GO:
            yield from written(link, transition)
            return
        if link.flow in (Flow.CREDIT, Flow.STOP_AND_WAIT):
            plain.take(f"permits for {link.name}", n)
        elif link.room:
            plain.take(f"free threads of {link.room}", n)
        elif link.flow is not Flow.UNBOUNDED:
            assert most is not None
            plain.fits(queue, most - n)
        plain.put(queue, n)
        if link.in_line:
            yield from last_in_line(link, plain)
            return
        if link.lossy:
            lossy = plain.copy().take(f"possible losses on {link.name}", 1).put(queue, -1)
            lossy.wastes = lossy.chance = True
            yield lossy.passes(queue, n - 1)
        yield plain.passes(queue, n)
        if link.flow is Flow.FAIL:
            assert most is not None
            failing = transition.copy().has(queue, most - n + 1)
            failing.fails, failing.over = True, transition.over | {queue}
            yield failing
        if link.flow in (Flow.DROP_NEWEST, Flow.DROP_OLDEST):
            assert most is not None
            for held in range(max(0, most - n + 1), most + 1):
                full = transition.copy().has(queue, held).fits(queue, held).put(queue, most - held)
                full.wastes, full.over = True, transition.over | {queue}
                if link.flow is Flow.DROP_OLDEST:
                    yield full.passes(queue, most - held - n, lost=True).passes(queue, n)
                else:
                    yield full.passes(queue, most - held)

    def empty(self, link: Link, ways: Ways) -> Iterator[Transition]:
        """The same, where the link has less than is read at once."""
        for transition in each(ways):
            if link.capacity == 0:
                transition.unless |= {link.name}
                yield transition
            else:
                yield transition.fits(f"elements in {link.name}", link.takes - 1)

    # --- tasks --------------------------------------------------------------------------------

    def read_all(self, task: Task, ways: Ways) -> list[Transition]:
        """The same, and then every link of the task is read."""
        for link in self.design.inputs(task.name):
            ways = self.reading(link, ways, task.takes.get(link.name, 0))
        return list(ways)

    def write_all(
        self, task: Task, ways: Ways, links: Iterable[Link] | None = None
    ) -> list[Transition]:
        """The same, and then every link of the task is written, or these."""
        for link in self.design.outputs(task.name) if links is None else links:
            ways = list(self.writing(link, ways, task.gives.get(link.name, 0)))
        return list(ways)

    def decisions(self, task: Task, kind: str) -> Iterator[tuple[str, list[Link]]]:
        """The links that an element of a kind may go to: one of each group of links, and of each
        queue the one for its kind; with what tells the way from others."""
        groups: dict[str, list[Link]] = {}
        for link in self.design.outputs(task.name):
            groups.setdefault(f"group {link.group}" if link.group else link.of or link.name,
                              []).append(link)
        able = [[link for link in group if _carries(link, kind)] for group in groups.values()]
        for links in product(*able):
            yield " and ".join(link.name for link, group in zip(
                links, groups.values(), strict=True) if len(group) > 1), list(links)

    def queues(self, task: Task) -> dict[str, list[Link]]:
        """The queues that a task reads, each as its links, one for each kind of elements."""
        found: dict[str, list[Link]] = {}
        for link in self.design.inputs(task.name):
            found.setdefault(link.of or link.name, []).append(link)
        return found

    def by_kind(self, links: Iterable[Link], ways: Ways) -> Reads:
        """The same, and then one of these links is read: by the kind that is read."""
        found, before = dict[str, list[Transition]](), list(ways)
        for link in links:
            found.setdefault(link.kind, []).extend(self.reading(link, before))
        return found

    def one_of_each(self, task: Task) -> Reads:
        """Read an element of each queue of a task."""
        ways, kind = [Transition()], ""
        queues = list(self.queues(task).values())
        for links in queues:
            found = self.by_kind(links, ways)
            if len(queues) == 1:
                return found
            ways = [transition for transitions in found.values() for transition in transitions]
        return {kind: ways}

    def thread(self, pool: str, ways: Ways, by: int) -> list[Transition]:
        """The same, and then threads are taken (fewer than none) or given back."""
        name, size = f"free threads of {pool}", self.design.pools[pool].threads
        found = list(each(ways))
        for transition in found:
            if by < 0:
                transition.take(name, -by)
            else:
                if pool in self.by_hand:
                    transition.fits(name, size - by)
                transition.put(name, by)
        return found

    def passing(self, task: Task, reads: Reads) -> None:
        """Write what is read in the same transition, or hold it in the hand in between."""
        ways: dict[tuple[str, ...], _Way] = {}
        for kind, transitions in reads.items():
            for name, links in self.decisions(task, kind):
                way = ways.setdefault(tuple(link.name for link in links), _Way(name, [links]))
                way.reads += transitions
        hand = max(task.hand, 1 if task.pool or len(ways) > 1 else 0)
        if hand:
            self.by_hand_of(task, hand, list(ways.values()))
        else:
            for way in ways.values():
                self.found.transitions += self.write_all(task, way.reads, way.links[0])

    def by_hand_of(self, task: Task, hand: int, ways: list[_Way]) -> None:
        """Take a thread, read, hold what was read, and then write it; of several ways to do that
        one is decided on when it is read."""
        free = f"{task.name}: free hands"
        if len(ways) > 1:
            self.counter(free, hand, hand)
        for way in ways:
            told = f" for {way.name}" if len(ways) > 1 else ""
            held = self.counter(f"{task.name}: elements{told} in the hand", 0, hand, 0)
            taken = self.thread(task.pool[0], way.reads, -1) if task.pool else way.reads
            put = Transition().take(held, 1).passes(held, -1)
            for transition in each(taken):
                transition.take(free, 1) if len(ways) > 1 else transition.fits(held, hand - 1)
                self.found.transitions.append(transition.put(held, 1).passes(held, 1))
            if len(ways) > 1:
                put.put(free, 1)
            for links in way.links:
                self.give(task, self.write_all(task, [put], links))

    def give(self, task: Task, ways: list[Transition]) -> None:
        """The thread is given back."""
        self.found.transitions += self.thread(task.pool[0], ways, 1) if task.pool else ways

    def do_source(self, task: Task) -> None:
        """Writes to all its links."""
        start = Transition()
        if task.count is not None:
            start.take(self.counter(f"{task.name}: elements left", task.count, task.count, 0), 1)
        if task.pool or len(list(self.decisions(task, ""))) > 1:
            self.passing(task, {"": [start]})
        else:
            self.found.transitions += self.write_all(task, [start])

    def do_sink(self, task: Task) -> None:
        """Reads from any of its links; its thread is needed for a moment."""
        for link in self.design.inputs(task.name):
            self.found.transitions += self.reading(link, [self.moment(task)])

    def moment(self, task: Task) -> Transition:
        """A thread is free."""
        return Transition().has(f"free threads of {task.pool[0]}", 1) if task.pool else Transition()

    def do_map(self, task: Task) -> None:
        """Reads an element of each queue, and writes all links."""
        self.passing(task, self.one_of_each(task))

    do_zip = do_broadcast = do_map

    def do_transition(self, task: Task) -> None:
        """Reads and writes in one transition, each link with an amount of its own."""
        self.found.transitions += self.write_all(task, self.read_all(task, [Transition()]))

    def do_merge(self, task: Task) -> None:
        """Reads one of its queues, as its policy says."""
        queues, reads = self.queues(task), dict[str, list[Transition]]()
        if task.merging is Merging.FAIR:
            allowed = list(self._in_turn(task, list(queues.values())))
        else:
            prefers = task.merging is Merging.PREFERRED
            allowed = [(links, self.all_empty(queues[task.prefers], [Transition()])
                        if prefers and name != task.prefers else [Transition()])
                       for name, links in queues.items()]
        for links, ways in allowed:
            for kind, transitions in self.by_kind(links, ways).items():
                reads.setdefault(kind, []).extend(transitions)
        self.passing(task, reads)

    def all_empty(self, links: Iterable[Link], ways: Ways) -> list[Transition]:
        """The same, where none of these links has as much as is read at once."""
        for link in links:
            ways = list(self.empty(link, ways))
        return list(ways)

    def _in_turn(
        self, task: Task, queues: list[list[Link]]
    ) -> Iterator[tuple[list[Link], list[Transition]]]:
        places = [self.counter(f"{task.name}: turn = {n}", int(n == 0), 1, 1)
                  for n in range(len(queues))]
        for here in range(len(queues)):
            for passed in range(len(queues)):
                chosen = (here + passed) % len(queues)
                ways = [Transition().goes(places[here], places[(chosen + 1) % len(queues)])]
                for n in range(passed):
                    ways = self.all_empty(queues[(here + n) % len(queues)], ways)
                yield queues[chosen], ways

    def do_filter(self, task: Task) -> None:
        """Holds each element, and then writes it; or has read it for nothing."""
        self.passing(task, self.one_of_each(task))
        held, free = f"{task.name}: elements in the hand", f"{task.name}: free hands"
        for link in self.design.inputs(task.name):
            self.found.transitions += [
                m.has(free, 1) if free in self.found.counters else m.fits(held, task.hand - 1)
                for m in self.reading(link, [self.moment(task)])]

    def do_route(self, task: Task) -> None:
        """Holds each element, and writes it to one link that has its kind: as the element says, or
        where there is a free slot."""
        ways: dict[str, _Way] = {}
        for kind, transitions in self.one_of_each(task).items():
            able = [link for link in self.design.outputs(task.name) if _carries(link, kind)]
            for some in [able] if task.routing is Routing.ROOM else [[link] for link in able]:
                name = " and ".join(link.name for link in some)
                way = ways.setdefault(name, _Way(name, [[link] for link in some]))
                way.reads.extend(transitions)
        self.by_hand_of(task, task.hand, list(ways.values()))

    # --- tasks that gather ----------------------------------------------------------------------

    def do_window(self, task: Task) -> None:
        """Keeps elements, and writes one for as many as it keeps, or, if it may, for fewer."""
        kept = self.counter(f"{task.name}: elements in the window", 0, task.size, task.size - 1)
        for link in self.design.inputs(task.name):
            self.found.transitions += [
                each.fits(kept, task.size - 1).put(kept, 1).passes(kept, 1)
                for each in self.reading(link, [Transition()])]
        closing = [Transition().has(kept, task.size).put(kept, -task.slide)
                   .passes(kept, -task.slide)]
        closing += [Transition().fits(kept, held).take(kept, held).passes(kept, -held)
                    for held in range(1, task.size if task.early else 1)]
        for _, links in self.decisions(task, ""):
            self.found.transitions += self.write_all(task, closing, links)

    def do_align(self, task: Task) -> None:
        """Passes elements on, but none from a queue of which it has the barrier; when it has one of
        each and its hands are empty, it writes one."""
        queues, reads = self.queues(task), dict[str, list[Transition]]()
        before = len(self.found.counters)
        barriers = {name: self.counter(f"{task.name}: barrier of {name}", 0, 1, 0)
                    for name in queues}
        for name, links in queues.items():
            fitting = [Transition().fits(barriers[name], 0)]
            for kind, transitions in self.by_kind(links, fitting).items():
                if kind == task.barrier:
                    self.found.transitions += [each.put(barriers[name], 1) for each in transitions]
                else:
                    reads.setdefault(kind, []).extend(transitions)
        if reads:
            self.passing(task, reads)
        whole = Transition()
        for name in islice(self.found.counters, before, None):
            if name.endswith("in the hand"):
                whole.fits(name, 0)
        for name in barriers.values():
            whole.take(name, 1)
        for _, links in self.decisions(task, task.barrier):
            self.found.transitions += self.write_all(task, [whole], links)

    # --- scripts and calls ----------------------------------------------------------------------

    def do_script(self, task: Task) -> None:
        """Its steps in order (see ``steps``)."""
        Program(self, task).read()

    def do_call(self, task: Task) -> None:
        """Nested calls, each on a thread that it keeps while it waits for the next."""
        n, last = task.roots, task.depth

        def at(what: str, level: int) -> str:
            return f"{task.name}: {what} calls at level {level}"

        for level in range(1, last + 1):
            for what in ("queued", "running", "blocked", "finished"):
                self.counter(at(what, level), 0, n, 0)
        idle = self.counter(f"{task.name}: calls to come", n, n)
        add = self.found.transitions
        add.append(Transition().take(idle, 1).put(at("queued", 1), 1))
        add.append(Transition().take(at("finished", 1), 1).put(idle, 1))
        for level, pool in enumerate(task.pool, start=1):
            begin = Transition().take(at("queued", level), 1).put(at("running", level), 1)
            add += self.thread(pool, [begin], -1)
            if level == last:
                done = Transition().take(at("running", level), 1)
            else:
                add.append(Transition().take(at("running", level), 1).put(at("blocked", level), 1)
                           .put(at("queued", level + 1), 1))
                done = Transition().take(at("blocked", level), 1).take(at("finished", level + 1), 1)
            add += self.thread(pool, [done.put(at("finished", level), 1)], 1)
