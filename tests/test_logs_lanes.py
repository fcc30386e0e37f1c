"""The first elements of a long lane are forgotten."""

from __future__ import annotations

import pytest

from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.kinds import Terms
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.systems.storm_topology.logs import LaneJudge


def judged(*last: tuple[str, int | None]) -> Notes:
    """The notes on a lane of ten elements, of which two or three are known at its last events."""
    notes = Notes()
    judge = LaneJudge("lane", Terms(), notes, None)
    sent = [(operation, item) for item in range(10) for operation in ("emits", "processes")]
    for line, (operation, item) in enumerate([*sent, *last]):
        judge.take(Event("lane", "p", operation, "point", item, line=line))
    judge.end()
    return notes


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LaneJudge, "WINDOW", 2)


def test_a_rest_names_no_element_that_could_be_forgotten() -> None:
    """All that was sent was processed."""
    notes = judged(("rest", None))
    assert not notes.unknown_keys
    assert not notes.violations


def test_an_element_that_is_forgotten_makes_the_order_unknown() -> None:
    """It may be one that was sent long ago, or none at all."""
    assert set(judged(("processes", 0)).unknown_keys) == {"STORM-C1", "STORM-C2"}
