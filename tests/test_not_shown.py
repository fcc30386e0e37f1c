"""One word for what a run did not show, with its reason; and what a target says of itself."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree as xml

import jsonschema
import pytest

from checkvalve.conformance.systems import targets
from checkvalve.conformance.adapters.session import InProcessTarget
from checkvalve.conformance.campaigns.case import RunSettings, plan
from checkvalve.conformance.campaigns.enough import ENOUGH, foreseen
from checkvalve.conformance.campaigns.failures import (
    GIVEN_UP_AFTER, failure_in_words, until_given_up,
)
from checkvalve.conformance.campaigns.summary import summarise
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.engines.conduct import Engine, Order, conduct
from checkvalve.conformance.ports.base import STEPPED, STEPPED_WAKES, Adapter, Message
from checkvalve.conformance.suites.results import (
    ERROR, NO_OCCASION, NOT_SHOWN, PASSED, REASONS, TARGET_FAILED, TECHNIQUE, VIOLATED, CaseRow,
)
from checkvalve.conformance.systems.catalogue import port_named, suite_named, zoo
from checkvalve.conformance.systems.queue.dropping import DroppingDeque
from checkvalve.conformance.systems.queue.reference import ReferenceQueue
from checkvalve.conformance.zoo.default_run import find

QUEUE = suite_named("queue")
HIDDEN = {rule for rule, parts in QUEUE.fuller.items() if any(
    each.is_technique for each in parts)}
SCHEMAS = Path(__file__).resolve().parent.parent / "docs" / "schemas"


def use(adapter: type[Adapter], monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a target that is this adapter, in this test."""
    monkeypatch.setattr(
        targets, "resolve_target",
        lambda spec, timeout=5.0: InProcessTarget(spec, adapter, port_named))
    return "mine"


# ---- the adapter's technique ----------------------------------------------------------------


class SaysStepped(ReferenceQueue):
    """It runs a woken caller within the request, and says that it does not."""

    wakes: ClassVar[str] = STEPPED


def test_an_adapter_that_says_stepped_and_settles_is_contradicted(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first case ends in an error that says what to write in the hello."""
    summary, rows = conduct(use(SaysStepped, monkeypatch), Order())
    assert (summary.verdict, len(rows)) == ("error", 1)
    assert "says in its hello that its wakes are stepped" in summary.error
    assert '"wakes": "at-once"' in summary.error


class SaysOften(ReferenceQueue):
    """Its hello has a word that the protocol lacks."""

    wakes: ClassVar[str] = "often"


def test_another_word_for_wakes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt one would be taken for the weaker claim, and nobody would know."""
    summary, _ = conduct(use(SaysOften, monkeypatch), Order())
    assert "ok.wakes must be one of: at-once, stepped" in summary.error


def test_what_shows_at_rest_alone_is_tested_and_said_to_be_a_part() -> None:
    """The reference that settles after each request serves waiters in turn: more is not shown."""
    summary, _ = conduct("reference", Order(cases=14, settings=RunSettings(programs=4)))
    (found,) = (each for each in summary.results if each.rule.id == "QUEUE-12")
    assert (found.verdict, found.reason, found.declared) == (NOT_SHOWN, TECHNIQUE, True)
    assert found.cases >= ENOUGH and "a part of it was tested" in found.message
    assert "overtakes a woken one" in found.message and STEPPED_WAKES in found.message


class AtOnce:
    """An adapter behind which all settles after each request."""

    def __init__(self, inner: Adapter) -> None:
        self._inner = inner

    def request(self, message: Message) -> Message:
        """Answer, and let everything run."""
        reply = self._inner.request(message)
        if message["do"] in ("hello", "settle") or "error" in reply:
            return reply
        rest = self._inner.request({**message, "do": "settle"})
        return {**reply, "events": [*reply.get("events", ()), *rest.get("events", ())]}


@pytest.mark.parametrize("name", [
    name for name, twin in zoo().items()
    if twin.suite == "queue" and twin.rule not in HIDDEN and not (twin.equivalent or twin.after)])
def test_what_settling_does_not_hide_is_found_behind_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the rules of which the technique hides a part are those that the suite names."""
    make = targets.adapter_factory(f"zoo:{name}")
    monkeypatch.setattr(targets, "resolve_target", lambda spec, timeout=5.0: InProcessTarget(
        spec, lambda: AtOnce(make()), port_named))
    found = find(name).fixture
    assert found is not None and found.rule_id == zoo()[name].rule


# ---- no occasion ----------------------------------------------------------------------------


def rows_of(exercised: dict[str, int], can: Collection[str] = ()) -> list[CaseRow]:
    """Rows by hand, which all exercised the same."""
    return [CaseRow("election", "1", "t", case, case, PASSED, "", 9, "", json.dumps(exercised), "",
                    can=json.dumps([*can])) for case in range(2 * ENOUGH)]


@pytest.mark.parametrize(("can", "declared", "verdict"), [
    ([], False, NOT_SHOWN), (["no occasion for ELECT-3"], True, PASSED)])
def test_only_a_target_that_says_so_passes_without_an_occasion(
    can: list[str], declared: bool, verdict: str
) -> None:
    """Only its author knows whether there is nothing to break, or nothing was reported."""
    exercised = {rule.id: int(rule.id != "ELECT-3") for rule in suite_named("election").rules()}
    summary = summarise("election", "t", rows_of(exercised, can))
    (found,) = (each for each in summary.results if each.reason)
    assert (found.rule.id, found.reason, found.declared) == ("ELECT-3", NO_OCCASION, declared)
    assert summary.verdict == verdict


class Modest(ReferenceQueue):
    """It says of a rule that nothing could break it, and something can."""

    no_occasion: ClassVar[Collection[str]] = ("QUEUE-3",)


def test_what_is_said_to_have_no_occasion_and_has_one_is_judged(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words of the hello hide nothing."""
    order = Order(cases=14, settings=RunSettings(programs=4))
    summary, _ = conduct(use(Modest, monkeypatch), order)
    assert {each.rule.id: each.verdict for each in summary.results}["QUEUE-3"] == PASSED


# ---- before the run -------------------------------------------------------------------------


@pytest.mark.parametrize(("cases", "said"), [
    (5, "5 cases cannot show any of 8 rules"), (9, ""), (36, "")])
def test_what_so_few_cases_cannot_show_is_foreseen(cases: int, said: str) -> None:
    """The forecast is about a deque, to which few rules apply."""
    can = {*DroppingDeque().request({
        "do": "hello", "port": "queue", "settings": {"capacity": 1}})["ok"]["can"],
        "the policy drop-oldest"}
    told = foreseen(QUEUE, can, cases)
    assert told.startswith(said) and bool(told) == bool(said)


# ---- the gate -------------------------------------------------------------------------------


def gate(folder: Path, more: str = "", *options: str) -> tuple[int, list[Message]]:
    """The exit code of a gate of the reference, and its rows."""
    (folder / "checkvalve.toml").write_text(
        f'[[suites]]\nsuite = "queue"\ntargets = ["reference"]\ncases = 14\n{more}')
    code = run(root, ["gate", str(folder), "--json-file", str(folder / "gate.json"),
                      "--junit", str(folder / "gate.xml"), *options])
    document = json.loads((folder / "gate.json").read_text())
    jsonschema.validate(document, json.loads((SCHEMAS / "gate.json").read_text()))
    return code, document["results"]


def test_a_gate_has_a_row_for_what_was_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its reason; JUnit has it as skipped, and the last line has the number."""
    code, rows = gate(tmp_path)
    unshown = {row["property"]: row["details"]["reason"] for row in rows
               if row["judgement"] == NOT_SHOWN}
    assert code == 0 and unshown["QUEUE-12"] == TECHNIQUE
    assert unshown["QUEUE-17"] == "not offered" and {*unshown.values()} <= {*REASONS}
    skipped = [each.attrib["message"] for each in xml.parse(tmp_path / "gate.xml").iter("skipped")]
    assert len(skipped) == len(unshown) and any("technique: " in each for each in skipped)
    assert "5 not shown: 4 technique, 1 not offered" in capsys.readouterr().out


def test_a_strict_gate_lets_every_rule_count(tmp_path: Path) -> None:
    """Also those of which the target says that it cannot show them."""
    code, rows = gate(tmp_path, "", "--strict")
    assert code == 2 and not [row for row in rows if row["judgement"] == NOT_SHOWN]


def test_a_rule_that_is_listed_as_not_shown_and_was_shown_is_told(tmp_path: Path) -> None:
    """A list cannot go stale unnoticed."""
    code, rows = gate(tmp_path, 'not_shown = {"reference" = ["QUEUE-3", "QUEUE-12"]}\n')
    (stale,) = (row for row in rows if row["judgement"] == VIOLATED)
    assert code == 1 and stale["property"] == "QUEUE-3" and "take it off" in stale["message"]


# ---- a target that fails again and again ----------------------------------------------------


def failed(case: int, what: str) -> CaseRow:
    """The row of a case that ended in an error."""
    return CaseRow("queue", "1", "t", case, case, ERROR, "", 9, what, "{}", "")


def late(case: int, asked: str, steps: int) -> CaseRow:
    """The row of a case in which the target hung, after so many steps."""
    return failed(case, f"t, asked for {asked}, did not answer within 5 s after: "
                  f"{'; '.join(['offer a: accepted'] * steps)}. Find what it waits for")


def test_a_target_that_hangs_is_given_up_after_a_few_cases() -> None:
    """Whatever it was asked for last; what fails in another way counts apart."""
    rows = [late(0, "put", 4), failed(1, "t died after: x"), late(2, "take", 2),
            *rows_of({"ELECT-1": 1})[:3], late(9, "cancel", 3), late(10, "put", 1)]
    assert [row.case for row in until_given_up(rows)] == [0, 1, 2, 0, 1, 2, 9]


def test_failures_that_are_alike_are_told_once_with_the_shortest_program() -> None:
    """One message for each kind, with how often, and what to do."""
    told = failure_in_words([late(0, "put", 4), late(2, "take", 2), late(3, "put", 3)])
    assert told.count("did not answer") == 1 and told.count("offer a") == 2
    assert "Find what it waits for (3 of 3 cases, after which it was asked no more)" in told


def test_a_run_of_a_target_that_fails_ends_early_on_every_engine(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are those of its first cases, up to the third that failed."""
    monkeypatch.setattr("checkvalve.conformance.campaigns.case._Search.row", lambda search: (
        late(search.case.index, "put", 1) if search.case.index % 4 == 1
        else rows_of({"QUEUE-1": 1})[search.case.index % 9]))
    rows = Engine().run("queue", "reference", plan("queue", cases=36, seed=0), RunSettings())
    assert sum(row.verdict == ERROR for row in rows) == GIVEN_UP_AFTER and len(rows) == 10
    summary = summarise("queue", "reference", rows)
    assert summary.verdict == ERROR and TARGET_FAILED in summary.not_shown
