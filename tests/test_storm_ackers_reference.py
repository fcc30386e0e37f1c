"""The reference of the acker's side: rotating maps, ackers and pending roots."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import xor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.systems.storm_acker.suite import EDGES
from checkvalve.reference.storm.acker import Acker, AckerMisuse, Tell, Telling
from checkvalve.reference.storm.rotating import RotatingMap, RotatingMisuse
from checkvalve.reference.storm.spout import Call, Outcome, SpoutMisuse, SpoutPending

IDS = st.integers(0, 2**64 - 1)
ROOT, TASK = 7, 3


@given(st.integers(1, 6), st.integers(1, 9), st.data())
def test_a_lifetime_is_above_n_minus_one_periods_and_at_most_n(
    buckets: int, period: int, data: st.DataObject
) -> None:
    """Wherever between two ticks the put is."""
    held: RotatingMap[str, int] = RotatingMap(buckets)
    put_at = data.draw(st.integers(0, period - 1))
    held.put("key", 1)
    gone_at = next(now for now in range(period, period * (buckets + 1), period) if held.rotate())
    assert (buckets - 1) * period < gone_at - put_at <= buckets * period


@given(st.lists(st.tuples(st.sampled_from("pgrt"), st.sampled_from("abc")), max_size=30))
def test_a_rotating_map_is_a_dict_of_ages(steps: list[tuple[str, str]]) -> None:
    """Against the plain definition: an age for each key, which a put sets to zero."""
    held: RotatingMap[str, str] = RotatingMap(3)
    ages: dict[str, int] = {}
    for do, key in steps:
        if do == "p":
            held.put(key, key)
            ages[key] = 0
        elif do == "r" and key in ages:
            del ages[key]
            assert held.remove(key) == key
        elif do == "t":
            expired = held.rotate()
            ages = {each: age + 1 for each, age in ages.items()}
            assert set(expired) == {each for each, age in ages.items() if age == 3}
            ages = {each: age for each, age in ages.items() if age < 3}
        assert len(held) == len(ages)
        assert (key in held, held.get(key)) == (key in ages, key if key in ages else None)


@given(st.lists(IDS.filter(bool), min_size=1, max_size=8, unique=True), st.data())
def test_a_tree_is_acked_with_its_last_message_in_any_order(
    edges: list[int], data: st.DataObject
) -> None:
    """A chain, of which each bolt acks its edge with the next one's."""
    sends: list[Callable[[Acker], tuple[Tell, ...]]] = [lambda a: a.init(ROOT, edges[0], TASK)]
    for edge, child in zip(edges, [*edges[1:], 0], strict=True):
        sends.append(lambda a, value=edge ^ child: a.ack(ROOT, value))
    acker = Acker()
    *early, last = [send(acker) for send in data.draw(st.permutations(sends))]
    told = [*early, last]
    # Only ids that are not independent may bring the value to zero too early.
    assert [each for each in told if each][:1] == [(Tell(TASK, Telling.ACK, ROOT),)]
    if len(edges) == 1:
        assert last


def test_the_suite_s_edges_are_independent() -> None:
    """Else a value of zero would not mean an empty set of edges."""
    basis: dict[int, int] = {}
    for edge in (int(text, 16) for pair in EDGES for text in pair):
        rest = edge
        while rest and rest.bit_length() in basis:
            rest ^= basis[rest.bit_length()]
        assert rest
        basis[rest.bit_length()] = rest


@given(st.lists(IDS, max_size=9))
def test_the_value_is_the_xor_of_all_that_came(values: list[int]) -> None:
    """Before INIT nothing is concluded."""
    acker = Acker()
    for value in values:
        assert acker.ack(ROOT, value) == ()
    entry = acker.entry(ROOT)
    assert (entry.value if entry else 0) == reduce(xor, values, 0)


@pytest.mark.parametrize(("call", "arguments"), [
    ("init", (-1, 0, 0)), ("init", (0, 2**64, 0)), ("init", (0, 0, -1)), ("init", (0, 0, "a")),
    ("ack", (0, -1)), ("ack", (2**64, 0)), ("ack", (True, 0)), ("fail", ("7",)),
    ("reset_timeout", (-7,)),
])
def test_a_message_that_nobody_could_send_changes_nothing(
    call: str, arguments: tuple[object, ...]
) -> None:
    """The error says what was wrong with it."""
    acker = Acker()
    acker.ack(ROOT, 5)
    before = acker.statistics(), acker.entry(ROOT)
    with pytest.raises(AckerMisuse):
        getattr(acker, call)(*arguments)
    assert (acker.statistics(), acker.entry(ROOT)) == before


@pytest.mark.parametrize("buckets", [0, -1, 10**9, 1.5, True, "3"])
def test_a_number_of_buckets_is_a_small_positive_integer(buckets: object) -> None:
    """Neither seconds nor nothing."""
    with pytest.raises(RotatingMisuse):
        Acker(buckets)  # type: ignore[arg-type]


def test_two_ids_that_are_the_same_cancel_too_early() -> None:
    """Xor is not idempotent: an ACK that comes twice undoes itself."""
    acker = Acker()
    acker.init(ROOT, 5, TASK)
    assert acker.ack(ROOT, 6) == acker.ack(ROOT, 6) == ()
    assert acker.ack(ROOT, 5) == (Tell(TASK, Telling.ACK, ROOT),)


def test_a_callback_of_the_spout_may_emit_outside_of_a_round() -> None:
    """Whatever the maximum, as Storm allows; an id that is pending is refused all the same."""
    spout: SpoutPending[str] = SpoutPending(1)
    assert spout.begin_round() and spout.emit(1, "a") == ()
    spout.end_round()
    assert spout.emit_from_callback(2, "b") == () and len(spout) == 2
    with pytest.raises(SpoutMisuse, match="pending"):
        spout.emit_from_callback(2, "c")
    assert [call.message for call in spout.ack(2)] == ["b"]


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 4))
def test_the_overshoot_of_the_maximum_is_exact(maximum: int, tasks: int, round_: int) -> None:
    """At most the maximum - 1 before the last round, and what that emits."""
    spout: SpoutPending[str] = SpoutPending(maximum, tasks)
    root = 0
    while spout.begin_round():
        for _ in range(round_):
            spout.emit(root, f"m{root}")
            root += 1
        spout.end_round()
    assert len(spout) <= maximum * tasks - 1 + round_
    assert len(spout) == -(-maximum * tasks // round_) * round_


def test_a_root_is_over_once() -> None:
    """Messages after the first answer are ignored, as are those about roots that nobody emitted."""
    spout: SpoutPending[str] = SpoutPending()
    assert spout.begin_round()
    spout.emit(1, "a")
    assert spout.fail(1) == (Call(Outcome.FAIL, "a"),)
    assert spout.ack(1) == spout.fail(1) == spout.ack(2) == spout.tick() == spout.tick() == ()


def test_misuse_of_a_spout_changes_nothing() -> None:
    """An emit outside of a round, an id that is pending, and ids that are none."""
    spout: SpoutPending[str] = SpoutPending(1)
    with pytest.raises(SpoutMisuse, match="outside"):
        spout.emit(1, "a")
    assert spout.begin_round()
    spout.emit(1, "a")
    for call in (lambda: spout.emit(1, "b"), lambda: spout.emit(-1, "b"),
                 lambda: spout.ack(2**64), lambda: spout.reset_timeout(-1)):
        with pytest.raises(SpoutMisuse):
            call()
    assert len(spout) == 1
    assert spout.ack(1) == (Call(Outcome.ACK, "a"),)


@pytest.mark.parametrize(("maximum", "tasks"), [(-1, 1), (1, 0), ("1", 1), (True, 1)])
def test_a_maximum_and_a_number_of_tasks_are_whole_numbers(maximum: object, tasks: object) -> None:
    """0 is no limit; fewer than one task is no executor."""
    with pytest.raises(SpoutMisuse):
        SpoutPending(maximum, tasks)  # type: ignore[arg-type]
