"""Recordings of real brokers, pools and servers are judged as they have to be."""

from __future__ import annotations

import pytest

from benchmarks.recordings import KEPT, RECORDINGS, Recording, is_right, judged


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda each: each.name.split(".jsonl")[0])
def test_a_recording_is_blamed_for_its_fault_alone(recording: Recording) -> None:
    """Nothing is said of one without a fault: no violation, nothing unknown, no foreign event."""
    found, unknown, foreign = judged(recording, KEPT / recording.name)
    assert is_right(recording, found, unknown, foreign), (found, unknown, foreign)


def test_every_recording_that_is_kept_is_one_of_the_list() -> None:
    """``python -m benchmarks.recordings --keep`` makes them anew."""
    assert {path.name for path in KEPT.iterdir()} == {each.name for each in RECORDINGS}
