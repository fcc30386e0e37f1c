"""The table of the bugs of Kafka's controller and replication is complete."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from checkvalve.conformance.cli.zoo import command
from checkvalve.conformance.systems.catalogue import SYSTEMS

ISSUES = (
    532, 1096, 1188, 1029, 1387, 1451, 1578, 4229, 1134, 840, 928, 831, 1187, 4443, 5879, 6082,
    7235, 3670, 7482, 3143, 5502, 6879, 1382, 2729, 1097, 1170, 9672, 769, 851, 858, 1647, 2143,
    1211, 6361, 7128, 7164, 7395, 6857, 5745, 4485, 7152, 13091, 12686, 12751, 9491, 15221, 14140)
"""The numbers of Kafka's issues; docs/sources/kafka.md says what each was."""

SOURCES = Path(__file__).resolve().parent.parent / "docs" / "sources" / "kafka.md"


def test_every_bug_of_the_history_has_one_row_and_is_told_in_the_sources() -> None:
    """Those of controllers, of the ISR, of high watermarks, and of where logs are cut."""
    found = [issue for name in ("kafka.controller", "kafka.failover")
             for row in SYSTEMS[name].histories for issue in row.issues]
    assert {f"KAFKA-{number}" for number in ISSUES} <= set(found)
    assert len(found) == len(set(found))
    text = SOURCES.read_text()
    assert [issue for issue in found if f'<a id="{issue}">' not in text] == []


def test_the_table_of_one_system_is_printed_by_its_name() -> None:
    """All of Kafka, and nothing of Storm."""
    named = CliRunner().invoke(command, ["--histories", "kafka"], standalone_mode=False).output
    assert "KAFKA-6879: the end of a session is handled under a lock: deadlock" in named
    assert "KAFKA-1097" in named and "STORM" not in named
