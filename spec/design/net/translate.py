"""From a design to a table of rows: what each kind of task does, in terms of its links.

Every kind is a composition of reads, writes and a few places of its own. Nothing here
runs: the one place where a row is executed is :mod:`checkvalve.spec.design.net.net`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, product
from math import prod

from ...notation.errors import InputError
from ..reading.kinds import is_slots, slots_of
from ..reading.language import (
    Design, Flow, Kind, Link, Merging, Mortality, Routing, Step, StepKind, Task,
)
from ..reading.programs import Positions
from . import lines
from .gathering import align, window
from .links import LinkPlaces, Unbounded, free_threads
from .meetings import join_meetings
from .rows import (
    FAILED, MAX_ROWS, MAX_WAYS, NOTHING, ROWS_OF_A_TASK, Effect, Invariant, Place, Row, Table,
    TooManyWays, together, watched,
)

__all__ = ["Aim", "Builder", "Gate", "own_place", "position_of", "translate"]

LOST = "an element was lost"
BEAT = "the watched task's beat"
STEPS_LEFT = "steps left"
HAND = "elements in the hand"
ENDS = {Mortality.STOP: "stops forever", Mortality.CRASH: "crashes"}


@dataclass(frozen=True)
class Aim:
    """The question that the table is made for.

    ``losses`` and ``failures`` make the first loss, or failure, pass a limit; ``watch``
    follows the steps of one task, and ``emptied`` those that take from a place, while the place
    ``wanted`` (or the one that is emptied) holds at least ``least``; ``unbounded`` says how
    unbounded links are counted.
    ``relaxed`` lets every merge take any input: that has all the runs of the other policies
    and deadlocks in the same states (a merge that writes to its own input is left as it is:
    whether that link has room then depends on the input it takes). ``idle_drops`` keeps the
    steps that change nothing but drop an element; a design in which only those are left is
    deadlocked.
    """

    unbounded: Unbounded = field(default_factory=lambda: Unbounded(3, abstract=True))
    losses: bool = False
    failures: bool = False
    watch: str = ""
    emptied: str = ""
    wanted: str = ""
    least: int = 0
    relaxed: bool = False

    @property
    def idle_drops(self) -> bool:
        """True if steps that change nothing but drop an element are kept."""
        return self.losses or self.watches

    @property
    def watches(self) -> bool:
        """True if some steps are followed."""
        return bool(self.watch or self.emptied)

    def follows(self, row: Row) -> bool:
        """True if a row is one of those steps, which a link does not take by itself."""
        if self.watch:
            return self.watch in row.tasks and row.own
        return row.own and row.effect.change.get(self.emptied, 0) < 0


def translate(design: Design, aim: Aim, watch: Callable[[], object] = lambda: None) -> Table:
    """The table of a design. The rows that may happen come after those that are fair. ``watch`` is
    called for each task, and may raise.

    Raises InputError for a design that can move in more ways than can be listed.
    """
    builder = Builder(design, aim)
    for link in builder.links.values():
        builder.places.extend(link.places())
        builder.invariants.extend(link.invariants())
        builder.rows.extend(link.own_rows())
    for pool in design.pools.values():
        role, of = ("slots", slots_of(pool.name)) if is_slots(pool.name) else ("pool", pool.name)
        builder.places.append(Place(free_threads(pool.name), role, of, *[pool.threads] * 4))
        kinds = [each for each in builder.links.values()
                 if each.link.in_line and each.link.room == pool.name]
        if kinds:
            builder.places.extend(lines.places_of_queue(of, pool.threads))
            builder.invariants.extend(lines.invariants(of, kinds))
    for task in design.tasks.values():
        watch()
        try:
            builder.put(task)
        except TooManyWays:
            raise InputError(
                f"the task {task.name!r} can move in too many ways at once",
                f"{design.file}:{task.spot}",
                "Give it fewer links, fewer that drop, fail, lose or have no bound, or less "
                "capacity to those with `take: head`.",
            ) from None
    builder.conserve_threads()
    try:
        return builder.table()
    except TooManyWays:
        raise InputError("the design can move in too many ways", design.file,
                         "Check a part of it at a time.") from None


class Builder:
    """Collects places and rows: what the functions of each kind of task build with."""

    def __init__(self, design: Design, aim: Aim) -> None:
        self.design = design
        self.aim = aim
        self.links: Mapping[str, LinkPlaces] = {
            link.name: LinkPlaces(
                link, aim.unbounded, min(design.taken(link), default=link.takes),
                max((*design.taken(link), *design.given(link)), default=1),
                design.abandoned(link) and not aim.emptied)
            for link in design.links.values()
        }
        self.places = [Place(FAILED, "flag", "", 0, 1, 1, 0 if aim.failures else 1)]
        self.rows: list[Row] = []
        self.most = MAX_ROWS + ROWS_OF_A_TASK * len(design.tasks)
        self.invariants: list[Invariant] = []
        self.scripted = {s.target for t in design.tasks.values() for s in t.actions}
        self.holders: dict[str, dict[str, int]] = {name: {} for name in design.pools}

    def put(self, task: Task) -> None:
        """Put down a task, and how it may cease to run."""
        known = len(self.places), len(self.rows)
        _KINDS[task.kind](self, task)
        if task.may is not Mortality.GOES_ON and task.kind is not Kind.SCRIPT:
            _ceasing(self, task, *known)

    def place(self, task: Task, what: str, role: str, start: int, most: int, rest: int) -> str:
        """Add a place of a task."""
        name = own_place(task, what)
        self.places.append(Place(name, role, task.name, start, most, rest, most))
        return name

    def add(self, task: Task, effects: Iterator[Effect]) -> None:
        """Add a row for each effect."""
        self.rows.extend(Row(task.name, effect) for effect in effects)
        if len(self.rows) > self.most:
            raise TooManyWays

    def inputs(self, task: Task) -> list[LinkPlaces]:
        """The links that a task reads."""
        return [self.links[link.name] for link in self.design.inputs(task.name)]

    def gates(self, task: Task) -> list[Gate]:
        """The queues that a task reads."""
        return [Gate(tuple(self.links[link.name] for link in links))
                for links in self.design.gates(task.name)]

    def outputs(self, task: Task) -> list[LinkPlaces]:
        """The links that a task writes."""
        return [self.links[link.name] for link in self.design.outputs(task.name)]

    def ways(self, task: Task, reads: Reads) -> list[_Way]:
        """The decisions of a task about an element of each kind: to which link of each choice it
        goes. Kinds for which it can decide the same are one."""
        choices = self.design.choices(task.name)
        found: dict[tuple[str, ...], _Way] = {}
        for kind, effects in reads.items():
            able = [[link for link in choice if link.carries(kind)] for choice in choices]
            if prod(map(len, able)) + len(found) > MAX_WAYS:
                raise TooManyWays
            for chosen in product(*able):
                key = tuple(link.name for link in chosen)
                if key not in found:
                    found[key] = _Way(_named(
                        link for link, choice in zip(chosen, choices, strict=True)
                        if len(choice) > 1), [], list(together(*(
                            self.links[link.name].write() for link in chosen))))
                found[key].reads.extend(effects)
        return list(found.values())

    def pass_on(self, task: Task, reads: Reads) -> None:
        """Read and write in one transition, or through the hand."""
        ways = self.ways(task, reads)
        hand = max(task.hand, 1 if task.pool or len(ways) > 1 else 0)
        if hand:
            _through_hand(self, task, ways, hand)
        else:
            self.add(task, together(ways[0].reads, ways[0].writes))

    def acquire(self, task: Task, holding: str) -> Effect:
        """Take a thread for what is then in the place ``holding``."""
        if not task.pool:
            return NOTHING
        self.holders[task.pool[0]][holding] = 1
        return self.threads(task.pool[0], -1)

    def release(self, task: Task) -> Effect:
        """Give the thread back."""
        return self.threads(task.pool[0], 1) if task.pool else NOTHING

    def busy(self, task: Task) -> Effect:
        """A thread is needed for a moment, and is free again at once."""
        if not task.pool:
            return NOTHING
        return Effect({free_threads(task.pool[0]): 1})

    def threads(self, pool: str, change: int) -> Effect:
        """Take (a negative change) or give back threads of a pool.

        Where scripts give threads back by hand they may give back more than was taken; then
        a task that gives back waits until another one has taken.
        """
        place = free_threads(pool)
        if change < 0:
            return Effect({place: -change}, {}, {place: change})
        most = self.design.pools[pool].threads - change
        return Effect({}, {place: most} if pool in self.scripted else {}, {place: change})

    def conserve_threads(self) -> None:
        """A pool's threads are free or held, unless a script takes them by hand. Slots are free, or
        there is an element in them."""
        rooms: dict[str, dict[str, int]] = {}
        for link in self.links.values():
            rooms.setdefault(link.link.room, {})[link.queue] = 1
        by_hand = self.scripted | {
            name for task in self.design.tasks.values() if task.steps for name in task.pool}
        for pool in self.design.pools.values():
            if is_slots(pool.name):
                held = rooms.get(pool.name, {})
                self.invariants.append(
                    Invariant({free_threads(pool.name): 1, **held}, pool.threads))
            elif pool.name not in by_hand:
                weights = {free_threads(pool.name): 1, **self.holders[pool.name]}
                self.invariants.append(Invariant(weights, pool.threads))

    def table(self) -> Table:
        """The table of all that was collected, as the aim wants it."""
        places, offers = self.places, tuple(self.rows)
        joined = join_meetings(offers, [n for n, link in self.links.items() if link.meets])
        rows = joined
        if not self.aim.idle_drops:
            rows = [row for row in rows if row.effect.change or not row.effect.loses]
        if any(link.overflow is Flow.FAIL for link in self.design.links.values()):
            alive = Effect(at_most={FAILED: 0})
            rows = [replace(row, effect=alive.then(row.effect)) for row in rows]
        if self.aim.losses:
            once = Effect({}, {LOST: 0}, {LOST: 1})
            places.append(Place(LOST, "flag", "", 0, 1, 1, 0))
            rows = [replace(r, effect=r.effect.then(once)) if r.effect.loses else r for r in rows]
        if self.aim.watches:
            places.append(Place(BEAT, "beat", self.aim.watch, 0, 1, 1, 1))
            rows = list(watched(rows, self.aim.follows, BEAT))
        ordered = sorted(rows, key=lambda row: not row.effect.fair)
        return Table(tuple(places), tuple(ordered), tuple(self.invariants),
                     _may_end(self.design), BEAT if self.aim.watches else FAILED, offers,
                     tuple(joined), {free_threads(name): frozenset(held)
                                     for name, held in self.holders.items()},
                     self.aim.wanted or self.aim.emptied or FAILED, self.aim.least)


def own_place(task: Task, what: str) -> str:
    """The name of a task's place; no name in a design has a colon, so none can collide."""
    return f"{task.name}: {what}"


def _may_end(design: Design) -> bool:
    """True if a design may end: it has work that can be finished and none that continues forever.

    """
    workers = [t for t in design.tasks.values()
               if t.kind in (Kind.SOURCE, Kind.SCRIPT, Kind.CALL)]
    return bool(workers) and all(task.may_end for task in workers)


def _ceasing(to: Builder, task: Task, places: int, rows: int) -> None:
    """Let a task that is no script run only while it has not ceased to. The elements that a crashed
    task holds are no work any more; where nothing moves, all tasks that may cease have done so."""
    works = task.kind is Kind.SOURCE
    running = to.place(task, "running", "left", 1, 1, 0 if works else 1)
    own = [place for place in to.places[places:] if place.name != running]
    hands = {place.name: 0 for place in own if place.role == "hand"}
    to.rows[rows:] = [replace(row, effect=Effect({running: 1}).then(row.effect))
                      for row in to.rows[rows:]]
    idle = {} if task.may is Mortality.CRASH else hands
    end = Effect({running: 1}, idle, {running: -1}, (ENDS[task.may],), fair=False)
    to.add(task, iter([end]))
    counted = [place.name for place in own if place.role == "left"]
    for left in counted:
        done = Effect({running: 1}, {left: 0, **hands}, {running: -1}, ("is done",))
        to.add(task, iter([done]))
    kept = {*counted, *(hands if task.may is Mortality.CRASH else ())}
    to.places[places:] = [replace(place, rest=place.most) if place.name in kept else place
                          for place in to.places[places:]]


# --- one function a kind ------------------------------------------------------------------

Reads = Mapping[str, list[Effect]]
"""By the kind of the element, or "" where it is not known, every way to read it."""


@dataclass(frozen=True)
class Gate:
    """A queue that a task reads: a link, or several with elements of one kind each."""

    links: tuple[LinkPlaces, ...]

    @property
    def name(self) -> str:
        """The queue's name in the file."""
        return self.links[0].link.queue

    def reads(self) -> dict[str, list[Effect]]:
        """Every way to read an element of each kind."""
        return {link.link.kind: list(link.read()) for link in self.links}

    def read(self) -> list[Effect]:
        """Every way to read an element."""
        return [effect for link in self.links for effect in link.read()]

    def is_empty(self) -> Effect:
        """Nothing can be read."""
        whole = NOTHING
        for link in self.links:
            whole = whole.then(link.is_empty())
        return whole


def _source(to: Builder, task: Task) -> None:
    spent = NOTHING
    if task.count is not None:
        left = to.place(task, "elements left", "left", task.count, task.count, 0)
        spent = Effect({left: 1}, {}, {left: -1})
    ways = to.ways(task, {"": [spent]})
    if not task.pool and len(ways) == 1:
        to.add(task, together([spent], ways[0].writes))
        return
    made = [replace(spent, words=("makes an element",))]
    _through_hand(to, task, to.ways(task, {"": made}), 1)


def _sink(to: Builder, task: Task) -> None:
    for link in to.inputs(task):
        to.add(task, together([to.busy(task)], link.read()))


def _one_input(to: Builder, task: Task) -> None:
    (gate,) = to.gates(task)
    to.pass_on(task, gate.reads())


def _zip(to: Builder, task: Task) -> None:
    to.pass_on(task, {"": list(together(*(gate.read() for gate in to.gates(task))))})


def _merge(to: Builder, task: Task) -> None:
    gates = to.gates(task)
    to_itself = {gate.name for gate in gates} & {o.link.queue for o in to.outputs(task)}
    policy = Merging.ANY if to.aim.relaxed and not to_itself else task.merging
    if policy is Merging.ANY:
        guarded = [(NOTHING, gate) for gate in gates]
    elif policy is Merging.PREFERRED:
        guarded = list(_preferring(gates, task.prefers))
    else:
        guarded = list(_in_turn(to, task, gates))
    reads: dict[str, list[Effect]] = {}
    for allowed, gate in guarded:
        for kind, effects in gate.reads().items():
            reads.setdefault(kind, []).extend(together([allowed], effects))
    to.pass_on(task, reads)


def _preferring(gates: list[Gate], first: str) -> Iterator[tuple[Effect, Gate]]:
    preferred = next(gate for gate in gates if gate.name == first)
    for gate in gates:
        yield (NOTHING if gate is preferred else preferred.is_empty()), gate


def _in_turn(to: Builder, task: Task, gates: list[Gate]) -> Iterator[tuple[Effect, Gate]]:
    """Reads in turn: an input that has the turn and nothing to give loses it to the next."""
    n = len(gates)
    turn = to.place(task, "turn", "turn", 0, n - 1, n - 1)
    for holder in range(n):
        for skipped in range(n):
            chosen = (holder + skipped) % n
            then = (chosen + 1) % n
            allowed = Effect({turn: holder}, {turn: holder}, {turn: then - holder})
            for i in range(skipped):
                allowed = allowed.then(gates[(holder + i) % n].is_empty())
            yield allowed, gates[chosen]


@dataclass(frozen=True)
class _Way:
    """A decision of a task about an element when it reads it: ``name`` says which, and ``writes``
    are the ways to write it then."""

    name: str
    reads: list[Effect]
    writes: list[Effect]


def _named(links: Iterable[Link]) -> str:
    return " and ".join(link.name for link in links)


def _through_hand(to: Builder, task: Task, ways: list[_Way], hand: int) -> Effect:
    """Read, hold and write; where there is something to decide, what is held has been decided.
    The effect is that there is a free hand, and changes nothing."""
    if len(ways) == 1:
        (way,) = ways
        held = to.place(task, HAND, "hand", 0, hand, 0)
        pick, put = Effect({}, {held: hand - 1}, {held: 1}), Effect({held: 1}, {}, {held: -1})
        to.add(task, together([to.acquire(task, held)], way.reads, [pick]))
        to.add(task, together([put], way.writes, [to.release(task)]))
        return Effect({}, {held: hand - 1})
    free = to.place(task, "free hands", "free hand", hand, hand, hand)
    weights = {free: 1}
    for way in ways:
        held = to.place(task, f"elements for {way.name} in the hand", "hand", 0, hand, 0)
        weights[held] = 1
        pick = Effect({free: 1}, {}, {free: -1, held: 1}, (f"that is for {way.name}",))
        put = Effect({held: 1}, {}, {held: -1, free: 1})
        to.add(task, together([to.acquire(task, held)], way.reads, [pick]))
        to.add(task, together([put], way.writes, [to.release(task)]))
    to.invariants.append(Invariant(weights, hand))
    return Effect({free: 1})


def _filter(to: Builder, task: Task) -> None:
    (gate,) = to.gates(task)
    free = _through_hand(to, task, to.ways(task, gate.reads()), task.hand)
    discard = replace(free, words=("discards it",))
    to.add(task, together([to.busy(task)], gate.read(), [discard]))


def _route(to: Builder, task: Task) -> None:
    """One of the links that have the element's kind."""
    (gate,) = to.gates(task)
    outputs = to.outputs(task)
    ways: dict[str, _Way] = {}
    for kind, reads in gate.reads().items():
        able = [output for output in outputs if output.link.carries(kind)]
        choices = [able] if task.routing is Routing.ROOM else [[output] for output in able]
        for some in choices:
            name = _named(output.link for output in some)
            writes = [effect for output in some for effect in output.write()]
            ways.setdefault(name, _Way(name, [], writes)).reads.extend(reads)
    _through_hand(to, task, list(ways.values()), task.hand)


def position_of(task: Task) -> str:
    """The place that counts the steps a script has left."""
    return own_place(task, STEPS_LEFT)


def _script(to: Builder, task: Task) -> None:
    """A program: its position counts the steps that are left, 0 when it has ended."""
    text = Positions.of(task)
    position = to.place(task, STEPS_LEFT, "position", text.start, text.total, text.rest)
    rounds = ""
    if task.count is not None and task.count > 1:
        early = text.rest > 0 or task.may is not Mortality.GOES_ON
        rounds = to.place(task, "rounds left", "left", task.count, task.count,
                          task.count if early else 1)
    for at_once in {Mortality.STOP: [text.start], Mortality.CRASH: range(1, text.total + 1)}.get(
            task.may, ()):
        ends = Effect({position: at_once}, {position: at_once}, {position: -at_once},
                      (ENDS[task.may],), fair=False)
        to.add(task, iter([ends]))
    for transition in text.transitions:
        at = Effect({position: transition.at}, {position: transition.at})
        if transition.to:
            by = transition.to - transition.at
            onward = [Effect(change={position: by} if by else {})]
        else:
            onward = list(_next_round(task, position, rounds, text.start, transition.at))
        if transition.step is not None:
            to.add(task, _step(to, task, transition.step, transition.number, at, onward))
            continue
        closed = [list(_impossible(to, step)) for step in transition.unless]
        silent = together([replace(at, words=(transition.words,))], *closed, onward)
        # To come back to the same place and to have done nothing is to wait.
        to.add(task, (effect for effect in silent if effect.change))


def _next_round(
    task: Task, position: str, rounds: str, start: int, at: int
) -> Iterator[Effect]:
    again = Effect(change={position: start - at} if start != at else {})
    if task.count is None:
        yield again
        return
    end = Effect(change={position: -at})
    if not rounds:
        yield end
        return
    yield again.then(Effect({rounds: 2}, {}, {rounds: -1}))
    yield end.then(Effect({}, {rounds: 1}))


def _step(
    to: Builder, task: Task, step: Step, number: int, at: Effect, onward: list[Effect]
) -> Iterator[Effect]:
    n = step.count
    if step.kind in (StepKind.ACQUIRE, StepKind.RELEASE):
        sign = -1 if step.kind is StepKind.ACQUIRE else 1
        words = f"{'takes' if sign < 0 else 'gives back'} {n} of {step.target}"
        transition = replace(to.threads(step.target, sign * n), words=(words,))
        return together([at], [transition], onward)
    link = to.links[step.target]
    act = link.read if step.kind is StepKind.READ else link.write
    if n == 1:
        return together([at], act(), onward)
    done = to.place(task, f"repetitions of step {number}", "progress", 0, n - 1, n - 1)
    more = Effect({}, {done: n - 2}, {done: 1})
    last = Effect({done: n - 1}, {}, {done: 1 - n})
    return chain(together([at], act(), [more]), together([at], act(), [last], onward))


def _impossible(to: Builder, step: Step) -> Iterator[Effect]:
    """The markings in which a step cannot be done now: none for one that always can."""
    if step.kind is StepKind.READ:
        yield from to.links[step.target].refuses()
    elif step.kind is StepKind.WRITE:
        yield from to.links[step.target].is_full()
    elif step.kind is StepKind.ACQUIRE:
        yield Effect({}, {free_threads(step.target): step.count - 1})
    else:
        yield Effect({free_threads(step.target):
                      to.design.pools[step.target].threads - step.count + 1})


def _call(to: Builder, task: Task) -> None:
    """Nested calls: a call keeps its thread while it waits for the call that it makes."""
    n, depth = task.roots, task.depth
    levels = range(1, depth + 1)
    queued, running, blocked, done = (
        {level: to.place(task, f"{what} calls at level {level}", what, 0, n, 0)
         for level in levels}
        for what in ("queued", "running", "blocked", "finished")
    )
    idle = to.place(task, "calls to come", "idle", n, n, n)
    for level in levels:
        to.holders[task.pool[level - 1]].update({running[level]: 1, blocked[level]: 1})

    def row(
        take: dict[str, int], give: dict[str, int], words: str, pool: str = "", by: int = 0
    ) -> None:
        change = {p: -k for p, k in take.items()} | give
        effect = Effect(take, {}, change, (words,))
        to.add(task, together([effect], [to.threads(pool, by) if by else NOTHING]))

    row({idle: 1}, {queued[1]: 1}, "is called from outside")
    for level in levels:
        pool = task.pool[level - 1]
        row({queued[level]: 1}, {running[level]: 1},
            f"starts a call of level {level} on a thread of {pool}", pool, -1)
        if level < depth:
            row({running[level]: 1}, {blocked[level]: 1, queued[level + 1]: 1},
                f"calls level {level + 1} from level {level} and waits, keeping its thread")
            row({blocked[level]: 1, done[level + 1]: 1}, {done[level]: 1},
                f"returns from level {level}", pool, 1)
        else:
            row({running[level]: 1}, {done[level]: 1}, f"returns from level {level}", pool, 1)
    row({done[1]: 1}, {idle: 1}, "answers the outside")


def _transition(to: Builder, task: Task) -> None:
    """All reads and all writes in one transition, each with its own number of elements."""
    reads = (link.read(task.takes.get(link.link.name)) for link in to.inputs(task))
    writes = (link.write(task.gives.get(link.link.name)) for link in to.outputs(task))
    to.add(task, together(*reads, *writes))


_KINDS: Mapping[Kind, Callable[[Builder, Task], None]] = {
    Kind.SOURCE: _source, Kind.SINK: _sink, Kind.MAP: _one_input, Kind.ZIP: _zip,
    Kind.BROADCAST: _one_input, Kind.FILTER: _filter, Kind.MERGE: _merge,
    Kind.ROUTE: _route, Kind.SCRIPT: _script, Kind.CALL: _call, Kind.TRANSITION: _transition,
    Kind.WINDOW: window, Kind.ALIGN: align,
}

