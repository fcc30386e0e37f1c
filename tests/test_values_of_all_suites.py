"""Items, names, keys and amounts of any value in all suites that have them; and sizes that matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from benchmarks import values
from benchmarks.sabotage import runs
from benchmarks.sabotage.replies import hushed
from benchmarks.sabotage.report import is_good, marked
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings, case_at, row_of, run_case
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.ports.base import Kind, Message
from checkvalve.conformance.suites.results import PASSED, VIOLATED
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.suites.run import capabilities, items_for
from checkvalve.conformance.suites.suite import Act, Suite
from checkvalve.conformance.suites.twin import stack_from
from checkvalve.conformance.suites.values import KEYS, Payloads, unlike
from checkvalve.conformance.systems.catalogue import SYSTEMS, port_named, system_of, zoo
from checkvalve.conformance.systems.queue.reference import ReferenceQueue
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.conformance.zoo.default_run import NAMED, find
from checkvalve.reference.queue import BoundedQueue

CONVERSING = [name for name, system in SYSTEMS.items() if isinstance(system.suite, Suite)]
DRESSED = [name for name in CONVERSING if system_of(name).suite.payloads]


# ---- values ----------------------------------------------------------------------------------

@pytest.mark.parametrize("name", [
    "jobs-drops-equal-names", "jobs-reads-numbers", "marks-asks-in-16-bits",
    "summaries-loses-nought", "batch-drops-equal-values", "publisher-keeps-32-bits",
    "subscriber-loses-what-is-false", "processor-in-cuts-long-texts",
    "closing-drops-equal-items", "closing-loses-numbers", "memtable-names-of-32-bits",
    "memtable-lengths-of-32-bits", "bookie-cuts-names", "partition-commits-31-bits",
    "publisher-requests-in-32-bits", "input-counts-in-16-bits",
    "purgatory-ignores-case", "purgatory-wraps-at-16-bits", "purgatory-takes-nought-for-never",
    "purgatory-one-for-each-deadline", "link-sends-16-bits", "link-keeps-32-bits",
    "counted-numbers-in-32-bits", "counted-limits-in-31-bits", "condition-wakes-all-for-none",
    "condition-wakes-none-of-few", "rate-idles-in-31-bits", "rate-log-idles-in-32-bits",
    "timer-counts-nanoseconds", "partition-waits-in-32-bits", "drops-alike-but-for-case",
    "delivery-ignores-case"])
def test_a_twin_that_looks_at_values_is_named_by_a_default_run(name: str) -> None:
    """The value may be an item, a name, a key, an offset or an amount."""
    assert find(name).verdict == NAMED


@pytest.mark.parametrize("suite", DRESSED)
def test_a_request_of_any_value_can_be_made_again(suite: str) -> None:
    """A fixture has the requests: of each, the act is found that makes it."""
    target = resolve_target(system_of(suite).reference.name)
    of = system_of(suite).suite
    can = capabilities(of, target, *of.capacities)
    for seed in range(12):
        acts = (Act(random.choice([do for do in of.weights if do in can]), random.randrange(12))
                for random in [Random(seed)] for _ in range(14))
        program = of.payloads.dressed(acts, Random(seed))
        _made_again(of, target, program)


def _made_again(suite: Suite, target: object, program: tuple[Act, ...]) -> None:
    first, second = target.open(), target.open()  # type: ignore[attr-defined]
    try:
        talk, again = (suite.converse(each, suite.capacities[-1], items_for(program))
                       for each in (first, second))
        for act in program:
            if talk.makes_sense(act):
                request = talk.say(act).request
                found = again.act_for(request)
                assert found is not None
                assert again.say(found).request == request
    finally:
        first.close()
        second.close()


@pytest.mark.parametrize("style", KEYS)
def test_no_two_keys_of_a_style_are_equal(style: str) -> None:
    """However many there are."""
    values = [KEYS[style](Random(0), number) for number in range(300)]
    assert len({(type(value), value) for value in values}) == 300


def test_keys_that_are_alike_are_alike() -> None:
    """In their last 32 bits, or but for their case."""
    numbers = [KEYS["numbers alike in 32 bits"](Random(0), number) for number in range(9)]
    assert {int(number) % 2**32 for number in numbers} == {0}
    texts = [KEYS["texts alike but for their case"](Random(0), number) for number in range(9)]
    assert len({str(text).lower() for text in texts}) == 1


def test_amounts_are_at_their_ends_now_and_then() -> None:
    """And not always."""
    payloads = Payloads({}, ends={"take": ("most", (2**31,))})
    acts = payloads.dressed([Act("take")] * 200, Random(0))
    assert 20 < sum(act.about == (("most", 2**31),) for act in acts) < 100


def test_a_name_that_is_taken_is_not_given_again() -> None:
    """A number stands in its place, which is not taken either."""
    assert unlike("x", {"y"}) == "x"
    assert unlike("x", {"x", 2}) == 3


def test_an_item_that_nobody_put_in_is_a_breach_and_no_failure() -> None:
    """Of a queue that is closed, too."""
    twin = zoo()["closing-cuts-long-texts"]
    assert (twin.rule, find(twin.name).verdict) == ("QUEUE-5", NAMED)


@pytest.mark.parametrize(("suite", "change", "rule"), [
    ("jobs", "numerals", "FLOW-51"), ("storm.spout", "case", "STORM-K43")])
def test_a_value_that_is_changed_on_its_way_in_is_found_by_a_default_run(
    suite: str, change: str, rule: str
) -> None:
    """The rest is in docs/sabotage.md, of all suites, made by ``make values``."""
    said = values.found(suite, change)
    assert (said.verdict, said.rule) == (values.FOUND, rule)


def test_the_table_of_values_has_a_dash_where_nothing_would_change() -> None:
    """And the rule that found the rest, or what was said."""
    rows = [*values.rows_of([values.Found("jobs", "cut", values.FOUND, "FLOW-51"),
                             values.Found("jobs", "sign", values.PASSES)])]
    found = dict(zip(*rows, strict=True))
    assert (found["cut"], found["sign"], found["0"]) == ("FLOW-51", "PASSES", "-")


# ---- what is left of long programs -----------------------------------------------------------

def _requests(suite: Suite, acts: tuple[Act, ...], capacity: int, items: int) -> Iterator[
        tuple[Act, Message]]:
    session = resolve_target(system_of(suite.name).reference.name).open()
    try:
        talk = suite.converse(session, capacity, items)
        talk.tells = False
        for act in acts:
            if talk.makes_sense(act):
                yield act, talk.say(act).request
    finally:
        session.close()


@pytest.mark.parametrize("name", ["storm.acker", "storm.partition", "link", "awaits.permits"])
def test_what_is_left_of_a_long_program_asks_for_the_same(name: str) -> None:
    """It may name as many items as the whole: else a breach in its middle came once only."""
    suite = system_of(name).suite
    assert isinstance(suite, Suite) and suite.long is not None
    capacity = suite.long.sizes[0]
    target = resolve_target(system_of(name).reference.name)
    acts, epilogue = suite.lengthy(capabilities(suite, target, capacity), 1, capacity)
    items = items_for(acts, suite.long.most(capacity)) + len(epilogue)
    said = [pair for pair, _ in zip(_requests(suite, acts, capacity, items), range(40),
                                    strict=False)]
    left = tuple(act for act, _ in said)
    assert [request for _, request in _requests(suite, left, capacity, items)] == [
        request for _, request in said]


def test_a_breach_that_takes_the_items_of_a_long_program_is_steady() -> None:
    """Its fixture says how many may be named, and replays."""
    scene = runs.scene_of("storm.acker")
    target = runs.Sabotaged(
        resolve_target("reference.storm.acker"), runs.SABOTAGES["silent from 25"], scene)
    row = row_of(system_of("storm.acker").suite, target, case_at("storm.acker", 9, 0),
                 RunSettings(shrinks=0, counting=False))
    assert (row.verdict, row.rule) == (VIOLATED, "STORM-A22")
    fixture = read_fixture(row.fixture, "a row")
    assert fixture.items > 40 and replay(fixture, target).same


# ---- sizes -----------------------------------------------------------------------------------

@pytest.mark.parametrize("many", [2, 3, 4, 6])
def test_no_size_is_enough_for_a_queue(many: int) -> None:
    """A queue that is a stack from some size on is a sound queue in every smaller one."""
    class Stack(ReferenceQueue):
        core = stack_from(BoundedQueue, "_remove", lambda self: self._items, many)

    target = InProcessTarget("a stack", Stack, port_named)
    suite = system_of("queue").suite
    verdicts = {capacity: {
        row_of(suite, target, case_at("queue", place, 0), RunSettings(
            capacity=capacity, programs=4, shrinks=0, counting=False)).verdict
        for place in range(10)}
        for capacity in (many - 1, many)}
    assert verdicts[many - 1] == {PASSED}
    assert VIOLATED in verdicts[many]


def test_a_summary_says_that_more_is_unknown() -> None:
    """Of larger things, and of longer programs."""
    from checkvalve.conformance.campaigns.summary import summarise

    row = run_case("jobs", "reference.jobs", case_at("jobs", 0, 0), RunSettings(programs=1))
    assert summarise("jobs", "reference.jobs", [row]).tried.endswith(
        "What shows only beyond these is unknown.")


# ---- sabotage --------------------------------------------------------------------------------

def test_a_cluster_whose_last_record_is_never_read_breaks_a_rule_of_progress() -> None:
    """Its histories end, and nothing in them is wrong but what is missing."""
    found = runs.outcome("kafka.failover", runs.UNREAD, quick=True)
    assert (found.verdict, found.is_progress) == (runs.FOUND, True)
    assert found.rule in ("KAFKA-F26", "KAFKA-F27")


def test_an_application_that_processes_nothing_breaks_a_rule_of_progress() -> None:
    """Also where it says nothing of it, in the middle of a long program."""
    found = runs.outcome("reactive.subscriber", "silent from 25", quick=True)
    assert (found.rule, found.is_progress) == ("RS-2.11", True)


def test_a_list_that_cannot_be_empty_is_not_kept_back() -> None:
    """Else a target would be refused for its form."""
    two = Kind("two", lambda value: isinstance(value, list) and len(value) == 2)
    assert hushed([True, False], two) == [True, False]
    assert hushed([1], Kind("some", lambda value: isinstance(value, list))) == []


def test_silence_that_begins_after_the_last_request_is_not_shown() -> None:
    """It is neither found nor passed over."""
    found = runs.Outcome("jobs", "silent from 9000", "", runs.UNSEEN, "", False, (), 0, "")
    assert marked(found) == "not shown"
    assert is_good([runs.Outcome("jobs", "", "", runs.FOUND, "FLOW-54", True, (), 1, ""), found])


@pytest.mark.parametrize("name", ["link", "link.counted", "rate", "bookkeeper.memtable", "marks"])
def test_a_long_program_fills_a_thing_of_the_size_of_production(name: str) -> None:
    """A size that the suite has no settings for, and longer programs for it."""
    target = resolve_target(system_of(name).reference.name)
    row = row_of(system_of(name).suite, target, case_at(name, 9, 0), RunSettings(capacity=100))
    assert row.verdict == PASSED and row.steps > 1_000
