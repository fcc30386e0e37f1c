"""The reference's wheels and lists hold, after each call, what the chapters' machines hold."""

from __future__ import annotations

import random
from copy import deepcopy

import pytest

from checkvalve.reference.kafka.delayed_operation import DelayedOperation
from checkvalve.reference.kafka.purgatory import Purgatory as ReferencePurgatory
from checkvalve.reference.kafka.timer import Timer as ReferenceTimer
from checkvalve.reference.kafka.timing_wheel import TimerTask, TimingWheel
from checkvalve.spec.kafka.purgatory import Purgatory
from checkvalve.spec.kafka.timer import Phase, Timer
from checkvalve.spec.notation import bind
from checkvalve.spec.notation.interpreter import Args, Interpreter, State

SEEDS = range(12)


# ---- the timer ------------------------------------------------------------------------------

BUCKETS, WHEELS, TASKS, LONGEST, HORIZON = 2, 5, 3, 6, 20
INNER = ("place", "take_out", "finish", "poll")


class Quiet(TimerTask):
    """A task that counts its runs."""

    def __init__(self) -> None:
        super().__init__(0)
        self.runs = 0

    def run(self) -> None:
        self.runs += 1


class EagerWheel(TimingWheel):
    """A wheel with an overflow wheel that starts at the time 0, and not where its child is."""

    def _made_overflow(self) -> TimingWheel:
        made = super()._made_overflow()
        made.clock = 0
        return made


class TimerWithEagerWheels(ReferenceTimer):
    """A timer of such wheels."""

    wheel = EagerWheel


def settled(interpreter: Interpreter, state: State) -> State:
    """After all that the machine does by itself, at this instant."""
    while True:
        inner = [after for (name, _), after in interpreter.successors(state) if name in INNER]
        if not inner:
            return state
        state = inner[0]


def differences(core: type[ReferenceTimer], tick: int, seed: int) -> list[str]:
    """The differences between a timer and the chapter's, in a random run of both."""
    bound = bind(Timer, u=tick, n=BUCKETS, M=WHEELS, K=TASKS, D=LONGEST, H=HORIZON)
    interpreter = bound.interpreter
    chance, state = random.Random(seed), interpreter.initial()
    timer, tasks = core(tick, BUCKETS), [Quiet() for _ in range(TASKS)]
    for _ in range(80):
        steps = [step for step, _ in interpreter.successors(state)]
        if not steps:
            break
        name, args = chance.choice(steps + 3 * [each for each in steps if each[0] == "elapse"])
        after = interpreter.step(state, name, args)
        assert after is not None
        state = settled(interpreter, after)
        machine = interpreter.look(state)
        assert isinstance(machine, Timer)
        hand(timer, tasks, name, args, machine.now)
        found = told(timer, tasks, machine)
        if found:
            return found
    return []


def hand(timer: ReferenceTimer, tasks: list[Quiet], name: str, args: Args, now: int) -> None:
    """The same to the reference; it is driven at each instant."""
    given = dict(args)
    if name == "add":
        tasks[given["task"]].delay = given["delay"]
        tasks[given["task"]].runs = 0
        timer.add(tasks[given["task"]], now)
    elif name == "cancel":
        tasks[given["task"]].cancel()
    timer.advance(now)


def told(timer: ReferenceTimer, tasks: list[Quiet], machine: Timer) -> list[str]:
    """The differences now: clocks of the wheels, counts, and the place of each task."""
    pairs = {
        "clocks": (timer.clocks, tuple(machine.clock[:machine.wheels])),
        "size": (timer.size, machine.size), "queue": (timer.queued, sum(machine.queued)),
    }
    for number, task in enumerate(tasks):
        inside = task.entry is not None and task.entry.list is not None
        where = task.entry.list.expiration if inside else None    # type: ignore[union-attr]
        pending = machine.phase[number] == Phase.PENDING
        pairs[f"the tick of task {number}"] = (
            where, machine.expiration[machine.bucket[number]] if pending else None)
        pairs[f"runs of task {number}"] = (task.runs, machine.runs[number])
    return [f"{what}: {one}, and in the chapter {other}"
            for what, (one, other) in pairs.items() if one != other]


@pytest.mark.parametrize("tick", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_wheels_hold_what_the_chapter_s_hold(seed: int, tick: int) -> None:
    """Clocks of all wheels, the bucket of each task, buckets in the queue, after each call."""
    assert differences(ReferenceTimer, tick, seed) == []


def test_a_wheel_that_starts_elsewhere_is_seen_before_a_task_runs_late() -> None:
    """By the clock of the wheel alone, whether or not it does harm later."""
    assert any("clocks" in each
               for seed in SEEDS for each in differences(TimerWithEagerWheels, 1, seed))


# ---- the purgatory --------------------------------------------------------------------------

REQUESTS, KEYS, INTERVAL = 4, 2, 1
TIMEOUTS = (3, 5, 7, 9)


class Waiting(DelayedOperation):
    """A request that is complete when it was made ready; ``meanwhile`` makes it ready after
    its first try."""

    def __init__(self, timeout: int) -> None:
        super().__init__(timeout)
        self.ready = self.meanwhile = False

    def try_complete(self) -> bool:
        won = self.ready and self.force_complete()
        self.ready = self.ready or self.meanwhile
        return won


class PurgingEarly(ReferencePurgatory):
    """It purges at the interval, and not above it."""

    def advance(self, now: int) -> bool:
        moved = super().advance(now)
        if self.estimate - self.delayed == self.purge_interval:
            self.purge()
        return moved


class Both:
    """A purgatory and the chapter's, which do the same."""

    def __init__(self, core: type[ReferencePurgatory]) -> None:
        self.interpreter = bind(Purgatory, K=REQUESTS, J=KEYS, Q=INTERVAL).interpreter
        self.state = self.interpreter.initial()
        self.core = core(INTERVAL)
        self.requests = [Waiting(each) for each in TIMEOUTS]
        self.due: dict[int, int] = {}
        self.now = 0

    @property
    def machine(self) -> Purgatory:
        """The chapter's, as it is now."""
        machine = deepcopy(self.interpreter.look(self.state))
        assert isinstance(machine, Purgatory)
        return machine

    def take(self, name: str, **args: int) -> bool:
        """A step of the chapter's; whether it is possible."""
        after = self.interpreter.step(self.state, name, tuple(args.items()))
        self.state = self.state if after is None else after
        return after is not None

    def do(self, chance: random.Random) -> None:
        """One call, of both."""
        what = chance.choice(["ready", "make", "make", "force", "check", "check", "elapse"])
        request, key = chance.randrange(REQUESTS), chance.randrange(KEYS)
        waiting = self.requests[request]
        if what == "ready" and self.take("become_ready", request=request):
            waiting.ready = True
        elif what == "make":
            keys, meanwhile = chance.randrange(KEYS + 1), chance.randrange(2)
            if self.take("make", request=request, keys=keys, meanwhile=meanwhile):
                waiting.meanwhile = meanwhile == 1
                self.core.try_complete_else_watch(
                    waiting, range(KEYS) if keys == KEYS else [keys], self.now)
                self.due[request] = self.now + TIMEOUTS[request]
        elif what == "force" and self.take("force", request=request):
            waiting.force_complete()
        elif what == "check":
            self.take("check_and_complete", key=key)
            self.core.check_and_complete(key)
        elif what == "elapse":
            self.elapse()

    def elapse(self) -> None:
        """A millisecond passes: what is due expires, and the reaper makes its round."""
        self.now += 1
        for request in range(REQUESTS):
            if self.due.get(request) == self.now:
                self.take("expire", request=request)
        if self.take("start_purge"):
            while self.machine.to_purge:
                self.take("purge", key=min(self.machine.to_purge))
        self.core.advance(self.now)

    def differences(self) -> list[str]:
        """The differences between the two: in lists, keys, timer, estimate and completions."""
        machine = self.machine
        lists = {key * REQUESTS + self.requests.index(each)     # type: ignore[operator,arg-type]
                 for key, watchers in self.core.lists.items() for each in watchers}
        pairs = {
            "lists": (lists, set(machine.watched)),
            "keys": (set(self.core.lists.keys), set(machine.keys)),
            "timer": ({n for n, each in enumerate(self.requests) if each.entry is not None},
                      set(machine.timer)),
            "estimate": (self.core.estimate, machine.estimate),
            "completed": ([int(each.completed) for each in self.requests],
                          list(machine.completions)),
        }
        return [f"{what}: {one}, and in the chapter {other}"
                for what, (one, other) in pairs.items() if one != other]


def first_differences(core: type[ReferencePurgatory], seed: int) -> list[str]:
    """The first differences in a random run."""
    chance, both = random.Random(seed), Both(core)
    for _ in range(60):
        both.do(chance)
        found = both.differences()
        if found:
            return found
    return []


@pytest.mark.parametrize("seed", SEEDS)
def test_the_lists_hold_what_the_chapter_s_hold(seed: int) -> None:
    """Every list, the timer's requests, the estimate, and what is completed, after each call."""
    assert first_differences(ReferencePurgatory, seed) == []


def test_a_purge_that_comes_early_is_seen_by_the_estimate() -> None:
    """At the call after which it differs."""
    assert any(first_differences(PurgingEarly, seed) for seed in SEEDS)
