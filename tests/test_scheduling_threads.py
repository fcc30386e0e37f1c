"""The controlled scheduler: real threads, one at a time, in an order that is given."""

from __future__ import annotations

import threading

import pytest
from scheduling_toys import Account, Counter, Loop, Pair, Stubborn, Wanderer

from checkvalve.reference.drivers.schedules.interleavings import (
    Explored, Scene, explore, replay, wander,
)
from checkvalve.reference.drivers.schedules.scheduling import Scheduler, SchedulingMisuse, Segment

MODULES = ("scheduling_toys",)


def counting(scheduler: Scheduler) -> object:
    """Two threads count without a lock."""
    counter = Counter()
    for name in ("a", "b"):
        scheduler.spawn(name, counter.count)
    return lambda: counter.value


def depositing(scheduler: Scheduler) -> object:
    """Two threads count under a lock."""
    account = Account(scheduler.lock)
    for name in ("a", "b"):
        scheduler.spawn(name, account.deposit)
    return lambda: account.balance


def crossing(scheduler: Scheduler) -> object:
    """Two threads take two locks in both orders."""
    pair = Pair(scheduler.lock)
    scheduler.spawn("there", pair.there)
    scheduler.spawn("back", pair.back)
    return lambda: pair.moves


def walking(scheduler: Scheduler) -> object:
    """Three threads leave a trace."""
    wanderer = Wanderer()
    for name in "abc":
        scheduler.spawn(name, lambda name=name: wanderer.walk(name))
    return lambda: tuple(wanderer.trace)


SCENES: dict[str, Scene[object]] = {
    each.__name__: each     # type: ignore[misc]
    for each in (counting, depositing, crossing, walking)}


def every(name: str, preemptions: int) -> list[Explored[object]]:
    """All schedules of a scene."""
    return list(explore(SCENES[name], MODULES, preemptions=preemptions))


def test_a_race_shows_with_one_preemption_and_not_without() -> None:
    """A lost update takes a switch between reading and writing."""
    assert {each.result for each in every("counting", 0)} == {2}
    assert {each.result for each in every("counting", 1)} == {1, 2}


def test_a_lock_keeps_others_out() -> None:
    """Whatever the schedule; and it is reentrant."""
    assert {each.result for each in every("depositing", 3)} == {2}


def test_a_deadlock_says_who_waits_for_whom() -> None:
    """It names both threads, the lines on which they wait, and the holders of the locks."""
    stuck = [each for each in every("crossing", 1) if each.deadlock]
    there, back = stuck[0].deadlock
    assert (there.held_by, back.held_by) == (("back",), ("there",))
    assert there.text == "self._second.acquire()"
    assert "waits at scheduling_toys.py:" in there.words()
    assert all(each.result == 2 for each in every("crossing", 1) if not each.deadlock)


def test_no_schedule_is_tried_twice() -> None:
    """Each is another one; and more preemptions only add some."""
    for name in SCENES:
        few, more = ([each.schedule for each in every(name, count)] for count in (1, 2))
        assert len(set(more)) == len(more)
        assert set(few) <= set(more)


def test_all_interleavings_are_found() -> None:
    """Two threads of two steps each, with as many preemptions as there can be."""
    def scene(scheduler: Scheduler) -> object:
        trace: list[str] = []
        wanderer = Wanderer()
        wanderer.trace = trace      # type: ignore[assignment]
        for name in "ab":
            scheduler.spawn(name, lambda name=name: wanderer.walk(name))
        return lambda: "".join(step[0] for step in wanderer.trace)
    found = {each.result for each in explore(scene, MODULES, preemptions=8)}    # type: ignore[arg-type]
    assert found == {"aabb", "abab", "abba", "baab", "baba", "bbaa"}


@pytest.mark.parametrize("name", SCENES)
def test_a_schedule_is_replayed_as_it_was(name: str) -> None:
    """The same segments, the same result, the same deadlock."""
    for each in every(name, 1):
        again = replay(SCENES[name], MODULES, each.schedule)
        assert (again.schedule, again.result, again.deadlock) == (
            each.schedule, each.result, each.deadlock)


@pytest.mark.parametrize("name", SCENES)
def test_a_seed_gives_one_schedule(name: str) -> None:
    """The same seed the same one; and not all seeds the same."""
    first, second = ([wander(SCENES[name], MODULES, seed).schedule for seed in range(12)]
                     for _ in range(2))
    assert first == second
    assert len(set(first)) > 1


def test_no_thread_is_left_behind() -> None:
    """Not of a deadlock, not of a task that never ran, not of one that catches everything."""
    with Scheduler(MODULES) as scheduler:
        lock = scheduler.lock("the lock")
        lock.acquire()
        stubborn = Stubborn(lock)
        scheduler.spawn("never run", stubborn.go)
        assert scheduler.run(scheduler.spawn("stubborn", stubborn.go)).waits_for == "the lock"
    assert stubborn.caught
    for _ in explore(SCENES["crossing"], MODULES, preemptions=1):
        pass
    assert "scheduled" not in {thread.name for thread in threading.enumerate()}


def test_a_loop_that_waits_for_another_thread_is_reported() -> None:
    """Not a hang: a number of steps, and where the thread goes round."""
    with Scheduler(MODULES, steps_max=500) as scheduler:
        task = scheduler.spawn("loop", Loop().wait)
        with pytest.raises(SchedulingMisuse, match=r"500 steps .* while not self\.flag"):
            scheduler.run(task)


def test_what_a_task_raises_is_kept_for_the_controller() -> None:
    """The others continue."""
    def scene(scheduler: Scheduler) -> object:
        scheduler.spawn("fails", lambda: [][0])
        scheduler.spawn("continues", Counter().count)
        return lambda: None
    (found,) = {each.errors[0][0] for each in explore(scene, MODULES)}  # type: ignore[arg-type]
    assert found == "fails"


def test_a_reader_waits_behind_a_writer_who_waits() -> None:
    """Or writers would starve; a thread that reads already reads again."""
    with Scheduler(()) as scheduler:
        shared = scheduler.shared_lock("shared")
        reader = scheduler.spawn("reader", lambda: shared.read.acquire() and shared.read.acquire())
        writer = scheduler.spawn("writer", shared.write.acquire)
        late = scheduler.spawn("late reader", shared.read.acquire)
        assert scheduler.run(reader).done
        assert scheduler.run(writer).held_by == ("reader",)
        assert scheduler.run(late).waits_for == "shared (to read)"
        assert [each.task for each in scheduler.deadlock()] == ["writer", "late reader"]


def test_a_lock_that_was_not_taken_cannot_be_given_back() -> None:
    """The error names the lock."""
    with Scheduler(()) as scheduler:
        task = scheduler.spawn("careless", scheduler.lock("the lock").release)
        scheduler.run(task)
        assert isinstance(task.error, SchedulingMisuse)
        assert "the lock is given back" in str(task.error)


@pytest.mark.parametrize(("steps", "words"), [(0, "one or more"), (-1, "one or more")])
def test_a_task_takes_one_step_or_more(steps: int, words: str) -> None:
    """A count that cannot be is refused, and nothing runs."""
    with Scheduler(MODULES) as scheduler:
        task = scheduler.spawn("counts", Counter().count)
        with pytest.raises(SchedulingMisuse, match=words):
            scheduler.run(task, steps)
        assert task.steps == 0


def test_steps_are_the_lines_on_which_something_is_shared() -> None:
    """Counting is a read and a write; a line of local variables is none."""
    with Scheduler(MODULES) as scheduler:
        task = scheduler.spawn("counts", Counter().count)
        assert scheduler.run(task, 1).text == "self.value = seen + 1"
        assert scheduler.run(task).done
        assert task.steps == 2
    assert replay(SCENES["counting"], MODULES, [Segment(0, 1), Segment(1)]).result == 1


def test_only_a_search_counts_preemptions() -> None:
    """A schedule that was drawn or is replayed was not bounded by them."""
    assert wander(SCENES["walking"], MODULES, 1).preemptions == 0
    last = every("counting", 2)[-1]
    assert replay(SCENES["counting"], MODULES, last.schedule).preemptions == 0
    assert {each.preemptions for each in every("counting", 2)} == {0, 1, 2}


def test_a_piece_of_a_drawn_schedule_has_from_one_step_to_as_many_as_were_allowed() -> None:
    """And each number of them is drawn."""
    for most in (1, 3):
        drawn = [wander(walking, MODULES, seed, steps_max=most).schedule for seed in range(30)]
        assert {piece.steps for schedule in drawn for piece in schedule} == set(range(1, most + 1))


def test_a_task_that_could_go_on_waits_for_nothing() -> None:
    """It stands on a line, or at its beginning; and when it has run it is over."""
    with Scheduler(MODULES) as scheduler:
        task = scheduler.spawn("a", Counter().count)
        assert scheduler.standing(task).words() == "a is at its beginning"
        assert "a is at scheduling_toys.py:" in scheduler.run(task, 1).words()
        assert scheduler.run(task).words() == "a is over"
