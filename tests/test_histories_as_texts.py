"""Histories as texts, as a port reads them: once for all readers."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from checkvalve.conformance.ports.histories import About, Histories


class Event(NamedTuple):
    """An event of a toy."""

    at: int
    what: str
    about: tuple[int | str, ...]


def toy(read: list[str]) -> Histories[Event]:
    """Histories of ticks; ``read`` gets each text that has to be looked at."""
    def said(text: str) -> About | None:
        read.append(text)
        what, _, rest = text.partition(" ")
        return (what, (rest,)) if what == "tick" else None
    return Histories(Event, said)


def test_a_text_is_looked_at_once_at_whatever_instant() -> None:
    """The check, the conversation and the judge read the same; and so do later runs."""
    read: list[str] = []
    rows = ["1 tick a", "2 tick a", "2 tick b"]
    histories = toy(read)
    assert histories.are(rows) and histories.are(["7 tick a"])
    assert list(histories.events(rows)) == [
        Event(1, "tick", ("a",)), Event(2, "tick", ("a",)), Event(2, "tick", ("b",))]
    assert isinstance(histories.events(rows)[0], Event)
    assert read == ["tick a", "tick b"]


@pytest.mark.parametrize("rows", [
    "1 tick a", None, 1, ["1 tock"], ["tick a"], ["-1 tick a"], ["1.0 tick a"], ["1"], [""],
    [1], [None], [["1 tick a"]], ["1 tick a", {}], ["9" * 16 + " tick a"], ["² tick a"],
])
def test_what_is_no_list_of_events_is_refused(rows: object) -> None:
    """Any value may come as a reply."""
    assert not toy([]).are(rows)
