"""The reference's inner steps are steps of the chapters' machines, and not only its answers.

An observer judges calls and answers. Where the reference says what it does inside, that is judged
as well, by the machine of the chapter that explains it.
"""

from __future__ import annotations

import random
from copy import deepcopy

import pytest

from checkvalve.reference.storm.acker import Acker as ReferenceAcker
from checkvalve.reference.storm.acker import Telling
from checkvalve.reference.storm.spout import PartitionManager as ReferenceManager
from checkvalve.reference.storm.rotating import RotatingMap as ReferenceMap
from checkvalve.reference.storm.task_input import Phase
from checkvalve.reference.storm.task_input import TaskInput as ReferenceInput
from checkvalve.spec.notation.interpreter import Step
from checkvalve.spec.engines.monitor import Failure, Monitor
from checkvalve.spec.notation import bind
from checkvalve.spec.storm.acking.acker import Acker, Answer
from checkvalve.spec.storm.acking.rotating import RotatingMap
from checkvalve.spec.storm.inputs.queue import TaskInput
from checkvalve.spec.storm.spouts.source import PartitionManager

SEEDS = range(20)


# ---- a task's input -------------------------------------------------------------------------

CAPACITY, AT_MOST = 2, 6


class SizesInTheOtherOrder(ReferenceInput[int]):
    """recvQ's size is read first (D2)."""

    def _look(self) -> None:
        self.report("size_overflowq" if self._phase is Phase.IDLE else "size_recvq")
        if self._phase is Phase.IDLE:
            self._recvq_budget = len(self._recvq)
            self._phase = Phase.SIZED
        else:
            self._overflowq_budget = len(self._overflowq)
            self._phase = Phase.RECVQ


def inner_steps(core: type[ReferenceInput[int]], seed: int, length: int = 60) -> list[Step]:
    """The steps of a random run of a task's input."""
    chance, steps = random.Random(seed), list[Step]()
    input_ = core(CAPACITY, remote=["r"], local=["l"])
    input_.report = lambda name: steps.append((name, ()))
    for number in range(length):
        now = input_.statistics()
        what = chance.choice(["arrives", "published", "works", "works"])
        if what == "arrives" and now.overflowq < AT_MOST:
            steps.append(("arrive", (("sender", 0),)))
            input_.transfer("r", [number])
        elif what == "published" and now.recvq < CAPACITY:
            steps.append(("publish", (("sender", 0),)))
            input_.publish("l", number)
        elif what == "works" and (now.recvq or now.overflowq):
            input_.step()
    return steps


def refused(steps: list[Step]) -> Failure | None:
    """The first step that the chapter's machine does not take."""
    monitor = Monitor(bind(TaskInput, C=CAPACITY, M=AT_MOST))
    return next(filter(None, (monitor.observe([step]) for step in steps)), None)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_task_s_input_does_inside_the_chapter_s_machine_does(seed: int) -> None:
    """Looks at sizes, turns, and which queue each tuple is taken from."""
    steps = inner_steps(ReferenceInput, seed)
    assert refused(steps) is None
    assert {name for name, _ in steps} >= {"size_overflowq", "size_recvq", "take_from_recvq"}


def test_an_input_that_looks_in_the_other_order_is_no_run_of_the_chapter() -> None:
    """Even before its answers show it."""
    assert any(refused(inner_steps(SizesInTheOtherOrder, seed)) for seed in SEEDS)


# ---- the acker ------------------------------------------------------------------------------

EDGES = (0x5EED0001, 0x0BADCAFE)
TOLD = {Answer.ACK: Telling.ACK, Answer.FAIL: Telling.FAIL}


def handed(reference: ReferenceAcker, step: Step, before: Acker) -> list[Telling]:
    """The reference's answers to a message of the chapter's."""
    name, arguments = step
    if name == "receive_init":
        told = reference.init(7, value(before.init), 0)
    elif name == "receive_ack":
        edge = dict(arguments)["edge"]
        children = [each for each in range(before.E) if before.parent[each] == edge]
        told = reference.ack(7, value([edge, *children]))
    else:
        told = (reference.fail if name == "receive_fail" else reference.reset_timeout)(7)
    return [each.telling for each in told]


def value(edges: object) -> int:
    """The xor of their ids."""
    total = 0
    for edge in edges:      # type: ignore[attr-defined]
        total ^= EDGES[edge]
    return total


@pytest.mark.parametrize("seed", SEEDS)
def test_the_acker_s_entry_is_the_chapter_s_after_each_message(seed: int) -> None:
    """Its value, whether INIT has come, the mark of a failure, and its answers."""
    chance, interpreter = random.Random(seed), bind(Acker, E=2, W=2).interpreter
    reference, state = ReferenceAcker(), interpreter.initial()
    for _ in range(40):
        choices = [each for each in interpreter.successors(state) if each[0][0] != "expire"]
        if not choices:
            break
        step, after = chance.choice(choices)
        before = deepcopy(interpreter.look(state))
        machine = interpreter.look(after)
        assert isinstance(before, Acker)
        assert isinstance(machine, Acker)
        if step[0].startswith("receive"):
            told = [each for each in handed(reference, step, before)
                    if each is not Telling.RESET_TIMEOUT]
            new = [TOLD[each] for each in (Answer.ACK, Answer.FAIL)
                   if each in machine.answers and each not in before.answers]
            entry = reference.entry(7)
            assert (entry is not None) == machine.entry
            assert set(new) <= set(told)
            if entry is not None:
                assert entry.value == value(machine.value)
                assert (entry.task is not None, entry.failed) == (machine.known, machine.failed)
        state = after


# ---- the map that forgets -------------------------------------------------------------------

@pytest.mark.parametrize("buckets", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_map_holds_a_key_as_long_as_the_chapter_s(buckets: int, seed: int) -> None:
    """After each put and each tick; time passes by one, and a tick is one in three."""
    chance, interpreter = random.Random(seed), bind(RotatingMap, N=buckets, P=3).interpreter
    reference: ReferenceMap[str, int] = ReferenceMap(buckets)
    state, clock = interpreter.initial(), 0
    for _ in range(60):
        name = chance.choice(["put", "elapse", "elapse", "elapse"])
        after = interpreter.step(state, name)
        assert after is not None
        state = after
        if name == "put":
            reference.put("key", 1)
        else:
            clock = (clock + 1) % 3
            if clock == 0:
                reference.rotate()
        machine = interpreter.look(state)
        assert isinstance(machine, RotatingMap)
        assert ("key" in reference) == (len(machine.held_in) > 0)


# ---- the manager of a partition -------------------------------------------------------------

LOG = 5


class ForgettingFailed(ReferenceManager):
    """A manager in which a failed tuple is no longer pending until it is fetched again."""

    def _schedule(self, offset: int) -> None:
        super()._schedule(offset)
        self._pending.discard(offset)


def differences(core: type[ReferenceManager], fetch: int, seed: int) -> list[str]:
    """The first differences between a manager and the chapter's, in a random run of both."""
    chance = random.Random(seed)
    interpreter = bind(PartitionManager, L=LOG, F=fetch, X=4, Y=1).interpreter
    state, reference = interpreter.initial(), core(fetch_size=fetch)
    for _ in range(80):
        steps = list(interpreter.successors(state))
        if not steps:
            break
        (name, args), state = chance.choice(steps)
        machine = interpreter.look(state)
        assert isinstance(machine, PartitionManager)
        reference = handed_on(reference, name, dict(args))
        now = reference.statistics()
        pairs = {
            "waiting": (now.waiting, len(machine.waiting)),
            "kept": (now.pending, len(machine.pending)),
            "failed": (now.failed, len(machine.failed)),
            "emitted to": (now.emitted_to, machine.emitted_to),
            "committed": (now.committed, machine.committed)}
        found = [f"{what}: {one}, and in the chapter {other}"
                 for what, (one, other) in pairs.items() if one != other]
        if found:
            return found
    return []


def handed_on(manager: ReferenceManager, name: str, args: dict[str, int]) -> ReferenceManager:
    """The manager after a step of the chapter's; a crash leaves another one."""
    if name == "fill":
        asked = manager.wants()
        assert asked is not None
        records = range(asked.offset, min(LOG, asked.offset + asked.size))
        manager.fetched(records, records.stop)
    elif name == "crash":
        return type(manager)(manager.statistics().committed, fetch_size=manager.fetch_size)
    elif name in ("next", "commit"):
        getattr(manager, name)()
    elif name in ("ack", "fail"):
        getattr(manager, name)(args["offset"])
    return manager


@pytest.mark.parametrize("fetch", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_manager_keeps_what_the_chapter_s_keeps(fetch: int, seed: int) -> None:
    """The waiting, pending and failed tuples, how far it has read, and its commit."""
    assert differences(ReferenceManager, fetch, seed) == []


def test_a_manager_that_forgets_what_failed_is_seen_before_it_commits_too_far() -> None:
    """The stores alone show the difference."""
    assert any("kept" in each
               for seed in SEEDS for each in differences(ForgettingFailed, 2, seed))
