"""The purgatory benchmark's workload, contenders and driver, in virtual time."""

from __future__ import annotations

from math import inf, sqrt

import pytest

from benchmarks.purgatory.contenders import CONTENDERS, NewPurgatory
from benchmarks.purgatory.driver import Measured, in_real_time, in_virtual_time
from benchmarks.purgatory.rows import Plan, Row, aims
from benchmarks.purgatory.workload import CASES, Case, Settings, draw, keys_of

SETTINGS = Settings()
LOW, HIGH = CASES


def measure(name: str, case: Case, rate: float, count: int) -> Measured:
    """A contender's run in virtual time."""
    contender = CONTENDERS[name](SETTINGS)
    measured = in_virtual_time(contender, draw(case, rate, count, SETTINGS.seed), SETTINGS)
    contender.close()
    return measured


@pytest.mark.parametrize(("case", "fraction", "pending"), [
    (LOW, 0.078730, 47.01), (HIGH, 0.5, 151.57),
])
def test_the_predictions_are_those_of_the_parameters(
    case: Case, fraction: float, pending: float,
) -> None:
    """1 - Phi, and E[min(latency, timeout)], agree with what was computed by other means."""
    assert case.expired(200) == pytest.approx(fraction, abs=5e-7)
    assert case.pending_ms(200) == pytest.approx(pending, abs=0.005)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_many_requests_expire_as_predicted(case: Case) -> None:
    """The drawn fraction is within four standard deviations of the prediction."""
    count, expected = 100_000, case.expired(200)
    drawn = draw(case, 100_000, count, 1).expired(200) / count
    assert abs(drawn - expected) < 4 * sqrt(expected * (1 - expected) / count)


def test_no_part_of_an_interval_is_lost() -> None:
    """Intervals are cut to whole ms with the rest carried, so the rate is right in the end."""
    arrivals = draw(LOW, 300_000, 100_000, 1).arrivals
    assert arrivals == sorted(arrivals)
    assert len(arrivals) / arrivals[-1] * 1000 == pytest.approx(300_000, rel=0.02)


def test_without_a_target_every_request_comes_at_once() -> None:
    """And takes as long as with any target, for the latencies are drawn by themselves."""
    free, bound = draw(HIGH, inf, 100, 1), draw(HIGH, 5, 100, 1)
    assert free.arrivals == [0] * 100 and free.latencies == bound.latencies


def test_all_requests_watch_the_same_few_keys() -> None:
    """They are drawn once for each run, from the key space."""
    assert keys_of(SETTINGS) == keys_of(SETTINGS) and len(keys_of(SETTINGS)) <= SETTINGS.keys


@pytest.mark.parametrize("name", CONTENDERS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_contender_expires_the_same_requests(name: str, case: Case) -> None:
    """Those with a latency of the timeout or more, and nothing is left over."""
    measured = measure(name, case, 3_000, 900)
    assert measured.requests == 900 and measured.left == 0
    assert measured.expired == draw(case, 3_000, 900, SETTINGS.seed).expired(200)


@pytest.mark.parametrize("name", CONTENDERS)
def test_a_run_in_virtual_time_repeats_itself(name: str) -> None:
    """Everything but the clock's and the processor's time is the same again."""
    first, second = (measure(name, LOW, 10_000, 3_000) for _ in range(2))
    for figure in ("requests", "expired", "largest_size", "largest_pending", "purges", "left"):
        assert getattr(first, figure) == getattr(second, figure)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_wheels_hold_what_is_pending_and_nothing_else(case: Case) -> None:
    """The largest size is the largest number pending, and near the rate times the mean wait."""
    measured = measure(NewPurgatory.name, case, 100_000, 40_000)
    assert measured.largest_size == measured.largest_pending
    assert measured.largest_size == pytest.approx(100 * case.pending_ms(200), rel=0.1)


def test_a_run_in_real_time_ends_with_everything_over() -> None:
    """A timeout of 5 ms: each request is completed or has expired."""
    settings = Settings(timeout=5)
    workload = draw(LOW, 10_000, 100, 1)
    measured = in_real_time(NewPurgatory(settings), workload, settings)
    assert (measured.requests, measured.left) == (100, 0)
    assert measured.expired == workload.expired(5)


def test_a_run_that_reaches_its_limit_stops() -> None:
    """Requests until then are counted, and no more come."""
    workload = draw(LOW, inf, 100_000, 1)
    settings = Settings(timeout=5)
    measured = in_real_time(NewPurgatory(settings), workload, settings, limit=0.005)
    assert measured.requests < 100_000


@pytest.mark.parametrize("rate", [2000, inf])
def test_a_run_whose_time_is_over_before_it_begins_has_requests_all_the_same(rate: float) -> None:
    """A process that got no processor meanwhile would else have nothing to divide by."""
    workload = draw(LOW, rate, 100, 1)
    settings = Settings(timeout=5)
    measured = in_real_time(NewPurgatory(settings), workload, settings, limit=0.0)
    assert 0 < measured.requests <= 100 and measured.left == 0


def test_a_ratio_is_the_median_of_pairs() -> None:
    """Two runs made one after the other are compared with each other."""
    fast, slow = (
        Row("real", LOW, "any", inf,
            tuple(Measured(requests=count, seconds=1.0) for count in counts))
        for counts in ((100, 50, 10), (10, 10, 10)))
    assert fast.over(slow) == 5


def test_an_aim_that_is_missed_is_shown() -> None:
    """Each aim for which there are rows comes back, with whether it was met."""
    def row(name: str, count: int) -> Row:
        run = Measured(requests=count, seconds=1.0, largest_size=120, largest_pending=100)
        return Row("real", HIGH, name, inf, (run,))

    found = list(aims([row("new purgatory", 104_999), row("old purgatory", 10_000)], Plan()))
    assert [aim.met for aim in found] == [False, True, False]
