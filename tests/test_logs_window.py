"""A window that slides over the offsets of a log changes no rule that is violated."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.judge import command
from checkvalve.conformance.logs.events import Event
from checkvalve.conformance.logs.kinds import Terms
from checkvalve.conformance.logs.notes import Notes
from checkvalve.conformance.systems.storm_partition import logs as of_partitions


def _of_a_given_up(length: int) -> Iterator[tuple[str, int]]:
    yield from (("append", length), ("emits", 0), ("fail", 0))
    for each in range(1, length):
        yield from (("emits", each), ("ack", each), ("commit", each + 1))
    yield "emits", 0


def _after_truncation(length: int) -> Iterator[tuple[str, int]]:
    yield from (("append", length), ("emits", 0), ("ack", 0), ("commit", 1), ("truncate", 0))
    for each in range(1, length):
        yield from (("emits", each), ("ack", each), ("commit", min(each + 1, length - 1)))


@pytest.mark.parametrize("length", [4, 40])
@pytest.mark.parametrize(("events", "rule"), [
    (_of_a_given_up, "STORM-K28"), (_after_truncation, "STORM-K30")])
def test_the_same_rule_is_violated_whatever_has_left_the_window(
    tmp_path: Path, events: object, rule: str, length: int
) -> None:
    assert callable(events)
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps({
        "key": "p", "process": "m", "operation": operation, "phase": "point", "value": value,
    }) + "\n" for operation, value in events(length)))
    result = CliRunner().invoke(command, [
        str(log), "--suite", "storm.partition", "--set", "retries=0"])
    failed = [line.split()[1] for line in result.output.splitlines() if line.startswith("FAIL")]
    assert failed == [rule]


class _Source:
    """A source, now and then with a fault, of which messages leave the log at any time."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.end = self.top = self.committed = 0
        self.under_way = list[int]()
        self.failed = list[int]()
        self.gone = set[int]()
        self.settings = {"outstanding": random.choice([0, 0, 3]),
                         "retries": random.choice([0, 1, 3]), "fetch": random.choice([1, 2])}

    def log(self) -> Iterator[tuple[str, int | None]]:
        """Some events."""
        does = [self.append, self.emits, self.emits, self.emits, self.emits, self.ack, self.ack,
                self.ack, self.fail, self.commit, self.commit, self.leaves, self.restart]
        for _ in range(self.random.randrange(20, 160)):
            yield from self.random.choice(does)()
            if self.random.random() < 0.04:
                yield "nothing", None

    def append(self) -> Iterator[tuple[str, int]]:
        """Messages enter the log, sometimes many."""
        count = self.random.choice([1, 2, 3, 40])
        self.end += count
        yield "append", count

    def emits(self) -> Iterator[tuple[str, int]]:
        """One that failed, or a new one; now and then another one."""
        new = [each for each in range(self.top, self.end) if each not in self.gone]
        if self.failed and self.random.random() < 0.8:
            offset = self.failed.pop(0)
        elif new:
            offset = new[0]
        else:
            return
        if self.random.random() < 0.03:
            offset = max(0, offset + self.random.choice([-30, -5, -1, 1, 3]))
        self.under_way.append(offset)
        self.top = max(self.top, offset + 1)
        yield "emits", offset

    def ack(self) -> Iterator[tuple[str, int]]:
        """One that is under way was processed."""
        if self.under_way:
            yield "ack", self.under_way.pop(self.random.randrange(len(self.under_way)))

    def fail(self) -> Iterator[tuple[str, int]]:
        """The oldest one failed."""
        if self.under_way and self.random.random() < 0.4:
            self.failed.append(self.under_way.pop(0))
            yield "fail", self.failed[-1]

    def commit(self) -> Iterator[tuple[str, int]]:
        """As far as all is over; now and then elsewhere."""
        self.committed = min([*self.under_way, *self.failed, self.top])
        if self.random.random() < 0.05:
            self.committed = max(0, self.committed + self.random.choice([-3, 1, 2]))
        yield "commit", self.committed

    def leaves(self) -> Iterator[tuple[str, int]]:
        """One message, or all up to one, leave the log."""
        if not self.end or self.random.random() < 0.5:
            return
        if self.random.random() < 0.5:
            offset = self.random.randrange(self.end)
            self.gone.add(offset)
            yield "compact", offset
        else:
            offset = min(self.end - 1, self.committed + self.random.choice([0, 1, 4, 30]))
            self.gone.update(range(offset + 1))
            yield "truncate", offset

    def restart(self) -> Iterator[tuple[str, None]]:
        """A crash."""
        if self.random.random() < 0.1:
            self.under_way, self.failed, self.top = [], [], self.committed
            yield "restart", None


def _found(log: list[tuple[str, int | None]], settings: Mapping[str, int]) -> list[tuple[str, int]]:
    notes = Notes()
    judge = of_partitions.PartitionJudge("p", Terms(settings=settings), notes, None)
    for line, (do, value) in enumerate(log):
        judge.take(Event("p", "m", do, "point", value=value, line=line))
    judge.end()
    assert not notes.unknown
    return [(finding.rule, finding.event.line) for finding in notes.findings]


def test_a_narrow_window_finds_what_one_for_all_offsets_does(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rule at the same event, whatever has left the log, and however far from the commit;
    so nearly every rule is found."""
    rules = set()
    for seed in range(400):
        source = _Source(Random(seed))
        log = list(source.log())
        found = []
        for window in (16, 512):
            monkeypatch.setattr(of_partitions, "_WINDOW", window)
            found.append(_found(log, source.settings))
        assert found[0] == found[1], seed
        rules.update(rule for rule, _ in found[0])
    assert len(rules) >= 10
