"""Logs in the formats of other tools, read as what they say and as nothing more."""

from __future__ import annotations

import gzip
import io
import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.judge import command
from checkvalve.conformance.logs.edn import forms
from checkvalve.spec.notation.errors import InputError

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "logs"


def judged(path: Path, form: str, suite: str = "queue", *more: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the document of a run. Raises what the command raises."""
    result = CliRunner().invoke(command, [str(path), "--format", form, "--suite", suite, "--json",
                                          *more], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.return_value, json.loads(result.stdout)


def rules(document: dict[str, Any]) -> list[str]:
    """The rules that are violated."""
    return [each["rule"] for each in document["violations"]]


def history(path: Path, *operations: str) -> Path:
    """A history with one operation a line: type, process, f, value."""
    path.write_text("".join(
        f"{{:type :{kind}, :process {process}, :f :{name}, :value {value}}}\n"
        for kind, process, name, value in (each.split(maxsplit=3) for each in operations)))
    return path


def test_a_history_of_jepsen_is_judged_with_its_drain() -> None:
    """4 came out, and the drain at the end has it again; the nemesis and what failed are no
    calls that had an effect."""
    code, document = judged(EXAMPLES / "jepsen-queue.edn", "jepsen")
    assert code == 1
    assert rules(document) == ["QUEUE-6"]
    found = document["violations"][0]["event"]
    assert (found["item"], found["line"], document["keys"]) == (4, 20, 1)


def test_what_the_drain_takes_may_have_come_out_at_any_time_of_it(tmp_path: Path) -> None:
    """Another take within it may have come later, and in the order of the queue."""
    path = history(
        tmp_path / "h.edn", "invoke 0 enqueue 1", "ok 0 enqueue 1", "invoke 0 enqueue 2",
        "ok 0 enqueue 2", "invoke 1 drain nil", "invoke 2 dequeue nil", "ok 2 dequeue 2",
        "ok 1 drain [1]")
    assert judged(path, "jepsen")[0] == 0


@pytest.mark.parametrize(("last", "rule"), [
    ("ok 1 dequeue 9", "QUEUE-5"), ("ok 1 dequeue 2", "QUEUE-3"), ("ok 1 dequeue 1", None),
    ("info 1 dequeue nil", None)])
def test_a_dequeue_of_jepsen_is_a_take(tmp_path: Path, last: str, rule: str | None) -> None:
    """Of an item that was put, and after those put before it."""
    more = ["invoke 2 dequeue nil", "ok 2 dequeue 1"] if rule == "QUEUE-3" else []
    path = history(tmp_path / "h.edn", "invoke 0 enqueue 1", "ok 0 enqueue 1",
                   "invoke 0 enqueue 2", "ok 0 enqueue 2", "invoke 1 dequeue nil", last, *more)
    assert rules(judged(path, "jepsen")[1]) == ([rule] if rule else [])


def test_jepsen_writes_the_same_history_as_json_and_as_one_vector(tmp_path: Path) -> None:
    """Lines of JSON, a vector of maps and tagged operations say the same."""
    text = (EXAMPLES / "jepsen-queue.edn").read_text()
    (tmp_path / "v.edn").write_text("[" + text.replace("{", "#jepsen.history.Op{") + "]")
    with (EXAMPLES / "jepsen-queue.edn").open() as lines:
        (tmp_path / "h.jsonl").write_text("".join(json.dumps(form) + "\n" for _, form in
                                                  forms(lines, "h")))
    for name in ("v.edn", "h.jsonl"):
        assert rules(judged(tmp_path / name, "jepsen")[1]) == ["QUEUE-6"]


def test_keys_of_jepsens_independent_are_judged_each_by_itself(tmp_path: Path) -> None:
    """[key value]: the same value under two keys is two items."""
    path = history(tmp_path / "h.edn", *(
        f"{kind} {process} {name} [{key} {value}]" for key in "ab" for process, name in (
            (0, "enqueue"), (1, "dequeue")) for kind, value in (
            ("invoke", 1 if process == 0 else "nil"), ("ok", 1))))
    code, document = judged(path, "jepsen")
    assert (code, document["keys"]) == (0, 2)


@pytest.mark.parametrize(("text", "words"), [
    ("{:type :invoke", "ends in the middle"), ("{:type}", "a key without a value"),
    ("]", "closes nothing"), ("{:f :x}", "no operation of Jepsen's"), ("[1 2)", "no operation"),
    ("{:type :odd :f :x :process 1}", "'odd'"),
    ("{:type :ok :f :cas :process 1 :value 2}", "'cas'"),
])
def test_what_is_no_history_is_refused_with_its_line(
    tmp_path: Path, text: str, words: str
) -> None:
    """One message, with the next step."""
    path = tmp_path / "h.edn"
    path.write_text("\n" + text)
    with pytest.raises(InputError, match=words) as error:
        judged(path, "jepsen")
    assert error.value.where == f"{path}:2"
    assert error.value.next_step


def test_a_suite_that_the_format_does_not_know_needs_a_mapping() -> None:
    """Nothing is guessed."""
    with pytest.raises(InputError, match="are not known to this suite") as error:
        judged(EXAMPLES / "jepsen-queue.edn", "jepsen", "marks")
    assert "--map" in error.value.next_step


def test_spans_of_old_and_new_names_are_one_log() -> None:
    """A message that two receives link to came out twice; a span of process is of a message that
    was received."""
    code, document = judged(EXAMPLES / "spans.jsonl", "opentelemetry")
    assert (code, rules(document)) == (1, ["QUEUE-6"])
    found = document["violations"][0]
    assert (found["key"], found["event"]["line"]) == ("orders", 6)


def spans(path: Path, *changed: tuple[int, str, Any]) -> Path:
    """The example with the given fields of its spans changed, by line."""
    documents = [json.loads(line) for line in (EXAMPLES / "spans.jsonl").read_text().splitlines()]
    for line, name, value in changed:
        documents[line - 1]["resourceSpans"][0]["scopeSpans"][0]["spans"][0][name] = value
    path.write_text("".join(json.dumps(each) + "\n" for each in documents))
    return path


def test_a_receive_whose_send_has_no_span_is_left_out(tmp_path: Path) -> None:
    """The link of the last receive leads to no send: a span that is missing is no made-up item."""
    path = spans(tmp_path / "s.jsonl", (6, "links", [{"traceId": "f" * 32, "spanId": "e" * 16}]))
    code, document = judged(path, "opentelemetry")
    outcomes = {each["id"]: each["outcome"] for each in document["rules"]}
    assert (code, document["events"], outcomes["QUEUE-5"]) == (0, 12, "not shown")


def test_a_receive_that_names_no_message_is_refused(tmp_path: Path) -> None:
    """It has no link, no id, and is a part of no span."""
    path = spans(tmp_path / "s.jsonl", (6, "links", []))
    with pytest.raises(InputError, match="neither by a link nor by an id") as error:
        judged(path, "opentelemetry")
    assert error.value.where == f"{path}:6"


REAL = Path(__file__).parent / "spans"


@pytest.mark.parametrize("library", ["aio-pika", "amqplib", "celery", "pika"])
@pytest.mark.parametrize(("change", "found"), [
    ("none", []), ("lost", ["QUEUE-4"]), ("twice", ["QUEUE-6"]), ("elsewhere", []),
    ("unsent", [])])
def test_what_libraries_record_is_understood(
    library: str, change: str, found: list[str], tmp_path: Path
) -> None:
    """Spans of four instrumentations on RabbitMQ: one says no operation of a send, one names the
    consumer as the destination, none has links. The consumers' span of one message is left out,
    there twice, there once more for another queue; or that of its sender is left out."""
    lines = gzip.decompress((REAL / f"{library}.jsonl.gz").read_bytes()).decode().splitlines()
    got = [at for at, line in enumerate(lines) if '"kind":5' in line]
    of_one = lines[got[7]]
    again = re.sub('"spanId":"[0-9a-f]{4}', '"spanId":"0000', of_one)
    trace = re.search('"traceId":"([0-9a-f]+)"', of_one)
    assert trace is not None
    names = ('"name":"[^ "]+ (receive|process)"', r'"messaging.destination","value":[^}]*')
    if change == "lost":
        del lines[got[7]]
    elif change == "twice":
        lines.append(again)
    elif change == "elsewhere":
        lines.append(re.sub(names[1], '"messaging.destination","value":{"stringValue":"other"',
                            re.sub(names[0], r'"name":"other \1"', again)))
    elif change == "unsent":
        lines = [line for line in lines if '"kind":5' in line or trace[1] not in line]
    half = len(lines) // 2          # the services' files, in any order
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, some in zip(paths, (lines[half:], lines[:half]), strict=True):
        path.write_text("\n".join(some) + "\n")
    code, document = judged(paths[0], "opentelemetry", "queue", str(paths[1]), "--drained")
    assert (rules(document), code) == (found, 1 if found else 0)


def test_without_links_a_message_is_known_by_its_id(tmp_path: Path) -> None:
    """A send and a receive with one id; a receive of none is an answer, too."""
    def about(kind: str, **more: Any) -> list[dict[str, Any]]:
        return [{"key": f"messaging.{name}", "value": {"stringValue": value} if isinstance(
            value, str) else {"intValue": str(value)}} for name, value in (
            ("operation.type", kind), ("destination.name", "q"), *((
                name.replace("_", ".", 1), value) for name, value in more.items()))]

    path = tmp_path / "s.jsonl"
    rows = [(about("send", message_id="m"), 0), (about("receive", message_id="m"), 10),
            (about("receive", batch_message_count=0), 20)]
    path.write_text("".join(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{
        "traceId": "a", "spanId": str(at), "attributes": attributes,
        "startTimeUnixNano": str(at * 10 ** 9), "endTimeUnixNano": str((at + 1) * 10 ** 9)}]}]}]})
        + "\n" for attributes, at in rows))
    code, document = judged(path, "opentelemetry")
    assert (code, document["events"], document["violations"]) == (0, 6, [])
    outcomes = {each["id"]: each["outcome"] for each in document["rules"]}
    assert outcomes["QUEUE-4"] == "passed"


def test_lines_of_text_become_lines_of_json_by_the_groups_of_a_pattern() -> None:
    """Without the end of the line, which a group might take; others are counted."""
    convert = runpy.run_path(str(EXAMPLES / "from_text.py"))["convert"]
    out = io.StringIO()
    lines = ["a: starts job-1\r\n", "Traceback\n", "b: ends job-1"]
    assert convert(r"^(?P<who>\w): (?P<what>starts|ends)( (?P<job>[^ ]+))?", lines, out) == 1
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [
        {"who": "a", "what": "starts", "job": "job-1"},
        {"who": "b", "what": "ends", "job": "job-1"}]


@pytest.mark.parametrize(("name", "text", "step"), [
    ("a.log", '{"key": "k"}', "ends in '.jsonl'"), ("a.log", "01:00 INFO x", "Lines of text"),
    ("a.jsonl", "01:00 INFO x\n", "Lines of text"), ("a.log.gz", "x", "Lines of text"),
])
def test_a_log_that_is_no_table_yet_is_told_how_to_become_one(
    name: str, text: str, step: str, tmp_path: Path
) -> None:
    """By how it begins, whatever its name is."""
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as told:
        CliRunner().invoke(command, [str(tmp_path / name), "--suite", "queue"],
                           standalone_mode=False, catch_exceptions=False)
    assert step in told.value.next_step


def test_a_dry_run_needs_no_settings(tmp_path: Path) -> None:
    """It shows how events are understood, which does not depend on them; a wrong one is refused."""
    line = {"operation": "acquire", "phase": "point", "item": "a", "process": "p"}
    (tmp_path / "a.jsonl").write_text(json.dumps(line))
    words = [str(tmp_path / "a.jsonl"), "--suite", "awaits.permits", "--dry-run"]
    assert "point of acquire" in CliRunner().invoke(command, words, standalone_mode=False).output
    with pytest.raises(InputError, match="no setting"):
        CliRunner().invoke(command, [*words, "--set", "x=1"], standalone_mode=False,
                           catch_exceptions=False)


@pytest.mark.parametrize(("data", "what"), [
    (gzip.compress(b'{"a": 1}\n' * 99, mtime=0)[:12] + b"\xff" * 30, "cannot be unpacked"),
    (gzip.compress(b"[" * 100_000 + b"\n", mtime=0), "too deep"),
], ids=["damaged", "deep"])
def test_a_packed_log_that_is_damaged_is_refused(data: bytes, what: str, tmp_path: Path) -> None:
    """Also one that unpacks to what no reader follows."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=what):
        CliRunner().invoke(command, [str(path), "--suite", "queue"], standalone_mode=False,
                           catch_exceptions=False)


def test_settings_that_do_not_fit_together_are_the_users(tmp_path: Path) -> None:
    """No chapter of ours is named as their place."""
    (tmp_path / "a.jsonl").write_text(
        '{"operation": "admits", "phase": "point", "value": 1, "time": 1}\n')
    with pytest.raises(InputError, match="a tick fits") as told:
        CliRunner().invoke(
            command, [str(tmp_path / "a.jsonl"), "--suite", "rate", "--set", "rate=4", "--set",
                      "depth=3"], standalone_mode=False, catch_exceptions=False)
    assert told.value.where == ""
