"""Ranges that are narrowed find the same deadlocked states as a solver, in designs of any size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import pytest

from benchmarks.random_designs.designs import random_design
from benchmarks.shapes import SHAPES, calls, loops, written
from checkvalve.spec.design.check import parts
from checkvalve.spec.design.equations.equations import Equations, as_question
from checkvalve.spec.design.equations.lemmas import Bound, Clause, Inequality
from checkvalve.spec.design.equations.question import Question
from checkvalve.spec.design.equations.ranges import Ranges, opposite
from checkvalve.spec.design.equations.structure import decide
from checkvalve.spec.design.equations.trials import TakenBack, Trials, clearer
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.net.counters import AIM, Counters
from checkvalve.spec.design.net.translate import translate


def _is_true(bound: Bound, state: Sequence[int]) -> bool:
    n, sign, number = bound
    return state[n] >= number if sign > 0 else state[n] <= number


def _allows(question: Question, state: Sequence[int]) -> bool:
    """True if a state satisfies the question, looked at one by one."""
    return all(
        0 <= here and (most is None or here <= most)
        and (here == start if not stride else (here - start) % stride == 0)
        for here, start, most, stride in zip(
            state, question.start, question.most, question.stride, strict=True)
    ) and all(
        least <= sum(k * state[n] for n, k in weights.items()) <= most
        for weights, least, most in question.sums
    ) and all(any(_is_true(bound, state) for bound in choice) for choice in question.choices)


def _nets(seeds: range) -> Iterator[Counters]:
    for seed in seeds:
        for part in parts(random_design(Random(seed))):
            yield Counters.of(translate(part, AIM))


def test_ranges_and_the_solver_find_a_stuck_state_of_the_same_designs() -> None:
    """Of random designs of every kind; and what is found is one."""
    seen = {True: 0, False: 0}
    for net in _nets(range(60)):
        equations = Equations(net)
        question = as_question(net, equations.sums)
        state = Trials(question).state()
        assert (state is None) == (equations.deadlocked() is None)
        assert state is None or _allows(question, state)
        seen[state is None] += 1
    assert min(seen.values()) > 8


def _drawn(draw: Random) -> Question:
    """A question of some counters, in which anything stands with anything."""
    asked = Question()
    for _ in range(draw.randint(2, 4)):
        stride = draw.choice((0, 1, 1, 1, 2, 3))
        asked.counter(draw.choice((1, 3, 5)), draw.randint(0, 1), stride)
    numbers = range(len(asked.start))
    for _ in range(draw.randint(1, 3)):
        weights = {n: draw.choice((-2, -1, 1, 1, 2)) for n in draw.sample(numbers, 2)}
        least = draw.randint(-4, 6)
        asked.sums.append((weights, least, least + draw.choice((0, 2, 6))))
    for _ in range(draw.randint(1, 5)):
        asked.choose(*((draw.choice(numbers), draw.choice((-1, 1)), draw.randint(0, 3))
                       for _ in range(draw.randint(1, 3))))
    return asked


def test_every_question_has_the_answer_that_trying_all_states_gives() -> None:
    """With strides, sums with any weights, and choices."""
    found = 0
    for seed in range(150):
        question = _drawn(Random(seed))
        expected = any(_allows(question, state)
                       for state in product(*(range(most + 1) for most in question.most if most)))
        try:
            state = Trials(question).state()
        except TakenBack:
            continue
        assert (state is not None) == expected, seed
        assert state is None or _allows(question, state), seed
        found += expected
    assert 20 < found < 130, found


def test_the_solver_is_asked_where_choices_are_taken_back_too_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And says the same."""
    monkeypatch.setattr("checkvalve.spec.design.equations.equations.MANY", 0)
    for choices in (2_000, -1):
        monkeypatch.setattr("checkvalve.spec.design.equations.trials.MAX_TAKEN_BACK", choices)
        found = [Equations(net).deadlocked() is None for net in _nets(range(10))]
        assert found == [Equations(net)._solved(None) is None for net in _nets(range(10))]


def test_a_sum_of_two_sums_is_true_at_the_start() -> None:
    """Whatever is said beside the sums follows from them."""
    for net in _nets(range(30)):
        start = [counter.start for counter in net.counters]
        for weights, least, most in clearer(as_question(net, Equations(net).sums).sums):
            assert least <= sum(k * start[n] for n, k in weights.items()) <= most


def test_what_was_narrowed_can_be_widened_to_where_it_was() -> None:
    """After any assumption, whether anything is left or not."""
    for seed in range(60):
        draw = Random(seed)
        question = _drawn(draw)
        ranges = Ranges(question.start, question.most, question.stride)
        for each in question.sums:
            ranges.add_sum(*each)
        if not (all(map(ranges.add_choice, question.choices)) and ranges.settle()):
            continue
        before, mark = (list(ranges.low), list(ranges.high)), len(ranges.trail)
        for _ in range(10):
            n = draw.randrange(len(question.start))
            bound = n, draw.choice((-1, 1)), draw.randint(0, 5)
            assert ranges.is_open(bound) == (
                not ranges.is_true(bound) and not ranges.is_false(bound))
            assert ranges.is_true(bound) == ranges.is_false(opposite(bound))
            fine = ranges.assume(bound) and ranges.settle()
            assert not fine or ranges.is_true(bound)
            ranges.widen(mark)
            assert (ranges.low, ranges.high) == before


def test_a_clause_excludes_a_state_that_was_found() -> None:
    """A sum, or bounds of which one is true; several sums are left undecided."""
    asked = Question()
    one, other = asked.counter(5), asked.counter(5)
    asked.choose((one, 1, 3))
    trials = Trials(asked)
    state = trials.state()
    assert state is not None and state[one] >= 3
    assert trials.add(Clause("descent", (Inequality({one: 1, other: 1}, 3),)))
    assert trials.state() == [3, 0]
    assert trials.add(Clause("trap", (Inequality({one: 1}, 2), Inequality({other: -1}, -1))))
    assert trials.state() is None
    two = Inequality({one: 1, other: 1}, 3), Inequality({one: 1, other: 2}, 3)
    assert not trials.add(Clause("many", two))


@pytest.mark.parametrize("planted", [False, True])
def test_a_row_of_stages_of_more_than_two_thousand_moves_is_decided(planted: bool) -> None:
    """Without a solver; and the run into the deadlock is found."""
    part, = parts(loops(1_700, 10_000, 5, planted))
    answered = decide(part)
    assert answered.deadlock_free is not planted and (answered.legs is not None) == planted


def test_calls_of_thousands_of_moves_are_proved() -> None:
    """Pools that are taken in one order: from the last one to the first."""
    largest = max(parts(calls(250, 10, 1)), key=lambda part: len(part.tasks))
    answered = decide(largest)
    assert answered.deadlock_free and len(answered.net.transitions) > 2_000


@pytest.mark.parametrize("shape", SHAPES)
def test_the_designs_of_the_benchmark_are_the_files_that_it_reads(shape: str) -> None:
    """The measured designs are those of a user's file."""
    made = SHAPES[shape](40, 10_000, 1, True)
    read = load("\n".join(written(made)))
    assert [(t.name, t.kind, t.hand, t.pool, t.roots) for t in read.tasks.values()] == [
        (t.name, t.kind, t.hand, t.pool, t.roots) for t in made.tasks.values()]
    assert [(k.name, k.writers, k.readers, k.capacity, k.initial) for k in read.links.values()] \
        == [(k.name, k.writers, k.readers, k.capacity, k.initial) for k in made.links.values()]
    assert [p.threads for p in read.pools.values()] == [p.threads for p in made.pools.values()]
