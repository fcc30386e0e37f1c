"""Numbers by chance in the reference's runs: those of ``Random``, by a shorter way."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from checkvalve.reference.numbers import below, shuffled


@settings(max_examples=40, deadline=None)
@given(st.integers(), st.lists(st.integers(1, 1 << 40), max_size=9))
def test_a_number_below_a_limit_is_the_one_that_random_draws(seed: int, limits: list[int]) -> None:
    """One after the other, so the state of the generator is the same after each."""
    ours, theirs = Random(seed), Random(seed)
    assert [below(ours, each) for each in limits] == [theirs.randrange(each) for each in limits]


@settings(max_examples=40, deadline=None)
@given(st.integers(), st.lists(st.integers(), max_size=20))
def test_an_order_is_the_one_that_random_draws(seed: int, things: list[int]) -> None:
    """And the list that is given stays as it is."""
    ours, theirs, before = Random(seed), Random(seed), list(things)
    found = shuffled(ours, things)
    assert things == before
    theirs.shuffle(things)
    assert found == things and ours.getstate() == theirs.getstate()
