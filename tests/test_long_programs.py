"""Long programs, the places of their cases, values of items, and steps that may be several."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkvalve.conformance.campaigns.case import RunSettings, case_at, run_case
from checkvalve.conformance.campaigns.places import LONG_EVERY, is_long, place_of, turn_of
from checkvalve.conformance.campaigns.summary import summarise
from checkvalve.conformance.suites.results import PASSED, VIOLATED
from checkvalve.conformance.suites.exchange import Act
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.suites.lengthy import Long, long_acts
from checkvalve.conformance.suites.run import run_program
from checkvalve.conformance.suites.values import STYLES, Payloads, in_words
from checkvalve.conformance.systems.queue.suite import SUITE
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.spec.engines.candidates import CandidateSets, alternatives_of, either
from checkvalve.spec.notation.bound import bind, bind_to_watch
from checkvalve.spec.notation.errors import InputError
from checkvalve.spec.queues.queue import BoundedQueue

LONG_CASE = LONG_EVERY - 1
REFERENCE = resolve_target("reference")


# ---- places ----------------------------------------------------------------------------------

@given(st.integers(0, 10**6))
def test_the_place_of_a_turn_is_that_of_a_short_case_with_this_turn(turn: int) -> None:
    """So each rule comes into focus as if there were no long cases."""
    assert not is_long(place_of(turn)) and turn_of(place_of(turn)) == turn


def test_one_of_ten_places_is_long() -> None:
    """Whatever the number of cases."""
    assert [place for place in range(40) if is_long(place)] == [9, 19, 29, 39]


# ---- programs --------------------------------------------------------------------------------

def test_a_long_case_makes_a_thousand_requests_with_a_size_that_no_other_has() -> None:
    """And its row says both."""
    assert SUITE.long is not None
    row = run_case("queue", "reference", case_at("queue", LONG_CASE, 0), RunSettings())
    assert row.verdict == PASSED and row.longest >= 1_000
    assert row.capacity == SUITE.long.sizes[0] not in SUITE.capacities


def test_a_run_says_which_sizes_it_tried() -> None:
    """In a sentence, with the longest program."""
    rows = [run_case("queue", "reference", case_at("queue", place, 0), RunSettings(programs=1))
            for place in (0, LONG_CASE)]
    assert summarise("queue", "reference", rows).tried.startswith("Capacities tried: 1, 7; ")


def test_a_long_program_is_a_function_of_its_seed() -> None:
    """And of nothing else."""
    one, other = (SUITE.lengthy(("put", "take", "offer", "poll"), 5, 3) for _ in range(2))
    assert one == other and one != SUITE.lengthy(("put", "take", "offer", "poll"), 6, 3)


def test_what_ends_a_program_comes_late_in_it() -> None:
    """Else little would be left to ask for the most of it."""
    long = Long(ending=("close",), requests=100)
    acts = long_acts(Random(1), long, {"put": 1, "close": 1}, ("put", "close"), 1, range(3), {})
    first = next(at for at, act in enumerate(acts) if act.do == "close")
    assert first > 2 / 3 * len(acts)


def test_a_breach_in_a_long_program_is_shrunk_as_any_other() -> None:
    """A stack from four items on is shown in five steps."""
    row = run_case("queue", "zoo:stack-from-four", case_at("queue", LONG_CASE, 0), RunSettings())
    assert row.rule == "QUEUE-3" and read_fixture(row.fixture, "a row").length <= 8


_LOSING = """
from asyncio import Queue

class Losing(Queue):
    entered = 0

    def _put(self, item):
        self.entered += 1
        if self.entered % 256:
            super()._put(item)
"""


def test_a_loss_behind_newcomers_that_overtake_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newcomers overtake at asyncio's queue (QUEUE-12), long before the byte wraps."""
    (tmp_path / "losing_a_byte.py").write_text(_LOSING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    case = case_at("awaits.queue", LONG_CASE, 0)
    row = run_case("awaits.queue", "asyncio:losing_a_byte:Losing", case, RunSettings(shrinks=5))
    assert row.verdict == VIOLATED and row.rule != "QUEUE-12"


def test_the_story_of_a_long_failure_has_its_beginning_and_its_end() -> None:
    """And says how much is left out; the fixture has all of it."""
    row = run_case("queue", "zoo:silent-drop-after-300", case_at("queue", LONG_CASE, 0),
                   RunSettings(shrinks=5))
    fixture = read_fixture(row.fixture, "a row")
    assert fixture.length > 300 and len(fixture.story()) < 40
    assert any("steps more" in line for line in fixture.story())


@pytest.mark.parametrize("capacity", [30, 200])
def test_large_queues_are_filled_by_short_programs(capacity: int) -> None:
    """A queue that is full refuses: that is exercised, and nothing is broken."""
    case = case_at("queue", 0, 0)       # looks for QUEUE-1
    row = run_case("queue", "reference", case, RunSettings(capacity=capacity))
    assert row.verdict == PASSED and '"QUEUE-1": 0' not in row.exercised


# ---- values ----------------------------------------------------------------------------------

@pytest.mark.parametrize("style", STYLES)
def test_the_values_of_a_style_are_distinct_unless_they_are_equal(style: str) -> None:
    """So that identities are known, but where they are meant not to be."""
    values = [STYLES[style](Random(0), number) for number in range(200)]
    assert (len({(type(value), value) for value in values}) == 200) == ("equal" not in style)


def test_equal_items_of_a_sound_queue_raise_no_alarm() -> None:
    """Whichever of them came out: one that waited, or one that was inside."""
    for seed in range(40):
        random = Random(seed)
        acts = tuple(Act(random.choice(("put", "offer", "take", "poll", "settle", "cancel")),
                         random.randrange(3)) for _ in range(14))
        equal = Payloads({"put": "item", "offer": "item"}, equal=True)
        program = tuple(act._replace(about=(("item", random.choice(("x", "y"))),))
                        if act.do in equal.fields else act for act in acts)
        assert not run_program(SUITE, REFERENCE, program, 2).breaches


@pytest.mark.parametrize(("value", "words"), [
    ("a1", "a1"), (0, "0"), ("0", '"0"'), ("é", '"é"'), ("two words", '"two words"')])
def test_a_value_in_words_is_told_from_another(value: object, words: str) -> None:
    """A text that looks like a number has quotes."""
    assert in_words(value) == words


def test_a_long_value_is_cut_in_words() -> None:
    """Its beginning and its end are shown."""
    assert len(in_words("x" * 200)) <= 26


# ---- steps that may be several ---------------------------------------------------------------

def test_either_of_some_steps_leads_where_each_of_them_leads() -> None:
    """The candidates after it are those after any of them."""
    sets = CandidateSets(bind(BoundedQueue, C=2, K=4, T=2, W=2))
    here = sets.after(sets.initial, ("put_waits", ()))
    assert here is not None
    here = sets.after(here, ("offer_accepted", ()))
    assert here is not None
    step = either("poll_item", "item", (0, 1))
    both = sets.after(here, step)
    each = [sets.after(here, one) for one in alternatives_of(step)]
    assert both is not None
    assert both.states == frozenset().union(*(one.states for one in each if one is not None))


def test_either_is_refused_only_where_all_of_its_steps_are() -> None:
    """With the rules of all of them."""
    sets = CandidateSets(bind(BoundedQueue, C=2, K=4, T=2, W=2))
    here = sets.after(sets.initial, ("offer_accepted", ()))
    assert here is not None
    assert sets.refused(here, either("poll_item", "item", (0, 1))) is None
    assert sets.refused(here, either("poll_item", "item", (1, 2)))


# ---- what only watches -----------------------------------------------------------------------

def test_a_machine_that_watches_may_have_any_number_of_instances() -> None:
    """Nobody lists them; an engine that does refuses."""
    bind_to_watch(BoundedQueue, C=3, K=1_200, T=600, W=3)
    with pytest.raises(InputError, match="instances"):
        bind(BoundedQueue, C=3, K=1_200, T=600, W=3)
