"""The table of Storm's bugs: complete, and true of the zoo and of the chapters."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from checkvalve.conformance.cli.zoo import command
from checkvalve.conformance.systems.storm_topology import twins as storm_topology
from checkvalve.conformance.suites.bug import Bug
from checkvalve.conformance.systems.catalogue import SYSTEMS, zoo
from checkvalve.spec.chapters import chapters

HISTORIES = [row for system in SYSTEMS.values() for row in system.histories]

ISSUES = (
    3073, 3637, 3141, 3763, 3070, 3148, 3751, 3376, 2983, 3620, 1027, 292, 342, 350, 797, 996,
    329, 404, 510, 744, 1087, 1949, 1696, 2744, 2786, 3300, 3514, 549, 17, 1595, 643, 644, 646,
    647, 1131, 511, 1455, 399, 2608, 2296, 2361, 810, 2343, 2549, 2666, 3301, 2844, 2835, 2546,
    2505, 2639, 2413, 2014)
"""The numbers of Storm's issues; docs/sources/storm.md says what each was."""

OTHERS = ("review of PR 2241", "review of PR 2502", "review of STORM-3141",
          "JStorm #404", "JStorm #377", *(f"D{item}" for item in (1, 2, 4, 5, 6, 9, 13)))
"""Histories that have no issue of their own."""

KNOWN = {**zoo(), **storm_topology.TWINS}


def test_every_bug_of_the_history_has_a_row() -> None:
    """Issues, pull requests, and those of another project."""
    found = [issue for row in HISTORIES for issue in row.issues]
    assert {f"STORM-{number}" for number in ISSUES} | set(OTHERS) <= set(found)
    assert len(found) == len(set(found))


@pytest.mark.parametrize("row", HISTORIES, ids=lambda row: row.issues[0])
def test_a_row_names_twins_and_machines_that_there_are_or_says_why_not(row: Bug) -> None:
    """A machine is expected to violate a rule; what is not modelled has neither."""
    assert set(row.twins) <= set(KNOWN)
    for name in row.machines:
        chapter, _, machine = name.rpartition(".")
        table = next(chapters([chapter])).expectations
        verdicts = [row.verdict for row in table if row.machine.__name__ == machine]
        assert "violated" in verdicts, name
    assert bool(row.twins or row.machines) != bool(row.not_modelled)


@pytest.mark.parametrize("row", [row for row in HISTORIES if row.twins and row.machines],
                         ids=lambda row: row.issues[0])
def test_a_machine_is_refused_by_a_rule_that_its_twin_dies_by_or_it_says_why_not(row: Bug) -> None:
    """The observer refuses of the mechanism what the suite finds in an implementation."""
    rules = {KNOWN[name].rule for name in row.twins}
    refusals = {(tie.machine.__name__, tie.rule) for chapter in chapters()
                for tie in chapter.refinements if tie.rule}
    apart = [name for name in row.machines
             if not any((name.rpartition(".")[2], rule) in refusals for rule in rules)]
    assert bool(apart) == bool(row.apart), apart


def test_every_item_of_the_errata_is_named_in_a_row_of_the_chapters() -> None:
    """D1 to D16: a reader finds each by its number."""
    about = " ".join(
        f"{row.about} ." for chapter in chapters(["storm"]) for row in chapter.expectations)
    missing = [name for name in (
        f"D{item}" for item in range(1, 17))
        if not re.search(rf"\b{name}\b", about)]
    assert missing == []


def test_the_table_is_printed() -> None:
    """By the command that hunts the twins."""
    result = CliRunner().invoke(command, ["--histories"], standalone_mode=False)
    assert "STORM-3148: the system task is reported, and the client fails on it" in result.output
    assert "twins: STORM-3148, STORM-3148-client" in result.output
