"""Identities that are over are remembered within bounds, and what is forgotten is known."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.columns.over import Over
from checkvalve.conformance.columns.rows import ITEM_MAX

CHUNKS = st.lists(st.lists(st.tuples(st.integers(0, 2), st.one_of(
    st.integers(0, 130), st.integers(0, 5_000).map(lambda number: 64 * number))), max_size=80),
    max_size=8)


def numbers(some: list[tuple[int, int]]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Keys with items, each as one number."""
    return np.array([key * ITEM_MAX + item for key, item in some], np.int64)


@given(CHUNKS, st.integers(0, 8))
def test_what_is_not_remembered_is_of_a_key_at_which_some_were_forgotten(
    chunks: list[list[tuple[int, int]]], most: int
) -> None:
    """Nothing else is ever remembered, and of keys without gaps all is."""
    over, added = Over(most), set[tuple[int, int]]()
    for chunk in chunks:
        over.add(numbers(chunk))
        added.update(chunk)
    asked = sorted(added | {(key, item + 1) for key, item in added})
    for one, has in zip(asked, over.has(numbers(asked)).tolist(), strict=True):
        assert has <= (one in added)
        assert has or one not in added or over.has_forgotten(one[0])
    if len({(key, item >> 6) for key, item in added}) <= most:
        assert not any(map(over.has_forgotten, range(3)))


@given(CHUNKS, st.integers(0, 130))
def test_items_whose_names_are_forgotten_are_forgotten_and_no_others(
    chunks: list[list[tuple[int, int]]], least: int
) -> None:
    """A piece of 64 with an item that may be named stays."""
    over, added = Over(1_000), {one for chunk in chunks for one in chunk}
    over.add(numbers(sorted(added)))
    over.forgets(least)
    for key, item in added:
        if item >= least:
            assert over.has(numbers([(key, item)])).all()
        elif not over.has(numbers([(key, item)])).all():
            assert over.has_forgotten(key)


def test_numbers_with_gaps_take_no_more_than_what_may_be_remembered() -> None:
    """Whatever their number; the last ones are known. Without gaps there is one run."""
    for step, most in ((2, 50), (1, 0)):
        over = Over(most)
        for begin in range(0, 1 << 16, 1 << 10):
            over.add(np.arange(begin, begin + (1 << 10), step))
            assert over.size <= most + 1
        assert over.has(np.array([(1 << 16) - 2])).all()
        assert over.has_forgotten(0) is (step == 2)
        assert over.has(np.array([0])).all() is np.bool_(step == 1)
