"""Nothing is known of a key that was forgotten and comes back."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from checkvalve.conformance.engines.log_pieces import FORGOTTEN, piece_judged
from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.kinds import Terms

TERMS = Terms({"law": 4})


def piece(*events: tuple[str, str, int]) -> list[tuple[str, int, str]]:
    """Events of one key, each with its operation, item and time, as a task of a cluster has them.
    """
    return [("f", line, json.dumps([*Event("k", "p", operation, "point", item, time=time), None]))
            for line, (operation, item, time) in enumerate(events)]


def found(kept: bytes | None, events: Sequence[tuple[str, str, int]]) -> list[tuple[str, str]]:
    """The findings in a piece, each with its rule."""
    return [(row["found"], row["rule"])
            for row in piece_judged("delivery", TERMS, "k", kept, piece(*events))[1]]


AGAIN = [("receive", "x", 1), ("ack", "x", 2), ("receive", "x", 3)]


def test_what_was_published_before_a_key_was_forgotten_is_not_made_up() -> None:
    """The key is judged from the middle on; a new key is not."""
    assert found(FORGOTTEN, AGAIN) == []
    assert found(None, AGAIN) == [("violated", "DELIV-6")]


def test_what_happens_after_a_key_was_forgotten_is_judged() -> None:
    """A message that is published then has to keep the rules."""
    assert found(FORGOTTEN, [*AGAIN, ("publish", "y", 4), ("receive", "y", 5), ("ack", "y", 6),
                             ("receive", "y", 7)]) == [("violated", "DELIV-6")]


@pytest.mark.parametrize("pieces", [1, 2])
def test_a_key_that_was_not_forgotten_continues_where_it_was(pieces: int) -> None:
    """The published message may be given; once."""
    kept, rows, _ = piece_judged("delivery", TERMS, "k", None, piece(("publish", "x", 0)))
    for events in ([AGAIN] if pieces == 1 else [AGAIN[:2], AGAIN[2:]]):
        kept, more, _ = piece_judged("delivery", TERMS, "k", kept, piece(*events))
        rows += more
    assert [row["rule"] for row in rows] == ["DELIV-6"]


def test_a_forgotten_master_is_judged_from_all_states_over_pieces() -> None:
    """Its judge is kept with its states: a job may be dropped that waited before, and no more of
    them than there are places."""
    terms, kept, found = Terms({"places": 1}), FORGOTTEN, []
    for events in ([("drops", "x", 1)], [("rest", "", 2)], [("drops", "y", 3)]):
        kept, rows, _ = piece_judged("jobs", terms, "k", kept, piece(*events))
        found += [(row["found"], row["rule"]) for row in rows]
    assert found == [("violated", "FLOW-52")]
