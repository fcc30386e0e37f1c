"""The command line as a whole: instant help, a version, and commands that are all there."""

from __future__ import annotations

import resource
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version

import click
import pytest

from checkvalve.conformance.cli import COMMANDS, root
from checkvalve.conformance.cli.outcome import run


def seconds_for_help() -> float:
    """The processor time that a new process takes for --help: the wall clock would measure how busy
    the machine is.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "checkvalve.conformance.cli", "--help"],
        check=True, stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_answers_within_three_tenths_of_a_second() -> None:
    """The best of a few new processes counts: the others waited for the rest of the suite."""
    assert min(seconds_for_help() for _ in range(5)) < 0.3


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The table that stands in for the modules is complete."""
    assert run(root, ["--help"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in COMMANDS)


def test_version_is_the_distributions(capsys: pytest.CaptureFixture[str]) -> None:
    """--version prints what is installed."""
    assert run(root, ["--version"]) == 0
    assert capsys.readouterr().out == f"checkvalve {version('checkvalve')}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_json(name: str) -> None:
    """Each command in the table exists, explains itself and takes --json."""
    command = import_module(f"checkvalve.conformance.cli.{name}").command
    assert isinstance(command, click.Command) and command.name == name
    assert command.help
    assert "--json" in [option for parameter in command.params for option in parameter.opts]


@pytest.mark.parametrize("arguments", [[], ["frobnicate"], ["--frobnicate"]])
def test_bad_usage_ends_with_64(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown command is bad usage, and the message leads to the help."""
    assert run(root, arguments) == 64
    assert "checkvalve --help" in capsys.readouterr().err
