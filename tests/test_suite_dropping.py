"""Queues that drop: what they drop is what they say that they drop."""

from __future__ import annotations

import pytest

from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.ports.base import Target
from checkvalve.conformance.suites.results import NOT_OFFERED
from checkvalve.conformance.systems.catalogue import port_named
from checkvalve.conformance.suites.run import capabilities, run_program
from checkvalve.conformance.suites.suite import Act
from checkvalve.conformance.systems.queue.reference import MergingQueue, ReferenceQueue
from checkvalve.conformance.systems.queue.suite import PROMISES, policy
from checkvalve.conformance.systems.queue.suite import SUITE as QUEUE_SUITE
from checkvalve.conformance.systems.queue.twins import TWINS as ZOO
from checkvalve.conformance.zoo.hunt import KILLED, hunt
from checkvalve.reference.queue import Overflow

OLDEST, NEWEST = Overflow.DROP_OLDEST, Overflow.DROP_NEWEST
RULE = QUEUE_SUITE.rule("QUEUE-17")


def dropping(does: Overflow, says: Overflow) -> Target:
    """The reference queue that does one thing and says another, or the same."""
    class Dropping(ReferenceQueue):
        overflow = does
        policy = says.value
    return InProcessTarget("dropping", Dropping, port_named)


def broken(target: Target, *acts: str) -> bool:
    """True if a program with a queue of one place breaks the rule."""
    program = tuple(map(Act, acts))
    run = run_program(QUEUE_SUITE, target, program, 1, focus=RULE)
    return any(breach.rule is RULE for breach in run.breaches)


@pytest.mark.parametrize("says", [OLDEST, NEWEST])
@pytest.mark.parametrize("does", [OLDEST, NEWEST])
def test_which_item_is_dropped_tells_two_policies_apart(does: Overflow, says: Overflow) -> None:
    """Three requests do; the item that is left is the one that was promised, or not."""
    assert broken(dropping(does, says), "offer", "offer", "poll") == (does is not says)
    assert broken(dropping(does, says), "poll", "offer", "put", "poll") == (does is not says)


def test_before_anything_is_dropped_nothing_tells_them_apart() -> None:
    """And where something waits, what is dropped depends on what nobody sees."""
    assert not broken(dropping(OLDEST, NEWEST), "offer", "poll", "offer", "poll")
    assert not broken(dropping(OLDEST, NEWEST), "take", "offer", "offer", "offer", "poll")


def test_a_queue_that_says_nothing_of_dropping_is_not_judged_by_it() -> None:
    """The rule needs the promise."""
    assert RULE is not None
    waiting = dropping(Overflow.WAIT, Overflow.WAIT)
    assert RULE not in QUEUE_SUITE.applicable(capabilities(QUEUE_SUITE, waiting, 1))
    told, = QUEUE_SUITE.missing(RULE, capabilities(QUEUE_SUITE, waiting, 1))
    assert sorted(told.split(" or ")) == sorted(map(policy, PROMISES))


@pytest.mark.parametrize("name", ["says-oldest-drops-newest", "says-newest-drops-oldest"])
def test_a_queue_that_drops_the_other_end_is_caught(name: str) -> None:
    """In three steps."""
    trophy = hunt(ZOO[name])
    assert trophy.verdict == KILLED and trophy.fixture is not None
    assert trophy.fixture.length == 3


def test_what_a_promise_does_not_cover_does_not_apply() -> None:
    """A queue that merges drops no item, one without waits wakes nobody; their rules are reported
    as not offered, and not as passed or asked too little.
    """
    for target, spared in (("policy.merge", {"QUEUE-7", "QUEUE-17"}),
                           ("policy.reject", {"QUEUE-7", "QUEUE-17"}),
                           ("policy.drop-oldest", {"QUEUE-7"}), ("reference", {"QUEUE-17"})):
        summary, _ = conduct(target, Order(cases=1))
        assert spared == {each.rule.id for each in summary.results
                          if each.reason == NOT_OFFERED}, target


def test_who_gives_out_what_it_did_not_promise_breaks_its_promise_too() -> None:
    """An item that nobody put in breaks another rule first, and this one no less."""
    class SaysItConflates(MergingQueue, overflow=Overflow.CONFLATE):
        """Merges, and says that its newest item replaces the one before."""

    assert broken(InProcessTarget("merging", SaysItConflates, port_named), "offer", "offer", "poll")
