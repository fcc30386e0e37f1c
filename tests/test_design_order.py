"""Order per sender and receiver: by construction, and with two marked elements."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.random_designs.plain_order import plain_order, two_ways
from checkvalve.conformance.designs import check_design
from checkvalve.spec.design.loader import load
from checkvalve.spec.design.why.findings import Finding
from checkvalve.spec.verdicts.verdict import Outcome

OVERFLOW = """
checkvalve: 2
name: overflow
tasks:
  sender: {kind: source}
  ingress: {kind: route, by: room}
  worker: {kind: merge, policy: preferred, prefers: recv}
  done: {kind: sink}
links:
  - {from: sender, to: ingress, capacity: 1}
  - {name: recv, from: ingress, to: worker, capacity: 2}
  - {name: overflow, from: ingress, to: worker, capacity: 2}
  - {from: worker, to: done, capacity: 1}
expect: {ordered: violated}
"""
ONE_WAY = """
checkvalve: 2
name: one way
tasks:
  a: {kind: source}
  b: {kind: source}
  both: {kind: merge, hand: 2}
  work: {kind: map, hand: 1, pool: threads}
  done: {kind: sink}
links:
  - {from: a, to: both, capacity: 500}
  - {from: b, to: both, capacity: 500}
  - {from: both, to: work, capacity: 3, flow: drop-oldest}
  - {from: work, to: done, capacity: 3}
pools: {threads: {threads: 3}}
expect: {ordered: holds}
"""


def ordered(text: str) -> Finding:
    """The finding on order."""
    return check_design(text).finding("ordered")


def test_an_overflow_beside_a_queue_that_is_read_first_loses_the_order() -> None:
    """The shortest schedule: the first goes to the overflow, the second past it."""
    found = ordered(OVERFLOW)
    assert found.outcome is Outcome.VIOLATED and len(found.steps) == 10
    assert found.reason == "done reads the second of two elements of sender before the first"
    assert found.steps[-1] == "done reads from worker->done, (the first)"


def test_one_way_keeps_the_order_by_construction() -> None:
    """However large, and whatever is dropped on it."""
    found = ordered(ONE_WAY)
    assert found.outcome is Outcome.HOLDS and "by construction" in found.method


def test_several_threads_may_overtake_each_other() -> None:
    """A hand of a pool has an element for each thread."""
    text = ONE_WAY.replace("capacity: 500", "capacity: 1").replace(
        "hand: 1, pool", "hand: 2, pool").replace("capacity: 3", "capacity: 1").replace(
        ", hand: 2}", "}")
    assert ordered(text).outcome is Outcome.VIOLATED
    one = text.replace("threads: 3}", "threads: 1}")
    assert ordered(one).outcome is Outcome.HOLDS


def test_a_link_of_capacity_0_on_one_of_two_ways_is_left_open() -> None:
    """With the reason, and no guess."""
    found = ordered(OVERFLOW.replace("{name: recv, from: ingress, to: worker, capacity: 2}",
                                     "{name: recv, from: ingress, to: worker, capacity: 0}"))
    assert found.outcome is Outcome.UNKNOWN and "capacity 0" in found.reason


@pytest.mark.parametrize("seed", range(6))
def test_the_marked_elements_go_where_queues_of_elements_would_take_them(seed: int) -> None:
    """The same verdict and the same number of steps as by the plainest algorithm."""
    text = two_ways(Random(seed))
    found, plain = ordered(text), plain_order(load(text), "s", "t")
    assert (found.outcome is Outcome.VIOLATED) == (plain is not None)
    assert plain is None or len(found.steps) == plain
