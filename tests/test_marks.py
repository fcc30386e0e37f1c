"""A receiver with two marks: the reference, and the standard library's reader of a stream."""

from __future__ import annotations

import pytest
from checkvalve.conformance.campaigns.case import RunSettings
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.systems.marks.mechanism import MarksOfTheBook
from checkvalve.conformance.systems.marks.twins import TWINS
from checkvalve.reference.flow.link import LinkMisuse
from checkvalve.reference.flow.marks import Watermarks
from checkvalve.spec.flow.marks_seen import EXPECTATIONS, MarksSeen
from checkvalve.spec.refinements import Refinement
from hypothesis import given
from hypothesis import strategies as st


@given(low=st.integers(0, 4), more=st.integers(0, 4),
       steps=st.lists(st.tuples(st.booleans(), st.integers(1, 6)), max_size=40))
def test_what_was_said_last_is_what_has_to_be_said(
    low: int, more: int, steps: list[tuple[bool, int]]
) -> None:
    """Stop above the high mark, go at the low one, and between them what was said last."""
    marks, high, held, stopped = Watermarks(low, low + more + 1), low + more + 1, 0, False
    for comes, count in steps:
        if comes:
            held += count
            said = marks.arrive(count)
            assert said == (not stopped and held > high)
            stopped = stopped or said
        else:
            given_, said = marks.take(count)
            assert given_ == min(count, held)
            held -= given_
            assert said == (stopped and held <= low)
            stopped = stopped and not said
        assert (marks.held, marks.stopped) == (held, stopped)


@given(low=st.integers(0, 4), more=st.integers(0, 4),
       steps=st.lists(st.tuples(st.sampled_from(("arrive", "take")), st.integers(1, 6)),
                      max_size=40))
def test_the_receiver_of_the_book_answers_as_the_reference_does(
    low: int, more: int, steps: list[tuple[str, int]]
) -> None:
    """So what a variant of it answers otherwise is the variant's fault."""
    book, ours = (of(low, low + more + 1) for of in (MarksOfTheBook, Watermarks))
    for do, count in steps:
        assert getattr(book, do)(count) == getattr(ours, do)(count)


def test_each_variant_that_the_observer_refuses_is_a_twin_for_its_rule() -> None:
    """Written once, in the chapter."""
    refused = {row.machine.__name__: row.rule for row in EXPECTATIONS
               if isinstance(row, Refinement) and row.rule and row.shows is MarksSeen}
    made = {twin.parts["core"].__name__: twin.rule for twin in TWINS.values()
            if issubclass(twin.parts["core"], MarksOfTheBook)}
    assert made == refused
    assert len(made) == 5


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (0, 0), (3, 2)])
def test_marks_the_wrong_way_round_are_refused(low: int, high: int) -> None:
    """And nobody brings or takes nothing."""
    with pytest.raises(LinkMisuse):
        Watermarks(low, high)
    for call in (Watermarks(0, 1).arrive, Watermarks(0, 1).take):
        with pytest.raises(LinkMisuse):
            call(0)


def test_the_standard_librarys_reader_keeps_its_marks() -> None:
    """Its high mark is twice its limit, and its low mark the limit."""
    report, rows = conduct("asyncio.StreamReader", Order("marks", settings=RunSettings()))
    assert {each.verdict for each in report.results} == {"passed"}
    assert conduct("asyncio.StreamReader", Order("marks", settings=RunSettings()))[1] == rows
