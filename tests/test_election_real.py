"""Elections by real systems: each starts here, and goes through one scenario."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from benchmarks.election.page import page
from benchmarks.election.runs import Row, fill_all
from checkvalve.conformance.campaigns.enough import coverage
from checkvalve.conformance.campaigns.replay import replay
from checkvalve.conformance.engines.conduct import Order, conduct
from checkvalve.conformance.computer.patience import Countdown
from checkvalve.conformance.suites.fixture import read_fixture
from checkvalve.conformance.systems.catalogue import system_of
from checkvalve.conformance.systems.election.contenders.campaign import Lost, Where
from checkvalve.conformance.systems.election.contenders.etcd import EtcdElection
from checkvalve.conformance.systems.election.real.service import EtcdService
from checkvalve.conformance.systems.election.scenarios import SCENARIOS
from checkvalve.conformance.systems.targets import rehearsal_of, resolve_target

ROOT = Path(__file__).resolve().parent.parent
SHORTEST = "a session ends"
SECONDS = 60

REAL = [each.name for each in system_of("election").shipped if each.in_real_time]
FENCED = [name for name in REAL if name.endswith(".fenced")]


def row_of(target: str, scenario: str = SHORTEST) -> Row:
    """The row of a target in a scenario, tried again where the machine was too busy for it:
    sessions last the longer then, and an idle machine's minute is for as many tries as it takes.
    """
    left = Countdown(SECONDS)
    while True:
        row = Row(target)
        fill_all([row], [scenario])
        assert row.failed == {}
        if not row.undecided and row.exercised["ELECT-2"]:
            return row
        assert not left.over, "candidates could not keep their sessions"


@pytest.mark.services
@pytest.mark.parametrize("target", FENCED)
def test_a_store_that_compares_tokens_refuses_the_leader_of_a_session_that_ended(
    target: str
) -> None:
    """Its write comes after that of the next leader, and with an older token."""
    row = row_of(target)
    assert row.broken == {}


@pytest.mark.services
@pytest.mark.parametrize("target", ["redis", "redlock"])
def test_without_tokens_the_leader_of_a_session_that_ended_writes_last(target: str) -> None:
    """The same program; the fixture has the steps, and the run the time of each."""
    broken = row_of(target).broken["ELECT-2"]
    assert broken.fixture.requests[-1] == {"do": "write", "candidate": 0}
    assert len(broken.seconds) == len(broken.run.exchanges)
    assert list(broken.seconds) == sorted(broken.seconds)


@pytest.mark.services
def test_a_lease_that_has_ended_by_itself_can_be_ended() -> None:
    """etcd says that there is none; it is over, and that was all that was asked for."""
    EtcdService.shared().expire(987_654_321)


def test_whoever_resigns_before_it_stands_in_line_does_not_wait_there(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a service that grants a lease and then says nothing more."""
    asked: list[str] = []

    def ask(self: EtcdElection, what: str, body: object, on: object = None, seconds: float = 1.0
            ) -> dict[str, object]:
        asked.append(what)
        return {"ID": "7", "TTL": "1", "result": {"TTL": "1"}}

    monkeypatch.setattr(EtcdElection, "_ask", ask)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        candidate = EtcdElection(Where([address], "it", "one", 1.0, fenced=True))
        with pytest.raises(Lost):
            candidate.acquire()
    assert "election/campaign" not in asked and "lease/revoke" in asked


def test_every_scenario_passes_on_the_reference_and_they_exercise_every_rule() -> None:
    """So that what a real system breaks in them is its own."""
    row = Row("reference.election")
    fill_all([row])
    assert (row.broken, row.failed, row.undecided) == ({}, {}, [])
    rules = system_of("election").suite.rules()
    assert {rule.id for rule in rules} == {rule for rule, times in row.exercised.items() if times}


def test_the_first_scenario_is_the_shortest_that_breaks_an_unfenced_store() -> None:
    """Leave out any one step, and the twin without fencing passes."""
    from checkvalve.conformance.suites.run import run_program

    suite, twin = system_of("election").suite, resolve_target("zoo:election-unfenced-store")
    program = SCENARIOS[SHORTEST]

    def breaks(acts: tuple[object, ...]) -> bool:
        run = run_program(suite, twin, acts, 2)  # type: ignore[arg-type]
        return any(breach.rule.id == "ELECT-2" for breach in run.breaches)

    assert breaks(program)
    needed = [act for at, act in enumerate(program)
              if not breaks(program[:at] + program[at + 1:])]
    assert [act.do for act in program if act not in needed] in ([], ["wait"])


def test_a_target_in_real_time_gets_few_programs() -> None:
    """Unless the user says how many."""
    assert rehearsal_of("etcd") and not rehearsal_of("reference.election")
    order = Order("election").in_real_time(rehearsal_of("etcd"))
    assert order.first < Order("election").first
    assert Order("election", cases=3).in_real_time("reference.election").cases == 3


@pytest.mark.parametrize("name", ["etcd", "etcd.fenced"])
def test_few_cases_for_each_rule_exercise_every_rule_enough(name: str) -> None:
    """Fewer than four, on what rehearses it; where no token is compared, one breach of ELECT-2 is
    enough of that."""
    rehearsal = rehearsal_of(name)
    order = Order("election").in_real_time(rehearsal)
    _, rows = conduct(rehearsal, order)
    assert len(rows) < 4 * len(system_of("election").suite.rules())
    covered = coverage(system_of("election").suite, rows)
    assert [rule for rule, found in covered.items() if not found.suffices] == []


def test_the_published_page_has_every_real_target_and_its_fixtures_can_be_read() -> None:
    """And none of them breaks a rule on the reference."""
    text = (ROOT / "docs" / "election.md").read_text()
    assert [name for name in REAL if f"| `{name}` |" not in text] == []
    fixtures = sorted((ROOT / "docs" / "election").glob("*.json"))
    assert fixtures != []
    for path in fixtures:
        fixture = read_fixture(path.read_text(), str(path))
        assert f"(election/{path.name})" in text
        assert replay(fixture, resolve_target("reference.election")).breach is None


def test_what_came_to_no_end_stands_on_the_page() -> None:
    """With the reason; it is neither kept nor broken."""
    row = Row("etcd", failed={SHORTEST: "it was not there"}, undecided=["others come and go"])
    text = page([row], system_of("election").suite.rules())
    assert f"- `etcd`, {SHORTEST}: it was not there" in text
    assert "- `etcd`, others come and go: the machine was too busy" in text
    assert row.cell("ELECT-2") == "not shown"
