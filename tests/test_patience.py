"""A limit of time is counted in seconds of an idle machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.computer.patience import (
    VARIABLE, Countdown, Overtime, factor, slowness, still_due, stretched,
)
from checkvalve.spec.notation.errors import InputError


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@given(seconds=st.integers(1, 100), slow=st.integers(1, 50), step=st.integers(1, 20))
def test_a_second_counts_the_less_the_slower_the_machine_is(
    seconds: int, slow: int, step: int
) -> None:
    """On a machine that is so many times slower, a limit lasts as many times longer."""
    clock = Clock()
    limit = Countdown(seconds, clock=clock, slow=lambda: float(slow))
    while not limit.over:
        clock.now += step
    assert seconds * slow - 1e-6 <= clock.now <= seconds * slow + step


def test_what_passed_while_the_machine_was_busy_does_not_count_as_idle_time() -> None:
    """Each stretch counts by how slow the machine was in it."""
    clock, speeds = Clock(), iter([10.0, 1.0])
    limit = Countdown(3, clock=clock, slow=lambda: next(speeds))
    clock.now = 20.0
    assert not limit.over
    clock.now = 21.0
    assert limit.over


def test_to_look_often_at_a_limit_costs_nothing() -> None:
    """The speed of the machine is asked for twice in a second, and when the limit would be over."""
    clock, asked = Clock(), []
    limit = Countdown(3.25, clock=clock, slow=lambda: asked.append(clock.now) or 1.0)
    while not limit.over:
        clock.now += 1 / 64
        assert limit.slice(9.0) == max(0.001, 3.25 - clock.now)
    assert (clock.now, asked) == (3.25, [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.25])


def test_the_user_can_stretch_all_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A factor in the environment; what is no factor is refused by name."""
    monkeypatch.setenv(VARIABLE, "3")
    clock = Clock()
    limit = Countdown(2, clock=clock, slow=lambda: 1.0)
    clock.now = 5.0
    assert not limit.over
    for wrong in ("", "-1", "0", "nan", "inf", "soon"):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(InputError, match=VARIABLE):
            factor()


def test_a_machine_is_never_faster_than_itself() -> None:
    """A measured speed only ever stretches a limit."""
    assert 1.0 <= slowness() <= 50.0


def test_a_reply_is_late_only_when_an_idle_machine_would_have_given_it() -> None:
    """A reply that took its limit by the clock has as much more as the machine is slower."""
    assert still_due(5.0, 5.0, slow=lambda: 1.0) == 0
    assert still_due(5.0, 5.0, slow=lambda: 4.0) == 15.0
    assert still_due(5.0, 21.0, slow=lambda: 4.0) < 0


def test_a_time_that_another_program_keeps_is_stretched_but_not_without_end(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session of 2 s lasts that long at least, and 16 s at most."""
    assert 2.0 <= stretched(2.0, 8) <= 16.0
    monkeypatch.setenv(VARIABLE, "1000")
    assert stretched(2.0, 8) == 16.0


@given(limit=st.integers(1, 100), share=st.sampled_from([0.0, 0.5, 0.875]), disk=st.booleans())
def test_what_a_process_waits_for_a_core_or_a_disk_does_not_make_it_late(
    limit: int, share: float, disk: bool
) -> None:
    """It has a quarter of its limit for itself, however long that takes; waits for a disk end, too.
    """
    clock = Clock()
    overtime = Overtime(0, limit, clock=clock, kept=lambda _: (clock.now * share, disk))
    while (left := overtime.slice()) > 0:
        clock.now += left
    due = limit * 50.0 if disk else limit / 4 / (1 - share)
    assert due - 1e-6 <= clock.now <= due + 0.25


def test_there_is_no_overtime_where_nothing_says_what_a_process_waits_for() -> None:
    """As on a system without /proc, or of a process that has ended."""
    assert Overtime(0, 5.0, kept=lambda _: None).slice() == 0
    assert Overtime(2**22 + 1, 5.0).slice() == 0
