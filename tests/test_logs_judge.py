"""``checkvalve judge`` as its users meet it: files in, verdicts, messages and exit codes out."""

from __future__ import annotations

import ast
import asyncio
import gzip
import json
import runpy
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.judge import command
from checkvalve.conformance.cli.judge import judged_of as on_logs
from checkvalve.conformance.logs.memory import Ended
from checkvalve.conformance.recorder import Recorder, identity
from checkvalve.conformance import systems
from checkvalve.conformance.suites.plain import PlainConversation
from checkvalve.conformance.systems.awaits_permits.suite import PermitsConversation
from checkvalve.conformance.systems.catalogue import SYSTEMS
from checkvalve.conformance.systems.delivery.suite import DeliveryConversation
from checkvalve.conformance.systems.election.suite import ElectionConversation
from checkvalve.conformance.systems.executor.suite import ExecutorConversation
from checkvalve.conformance.systems.jobs.suite import JobsConversation
from checkvalve.conformance.systems.link.suite import LinkConversation
from checkvalve.conformance.systems.link_counted.suite import CountedConversation
from checkvalve.conformance.systems.marks.suite import MarksConversation
from checkvalve.conformance.systems.queue.suite import QueueConversation
from checkvalve.conformance.systems.rate.suite import RateConversation
from checkvalve.conformance.systems.storm_acker.suite import AckerConversation
from checkvalve.conformance.systems.storm_partition.suite import PartitionConversation
from checkvalve.conformance.systems.storm_spout.suite import SpoutConversation
from checkvalve.conformance.systems.summaries.suite import SummariesConversation
from checkvalve.conformance.systems.timer.suite import TimerConversation
from checkvalve.spec.notation.errors import InputError

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "logs"

Rows = Iterable[Mapping[str, Any]]


def written(path: Path, rows: Rows) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def judged(*arguments: object) -> tuple[int, dict[str, Any]]:
    """The exit code and the document of a run. Raises what the command raises."""
    result = CliRunner().invoke(command, [*map(str, arguments), "--json"], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.return_value, json.loads(result.stdout)


def points(*events: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Rows of points: the operation, and an item (text) or a value (a number)."""
    return [{"key": "k", "process": "p", "operation": name, "phase": "point",
             **({} if not about else {"value" if isinstance(about[0], int) else "item": about[0]})}
            for name, *about in events]


def calls(*steps: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Rows of calls: process, operation, phase, and what else the row has."""
    return [{"key": "k", "process": process, "operation": name, "phase": phase, **dict(more)}
            for process, name, phase, *more in steps]


BREAKS: Mapping[str, tuple[str, tuple[str, ...], list[dict[str, Any]], list[dict[str, Any]]]] = {
    "PERMIT-1": ("awaits.permits", ("permits=1",), calls(
        ("a", "acquire", "begin"), ("b", "acquire", "begin"), ("a", "acquire", "end"),
        ("a", "release", "begin"), ("b", "acquire", "end"), ("a", "release", "end"),
        ("b", "release", "point")), calls(
        ("a", "acquire", "begin"), ("b", "acquire", "begin"), ("a", "acquire", "end"),
        ("b", "acquire", "end"))),
    "FLOW-80": ("rate", ("rate=2", "depth=4"), points(
        ("admits", 4), ("tick",), ("admits", 2), ("tick", 3), ("admits", 4)), points(
        ("admits", 4), ("tick",), ("admits", 3))),
    "FLOW-81": ("rate", ("rate=2", "depth=4"), points(
        ("admits", 4), ("refuses", 1)), points(("admits", 2), ("refuses", 1))),
    "FLOW-113": ("marks", ("high=2", "low=1"), points(
        ("arrives", 3), ("stop",), ("gives", 2), ("go",)), points(("arrives", 2), ("stop",))),
    "FLOW-116": ("marks", ("high=2", "low=1"), points(
        ("arrives", 3), ("stop",)), points(("arrives", 3), ("stop",), ("stop",))),
    "STORM-C1": ("storm.topology", (), points(
        ("emits", "a"), ("emits", "b"), ("emits", "c"), ("processes", "a"), ("processes", "c")),
        points(("emits", "a"), ("emits", "b"), ("processes", "b"), ("processes", "a"))),
    "STORM-C2": ("storm.topology", (), points(("emits", "a"), ("processes", "a")),
                 points(("emits", "a"), ("processes", "b"))),
}


@pytest.mark.parametrize("rule", BREAKS)
def test_each_rule_is_found_broken_and_kept(tmp_path: Path, rule: str) -> None:
    """A right log passes, and one with the bug is violated at the event that shows it."""
    suite, settings, right, wrong = BREAKS[rule]
    options = [part for each in settings for part in ("--set", each)]
    code, document = judged(written(tmp_path / "r.jsonl", right), "--suite", suite, *options)
    assert (code, document["violations"]) == (0, [])
    code, document = judged(written(tmp_path / "w.jsonl", wrong), "--suite", suite, *options)
    assert code == 1
    assert [each["rule"] for each in document["violations"]] == [rule]
    assert document["violations"][0]["event"]["line"] == len(wrong)


def literals(module: Path) -> Iterator[tuple[int, str]]:
    """The texts in a module that are neither keys of a dictionary, which name operations of a log,
    nor what is looked up in the table."""
    tree = ast.parse(module.read_text())
    keys = {id(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("_SAYS."):
            keys |= {id(each) for each in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in keys:
            yield node.lineno, node.value


@pytest.mark.parametrize(("folder", "conversation"), [
    ("queue", QueueConversation), ("awaits_permits", PermitsConversation),
    ("rate", RateConversation), ("marks", MarksConversation),
    ("delivery", DeliveryConversation), ("executor", ExecutorConversation),
    ("jobs", JobsConversation), ("link", LinkConversation), ("link_counted", CountedConversation),
    ("storm_acker", AckerConversation), ("storm_spout", SpoutConversation),
    ("storm_partition", PartitionConversation), ("timer", TimerConversation),
    ("election", ElectionConversation), ("summaries", SummariesConversation)])
def test_no_action_of_a_suites_table_is_named_again_for_its_logs(
    folder: str, conversation: type[PlainConversation]
) -> None:
    """The meaning of a message is said once. (An operation, or a request, may be named as an action
    is.)"""
    table = conversation.says
    assert table is not None
    actions = {entry.action for rows in table.rows.values() for row in rows for entry in (
        *row.tells, *(entry for part in (*row.parts, *([row.later] if row.later else []))
                      for group in part.groups for entry in group))}
    operations = SYSTEMS[folder.replace("_", ".")].logs
    assert operations is not None
    requests = {name for asks in operations.asks.values() if asks for name in asks.do}
    for module in ("logs", "calls", "following"):
        path = Path(systems.__path__[0]) / folder / f"{module}.py"
        if path.exists():
            again = [(line, text) for line, text in literals(path)
                     if text and text in actions - operations.operations.keys() - requests]
            assert again == []


def raft(tmp_path: Path, change: Callable[[int, dict[str, Any]], object]) -> Path:
    """etcd-raft's log with a change of its lines."""
    rows = []
    with gzip.open(EXAMPLES / "etcd-raft-example.ndjson.gz", "rt") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            change(number, row["event"])
            rows.append(row)
    return written(tmp_path / "raft.ndjson", rows)


def of_raft(path: Path) -> tuple[int, dict[str, Any]]:
    """The verdict on a log of etcd-raft."""
    return judged(path, "--suite", "kafka.failover", "--map", EXAMPLES / "etcd-raft.yaml")


def test_etcd_rafts_own_log_passes() -> None:
    """As it is, it keeps both rules, and both could have been broken."""
    code, document = of_raft(EXAMPLES / "etcd-raft-example.ndjson.gz")
    assert code == 0
    assert {each["id"]: each["outcome"] for each in document["rules"]} == {
        "KAFKA-F1": "passed", "KAFKA-F7": "passed"}


@pytest.mark.parametrize("mutation", range(10))
def test_a_mutated_log_of_etcd_raft_is_found(tmp_path: Path, mutation: int) -> None:
    """Another node leads in the same term, or a leader's commit index falls."""
    seen = {"leaders": 0, "commits": 0}

    def change(_: int, event: dict[str, Any]) -> None:
        is_commit = event["name"] == "Commit" and event["role"] == "StateLeader"
        seen["commits"] += is_commit
        if mutation < 5 and is_commit and seen["commits"] == 10 * (mutation + 1):
            event["state"]["commit"] -= mutation + 3
        if mutation >= 5 and event["name"] == "BecomeFollower" and event["state"]["term"] == 2:
            seen["leaders"] += 1
            if seen["leaders"] == mutation - 3:
                event["name"], event["nid"] = "BecomeLeader", f"other-{mutation}"

    code, document = of_raft(raft(tmp_path, change))
    assert code == 1
    assert [each["rule"] for each in document["violations"]] == [
        "KAFKA-F7" if mutation < 5 else "KAFKA-F1"]


def test_the_example_of_the_docs_is_violated_where_they_say() -> None:
    """Two jobs in the wrong order, at line 11, shown by the six events about them."""
    code, document = judged(EXAMPLES / "jobs.csv", "--suite", "queue", "--map",
                            EXAMPLES / "jobs.yaml")
    found, = document["violations"]
    assert (code, found["rule"], found["event"]["line"]) == (1, "QUEUE-3", 11)
    assert [event["line"] for event in found["history"]] == [5, 7, 8, 9, 10, 11]
    assert "'job-2'" in found["allowed"]


def test_a_saved_history_breaks_the_same_rule_again(tmp_path: Path) -> None:
    """The file of --save is a log of its own."""
    saved = tmp_path / "saved.jsonl"
    judged(EXAMPLES / "jobs.csv", "--suite", "queue", "--map", EXAMPLES / "jobs.yaml",
           "--save", saved)
    code, document = judged(saved, "--suite", "queue")
    assert (code, document["violations"][0]["rule"], document["events"]) == (1, "QUEUE-3", 6)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_each_format_says_the_same(tmp_path: Path, ending: str) -> None:
    """The rows of one log in another file have the same verdict."""
    rows = written(tmp_path / "log.jsonl", BREAKS["PERMIT-1"][3])
    import pyarrow as arrow
    import pyarrow.csv
    import pyarrow.parquet

    table = arrow.Table.from_pylist(BREAKS["PERMIT-1"][3])
    path = tmp_path / f"log.{ending}"
    if ending == "csv":
        pyarrow.csv.write_csv(table, path)
    elif ending == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        with arrow.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    options = ("--suite", "awaits.permits", "--set", "permits=1")
    one, other = judged(rows, *options), judged(path, *options)
    assert one[0] == other[0] == 1
    assert one[1]["rules"] == other[1]["rules"]


GOOD = calls(("a", "put", "begin", ("item", "x")), ("a", "put", "end", ("item", "x")))

BAD: Mapping[str, tuple[str, str]] = {
    "unknown operation": (json.dumps({**GOOD[0], "operation": "push"}), "'push' is not known"),
    "no phase": (json.dumps({"key": "k", "operation": "put"}), "has no phase"),
    "cut off": (json.dumps(GOOD[0])[:30], "ends in the middle of a line"),
    "no JSON": ("{]\n", "is not JSON"),
    "no object": ("[1]\n", "no object"),
    "wrong type": (json.dumps({**GOOD[0], "item": 1.5}), "neither text nor a whole number"),
    "another type": (json.dumps({**GOOD[1], "item": 7}) + "\n", "was text before"),
    "no number": (json.dumps({**GOOD[0], "value": "many"}), "no whole number"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_message_with_file_and_line(tmp_path: Path, case: str) -> None:
    """Nothing of such a log is judged."""
    line, words = BAD[case]
    path = written(tmp_path / "log.jsonl", GOOD)
    path.write_text(path.read_text() + line)
    with pytest.raises(InputError) as error:
        judged(path, "--suite", "queue")
    assert words in error.value.what
    assert error.value.where == f"{path}:3"
    assert error.value.next_step


def test_units_that_are_mixed_are_refused(tmp_path: Path) -> None:
    """Seconds among milliseconds are no times of one clock."""
    mapping = tmp_path / "map.yaml"
    mapping.write_text("order: time\ntime: {unit: ms}\n")
    rows = [{**row, "time": time} for row, time in
            zip(GOOD, (1_712_329_729_602, 1_712_329_729), strict=True)]
    with pytest.raises(InputError, match="another unit"):
        judged(written(tmp_path / "log.jsonl", rows), "--suite", "queue", "--map", mapping)


@pytest.mark.parametrize(("text", "where", "words"), [
    ("order: file\ncolums: {}\n", ":2:1", "unknown key 'colums'"),
    ("operations:\n  enqueue: pot\n", ":2:3", "no operation 'pot'"),
    ("failed: perhaps\n", ":1:1", "'perhaps'"),
    ("settings: {capacity: two}\n", ":1:12", "not of type"),
    ("a: [\n", ":2:1", "not YAML"),
])
def test_a_wrong_mapping_is_refused_with_its_line(
    tmp_path: Path, text: str, where: str, words: str
) -> None:
    """As a design is."""
    mapping = tmp_path / "map.yaml"
    mapping.write_text(text)
    with pytest.raises(InputError) as error:
        judged(written(tmp_path / "log.jsonl", GOOD), "--suite", "queue", "--map", mapping)
    assert words in error.value.what
    assert error.value.where == f"{mapping}{where}"


def test_a_release_by_nobody_is_no_log_of_this_system(tmp_path: Path) -> None:
    """It breaks no rule: a record is missing, or the mapping is wrong."""
    log = written(tmp_path / "log.jsonl", calls(("a", "release", "point")))
    code, document = judged(log, "--suite", "awaits.permits", "--set", "permits=1")
    assert (code, document["outcome"]) == (64, "not a log of this system")
    assert document["violations"] == []


def test_what_only_clocks_order_counts_as_concurrent(tmp_path: Path) -> None:
    """Two items 5 ms apart are in the wrong order, unless the clocks may differ by more."""
    rows = calls(*[(name, operation, phase, ("item", name)) for operation, names in
                   (("put", "ab"), ("take", "ba")) for name in names for phase in ("begin", "end")])
    rows = [{**row, "process": f"{row['process']}{row['operation']}", "time": 5 * at}
            for at, row in enumerate(rows)]
    log = written(tmp_path / "log.jsonl", rows)
    for tolerance, code in ((0, 1), (4, 1), (40, 0)):
        mapping = tmp_path / f"{tolerance}.yaml"
        mapping.write_text(f"order: time\ntime: {{unit: ms, tolerance: {tolerance}}}\n")
        assert judged(log, "--suite", "queue", "--map", mapping)[0] == code


def test_files_without_a_common_order_are_refused(tmp_path: Path) -> None:
    """The order is not guessed."""
    with pytest.raises(InputError, match="no common order"):
        judged(written(tmp_path / "a.jsonl", GOOD), written(tmp_path / "b.jsonl", GOOD),
               "--suite", "queue")


def test_a_log_that_begins_in_the_middle_accuses_nobody_of_what_was_before(tmp_path: Path) -> None:
    """An item that was inside when it began is not made up."""
    log = written(tmp_path / "log.jsonl", [*calls(
        ("c", "take", "begin"), ("c", "take", "end", ("item", "old"))), *GOOD])
    assert judged(log, "--suite", "queue")[0] == 1
    mapping = tmp_path / "map.yaml"
    mapping.write_text("begins: middle\n")
    assert judged(log, "--suite", "queue", "--map", mapping)[1]["violations"] == []


@pytest.mark.parametrize(("fault", "rule"), [
    ("none", None), ("lose", "QUEUE-4"), ("double", "QUEUE-6"), ("reorder", "QUEUE-3")])
def test_a_recorded_queue_under_load(tmp_path: Path, fault: str, rule: str | None) -> None:
    """Threads of ``queue.Queue``: no false alarm, and each injected fault is found."""
    module = runpy.run_path(str(EXAMPLES / "record.py"))
    with Recorder(tmp_path / "log.jsonl") as recorder:
        module["run"](recorder, fault, 800)
    code, document = judged(recorder.file, "--suite", "queue", "--set", "capacity=8")
    found = [each["rule"] for each in document["violations"]]
    assert (rule in found, code) == (True, 1) if rule else (found, code) == ([], 0)
    assert document["not_of_this_system"] == []


def test_a_recorded_asyncio_queue_passes(tmp_path: Path) -> None:
    """Tasks are processes of their own, and one that is cancelled has had no effect, or an unknown
    one."""
    async def main(recorder: Recorder) -> None:
        jobs: asyncio.Queue[str] = asyncio.Queue(3)

        async def produce(name: str) -> None:
            for number in range(200):
                with recorder.call("q", "put", identity(f"{name}{number}")) as call:
                    await jobs.put(str(call.item))

        async def consume() -> None:
            while True:
                with recorder.call("q", "take") as call:
                    call.item = await jobs.get()

        consumers = [asyncio.create_task(consume()) for _ in range(3)]
        await asyncio.gather(*map(produce, "abc"))
        while not jobs.empty():
            await asyncio.sleep(0)
        for task in consumers:
            task.cancel()
        await asyncio.gather(*consumers, return_exceptions=True)

    with Recorder(tmp_path / "log.jsonl") as recorder:
        asyncio.run(main(recorder))
    code, document = judged(recorder.file, "--suite", "queue", "--set", "capacity=3")
    assert (code, document["events"]) == (0, 2406)


def test_dropped_records_make_a_violation_unknown(tmp_path: Path) -> None:
    """A record that is missing may have caused it."""
    rows = [{"checkvalve_log": 1, "unit": "ns"}, {"checkvalve_log": 1, "dropped": 2}, *(
        {**row, "time": at} for at, row in enumerate(calls(
            ("c", "take", "begin"), ("c", "take", "end", ("item", "x")))))]
    code, document = judged(written(tmp_path / "log.jsonl", rows), "--suite", "queue")
    assert (code, document["dropped"]) == (2, 2)


def test_the_recorder_counts_what_it_drops(tmp_path: Path) -> None:
    """Its memory is bounded: what does not fit is counted, and said in the log."""
    with Recorder(tmp_path / "log.jsonl", most=10, every=60) as recorder:
        for number in range(100):
            recorder.point("k", "drained", value=number)
    lines = [json.loads(line) for line in recorder.file.read_text().splitlines()]
    assert len([line for line in lines if "operation" in line]) == 10
    assert sum(line.get("dropped", 0) for line in lines) == 90


def test_numbers_without_gaps_are_remembered_without_memory() -> None:
    """A million that ended take a few hundred entries, and each is known to have ended."""
    ended = Ended(10)
    for number in range(100_000):
        ended.add("k", number)
    assert all(ended.has("k", number) for number in (0, 63, 64, 4_096, 99_999))
    assert not ended.has("k", 100_000)
    assert len(ended._numbers["k"]) < 200


def test_each_rule_of_a_suite_is_said_to_be_judged_or_not() -> None:
    """The list of them is read off the systems."""
    able = [system for system in SYSTEMS.values() if system.logs is not None]
    assert {"queue", "awaits.permits", "rate", "marks"} <= {system.name for system in able}
    for system in able:
        assert set(on_logs(system)) >= {rule.id for rule in system.suite.rules()}
        assert "judged on logs" in on_logs(system).values()


def test_keys_are_counted_by_all_the_rules_that_they_break(tmp_path: Path) -> None:
    """An item that is lost breaks the order, too, and so is another bug than items that swap."""
    lost = [("put", "1"), ("put", "2"), ("take", "2")]
    swapped = [*lost, ("take", "1")]
    rows = [{"key": key, "process": "p", "operation": name, "phase": "point", "item": key + item}
            for key, steps in (("a", lost), ("b", swapped), ("c", swapped)) for name, item in steps]
    _, document = judged(written(tmp_path / "q.jsonl", rows), "--suite", "queue", "--drained")
    assert document["violated_together"] == [{"rules": ["QUEUE-3"], "keys": 2},
                                             {"rules": ["QUEUE-3", "QUEUE-4"], "keys": 1}]
