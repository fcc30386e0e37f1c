"""The algebra of the acker is what the chapter says it is, for all 64-bit ids."""

from __future__ import annotations

import re
from functools import reduce
from operator import xor

import pytest
from checkvalve.spec.lemmas import Lemma, decide
from checkvalve.spec.storm.acking.xor import LEMMAS
from hypothesis import given
from hypothesis import strategies as st

IDS = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8)


@pytest.mark.parametrize("lemma", LEMMAS, ids=lambda lemma: lemma.id)
def test_every_lemma_has_the_verdict_that_is_expected_of_it(lemma: Lemma) -> None:
    """Z3 proves it, or finds ids that refute it."""
    assert decide(lemma).outcome.value == lemma.verdict


def test_three_distinct_ids_other_than_zero_can_cancel() -> None:
    """The ids that refute STORM-X5 are distinct, not zero, and xor to zero."""
    (lemma,) = (lemma for lemma in LEMMAS if lemma.id == "STORM-X5")
    ids = [int(number) for number in re.findall(r"= (\d+)", decide(lemma).reason)]
    assert len(set(ids)) == len(ids) == 3
    assert 0 not in ids
    assert reduce(xor, ids) == 0


@given(IDS)
def test_xoring_in_any_order_toggles_membership(ids: list[int]) -> None:
    """The xor of ids is the xor of those that occur an odd number of times: for independent ids the
    value is a set, as the chapter has it.
    """
    left: set[int] = set()
    for number in [*ids, *ids[::2], *ids[::3]]:
        left ^= {number}
    assert reduce(xor, [*ids[::3], *ids[::2], *ids], 0) == reduce(xor, left, 0)
