"""Logs that Redis and JetStream write themselves are read as queues with acknowledgements."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.judge import command
from checkvalve.conformance.logs import jetstream, redis
from checkvalve.spec.notation.errors import InputError

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "logs"
ADVISORIES = EXAMPLES / "jetstream.jsonl"


def judged(path: Path, form: str, *more: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the document of a run. Raises what the command raises."""
    result = CliRunner().invoke(command, [
        str(path), "--format", form, "--suite", "delivery", "--json", *more], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.return_value, json.loads(result.stdout)


def broken(path: Path, form: str) -> list[str]:
    """The rules that are violated."""
    return sorted({each["rule"] for each in judged(path, form)[1]["violations"]})


def appended(path: Path, *commands: str) -> Path:
    """An append-only file of some commands."""
    path.write_bytes(b"".join(
        b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(each), each) for each in parts)
        for parts in (each.encode().split() for each in commands)))
    return path


def gives(consumer: str, message: int, times: int, group: str = "g") -> str:
    """The command that a read or a claim is repeated as."""
    return (f"XCLAIM s {group} {consumer} 0 {message}-0 TIME 1700000000000 RETRYCOUNT {times} "
            f"FORCE JUSTID LASTID {message}-0")


def seen(path: Path) -> list[tuple[str, str, str]]:
    """The events of a file of Redis: the group's, the consumer's and the message's."""
    return [(row["operation"], row["process"], row["item"]) for _, row in redis.rows(path)]


BEGIN = ("SELECT 0", "XGROUP CREATE s g $ MKSTREAM", "XADD s 1-0 a 1", "XADD s 2-0 a 2",
         "XADD s 3-0 a 3")


def test_a_message_that_comes_again_after_its_acknowledgement_is_found() -> None:
    """The example continues on a server that had not been sent the last XACK."""
    code, document = judged(EXAMPLES / "redis.aof", "redis")
    assert (code, [each["rule"] for each in document["violations"]]) == (1, ["DELIV-6"])
    assert document["violations"][0]["event"]["line"] == 12


def test_what_monitor_shows_at_a_replica_is_the_same_log(tmp_path: Path) -> None:
    """Lines of MONITOR with the same commands give the same events."""
    commands = [*BEGIN, gives("alice", 1, 1), gives("bob", 1, 2), "XACK s g 1-0"]
    shown = tmp_path / "monitor.txt"
    shown.write_text("OK\n" + "".join(
        "1700000000.5 [0 127.0.0.1:7801] " + " ".join(f'"{part}"' for part in each.split()) + "\n"
        for each in commands if not each.startswith("SELECT")))
    assert seen(shown) == seen(appended(tmp_path / "a.aof", *commands)) == [
        ("add", "", "1-0"), ("give", "alice", "1-0"), ("claim", "alice", "1-0"),
        ("give", "bob", "1-0"), ("ack", "bob", "1-0")]


@pytest.mark.parametrize("sent", [
    "XREADGROUP GROUP g alice STREAMS s >", "XADD s * a 1", "XAUTOCLAIM s g alice 0 0",
    "XCLAIM s g alice 60000 1-0"])
def test_what_clients_send_is_refused_for_it_lacks_the_answers(tmp_path: Path, sent: str) -> None:
    """MONITOR of the server itself does not say what was given."""
    with pytest.raises(InputError, match="nothing says what it was answered") as error:
        judged(appended(tmp_path / "a.aof", *BEGIN, sent), "redis")
    assert "replica" in error.value.next_step
    assert error.value.where == f"{tmp_path / 'a.aof'}:6"


def test_a_first_delivery_out_of_turn_is_found(tmp_path: Path) -> None:
    """The second message is given before the first."""
    assert broken(appended(tmp_path / "a.aof", *BEGIN, gives("a", 2, 1)), "redis") == ["DELIV-9"]


@pytest.mark.parametrize(("before", "given"), [
    (["XDEL s 1-0"], 2), (["XTRIM s MAXLEN 1"], 3), (["XTRIM s MINID = 3-0"], 3),
    (["XADD s MAXLEN = 2 4-0 a 4"], 3), (["XADD s NOMKSTREAM MINID = 2-0 4-0 a 4"], 2)])
def test_what_is_taken_away_before_it_is_given_is_no_message(
    tmp_path: Path, before: Sequence[str], given: int,
) -> None:
    """The next one that is left comes first."""
    path = appended(tmp_path / "a.aof", *BEGIN, *before, gives("a", given, 1))
    assert seen(path) == [("add", "", f"{given}-0"), ("give", "a", f"{given}-0")]


def test_a_claim_that_gives_nothing_leaves_the_message_where_it_was(tmp_path: Path) -> None:
    """JUSTID moves a message to another list; its new owner is deleted, and the message with it."""
    path = appended(tmp_path / "a.aof", *BEGIN, gives("a", 1, 1), gives("b", 1, 1),
                    "XGROUP DELCONSUMER s g a", "XGROUP DELCONSUMER s g b")
    assert seen(path) == [("add", "", "1-0"), ("give", "a", "1-0"), ("ack", "a", "1-0")]


def test_a_group_that_is_set_to_another_place_is_unknown_from_there_on(tmp_path: Path) -> None:
    """So is one that is read without acknowledgements; the other group is judged."""
    path = appended(tmp_path / "a.aof", *BEGIN, "XGROUP CREATE s h 0", gives("a", 1, 1),
                    "XGROUP SETID s g 0", gives("a", 1, 2), gives("a", 2, 1, "h"))
    document = judged(path, "redis")[1]
    assert [each["rule"] for each in document["violations"]] == ["DELIV-9"]
    assert document["violations"][0]["key"] == "s/h"
    assert {each["outcome"] for each in document["rules"]} >= {"unknown", "violated"}


def test_what_was_there_before_the_file_begins_is_left_out(tmp_path: Path) -> None:
    """A file that was rewritten has neither the group's creation nor the older messages."""
    path = appended(tmp_path / "a.aof", gives("a", 4, 3), "XADD s 5-0 a 1", gives("b", 4, 4),
                    gives("b", 5, 1), "XACK s g 4-0 5-0")
    assert seen(path) == [("add", "", "5-0"), ("give", "b", "5-0"), ("ack", "b", "5-0")]


def test_a_group_that_is_made_anew_is_another_queue(tmp_path: Path) -> None:
    """It is given everything again, and nothing is wrong with that."""
    path = appended(tmp_path / "a.aof", *BEGIN, gives("a", 1, 1), "XACK s g 1-0",
                    "XGROUP DESTROY s g", "XGROUP CREATE s g 0", gives("a", 1, 1))
    assert broken(path, "redis") == []
    assert judged(path, "redis")[1]["keys"] == 2


@pytest.mark.parametrize(("data", "words"), [
    (b"*2\r\n$6\r\nSELECT\r\n$1", "cut off"), (b"*x\r\n", "cut off"),
    (b"*1\r\n$99999999999\r\n", "cut off"), (b"REDIS0010\xfa", "snapshot"),
    (b"hello\n", "no line of MONITOR"), (b"*2\r\n$4\r\nXACK\r\n$1\r\ns\r\n", "not as Redis"),
    (b"*3\r\n$4\r\nXADD\r\n$1\r\ns\r\n$1\r\nx\r\n", "not as Redis")])
def test_a_damaged_file_of_redis_is_one_message(tmp_path: Path, data: bytes, words: str) -> None:
    """With the next step."""
    path = tmp_path / "a.aof"
    path.write_bytes(data)
    with pytest.raises(InputError, match=words) as error:
        judged(path, "redis")
    assert error.value.next_step


def test_a_right_log_of_jetstream_passes_and_shows_dead_letters() -> None:
    """A recording of a server 2.9: acks, a nak, a termination, timeouts, two dead letters."""
    code, document = judged(ADVISORIES, "jetstream")
    assert code == 0
    outcomes = {each["id"]: each["outcome"] for each in document["rules"]}
    assert {outcomes[f"DELIV-{number}"] for number in (6, 9, 12, 14, 16, 17)} == {"passed"}
    assert {outcomes[f"DELIV-{number}"] for number in (7, 8, 11, 13)} == {"not shown"}


def changed(path: Path, change: Callable[[list[dict[str, Any]]], object]) -> Path:
    """The example with its documents changed."""
    documents = [json.loads(line) for line in ADVISORIES.read_text().splitlines()]
    change(documents)
    path.write_text("".join(json.dumps(each) + "\n" for each in documents))
    return path


def of_message(documents: list[dict[str, Any]], number: int) -> dict[str, Any]:
    """The last line on a message."""
    return [each for each in documents if each.get("stream_seq") == number][-1]


@pytest.mark.parametrize(("change", "rules"), [
    (lambda all_: all_.append({**of_message(all_, 1)}), ["DELIV-12"]),
    (lambda all_: all_.append({**of_message(all_, 1), "consumer_seq": 30, "deliveries": 2}),
     ["DELIV-6"]),
    (lambda all_: all_.append({**of_message(all_, 3), "consumer_seq": 30, "deliveries": 2}),
     ["DELIV-16"]),
    (lambda all_: of_message(all_, 2).update(deliveries=1), ["DELIV-17"]),
    (lambda all_: of_message(all_, 4).update(deliveries=2), ["DELIV-14"]),
    (lambda all_: of_message(all_, 7).update(deliveries=4), ["DELIV-16"]),
    (lambda all_: (of_message(all_, 8).update(consumer_seq=11),
                   of_message(all_, 9).update(consumer_seq=10)), ["DELIV-9"]),
])
def test_a_fault_in_a_log_of_jetstream_is_found(
    tmp_path: Path, change: Callable[[list[dict[str, Any]]], object], rules: list[str],
) -> None:
    """Acked twice, given after its ack, given after a termination, a count that stays, given up too
    early, given too often, and given out of turn."""
    assert broken(changed(tmp_path / "j.jsonl", change), "jetstream") == rules


def test_without_the_audit_the_first_dead_letter_says_how_often_a_message_is_given(
    tmp_path: Path,
) -> None:
    """The second one has to agree; numbers may be texts."""
    def change(documents: list[dict[str, Any]]) -> None:
        documents[:] = [each for each in documents if "subject" not in each]
        for each in documents:
            if each["type"].endswith("nak"):
                each["consumer_seq"] = str(each["consumer_seq"])

    path = changed(tmp_path / "j.jsonl", change)
    assert broken(path, "jetstream") == []
    assert ("allowed", 3) in {(row["operation"], row["value"]) for _, row in jetstream.rows(path)}


@pytest.mark.parametrize(("line", "words"), [
    ("[#1] Received on", "no event of JetStream"), ('{"type": "other"}', "no event of JetStream"),
    ("[]", "no event of JetStream"),
    ('{"type": "io.nats.jetstream.advisory.v1.nak", "stream": "s"}', "lacks what it is about"),
    ('{"type": "io.nats.jetstream.metric.v1.consumer_ack", "stream": "s", "consumer": "c", '
     '"stream_seq": 0, "consumer_seq": 1, "deliveries": 1}', "below 1"),
    ('{"type": "io.nats.jetstream.advisory.v1.api_audit", "response": "x", '
     '"subject": "$JS.API.CONSUMER.CREATE.s"}', "audit")])
def test_what_is_no_event_of_jetstream_is_refused_with_its_line(
    tmp_path: Path, line: str, words: str,
) -> None:
    """One message, with the next step."""
    path = tmp_path / "j.jsonl"
    path.write_text("\n" + line + "\n")
    with pytest.raises(InputError, match=re.escape(words)) as error:
        judged(path, "jetstream")
    assert (error.value.where, bool(error.value.next_step)) == (f"{path}:2", True)
