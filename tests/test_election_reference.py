"""The reference of an election: which candidate leads, with which token, and what the store takes.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.reference.election import Contender, ElectionMisuse, GuardedStore, LockService

TIMEOUT = 40


def test_the_oldest_entry_leads_and_its_end_hands_over() -> None:
    """The second candidate leads when it learns that the first has gone."""
    service = LockService(TIMEOUT)
    first, second = Contender(service, 0), Contender(service, 0)
    assert (first.token(0), second.token(0)) == (first.number, None)
    first.resign(1)
    second.contact(1)
    assert (first.token(1), second.token(1)) == (None, second.number)


def test_who_is_out_of_touch_does_not_say_that_it_leads() -> None:
    """By its own clock, at the instant at which the service may have given it up."""
    service = LockService(TIMEOUT)
    alone = Contender(service, 0)
    assert alone.token(TIMEOUT - 1) is not None
    assert alone.token(TIMEOUT) is None


def test_a_session_that_has_ended_is_begun_again_at_the_end_of_the_line() -> None:
    """Its number is greater than that of the leader of the time."""
    service = LockService(TIMEOUT)
    first, second = Contender(service, 0), Contender(service, 0)
    old = first.number
    second.contact(TIMEOUT)
    service.tell_time(TIMEOUT)
    first.contact(TIMEOUT)
    second.contact(TIMEOUT)
    assert first.token(TIMEOUT) is None and second.token(TIMEOUT) == second.number
    assert old < second.number < first.number


def test_a_session_that_has_ended_enters_no_line() -> None:
    """The misuse is reported, and nothing has changed."""
    service = LockService(TIMEOUT)
    session = service.begin(0)
    service.end(session)
    with pytest.raises(ElectionMisuse, match="session-ended"):
        service.enter(session)
    assert service.head is None


@given(st.lists(st.integers(1, 6), max_size=12))
def test_the_tokens_that_a_store_takes_never_fall(tokens: list[int]) -> None:
    """And it refuses exactly those that are older than one that it has seen."""
    store, seen, taken = GuardedStore(), 0, []
    for token in tokens:
        accepted = store.write(token)
        assert accepted == (token >= seen)
        seen = max(seen, token)
        taken += [token] * accepted
    assert taken == sorted(taken)
