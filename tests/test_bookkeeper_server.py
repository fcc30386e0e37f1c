"""The reference server for real: clients that do not read, and a disk that stalls."""

from __future__ import annotations

import pytest

from checkvalve.conformance.bench.bookie import ADDERS, TERMS, WINDOW, Measured, measure


@pytest.fixture(scope="module")
def measured() -> Measured:
    """A short run; it ends when all entries were added."""
    return measure(adds=ADDERS * 60, stall=0.01)


def test_nothing_ever_exceeds_its_bound(measured: Measured) -> None:
    """Requests in progress, bytes in memory, requests read, bytes to be sent."""
    assert [row for row in measured.rows() if row[1] > row[2]] == []


def test_a_stalled_disk_holds_as_many_adds_as_the_limit(measured: Measured) -> None:
    """There were more to come, and they stayed with their clients."""
    assert ADDERS * WINDOW > TERMS.limits.adds
    assert measured.peaks.adds == TERMS.limits.adds


def test_a_client_that_never_reads_keeps_no_response_waiting(measured: Measured) -> None:
    """Its responses are dropped, and the others' adds are answered all the same."""
    assert measured.peaks.dropped >= TERMS.limits.reads
    assert measured.peaks.written >= measured.adds
