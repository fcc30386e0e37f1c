"""From a design to a table of rows: what each kind of task does, in terms of its links.

Every kind is a composition of reads, writes and a few places of its own. Nothing here
runs: the one place where a row is executed is :mod:`checkvalve.spec.design.net.net`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from ...notation.errors import InputError
from ..reading.kinds import is_slots, slots_of
from ..reading.language import (
    Design, Kind, Merging, Mortality, Routing, Step, StepKind, Task,
)
from ..reading.programs import Positions, Round
from ..reading.signs import is_sign
from . import lines
from .builder import Aim, Builder, Gate, Way, link_names, own_place
from .gathering import align, window
from .links import LinkMoves
from .places import free_threads
from .rows import (
    NOTHING, Effect, Place, Row, Table, TooManyWays, together,
)

__all__ = ["position_of", "translate"]

STEPS_LEFT = "steps left"
ENDS = {Mortality.STOP: "stops forever", Mortality.CRASH: "crashes"}


def translate(design: Design, aim: Aim, watch: Callable[[], object] = lambda: None) -> Table:
    """The table of a design. The rows that may happen come after those that are fair. ``watch`` is
    called for each link, pool and task, and may raise.

    Raises InputError for a design that can move in more ways than can be listed.
    """
    builder = Builder(design, aim)
    in_line: dict[str, list[LinkMoves]] = {}     # links in one line, by the pool that is its room
    for link in builder.links.values():
        watch()
        builder.places.extend(link.places())
        builder.invariants.extend(link.invariants())
        builder.rows.extend(link.own_rows())
        if link.link.in_line:
            in_line.setdefault(link.link.room, []).append(link)
    for pool in design.pools.values():
        watch()
        role, of = ("slots", slots_of(pool.name)) if is_slots(pool.name) else (
            "sign" if is_sign(pool.name) else "pool", pool.name)
        builder.places.append(Place(free_threads(pool.name), role, of, *[pool.threads] * 4))
        kinds = in_line.get(pool.name)
        if kinds:
            builder.places.extend(lines.places_of_queue(of, pool.threads))
            builder.invariants.extend(lines.invariants(of, kinds))
    for task in design.tasks.values():
        watch()
        try:
            _put(builder, task)
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


def _put(to: Builder, task: Task) -> None:
    """Put down a task, and how it may cease to run."""
    known = len(to.places), len(to.rows)
    _KINDS[task.kind](to, task)
    if task.may is not Mortality.GOES_ON and task.kind is not Kind.SCRIPT:
        _ceasing(to, task, *known)


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
    to.through_hand(task, to.ways(task, {"": made}), 1)


def _sink(to: Builder, task: Task) -> None:
    for link in to.inputs(task):
        to.add(task, together([to.busy(task)], link.read()))


def _one_input(to: Builder, task: Task) -> None:
    (gate,) = to.gates(task)
    to.pass_on(task, gate.reads())


def _zip(to: Builder, task: Task) -> None:
    to.pass_on(task, {"": list(together(*(gate.read() for gate in to.gates(task))))})


def _merge(to: Builder, task: Task) -> None:
    """Add the rows of a merge: which gate it may read follows from its policy; without one that
    matters, any."""
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


def _filter(to: Builder, task: Task) -> None:
    (gate,) = to.gates(task)
    free = to.through_hand(task, to.ways(task, gate.reads()), task.hand)
    discard = replace(free, words=("discards it",))
    to.add(task, together([to.busy(task)], gate.read(), [discard]))


def _route(to: Builder, task: Task) -> None:
    """One of the links that have the element's kind."""
    (gate,) = to.gates(task)
    outputs = to.outputs(task)
    ways: dict[str, Way] = {}
    for kind, reads in gate.reads().items():
        able = [output for output in outputs if output.link.carries(kind)]
        choices = [able] if task.routing is Routing.ROOM else [[output] for output in able]
        for some in choices:
            name = link_names(output.link for output in some)
            writes = [effect for output in some for effect in output.write()]
            ways.setdefault(name, Way(name, [], writes)).reads.extend(reads)
    to.through_hand(task, list(ways.values()), task.hand)


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
    for place, times in {_rounds(task, each.loop): each.times for transition in text.transitions
                         for each in transition.rounds if each.times > 1}.items():
        to.places.append(Place(place, "progress", task.name, 0, times - 1, times - 1, times - 1))
    made: list[Row] = []
    for transition in text.transitions:
        at = Effect({position: transition.at}, {position: transition.at})
        for pool, held in transition.freed:
            at = at.then(to.threads(pool, held))
        if transition.to:
            by = transition.to - transition.at
            onward = [Effect(change={position: by} if by else {})]
        else:
            onward = list(_next_round(task, position, rounds, text.start, transition.at))
        for each in transition.rounds:
            onward = [_turned(task, each).then(effect) for effect in onward]
        if transition.step is not None:
            before = len(to.rows)
            to.add(task, _step(to, task, transition.step, transition.number, at, onward))
            # The ways on from a repeated step differ behind its last time alone.
            to.rows[before:] = [row for row in to.rows[before:] if row not in made]
            made += to.rows[before:]
            continue
        closed = [list(_impossible(to, step)) for step in transition.unless]
        silent = together([replace(at, words=(transition.words,))], *closed, onward)
        # To come back to the same place and to have done nothing is to wait.
        to.add(task, (effect for effect in silent if effect.change))


def _rounds(task: Task, loop: int) -> str:
    return own_place(task, f"rounds of step {loop}")


def _turned(task: Task, change: Round) -> Effect:
    """The effect of a change on the place that counts the rounds of a ``repeat``."""
    place, before = _rounds(task, change.loop), change.times - 1
    if change.done is not None:
        return Effect({}, {place: 0}, {place: change.done} if change.done else {})
    if change.last:
        return Effect({place: before}, {}, {place: -before})
    return Effect({}, {place: before - 1}, {place: 1})


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
    """The effects of a step of a script; one that is repeated counts in a place of its own."""
    n = step.count
    if step.kind in (StepKind.ACQUIRE, StepKind.RELEASE):
        sign = -1 if step.kind is StepKind.ACQUIRE else 1
        words = step.words or f"{'takes' if sign < 0 else 'gives back'} {n} of {step.target}"
        transition = replace(to.threads(step.target, sign * n), words=(words,))
        return together([at], [transition], onward)
    link = to.links[step.target]
    if step.at_once:
        return together([at], link.read(step.at_once), onward)
    act = link.read if step.kind is StepKind.READ else link.write
    if n == 1:
        return together([at], act(), onward)
    done = own_place(task, f"repetitions of step {number}")
    if to.places[-1].name != done:  # a step behind which there are several ways on has one place
        to.places.append(Place(done, "progress", task.name, 0, n - 1, n - 1, n - 1))
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

