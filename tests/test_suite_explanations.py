"""The explanation of a failure in a report is checked like a verdict.

Each answer that is listed as allowed is put in the place of the one that was refused, and a
fresh judge with every machine must take it. Of several rules that one run breaks, the first is
the root; what only ever breaks after it is a consequence.
"""

from __future__ import annotations

import json
from collections import deque
from functools import cache

import pytest

from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings, plan
from checkvalve.conformance.campaigns.case import _Search
from checkvalve.conformance.campaigns.summary import FOLLOWS, RuleResult, summarise
from checkvalve.conformance.gate.junit import junit
from checkvalve.conformance.gate.report import Report, Row
from checkvalve.conformance.gate.sections import _rule_row
from checkvalve.conformance.ports.base import Message, Target
from checkvalve.conformance.suites.results import VIOLATED, CaseRow
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.suites.breach import Breach
from checkvalve.conformance.suites.run import (
    Run, capabilities, items_for, run_program,
)
from checkvalve.conformance.suites.suite import Act, Answer, AnySuite, Exchange, Suite
from checkvalve.conformance.systems.catalogue import port_named, suite_named
from checkvalve.conformance.systems.targets import resolve_target
from checkvalve.conformance.zoo.hunt import twins


class Forgets:
    """A task's input that is right, but that its last tuple is forgotten where a reply has more
    than one."""

    def request(self, message: Message) -> Message:
        """The reply to a message, as ``Adapter`` has it."""
        do = message["do"]
        if do == "hello":
            self.capacity = message["settings"]["capacity"]
            self.limit = message["settings"]["overflow_limit"]
            self.received: deque[str] = deque()
            self.overflow: deque[str] = deque()
            return {"ok": {"name": "forgets", "version": "1", "policy": "drop-at-limit",
                           "can": ["arrive", "consume"]}}
        if do == "arrive":
            return {"ok": [self.keeps(item) for item in message["tuples"]]}
        if do == "settle":
            return {"ok": True}
        taken: list[str] = []
        while len(taken) < message["max"] and (self.received or self.overflow):
            taken.append((self.received or self.overflow).popleft())
        return {"ok": taken[:-1] if len(taken) > 1 else taken}

    def keeps(self, item: str) -> bool:
        """Put a tuple where there is a free slot; whether there was."""
        if not self.overflow and len(self.received) < self.capacity:
            self.received.append(item)
        elif self.limit and len(self.overflow) >= self.limit:
            return False
        else:
            self.overflow.append(item)
        return True

    def close(self) -> None:
        """End the session, as ``Adapter`` does."""


def observed(suite: AnySuite, target: Target, program: tuple[Act, ...], rule_id: str) -> Run:
    """A run of a program under the eyes of every machine."""
    return run_program(suite, target, program, 2, focus=suite.rule(rule_id), count=True)


def test_the_allowed_answers_are_those_at_the_point_of_the_breach() -> None:
    """Of two tuples the first is processed: what is missing is the second, and no other."""
    suite = suite_named("storm.input")
    run = observed(suite, InProcessTarget("forgets", Forgets, port_named),
                   (Act("arrive", 1), Act("consume all")), "STORM-I6")
    assert [each.words for each in run.exchanges][-1] == "process all: m1, no more"
    (broken,) = run.breaches
    assert (broken.allowed, broken.refused) == (("m2",), "no more tuples")
    assert broken.allowed_in_words() == 'Allowed in step 2 instead of "no more tuples": m2.'


# ---- every explanation of the zoo ---------------------------------------------------------------

QUICK = ("queue", "storm.input", "storm.status", "storm.acker", "storm.spout", "storm.partition",
         "timer", "kafka.purgatory")
CASES = 1


@cache
def rows_of(suite_name: str) -> tuple[CaseRow, ...]:
    """The first cases that look for each twin's rule."""
    suite = suite_named(suite_name)
    found = []
    for twin in (each for each in twins([suite_name]) if each.suite == suite_name):
        target = resolve_target(f"zoo:{twin.name}")
        settings = RunSettings(programs=10)
        rules = [rule.id for rule in suite.applicable(capabilities(suite, target, 1))]
        cases = plan(suite_name, cases=CASES * len(rules), seed=1)
        for case in cases[rules.index(twin.rule)::len(rules)]:
            row = _Search(suite, f"zoo:{twin.name}", target, case, settings).row()
            # What is left of a long program may name more than so few steps can.
            if row.verdict == VIOLATED and not read_fixture(row.fixture, "a row").items:
                found.append(row)
    return tuple(found)


def breach_of(suite: AnySuite, row: CaseRow) -> tuple[Run, Breach, int]:
    """The failure of a row, seen again: the run, the breach, and the capacity."""
    fixture = read_fixture(row.fixture, "a row")
    target = resolve_target(row.target)
    session = target.open()
    items = items_for(fixture.requests)
    conversation = suite.converse(session, fixture.capacity, items)
    rule = suite.rule(fixture.rule_id)
    judge = suite.judge(fixture.capacity, items, rule, counting=True)
    run = Run(breaches=judge.breaches)
    for number, request in enumerate(fixture.requests):
        act = conversation.act_for(request)
        assert act is not None
        run.exchanges.append(conversation.say(act))
        judge.see(run.exchanges[-1], number)
    session.close()
    assert rule is not None
    broken = run.breach_of(rule)
    assert broken is not None and run.root_of(broken) is broken
    assert list(broken.allowed) == fixture.document["steps"][-1]["allowed"]
    return run, broken, fixture.capacity


def instead(exchange: Exchange, position: int, answer: Answer) -> Exchange:
    """The exchange, up to the step that was refused, with another answer in its place."""
    shown = [step for step, _ in exchange.observed()][:position]
    return exchange._replace(outcome=None, events=(*shown, answer.step, *answer.then))


def refusals(suite: AnySuite, run: Run, broken: Breach, capacity: int, answer: Answer) -> int:
    """Rules that a fresh judge sees broken in the last step, with an answer in the place of the
    one that was refused."""
    assert isinstance(suite, Suite)
    judge = suite.judge(capacity, items_for(run.exchanges), None, counting=True)
    for number, exchange in enumerate(run.exchanges[: broken.step]):
        judge.see(exchange, number)
    before = len(judge.breaches)
    judge.see(instead(run.exchanges[broken.step], broken.position, answer), broken.step)
    assert not judge.unjudged
    return len(judge.breaches) - before


@pytest.mark.parametrize("suite_name", QUICK)
def test_whatever_is_listed_as_allowed_is_accepted_in_place_of_what_was_refused(
    suite_name: str
) -> None:
    """By every machine, from the start of the run; and what was answered is not listed. Of a list
    of hundreds, as requests of a purgatory have it, twelve or so are tried."""
    suite = suite_named(suite_name)
    listed = 0
    for row in rows_of(suite_name):
        assert row.rule not in json.loads(row.follows)
        run, broken, capacity = breach_of(suite, row)
        exchange = run.exchanges[broken.step]
        refused, _ = list(exchange.observed())[broken.position]
        for answer in broken.alternatives[::max(1, len(broken.alternatives) // 12)]:
            listed += 1
            what = f"{row.target}, case {row.case}: {exchange.words}; {answer}"
            assert refusals(suite, run, broken, capacity, answer) == 0, what
            assert answer.step != refused and answer.words != broken.refused, what
    assert listed > len(rows_of(suite_name)) // 2


# ---- roots and consequences ---------------------------------------------------------------------

class Stutters:
    """A queue that hands out each item twice, and is right otherwise."""

    def request(self, message: Message) -> Message:
        """The reply to a message, as ``Adapter`` has it."""
        do = message["do"]
        if do == "hello":
            self.items: deque[object] = deque()
            self.capacity, self.again = message["settings"]["capacity"], False
            return {"ok": {"name": "stutters", "version": "1", "policy": "reject",
                           "can": ["offer", "poll", "size"]}}
        if do == "offer":
            fits = len(self.items) < self.capacity
            if fits:
                self.items.append(message["item"])
            return {"ok": fits}
        if do == "size":
            return {"ok": len(self.items)}
        if do == "settle":
            return {"ok": True}
        self.again = not self.again and bool(self.items)
        if self.again:
            return {"ok": self.items[0]}
        return {"ok": self.items.popleft() if self.items else None}

    def close(self) -> None:
        """End the session, as ``Adapter`` does."""


def stuttering_rows() -> list[CaseRow]:
    """The rows of a queue that hands out each item twice."""
    target = InProcessTarget("stutters", Stutters, port_named)
    return [_Search(suite_named("queue"), "stutters", target, case, RunSettings()).row()
            for case in plan("queue", cases=24, seed=0)]


def rows_from(target: Target, cases: int) -> list[CaseRow]:
    """The first rows of the queue suite on a target in this process."""
    return [_Search(suite_named("queue"), target.name, target, case, RunSettings()).row()
            for case in plan("queue", cases=cases, seed=0)]


def test_a_second_bug_behind_a_frequent_first_one_is_a_finding_of_its_own() -> None:
    """Each of the three is seen alone, though most programs break several of them."""
    rows = rows_from(InProcessTarget("stutters", Stutters, port_named), 24)
    summary = summarise("queue", "stutters", rows)
    broken = {each.rule.id for each in summary.results if each.verdict == VIOLATED}
    assert broken == {"QUEUE-2", "QUEUE-6", "QUEUE-11"}


def test_a_rule_that_breaks_only_after_another_is_no_finding_of_its_own() -> None:
    """A queue that drops what it accepted is empty too early: that follows, and has no fixture."""
    rows = rows_from(resolve_target("deque"), 16)
    assert {row.rule for row in rows if row.verdict == VIOLATED} == {"QUEUE-1"}
    summary = summarise("queue", "deque", rows)
    found = {each.rule.id: each for each in summary.results}
    assert (found["QUEUE-4"].verdict, found["QUEUE-4"].follows_from) == (FOLLOWS, ("QUEUE-1",))
    assert found["QUEUE-4"].message.startswith("follows from QUEUE-1 (")
    assert not found["QUEUE-4"].fixture
    assert found["QUEUE-1"].fixture is not None and found["QUEUE-1"].fixture.length == 2


def test_a_known_root_covers_what_follows_from_it() -> None:
    """The run is no failure for it, and its consequences are named."""
    summary = summarise("queue", "deque", rows_from(resolve_target("deque"), 16), {"QUEUE-1"})
    assert summary.verdict != VIOLATED
    assert summary.those(FOLLOWS) == ("QUEUE-4",)


def gate_row(verdict: str, known: set[str]) -> Row:
    """A gate's row for QUEUE-4."""
    rule = suite_named("queue").rule("QUEUE-4")
    assert rule is not None
    result = RuleResult("deque", "queue", rule, verdict, message="follows from QUEUE-1",
                        follows_from=("QUEUE-1",))
    return _rule_row("queue on deque", result, known, 0.0)


def test_the_gate_leaves_the_decision_to_the_row_of_the_root() -> None:
    """A consequence has a judgement of its own; it is as expected where the root is known."""
    assert gate_row(FOLLOWS, set()).judgement == "follows"
    assert gate_row(FOLLOWS, {"QUEUE-1"}).judgement == "as expected"
    assert gate_row(FOLLOWS, {"QUEUE-4"}).judgement == "as expected"
    assert gate_row(FOLLOWS, set()).found == FOLLOWS


def test_junit_has_what_follows_as_skipped() -> None:
    """It is no failure beside that of the root, and its message says what it follows from."""
    text = junit(Report("x.toml", (gate_row(FOLLOWS, set()),), 1.0))
    assert 'failures="0"' in text and 'skipped="1"' in text
    assert "follows from QUEUE-1" in text


def breach(rule_id: str, is_added: bool = False, is_apart: bool = False) -> Breach:
    """A breach of a rule of the queue suite."""
    rule = suite_named("queue").rule(rule_id)
    assert rule is not None
    return Breach(rule, 0, "", "", "", is_added=is_added, is_apart=is_apart)


def test_nothing_follows_from_a_rule_that_is_added_to_a_machine() -> None:
    """That machine explains the run as before; after any other breach, none does."""
    added, first, later = breach("QUEUE-12", True), breach("QUEUE-3"), breach("QUEUE-4")
    apart = breach("QUEUE-17", is_apart=True)
    run = Run(breaches=[added, first, later, apart])
    assert [run.root_of(each) for each in run.breaches] == [added, first, first, apart]
    assert run.rooted(first.rule) is first and run.rooted(later.rule) is None
