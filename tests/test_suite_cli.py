"""``conform`` and ``rules``: what they print, write and exit with."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from checkvalve.conformance.campaigns.case import RunSettings, plan, run_case
from checkvalve.conformance.campaigns.summary import summarise
from checkvalve.conformance.cli import root
from checkvalve.conformance.cli.outcome import run
from checkvalve.conformance.engines.conduct import Engine, Order, conduct, next_cases
from checkvalve.conformance.suites.system import QUICK_CASES
from checkvalve.conformance.systems.catalogue import SYSTEMS, suite_named

ROOT = Path(__file__).resolve().parent.parent
RULES = [rule.id for rule in suite_named("queue").rules()]


def conform(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code of ``conform``, and what it printed."""
    code = run(root, ["conform", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def schema(name: str) -> dict[str, Any]:
    """A schema of docs/schemas."""
    return dict(json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text()))


def test_a_sound_queue_passes(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0, a row for each rule, and no claim beyond the sample."""
    code, out, _ = conform(capsys, "reference", "--cases", "14")
    assert code == 0
    assert all(rule in out for rule in RULES)
    assert "PASSED: " in out and "it is not a proof" in out


def test_a_target_that_comes_with_checkvalve_has_its_suite(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody need say which; several at once have to be of one."""
    code, out, _ = conform(capsys, "reference.storm.acker", "--cases", "12")
    assert code in (0, 2) and "storm.acker on reference.storm.acker" in out
    code, out, err = conform(capsys, "reference", "zoo:timer-lifo", "--cases", "1")
    assert (code, out) == (64, "") and "several suites" in err


def test_a_quick_run_is_the_beginning_of_a_default_run(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a suite with more cases, too; an order for a number of cases gets that number."""
    quick = next_cases(Order("kafka.failover", quick=True), [])
    default = next_cases(Order("kafka.failover"), [])
    assert len(quick) == QUICK_CASES < len(default) == SYSTEMS["kafka.failover"].cases
    assert default[:QUICK_CASES] == quick
    code, out, _ = conform(capsys, "reference.summaries", "--quick", "--json")
    assert code == 0 and json.loads(out)["cases"] == QUICK_CASES
    code, out, err = conform(capsys, "reference.summaries", "--quick", "--cases", "40")
    assert (code, out) == (64, "") and "--quick and --cases" in err


def test_help_says_how_many_cases_the_default_run_of_each_suite_has(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that differ from most are named."""
    _, out, _ = conform(capsys, "--help")
    told = " ".join(out.split())
    assert f"{SYSTEMS['kafka.failover'].cases} of kafka.failover" in told
    assert f"{SYSTEMS['marks'].cases} of all others" in told


def test_a_run_makes_few_failures_and_says_what_all_of_them_would() -> None:
    """Made short in each case they would be ten times as many; rules, verdicts, causes and the
    shortest failures are the same."""
    few, rows = conduct("deque", Order(cases=24))
    every = [run_case("queue", "deque", case, RunSettings()) for case in plan(
        "queue", cases=24, seed=0)]
    assert few == summarise("queue", "deque", every)
    assert [replace(row, fixture="", message="") for row in rows] == [
        replace(row, fixture="", message="") for row in every]
    assert sum(bool(row.fixture) for row in every) > 2 * sum(bool(row.fixture) for row in rows) > 0


def test_rules_that_no_case_looked_for_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """They are named before the run, and the last line has them with the reasons."""
    code, out, _ = conform(capsys, "reference", "--cases", "11")
    first, *_, last = out.strip().splitlines()
    assert code == 2
    assert "11 cases cannot show 2 of 12 rules" in first and "QUEUE-11, QUEUE-12" in first
    assert last.startswith("NOT SHOWN: passed 7 rules; 6 not shown: 1 not offered (QUEUE-17), ")
    assert "2 too few cases (QUEUE-11, QUEUE-12)" in last


def test_so_few_cases_that_no_rule_is_exercised_enough_show_nothing(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2; an order for two cases gets two, and a warning before that says what they are
    worth.
    """
    code, out, _ = conform(capsys, "reference", "--cases", "2")
    assert code == 2
    assert out.startswith("Said before the run: 2 cases cannot show any of 12 rules")
    assert "NOT SHOWN: passed 0 rules; 13 not shown: " in out and "Run more cases" in out


@pytest.mark.parametrize(("strict", "code"), [([], 0), (["--strict"], 2)])
def test_what_a_target_says_it_cannot_show_counts_only_where_it_is_asked_for(
    strict: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last line has the number of rules by reason; --strict makes each of them count."""
    found, out, _ = conform(capsys, "reference", "--cases", "14", *strict)
    assert found == code
    assert out.strip().splitlines()[-1].endswith(
        "passed 8 rules; 5 not shown: 1 not offered (QUEUE-17), "
        "4 technique (QUEUE-6, QUEUE-9, QUEUE-10, QUEUE-12).")


def test_a_broken_queue_is_told_as_a_story(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1, and the shortest way to see it in the report."""
    code, out, _ = conform(capsys, "deque", "--cases", "1")
    assert code == 1
    assert "2. offer a2: accepted" in out and "VIOLATED: QUEUE-1" in out


def test_a_known_violation_does_not_fail_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    """It stays in the report, and the exit code is 0."""
    code, out, _ = conform(capsys, "deque", "--cases", "24", "--known", "QUEUE-1")
    assert code == 0
    assert "violated (known)" in out


def test_what_follows_from_a_violation_is_told_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The closing lines say what from, and what to do."""
    _, out, _ = conform(capsys, "deque", "--cases", "24")
    assert "1 follows (QUEUE-4 from QUEUE-1)" in out and "repair that, and run" in out
    assert "--known QUEUE-4" not in out


def test_a_broken_should_fails_the_run_until_it_is_known(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """The closing line says which rule it is, and how strong."""
    sound = ["asyncio.Queue", "--cases", "24", "--seed", "1", "--capacity", "1"]
    code, out, _ = conform(capsys, *sound)
    assert code == 1
    assert "VIOLATED: QUEUE-12 (SHOULD) violated" in out
    assert "--known QUEUE-12" in out
    code, out, _ = conform(capsys, *sound, "--known", "QUEUE-12")
    assert code == 0
    assert "PASSED: QUEUE-12 (SHOULD, known) violated" in out


def test_results_have_exactly_the_promised_fields(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One JSON document, one row for each target and rule, fixtures by their paths."""
    code, out, _ = conform(capsys, "deque", "reference", "--cases", "1", "--json",
                           "--fixtures", str(tmp_path / "found"))
    document = json.loads(out)
    jsonschema.validate(document, schema("conform"))
    assert code == document["exit_code"] == 1
    assert [(row["target"], row["rule"]) for row in document["results"]] == [
        (target, rule) for target in ("deque", "reference") for rule in RULES]
    for row in document["results"]:
        assert list(row) == ["target", "suite", "rule", "verdict", "reason", "declared", "cases",
                             "fixture", "message", "not_looked_for", "follows_from"]
        assert (row["fixture"] is not None) == (row["verdict"] == "violated")
        if row["fixture"]:
            assert json.loads(Path(row["fixture"]).read_text())["rule"]["id"] == row["rule"]


def test_rows_are_written_as_a_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A row a case, which reading gives back."""
    pytest.importorskip("pyarrow")
    from checkvalve.conformance.engines.table import read_rows

    out = tmp_path / "rows.parquet"
    conform(capsys, "deque", "--cases", "3", "--seed", "9", "--parquet", str(out))
    assert [(row.case, row.seed) for row in read_rows(out)] == [
        (case.index, case.seed) for case in plan("queue", cases=3, seed=9)]


@pytest.mark.parametrize("arguments", [
    ["nonesuch"], ["reference", "--suite", "stack"], ["reference", "--cases", "0"],
    ["reference", "--known", "QUEUE-99"], ["reference", "--capacity", "-1"],
    ["reference", "--engine", "spark"], ["reference", "--master", "local[2]"],
    ["reference", "--seed", "many"], [], ["deque", "zoo:unicorn"],
    ["reference.bookkeeper", "--suite", "bookkeeper", "--capacity", "401"],
])
def test_bad_usage_is_one_message_and_half_a_run_is_none(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """Exit code 64, nothing on stdout, what to do next on stderr."""
    code, out, err = conform(capsys, *arguments)
    assert (code, out) == (64, "")
    assert err.startswith("checkvalve: error: ") and "Traceback" not in err


def test_a_target_that_fails_is_an_error_of_the_target(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 69, which bad usage never has, and the message says what the target did."""
    code, out, _ = conform(capsys, "command:true", "--suite", "queue", "--cases", "3")
    assert code == 69
    assert "The target failed" in out and "ERROR" in out


def test_every_rule_of_the_book_says_where_it_is_used(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """A rule is decided by verify, tested by a suite, or says why it is not tested."""
    assert run(root, ["rules", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema("rules"))
    book = {rule["id"]: rule for rule in document["rules"]}
    assert len(book) == len(document["rules"])
    for rule in book.values():
        if rule["uses"]["test"] or rule["through"]:
            assert rule["untested"] is None
    assert book["QUEUE-3"]["uses"]["test"] == ["queue", "awaits.closing", "awaits.queue"]
    assert "queues.queue.BoundedQueue" in book["QUEUE-3"]["uses"]["monitor"]
    assert book["FLOW-1"]["uses"]["proof"]


def test_rules_are_listed_by_chapter(capsys: pytest.CaptureFixture[str]) -> None:
    """For a reader: statement, source, and uses; QUEUE-2 before QUEUE-10."""
    assert run(root, ["rules", "queues"]) == 0
    out = capsys.readouterr().out
    assert out.index("QUEUE-2 ") < out.index("QUEUE-10 ")
    assert "source:" in out and "FLOW" not in out


@pytest.mark.parametrize("option", [("--partitions", "3"), ("--ship",)])
def test_what_is_about_a_cluster_is_refused_without_one(
    option: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 64, and how to name the cluster."""
    code, out, err = conform(capsys, "reference", *option)
    assert (code, out) == (64, "")
    assert option[0] in err and "--engine spark --master" in err


def test_partitions_and_code_to_ship_reach_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command hands both on to the engine, before any case is run."""
    asked: list[tuple[int | None, bool]] = []

    @contextmanager
    def opened(engine: Engine) -> Iterator[Engine]:
        asked.append((engine.partitions, engine.ship))
        yield Engine()

    monkeypatch.setattr(Engine, "opened", opened)
    run(root, ["conform", "reference", "--cases", "1", "--engine", "spark", "--master", "local",
               "--partitions", "7", "--ship"])
    assert asked[0] == (7, True)


def test_every_suite_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """By the command that all messages about suites name."""
    assert run(root, ["suites"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in SYSTEMS)


def test_an_unknown_suite_is_answered_with_the_nearest_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not with all of them."""
    code, _, err = conform(capsys, "reference", "--suite", "qeue")
    assert code == 64 and "Did you mean queue" in err and "bookkeeper" not in err


@pytest.mark.parametrize("target", ["command:true", "thread:queue:Queue", "python:mine:Queue"])
def test_a_target_of_the_users_needs_the_name_of_its_suite(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing says what it is, and no suite is guessed."""
    code, out, err = conform(capsys, target)
    assert (code, out) == (64, "") and "nothing says which suite" in err
    assert ("tested by --suite queue, awaits." in err) == ("Queue" in target)


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "0", "soon"])
@pytest.mark.parametrize("command", [
    ["conform", "reference", "--timeout"], ["replay", "x.json", "reference", "--timeout"],
    ["check", "x.yaml", "--max-seconds"], ["verify", "flow", "--max-seconds"],
])
def test_a_time_limit_is_a_number_above_0(
    command: list[str], seconds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Anything else is bad usage, with what to write."""
    assert run(root, [*command, seconds]) == 64
    told = capsys.readouterr().err
    assert f"'{seconds}' is not a number of seconds above 0" in told and "write for example" in told


@pytest.mark.parametrize("lack", ["pyarrow", "room"])
def test_a_table_that_cannot_be_written_is_refused_before_any_case(
    lack: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without pyarrow, or where a folder's name is that of a file."""
    monkeypatch.setattr("checkvalve.conformance.engines.conduct.conduct", None)
    out = tmp_path / "rows.parquet"
    if lack == "pyarrow":
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    else:
        pytest.importorskip("pyarrow")
        (tmp_path / "file").touch()
        out = tmp_path / "file" / "rows.parquet"
    code, _, err = conform(capsys, "reference", "--parquet", str(out))
    assert code == 64 and ("[spark]" in err if lack == "pyarrow" else str(out) in err)
